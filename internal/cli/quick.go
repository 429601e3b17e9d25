package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"proxyward/checks/endpoint"
	"proxyward/internal/cli/screen"
	"proxyward/internal/sources"
)

// quickFlags make a check without a configuration file.
type quickFlags struct {
	list, target, scheme string
}

func (q *quickFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&q.list, "list", "", "list of proxies, one a line: URL, host:port, user:pass@host:port or host:port:user:pass (`FILE`)")
	c.Flags().StringVar(&q.target, "target", "", "`URL` to fetch through each proxy; an answer of 200 to 299 passes")
	c.Flags().StringVar(&q.scheme, "scheme", "", "scheme of lines that name none: "+strings.Join(endpoint.Schemes, ", ")+" (default http)")
	_ = c.RegisterFlagCompletionFunc("scheme", cobra.FixedCompletions(endpoint.Schemes, cobra.ShellCompDirectiveNoFileComp))
}

func (q *quickFlags) any() bool { return q.list != "" || q.target != "" || q.scheme != "" }

// shownRejects is how many refused lines are told one by one.
const shownRejects = 5

// judgeList tells which lines were refused; a list without any endpoint is an error.
func (a *app) judgeList(name string, l sources.List) error {
	for i, r := range l.Rejected {
		if i == shownRejects {
			a.note("%s: and %s more refused; `proxyward import --dry-run` tells all", name, screen.Count(int64(len(l.Rejected)-i), "line"))
			break
		}
		a.note("%s: line %d refused: %s", name, r.Line, r.Reason)
	}
	if len(l.Accepted) > 0 {
		return nil
	}
	if len(l.Rejected) > 0 {
		return fmt.Errorf("%s names no endpoint: not one of its %s can be read", name, screen.Count(int64(len(l.Rejected)), "line"))
	}
	return fmt.Errorf("%s names no endpoint: it is empty", name)
}
