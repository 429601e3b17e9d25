package configs

// The table of fields, top down. A line gives the name in the file, the kind, where it
// goes, and what it means.

func fileFields(f *file) object {
	return object{
		{"redis", redisFields(&f.redis), "The server that keeps the pools: url, cluster or sentinel."},
		{"scheduler", object{
			{"tick", tick(&f.scheduler.Tick), "How often due endpoints are claimed."},
		}, "The rhythm of the daemon."},
		{"prober", object{
			{"concurrency", whole(&f.prober.Concurrency, 1, 100_000), "Probes in flight of this daemon, over all checks."},
		}, "Bounds of this daemon."},
		{"admin", object{
			{"listen", anyText(&f.admin.listen), "host:port, or unix: and a path; empty: none."},
			{"token_file", anyText(&f.admin.tokenFile), "File with the token that requests must carry: relative to $CREDENTIALS_DIRECTORY, or absolute."},
			{"tls", object{
				{"cert_file", anyText(&f.admin.certFile), "PEM file with the certificate and those that lead to its root: relative to $CREDENTIALS_DIRECTORY, or absolute."},
				{"key_file", anyText(&f.admin.keyFile), "PEM file with its key, likewise."},
			}, "How it is served to other machines."},
			{"pprof", boolean(&f.admin.pprof), "Serve /debug/pprof/ too; only with a token."},
		}, "The HTTP interface for operators."},
		{"log", object{
			{"level", word(&f.log.Level, "debug", "info", "warn", "error"), "The least important message that is written."},
			{"format", word(&f.log.Format, "json", "console"), "How messages are written."},
		}, "What goes to standard error."},
		{"reload", object{
			{"watch", boolean(&f.reload.Watch), "Reload when this file changes, not only at SIGHUP."},
		}, "When the configuration is read again."},
		{"checks", list[checkFile]{&f.checks, checkDefaults, checkFields}, "One check governs one pool."},
	}
}

func redisFields(r *redisFile) object {
	return object{
		{"url", secretText(&r.url), "redis:// rediss:// unix:// or embedded://HOST:PORT, which keeps nothing."},
		{"username", anyText(&r.username), "Redis user (ACL)."},
		{"password", secretText(&r.password), "Better a reference, or password_file."},
		{"password_file", anyText(&r.passwordFile), "Relative to $CREDENTIALS_DIRECTORY, or absolute."},
		{"prefix", anyText(&r.prefix), "First part of every key; no braces."},
		{"allow_eviction", boolean(&r.allowEviction), "Run even if maxmemory-policy can drop the pool's keys."},
		{"tls", object{
			{"enabled", boolean(&r.secure), "TLS to a cluster or sentinels; rediss:// in url says so itself."},
			{"ca_file", anyText(&r.caFile), "PEM file that rediss:// is verified with; empty: the system's roots."},
		}, "How the server's certificate is judged."},
		{"cluster", object{
			{"addresses", textList(&r.cluster.addresses), "host:port of some nodes."},
		}, "A Redis Cluster, instead of url."},
		{"sentinel", object{
			{"master", anyText(&r.sentinel.master), "The name that the sentinels know."},
			{"addresses", textList(&r.sentinel.addresses), "host:port of the sentinels."},
			{"username", anyText(&r.sentinel.username), "Of the sentinels themselves."},
			{"password", secretText(&r.sentinel.password), "Of the sentinels themselves."},
			{"password_file", anyText(&r.sentinel.passwordFile), "Of the sentinels themselves."},
		}, "A master watched by sentinels, instead of url."},
	}
}
