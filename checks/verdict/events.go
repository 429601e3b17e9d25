package verdict

// Event is one thing that can be seen on the wire, and what it means. Verdicts are made
// from these rows and from nothing else; docs/verdicts.md is generated from them.
type Event struct {
	Name     string  // unique within each of its stages
	Stages   []Stage // where it can happen
	Reason   Reason
	Blame    Blame
	Sentence string // plain words, without a full stop
}

func at(s ...Stage) []Stage { return s }

// Groups of stages with one meaning. In proxyStages whoever is silent or closes is the
// proxy: nothing of the target has been asked for yet.
var (
	anyStage    = Stages
	proxyStages = at(Connect, ProxyTLS, ProxyAuth, Tunnel)
	answer      = at(Request, Headers, Body)
	afterConn   = at(ProxyTLS, ProxyAuth, Tunnel, TargetTLS, Request, Headers, Body)
)

// Table is every event, in the order of a transaction.
var Table = []Event{
	// Our own surroundings.
	{"cancelled", anyStage, LocalError, Local, "the probe was cancelled by us"},
	{"no_resources", anyStage, LocalError, Local, "we are out of ports, descriptors or memory"},
	{"no_route", at(Connect), LocalError, Local, "we have no route to the proxy's address"},
	{"stalled", anyStage, LocalError, Local, "our own process was not running while it waited"},
	{"bad_endpoint", at(Resolve), LocalError, Local, "the endpoint cannot be used as it is written"},

	// Names.
	{"name_not_found", at(Resolve), NameNotFound, Proxy, "the proxy's name has no address"},
	{"target_name_not_found", at(Resolve), NameNotFound, Target, "the target's name has no address, and this scheme resolves it here"},
	{"resolver_failed", at(Resolve), ResolverError, Local, "our resolver could not be asked"},
	{"resolver_refused", at(Resolve), ResolverError, Unknown, "the resolver answered with a failure, its own or the zone's"},
	{"timeout", at(Resolve), Timeout, Unknown, "the resolver did not answer in time"},

	// Reaching the proxy.
	{"guarded", at(Connect), Forbidden, Proxy, "the proxy's name leads to an address that its source may not use"},
	{"refused", at(Connect), Refused, Proxy, "nobody listens at the proxy's address"},
	{"unreachable", at(Connect), Unreachable, Proxy, "the network says the proxy's address cannot be reached"},
	{"unreachable", afterConn, Unreachable, Proxy, "the way to the proxy broke"},

	// Silence, closes and resets before the target has anything to say.
	{"timeout", proxyStages, Timeout, Proxy, "the proxy did not answer in time"},
	{"eof", at(ProxyTLS, Tunnel), EOF, Proxy, "the proxy closed the connection without an answer"},
	{"reset", at(ProxyTLS, Tunnel), Reset, Proxy, "the proxy reset the connection"},

	// TLS, to the proxy or to the target.
	{"not_tls", at(ProxyTLS), NotTLS, Proxy, "the proxy does not speak TLS"},
	{"not_tls", at(TargetTLS), NotTLS, Proxy, "the tunnel was granted, and then something that is not TLS came out of it: a page of the proxy's, or of somebody in the target's place"},
	{"tls_alert", at(ProxyTLS), TLSAlert, Proxy, "the proxy ended the TLS handshake with an alert"},
	{"tls_alert", at(TargetTLS), TLSAlert, Target, "the target ended the TLS handshake with an alert"},
	{"tls_damaged", at(TargetTLS), TLSAlert, Proxy, "the target complains of a damaged handshake: the tunnel lost or changed bytes"},
	{"tls_version", at(ProxyTLS), TLSVersion, Proxy, "the proxy speaks no TLS version we accept"},
	{"tls_version", at(TargetTLS), TLSVersion, Target, "the target speaks no TLS version we accept"},
	{"cert_untrusted", at(ProxyTLS), CertUntrusted, Proxy, "the proxy's certificate is not signed by anyone we trust"},
	{"cert_untrusted", at(TargetTLS), CertUntrusted, Proxy, "the certificate at the end of the tunnel is not signed by anyone we trust: the proxy opens the TLS itself"},
	{"cert_expired", at(ProxyTLS), CertExpired, Proxy, "the proxy's certificate is outside its validity"},
	{"cert_expired", at(TargetTLS), CertExpired, Target, "the target's certificate is outside its validity"},
	{"cert_hostname", at(ProxyTLS), CertHostname, Proxy, "the proxy's certificate is for another name"},
	{"cert_hostname", at(TargetTLS), CertHostname, Target, "the target's certificate is for another name"},
	{"tls_malformed", at(ProxyTLS), Malformed, Proxy, "the proxy's TLS handshake is broken"},
	{"tls_malformed", at(TargetTLS), Malformed, Unknown, "the TLS handshake through the tunnel is broken"},
	{"no_h2", at(TargetTLS), ProtocolMismatch, Target, "the target does not offer HTTP/2, which the check requires"},
	{"eof", at(TargetTLS), EOF, Proxy, "the tunnel was granted and then closed in the TLS handshake"},
	{"reset", at(TargetTLS), Reset, Proxy, "the tunnel was granted and then reset in the TLS handshake"},
	{"silent", at(TargetTLS), Timeout, Unknown, "nothing came back through the tunnel to our TLS hello"},
	{"timeout", at(TargetTLS), Timeout, Proxy, "the TLS handshake through the tunnel was too slow"},

	// Login.
	{"auth_required", at(ProxyAuth), AuthRequired, Credentials, "the proxy wants credentials and the endpoint has none"},
	{"auth_rejected", at(ProxyAuth), AuthRejected, Credentials, "the proxy refused the credentials"},
	{"auth_scheme_unsupported", at(ProxyAuth), AuthSchemeUnsupported, Credentials, "the proxy offers only login schemes that we do not speak"},
	{"auth_closed", at(ProxyAuth), AuthRejected, Credentials, "the proxy closed the connection when it saw the credentials"},
	{"malformed", at(ProxyAuth), Malformed, Proxy, "the proxy's answer to the login breaks RFC 1929"},

	// What the proxy says instead of a tunnel, or instead of forwarding.
	{"protocol_mismatch", at(Tunnel), ProtocolMismatch, Proxy, "the proxy speaks another protocol than its scheme says"},
	{"tls_wanted", at(Tunnel), ProtocolMismatch, Proxy, "the proxy wants TLS to itself: its scheme is https"},
	{"malformed", at(Tunnel), Malformed, Proxy, "the proxy's answer breaks the protocol"},
	{"method_unsupported", at(Tunnel), MethodUnsupported, Proxy, "the proxy does not do this kind of request"},
	{"address_unsupported", at(Tunnel), AddressUnsupported, Proxy, "the proxy or its protocol cannot take this kind of address"},
	{"forbidden", at(Tunnel), Forbidden, Proxy, "the proxy's rules refuse this destination or this client"},
	{"rate_limited", at(Tunnel), RateLimited, Proxy, "the proxy says we ask too often"},
	{"redirected", at(Tunnel), Redirected, Proxy, "the proxy answers with a redirect of its own, as captive portals do"},
	{"header_too_large", at(Tunnel), HeaderTooLarge, Proxy, "the proxy's answer has more header lines than the limit allows"},
	{"upstream_refused", at(Tunnel), UpstreamRefused, Target, "the proxy says the target refused the connection"},
	{"upstream_unreachable", at(Tunnel), UpstreamUnreachable, Target, "the proxy says the target cannot be reached"},
	{"upstream_timeout", at(Tunnel), UpstreamTimeout, Target, "the proxy says the target did not answer in time"},
	{"upstream_dns", at(Tunnel), UpstreamDNS, Target, "the proxy says the target's name has no address"},
	{"upstream_error", at(Tunnel), UpstreamError, Target, "the proxy says it could not get through to the target"},
	{"closed_on_request", at(Tunnel), EOF, Unknown, "the proxy took the request and closed, as some do when they cannot reach the target"},
	{"proxy_network", at(Tunnel), UpstreamUnreachable, Proxy, "the proxy says its own network cannot reach the target"},
	{"proxy_failure", at(Tunnel), UpstreamError, Proxy, "the proxy says it failed itself"},
	{"refusal", at(Tunnel), UpstreamError, Unknown, "the proxy refuses and does not say why"},

	// The exchange with the target.
	{"eof", at(Request), EOF, Target, "the connection was closed while the request was sent"},
	{"reset", at(Request), Reset, Target, "the connection was reset while the request was sent"},
	{"timeout", at(Request), Timeout, Unknown, "the request could not be sent in time"},
	{"silent", at(Headers), Timeout, Target, "the target took the request and did not answer in time"},
	{"silent_forward", at(Headers), Timeout, Unknown, "no answer came in time, and nothing tells whether the proxy or the target is silent"},
	{"timeout", at(Headers), Timeout, Proxy, "the answer began and then came too slowly"},
	{"endless_interim", at(Headers), Timeout, Target, "only interim answers (1xx) came, never a final one"},
	{"eof", at(Headers), EOF, Target, "the target closed the connection instead of answering"},
	{"eof_forward", at(Headers), EOF, Unknown, "the connection was closed instead of an answer, and nothing tells by whom"},
	{"reset", at(Headers), Reset, Target, "the target reset the connection instead of answering"},
	{"reset_forward", at(Headers), Reset, Unknown, "the connection was reset in the middle of an answer, and nothing tells by whom"},
	{"malformed", at(Headers), Malformed, Target, "the answer is not HTTP"},
	{"tls_garbled", at(Headers, Body), Malformed, Target, "the TLS stream broke in the middle of the answer"},
	{"malformed_forward", at(Headers), Malformed, Unknown, "the answer is not proper HTTP, and nothing tells whose it is"},
	{"protocol_mismatch", at(Headers), ProtocolMismatch, Target, "the target answers plain HTTP with TLS"},
	{"h2_refused", answer, Reset, Target, "the target ended the HTTP/2 stream with an error"},
	{"header_too_large", at(Headers), HeaderTooLarge, Target, "the answer's header block is over the limit"},
	{"header_too_large_forward", at(Headers), HeaderTooLarge, Unknown, "the answer's header block is over the limit, and nothing tells whose it is"},
	{"timeout", at(Body), Timeout, Proxy, "the body came too slowly"},
	{"timeout_open", at(Body), Timeout, Unknown, "the body has no declared length, and its end did not come in time"},
	{"truncated", at(Body), Truncated, Target, "the body ended before its declared length"},
	{"reset", at(Body), Reset, Unknown, "the connection was reset in the middle of the body"},
	{"malformed", at(Body), Malformed, Target, "the body's chunks break the protocol"},
	{"decode_error", at(Body), DecodeError, Target, "the body's encoding cannot be undone"},
	{"too_large", at(Body), TooLarge, Target, "the body is over the limit"},

	// The answer came whole, but is not what the check expects.
	{"http_status", at(Verify), HTTPStatus, Target, "the target answers with a status that the check does not expect"},
	{"http_status_forward", at(Verify), HTTPStatus, Unknown, "the status is one a proxy or the target may have written, and nothing tells which"},
	{"rate_limited", at(Verify), RateLimited, Target, "the target says we ask too often"},
	{"redirected", at(Verify), Redirected, Target, "the target answers with a redirect that the check does not follow"},
	{"redirected_forward", at(Verify), Redirected, Unknown, "a redirect to another host, and nothing tells whether the target wrote it"},
	{"redirect_loop", at(Verify), RedirectLoop, Target, "the redirects do not end"},
	{"header_missing", at(Verify), HeaderMissing, Target, "a header that the check expects is missing"},
	{"header_missing_forward", at(Verify), HeaderMissing, Proxy, "a header that the check expects is missing: somebody else answered in the target's place"},
	{"header_mismatch", at(Verify), HeaderMismatch, Target, "a header is not what the check expects"},
	{"header_mismatch_forward", at(Verify), HeaderMismatch, Proxy, "a header is not what the check expects: somebody else answered in the target's place"},
	{"content_mismatch", at(Verify), ContentMismatch, Target, "the page is not the one that the check expects"},
	{"content_mismatch_forward", at(Verify), ContentMismatch, Proxy, "the page is not the target's: the proxy answered or changed it"},
	{"content_excluded_forward", at(Verify), ContentMismatch, Unknown, "the page has what it must not have, and nothing tells who wrote it"},
	{"stale", at(Verify), Stale, Target, "the answer is a stored copy from beyond the proxy"},
	{"stale_forward", at(Verify), Stale, Proxy, "the answer is a stored copy, not made for this probe"},
	{"too_slow", at(Verify), TooSlow, Proxy, "the answer is right but came later than the check allows"},
}
