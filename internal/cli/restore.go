package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"proxyward/internal/cli/screen"
	"proxyward/store"
	"proxyward/store/record"
)

// restoreFlags are those of import --state.
type restoreFlags struct {
	state, overwrite bool
	proven           time.Duration
}

// restoreBatch is how many endpoints are put in at once.
const restoreBatch = 1000

// restore reads an export twice: nothing is written before all of it was found well formed.
func (a *app) restore(ctx context.Context, f *importFlags, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read state: %w", err)
	}
	defer in.Close()
	if i, err := in.Stat(); err == nil && !i.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file: a state is read twice, so that nothing is written before its end was seen", file)
	}
	head, n, err := readState(file, in, nil)
	if err != nil {
		return err
	}
	if f.dryRun {
		return a.tellRestored(f, head, n, store.Restored{})
	}
	return f.withPool(ctx, func(ctx context.Context, s *session) error {
		if _, err := s.pool.Fit(ctx); err != nil {
			return err
		}
		stands, err := s.pool.Status(ctx)
		if err != nil {
			return err
		}
		how := store.Restoring{SavedMs: head.SavedMs, ProvenMs: f.restore.proven.Milliseconds(), Overwrite: f.restore.overwrite, Exact: stands.States[record.Eligible] == 0}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read state: %w", err)
		}
		var sum store.Restored
		_, _, err = readState(file, in, func(saved []store.Saved) error {
			some, err := s.pool.Restore(ctx, how, saved)
			sum.Restored, sum.Unproven, sum.Kept = sum.Restored+some.Restored, sum.Unproven+some.Unproven, sum.Kept+some.Kept
			return err
		})
		if err != nil {
			return fmt.Errorf("%w; %d endpoints were restored: run it again, it goes on", err, sum.Restored)
		}
		return a.tellRestored(f, head, n, sum)
	})
}

func (a *app) tellRestored(f *importFlags, head stateHead, n int, sum store.Restored) error {
	if f.json {
		return a.printJSON(struct {
			Check     string `json:"check"` // that the export was made of
			Endpoints int    `json:"endpoints"`
			store.Restored
		}{head.Check, n, sum})
	}
	style := a.style()
	if f.dryRun {
		fmt.Fprintf(a.out, "%s  an export of check %s with %s; nothing was written\n", style.Paint(screen.Good, "sound"), head.Check, screen.Count(int64(n), "endpoint"))
		return nil
	}
	fmt.Fprintf(a.out, "%s  %s", style.Paint(screen.Good, "restored"), screen.Count(int64(sum.Restored), "endpoint"))
	if sum.Unproven > 0 {
		fmt.Fprintf(a.out, ", %d of them candidates again: they last passed over %v ago (--proven)", sum.Unproven, f.restore.proven)
	}
	if sum.Kept > 0 {
		fmt.Fprintf(a.out, "; %d were there already and stay as they are (--overwrite replaces them)", sum.Kept)
	}
	fmt.Fprintln(a.out)
	return nil
}
