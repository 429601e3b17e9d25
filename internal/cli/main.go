package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"proxyward/configs"
	"proxyward/internal/cli/screen"
)

// app is what every command works with.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
}

// style is how standard output is dressed.
func (a *app) style() screen.Style { return screen.For(a.out, a.getenv) }

// note says something beside the data, on standard error.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.err, "proxyward: "+format+"\n", args...)
}

// Main runs the command line of the process and returns its exit status. The first
// SIGINT or SIGTERM asks the command to end, one that comes secondAfter it or later ends the
// process at once.
func Main() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	var watcher sync.WaitGroup
	watcher.Go(func() { watch(signals, over, cancel, os.Exit) })
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	code := a.run(ctx, os.Args[1:])
	signal.Stop(signals)
	close(over)
	watcher.Wait()
	return code
}

// secondAfter is how long after the first signal another one means something else: what comes
// sooner was sent twice, by a key pressed twice or by a terminal and a supervisor.
const secondAfter = time.Second

// watch cancels at the first signal and exits at the first after secondAfter, with the status
// that a shell gives a process which a signal ended.
func watch(signals <-chan os.Signal, over <-chan struct{}, cancel func(), exit func(int)) {
	var first time.Time
	for {
		select {
		case <-over:
			return
		case s := <-signals:
			number, ok := s.(syscall.Signal)
			switch {
			case first.IsZero():
				first = time.Now()
				cancel()
			case ok && time.Since(first) >= secondAfter:
				exit(128 + int(number))
			}
		}
	}
}

// run executes one command line.
func (a *app) run(ctx context.Context, args []string) int {
	out := &output{to: a.out}
	a.out = out
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if lost := out.lost(); lost != nil && (err == nil || errors.Is(err, quietNo)) {
		err = lost
	}
	var faults *configs.Faults
	if errors.As(err, &faults) {
		a.tellFaults(faults)
		return exitWrong
	}
	code, words := status(err)
	for line := range strings.SplitSeq(words, "\n") {
		if line != "" {
			a.note("%s", line)
		}
	}
	return code
}

// tellFaults writes a line per fault as compilers do, so that editors find the place;
// those of flags stand in no file.
func (a *app) tellFaults(f *configs.Faults) {
	file := ""
	for _, one := range f.List {
		if one.File == "" {
			a.note("%s: %s", one.Path, one.Msg)
			continue
		}
		file = one.File
		fmt.Fprintln(a.err, one)
	}
	if file != "" {
		a.note("%s in %s", screen.Count(int64(len(f.List)), "fault"), file)
	}
}
