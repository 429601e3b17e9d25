// Package e2e tests the built binary as its users meet it: with configuration files, real
// Redis servers, real proxies, signals and exit statuses. It holds tests only, and what
// they see they see from outside: output, Redis, the proxies' and the target's side.
package e2e
