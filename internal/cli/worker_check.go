package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/internal/witness"
)

type workerCheckJSON struct {
	Check string `json:"check"`
	witness.Verdict
}

func (a *app) workerCheckCommand() *cobra.Command {
	var flags poolFlags
	var options witness.Options
	var asJSON bool
	c := &cobra.Command{
		Use:   "worker-check",
		Short: "Watch workers work, and say whether they keep their contract",
		Long: `Watches a pool while workers use it, and says whether they keep the contract of
docs/workers.md: nobody brings a removed proxy back, scores only grow, reports are well
formed, live jobs are counted by the scripts. It only reads.

It looks five times a second, at no more than 1,000 members: what lasts shorter it may
miss. --monitor watches every command of the server instead, and misses none; it slows the
server down, and shows this user everything: for a test server. Only then are seen a worker
that writes without the scripts, and one that asks an empty pool without a pause. A request
that a worker makes without an allocation leaves no trace in Redis: nothing sees that here.

Exit status 1 if the contract was broken, or no allocation was seen.`,
		Example: `  proxyward worker-check --check catalogue --for 1m
  proxyward worker-check --redis redis://127.0.0.1:6379/0 --check catalogue --monitor --json`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if options.For < time.Second {
				return errors.New("bad --for: at least 1s")
			}
			return flags.withPool(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.workerCheck(ctx, s, options, asJSON)
			})
		},
	}
	flags.add(c)
	c.Flags().DurationVar(&options.For, "for", 30*time.Second, "how long to watch")
	c.Flags().BoolVar(&options.Monitor, "monitor", false, "watch every command of the server: for a test server")
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) workerCheck(ctx context.Context, s *session, o witness.Options, asJSON bool) error {
	v, err := witness.Watch(ctx, s.pool, o)
	if err != nil {
		return err
	}
	if asJSON {
		if err := a.printJSON(workerCheckJSON{s.pool.Name(), v}); err != nil {
			return err
		}
	} else {
		a.printWorkerCheck(s.pool.Name(), v)
	}
	if v.Kept {
		return nil
	}
	return quietNo
}

func (a *app) printWorkerCheck(name string, v witness.Verdict) {
	style := a.style()
	if len(v.Findings) > 0 {
		t := screen.Table{Columns: []screen.Column{{Head: "RULE"}, {Head: "WHO"}, {Head: "TIMES"}, {Head: "WHAT", Flex: true}}}
		for _, f := range v.Findings {
			t.Add(screen.Cell{Text: string(f.Rule), Ink: screen.Bad}, screen.C(f.Who), screen.C(screen.Number(int64(f.Count))), screen.C(f.What))
		}
		t.Write(a.out, style)
	}
	seen := fmt.Sprintf("%s, %s, %s seen", screen.Count(v.Allocations, "allocation"), screen.Count(int64(v.Reports), "report"),
		screen.Count(int64(v.Abandoned), "abandoned job"))
	switch {
	case len(v.Findings) > 0:
		fmt.Fprintf(a.out, "%s  pool %s: %s\n", style.Paint(screen.Bad, "broken"), name, seen)
	case v.Allocations == 0:
		fmt.Fprintf(a.out, "%s  pool %s: no worker took a proxy: start one, and watch again\n", style.Paint(screen.Bad, "nothing"), name)
	default:
		fmt.Fprintf(a.out, "%s  pool %s: %s\n", style.Paint(screen.Good, "kept"), name, seen)
	}
	if !v.Exact {
		fmt.Fprintln(a.out, "what lasts shorter than 0.2 s may be missed: --monitor sees every command, on a test server")
	}
}
