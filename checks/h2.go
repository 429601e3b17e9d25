package checks

func (p *probe) askHTTP2() *failure { return p.fail("tls_malformed", "HTTP/2 is not built yet") }
