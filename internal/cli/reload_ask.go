package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

const (
	answerWithin = 30 * time.Second // after which a daemon that was asked to reload is not waited for
	lookForIt    = 50 * time.Millisecond
	takenWord    = "taken"
	refusedWord  = "refused"
)

// reloadCommand asks a daemon to reload and waits for what comes of it: for ExecReload= of
// the unit, which must need neither kill nor the credentials, and listed nowhere.
func (a *app) reloadCommand() *cobra.Command {
	var pid int
	c := &cobra.Command{
		Use:    "reload --pid PID",
		Short:  "Ask a daemon under systemd to reload, and say whether it did",
		Hidden: true,
		Args:   exactly(0, ""),
		RunE:   func(cmd *cobra.Command, _ []string) error { return a.askReload(cmd.Context(), pid) },
	}
	c.Flags().IntVar(&pid, "pid", 0, "process id of the daemon ($MAINPID)")
	return c
}

// answerFile is where a daemon under systemd writes what came of each reload; empty: nowhere.
func (a *app) answerFile() string {
	dir, _, _ := strings.Cut(a.getenv("RUNTIME_DIRECTORY"), ":")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "reload")
}

// answer writes what came of the nth reload, whole or not at all.
func (a *app) answer(n int, taken bool) error {
	path := a.answerFile()
	if path == "" {
		return nil
	}
	word := refusedWord
	if taken {
		word = takenWord
	}
	whole := path + ".new"
	if err := os.WriteFile(whole, fmt.Appendf(nil, "%d %s\n", n, word), 0o640); err != nil {
		return err
	}
	return os.Rename(whole, path)
}

func (a *app) askReload(ctx context.Context, pid int) error {
	path := a.answerFile()
	switch {
	case pid <= 1:
		return errors.New("write --pid and the daemon's process id")
	case path == "":
		return errors.New("RUNTIME_DIRECTORY is not set: this is for ExecReload= of a unit with RuntimeDirectory=; elsewhere send SIGHUP")
	}
	before, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("ask for a reload: %w", err)
	}
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		return fmt.Errorf("ask process %d for a reload: %w", pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	look := time.NewTicker(lookForIt)
	defer look.Stop()
	for {
		now, err := os.ReadFile(path)
		switch {
		case err != nil:
			return fmt.Errorf("wait for the reload: %w", err)
		case string(now) == string(before):
		case strings.HasSuffix(string(now), " "+takenWord+"\n"):
			return nil
		default:
			return sayNo("the new configuration is refused, the old one stays: the journal says why, line by line")
		}
		select {
		case <-ctx.Done():
			return sayNo("the daemon has not answered within %v", answerWithin)
		case <-look.C:
		}
	}
}
