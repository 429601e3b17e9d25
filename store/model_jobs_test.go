package store_test

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// task is one job in the model.
type task struct {
	token, id string
	ends      int64 // pool time
}

// jobsOf is how many live jobs an endpoint has.
func (tr *trace) jobsOf(id string) (n int64) {
	for _, j := range tr.tasks {
		if j.id == id {
			n++
		}
	}
	return n
}

// idlest is the member that acquire gives next.
func (tr *trace) idlest(most int64) (id string) {
	for _, i := range tr.sorted() {
		e, n := tr.ends[i], tr.jobsOf(i)
		if !e.member() || most > 0 && n >= most {
			continue
		}
		if best := tr.jobsOf(id); id == "" || n < best || n == best && e.kept < tr.ends[id].kept {
			id = i
		}
	}
	return id
}

func (tr *trace) acquire(t *rapid.T) {
	limit, most := time.Duration(rapid.SampledFrom([]int{5, 15, 60, 1400}).Draw(t, "minutes"))*time.Minute, rapid.IntRange(0, 3).Draw(t, "cap")
	j, ok, err := tr.pool.Acquire(tr.ctx, limit, most)
	tr.must(t, err)
	if want := tr.idlest(int64(most)); j.Endpoint != want || ok != (want != "") {
		t.Fatalf("acquired %q, want %q", j.Endpoint, want)
	}
	if ok {
		tr.ends[j.Endpoint].kept++
		tr.tasks, tr.tokens = append(tr.tasks, task{j.Token, j.Endpoint, tr.now(t) + limit.Milliseconds()}), append(tr.tokens, j.Token)
	}
}

// release ends a job that was ever given out, live or not.
func (tr *trace) release(t *rapid.T) {
	if len(tr.tokens) == 0 {
		t.Skip("no job")
	}
	token := rapid.SampledFrom(tr.tokens).Draw(t, "token")
	at := slices.IndexFunc(tr.tasks, func(j task) bool { return j.token == token })
	ended, err := tr.pool.Release(tr.ctx, token)
	tr.must(t, err)
	if ended != (at >= 0) {
		t.Fatalf("released %s: %v, want %v", token, ended, at >= 0)
	}
	if ended {
		tr.tasks = slices.Delete(tr.tasks, at, at+1)
	}
}

func (tr *trace) abandon(t *rapid.T) {
	now, before := tr.now(t), len(tr.tasks)
	tr.tasks = slices.DeleteFunc(tr.tasks, func(j task) bool { return j.ends <= now })
	r, err := tr.pool.AbandonJobs(tr.ctx)
	tr.must(t, err)
	if r.Ended != before-len(tr.tasks) {
		t.Fatalf("%d abandoned, want %d", r.Ended, before-len(tr.tasks))
	}
	if tr.counting = true; !r.Whole {
		next, _, err := tr.pool.FillJobs(tr.ctx, 0)
		tr.must(t, err)
		if next != 0 {
			t.Fatal("a small set takes two reads")
		}
	}
}

func (tr *trace) drop(t *rapid.T) {
	dropped, _, err := tr.pool.DropJobs(tr.ctx)
	tr.must(t, err)
	if dropped != tr.counting {
		t.Fatalf("dropped %v, counted %v", dropped, tr.counting)
	}
	if tr.counting {
		tr.counting, tr.tasks = false, nil
	}
}

// compareJobs is I8: while they are counted, in the very keys; else no job is lost.
func (tr *trace) compareJobs(t *rapid.T) {
	key := func(part string) string { return "proxyward:{" + tr.pool.Name() + "}:" + part }
	tx := tr.raw.TxPipeline()
	jobs, inflight, engaged := tx.ZRange(tr.ctx, key("jobs"), 0, -1), tx.ZRangeWithScores(tr.ctx, key("inflight"), 0, -1), tx.HGetAll(tr.ctx, key("engaged"))
	_, err := tx.Exec(tr.ctx)
	tr.must(t, err)
	in := map[string]int64{}
	for _, z := range inflight.Val() {
		in[z.Member.(string)] = int64(z.Score)
	}
	for _, id := range tr.sorted() {
		away, n := int64(0), tr.jobsOf(id)
		fmt.Sscan(engaged.Val()[id], &away)
		got, is := in[id]
		wrong := got+away != n
		if tr.counting {
			wrong = wrong || is != tr.ends[id].member() || is && away != 0 || away == 0 && engaged.Val()[id] != ""
		}
		if wrong {
			t.Fatalf("%s has %d jobs; in inflight: %v, with %d; in engaged: %d", id, n, is, got, away)
		}
	}
	if len(jobs.Val()) != len(tr.tasks) {
		t.Fatalf("%d jobs, want %d", len(jobs.Val()), len(tr.tasks))
	}
}
