package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"proxyward/configs"
	"proxyward/internal/cli/screen"
	"proxyward/internal/sources"
	"proxyward/scheduler"
)

type validateJSON struct {
	OK       bool        `json:"ok"`
	File     string      `json:"file"`
	Faults   []faultJSON `json:"faults"`
	Warnings []string    `json:"warnings"`
	Checks   []string    `json:"checks"`
}

type faultJSON struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Path   string `json:"path"`
	What   string `json:"what"`
}

func (a *app) validateCommand() *cobra.Command {
	var file string
	var schema, asJSON bool
	c := &cobra.Command{
		Use:   "validate",
		Short: "Check a configuration file: every fault at once, with line and column",
		Example: `  proxyward validate --config proxyward.yaml
  proxyward validate --schema > proxyward.schema.json`,
		Args: exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			if schema {
				_, err := fmt.Fprintln(a.out, strings.TrimSpace(string(configs.Schema())))
				return err
			}
			return a.validate(file, asJSON)
		},
	}
	c.Flags().StringVar(&file, "config", defaultConfig, "configuration `FILE`")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON schema of the file instead")
	jsonFlag(c, &asJSON)
	return c
}

func (a *app) validate(file string, asJSON bool) error {
	config, err := configs.Load(file)
	v := validateJSON{OK: err == nil, File: file, Faults: []faultJSON{}, Warnings: []string{}, Checks: []string{}}
	var faults *configs.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if faults != nil {
		for _, f := range faults.List {
			v.Faults = append(v.Faults, faultJSON{f.File, f.Line, f.Column, f.Path, f.Msg})
		}
	} else {
		config.Warnings = append(config.Warnings, unreadable(config.Checks)...)
		v.Warnings = append(v.Warnings, config.Warnings...)
		for _, c := range config.Checks {
			v.Checks = append(v.Checks, c.Name)
		}
	}
	if asJSON {
		if err := a.printJSON(v); err != nil {
			return err
		}
	}
	if err == nil && !asJSON {
		a.printConfig(file, config)
	}
	return err
}

// unreadable are warnings of lists that cannot be read here and now.
func unreadable(checks []scheduler.Check) (warnings []string) {
	for _, c := range checks {
		for _, s := range c.Sources {
			if s.File == "" {
				continue
			}
			f, err := sources.Open(s.File) // which waits for no pipe
			if err != nil {
				warnings = append(warnings, fmt.Sprintf("check %s: its list cannot be read: %v; until then the check has nobody from it", c.Name, err))
				continue
			}
			f.Close()
		}
	}
	return warnings
}

func (a *app) printConfig(file string, c *configs.Config) {
	style := a.style()
	for _, w := range c.Warnings {
		fmt.Fprintf(a.out, "%s  %s\n", style.Paint(screen.Warn, "warning"), w)
	}
	fmt.Fprintf(a.out, "%s  %s: %s\n", style.Paint(screen.Good, "ok"), file, screen.Count(int64(len(c.Checks)), "check"))
	t := screen.Table{Columns: []screen.Column{{}, {}, {}, {}, {}}}
	for _, check := range c.Checks {
		t.Add(screen.C(""), screen.C(check.Name), screen.C(screen.Count(int64(len(check.Sources)), "list")),
			screen.C("every "+screen.Span(check.Policy.Recheck)), screen.C(fmt.Sprintf("trickle %d per %s", check.Trickle.PerTick, screen.Span(check.Trickle.Window))))
	}
	t.Write(a.out, style)
}
