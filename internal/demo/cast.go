package demo

import "time"

// mood is how a proxy behaves for a while.
type mood int

const (
	good   mood = iota
	hangUp      // closes the connection instead of answering
	silent      // takes the connection and says nothing
	slow        // right, but late
	portal      // answers with a page of its own
	busy        // 429, with Retry-After
	down        // leads to the target's maintenance page: 503, and not the proxy's fault
	absent      // nobody listens
)

// phase is a mood from a moment of the cycle on.
type phase struct {
	from time.Duration
	mood mood
}

// part is one proxy of the play.
type part struct {
	plays          string // for the table
	scheme         string
	user, password string // what it asks for
	gives          string // the password in our list; empty: the right one
	phases         []phase
}

// cycle is after how long the play begins again.
const cycle = 40 * time.Second

func always(m mood) []phase { return []phase{{0, m}} }

// cast is the play: one of each way in which proxies behave.
var cast = []part{
	{plays: "works", scheme: "http", phases: always(good)},
	{plays: "works", scheme: "socks5", phases: always(good)},
	{plays: "works, wants a login", scheme: "socks5h", user: "ann", password: "open-sesame", phases: always(good)},
	{plays: "slow but right", scheme: "http", phases: always(slow)},
	{plays: "broken at first, heals soon", scheme: "http", phases: []phase{{0, hangUp}, {2 * time.Second, good}, {24 * time.Second, hangUp}, {28 * time.Second, good}}},
	{plays: "breaks, then heals", scheme: "socks5", phases: []phase{{0, good}, {4 * time.Second, hangUp}, {8 * time.Second, good}, {30 * time.Second, silent}, {36 * time.Second, good}}},
	{plays: "target answers 503 at times", scheme: "socks5h", phases: []phase{{0, good}, {2 * time.Second, down}, {12 * time.Second, good}, {26 * time.Second, down}}},
	{plays: "our password is wrong", scheme: "http", user: "bob", password: "correct-horse", gives: "wrong-horse", phases: always(good)},
	{plays: "nobody listens", scheme: "http", phases: always(absent)},
	{plays: "takes calls, says nothing", scheme: "socks5", phases: always(silent)},
	{plays: "hotel login page", scheme: "http", phases: always(portal)},
	{plays: "asks for a pause", scheme: "http", phases: always(busy)},
}

// moodAt is the mood at a time since the play began.
func (p part) moodAt(since time.Duration) mood {
	at, now := since%cycle, good
	for _, ph := range p.phases {
		if at >= ph.from {
			now = ph.mood
		}
	}
	return now
}
