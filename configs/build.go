package configs

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"proxyward/checks"
	"proxyward/scheduler"
	"proxyward/scheduler/policy"
)

// build makes the configuration of what was read, and notes what does not go together.
func (d *decoder) build(f *file) *Config {
	c := &Config{
		Redis: d.redis(&f.redis), Scheduler: f.scheduler, Prober: f.prober, Admin: d.admin(&f.admin), Log: f.log, Reload: f.reload,
	}
	if len(f.checks) == 0 {
		d.wrong("checks", "no check: write at least one, with a name, request.url and endpoints")
	}
	names := map[string]int{}
	for i := range f.checks {
		path := fmt.Sprintf("checks[%d]", i)
		d.yield(&f.checks[i], path, f.scheduler.Tick)
		d.name(f.checks[i].Name.value, path, i, names)
		c.Checks = append(c.Checks, d.check(&f.checks[i], path, f.scheduler.Tick))
	}
	return c
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

func (d *decoder) name(name, path string, i int, taken map[string]int) {
	at := path + ".name"
	first, again := taken[name]
	switch {
	case !d.given(at) && name == "":
		d.wrong(at, "missing: name the check; the name is part of its keys in Redis")
	case !nameForm.MatchString(name):
		d.wrong(at, "impossible: write 1 to 63 of a-z 0-9 _ -, a letter or digit first")
	case again:
		d.wrong(at, "%q is the name of checks[%d] too: give each check its own", name, first)
	default:
		taken[name] = i
	}
}

func (d *decoder) check(c *checkFile, path string, tick time.Duration) scheduler.Check {
	d.checkPolicy(c, path, tick)
	out := scheduler.Check{
		Name:        c.Name.value,
		Fingerprint: c.fingerprint(),
		Made:        d.made(c),
		Policy:      policy.Policy{Rise: c.Rise, Fall: c.Fall, Confirm: c.Confirm, Recheck: c.Recheck, Cooldown: c.Cooldown},
		Trickle:     c.Trickle,
		Limits:      c.Limits,
		Scores:      scheduler.Scores{Initial: c.Scores.Initial, Keep: c.Scores.Reentry == "keep"},
		Sources:     d.sources(c, path),
		Control:     c.Guard.Control == "direct",
		Guard:       c.Guard.Rules,
		Floor:       c.Floor,
		Reports:     c.Reports,
		Jobs:        c.Jobs,
		Missing: scheduler.Missing{
			Keep: c.Missing.OnMissing == "keep", MaxShrink: c.Missing.MaxShrink, ForgetAfter: c.Missing.ForgetAfter,
		},
	}
	transaction, err := checks.Compile(d.spec(c, path))
	if err != nil {
		d.refused(err, path)
		return out
	}
	out.Transaction, out.Timeout = transaction, transaction.Timeout()
	return out
}

// made is all that a check was made of, the files it names too.
func (d *decoder) made(c *checkFile) any {
	requests := []*requestFile{&c.Request}
	for i := range c.Steps {
		requests = append(requests, &c.Steps[i].Request)
	}
	var files [][]byte
	for _, r := range requests {
		for _, t := range []tlsFile{r.TLS, r.ProxyTLS} {
			if t.CAFile.value != "" {
				pem, _ := d.env.ReadFile(t.CAFile.value) // that it cannot be read is told elsewhere
				files = append(files, pem)
			}
		}
	}
	type of struct {
		check checkFile
		files [][]byte
	}
	return of{*c, files}
}

// spec is the transaction of a check.
func (d *decoder) spec(c *checkFile, path string) checks.Spec {
	spec := checks.Spec{Name: c.Name.value}
	if !d.given(path + ".steps") {
		d.request(&c.Request, path+".request")
		spec.Steps = []checks.Step{{Request: c.Request.request(), Expect: c.Expect.expect()}}
		return spec
	}
	for _, other := range []string{".request", ".expect"} {
		if d.given(path + other) {
			d.wrong(path+other, "beside steps: move it into a step")
		}
	}
	if len(c.Steps) == 0 {
		d.wrong(path+".steps", "no step: write at least one, or request instead of steps")
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		d.request(&s.Request, fmt.Sprintf("%s.steps[%d].request", path, i))
		spec.Steps = append(spec.Steps, checks.Step{Name: s.Name.value, Request: s.Request.request(), Expect: s.Expect.expect()})
	}
	return spec
}

// request holds the stages' bounds against the whole.
func (d *decoder) request(r *requestFile, path string) {
	d.yieldRequest(r, path)
	for name, stage := range r.stages() {
		if *stage > r.Timeout {
			d.wrong(path+".timeouts."+name, "%s is longer than %s.timeout, %s: a stage is part of the whole",
				writeSpan(*stage), path, writeSpan(r.Timeout))
		}
	}
}

// refused carries the faults of a transaction to their places in the file. What a
// reference stands for is not told.
func (d *decoder) refused(err error, path string) {
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		for _, one := range several.Unwrap() {
			d.refused(one, path)
		}
		return
	}
	var f *checks.FieldError
	if !errors.As(err, &f) {
		d.wrong(path, "%s", err)
		return
	}
	at := path + "." + f.Field
	switch inSteps := d.given(path + ".steps"); {
	case inSteps && (f.Field == "request" || f.Field == "expect"):
		at = path + ".steps"
	case inSteps && !strings.HasPrefix(f.Field, "steps"): // a single step without a name
		at = path + ".steps[0]." + f.Field
	}
	if d.revealing(at) {
		d.wrong(at, "what the reference stands for does not fit; it is not shown here")
		return
	}
	msg := f.Msg
	if strings.HasSuffix(at, ".url") { // what is quoted could be part of a password
		msg = quoted.ReplaceAllString(msg, "…")
	}
	d.wrong(at, "%s", msg)
}

var quoted = regexp.MustCompile(`"[^"]*"`)
