package admin

import (
	"fmt"
	"testing"
	"time"

	"proxyward/internal/operate"
	"proxyward/internal/testenv"
)

// A page costs as much in a pool of a million as in a small one; one that a filter leaves
// empty ends in time all the same, and says where to go on.
func TestAMillionEndpoints(t *testing.T) {
	redis := testenv.Redis(t)
	d, client := serveOn(t, redis), testenv.Client(t, redis)
	const all, most = 1_000_000, 4 * time.Second
	for from := 0; from < all; from += 10_000 {
		fields := make([]any, 0, 20_000)
		for i := from; i < from+10_000; i++ {
			fields = append(fields, fmt.Sprintf("http://10.%d.%d.%d:80", i>>16, i>>8&255, i&255), `{"state":"cooling","stage":"connect","reason":"refused","sources":["file:/p.txt"]}`)
		}
		if err := client.HSet(t.Context(), "proxyward:{c}:endpoints", fields...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	met, cursor := map[string]bool{}, ""
	for range 20 {
		began := time.Now()
		p := get[operate.Page](d, "/api/v1/checks/c/endpoints?limit=1000&cursor="+cursor)
		for _, e := range p.Endpoints {
			met[e.Endpoint] = true
		}
		if took := time.Since(began); len(p.Endpoints) != 1000 || p.Next == "" || took > most {
			t.Fatalf("%d endpoints in %v, next %q", len(p.Endpoints), took, p.Next)
		}
		cursor = p.Next
	}
	if len(met) != 20_000 {
		t.Errorf("20 pages tell %d endpoints", len(met))
	}
	began := time.Now()
	p := get[operate.Page](d, "/api/v1/checks/c/endpoints?state=eligible")
	if took := time.Since(began); len(p.Endpoints) != 0 || p.Next == "" || p.Examined < 1000 || took > most {
		t.Errorf("%d endpoints of %d in %v, next %q", len(p.Endpoints), p.Examined, took, p.Next)
	}
	t.Logf("examined %d in %v", p.Examined, time.Since(began))
}
