package configs

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// redis makes the address of the server. No message of it holds any part of a URL.
func (d *decoder) redis(r *redisFile) Redis {
	out := Redis{Prefix: r.prefix.value, Username: r.username.value, TLS: RedisTLS{Enabled: r.secure || r.caFile.value != "", CAFile: r.caFile.value}}
	out.Password, out.AllowEviction = d.password(r.password, r.passwordFile, "redis"), r.allowEviction
	cluster, sentinel := d.given("redis.cluster"), d.given("redis.sentinel")
	if cluster {
		out.Cluster = d.addresses(r.cluster.addresses, "redis.cluster.addresses")
		d.alone("redis.cluster", "redis.url")
	}
	if sentinel {
		out.Sentinel = d.sentinel(&r.sentinel)
		d.alone("redis.sentinel", "redis.url", "redis.cluster")
	}
	if !cluster && !sentinel {
		d.redisURL(r.url.value, &out)
	}
	if r.prefix.value == "" || strings.ContainsAny(r.prefix.value, "{}") || strings.ContainsFunc(r.prefix.value, func(c rune) bool { return c <= ' ' }) {
		d.wrong("redis.prefix", "impossible: write a word without braces and spaces; the check's name stands in the braces")
	}
	d.authority(&out, cluster || sentinel)
	return out
}

// alone notes that only one way to reach Redis can be taken.
func (d *decoder) alone(path string, others ...string) {
	for _, other := range others {
		if d.given(other) {
			d.add(d.placeNear(path), path, "beside %s: keep one of url, cluster and sentinel", other)
		}
	}
}

func (d *decoder) sentinel(s *sentinelFile) *Sentinel {
	if s.master.value == "" {
		d.wrong("redis.sentinel.master", "missing: write the name that the sentinels know")
	}
	return &Sentinel{
		Master: s.master.value, Username: s.username.value,
		Addresses: d.addresses(s.addresses, "redis.sentinel.addresses"),
		Password:  d.password(s.password, s.passwordFile, "redis.sentinel"),
	}
}

func (d *decoder) addresses(list []text, path string) []string {
	if len(list) == 0 {
		d.wrong(path, "missing: write a list of host:port")
	}
	for i, a := range list {
		if !hostPort(a.value, 1) {
			d.wrong(fmt.Sprintf("%s[%d]", path, i), "not an address: write host:port")
		}
	}
	return values(list)
}

// hostPort: any host, or none, and a port in numbers.
func hostPort(s string, least int) bool {
	_, port, err := net.SplitHostPort(s)
	n, numeric := strconv.Atoi(port)
	return err == nil && numeric == nil && least <= n && n <= 65535
}

// password is the one given, or that of the file given.
func (d *decoder) password(direct, file text, path string) Secret {
	switch {
	case file.value == "":
		return NewSecret(direct.value)
	case direct.value != "":
		d.wrong(path+".password_file", "beside password: keep one")
		return Secret{}
	}
	secret, err := d.env.secretFile(file.value)
	if err != nil {
		d.wrong(path+".password_file", "%s", err)
	}
	return NewSecret(secret)
}

const redisForms = "write redis://HOST:PORT/DB, rediss://HOST:PORT/DB, unix:///PATH?db=N or embedded://HOST:PORT (the value is not shown)"

// redisURL takes the credentials out of the URL.
func (d *decoder) redisURL(raw string, out *Redis) {
	const path = "redis.url"
	u, err := url.Parse(raw)
	if err != nil {
		d.wrong(path, "not a URL: %s; escape signs in the password, @ as %%40", redisForms)
		return
	}
	if user := u.User; user != nil {
		password, _ := user.Password()
		if user.Username() != "" && out.Username != "" || password != "" && !out.Password.IsZero() {
			d.wrong(path, "user or password in the URL and beside it: keep one")
		}
		if out.Username == "" {
			out.Username = user.Username()
		}
		if out.Password.IsZero() {
			out.Password = NewSecret(password)
		}
		u.User = nil
	}
	out.URL = u.String()
	switch u.Scheme {
	case "embedded":
		if !hostPort(u.Host, 0) || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
			d.wrong(path, "not an address to listen on: write embedded://127.0.0.1:6399; port 0 takes a free one")
		}
	case "redis", "rediss", "unix":
		if _, err := redis.ParseURL(out.URL); err != nil || u.Scheme != "unix" && u.Hostname() == "" || u.Scheme == "unix" && u.Path == "" {
			d.wrong(path, "impossible: %s", redisForms)
		}
	default:
		d.wrong(path, "unknown scheme: %s", redisForms)
	}
}

// authority reads the CA file now, so that a bad one is told with its place.
func (d *decoder) authority(r *Redis, group bool) {
	const path = "redis.tls.ca_file"
	if r.TLS.CAFile == "" {
		return
	}
	if !group && !strings.HasPrefix(r.URL, "rediss:") {
		d.wrong(path, "useless without TLS: write rediss:// in redis.url")
	}
	pem, err := d.env.ReadFile(r.TLS.CAFile)
	switch {
	case err != nil:
		d.wrong(path, "the file %s cannot be read: %s", r.TLS.CAFile, why(err))
	case !x509.NewCertPool().AppendCertsFromPEM(pem):
		d.wrong(path, "the file %s holds no certificate in PEM form", r.TLS.CAFile)
	}
}
