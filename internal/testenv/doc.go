// Package testenv starts the real servers that tests run against: Redis and proxies.
//
// A test asks for one; where the program is not installed the test is skipped, unless
// PROXYWARD_REQUIRE is set (the CI sets it): then it fails. Everything listens on loopback,
// keeps its files below the test's own folder and ends with the test.
package testenv
