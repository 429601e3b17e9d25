package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/store"
)

func (a *app) exportCommand() *cobra.Command {
	var flags poolFlags
	var output string
	var passwords bool
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the state of a check to a file, to move it or to keep it",
		Long: `Writes every endpoint of a pool with its state, history, allocations and next probe, while
daemons work. ` + "`proxyward import --state FILE`" + ` puts them into a pool, in the same Redis or another.

Passwords stay out of the file unless --passwords is given; whoever then holds the file can
use the proxies. The last line counts the endpoints: a file that was cut off is refused.`,
		Example: `  proxyward export --check catalogue --output catalogue.state
  proxyward export --check catalogue | jq -r 'select(.record.state == "cooling") | .endpoint'`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.withPool(cmd.Context(), func(ctx context.Context, s *session) error { return a.export(ctx, s, output, passwords) })
		},
	}
	flags.add(c)
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write, readable by its owner only; it appears when it is whole (default: standard output)")
	c.Flags().BoolVar(&passwords, "passwords", false, "put the proxies' passwords into the file")
	return c
}

func (a *app) export(ctx context.Context, s *session, output string, passwords bool) (err error) {
	if err := s.strange(ctx); err != nil {
		return err
	}
	to, finish := a.out, func() error { return nil }
	if output != "" {
		f, err := createWhole(output)
		if err != nil {
			return err
		}
		defer f.drop()
		to, finish = f, f.commit
	}
	n, broken, err := writeState(ctx, s.pool, to, passwords)
	if err == nil {
		err = finish()
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if output != "" {
		a.note("%s of pool %s written to %s", screen.Count(int64(n), "endpoint"), s.pool.Name(), output)
	}
	if broken > 0 {
		a.note("%s left out: their records cannot be read (`proxyward fsck --repair` mends them)", screen.Count(int64(broken), "endpoint"))
		return quietNo
	}
	return nil
}

func writeState(ctx context.Context, p *store.Pool, to io.Writer, passwords bool) (n, broken int, err error) {
	now, err := p.Time(ctx)
	if err != nil {
		return 0, 0, err
	}
	if !passwords {
		p = p.Discreet()
	}
	out := bufio.NewWriter(to)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(stateHead{stateFormat, store.Schema, p.Name(), now}); err != nil {
		return 0, 0, err
	}
	err = p.Scan(ctx, func(entries []store.Entry, bad []error) error {
		broken += len(bad)
		for _, e := range entries {
			if e.Record.State == "" {
				continue // told in bad, or gone meanwhile
			}
			n++
			if err := lines.Encode(e.Save(passwords)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = lines.Encode(stateFoot{n})
	}
	return n, broken, errors.Join(err, out.Flush())
}
