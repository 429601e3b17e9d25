package configs

import (
	"net/url"
	"regexp"
	"strconv"
)

type plan struct {
	path string
	what string                // what happens instead
	idle func(*checkFile) bool // the value asks for nothing; nil: any value asks for something
}

// planned lists the fields that are validated here while no code acts on them yet: whoever
// builds one removes its line. Indices are left out of the paths.
var planned = []plan{
	{"checks[].jobs", "work in flight is not counted", func(c *checkFile) bool { return !c.Jobs }},
}

var indices = regexp.MustCompile(`\[(\d+)\]`)

// warnings tells the operator, in the order of the file, what he wrote in vain.
func (d *decoder) warnings(f *file) []string {
	told := faultList{file: d.file}
	for path, at := range d.places {
		general := indices.ReplaceAllString(path, "[]")
		for _, p := range planned {
			if general != p.path || p.idle != nil && p.idle(checkAt(f, path)) {
				continue
			}
			told.add(at, path, "accepted, but this version does not act on it yet: %s", p.what)
		}
	}
	if u, _ := url.Parse(f.redis.url.value); u != nil && u.Scheme == "embedded" && !loopback(u.Hostname()) {
		told.add(d.placeNear("redis.url"), "redis.url", "the embedded Redis can be reached from other machines")
	}
	var out []string
	for _, w := range told.sorted() {
		out = append(out, w.String())
	}
	return out
}

func checkAt(f *file, path string) *checkFile {
	i, _ := strconv.Atoi(indices.FindStringSubmatch(path)[1])
	return &f.checks[i]
}
