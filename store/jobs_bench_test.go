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
	raw  *redis.Client
	key  func(string) string
	n    int
	sums map[string][]float64 // µs a call, by what was called, one for each round
}

const benchCalls = 4000

// BenchmarkJobs is what a call of a worker's script costs the server, in µs by its own
// count, at 1,000, 100,000 and 1,000,000 members; all in one run, round by round, since
// what a shared machine gives changes. docs/performance.md has figures.
func BenchmarkJobs(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			at := real(b)
			s := bench{b, at.raw, at.key, n, map[string][]float64{}}
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

var usecPerCall = regexp.MustCompile(`cmdstat_evalsha:calls=(\d+),usec=\d+,usec_per_call=([\d.]+)`)

// measure calls a script so often and keeps what one call took the server.
func (s *bench) measure(name, script string, keys []string, args func() []any) (replies []any) {
	s.Helper()
	sha, err := s.raw.ScriptLoad(s.Context(), script).Result()
	s.must(err)
	s.must(s.raw.ConfigResetStat(s.Context()).Err())
	for range benchCalls / 100 {
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
	m := usecPerCall.FindStringSubmatch(s.raw.Info(s.Context(), "commandstats").Val())
	if m == nil || m[1] != strconv.Itoa(benchCalls) {
		s.Fatal("the server did not count the calls: ", m)
	}
	us, err := strconv.ParseFloat(m[2], 64)
	s.must(err)
	s.sums[name] = append(s.sums[name], us)
	return replies
}

func (s *bench) file(name string) string {
	text, err := os.ReadFile("lua/" + name + ".lua")
	s.must(err)
	return string(text)
}

// give has jobs taken and released again, measured both.
func (s *bench) give(name string, keys []string, limit, most int) {
	var tokens []any
	for _, reply := range s.measure(name, s.file("acquire"), keys, func() []any { return []any{limit, most} }) {
		tokens = append(tokens, reply.([]any)[1])
	}
	releasing := []string{s.key("inflight"), s.key("jobs"), s.key("engaged"), s.key("reports")}
	s.measure("release, after "+name, s.file("release"), releasing, func() []any {
		last := tokens[len(tokens)-1]
		tokens = tokens[:len(tokens)-1]
		return []any{last}
	})
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
	withURL := append(slices.Clone(acquiring), s.key("urls"))
	s.measure("bare ZINCRBY", `return redis.call('ZINCRBY', KEYS[1], 1, ARGV[1])`, eligible, func() []any { return []any{s.id(rand.IntN(s.n))} })
	s.measure("allocate", s.file("allocate"), eligible, none)
	s.measure("allocate_url", s.file("allocate_url"), append(eligible, s.key("urls")), none)
	s.give("acquire", acquiring, 60_000, 0)
	s.give("acquire with its URL", withURL, 60_000, 0)
	s.busy(0, 0, 1)
	s.give("acquire, all busy", acquiring, 60_000, 0)
	s.busy(benchCalls/2, 9, 1)
	s.give("acquire, the lowest busier", acquiring, 60_000, 0)
	s.busy(0, 0, 0)
}

// tell logs the quickest of the rounds, the one that others disturbed least, and how many
// allocations that is.
func (s *bench) tell() {
	least := func(name string) float64 { return slices.Min(s.sums[name]) }
	for _, name := range []string{"bare ZINCRBY", "allocate", "allocate_url", "acquire", "acquire with its URL", "release, after acquire", "acquire, all busy", "acquire, the lowest busier"} {
		s.Logf("%9d members: %-28s %6.2f µs, %5.2f × allocate, %5.2f × bare", s.n, name, least(name), least(name)/least("allocate"), least(name)/least("bare ZINCRBY"))
	}
	s.ReportMetric(least("allocate")/least("bare ZINCRBY"), "allocate/bare")
	s.ReportMetric(least("acquire")/least("allocate"), "acquire/allocate")
}
