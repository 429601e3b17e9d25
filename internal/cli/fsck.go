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
	var repair, asJSON bool
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Check that a pool is sound, while daemons work, and mend it",
		Long: `Checks the invariants of a pool: every endpoint in exactly one place, the eligible set
and the records agree, the counts add up, no password outside its place. It raises no
false alarm while daemons work, and without --repair it only reads.

--repair mends what it finds, each endpoint in one move, while daemons and workers go on.
Daemons do the same by themselves, within a minute. Nobody becomes eligible who was not; a
record that cannot be read becomes that of a candidate. Exit status 1 if something is
wrong, or is still wrong after the repair.`,
		Example: `  proxyward fsck --check catalogue
  proxyward fsck --check catalogue --repair
  proxyward fsck --json | jq .violations`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withPool(cmd.Context(), func(ctx context.Context, s *session) error {
				return a.fsck(ctx, s, repair, asJSON)
			})
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&repair, "repair", false, "mend what is wrong")
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) fsck(ctx context.Context, s *session, repair, asJSON bool) error {
	look := s.pool.Fsck
	if repair {
		look = s.pool.Repair
	}
	report, err := look(ctx)
	if err != nil {
		return err
	}
	if report.Checked == 0 && len(report.Violations) == 0 {
		if err := s.strange(ctx); err != nil {
			return err
		}
	}
	left := 0
	for _, v := range report.Violations {
		if !v.Mended {
			left++
		}
	}
	if asJSON {
		if err := a.printJSON(fsckJSON{s.pool.Name(), report}); err != nil {
			return err
		}
	} else {
		a.printFsck(s.pool.Name(), report, left, repair)
	}
	if left > 0 {
		return quietNo
	}
	return nil
}

func (a *app) printFsck(name string, report store.Report, left int, repair bool) {
	style := a.style()
	checked := screen.Count(int64(report.Checked), "endpoint")
	if len(report.Violations) == 0 {
		fmt.Fprintf(a.out, "%s  pool %s: %s checked, nothing wrong\n", style.Paint(screen.Good, "sound"), name, checked)
		return
	}
	t := screen.Table{Columns: []screen.Column{{Head: "RULE"}, {Head: "ENDPOINT", Flex: true}, {Head: "WHAT"}}}
	if repair {
		t.Columns = append([]screen.Column{{}}, t.Columns...)
	}
	for _, v := range report.Violations {
		row := []screen.Cell{{Text: v.Invariant, Ink: screen.Bad}, screen.C(v.Endpoint), screen.C(v.What)}
		if repair {
			done := screen.Cell{Text: "mended", Ink: screen.Good}
			if !v.Mended {
				done = screen.Cell{Text: "left", Ink: screen.Bad}
			}
			row = append([]screen.Cell{done}, row...)
		}
		t.Add(row...)
	}
	t.Write(a.out, style)
	end := ""
	switch {
	case repair && left == 0:
		end = ", all mended"
	case repair:
		end = fmt.Sprintf(", %d left: is something else writing to the pool?", left)
	}
	fmt.Fprintf(a.out, "pool %s: %s checked, %s%s\n", name, checked, screen.Count(int64(len(report.Violations)), "violation"), end)
	if !repair {
		fmt.Fprintf(a.out, "mend them: proxyward fsck --check %s --repair\n", name)
	}
}
