package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"proxyward/checks/endpoint"
	"proxyward/internal/cli/screen"
	"proxyward/internal/sources"
	"proxyward/scheduler"
	"proxyward/store/record"
)

// importSource is what records call the endpoints that were imported.
const importSource = "import"

type importFlags struct {
	poolFlags
	scheme       string
	dryRun, json bool
	restore      restoreFlags
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Read a list into a pool once, or check a list line by line",
		Long: `Reads a list of proxies into the pool of a check, once: one endpoint a line, as a URL,
host:port, user:pass@host:port or host:port:user:pass. A known endpoint keeps its history;
a changed password makes it due at once. Every line is accepted, a duplicate, or refused
with its number and the reason. - reads standard input. --dry-run needs no Redis.

--state reads what ` + "`proxyward export`" + ` wrote: endpoints come with their state, history and
allocations. Those that are in the pool already stay as they are, unless --overwrite is
given. Nobody becomes eligible unproven: who was eligible and last passed longer ago than
--proven is a candidate, to be probed at once.`,
		Example: `  proxyward import proxies.txt --check catalogue
  proxyward import --dry-run --json proxies.txt | jq .rejected
  proxyward import --state catalogue.state --check catalogue
  curl -s https://lists.example/socks5.txt | proxyward import - --scheme socks5`,
		Args: exactly(1, "one FILE, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.restore.state {
				return a.restore(cmd.Context(), &f, args[0])
			}
			for _, flag := range []string{"overwrite", "proven"} {
				if cmd.Flags().Changed(flag) {
					return fmt.Errorf("bad --%s: it goes with --state", flag)
				}
			}
			return a.importList(cmd.Context(), &f, args[0])
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.scheme, "scheme", "http", "scheme of lines that name none")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say what would be accepted")
	c.Flags().BoolVar(&f.restore.state, "state", false, "FILE is an export: restore endpoints with all that is known of them")
	c.Flags().BoolVar(&f.restore.overwrite, "overwrite", false, "with --state: replace what the pool knows of them")
	c.Flags().DurationVar(&f.restore.proven, "proven", 10*time.Minute, "with --state: who last passed longer ago has to prove itself again")
	jsonFlag(c, &f.json)
	return c
}

func (a *app) importList(ctx context.Context, f *importFlags, file string) error {
	list, err := a.readList(file, f.scheme)
	if err != nil {
		return err
	}
	if f.dryRun || len(list.Accepted) == 0 {
		return a.tellList(file, list, scheduler.Listing{}, f)
	}
	return f.withPool(ctx, func(ctx context.Context, s *session) error {
		all := make([]endpoint.Endpoint, len(list.Accepted))
		for i, one := range list.Accepted {
			all[i] = one.Endpoint
		}
		sum, err := scheduler.Enroll(ctx, s.pool, importSource, record.ByOperator, all, s.spread(len(all)))
		if err != nil {
			return err
		}
		return a.tellList(file, list, sum, f)
	})
}

func (a *app) readList(file, scheme string) (sources.List, error) {
	if file != "-" {
		return sources.Read(file, scheme)
	}
	l, err := sources.Parse(a.in, scheme)
	if err != nil {
		err = fmt.Errorf("list on standard input: %w", err)
	}
	return l, err
}

// importRate is how many first probes a second an import makes due where no configuration
// says what the check allows.
const importRate = 200

// spread is the time over which the first probes of n new endpoints are scattered.
func (s *session) spread(n int) time.Duration {
	rate, most := float64(importRate), 5*time.Minute
	if c, known := s.check(s.pool.Name()); known && c.Limits.Rate > 0 {
		rate, most = c.Limits.Rate, c.Policy.Recheck
	}
	return min(most, time.Duration(float64(n)/rate*float64(time.Second)))
}

// tellList prints what became of each line. A list without any endpoint is bad input.
func (a *app) tellList(file string, l sources.List, sum scheduler.Listing, f *importFlags) error {
	if f.json {
		if err := a.printJSON(l); err != nil {
			return err
		}
	} else {
		a.printList(l, sum, f.dryRun)
	}
	if len(l.Accepted) == 0 && len(l.Rejected) > 0 {
		return fmt.Errorf("%s names no endpoint: not one of its %s can be read", file, screen.Count(int64(len(l.Rejected)), "line"))
	}
	if len(l.Accepted) == 0 {
		return fmt.Errorf("%s names no endpoint: it is empty", file)
	}
	return nil
}

func (a *app) printList(l sources.List, sum scheduler.Listing, dryRun bool) {
	style := a.style()
	t := screen.Table{Columns: []screen.Column{{}, {}, {}}}
	for _, r := range l.Rejected {
		t.Add(screen.Cell{Text: "rejected", Ink: screen.Bad}, screen.C(fmt.Sprintf("line %d", r.Line)), screen.C(r.Reason))
	}
	for _, d := range l.Duplicates {
		words := fmt.Sprintf("%s, as in line %d", d.Endpoint.ID(), d.First)
		if d.OtherPassword {
			words += ", with another password: line " + fmt.Sprint(d.First) + " counts"
		}
		t.Add(screen.Cell{Text: "duplicate", Ink: screen.Warn}, screen.C(fmt.Sprintf("line %d", d.Line)), screen.C(words))
	}
	t.Write(a.out, style)
	fmt.Fprintf(a.out, "%s  %s, %s, %d rejected", style.Paint(screen.Good, "accepted"), screen.Count(int64(len(l.Accepted)), "endpoint"),
		screen.Count(int64(len(l.Duplicates)), "duplicate"), len(l.Rejected))
	if dryRun {
		fmt.Fprintln(a.out, "; nothing was written")
		return
	}
	fmt.Fprintf(a.out, "; %d new, %d returned, %d with a new password, %d as they were\n", sum.New, sum.Returned, sum.Changed, sum.Unchanged)
}
