// Command fetch gets a page through a pool: `fetch URL [COUNT]`. Settings are the environment's
// REDIS_URL, CHECK, PROXYWARD_LUA (the directory of the scripts), JOB_LIMIT and WAIT (seconds), JOB_CAP.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	worker "proxyward/examples/go"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: fetch URL [COUNT]")
		os.Exit(2)
	}
	count := 1
	if len(os.Args) > 2 {
		count, _ = strconv.Atoi(os.Args[2])
	}
	if err := fetch(os.Args[1], count); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fetch(page string, count int) error {
	options, err := redis.ParseURL(cmp.Or(os.Getenv("REDIS_URL"), "redis://127.0.0.1:6379/0"))
	if err != nil {
		return errors.New("REDIS_URL is no URL of Redis") // err would show it, with its password
	}
	options.MaxRetries = -1 // a lost reply would be counted twice
	client := redis.NewClient(options)
	defer client.Close()
	jobCap, _ := strconv.Atoi(os.Getenv("JOB_CAP"))
	lua := cmp.Or(os.Getenv("PROXYWARD_LUA"), "lua")
	pool, err := worker.New(client, os.DirFS(lua), worker.Config{
		Check: cmp.Or(os.Getenv("CHECK"), "default"), Wait: seconds("WAIT"), JobLimit: seconds("JOB_LIMIT"), JobCap: jobCap,
	})
	if err != nil {
		return fmt.Errorf("%w in %s: copy it there, or name it by PROXYWARD_LUA", err, lua)
	}
	through := ""
	transport := worker.NewTransport(pool)
	transport.Took = func(_ *http.Request, endpoint string) { through = " through " + endpoint }
	defer transport.CloseIdleConnections()
	browser := &http.Client{Transport: transport, Timeout: cmp.Or(seconds("WAIT"), 30*time.Second) + 20*time.Second}
	failed := 0
	for range count {
		through = ""
		n, status, err := get(browser, page)
		var outer *url.Error
		switch {
		case errors.Is(err, worker.ErrEmpty):
			return err
		case errors.As(err, &outer):
			fmt.Printf("failed: %v%s\n", outer.Err, through)
			failed++
		case err != nil:
			fmt.Printf("failed: %v%s\n", err, through)
			failed++
		default:
			fmt.Printf("%d %d bytes%s\n", status, n, through)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d requests failed", failed, count)
	}
	return nil
}

func get(c *http.Client, page string) (n int64, status int, err error) {
	r, err := c.Get(page)
	if err != nil {
		return 0, 0, err
	}
	defer r.Body.Close()
	n, err = io.Copy(io.Discard, r.Body)
	return n, r.StatusCode, err
}

func seconds(name string) time.Duration {
	s, _ := strconv.ParseFloat(os.Getenv(name), 64)
	return time.Duration(s * float64(time.Second))
}
