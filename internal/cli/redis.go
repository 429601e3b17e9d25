package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"proxyward/configs"
	"proxyward/internal/embedded"
	"proxyward/store"
)

// place is which Redis a command works on.
type place struct {
	address  store.Address
	embedded bool   // address.URL is an embedded:// one
	name     string // for messages, without credentials
}

// placeOf is the Redis of a configuration.
func placeOf(c configs.Redis) place {
	a := store.Address{URL: c.URL, Cluster: c.Cluster, TLS: c.TLS.Enabled, Username: c.Username, Password: c.Password.Reveal(),
		CAFile: c.TLS.CAFile, Prefix: c.Prefix}
	if s := c.Sentinel; s != nil {
		a.Sentinel = store.Sentinel{Master: s.Master, Addresses: s.Addresses, Username: s.Username, Password: s.Password.Reveal()}
	}
	return placeAt(a)
}

func placeAt(a store.Address) place {
	name := redisName(a.URL)
	switch {
	case len(a.Cluster) > 0:
		name = "the cluster of " + a.Cluster[0]
	case a.Sentinel.Master != "":
		name = "the master " + a.Sentinel.Master
	}
	return place{address: a, embedded: embedded.Is(a.URL), name: name}
}

// redisName is the URL without what may be secret.
func redisName(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the address given"
	}
	if u.Scheme == "unix" {
		return u.Path
	}
	return u.Host
}

// open prepares a client of the place; an embedded one runs in another process.
func (p place) open() (*store.Store, error) {
	a := p.address
	if p.embedded {
		var known bool
		var err error
		if a.URL, known, err = embedded.ClientURL(a.URL); err != nil {
			return nil, err
		}
		if !known {
			return nil, errors.New("the port of the embedded Redis is not fixed (:0): name the address that `run` printed with --redis")
		}
	}
	return store.Open(a)
}

// redisWords makes an error of Redis or of the way to it a sentence with its mend; other
// errors come back as they are.
func (p place) redisWords(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, new(no)) {
		return err
	}
	if words := p.trouble(err); words != "" {
		return errors.New(words)
	}
	return err
}

// trouble says what is wrong with Redis or with the way to it; empty: something else is.
func (p place) trouble(err error) string {
	text := err.Error()
	for _, t := range replies {
		if strings.Contains(text, t.sign) {
			return fmt.Sprintf("Redis at %s %s", p.name, t.words)
		}
	}
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("no Redis found: the name in %s has no address: correct it", p.name)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		words := "see whether it runs and whether a firewall is between"
		if strings.HasPrefix(p.address.URL, "rediss:") {
			words += ", and whether it speaks TLS (else write redis://)"
		}
		return fmt.Sprintf("Redis at %s does not answer: %s", p.name, words)
	case errors.As(err, &op):
		return fmt.Sprintf("no Redis answers at %s: %s", p.name, p.startWords())
	case strings.HasSuffix(text, "EOF"):
		return fmt.Sprintf("what listens at %s is not Redis, or it closed the connection (does it want TLS? then write rediss://)", p.name)
	}
	return ""
}

func (p place) startWords() string {
	if p.embedded || strings.Contains(p.address.URL, embedded.DefaultAddr) {
		return "start `proxyward run` or `proxyward demo`, or name another server with --redis"
	}
	return "start it, or correct its address"
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// replies are errors that Redis itself gives, and what they mean.
var replies = []struct{ sign, words string }{
	{"WRONGPASS", "refuses the user or the password: correct redis.username and redis.password_file"},
	{"NOAUTH", "wants a password: set redis.password_file in the configuration, or write it into the URL of --redis"},
	{"AUTH failed", "refuses the password: correct redis.password_file"},
	{"invalid password", "refuses the password: correct redis.password_file"},
	{"without any password configured", "has no password, yet one is given: remove it, or set one there"},
	{"NOPERM", "does not allow this user to do that: `proxyward doctor` names what it lacks, configs/redis-acl.conf has all that is needed"},
	{"The user executing the script can't", "does not allow this user all that a script does: `proxyward doctor` names what it lacks"},
	{"ACL failure in script", "does not allow this user all that a script does: `proxyward doctor` names what it lacks"},
	{"BUSY ", "is held up by somebody's script: SCRIPT KILL ends it, if it wrote nothing; else SHUTDOWN NOSAVE does"},
	{"OOM ", "is full: give it more memory (maxmemory)"},
	{"LOADING", "is still loading its data: try again in a moment"},
	{"READONLY", "is a read-only replica: name the master"},
	{"MISCONF", "refuses writes since it cannot save to disk: mend its disk"},
	{"MASTERDOWN", "has lost its master: wait for the failover, or name the new master"},
	{"DB index is out of range", "has no database of that number: correct the number at the end of the URL"},
	{"x509: ", "shows a certificate that is not trusted: set redis.tls.ca_file, or correct the host name"},
	{"first record does not look like a TLS handshake", "does not speak TLS: write redis:// instead of rediss://"},
	{"MOVED ", "is a node of a cluster: write redis.cluster with the addresses of some nodes, instead of redis.url"},
}
