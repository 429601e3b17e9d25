package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manName is the name of a command's page: proxyward-run for `proxyward run`.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is a command's manual page (man(7)), made of what --help says.
func manPage(c *cobra.Command, version string) string {
	var p roff
	p.macro("TH", strings.ToUpper(manName(c)), "1", "", "proxyward "+version, "proxyward")
	p.macro("SH", "NAME")
	p.text(manName(c) + " - " + c.Short)
	p.macro("SH", "SYNOPSIS")
	p.literal(c.UseLine())
	if c.Long != "" {
		p.macro("SH", "DESCRIPTION")
		p.prose(c.Long)
	}
	p.commands(c)
	p.macro("SH", "OPTIONS")
	c.NonInheritedFlags().VisitAll(p.flag)
	if c.Example != "" {
		p.macro("SH", "EXAMPLES")
		p.literal(c.Example)
	}
	p.surroundings(c)
	return p.String()
}

// surroundings is what holds for all commands: it stands on the page of the program.
func (p *roff) surroundings(c *cobra.Command) {
	if c.HasParent() {
		p.macro("SH", "SEE ALSO")
		p.text(c.Root().Name() + "(1)")
		return
	}
	p.macro("SH", "FILES")
	for _, f := range [][2]string{
		{"proxyward.yaml", "The configuration where --config names no other."},
		{"/etc/proxyward/proxyward.yaml", "The configuration of the service."},
		{"/etc/credstore/proxyward.*", "Secrets that systemd hands to the service (systemd.exec(5), LoadCredential=)."},
	} {
		p.item(f[0], f[1])
	}
	p.macro("SH", "ENVIRONMENT")
	p.item("CREDENTIALS_DIRECTORY", "Where files that the configuration names without a path are: password_file, ${file:NAME}.")
	p.macro("SH", "EXIT STATUS")
	for _, s := range [][2]string{{"0", "Yes."}, {"1", "The answer is no."}, {"2", "The input or the surroundings are wrong."}} {
		p.item(s[0], s[1])
	}
}

// commands lists the commands below c.
func (p *roff) commands(c *cobra.Command) {
	if !c.HasAvailableSubCommands() {
		return
	}
	p.macro("SH", "COMMANDS")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			p.item(manName(sub)+"(1)", sub.Short+".")
		}
	}
}

// flag is one entry of the options.
func (p *roff) flag(f *pflag.Flag) {
	if f.Hidden {
		return
	}
	word, usage := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if word != "" {
		name += " " + word
	}
	p.item(name, usage)
}

// roff writes the few macros that a page needs.
type roff struct{ strings.Builder }

func (p *roff) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, a := range args {
		fmt.Fprintf(p, ` "%s"`, strings.ReplaceAll(escape(a), `"`, `\(dq`))
	}
	p.WriteString("\n")
}

// text is one paragraph's lines.
func (p *roff) text(s string) {
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			p.WriteString(`\&`) // else it would be a macro
		}
		p.WriteString(escape(line) + "\n")
	}
}

// prose is paragraphs; one with a column in it, as a list of commands has, keeps its lines.
func (p *roff) prose(s string) {
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		if strings.Contains(paragraph, "   ") {
			p.literal(paragraph)
			continue
		}
		p.macro("PP")
		p.text(paragraph)
	}
}

// literal keeps lines and columns.
func (p *roff) literal(s string) {
	p.macro("PP")
	p.macro("nf")
	p.text(s)
	p.macro("fi")
}

// item is a term and what it means.
func (p *roff) item(term, what string) {
	p.macro("TP")
	p.macro("B", term)
	p.text(what)
}

// escape keeps roff from reading signs of its own, and hyphens as they are typed.
func escape(s string) string { return strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(s) }
