package testenv

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The clocks of a server in C and of a process in Go are really moved: what stands on them
// would else pass for the wrong reason.
func TestAServersClockIsMovedWhileItRuns(t *testing.T) {
	clock := NewClock(t)
	path, port := Program(t, "redis-server"), Port(t)
	StartBy(t, clock.Begin, path, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	WaitTCP(t, fmt.Sprintf("127.0.0.1:%d", port))
	c := Client(t, fmt.Sprintf("redis://127.0.0.1:%d/0", port))
	off := func(by time.Duration) {
		t.Helper()
		script, err := c.Eval(t.Context(), "return redis.call('TIME')[1]", nil).Int64()
		if err != nil {
			t.Fatal(err)
		}
		for what, at := range map[string]time.Time{"TIME": c.Time(t.Context()).Val(), "TIME in a script": time.Unix(script, 0)} {
			if wrong := time.Until(at) - by; wrong.Abs() > 2*time.Second {
				t.Errorf("%s is %v off, not %v", what, time.Until(at), by)
			}
		}
	}
	off(0)
	c.Set(t.Context(), "short", "1", 30*time.Minute)
	clock.Step(t, time.Hour)
	off(time.Hour)
	Eventually(t, 5*time.Second, "what expires in half an hour is gone", func() bool { return c.Exists(t.Context(), "short").Val() == 0 })
	clock.Step(t, -48*time.Hour)
	off(-47 * time.Hour)
}

func TestTheClocksOfAGoProcessAreMovedWhileItRuns(t *testing.T) {
	if os.Getenv("TELL_THE_TIME") != "" {
		began := time.Now()
		for {
			fmt.Printf("%d %d\n", time.Now().Unix(), time.Since(began)/time.Second)
			time.Sleep(10 * time.Millisecond)
		}
	}
	t.Setenv("TELL_THE_TIME", "1")
	clock := NewClock(t)
	cmd := StartBy(t, clock.Begin, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	tells := func(what string, ok func(wall, passed time.Duration) bool) {
		t.Helper()
		Eventually(t, 10*time.Second, what, func() bool {
			text, _ := os.ReadFile(cmd.Stdout.(*os.File).Name())
			lines := strings.Split(string(text), "\n")
			var wall, passed int64
			if n, _ := fmt.Sscan(lines[max(0, len(lines)-2)], &wall, &passed); n < 2 {
				return false
			}
			return ok(time.Until(time.Unix(wall, 0)), time.Duration(passed)*time.Second)
		})
	}
	around := func(a, b time.Duration) bool { return (a - b).Abs() < 20*time.Second }
	tells("the right time", func(wall, passed time.Duration) bool { return around(wall, 0) && around(passed, 0) })
	clock.Step(t, 24*time.Hour)
	tells("tomorrow", func(wall, passed time.Duration) bool { return around(wall, 24*time.Hour) && around(passed, 0) })
	clock.Step(t, -48*time.Hour)
	tells("yesterday", func(wall, passed time.Duration) bool { return around(wall, -24*time.Hour) && around(passed, 0) })
	cmd.Process.Signal(syscall.SIGSTOP)
	clock.StoodStill(t, -time.Hour) // forth, which is easier to see
	cmd.Process.Signal(syscall.SIGCONT)
	tells("an hour has passed", func(wall, passed time.Duration) bool { return around(wall, -24*time.Hour) && around(passed, time.Hour) })
}
