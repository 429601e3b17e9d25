package checks

import (
	"net"
	"time"
)

// A deadline can pass because the peer is slow, or because this process had no processor to
// read with what had long arrived. The second is not the peer's fault: at a deadline what
// is there already is still taken, and a wake-up that comes much too late makes the
// timeout our own.
const (
	punctual   = 20 * time.Millisecond  // who wakes up this soon after a deadline was not held up
	graceTotal = time.Second            // what a probe may go on beyond its deadlines, in all
	overslept  = 250 * time.Millisecond // behind the deadline: nobody here was reading
)

// lateReader reads what has arrived already, whatever the deadline; 0: nothing has.
type lateReader interface{ readLate(b []byte) int }

// watched is the TCP connection of a probe. It counts what comes in: whether a peer has said
// anything at all is evidence.
type watched struct {
	net.Conn
	p *probe
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n == 0 && err != nil && timedOut(err) {
		if n = w.p.late(w.Conn, b); n > 0 {
			err = nil
		}
	}
	if n > 0 {
		w.p.got += int64(n)
		w.p.gotAt = time.Now()
	}
	return n, err
}

// late reads what is there at an expired deadline. The probe may go on as long as it has been
// held up, so that a peer that really drips gains nothing.
func (p *probe) late(c net.Conn, b []byte) int {
	l, ok := c.(lateReader)
	held := time.Since(p.limited)
	if !ok || held < punctual || p.cancelled() || p.graced >= graceTotal {
		return 0
	}
	n := l.readLate(b)
	if n > 0 {
		held = min(held, graceTotal-p.graced)
		p.graced += held
		p.graceEnd = time.Now().Add(held)
		p.limited = p.graceEnd
		p.raw.SetDeadline(p.graceEnd)
	}
	return n
}
