package configs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// fingerprint tells two configurations of one check apart. It is made from the values with
// their defaults, so that writing a default out changes nothing; references count as they
// are written, so that a rotated secret changes nothing; and credentials written into the
// file are left out.
func (c checkFile) fingerprint() string {
	c.Request = c.Request.withoutSecrets()
	c.Steps = append([]stepFile(nil), c.Steps...)
	for i := range c.Steps {
		c.Steps[i].Request = c.Steps[i].Request.withoutSecrets()
	}
	c.Endpoints = append([]sourceFile(nil), c.Endpoints...)
	for i := range c.Endpoints {
		c.Endpoints[i].URL.written = withoutUser(c.Endpoints[i].URL.written)
	}
	b, err := json.Marshal(c)
	if err != nil { // numbers, texts, lists and maps only
		panic(err)
	}
	sum := sha256.Sum256(append([]byte("proxyward check 1\n"), b...))
	return hex.EncodeToString(sum[:16])
}

// confidential are the headers whose values are credentials.
var confidential = map[string]bool{"authorization": true, "cookie": true, "x-api-key": true, "proxy-authorization": true}

func (r requestFile) withoutSecrets() requestFile {
	r.URL.written = withoutUser(r.URL.written)
	headers := map[string]text{}
	for name, value := range r.Headers {
		if confidential[strings.ToLower(name)] {
			value = text{}
		}
		headers[name] = value
	}
	r.Headers = headers
	return r
}

func withoutUser(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.User == nil {
		return raw
	}
	u.User = nil
	return u.String()
}
