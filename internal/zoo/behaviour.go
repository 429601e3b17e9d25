package zoo

import (
	"crypto/tls"
	"slices"
	"time"
)

// Behaviour is one thing that a proxy or a target does, and what a probe must say of it.
// The zero value of every field but Family, Name, Proxy and Want means "nothing special".
type Behaviour struct {
	Family, Name string

	Serve  Handler                                     // what the peer does; nil: nobody listens, unless Proxy has an address
	TLS    func(t TB, ca *CA, host string) *tls.Config // the peer speaks TLS first; the check trusts ca
	Target bool                                        // the peer is the target, behind a good proxy; else it is the proxy

	// Proxy is the scheme that the probe uses, or scheme://user:password@, or with an
	// address behind it where no peer is served.
	Proxy string
	// URL is what the probe asks for, with the port of the peer where that is the target.
	// The hosts SITE and GONE stand for a good target and for one where nobody listens.
	URL string

	Slow    bool  // the peer makes the probe wait: the check has short deadlines
	Cut     bool  // where the peer closes, the network reports that it cannot be reached
	Guarded bool  // the endpoint's source may not use loopback addresses
	Cancel  bool  // the probe is cancelled while it waits
	Asks    Asked // what the check asks for beyond a 2xx

	Want string // stage, reason and blame, or "pass"
}

// Asked is what a check must ask for so that a behaviour shows.
type Asked struct {
	Method, Sends  string // method and body of the request
	Body, NotBody  string // the page has it, or has it not
	Header, Value  string // the answer has the header, matching the value
	Matches        string // RE2 that the page matches
	HTTP2          string // never or require; empty: auto
	Follow         int    // redirects
	Within         time.Duration
	Status         int // instead of a 2xx
	MaxHead        int64
	MaxBody        int64
	MinTLS         string
	SHA256Of, Path string // the page that the sum is of; what follows the URL
}

// Behaviours is everything that the zoo can do, family by family.
func Behaviours() []Behaviour {
	return slices.Concat(Grants(), Credentials(), Refusals(), Squid(), ProxyStatus(), Products(), WrongProtocol(), Framing(),
		SOCKSCodes(), SOCKSLogins(), SOCKSFraming(), ProxyTLS(), Tunnels(), TargetTLS(), Heads(), ForwardWords(), Bodies(), Decoding(),
		Content(), Redirects(), HTTP2(), Places(), Drips(), Ours())
}

// row is one line of a family's table.
type row struct {
	name  string
	serve Handler
	proxy string
	want  string
}

// family makes the behaviours of a table; each change is made to all of them.
func family(name, url string, table []row, changes ...func(*Behaviour)) []Behaviour {
	var list []Behaviour
	for _, r := range table {
		b := Behaviour{Family: name, Name: r.name, Serve: r.serve, Proxy: r.proxy, URL: url, Want: r.want}
		for _, change := range changes {
			change(&b)
		}
		list = append(list, b)
	}
	return list
}

func slow(b *Behaviour)   { b.Slow = true }
func cut(b *Behaviour)    { b.Cut = true }
func cancel(b *Behaviour) { b.Cancel = true }

// answer is one line of a table of answers: what a probe says where a forward proxy gives
// it, and where it comes out of a tunnel.
type answer struct {
	name            string
	serve           Handler
	forward, tunnel string
}

// answers makes two behaviours of each line.
func answers(name string, table []answer, changes ...func(*Behaviour)) []Behaviour {
	var list []Behaviour
	for _, a := range table {
		for _, b := range []Behaviour{
			{Family: name, Name: a.name + ", by a forward proxy", Serve: a.serve, Proxy: "http", URL: "http://target.test/", Want: a.forward},
			{Family: name, Name: a.name + ", through a tunnel", Serve: a.serve, Target: true, Proxy: "socks5h", URL: "http://target.test/", Want: a.tunnel},
		} {
			for _, change := range changes {
				change(&b)
			}
			list = append(list, b)
		}
	}
	return list
}

const (
	pass     = "pass"
	pace     = 10 * time.Millisecond
	connects = "https://target.test/" // asked of proxies that never reach it
	plain    = "http://target.test/"
)
