package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/store"
)

type fsckJSON struct {
	Check string `json:"check"`
	store.Report
}

func (a *app) fsckCommand() *cobra.Command {
	var flags poolFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Check that a pool is sound, while daemons work",
		Long: `Checks the invariants of a pool: every endpoint in exactly one place, the eligible set
and the records agree, the counts add up, no password outside its place. It reads only,
and raises no false alarm while daemons work. Exit status 1 if it finds something.`,
		Example: `  proxyward fsck --check catalogue
  proxyward fsck --json | jq .violations`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withPool(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.fsck(ctx, s, asJSON)
			})
		},
	}
	flags.add(c)
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) fsck(ctx context.Context, s *session, asJSON bool) error {
	report, err := s.pool.Fsck(ctx)
	if err != nil {
		return err
	}
	if report.Checked == 0 {
		if err := s.strange(ctx); err != nil {
			return err
		}
	}
	if asJSON {
		if err := a.printJSON(fsckJSON{s.pool.Name(), report}); err != nil {
			return err
		}
	} else {
		a.printFsck(s.pool.Name(), report)
	}
	if len(report.Violations) > 0 {
		return quietNo
	}
	return nil
}

func (a *app) printFsck(name string, report store.Report) {
	style := a.style()
	checked := screen.Count(int64(report.Checked), "endpoint")
	if len(report.Violations) == 0 {
		fmt.Fprintf(a.out, "%s  pool %s: %s checked, nothing wrong\n", style.Paint(screen.Good, "sound"), name, checked)
		return
	}
	t := screen.Table{Columns: []screen.Column{{Head: "RULE"}, {Head: "ENDPOINT", Flex: true}, {Head: "WHAT"}}}
	for _, v := range report.Violations {
		t.Add(screen.Cell{Text: v.Invariant, Ink: screen.Bad}, screen.C(v.Endpoint), screen.C(v.What))
	}
	t.Write(a.out, style)
	fmt.Fprintf(a.out, "pool %s: %s checked, %s\n", name, checked, screen.Count(int64(len(report.Violations)), "violation"))
}
