package testenv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Clock is the clock of one process, which a test moves while the process runs. The zero
// value is ready; start the process with Begin.
//
// Programs read the time without asking the kernel, from code that it maps into each of
// them (the vDSO). Begin replaces that code, before the program's first instruction, by
// some that asks the kernel and adds what the test says. It works for C and Go alike; what
// asks the kernel by itself, and every timer in the kernel, goes by the machine's clock.
type Clock struct {
	mu    sync.Mutex
	mem   *os.File // the memory of the process
	table int64    // where in it the seconds are: the wall clock's, then the monotonic clock's
	added [2]time.Duration
}

// NewClock is a clock that can be moved, or skips the test where there is none (see Program).
func NewClock(t testing.TB) *Clock {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		Missing(t, "a clock that a test can move (linux on amd64)")
	}
	return &Clock{}
}

// Begin starts a command whose clock this is.
func (c *Clock) Begin(cmd *exec.Cmd) error {
	runtime.LockOSThread() // the thread that starts a traced process is the only one that may let it go
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		return fmt.Errorf("wait for %s to stop at its start: %v", cmd.Path, err)
	}
	return errors.Join(c.take(pid), syscall.PtraceDetach(pid))
}

// take replaces the process's way to read the time.
func (c *Clock) take(pid int) error {
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	table, err := patch(pid, mem)
	if err != nil {
		mem.Close()
		return fmt.Errorf("take the clock of process %d: %w", pid, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mem, c.table = mem, table
	return nil
}

// Step moves the wall clock by whole seconds; the monotonic clock goes on.
func (c *Clock) Step(t testing.TB, d time.Duration) {
	t.Helper()
	c.add(t, 0, d)
}

// StoodStill takes whole seconds off the monotonic clock, as if the machine had been
// suspended for so long. The process must be stopped.
func (c *Clock) StoodStill(t testing.TB, d time.Duration) {
	t.Helper()
	c.add(t, 1, -d)
}

func (c *Clock) add(t testing.TB, which int, d time.Duration) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added[which] += d
	seconds := binary.LittleEndian.AppendUint64(nil, uint64(c.added[which]/time.Second))
	if _, err := c.mem.WriteAt(seconds, c.table+8*int64(which)); err != nil {
		t.Fatalf("move the clock: %v", err)
	}
}
