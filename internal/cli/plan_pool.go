package cli

import (
	"fmt"
	"strings"

	"proxyward/internal/cli/screen"
	"proxyward/internal/sources"
	"proxyward/scheduler"
)

// pooled is what is known of a check's pool before it is filled.
type pooled struct {
	sizes     []int // one, or several where it is not known
	words     string
	counted   bool // in local lists
	largest   int  // endpoints at the host that has most; 0: not known
	idBytes   float64
	passwords float64 // share of the endpoints that have one
}

// unknownSizes are shown where nothing says how large a pool is.
var unknownSizes = []int{100, 1_000, 10_000, 100_000, 1_000_000}

// pooled takes the size from the flag, or counts the endpoints of the local lists. Where it
// is not known every endpoint is taken to have a password.
func (a *app) pooled(f *planFlags, c scheduler.Check) (pooled, error) {
	if f.endpoints > 0 {
		return pooled{sizes: []int{f.endpoints}, words: screen.Count(int64(f.endpoints), "endpoint"), passwords: 1}, nil
	}
	var files, fetched []string
	ids, hosts := map[string]bool{}, map[string]int{}
	p := pooled{counted: true}
	for _, s := range c.Sources {
		if s.File == "" {
			fetched = append(fetched, s.URL)
			continue
		}
		list, err := sources.Read(s.File, s.Scheme)
		if err == nil {
			err = a.judgeList(s.File, list)
		}
		if err != nil {
			return p, fmt.Errorf("count the endpoints of check %s: %w; or say how many with --endpoints N", c.Name, err)
		}
		files = append(files, s.File)
		for _, one := range list.Accepted {
			id := one.Endpoint.ID()
			if ids[id] {
				continue
			}
			ids[id] = true
			p.idBytes += float64(len(id))
			if one.Endpoint.Password() != "" {
				p.passwords++
			}
			hosts[one.Endpoint.Host]++
			p.largest = max(p.largest, hosts[one.Endpoint.Host])
		}
	}
	if len(files) == 0 {
		return pooled{sizes: unknownSizes, words: "no local list to count", passwords: 1}, nil
	}
	n := len(ids)
	p.sizes, p.idBytes, p.passwords = []int{n}, p.idBytes/float64(n), p.passwords/float64(n)
	p.words = fmt.Sprintf("%s in %s", screen.Count(int64(n), "endpoint"), strings.Join(files, ", "))
	if len(fetched) > 0 {
		p.words += fmt.Sprintf(" (%s not counted)", screen.Count(int64(len(fetched)), "fetched list"))
	}
	return p, nil
}
