package configs

func stepFields(s *stepFile) object {
	return object{
		{"name", anyText(&s.Name), "For people."},
		{"request", requestFields(&s.Request), "What is asked of the target."},
		{"expect", expectFields(&s.Expect), "What the answer must be."},
	}
}

func requestFields(r *requestFile) object {
	return object{
		{"method", anyText(&r.Method), "HTTP method."},
		{"url", secretText(&r.URL), "http or https; {nonce} is a fresh random word for each probe."},
		{"headers", textMap(&r.Headers), "Sent as they are; Host overrides the URL's."},
		{"body", secretText(&r.Body), "Sent as it is."},
		{"timeout", span(&r.Timeout, instant), "The whole transaction, every stage in it."},
		{"timeouts", object{
			{"connect", span(&r.Timeouts.Connect, instant), "Resolve and connect."},
			{"handshake", span(&r.Timeouts.Handshake, instant), "Each TLS handshake, and each answer of the proxy."},
			{"first_byte", span(&r.Timeouts.FirstByte, instant), "From the request's last byte to the answer's first."},
		}, "Bounds of single stages inside the whole."},
		{"follow_redirects", whole(&r.FollowRedirects, 0, 20), "How many; 0: a redirect is an answer like any other."},
		{"redirect_to", textList(&r.RedirectTo), "Origins beside the own one that a redirect may lead to."},
		{"http2", word(&r.HTTP2, "auto", "never", "require"), "HTTP/2 with an https target."},
		{"tls", tlsFields(&r.TLS, true), "To the target."},
		{"proxy_tls", tlsFields(&r.ProxyTLS, false), "To https proxies."},
	}
}

func tlsFields(t *tlsFile, target bool) object {
	o := object{
		{"ca_file", anyText(&t.CAFile), "PEM file; empty: the system's roots."},
		{"min_version", anyText(&t.MinVersion), "1.2 or 1.3."},
		{"server_name", anyText(&t.ServerName), "The name in the certificate; empty: the host's."},
	}
	if target {
		o = append(o, field{"resume", boolean(&t.Resume), "Resume sessions across the probes of one endpoint."})
	}
	return o
}

func expectFields(e *expectFile) object {
	return object{
		{"status", statuses{&e.Status}, "Statuses and ranges: 200, 200-299."},
		{"body_contains", textList(&e.BodyContains), "Each must occur."},
		{"body_matches", anyText(&e.BodyMatches), "RE2."},
		{"body_excludes", textList(&e.BodyExcludes), "None may occur."},
		{"body_sha256", anyText(&e.BodySHA256), "The exact body, as 64 hexadecimal digits."},
		{"headers", textMap(&e.Headers), "Name to RE2 that the value must match."},
		{"max_headers", size(&e.MaxHeaders), "Bytes of a header block."},
		{"max_body", size(&e.MaxBody), "Bytes after decoding."},
		{"max_latency", span(&e.MaxLatency, instant), "The whole transaction; absent: only the timeout bounds it."},
	}
}
