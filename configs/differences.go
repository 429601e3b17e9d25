package configs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// picture is a configuration as a flat list of values by path, defaults filled in.
type picture map[string]shown

// shown is one value: what a person may see, and what tells it from another.
type shown struct{ words, is string }

const unseen = "(not shown)"

// Differences says what is another value in c than in old, a sentence each, by path. No
// secret is in it. A check is known by its name, other items of lists by their place.
func (c *Config) Differences(old *Config) (out []string) {
	paths := maps.Clone(old.picture)
	maps.Copy(paths, c.picture)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, had := old.picture[path]
		is, has := c.picture[path]
		check, _, inside := strings.Cut(path, "].")
		_, stood := old.picture[check+"]"]
		_, stands := c.picture[check+"]"]
		switch {
		case was == is, inside && strings.HasPrefix(path, "checks[") && stood != stands: // told with the check
		case !had:
			out = append(out, path+": added"+is.after(": "))
		case !has:
			out = append(out, path+": removed")
		case was.words == is.words:
			out = append(out, path+": changed "+unseen)
		default:
			out = append(out, fmt.Sprintf("%s: %s → %s", path, was.words, is.words))
		}
	}
	return out
}

func (s shown) after(mark string) string {
	if s.words == "" {
		return ""
	}
	return mark + s.words
}

// draw is the picture of a file.
func draw(f *file) picture {
	p := picture{}
	fileFields(f).show(p, "")
	return p
}

func (o object) show(p picture, path string) {
	for _, f := range o {
		f.to.show(p, join(path, f.name))
	}
}

func (l list[T]) show(p picture, path string) {
	for i := range *l.to {
		at := fmt.Sprintf("%s[%d]", path, i)
		if c, is := any(&(*l.to)[i]).(*checkFile); is {
			at = fmt.Sprintf("%s[%s]", path, c.Name.value)
			p[at] = shown{is: "a check"}
		}
		l.fields(&(*l.to)[i]).show(p, at)
	}
}

func (m dict[T]) show(p picture, path string) {
	for key, v := range *m.to {
		m.fields(&v).show(p, join(path, key))
	}
}

func (f scalar[T]) show(p picture, path string) {
	var v any = *f.to
	if f.shown != nil {
		v = f.shown(*f.to)
	}
	p[path] = shown{fmt.Sprint(v), fmt.Sprint(*f.to)}
}

func (f optional[T]) show(p picture, path string) {
	if *f.to != nil {
		f.of(*f.to).show(p, path)
	}
}

func (f free) show(p picture, path string) {
	words := withoutUser(f.to.written)
	_, header, _ := strings.Cut(path, ".headers.")
	if confidential[strings.ToLower(header)] || strings.HasSuffix(path, ".body") {
		words = unseen
	}
	p[path] = shown{words, f.to.value}
}

func (f hidden) show(p picture, path string) { p[path] = shown{unseen, f.to.value} }

func (f texts) show(p picture, path string) {
	for i := range *f.to {
		free{to: &(*f.to)[i]}.show(p, fmt.Sprintf("%s[%d]", path, i))
	}
}

func (f statuses) show(p picture, path string) {
	p[path] = shown{fmt.Sprint(*f.to), fmt.Sprint(*f.to)}
}
