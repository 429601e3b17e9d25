package sources

import (
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	fetchTimeout = time.Minute
	mostBytes    = 256 << 20 // of a fetched list, after decoding
	mostHops     = 5
)

// Remote is a list at an http or https URL.
type Remote struct {
	URL          string // may carry credentials or a token: a secret
	Scheme       string // of lines that name none
	AllowPrivate bool   // redirects may lead to private addresses
}

const fetched = "url:"

// Fetched reports whether name is that of a list fetched over the network.
func Fetched(name string) bool { return strings.HasPrefix(name, fetched) }

// Name is what records call the source: its URL without user, password, query and fragment.
func (r Remote) Name() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return fetched
	}
	return fetched + u.Scheme + "://" + u.Host + u.EscapedPath()
}

// key makes digests that say nothing of the content, which may hold passwords. It is
// new in each process: a list is applied once more after a restart.
var key = func() []byte {
	b := make([]byte, sha256.Size)
	rand.Read(b)
	return b
}()

// Read fetches the list whole and parses it. same is true, and the list empty, when it is
// the version that applied names.
func (r Remote) Read(ctx context.Context, applied string) (l List, digest string, same bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	resp, err := r.get(ctx)
	if err != nil {
		return l, "", false, err
	}
	defer resp.Body.Close()
	body, err := decoded(resp)
	if err != nil {
		return l, "", false, fmt.Errorf("fetch %s: %w", r.Name(), err)
	}
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s\n", r.Scheme)
	limited := &io.LimitedReader{R: body, N: mostBytes + 1}
	l, err = Parse(io.TeeReader(limited, sum), r.Scheme)
	switch {
	case err != nil:
		return List{}, "", false, fmt.Errorf("fetch %s: %w", r.Name(), withoutURL(err))
	case limited.N == 0:
		return List{}, "", false, fmt.Errorf("fetch %s: over %d MiB", r.Name(), mostBytes>>20)
	}
	digest = hex.EncodeToString(sum.Sum(nil)[:8])
	if digest == applied {
		return List{}, digest, true, nil
	}
	return l, digest, false, nil
}

func decoded(resp *http.Response) (io.Reader, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %d: a list is a 200", resp.StatusCode)
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		return gzip.NewReader(resp.Body)
	}
	return resp.Body, nil
}

// get follows redirects by hand: the first address is the operator's choice, what it
// leads to is a stranger's. A password is never carried to another site.
func (r Remote) get(ctx context.Context) (*http.Response, error) {
	at, guard := r.URL, func(netip.Addr) error { return nil }
	for range mostHops {
		resp, err := fetch(ctx, at, guard)
		if err != nil {
			return nil, fmt.Errorf("fetch %s: %w", r.Name(), withoutURL(err))
		}
		if resp.StatusCode/100 != 3 || resp.Header.Get("Location") == "" {
			return resp, nil
		}
		resp.Body.Close()
		next, err := resp.Location()
		if err != nil || next.Scheme != "https" && (next.Scheme != "http" || resp.Request.URL.Scheme != "http") {
			return nil, fmt.Errorf("fetch %s: redirected to what is not https", r.Name())
		}
		at = next.String()
		if !r.AllowPrivate {
			guard = PublicOnly
		}
	}
	return nil, fmt.Errorf("fetch %s: more than %d redirects", r.Name(), mostHops)
}

func fetch(ctx context.Context, at string, guard func(netip.Addr) error) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, errors.New("bad URL")
	}
	if u := req.URL.User; u != nil {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
		req.URL.User = nil
	}
	req.Header.Set("User-Agent", "proxyward")
	req.Header.Set("Accept-Encoding", "gzip")
	dialer := net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return guard(a.Addr())
	}}
	// No proxy from the environment, no connection kept.
	return (&http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, DisableCompression: true,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}).RoundTrip(req)
}

// withoutURL drops the URL that net/url's errors repeat: it may hold a token.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
