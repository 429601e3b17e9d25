package cli

import (
	"fmt"
	"testing"

	"proxyward/checks/endpoint"
)

func TestQueueKeepsToTheLimitOfAHost(t *testing.T) {
	var list []endpoint.Endpoint
	for i := range 40 { // one gateway with many sessions in front, then others
		list = append(list, parsed(t, fmt.Sprintf("http://session%d:pw@192.0.2.1:1", i)))
	}
	list = append(list, parsed(t, "http://192.0.2.2:1"), parsed(t, "http://ann:right@192.0.2.3:1"), parsed(t, "http://ann:wrong@192.0.2.3:2"))
	q := newQueue(list, 3)
	var inFlight []endpoint.Endpoint
	seen := map[string]int{}
	for done := 0; done < len(list); {
		for {
			e, ok, _ := q.next()
			if !ok {
				break
			}
			inFlight = append(inFlight, e)
			seen[e.ID()]++
		}
		hosts, passwords := map[string]int{}, map[string]string{}
		for _, e := range inFlight {
			hosts[e.Host]++
			if p, busy := passwords[e.Host+e.User]; busy && p != e.Password() {
				t.Fatal("two passwords of one user at once")
			}
			passwords[e.Host+e.User] = e.Password()
			if hosts[e.Host] > 3 {
				t.Fatalf("%d to %s", hosts[e.Host], e.Host)
			}
		}
		if len(inFlight) == 0 {
			t.Fatal("nobody may go on")
		}
		if done == 0 && (hosts["192.0.2.1"] != 3 || hosts["192.0.2.2"] != 1 || hosts["192.0.2.3"] != 1) {
			t.Errorf("first in flight: %v", hosts)
		}
		q.leave(inFlight[0])
		inFlight = inFlight[1:]
		done++
	}
	if _, ok, more := q.next(); ok || more || len(seen) != len(list) {
		t.Errorf("%d of %d, more %v", len(seen), len(list), more)
	}
}

func parsed(t *testing.T, url string) endpoint.Endpoint {
	t.Helper()
	e, err := endpoint.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
