package verdict

// Reason says why a stage failed. One word list serves all stages.
type Reason string

// The reasons. Their sentences stand in the table of events.
const (
	NameNotFound  Reason = "name_not_found"
	ResolverError Reason = "resolver_error"

	Refused     Reason = "refused"
	Unreachable Reason = "unreachable"
	Reset       Reason = "reset"
	EOF         Reason = "eof" // an orderly close before the exchange was complete
	Timeout     Reason = "timeout"
	LocalError  Reason = "local_error"

	NotTLS        Reason = "not_tls"
	TLSAlert      Reason = "tls_alert"
	TLSVersion    Reason = "tls_version"
	CertUntrusted Reason = "cert_untrusted"
	CertExpired   Reason = "cert_expired"
	CertHostname  Reason = "cert_hostname"

	ProtocolMismatch Reason = "protocol_mismatch"
	Malformed        Reason = "malformed"

	AuthRequired          Reason = "auth_required"
	AuthRejected          Reason = "auth_rejected"
	AuthSchemeUnsupported Reason = "auth_scheme_unsupported"

	Forbidden          Reason = "forbidden"
	MethodUnsupported  Reason = "method_unsupported"
	AddressUnsupported Reason = "address_unsupported"

	UpstreamRefused     Reason = "upstream_refused"
	UpstreamUnreachable Reason = "upstream_unreachable"
	UpstreamTimeout     Reason = "upstream_timeout"
	UpstreamDNS         Reason = "upstream_dns"
	UpstreamError       Reason = "upstream_error"

	RateLimited Reason = "rate_limited"

	HTTPStatus      Reason = "http_status"
	Redirected      Reason = "redirected"
	RedirectLoop    Reason = "redirect_loop"
	HeaderMissing   Reason = "header_missing"
	HeaderMismatch  Reason = "header_mismatch"
	ContentMismatch Reason = "content_mismatch"
	Stale           Reason = "stale"
	TooSlow         Reason = "too_slow"

	HeaderTooLarge Reason = "header_too_large"
	TooLarge       Reason = "too_large"
	Truncated      Reason = "truncated"
	DecodeError    Reason = "decode_error"
)

// Reasons lists every reason.
var Reasons = []Reason{
	NameNotFound, ResolverError, Refused, Unreachable, Reset, EOF, Timeout, LocalError,
	NotTLS, TLSAlert, TLSVersion, CertUntrusted, CertExpired, CertHostname, ProtocolMismatch, Malformed,
	AuthRequired, AuthRejected, AuthSchemeUnsupported, Forbidden, MethodUnsupported, AddressUnsupported,
	UpstreamRefused, UpstreamUnreachable, UpstreamTimeout, UpstreamDNS, UpstreamError, RateLimited,
	HTTPStatus, Redirected, RedirectLoop, HeaderMissing, HeaderMismatch, ContentMismatch, Stale, TooSlow,
	HeaderTooLarge, TooLarge, Truncated, DecodeError,
}
