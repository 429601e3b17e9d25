package configs

import "proxyward/checks"

func (r *requestFile) request() checks.Request {
	return checks.Request{
		Method: r.Method.value, URL: r.URL.value, Headers: valueMap(r.Headers), Body: r.Body.value,
		Timeout: r.Timeout, Timeouts: r.Timeouts,
		FollowRedirects: r.FollowRedirects, RedirectTo: values(r.RedirectTo), HTTP2: r.HTTP2,
		TLS: r.TLS.tls(), ProxyTLS: r.ProxyTLS.tls(),
	}
}

func (t *tlsFile) tls() checks.TLS {
	return checks.TLS{CAFile: t.CAFile.value, ServerName: t.ServerName.value, MinVersion: t.MinVersion.value, Resume: t.Resume}
}

func (e *expectFile) expect() checks.Expect {
	return checks.Expect{
		Status: e.Status, BodyContains: values(e.BodyContains), BodyExcludes: values(e.BodyExcludes),
		BodyMatches: e.BodyMatches.value, BodySHA256: e.BodySHA256.value, Headers: valueMap(e.Headers),
		MaxHeaders: e.MaxHeaders, MaxBody: e.MaxBody, MaxLatency: e.MaxLatency,
	}
}

func values(list []text) []string {
	var out []string
	for _, t := range list {
		out = append(out, t.value)
	}
	return out
}

func valueMap(m map[string]text) map[string]string {
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, t := range m {
		out[k] = t.value
	}
	return out
}
