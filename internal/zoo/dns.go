package zoo

import (
	"net"
	"sync"
)

// NoNames is a DNS server that knows no name: it answers every question with NXDOMAIN (RFC
// 1035 section 4.1.1). It needs port 53; ok is false where that is not to be had.
func NoNames(t TB) (addr string, ok bool) {
	t.Helper()
	const host = "127.0.0.77"
	c, err := net.ListenPacket("udp", host+":53")
	if err != nil {
		return "", false
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		b := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			if n < 12 {
				continue
			}
			b[2] |= 0x80                // an answer
			b[3] = 0x83                 // NXDOMAIN, recursion available
			b[7], b[9], b[11] = 0, 0, 0 // no records
			c.WriteTo(questionOnly(b[:n]), from)
		}
	})
	t.Cleanup(func() {
		c.Close()
		wg.Wait()
	})
	return host, true
}

// questionOnly cuts what stands behind the question: an EDNS record of the client's.
func questionOnly(b []byte) []byte {
	i := 12
	for i < len(b) && b[i] != 0 {
		i += int(b[i]) + 1
	}
	return b[:min(i+5, len(b))]
}
