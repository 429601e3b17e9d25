package metrics

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

const docFile = "../../docs/metrics.md"

const docHead = `# Metrics

<!-- Made from the table in internal/metrics/families.go: go test ./internal/metrics -update -->

` + "`run`" + ` serves them at ` + "`/metrics`" + ` of its admin interface ([admin.md](admin.md)), in Prometheus' text format. Where a token is set,
Prometheus needs it too:

    scrape_configs:
      - job_name: proxyward
        authorization: {credentials_file: /etc/prometheus/proxyward-token}
        static_configs: [{targets: ["127.0.0.1:9180"]}]

No label carries an endpoint: their number has no bound. What stands under *pool* is read from Redis when somebody asks,
at most once a second, and is the same from every daemon of a fleet: take ` + "`max by (check)`" + `, not the sum. What stands
under *daemon* counts in one process, from its start. While Redis is away the pools' metrics are missing, and
` + "`proxyward_redis_up`" + ` is 0. The usual ` + "`go_…`" + ` and ` + "`process_…`" + ` are there as well.

[configs/alerts.yaml](../configs/alerts.yaml) has alert rules on these, [runbook.md](runbook.md) what to do.

`

// doc is docs/metrics.md.
func doc() string {
	var b strings.Builder
	b.WriteString(docHead)
	b.WriteString("| metric | kind | labels | of | meaning |\n|---|---|---|---|---|\n")
	for _, f := range families {
		of := "daemon"
		if pooled[f.name] {
			of = "pool"
		}
		labels := ""
		for _, l := range f.labels {
			labels += "`" + l + "` "
		}
		fmt.Fprintf(&b, "| `%s%s` | %s | %s | %s | %s |\n", prefix, f.name, f.kind, strings.TrimSpace(labels), of, f.help)
	}
	return b.String()
}

func TestDocumentationIsTheTable(t *testing.T) {
	if *update {
		if err := os.WriteFile(docFile, []byte(doc()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != doc() {
		t.Error("docs/metrics.md is not what the table says: go test ./internal/metrics -update")
	}
}

// pooled are the families that sendPool sends.
var pooled = func() map[string]bool {
	all := map[string]bool{}
	p, _ := full(context.Background(), "")
	sendPool(func(f family, _ float64, _ ...string) { all[f.name] = true }, "c", p)
	return all
}()
