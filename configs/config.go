package configs

import (
	"time"

	"proxyward/scheduler"
)

// Config is a whole configuration, validated, with every default filled in.
type Config struct {
	Redis     Redis
	Scheduler Scheduler
	Prober    Prober
	Admin     Admin
	Log       Log
	Reload    Reload
	Checks    []scheduler.Check // at least one; names are unique

	picture picture // for Differences

	// Warnings are sentences for the operator: what he set and this version does not act on.
	Warnings []string
}

// Redis says which server, or which group of servers, keeps the pools.
type Redis struct {
	URL      string // redis:// rediss:// unix:// embedded://, its credentials taken out; empty with Cluster or Sentinel
	Username string
	Password Secret
	Prefix   string
	Cluster  []string // host:port of some nodes; nil: no cluster
	Sentinel *Sentinel
	TLS      RedisTLS

	AllowEviction bool // run even where maxmemory-policy can drop the pool's keys
}

// Sentinel names a master that sentinels watch.
type Sentinel struct {
	Master    string
	Addresses []string // host:port of the sentinels
	Username  string   // of the sentinels themselves
	Password  Secret   // of the sentinels themselves
}

// RedisTLS says how the server's certificate is judged.
type RedisTLS struct {
	Enabled bool   // to a cluster or sentinels; a URL says so itself
	CAFile  string // PEM, readable and with a certificate in it; empty: the system's roots
}

// Scheduler is the rhythm of the daemon.
type Scheduler struct {
	Tick time.Duration // whole seconds
}

// Prober bounds the probes of this daemon over all checks.
type Prober struct {
	Concurrency int
}

// Reload says when the configuration is read again, beside SIGHUP.
type Reload struct {
	Watch bool // when the file changes
}

// Log says what the daemon writes on standard error.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // json, console
}
