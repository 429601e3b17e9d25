package testenv

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Link is a TCP connection of some length between clients and a server: what is sent
// arrives later, in order, and nothing is lost.
type Link struct {
	Addr string // where clients connect

	delay atomic.Int64 // one way
	held  sync.WaitGroup
}

// NewLink listens on loopback and leads to a server at an address; there is no delay yet.
func NewLink(t testing.TB, to string) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Link{Addr: listener.Addr().String()}
	over := make(chan struct{})
	l.held.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			l.held.Go(func() { l.carry(server, client, over) })
			l.held.Go(func() { l.carry(client, server, over) })
		}
	})
	t.Cleanup(func() { close(over); listener.Close(); l.held.Wait() })
	return l
}

// Delay makes what is sent from now on arrive so much later, in each direction.
func (l *Link) Delay(d time.Duration) { l.delay.Store(int64(d)) }

// parcel is some bytes and when they arrive.
type parcel struct {
	bytes []byte
	at    time.Time
}

// carry carries one direction of a connection until either end closes it, or the test ends.
func (l *Link) carry(to, from net.Conn, over chan struct{}) {
	under := make(chan parcel, 4096)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer to.Close()
		for p := range under {
			select {
			case <-over:
				return
			case <-time.After(time.Until(p.at)):
			}
			if _, err := to.Write(p.bytes); err != nil {
				from.Close()
				return
			}
		}
	}()
	go func() {
		select {
		case <-over:
		case <-done:
		}
		from.Close()
	}()
	for {
		buffer := make([]byte, 64<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			select {
			case under <- parcel{buffer[:n], time.Now().Add(time.Duration(l.delay.Load()))}:
			case <-done:
			}
		}
		if err != nil {
			if err != io.EOF {
				to.Close()
			}
			close(under)
			<-done
			return
		}
	}
}
