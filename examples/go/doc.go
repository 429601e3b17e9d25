// Package worker is a worker of a proxyward pool: an http.RoundTripper that takes a proxy from
// Redis for each request. Copy it, and the scripts in store/lua, into your own module.
//
//	scripts := os.DirFS("lua") // or an embed.FS
//	pool, err := worker.New(redis.NewClient(options), scripts, worker.Config{Check: "catalogue"})
//	client := &http.Client{Transport: worker.NewTransport(pool), Timeout: time.Minute}
//
// The client's Timeout includes the wait for a proxy, Config.Wait.
//
// A proxy that fails is reported, by its id. The URL with its password goes to net/http and
// nowhere else.
package worker
