package cli

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"proxyward/internal/embedded"
	"proxyward/store"
)

func TestRecheckAsksByPriority(t *testing.T) {
	server, err := embedded.Start("embedded://127.0.0.1:0", embedded.Login{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	do := func(args ...string) {
		t.Helper()
		l := start(t, append(args, "--redis", server.URL())...)
		if code := <-l.ended; code != exitYes {
			t.Fatalf("%v: status %d\n%s", args, code, l.out.String())
		}
	}
	endpoint := func(i int) string { return fmt.Sprintf("http://192.0.2.%d:8080", i) }
	var lines []string
	for i := range 9 {
		lines = append(lines, endpoint(i+1))
	}
	do("import", listFile(t, lines...))
	for _, ask := range []struct{ priority, endpoint int }{{99999, 1}, {500, 2}, {0, 3}, {50_000, 4}, {500, 5}, {1, 6}, {99999, 7},
		{0, 1},       // more urgent than it was: it goes ahead
		{99999, 2}} { // less urgent: it stays
		do("recheck", endpoint(ask.endpoint), "--priority", fmt.Sprint(ask.priority))
	}
	do("recheck", endpoint(8)) // without a priority it is as urgent as can be
	s, err := store.Open(store.Address{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g, err := s.Pool(defaultCheck).Claim(context.Background(), store.Claim{Daemon: "d", Slots: 8, Lease: time.Minute, PerTick: 5, Window: time.Second,
		Rate: 100, Alive: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, l := range g.Leases {
		got = append(got, l.ID)
	}
	for _, i := range []int{3, 1, 8, 6, 2, 5, 4, 7} {
		want = append(want, endpoint(i))
	}
	if !slices.Equal(got, want) {
		t.Errorf("served %v\nwant   %v", got, want)
	}
}
