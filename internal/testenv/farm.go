package testenv

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"proxyward/checks/endpoint"
)

// Farm is many HTTP forward proxies on loopback addresses of their own, in this process.
// Each answers a request itself, as the target would, and keeps a count.
type Farm struct {
	Port int

	gates []*gate

	mu       sync.Mutex
	answer   Answer
	hits     map[string][]time.Time // by proxy address
	flying   map[string]int
	overlaps map[string]int
}

// Answer is what the proxy at an address says to a request.
type Answer func(w http.ResponseWriter, r *http.Request, proxy string)

// Page is what a good proxy of the farm brings back.
const Page = "the catalogue"

// NewFarm starts n proxies, on 127.77.0.1 and up, all on one port.
func NewFarm(t testing.TB, n int) *Farm {
	t.Helper()
	f := &Farm{answer: Good, hits: map[string][]time.Time{}, flying: map[string]int{}, overlaps: map[string]int{}}
	server := &http.Server{Handler: http.HandlerFunc(f.serve)}
	for i := range n {
		l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", f.Host(i), f.Port))
		if err != nil {
			t.Fatal(err)
		}
		f.Port = l.Addr().(*net.TCPAddr).Port
		g := &gate{Listener: l}
		f.gates = append(f.gates, g)
		go server.Serve(g)
	}
	t.Cleanup(func() { f.open(); server.Close() })
	return f
}

// Host is the address of the ith proxy.
func (f *Farm) Host(i int) string { return fmt.Sprintf("127.77.%d.%d", i/250, i%250+1) }

// ID is the endpoint id of the ith proxy.
func (f *Farm) ID(i int) string { return fmt.Sprintf("http://%s:%d", f.Host(i), f.Port) }

// Endpoints are the first n proxies.
func (f *Farm) Endpoints(t testing.TB, n int) []endpoint.Endpoint {
	t.Helper()
	list := make([]endpoint.Endpoint, n)
	for i := range list {
		var err error
		if list[i], err = endpoint.Parse(f.ID(i)); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// Good answers as the target does.
func Good(w http.ResponseWriter, _ *http.Request, _ string) { fmt.Fprint(w, Page) }

// Say makes every proxy answer with one status.
func Say(status int) Answer {
	return func(w http.ResponseWriter, _ *http.Request, _ string) { http.Error(w, "no", status) }
}

// Answer changes what the proxies do from now on.
func (f *Farm) Answer(a Answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = a
}

func (f *Farm) serve(w http.ResponseWriter, r *http.Request) {
	local := r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()
	proxy, _, _ := net.SplitHostPort(local)
	f.mu.Lock()
	f.hits[proxy] = append(f.hits[proxy], time.Now())
	f.flying[proxy]++
	if f.flying[proxy] > 1 {
		f.overlaps[proxy]++
	}
	answer := f.answer
	f.mu.Unlock()
	answer(w, r, proxy)
	f.mu.Lock()
	f.flying[proxy]--
	f.mu.Unlock()
}

// Hits are the times at which proxies were asked since the last Reset, in no order.
func (f *Farm) Hits() (all []time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, times := range f.hits {
		all = append(all, times...)
	}
	return all
}

// HitsOf counts how often one proxy was asked since the last Reset.
func (f *Farm) HitsOf(proxy string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.hits[proxy])
}

// HitsAt are the times at which one proxy was asked since the last Reset.
func (f *Farm) HitsAt(proxy string) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.hits[proxy])
}

// Overlaps names the proxies that were asked while they still answered another request,
// and how often.
func (f *Farm) Overlaps() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.overlaps)
}

// Reset forgets the hits so far.
func (f *Farm) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hits = map[string][]time.Time{}
}
