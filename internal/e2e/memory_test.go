package e2e_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"proxyward/internal/testenv"
)

// calls is how many commands of that name the server has had, refused ones too.
func (l *lot) calls(command string) (n int) {
	l.Helper()
	info, err := l.client.Info(l.Context(), "commandstats").Result()
	if err != nil {
		l.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if rest, is := strings.CutPrefix(line, "cmdstat_"+command+":calls="); is {
			digits, _, _ := strings.Cut(rest, ",")
			n, _ = strconv.Atoi(digits)
		}
	}
	return n
}

// A Redis that is full refuses to write: the daemon says so, once, asks ever more rarely, and
// goes on when there is room again. Workers get nothing meanwhile: their script writes too.
func TestRedisIsFull(t *testing.T) {
	t.Parallel()
	l := newLot(t, testenv.Redis(t), 50, 6)
	d := start(t, "--config", l.config)
	l.ready("at work")
	longest := l.pauses()
	limit := func(bytes string) {
		if err := l.client.ConfigSet(t.Context(), "maxmemory", bytes).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for round := 1; round <= 2; round++ {
		limit("1mb")
		testenv.Eventually(t, 20*time.Second, "told that redis is full", func() bool { return len(d.said("redis is away")) >= round })
		ok(t, "status", "--config", l.config) // the first question of whoever looks
		before := l.calls("evalsha")
		time.Sleep(6 * time.Second) // as long as it is full
		asked := l.calls("evalsha") - before
		limit("0")
		back := time.Now()
		testenv.Eventually(t, 40*time.Second, "redis is back", func() bool { return len(d.said("redis is back")) >= round })
		last := l.lastCommit()
		testenv.Eventually(t, 20*time.Second, "a commit", func() bool { return l.lastCommit() > last })
		t.Logf("asked %d times in 6 s, back %v after there was room", asked, time.Since(back).Round(100*time.Millisecond))
		if told := d.said("redis is away"); len(told) != round || asked > 40 {
			t.Errorf("told %d times, asked %d times in 6 s: %v", len(told), asked, told)
		}
	}
	pause := longest()
	if advice := d.said("redis is at maxmemory: give it more"); len(advice) != 2 {
		t.Errorf("what to do was told %d times", len(advice))
	}
	l.ready("at work again")
	l.sound("in the end")
	l.onceAtATime()
	l.figures("maxmemory reached, twice for 6 s", pause, d)
	if pause > 40*time.Second {
		t.Errorf("longest pause %v", pause)
	}
}
