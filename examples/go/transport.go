package worker

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
)

// Transport is an http.RoundTripper: each request takes a proxy of its own, and so does each
// redirect. The proxy is in use until the response's body was read or closed.
type Transport struct {
	// Judge says what a response means for the proxy; nil: nothing. Add to it what your target
	// sends to proxies that it does not like.
	Judge func(*http.Response) *Failure
	// Took is told which proxy, by its id, a request goes through; nil: nobody is.
	Took func(r *http.Request, endpoint string)

	pool *Pool
	http *http.Transport
}

type proxyKey struct{}

// NewTransport is a transport with net/http's defaults: also with its connections, which it
// keeps by proxy, at most 100.
func NewTransport(p *Pool) *Transport {
	h := http.DefaultTransport.(*http.Transport).Clone()
	h.Proxy = func(r *http.Request) (*url.URL, error) { return r.Context().Value(proxyKey{}).(*url.URL), nil }
	h.DialContext = (&net.Dialer{Timeout: 5 * time.Second}).DialContext
	h.ResponseHeaderTimeout = 15 * time.Second
	h.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, r *http.Response) error {
		if r.StatusCode == http.StatusProxyAuthRequired {
			return errProxyAuth
		}
		return nil
	}
	return &Transport{Judge: Judge, pool: p, http: h}
}

// Judge blames the proxy for a 407 only.
func Judge(r *http.Response) *Failure {
	if r.StatusCode == http.StatusProxyAuthRequired {
		return &Failure{"proxy_auth", "auth_rejected"}
	}
	return nil
}

// RoundTrip makes one request through a proxy of the pool. Its errors are those of net/http,
// and ErrEmpty.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	lease, err := t.pool.Lease(r.Context())
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	if t.Took != nil {
		t.Took(r, lease.Endpoint)
	}
	switch lease.url.Scheme {
	case "http", "https", "socks5", "socks5h":
	default: // net/http would speak HTTP to it
		lease.Done(nil)
		return nil, fmt.Errorf("net/http does not speak %s", lease.url.Scheme)
	}
	response, err := t.http.RoundTrip(r.WithContext(context.WithValue(r.Context(), proxyKey{}, lease.url)))
	if err != nil {
		lease.Done(failureOf(r.Context(), err))
		return nil, err
	}
	var failure *Failure
	if t.Judge != nil {
		failure = t.Judge(response)
	}
	response.Body = &body{response.Body, r.Context(), lease, failure}
	return response, nil
}

// CloseIdleConnections closes what is kept open to proxies.
func (t *Transport) CloseIdleConnections() { t.http.CloseIdleConnections() }

// body ends the use of a proxy when it was read.
type body struct {
	io.ReadCloser
	ctx     context.Context
	lease   *Lease
	failure *Failure
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.failure == nil && !errors.Is(err, io.EOF) {
		if b.failure = failureOf(b.ctx, err); b.failure != nil {
			b.failure.Stage = "body"
		}
	}
	if err != nil {
		b.lease.Done(b.failure)
	}
	return n, err
}

func (b *body) Close() error {
	defer b.lease.Done(b.failure)
	return b.ReadCloser.Close()
}

var errProxyAuth = errors.New("the proxy wants another login")

// stages are those of net/http's operations.
var stages = map[string]string{"dial": "connect", "proxyconnect": "connect", "socks connect": "tunnel"}

// failureOf says what an error means for the proxy; nil where it is not to blame.
func failureOf(ctx context.Context, err error) *Failure {
	var op *net.OpError
	stage := "headers"
	if errors.As(err, &op) {
		stage = cmp.Or(stages[op.Op], stage)
	}
	switch timeout := net.Error(nil); {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil
	case errors.Is(err, errProxyAuth), stage == "tunnel" && strings.Contains(err.Error(), "authentication"):
		return &Failure{"proxy_auth", "auth_rejected"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &Failure{stage, "refused"}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &Failure{stage, "timeout"}
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return &Failure{"target_tls", "cert_untrusted"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return &Failure{stage, "reset"}
	case stage == "connect":
		return &Failure{"connect", "unreachable"}
	}
	return &Failure{"tunnel", "upstream_error"} // what the proxy answered to CONNECT, or by SOCKS
}
