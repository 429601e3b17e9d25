package store

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"proxyward/checks/endpoint"
)

// shown is the id as it may be printed.
func (e Entry) shown() string {
	if !leaksPassword(e.ID) {
		return e.ID
	}
	if parsed, err := endpoint.Parse(e.ID); err == nil {
		return parsed.ID()
	}
	scheme, rest, _ := strings.Cut(e.ID, "://")
	return scheme + "://…" + rest[strings.LastIndexByte(rest, '@'):]
}

// leaksPassword reports whether an id has a password in it.
func leaksPassword(id string) bool {
	_, rest, _ := strings.Cut(id, "://")
	login, _, found := cutLast(rest, "@")
	return found && strings.Contains(login, ":")
}

// misnamed reports whether an id is not the one name of an endpoint.
func misnamed(id string) bool {
	e, err := endpoint.Parse(id)
	return err != nil || leaksPassword(id) || e.ID() != id
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// secretForms are the forms in which the password of a full URL is looked for: as part of a
// URL, and as Basic credentials. The bare word could be anything.
func secretForms(full string) []string {
	u, err := url.Parse(full)
	if err != nil || u.User == nil {
		return nil
	}
	password, has := u.User.Password()
	if !has {
		return nil
	}
	_, escaped, _ := strings.Cut(u.User.String(), ":")
	basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
	return []string{":" + password + "@", ":" + escaped + "@", basic}
}

// leaks reports whether a text holds the password of the full URL.
func leaks(full, text string) bool {
	for _, form := range secretForms(full) {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

// exact reports whether a score is a number that nothing rounds: from 0 up to 2^53.
func exact(score string) bool {
	f, err := strconv.ParseFloat(score, 64)
	return err == nil && f >= 0 && f < 1<<53
}

// countable is exact for a number of a record.
func countable(n int64) bool { return n >= 0 && n < 1<<53 }
