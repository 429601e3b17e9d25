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
	leastGrace = 20 * time.Millisecond
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

// Write sends. Where its deadline had passed before it began, nothing has been tried: the time
// since the peer's last word was spent by us alone, on the mathematics of a handshake or
// waiting for a processor.
func (w *watched) Write(b []byte) (int, error) {
	begun := time.Now()
	n, err := w.Conn.Write(b)
	if n > 0 || err == nil || !timedOut(err) || begun.Before(w.p.limited) || !w.p.mayGoOn() {
		return n, err
	}
	since := w.p.stageAt
	if w.p.gotAt.After(since) {
		since = w.p.gotAt
	}
	w.p.goOn(begun.Sub(since))
	return w.Conn.Write(b)
}

// late reads what is there at an expired deadline.
func (p *probe) late(c net.Conn, b []byte) int {
	l, ok := c.(lateReader)
	if !ok || !p.mayGoOn() {
		return 0
	}
	n := l.readLate(b)
	if n > 0 {
		p.goOn(time.Since(p.limited))
	}
	return n
}

func (p *probe) mayGoOn() bool { return !p.cancelled() && p.graced < graceTotal }

// goOn gives the probe as much time as it has been held up, so that a peer that really drips
// gains nothing; never less than a little, so that the number of times is bounded.
func (p *probe) goOn(held time.Duration) {
	held = min(max(held, leastGrace), graceTotal-p.graced)
	p.graced += held
	p.graceEnd = time.Now().Add(held)
	p.limited = p.graceEnd
	p.raw.SetDeadline(p.graceEnd)
}
