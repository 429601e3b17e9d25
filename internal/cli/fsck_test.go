package cli

import (
	"context"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
)

// rawRedis COMMAND ARG... is sent to the Redis of the script as it is, behind the program's back.
func rawRedis(ts *testscript.TestScript, neg bool, args []string) {
	options, err := redis.ParseURL(ts.Getenv("REDIS"))
	ts.Check(err)
	c := redis.NewClient(options)
	defer c.Close()
	command := make([]any, len(args))
	for i, arg := range args {
		command[i] = arg
	}
	if err := c.Do(context.Background(), command...).Err(); (err != nil && err != redis.Nil) != neg {
		ts.Fatalf("%v: %v", args, err)
	}
}
