package prober

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"proxyward/checks"
	"proxyward/checks/endpoint"
	"proxyward/checks/verdict"
)

func parse(t *testing.T, url string) endpoint.Endpoint {
	t.Helper()
	e, err := endpoint.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestSlotsAreBounded(t *testing.T) {
	p := New(10)
	if got := p.Reserve(7); got != 7 {
		t.Fatal(got)
	}
	if got := p.Reserve(7); got != 3 {
		t.Fatal(got)
	}
	if got := p.Reserve(1); got != 0 {
		t.Fatal(got)
	}
	p.Release(2)
	if got := p.Reserve(5); got != 2 {
		t.Fatal(got)
	}
}

func TestAcquireWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(1)
		if err := p.Acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := make(chan error)
		go func() { got <- p.Acquire(t.Context()) }()
		synctest.Wait()
		select {
		case <-got:
			t.Fatal("two slots of one")
		default:
		}
		p.Release(1)
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.Acquire(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	})
}

func TestAPanicIsContainedAndOurOwnFault(t *testing.T) {
	p := New(1)
	var told string
	p.OnPanic = func(id string, _ any, stack []byte) {
		told = id
		if len(stack) == 0 {
			t.Error("no stack")
		}
	}
	v := p.Probe(t.Context(), nil, parse(t, "http://u:hunter2@192.0.2.1:80"), checks.RunOptions{})
	if v.Passed || v.Blame != verdict.Local || v.Reason != verdict.LocalError || p.Panics() != 1 || told != "http://u@192.0.2.1:80" {
		t.Errorf("%+v, %d panics, told of %s", v, p.Panics(), told)
	}
}

func TestTheHeartbeatNoticesThatWeDidNotRun(t *testing.T) {
	var h Heartbeat
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	for ms := 0; ms <= 1000; ms += 50 {
		h.Beat(at(ms))
	}
	h.Beat(at(1700)) // stopped for 650 ms
	for ms := 1750; ms <= 3000; ms += 50 {
		h.Beat(at(ms))
	}
	for ms := 3100; ms <= 5000; ms += 100 { // starved: each beat 50 ms late
		h.Beat(at(ms))
	}
	for ms := 5050; ms <= 6000; ms += 50 {
		h.Beat(at(ms))
	}
	for _, c := range []struct {
		what     string
		from, to int
		want     bool
	}{
		{"before the stop", 100, 900, false},
		{"over the stop", 900, 2000, true},
		{"only its end", 1690, 2900, true},
		{"after it", 1750, 3000, false},
		{"while starved", 3100, 4900, true},
		{"a little of it", 4800, 6000, false},
		{"over a beat that has not come", 6000, 6600, true},
		{"up to the last beat", 5500, 6040, false},
	} {
		if got := h.Stalled(at(c.from), at(c.to)); got != c.want {
			t.Errorf("%s: stalled %v", c.what, got)
		}
	}
}

func TestTheLimiterFollowsTheWaits(t *testing.T) {
	bounds := []float64{0, 0.001, 0.02, 0.1, 1}
	if got := quantile(bounds, []uint64{90, 0, 10, 0}, 90); got != 100*time.Millisecond {
		t.Errorf("nine of ten waited at most %v", got)
	}
	if got := quantile(bounds, []uint64{95, 0, 5, 0}, 90); got != time.Millisecond {
		t.Errorf("nine of ten waited at most %v", got)
	}
	if got := quantile(bounds, make([]uint64, 4), 0); got != 0 {
		t.Errorf("nobody waited, yet %v", got)
	}
}

func TestTheGateKeepsPasswordsApart(t *testing.T) {
	g := NewGate()
	first, other := parse(t, "http://u:one@192.0.2.1:80"), parse(t, "socks5://u:two@192.0.2.1:1080")
	plain, elsewhere := parse(t, "http://192.0.2.1:81"), parse(t, "http://u:two@192.0.2.2:80")
	if !g.Enter(first, 2) || g.Enter(other, 2) {
		t.Error("two passwords of one user at once")
	}
	if !g.Enter(elsewhere, 2) || !g.Enter(plain, 2) || g.Enter(plain, 2) {
		t.Error("two to a host, not more, and hosts apart")
	}
	g.Leave(first)
	if !g.Enter(other, 2) {
		t.Error("the other password was not let in after the first")
	}
	g.Leave(other)
	g.Leave(plain)
	g.Leave(elsewhere)
	if len(g.hosts) != 0 || len(g.logins) != 0 {
		t.Error("the gate remembers those who left")
	}
}
