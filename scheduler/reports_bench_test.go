package scheduler

import (
	"context"
	"testing"

	"proxyward/internal/testenv"
)

// BenchmarkReports is one daemon reading and applying 1,000 reports about three endpoints.
func BenchmarkReports(b *testing.B) {
	f := newReaders(b, testenv.Redis(b), "c", 1)
	ms := 0
	for b.Loop() {
		b.StopTimer()
		for range 1000 {
			ms++
			if err := f.write(endpointNo(ms%3), []string{"failed", "ok"}[ms%2], "w", ms); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		f.all[0].round(context.Background())
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/report")
}
