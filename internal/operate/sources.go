package operate

import (
	"proxyward/internal/sources"
	"proxyward/scheduler"
)

// SourceName is what records and metrics call a list, without anything secret.
func SourceName(s scheduler.Source) string {
	if s.URL != "" {
		return sources.Remote{URL: s.URL}.Name()
	}
	return sources.Name(s.File)
}
