package checks

import (
	"bytes"
	"strings"

	"proxyward/checks/verdict"
)

// phrases are what proxies write on their error pages, in lower case; the first line that
// occurs decides. They are looked for only in what a proxy itself has written.
var phrases = []struct {
	event string
	any   []string
}{
	{"upstream_dns", []string{"no such domain", "dns lookup", "dns fail", "dns error", "dns_fail", "dns resolution", "unable to resolve", "could not resolve",
		"cannot resolve", "can't resolve", "failed to resolve", "name or service not known", "host not found", "unknown host", "no such host",
		"nxdomain", "getaddrinfo", "enotfound", "name resolution", "unable to determine ip address", "name lookup", "could not be resolved",
		"host name lookup failure", "nodename nor servname", "server not found", "name does not resolve"}},
	{"upstream_refused", []string{"connection refused", "econnrefused", "actively refused", "connrefused", "(111)"}},
	{"upstream_unreachable", []string{"no route to host", "network is unreachable", "host is unreachable", "host unreachable", "network unreachable",
		"ehostunreach", "enetunreach", "(113)", "(101)"}},
	{"rate_limited", []string{"too many requests", "too many connections", "rate limit", "ratelimit", "connection limit", "concurrency limit", "threads limit", "thread limit", "throttl"}},
	{"forbidden", []string{"quota", "traffic limit", "bandwidth limit", "traffic exhausted", "bandwidth exceeded", "limit exceeded", "data limit",
		"subscription", "payment required", "insufficient balance", "insufficient funds", "out of traffic", "no traffic left", "account suspended",
		"account expired", "plan expired", "trial expired"}},
	{"no_exit", []string{"no exit", "no peer", "no available proxies", "no proxies available", "no available peers", "proxy not available", "no ips available",
		"no server is available"}},
	{"upstream_timeout", []string{"timed out", "time-out", "timeout", "etimedout", "(110)", "deadline exceeded", "took too long"}},
	{"forbidden", []string{"access denied", "not allowed", "forbidden", "blocked", "filtered", "access violation", "not permitted", "acl", "prohibited",
		"blacklist", "blocklist", "not in the allow", "whitelist", "banned", "by policy", "denied"}},
	{"method_unsupported", []string{"method not allowed", "not implemented", "unsupported method", "not a proxy", "bad request"}},
	{"upstream_error", []string{"unable to connect", "connect failed", "connection failed", "could not connect", "cannot connect", "can't connect",
		"failed to connect", "failed connect", "connection reset", "upstream connect error", "connection closed", "connection to the host",
		"tunnel connection failed", "bad gateway", "backend fetch failed", "remote host", "dial tcp", "empty reply",
		"connect error", "server dropped connection"}},
}

// byWords reads the reason phrase and the page.
func byWords(h *head, page []byte) finding {
	if f := words(strings.ToLower(h.phrase)); f.ok() && !generic(h) {
		return f
	}
	return words(strings.ToLower(string(page)))
}

// generic: the phrase is only the status's own name (RFC 9110 section 15) and says no more.
func generic(h *head) bool {
	switch strings.ToLower(h.phrase) {
	case "forbidden", "bad gateway", "gateway timeout", "gateway time-out", "service unavailable", "internal server error", "bad request", "not found":
		return true
	}
	return false
}

func words(text string) finding {
	if text == "" {
		return finding{}
	}
	if saysLoginText(text) {
		return finding{"auth_rejected", verdict.ProxyAuth}
	}
	for _, p := range phrases {
		if containsAny(text, p.any...) {
			if p.event == "no_exit" {
				return found("proxy_failure")
			}
			return found(p.event)
		}
	}
	return finding{}
}

func containsAny(text string, list ...string) bool {
	for _, s := range list {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

func saysLogin(h *head, page []byte) bool {
	return saysLoginText(strings.ToLower(h.phrase)) || saysLoginText(strings.ToLower(string(page)))
}

func saysLoginText(text string) bool {
	return containsAny(text, "invalid credentials", "bad credentials", "wrong credentials", "incorrect credentials", "authentication failed", "auth failed",
		"auth_failed", "authentication required", "authentication is required", "invalid username", "incorrect username", "incorrect password", "username or password", "invalid user", "wrong password", "invalid password", "bad password",
		"login failed", "login incorrect", "invalid auth", "invalid login", "unauthorized user", "unknown user", "proxy authentication", "not authenticated", "invalid token",
		"credentials are", "err_cache_access_denied")
}

// byPlainToTLS knows the pages of TLS servers that were spoken to in plain HTTP.
func byPlainToTLS(h *head, page []byte) finding {
	text := strings.ToLower(h.phrase + " " + string(page))
	if h.status/100 == 4 && containsAny(text, "plain http request was sent to https port", "http request to an https server", "speaking plain http to an ssl-enabled",
		"speaking plain http to an https", "requires tls", "this port requires ssl", "http to https port", "combination of host and port requires tls") {
		return found("tls_wanted")
	}
	return finding{}
}

// proxySoftware are names that a Server, Via or Proxy-Agent header has where the proxy's own
// error page comes from.
var proxySoftware = []string{"squid", "tinyproxy", "privoxy", "mitmproxy", "3proxy", "ccproxy", "polipo", "goproxy", "gost", "charles", "fiddler", "wingate",
	"proxy", "mikrotik", "zscaler", "bluecoat", "mcafee web gateway", "fortigate", "fortinet", "sophos", "barracuda", "ironport", "websense", "clash", "v2ray",
	"burp", "delegate", "ziproxy", "swiftproxy", "trafficserver", "kerio", "cntlm", "srelay", "dumbproxy", "freeproxy", "anyproxy", "pproxy"}

// targetSoftware hold a word of that list and yet stand before targets.
var targetSoftware = []string{"cloudfront", "envoy-proxy", "nginx proxy manager"}

// signedByProxy reports whether an error answer shows that a forward proxy wrote it. Via
// alone does not: it stands in the target's answers too.
func signedByProxy(h *head, page []byte) bool {
	if h.has("Proxy-Agent") || h.has("X-Squid-Error") {
		return true
	}
	server := strings.ToLower(h.get("Server"))
	if server != "" && containsAny(server, proxySoftware...) && !containsAny(server, targetSoftware...) {
		return true
	}
	// Only a proxy's own answer to its client has it: it is not forwarded by those who know it.
	if h.has("Proxy-Connection") && server == "" {
		return true
	}
	low := bytes.ToLower(page)
	for _, mark := range pageMarks {
		if bytes.Contains(low, []byte(mark)) {
			return true
		}
	}
	return false
}

// pageMarks stand on pages that only proxies write.
var pageMarks = []string{"generated by tinyproxy", "tinyproxy", "privoxy", "(squid", "proxy error", "the proxy server", "[fiddler]", "mitmproxy",
	"generated by polipo", "cache administrator", "web proxy", "proxy server", "3proxy", "host not found or connection failed",
	"proxy authentication", "dial tcp", "upstream proxy"}
