// Command proxyward owns eligibility in pools of proxies that workers share through Redis.
package main

import (
	"os"

	"proxyward/internal/cli"
)

func main() { os.Exit(cli.Main()) }
