package configs

import "net/url"

// warnings tells the operator what may hurt him in a file that is right.
func (d *decoder) warnings(f *file) []string {
	told := faultList{file: d.file}
	if u, _ := url.Parse(f.redis.url.value); u != nil && u.Scheme == "embedded" && !loopback(u.Hostname()) {
		told.add(d.placeNear("redis.url"), "redis.url", "the embedded Redis can be reached from other machines")
	}
	var out []string
	for _, w := range told.sorted() {
		out = append(out, w.String())
	}
	return out
}
