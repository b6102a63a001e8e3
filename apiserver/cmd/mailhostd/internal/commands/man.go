package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/mailhost/terraform-provider-mailhost/apiserver/cmd/mailhostd/internal/cli"
)

type manCommand struct{}

// Run prints the manual page, with the text of every --help, in the macros of man(7).
func (manCommand) Run(p cli.Program, app *kong.Kong) error {
	var page strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&page, format+"\n", a...) }
	line(`.TH MAILHOSTD 1 "" "mailhostd %s"`, p.Version())
	line(".SH NAME\nmailhostd \\- %s", manText(app.Model.Help))
	line(".SH SYNOPSIS\n.B mailhostd\n.I command\n[flags]")
	group := ""
	for _, command := range app.Model.Leaves(true) {
		if g := command.ClosestGroup(); g != nil && g.Title != group {
			group = g.Title
			line(".SH %s", strings.ToUpper(manText(strings.TrimSuffix(group, ":"))))
		}
		line(".SS mailhostd %s", manText(command.Summary()))
		line("%s", manText(command.Help))
		if command.Detail != "" {
			line("%s", strings.TrimSuffix(manDetail(command.Detail+"\n"), "\n"))
		}
		for _, arg := range command.Positional {
			line(".TP\n.I %s\n%s", manText(arg.Summary()), manText(helpText(arg)))
		}
		for _, flag := range command.Flags {
			if !flag.Hidden {
				line(".TP\n.B %s\n%s", manText(flag.String()), manText(helpText(flag.Value)))
			}
		}
	}
	line(".SH ENVIRONMENT\nA variable sets each flag that names one. The flag has precedence, and an empty variable is ignored.")
	line(".SH EXIT STATUS\n0 on success, 1 on failure, 2 for an invalid command line.")
	_, err := io.WriteString(p.Stdout, page.String())
	return err
}

// manText escapes text for a manual page, in which a dot or a quote at the beginning of a line starts a macro.
func manText(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// manDetail formats a longer help text. It keeps the lines of an indented example.
func manDetail(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, " ") {
			fmt.Fprintf(&b, ".nf\n%s.fi\n", manText(line))
		} else {
			fmt.Fprintf(&b, ".PP\n%s", manText(line))
		}
	}
	return b.String()
}
