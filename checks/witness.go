package checks

import (
	"strconv"
	"strings"

	"proxyward/checks/verdict"
)

func itoa(n int) string { return strconv.Itoa(n) }

// proxyErrors maps the error types of RFC 9209 section 2.3 to events.
var proxyErrors = map[string]string{
	"dns_timeout": "upstream_dns", "dns_error": "upstream_dns",
	"destination_not_found": "proxy_failure", "destination_unavailable": "upstream_unreachable",
	"destination_ip_prohibited": "forbidden", "destination_ip_unroutable": "upstream_unreachable",
	"connection_refused": "upstream_refused", "connection_terminated": "upstream_error", "connection_timeout": "upstream_timeout",
	"connection_read_timeout": "upstream_timeout", "connection_write_timeout": "upstream_timeout", "connection_limit_reached": "rate_limited",
	"tls_protocol_error": "upstream_error", "tls_certificate_error": "upstream_error", "tls_alert_received": "upstream_error",
	"http_request_error": "method_unsupported", "http_request_denied": "forbidden",
	"http_response_incomplete": "upstream_error", "http_response_header_section_size": "upstream_error",
	"http_response_header_size": "upstream_error", "http_response_body_size": "upstream_error",
	"http_response_trailer_section_size": "upstream_error", "http_response_trailer_size": "upstream_error",
	"http_response_transfer_coding": "upstream_error", "http_response_content_coding": "upstream_error",
	"http_response_timeout": "upstream_timeout", "http_upgrade_failed": "upstream_error", "http_protocol_error": "upstream_error",
	"proxy_internal_response": "proxy_failure", "proxy_internal_error": "proxy_failure", "proxy_configuration_error": "proxy_failure",
	"proxy_loop_detected": "proxy_failure",
}

// byProxyStatus reads Proxy-Status (RFC 9209). Each intermediary appends itself: the last
// member with an error is the one nearest to us.
func byProxyStatus(h *head, _ []byte) finding {
	var last string
	for _, v := range h.all("Proxy-Status") {
		for _, m := range proxyStatusErrors(v) {
			last = m
		}
	}
	if last == "" {
		return finding{}
	}
	if event, ok := proxyErrors[last]; ok {
		return found(event)
	}
	return found("refusal") // a type registered later: an error in any case
}

// proxyStatusErrors takes the error parameters out of a structured-field list (RFC 8941
// section 3.1): members are parted by commas, parameters by semicolons, strings quoted.
func proxyStatusErrors(v string) []string {
	var out []string
	for _, member := range splitQuoted(v, ',') {
		for i, param := range splitQuoted(member, ';') {
			key, value, _ := strings.Cut(strings.TrimSpace(param), "=")
			if i > 0 && strings.TrimSpace(key) == "error" && value != "" {
				out = append(out, strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`)))
			}
		}
	}
	return out
}

// splitQuoted splits at sep outside of quoted strings.
func splitQuoted(s string, sep byte) []string {
	var out []string
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == sep:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}

// squidErrors maps the page names in X-Squid-Error to events; ERR_CONNECT_FAIL goes by its
// errno.
var squidErrors = map[string]string{
	"ERR_DNS_FAIL": "upstream_dns", "ERR_CONNECT_FAIL": "upstream_error", "ERR_SECURE_CONNECT_FAIL": "upstream_error",
	"ERR_READ_TIMEOUT": "upstream_timeout", "ERR_WRITE_TIMEOUT": "upstream_timeout", "ERR_LIFETIME_EXP": "upstream_timeout",
	"ERR_READ_ERROR": "upstream_error", "ERR_WRITE_ERROR": "upstream_error", "ERR_ZERO_SIZE_OBJECT": "upstream_error",
	"ERR_INVALID_RESP": "upstream_error", "ERR_TOO_BIG": "upstream_error", "ERR_PRECONDITION_FAILED": "upstream_error",
	"ERR_ACCESS_DENIED": "forbidden", "ERR_FORWARDING_DENIED": "forbidden", "ERR_PROTOCOL_UNKNOWN": "method_unsupported",
	"ERR_UNSUP_REQ": "method_unsupported", "ERR_UNSUP_HTTPVERSION": "method_unsupported", "ERR_INVALID_REQ": "method_unsupported",
	"ERR_INVALID_URL": "method_unsupported", "ERR_CANNOT_FORWARD": "refusal", "ERR_NO_RELAY": "refusal", "ERR_GATEWAY_FAILURE": "refusal",
	"ERR_SOCKET_FAILURE": "proxy_failure", "ERR_SHUTTING_DOWN": "proxy_failure", "ERR_URN_RESOLVE": "upstream_dns",
	"ERR_CONFLICT_HOST": "forbidden", "ERR_ICAP_FAILURE": "proxy_failure", "ERR_TOO_MANY_REQUESTS": "rate_limited",
}

// errnos are Linux's numbers as squid shows them, and BSD's where they differ.
var errnos = map[string]string{"111": "upstream_refused", "61": "upstream_refused", "110": "upstream_timeout", "60": "upstream_timeout",
	"113": "upstream_unreachable", "101": "upstream_unreachable", "65": "upstream_unreachable", "51": "upstream_unreachable", "104": "upstream_error"}

// bySquid reads X-Squid-Error: the page's name and the errno.
func bySquid(h *head, _ []byte) finding {
	words := strings.Fields(h.get("X-Squid-Error"))
	if len(words) == 0 {
		return finding{}
	}
	name := strings.ToUpper(words[0])
	if strings.Contains(name, "CACHE_ACCESS_DENIED") {
		return finding{"auth_rejected", verdict.ProxyAuth}
	}
	if name == "ERR_CONNECT_FAIL" && len(words) > 1 && errnos[words[1]] != "" {
		return found(errnos[words[1]])
	}
	if event, ok := squidErrors[name]; ok {
		return found(event)
	}
	if h.status == 403 { // an administrator's own page (deny_info)
		return found("forbidden")
	}
	return found("refusal")
}

// errorHeaders are the headers in which other proxies give their reason in words.
var errorHeaders = []string{"X-Proxy-Error", "Proxy-Error", "X-Luminati-Error", "X-Brd-Error", "X-Brd-Err-Msg", "X-Crawlera-Error", "Zyte-Error",
	"X-Forwarder-Error", "X-Proxy-Connect-Error", "X-Oxylabs-Error", "X-Smartproxy-Error", "X-Proxymesh-Error"}

// byErrorHeader reads such a header; only a proxy sends one.
func byErrorHeader(h *head, page []byte) finding {
	for _, name := range errorHeaders {
		if v := h.get(name); v != "" {
			if f := words(strings.ToLower(v)); f.ok() {
				return f
			}
			return byStatus(h, page)
		}
	}
	return finding{}
}

// byStatusFirm takes the statuses that mean one thing whatever the words beside them.
func byStatusFirm(h *head, _ []byte) finding {
	switch {
	case h.status == 429:
		return found("rate_limited")
	case h.status/100 == 3:
		return found("redirected")
	case h.status == 405 || h.status == 501:
		return found("method_unsupported")
	}
	return finding{}
}

// statuses are what is left to go by where a proxy gives no reason.
var statuses = map[int]string{
	400: "method_unsupported", 402: "forbidden", 403: "forbidden", 404: "method_unsupported", 406: "forbidden", 408: "timeout",
	409: "forbidden", 410: "method_unsupported", 411: "method_unsupported", 414: "method_unsupported", 421: "method_unsupported",
	426: "method_unsupported", 451: "forbidden", 500: "refusal", 502: "upstream_error", 503: "refusal", 504: "upstream_timeout",
	505: "method_unsupported", 520: "upstream_error", 521: "upstream_refused", 522: "upstream_timeout", 523: "upstream_unreachable",
	524: "upstream_timeout", 525: "upstream_error", 526: "upstream_error", 530: "upstream_dns", 598: "upstream_timeout", 599: "upstream_timeout",
}

func byStatus(h *head, _ []byte) finding {
	if event, ok := statuses[h.status]; ok {
		return found(event)
	}
	switch {
	case h.status > 431 && h.status < 500: // sellers' own: plan used up, unknown country and the like
		return found("forbidden")
	case h.status/100 == 4:
		return found("method_unsupported")
	}
	return found("refusal")
}
