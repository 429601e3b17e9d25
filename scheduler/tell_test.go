package scheduler_test

import (
	"testing"
	"time"

	"proxyward/internal/testenv"
	"proxyward/store/record"
)

// What a list does to an endpoint is a line with its name, as what a probe does.
func TestEachMoveIsALine(t *testing.T) {
	t.Parallel()
	list, c, p, farm, url := refreshed(t)
	writeList(t, list, listed(farm, 0, 3)...)
	logs := watched(t, url, c)
	testenv.Eventually(t, 20*time.Second, "3 eligible", func() bool { return states(t, p)[record.Eligible] == 3 })
	writeList(t, list, listed(farm, 0, 2)...)
	testenv.Eventually(t, 20*time.Second, "one is retired", func() bool { return states(t, p)[record.Disabled] == 1 })
	testenv.Eventually(t, 5*time.Second, "each is told", func() bool {
		told := map[string]string{}
		for _, e := range logs.FilterMessage("moved").All() {
			m := e.ContextMap()
			told[m["endpoint"].(string)] += m["by"].(string) + " " + m["to"].(string) + " "
		}
		return told[farm.ID(0)] == "source candidate probe eligible " && told[farm.ID(2)] == "source candidate probe eligible source disabled "
	})
}
