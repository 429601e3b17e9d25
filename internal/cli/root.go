package cli

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

const (
	groupRun   = "run"
	groupLook  = "look"
	groupAct   = "act"
	groupTools = "tools"
)

// root is the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "proxyward",
		Short: "Keeps pools of proxies eligible for workers that share them through Redis",
		Long: `proxyward owns eligibility in a pool of HTTP and SOCKS proxies. Workers take the
least-allocated eligible proxy from Redis with one tiny script; proxyward alone decides
who is eligible, by running the workers' own kind of request through each proxy.

See it work, with nothing to set up:    proxyward demo
Your proxies, your target:              proxyward run --list proxies.txt --target https://shop.example/
A worker, in another terminal:          proxyward allocate
Why is this proxy out?                  proxyward explain http://192.0.2.1:8080

Exit status: 0 yes, 1 the answer is no, 2 the input or the surroundings are wrong.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,

		SuggestionsMinimumDistance: 2,

		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = readVersion(debug.ReadBuildInfo()).String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%s: see `%s --help`", flagWords(err), cmd.CommandPath())
	})
	root.AddGroup(
		&cobra.Group{ID: groupRun, Title: "Running:"},
		&cobra.Group{ID: groupLook, Title: "Looking:"},
		&cobra.Group{ID: groupAct, Title: "Acting on endpoints:"},
		&cobra.Group{ID: groupTools, Title: "Tools:"},
	)
	a.addTo(root, groupRun, a.runCommand(), a.demoCommand(), a.validateCommand(), a.planCommand(), a.probeCommand())
	a.addTo(root, groupLook, a.statusCommand(), a.endpointsCommand(), a.explainCommand(), a.fsckCommand(), a.doctorCommand(), a.workerCheckCommand())
	a.addTo(root, groupAct, a.recheckCommand(), a.disableCommand(), a.enableCommand(), a.forgetCommand(),
		a.purgeCommand(), a.importCommand(), a.exportCommand(), a.allocateCommand())
	a.addTo(root, groupTools, a.versionCommand(), a.manCommand(), a.reloadCommand())
	root.SetHelpCommandGroupID(groupTools)
	root.SetCompletionCommandGroupID(groupTools)
	return root
}

func (a *app) addTo(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}

// noCommand refuses a word that is no command. It is not repeated when it may hold a password.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	words := "unknown command"
	if !strings.ContainsAny(args[0], ":@/") {
		words += " " + fmt.Sprintf("%q", args[0])
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			words += ", did you mean " + strings.Join(near, " or ")
		}
	}
	return errors.New(words + ": see `proxyward --help`")
}

// flagWords is what is wrong with a flag, without its value: it may be a URL with a password.
func flagWords(err error) string {
	words := err.Error()
	if rest, found := strings.CutPrefix(words, "invalid argument "); found {
		if _, after, found := strings.Cut(rest, " for "); found {
			flag, why, _ := strings.Cut(after, " flag: ")
			if strings.ContainsAny(why, "@") {
				why = "bad value"
			}
			return "bad value for " + strings.Trim(flag, `"`) + ": " + why
		}
	}
	if strings.ContainsAny(words, "@") {
		return "a flag that does not exist, or a bad value"
	}
	return words
}

// exactly is how many arguments a command takes, told in words.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == n:
			return nil
		case n == 0:
			return fmt.Errorf("%s takes no arguments: see `%s --help`", cmd.Name(), cmd.CommandPath())
		}
		return fmt.Errorf("%s takes %s: see `%s --help`", cmd.Name(), what, cmd.CommandPath())
	}
}
