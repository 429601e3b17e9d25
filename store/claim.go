package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"proxyward/store/record"
)

// Claim asks for work.
type Claim struct {
	Daemon  string
	Slots   int           // probes that can start at once
	Lease   time.Duration // outlives the longest probe by a margin
	PerTick int           // endpoints the fleet admits per window, at least
	MaxTick int           // how far that may grow while trials pass; never over the rate
	Window  time.Duration
	Rate    float64       // probes per second of the fleet
	Alive   time.Duration // a daemon silent for longer is dead

	Fingerprint string // of the check's configuration; empty: not known, and never compared
	Loaded      bool   // it was loaded just now: it counts from now on
}

// Lease is the right to probe one endpoint once.
type Lease struct {
	ID     string
	URL    string // full proxy URL: a secret
	Lane   record.Lane
	Token  string
	Raw    string // the record as it stands in Redis
	Record record.Record
	Since  time.Time // when the claim's reply arrived, monotonic
}

// Probe is the word by which events and logs name this one probe.
func (l Lease) Probe() string {
	name, _, _ := strings.Cut(l.Token[strings.LastIndex(l.Token, ".")+1:], "~")
	return name
}

// Grant is what a claim gave.
type Grant struct {
	Now     int64 // pool time, ms
	Leases  []Lease
	Broken  []error // records that cannot be read; their leases are left to expire
	Freed   int     // expired leases returned to their lanes
	Left    int     // due, yet not granted
	Size    int     // endpoints in the pool
	Daemons int     // live ones; 0: this one stands by, for another configuration of the check counts
	Trickle int     // endpoints the fleet admits per window now
	GuardMs int64   // pool time since which the guard is open; 0: it is closed
}

// Claim takes what is due, as far as budgets and slots allow. It is not repeated when a
// reply is lost: the leases then expire without a penalty.
func (p *Pool) Claim(ctx context.Context, c Claim) (Grant, error) {
	names, args := p.claimCall(c)
	reply, err := p.run(ctx, claimScript, names, args).StringSlice()
	if err != nil {
		return Grant{}, fmt.Errorf("claim due endpoints: %w", err)
	}
	return p.grant(reply)
}

// claimCall are KEYS and ARGV of claim.lua.
func (p *Pool) claimCall(c Claim) (names []string, args []any) {
	k := p.keys
	names = append([]string{k.endpoints(), k.urls()}, k.lanes()...)
	names = append(names, k.leases(), k.tokens(), k.admitted(), k.clock(), k.budget(), k.daemons(), k.events(), k.meta())
	return names, append(p.call(c.Lease), c.Daemon, nonce(), c.Slots, c.PerTick, c.Window.Milliseconds(),
		strconv.FormatFloat(c.Rate, 'f', -1, 64), c.Alive.Milliseconds(), eventsKept, max(c.PerTick, c.MaxTick),
		c.Fingerprint, map[bool]int{true: 1}[c.Loaded])
}

func (p *Pool) grant(reply []string) (Grant, error) {
	const head, width = 7, 5
	if len(reply) < head || (len(reply)-head)%width != 0 {
		return Grant{}, fmt.Errorf("claim due endpoints: a reply of %d values", len(reply))
	}
	var numbers [head]int64
	for i := range numbers {
		n, err := strconv.ParseInt(reply[i], 10, 64)
		if err != nil {
			return Grant{}, fmt.Errorf("claim due endpoints: bad reply: %w", err)
		}
		numbers[i] = n
	}
	p.seen.set(numbers[0], true)
	g := Grant{Now: numbers[0], Freed: int(numbers[1]), Left: int(numbers[2]), Size: int(numbers[3]), Daemons: int(numbers[4]),
		Trickle: int(numbers[5]), GuardMs: numbers[6]}
	for row := reply[head:]; len(row) > 0; row = row[width:] {
		l := Lease{ID: row[0], Lane: record.Lane(row[1]), Token: row[2], Raw: row[3], URL: row[4], Since: time.Now()}
		if l.URL == "" {
			l.URL = l.ID
		}
		var err error
		if l.Record, err = decode(l.ID, l.Raw); err != nil {
			g.Broken = append(g.Broken, err)
			continue
		}
		g.Leases = append(g.Leases, l)
	}
	return g, nil
}

// nonce is a word no other claim has.
func nonce() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:]) + "-"
}

// Return is a lease given back without a result.
type Return struct {
	Lease Lease
	Delay time.Duration // until it is due again; 0: to the lane and place it came from
}

// GiveBack returns leases. Late ones are left alone.
func (p *Pool) GiveBack(ctx context.Context, lease time.Duration, returns []Return) error {
	k := p.keys
	names := append(k.lanes(), k.leases(), k.tokens(), k.clock())
	for len(returns) > 0 {
		n := min(batch, len(returns))
		args := p.call(lease)
		for _, r := range returns[:n] {
			delay := ""
			if r.Delay > 0 {
				delay = strconv.FormatInt(r.Delay.Milliseconds(), 10)
			}
			args = append(args, r.Lease.ID, r.Lease.Token, string(r.Lease.Record.State.Lane()), delay)
		}
		if _, err := p.codes(ctx, giveBackScript, names, args); err != nil {
			return fmt.Errorf("give leases back: %w", err)
		}
		returns = returns[n:]
	}
	return nil
}
