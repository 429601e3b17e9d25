package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// What a package says of its build (-ldflags "-X proxyward/internal/cli.version=…"). Empty:
// what Go wrote into the binary counts.
var version, revision, built string

type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
	Time     string `json:"time,omitempty"`     // of the revision, RFC 3339
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			v := readVersion(debug.ReadBuildInfo())
			if asJSON {
				return a.printJSON(v)
			}
			_, err := fmt.Fprintln(a.out, v)
			return err
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func readVersion(info *debug.BuildInfo, ok bool) versionJSON {
	v := writtenVersion(info, ok)
	if version != "" {
		v.Version, v.Revision, v.Time, v.Modified = version, revision, built, false
	}
	return v
}

// writtenVersion is what Go wrote into the binary.
func writtenVersion(info *debug.BuildInfo, ok bool) versionJSON {
	v := versionJSON{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		return v
	}
	if v.Version = info.Main.Version; v.Version == "" {
		v.Version = "(devel)"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "vcs.time":
			v.Time = s.Value
		}
	}
	return v
}

func (v versionJSON) String() string {
	text := "proxyward " + v.Version
	if v.Revision != "" {
		text += " (" + v.Revision[:min(12, len(v.Revision))]
		if v.Modified {
			text += ", modified"
		}
		text += ")"
	}
	if v.Time != "" {
		text += " of " + v.Time
	}
	return text + " " + v.Go + " " + v.Platform
}
