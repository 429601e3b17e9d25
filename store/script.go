package store

import (
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

// scripts are all there are.
var scripts []*redis.Script

// called is what each script is called.
var called = map[*redis.Script]string{}

// script joins fragments and a script into one; each stands in a file of its own.
func script(names ...string) *redis.Script {
	var b strings.Builder
	for _, name := range names {
		text, err := luaFiles.ReadFile("lua/" + name + ".lua")
		if err != nil {
			panic(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	s := redis.NewScript(b.String())
	scripts = append(scripts, s)
	called[s] = names[len(names)-1]
	return s
}

var (
	allocateScript = script("allocate")
	claimScript    = script("args", "clock", "lanes", "expire", "attend", "budget", "cohort", "trickle", "due", "fair", "grant", "claim")
	commitScript   = script("args", "clock", "lanes", "cohort", "jobs", "scores", "item", "move", "refuse", "commit")
	amendScript    = script("args", "clock", "lanes", "jobs", "scores", "item", "move", "place", "amend")
	giveBackScript = script("args", "clock", "lanes", "giveback")
	recheckScript  = script("args", "clock", "urge", "recheck")
	forgetScript   = script("args", "clock", "jobs", "scores", "forget")
	lookScript     = script("look")
	refreshScript  = script("args", "clock", "refresh")
	guardScript    = script("args", "clock", "guard")
	nowScript      = script("args", "clock", "now")
	repairScript   = script("args", "clock", "lanes", "jobs", "scores", "picture", "stand", "told", "repair")
	straysScript   = script("strays")
	countsScript   = script("args", "counts")
	schemaScript   = script("schema")
)
