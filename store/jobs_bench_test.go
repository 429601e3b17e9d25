package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
)

// bench is a pool of which only what workers touch is there.
type bench struct {
	*testing.B
	raw *redis.Client
	key func(string) string
	n   int

	names []string             // of what was called, in order
	sums  map[string][]float64 // µs a call of it, one for each round
}

// benchCalls are a round's calls of one script, benchJobs how many jobs are live at most.
const benchCalls, benchJobs = 4000, 500

// bareCalls are the fewest calls that an acquire could do with, and nothing else: they choose
// nothing, and answer nothing. What one more costs is seen from each to the next.
var bareCalls = []struct{ name, script string }{
	{"2 bare calls", ``},
	{"3 bare calls, of two counts", `redis.call('ZINCRBY', KEYS[2], '1', id) `},
	{"4 bare calls, with a token", `redis.call('ZADD', KEYS[3], 'NX', '1796075108794', ARGV[1]) `},
	{"6 bare calls, with the time", `redis.call('TIME') redis.call('HMGET', KEYS[4], 'offset', 'high') `},
	{"7 bare calls, with a look", `redis.call('ZSCORE', KEYS[2], id) `},
}

// BenchmarkJobs is what a call of a worker's script costs the server, in µs by its own
// count, at 1,000, 100,000 and 1,000,000 members; all in one run, round by round, since
// what a shared machine gives changes. docs/performance.md has figures.
func BenchmarkJobs(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			at := real(b)
			s := bench{b, at.raw, at.key, n, nil, map[string][]float64{}}
			s.fill()
			for b.Loop() {
				s.round()
			}
			s.tell()
		})
	}
}

func (s *bench) id(i int) string {
	return fmt.Sprintf("http://10.%d.%d.%d:8080", i>>16, i>>8&255, i&255)
}

func (s *bench) must(err error) {
	s.Helper()
	if err != nil && err != redis.Nil {
		s.Fatal(err)
	}
}

// fill makes all idle, with allocations that differ by one as those of fair shares do.
func (s *bench) fill() {
	for from := 0; from < s.n; from += 1000 {
		var eligible, inflight []redis.Z
		for i := from; i < min(from+1000, s.n); i++ {
			eligible = append(eligible, redis.Z{Score: float64(1000 + rand.IntN(2)), Member: s.id(i)})
			inflight = append(inflight, redis.Z{Member: s.id(i)})
		}
		s.must(s.raw.ZAdd(s.Context(), s.key("eligible"), eligible...).Err())
		s.must(s.raw.ZAdd(s.Context(), s.key("inflight"), inflight...).Err())
	}
	s.must(s.raw.HSet(s.Context(), s.key("clock"), "offset", 0, "high", 1, "held", 0).Err())
}

var evalsha = regexp.MustCompile(`cmdstat_evalsha:calls=(\d+),usec=(\d+)`)

// measure calls a script so often and returns what that took the server, in µs.
func (s *bench) measure(script string, calls int, keys []string, args func() []any) (us float64, replies []any) {
	s.Helper()
	sha, err := s.raw.ScriptLoad(s.Context(), script).Result()
	s.must(err)
	s.must(s.raw.ConfigResetStat(s.Context()).Err())
	for range calls / 100 {
		pipe := s.raw.Pipeline()
		for range 100 {
			pipe.EvalSha(s.Context(), sha, keys, args()...)
		}
		commands, err := pipe.Exec(s.Context())
		s.must(err)
		for _, c := range commands {
			replies = append(replies, c.(*redis.Cmd).Val())
		}
	}
	m := evalsha.FindStringSubmatch(s.raw.Info(s.Context(), "commandstats").Val())
	if m == nil || m[1] != strconv.Itoa(calls) {
		s.Fatal("the server did not count the calls: ", m)
	}
	us, err = strconv.ParseFloat(m[2], 64)
	s.must(err)
	return us, replies
}

// note keeps what a round's calls took together.
func (s *bench) note(name string, us float64) {
	if s.sums[name] == nil {
		s.names = append(s.names, name)
	}
	s.sums[name] = append(s.sums[name], us/benchCalls)
}

// call measures a script that needs no cleaning up.
func (s *bench) call(name, script string, keys []string, args func() []any) {
	s.Helper()
	us, _ := s.measure(script, benchCalls, keys, args)
	s.note(name, us)
}

func (s *bench) file(name string) string {
	text, err := os.ReadFile("lua/" + name + ".lua")
	s.must(err)
	return string(text)
}

// give has jobs taken and released again, some at a time, measured both.
func (s *bench) give(name string, keys []string) {
	releasing := []string{s.key("inflight"), s.key("jobs"), s.key("engaged"), s.key("reports")}
	var taking, ending float64
	for range benchCalls / benchJobs {
		us, replies := s.measure(s.file("acquire"), benchJobs, keys, func() []any { return []any{60_000, 0} })
		taking += us
		us, _ = s.measure(s.file("release"), benchJobs, releasing, func() []any {
			last := replies[len(replies)-1].([]any)[1]
			replies = replies[:len(replies)-1]
			return []any{last}
		})
		ending += us
	}
	s.note(name, taking)
	s.note("release, after "+name, ending)
}

// busy gives so many jobs to the lowest members, and fewer to the others: no token of them is
// there, which acquire.lua does not ask for.
func (s *bench) busy(lowest, jobs, others float64) {
	low, err := s.raw.ZRange(s.Context(), s.key("eligible"), 0, int64(lowest)-1).Result()
	s.must(err)
	for from := 0; from < s.n; from += 1000 {
		var zs []redis.Z
		for i := from; i < min(from+1000, s.n); i++ {
			zs = append(zs, redis.Z{Score: others, Member: s.id(i)})
		}
		s.must(s.raw.ZAdd(s.Context(), s.key("inflight"), zs...).Err())
	}
	for _, id := range low {
		s.must(s.raw.ZAdd(s.Context(), s.key("inflight"), redis.Z{Score: jobs, Member: id}).Err())
	}
}

func (s *bench) round() {
	none := func() []any { return nil }
	eligible := []string{s.key("eligible")}
	acquiring := []string{s.key("eligible"), s.key("inflight"), s.key("jobs"), s.key("clock")}
	s.call("bare ZINCRBY", `return redis.call('ZINCRBY', KEYS[1], 1, ARGV[1])`, eligible, func() []any { return []any{s.id(rand.IntN(s.n))} })
	s.call("allocate", s.file("allocate"), eligible, none)
	s.call("allocate_url", s.file("allocate_url"), append(eligible, s.key("urls")), none)
	s.give("acquire", acquiring)
	s.give("acquire with its URL", append(slices.Clone(acquiring), s.key("urls")))
	s.busy(0, 0, 1)
	s.give("acquire, all busy", acquiring)
	s.busy(float64(min(2000, s.n/2)), 9, 1)
	s.give("acquire, the lowest busier", acquiring)
	script, seq := `local id = redis.call('ZRANGE', KEYS[1], '0', '0')[1] redis.call('ZINCRBY', KEYS[1], '1', id) `, 0
	for _, c := range bareCalls {
		script += c.script
		s.call(c.name, script, acquiring, func() []any { seq++; return []any{fmt.Sprintf("1796075108.60000.%d:%s", seq, s.id(seq%s.n))} })
		s.must(s.raw.Del(s.Context(), s.key("jobs")).Err())
	}
	s.busy(0, 0, 0)
}

// tell logs the quickest of the rounds, the one that others disturbed least, and how many
// allocations that is.
func (s *bench) tell() {
	least := func(name string) float64 { return slices.Min(s.sums[name]) }
	for _, name := range s.names {
		s.Logf("%9d members: %-36s %6.2f µs, %5.2f × allocate, %5.2f × bare", s.n, name, least(name), least(name)/least("allocate"), least(name)/least("bare ZINCRBY"))
	}
	s.ReportMetric(least("allocate")/least("bare ZINCRBY"), "allocate/bare")
	s.ReportMetric(least("acquire")/least("allocate"), "acquire/allocate")
}
