package store

import (
	"embed"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed lua/*.lua
var luaFiles embed.FS

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
	return redis.NewScript(b.String())
}

var (
	allocateScript = script("allocate")
	claimScript    = script("clock", "lanes", "expire", "grant", "claim")
	commitScript   = script("clock", "lanes", "place", "move", "commit")
	amendScript    = script("clock", "lanes", "place", "move", "amend")
	giveBackScript = script("clock", "lanes", "giveback")
	recheckScript  = script("clock", "recheck")
	forgetScript   = script("clock", "lanes", "place", "forget")
	lookScript     = script("look")
	refreshScript  = script("clock", "refresh")
)
