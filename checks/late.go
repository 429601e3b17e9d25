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
	graceOnce  = 200 * time.Millisecond // how much longer a probe may go on from there
	graceTotal = time.Second
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
	w.p.got += int64(n)
	return n, err
}

func (p *probe) late(c net.Conn, b []byte) int {
	l, ok := c.(lateReader)
	if !ok || p.cancelled() || p.graced >= graceTotal {
		return 0
	}
	n := l.readLate(b)
	if n > 0 {
		p.graced += graceOnce
		p.graceEnd = time.Now().Add(graceOnce)
		p.raw.SetDeadline(p.graceEnd)
		p.limited = p.graceEnd
	}
	return n
}
