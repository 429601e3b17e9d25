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
	Checks    []scheduler.Check // at least one; names are unique

	// Planned holds, by check name, what is validated here and acted on by later versions.
	Planned map[string]Planned

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

// Admin is the HTTP interface for operators.
type Admin struct {
	Listen    string // host:port, or unix: and a path; empty: none
	TokenFile string
}

// Log says what the daemon writes on standard error.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // json, console
}

// Planned is what a check may already say though this version does not act on it.
type Planned struct {
	Guard Guard
	Jobs  bool
	Floor Floor
}

// Guard decides when a wave of failures is the target's or our own network's doing.
type Guard struct {
	Enabled     bool
	TargetShare float64 // of failures by the target's blame or by silence
	AllShare    float64 // of failures whatever the blame
	Control     string  // none, direct
}

// Floor is how many endpoints are kept eligible whatever happens; at most one field is set.
type Floor struct {
	Count int
	Share float64 // of all endpoints, 0 to 1
}
