package configs

import (
	"time"

	"proxyward/checks"
	"proxyward/scheduler"
	"proxyward/scheduler/guard"
	"proxyward/scheduler/policy"
)

// The file as it is written, defaults filled in. Exported fields of checkFile make up the
// fingerprint of a check.

type file struct {
	redis     redisFile
	scheduler Scheduler
	prober    Prober
	admin     adminFile
	log       Log
	reload    Reload
	checks    []checkFile
}

type redisFile struct {
	url, username, password, passwordFile, prefix, caFile text
	secure, allowEviction                                 bool
	cluster                                               clusterFile
	sentinel                                              sentinelFile
}

type clusterFile struct{ addresses []text }

type sentinelFile struct {
	master, username, password, passwordFile text
	addresses                                []text
}

type adminFile struct {
	listen, tokenFile, certFile, keyFile text
	pprof                                bool
}

type checkFile struct {
	Name      text
	Request   requestFile
	Expect    expectFile
	Steps     []stepFile
	Endpoints []sourceFile

	Recheck, Confirm time.Duration
	Rise, Fall       int
	Trickle          scheduler.Trickle
	Limits           scheduler.Limits
	Cooldown         policy.Cooldown
	Scores           scoresFile
	Missing          missingFile
	Reports          scheduler.Reports
	Guard            guardFile
	Floor            scheduler.Floor
	Jobs             bool
}

type stepFile struct {
	Name    text
	Request requestFile
	Expect  expectFile
}

type requestFile struct {
	Method, URL, Body text
	Headers           map[string]text
	Timeout           time.Duration
	Timeouts          checks.Timeouts
	FollowRedirects   int
	RedirectTo        []text
	HTTP2             string
	TLS, ProxyTLS     tlsFile
}

type tlsFile struct {
	CAFile, ServerName, MinVersion text
	Resume                         bool
}

type expectFile struct {
	Status                     []checks.StatusRange
	BodyContains, BodyExcludes []text
	BodyMatches, BodySHA256    text
	Headers                    map[string]text
	MaxHeaders, MaxBody        int64
	MaxLatency                 time.Duration
}

type sourceFile struct {
	File, URL    text
	Scheme       string
	Refresh      string
	AllowPrivate bool
}

type scoresFile struct {
	Initial int64
	Reentry string
}

type missingFile struct {
	OnMissing   string
	MaxShrink   float64
	ForgetAfter time.Duration
}

type guardFile struct {
	guard.Rules
	Control string // none, direct
}
