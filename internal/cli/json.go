package cli

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"
)

func jsonFlag(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "print JSON, one value a line")
}

// printJSON writes one value on one line.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func msDuration(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
