package tell

import "proxyward/checks/verdict"

// advice says what a person can do about a failure: the most specific key wins:
// class and blame, class, reason, blame.
var advice = map[string]string{
	"connect.refused":                      "see whether the proxy runs and listens at this port",
	"connect.timeout":                      "see whether a firewall drops packets to it, and whether the address is still right",
	"connect.unreachable":                  "see whether the address is right and routed from this machine",
	"connect.forbidden":                    "its name leads to a private address: correct the list, or allow private addresses for its source",
	"resolve.name_not_found":               "correct the name in the list",
	"resolve.name_not_found.target":        "correct the host in the check's url, or use socks5h or socks4a, which resolve it at the proxy",
	"proxy_tls.not_tls":                    "write http:// instead of https:// if the proxy takes plain connections",
	"proxy_tls.cert_untrusted":             "name the proxy's CA in request.proxy_tls.ca_file",
	"target_tls.cert_untrusted":            "the proxy opens TLS itself: do not use it, or name its CA in request.tls.ca_file if that is wanted",
	"tunnel.forbidden":                     "ask the proxy's operator to allow this target and port for this machine",
	"tunnel.rate_limited":                  "lower the check's rate or the workers' load on this proxy",
	"verify.rate_limited":                  "the target limits this proxy's address: it cools for longer; lower the load on it",
	"verify.content_mismatch":              "look at the page: a captive portal, a block page, or a change of the target (then correct expect)",
	"verify.http_status":                   "if the target means it so, add the status to expect.status",
	"body.timeout":                         "the proxy is too slow for this page: raise request.timeout if that is acceptable",
	string(verdict.AuthRequired):           "write user and password into the list: scheme://user:password@host:port",
	string(verdict.AuthRejected):           "correct user or password in the list; a changed password is tried at once",
	string(verdict.AuthSchemeUnsupported):  "let the proxy offer Basic (HTTP) or user/password (SOCKS5)",
	string(verdict.ProtocolMismatch):       "correct the scheme of this line: the proxy speaks another protocol",
	string(verdict.MethodUnsupported):      "let the proxy allow CONNECT to the target's port",
	string(verdict.CertExpired):            "renew the certificate, or correct this machine's clock",
	string(verdict.CertHostname):           "use the name that the certificate is for",
	string(verdict.UpstreamDNS):            "the proxy cannot find the target's name: see to its resolver",
	string(verdict.HeaderTooLarge):         "raise expect.max_headers if the answer is the right one",
	string(verdict.TooLarge):               "raise expect.max_body if the page is the right one",
	"blame." + string(verdict.Local):       "the fault is on this machine: nothing is held against the proxy",
	"blame." + string(verdict.Target):      "the target failed, not the proxy: it stays as it is",
	"blame." + string(verdict.Proxy):       "it comes back by itself when the proxy does; `proxyward recheck` asks for a probe now",
	"blame." + string(verdict.Unknown):     "`proxyward probe -v` shows the conversation",
	"blame." + string(verdict.Credentials): "correct user or password in the list",
}

// Advice says what a person can do about a failure; empty where there is none.
func Advice(stage, reason, blame string) string {
	for _, key := range []string{stage + "." + reason + "." + blame, stage + "." + reason, reason, "blame." + blame} {
		if words := advice[key]; words != "" {
			return words
		}
	}
	return ""
}

// Blamed says who is to blame, in words.
func Blamed(blame string) string {
	switch verdict.Blame(blame) {
	case verdict.Proxy:
		return "the proxy's fault"
	case verdict.Credentials:
		return "the credentials' fault"
	case verdict.Target:
		return "the target's fault"
	case verdict.Local:
		return "our own fault"
	case verdict.Unknown:
		return "nobody knows whose fault"
	}
	return ""
}
