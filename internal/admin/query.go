package admin

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// several ends the name of a parameter that may come several times.
const several = "…"

// plainName is the name of a parameter that is repeated to whoever sent it.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`)

// query says what is wrong with the query of a request: a parameter that the route does not
// know, or one that is given twice where one is meant. Of what is not the API nothing is asked.
func (r route) query(req *http.Request) error {
	if !strings.HasPrefix(r.path, "/api/") {
		return nil
	}
	given, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil {
		return trouble(http.StatusBadRequest, "the query cannot be read: write NAME=VALUE, with & between two and other signs escaped as %XX")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		once := slices.Contains(r.asks, name)
		switch {
		case !once && !slices.Contains(r.asks, name+several):
			return trouble(http.StatusBadRequest, r.unknown(name))
		case once && len(given[name]) > 1:
			return trouble(http.StatusBadRequest, name+" is given twice: give it once")
		}
	}
	return nil
}

func (r route) unknown(name string) string {
	if !plainName.MatchString(name) {
		name = "one whose name is no word"
	}
	if len(r.asks) == 0 {
		return fmt.Sprintf("unknown parameter: %s; this path takes none", name)
	}
	return fmt.Sprintf("unknown parameter: %s; known are %s", name, strings.ReplaceAll(strings.Join(r.asks, ", "), several, ""))
}
