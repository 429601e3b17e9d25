package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/internal/operate"
)

type statusJSON struct {
	Checks []operate.Check `json:"checks"`
}

func (a *app) statusCommand() *cobra.Command {
	var flags poolFlags
	var asJSON bool
	var watch time.Duration
	c := &cobra.Command{
		Use:   "status",
		Short: "Show each check: states, lanes, daemons, last result",
		Example: `  proxyward status
  proxyward status --watch=1s
  proxyward status --json | jq '.checks[].states'`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch < 0 {
				return errors.New("bad --watch: a time of 0 or more, like 1s")
			}
			return flags.withStore(cmd.Context(), func(ctx context.Context, s *session) error {
				if watch > 0 && !asJSON {
					return a.watchStatus(ctx, s, flags.check, watch)
				}
				return a.status(ctx, s, flags.check, asJSON, a.out)
			})
		},
	}
	flags.add(c)
	c.Flags().DurationVar(&watch, "watch", 0, "show it again every so often, until interrupted; alone: every 1s")
	c.Flags().Lookup("watch").NoOptDefVal = "1s"
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) status(ctx context.Context, s *session, check string, asJSON bool, out io.Writer) error {
	names, err := s.statusNames(ctx, check)
	if err != nil {
		return err
	}
	all := statusJSON{Checks: []operate.Check{}}
	for _, name := range names {
		one, err := s.statusOf(ctx, name)
		if err != nil {
			return err
		}
		all.Checks = append(all.Checks, one)
	}
	if asJSON {
		return a.printJSON(all)
	}
	return printStatus(out, a.style(), s.place.name, all.Checks)
}

// statusNames are the checks of the configuration and those that have a pool.
func (s *session) statusNames(ctx context.Context, only string) ([]string, error) {
	if only != "" {
		name, err := s.pick(ctx, only)
		if err != nil {
			return nil, err
		}
		s.pool = s.store.Pool(name)
		return []string{name}, s.strange(ctx)
	}
	return operate.Names(ctx, s.store, s.checks())
}

func (s *session) statusOf(ctx context.Context, name string) (operate.Check, error) {
	return operate.StatusOf(ctx, s.store, s.checks(), name)
}

// watchStatus shows the status again and again; Redis being away ends nothing.
func (a *app) watchStatus(ctx context.Context, s *session, check string, every time.Duration) error {
	tick := time.NewTicker(max(every, 100*time.Millisecond))
	defer tick.Stop()
	style := a.style()
	picture := screen.NewLive(a.out)
	defer picture.End()
	for {
		var b bytes.Buffer
		err := a.status(ctx, s, check, false, &b)
		if err != nil && !errors.Is(err, context.Canceled) {
			b.WriteString(s.place.redisWords(err).Error() + "\n")
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case style.Terminal:
			picture.Draw(b.Bytes())
		default:
			a.out.Write(b.Bytes())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
