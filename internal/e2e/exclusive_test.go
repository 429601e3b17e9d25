package e2e_test

import (
	"context"
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"proxyward/internal/testenv"
)

const exclusiveYAML = `
redis: SERVER
admin: {listen: ""}
checks:
  - name: c
    request: {url: "http://target.example/catalogue", timeout: 4s}
    expect: {status: [200], body_contains: ["the catalogue"]}
    endpoints: [{file: "LIST"}]
    jobs: true
`

const (
	loneWorker  = "PROXYWARD_TEST_LONE_WORKER" // in the environment: this process is a worker, not a test
	loneLimit   = 3 * time.Second              // of a job
	loneMembers = 4
	loneWorkers = 8
	loneLife    = 2 * time.Minute // of a worker whom nobody kills
	loneAtLeast = 200             // jobs that make a test mean something
	loneTicks   = 4 * time.Second
)

// workAlone takes proxies with a cap of 1 until it is killed, and prints a line for each job:
// its endpoint, and "twice" if another process works with it. A file's lock, which the kernel
// takes from a process that dies, tells them apart. how is a Sentinel group's addresses, with
// commas between, or one server's; the directory of the locks is the working directory.
func workAlone(how string) int {
	addrs := strings.Split(how, ",")
	options := &redis.UniversalOptions{Addrs: addrs, MaxRetries: -1, PoolSize: 1}
	if len(addrs) > 1 {
		options.MasterName = testenv.SentinelMaster
	}
	client := redis.NewUniversalClient(options).(*redis.Client)
	for end := time.Now().Add(loneLife); time.Now().Before(end); {
		took, err := workOnce(client, len(addrs) > 1)
		switch {
		case err != nil:
			time.Sleep(50 * time.Millisecond) // the master is away
		case took != "":
			fmt.Println(took)
		default:
			time.Sleep(5 * time.Millisecond) // nobody is free
		}
	}
	return 0
}

// workOnce is one job. With replicas, it begins once one of them knows of it.
func workOnce(client *redis.Client, replicas bool) (took string, err error) {
	const k = "proxyward:{c}:"
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	conn := client.Conn() // WAIT is about what this connection wrote
	defer conn.Close()
	given := time.Now()
	reply, err := lua("acquire").Run(ctx, conn, []string{k + "eligible", k + "inflight", k + "jobs", k + "clock"}, loneLimit.Milliseconds(), 1).StringSlice()
	if err == redis.Nil {
		return "", nil
	} else if err != nil {
		return "", err
	}
	if replicas {
		if n, err := conn.Wait(ctx, 1, 500*time.Millisecond).Result(); err != nil || n < 1 {
			return "", fmt.Errorf("no replica has it: %v", err) // its limit ends it
		}
	}
	took = reply[0]
	lock, err := os.OpenFile(fmt.Sprintf("%x", sha1.Sum([]byte(took))), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return took + " twice", nil
	}
	time.Sleep(time.Duration(5+rand.IntN(50)) * time.Millisecond)
	if time.Since(given) > loneLimit { // this machine stood still: the job was over, and another may have begun
		return "", nil
	}
	lock.Close()
	return took, lua("release").Run(ctx, conn, []string{k + "inflight", k + "jobs", k + "engaged", k + "reports"}, reply[1], "passed").Err()
}

func lua(name string) *redis.Script {
	text, err := os.ReadFile(os.Getenv("PROXYWARD_LUA") + "/" + name + ".lua")
	if err != nil {
		panic(err)
	}
	return redis.NewScript(string(text))
}

// alone is a pool of a few, whom processes take for themselves alone.
type alone struct {
	t      *testing.T
	config string
	how    string
	dir    string
	procs  []*exec.Cmd
	out    stream // of all workers
	err    stream
	killed int
}

// takenAlone starts a daemon, and workers that kill drives.
func takenAlone(t *testing.T, server, how string) *alone {
	t.Helper()
	farm := testenv.NewFarm(t, loneMembers)
	var list strings.Builder
	for i := range loneMembers {
		fmt.Fprintln(&list, farm.ID(i))
	}
	farm.Answer(testenv.Good)
	x := &alone{t: t, how: how, dir: t.TempDir(), config: yaml(t, exclusiveYAML, "SERVER", server, "LIST", file(t, "list", list.String()))}
	start(t, "--config", x.config)
	testenv.Eventually(t, 40*time.Second, "all are eligible and counted", func() bool {
		o := proxyward(t, "fsck", "--config", x.config)
		return o.code == 0 && len(lines(ok(t, "endpoints", "--config", x.config, "--state", "eligible", "--json"))) == loneMembers
	})
	for range loneWorkers {
		x.procs = append(x.procs, x.worker())
	}
	t.Cleanup(func() {
		for i := range x.procs {
			x.kill(i)
		}
		if t.Failed() {
			t.Logf("the workers said:\n%s", end(x.err.String()))
		}
	})
	return x
}

func (x *alone) worker() *exec.Cmd {
	x.t.Helper()
	scripts, err := filepath.Abs("../../store/lua")
	if err != nil {
		x.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Dir, cmd.Stdout, cmd.Stderr = x.dir, &x.out, &x.err
	cmd.Env = append(os.Environ(), loneWorker+"="+x.how, "PROXYWARD_LUA="+scripts)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	return cmd
}

func (x *alone) kill(i int) {
	x.procs[i].Process.Kill()
	x.procs[i].Wait()
}

// jobs waits for so many more jobs, and kills workers meanwhile.
func (x *alone) jobs(n int) {
	x.t.Helper()
	before := len(lines(x.out.String()))
	testenv.Eventually(x.t, 40*time.Second, strconv.Itoa(n)+" more jobs", func() bool {
		i := rand.IntN(loneWorkers)
		x.kill(i)
		x.procs[i] = x.worker()
		x.killed++
		time.Sleep(300 * time.Millisecond)
		return len(lines(x.out.String())) >= before+n
	})
}

// ended kills all workers, and checks that their jobs end and nobody worked beside another.
func (x *alone) ended(client redis.UniversalClient) {
	x.t.Helper()
	for i := range x.procs {
		x.kill(i)
	}
	died := time.Now()
	testenv.Eventually(x.t, 30*time.Second, "no job is left", func() bool {
		n, err := client.ZCard(x.t.Context(), "proxyward:{c}:jobs").Result()
		return err == nil && n == 0
	})
	if took := time.Since(died); took > loneLimit+loneTicks {
		x.t.Errorf("the jobs of killed workers were over after %v", took)
	}
	all := lines(x.out.String())
	for _, line := range all {
		if !strings.HasPrefix(line, "http://") || strings.HasSuffix(line, " twice") {
			x.t.Errorf("a worker says: %s", line)
		}
	}
	if o := proxyward(x.t, "fsck", "--config", x.config); o.code != 0 {
		x.t.Errorf("fsck: %s%s", o.out, o.err)
	}
	x.t.Logf("FIGURE a cap of 1: %d jobs, %d workers killed, nobody shared a proxy", len(all), x.killed)
}

func TestNobodySharesAProxyThroughFailovers(t *testing.T) {
	t.Parallel()
	servers, sentinels := testenv.Sentinels(t)
	addrs := testenv.Addrs(sentinels)
	x := takenAlone(t, fmt.Sprintf("{sentinel: {master: %s, addresses: [%q, %q, %q]}}", testenv.SentinelMaster, addrs[0], addrs[1], addrs[2]), strings.Join(addrs, ","))
	x.jobs(loneAtLeast)
	servers[testenv.Master(t, sentinels[0], servers)].Kill()
	x.jobs(loneAtLeast)
	testenv.Promote(t, sentinels[0], servers)
	x.jobs(loneAtLeast)
	client := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: testenv.SentinelMaster, SentinelAddrs: addrs})
	defer client.Close()
	x.ended(client)
}

func TestNobodySharesAProxyWhileTheClockMoves(t *testing.T) {
	t.Parallel()
	clock, path, port := testenv.NewClock(t), testenv.Program(t, "redis-server"), testenv.Port(t)
	testenv.StartBy(t, clock.Begin, path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir())
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	testenv.WaitTCP(t, addr)
	x := takenAlone(t, fmt.Sprintf("{url: %q}", "redis://"+addr+"/0"), addr)
	for _, by := range []time.Duration{0, time.Hour, -time.Hour, -day, day} {
		clock.Step(t, by)
		x.jobs(loneAtLeast)
	}
	x.ended(testenv.Client(t, "redis://"+addr+"/0"))
}
