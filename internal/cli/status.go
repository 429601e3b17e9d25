package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"proxyward/internal/cli/screen"
	"proxyward/store"
	"proxyward/store/record"
)

type statusJSON struct {
	Checks []checkJSON `json:"checks"`
}

// checkJSON is the status of one check. Owned: the configuration names it or, without
// one, a live daemon serves it.
type checkJSON struct {
	Name         string           `json:"name"`
	Owned        bool             `json:"owned"`
	States       map[string]int64 `json:"states"`
	Lanes        map[string]int64 `json:"lanes"` // endpoints waiting
	Due          map[string]int64 `json:"due"`   // of these, due now
	Leases       int64            `json:"leases"`
	Guard        guardJSON        `json:"guard"`
	Trickle      int64            `json:"trickle"`  // admissions per window; 0: not known
	Admitted     int64            `json:"admitted"` // in the last window
	Daemons      []daemonJSON     `json:"daemons"`  // live ones
	LastCommitMs int64            `json:"last_commit_ms"`
	NowMs        int64            `json:"now_ms"` // pool time

	status store.Status
	stray  bool // there is a configuration, and it does not name the check
}

type guardJSON struct {
	Open    bool   `json:"open"`
	SinceMs int64  `json:"since_ms"`
	Why     string `json:"why"`
}

type daemonJSON struct {
	Name        string `json:"name"`
	HeartbeatMs int64  `json:"heartbeat_ms"`
}

// deadAfter is how long ago a daemon's last heartbeat may be for it to count as live.
const deadAfter = 15 * time.Second

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
	all := statusJSON{Checks: []checkJSON{}}
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
	names, err := s.store.Checks(ctx)
	names = append(names, s.configured()...)
	slices.Sort(names)
	return slices.Compact(names), err
}

func (s *session) statusOf(ctx context.Context, name string) (checkJSON, error) {
	status, err := s.store.Pool(name).Discreet().Status(ctx)
	if err != nil {
		return checkJSON{}, err
	}
	check, configured := s.check(name)
	if status.Trickle == 0 { // nothing was claimed yet: what the first claim will say
		status.Trickle = int64(check.Trickle.PerTick)
	}
	c := checkJSON{Name: name, States: map[string]int64{}, Lanes: map[string]int64{}, Due: map[string]int64{},
		Leases: status.Leases, Trickle: status.Trickle, Admitted: status.Admitted, Daemons: live(status),
		LastCommitMs: status.LastCommitMs, NowMs: status.Now, status: status}
	if status.Guard.OpenMs > 0 {
		c.Guard = guardJSON{true, status.Guard.OpenMs, status.Guard.Why}
	}
	c.Owned = configured || s.config == nil && len(c.Daemons) > 0
	c.stray = s.config != nil && !configured
	for _, state := range record.States {
		c.States[string(state)] = countOf(status, state)
	}
	for _, lane := range record.Lanes {
		c.Lanes[string(lane)], c.Due[string(lane)] = status.Lanes[lane].Waiting, status.Lanes[lane].Due
	}
	return c, nil
}

// live lists the daemons heard of lately, by name.
func live(s store.Status) []daemonJSON {
	found := []daemonJSON{}
	for name, at := range s.Daemons {
		if s.Now-at <= deadAfter.Milliseconds() {
			found = append(found, daemonJSON{name, at})
		}
	}
	slices.SortFunc(found, func(x, y daemonJSON) int { return bytes.Compare([]byte(x.Name), []byte(y.Name)) })
	return found
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
