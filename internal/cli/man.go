package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// manCommand writes the manual. It is for who makes a package, and listed nowhere.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of all commands into a directory",
		Hidden: true,
		Args:   exactly(1, "a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pages := manPages(cmd.Root(), readVersion(debug.ReadBuildInfo()).Version)
			for name, text := range pages {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return fmt.Errorf("write the manual: %w", err)
				}
			}
			a.note("%d pages written", len(pages))
			return nil
		},
	}
}

// manPages are the manual's pages by file name: one of the program, one a command.
func manPages(root *cobra.Command, version string) map[string]string {
	root.InitDefaultHelpFlag()
	pages := map[string]string{"proxyward.1": manPage(root, version)}
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		c.InitDefaultHelpFlag()
		pages[manName(c)+".1"] = manPage(c, version)
	}
	return pages
}
