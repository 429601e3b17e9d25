package testenv

import (
	"net"
	"testing"
	"time"
)

// The bench itself: what is sent to the deafened side's peer still arrives, what it answers
// does not, and afterwards both ways work on the same connection.
func TestANetworkLosesWhatItSendsAndNothingElse(t *testing.T) {
	a, b := Networks(t)
	var l net.Listener
	var c net.Conn
	var err error
	b.Inside(func() { l, err = net.Listen("tcp", b.Host+":7777") })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a.Inside(func() { c, err = net.DialTimeout("tcp", b.Host+":7777", 5*time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pass := func(from, to net.Conn, within time.Duration) bool {
		t.Helper()
		if _, err := from.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		to.SetReadDeadline(time.Now().Add(within))
		n, _ := to.Read(make([]byte, 1))
		return n == 1
	}
	if !pass(c, s, 5*time.Second) || !pass(s, c, 5*time.Second) {
		t.Fatal("nothing arrives")
	}
	b.Lose(t)
	if !pass(c, s, 5*time.Second) {
		t.Error("the other way is cut, too")
	}
	if pass(s, c, 300*time.Millisecond) {
		t.Error("nothing is lost")
	}
	b.Heal(t)
	c.SetReadDeadline(time.Now().Add(20 * time.Second)) // TCP sends it again
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		t.Error("nothing arrives after the healing:", err)
	}
	for _, n := range []*Network{a, b} {
		if _, err := net.InterfaceByName(n.link); err == nil {
			t.Errorf("%s is seen from outside", n.link)
		}
	}
}
