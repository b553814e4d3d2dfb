package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// The texts of a command are messages named after its path: help.config.show.short for
// "qa-orch config show", help.root.short for qa-orch itself:
//
//	help.PATH.short      one line, no full stop; required
//	help.PATH.long       paragraphs; the help begins with the short text if there is none
//	help.PATH.args       what follows the command in the usage line, such as "[NAME]"
//	help.PATH.examples   command lines, each under a comment
//	help.PATH.flags.NAME a flag's text; required unless help.flags.NAME has it for every command.
//	                     The name of the value, if it has one, stands in backquotes.
//
// They are read only when help, usage, completions or manuals are shown.

// helpID returns the id of a command's text.
func helpID(cmd *cobra.Command, what string) string {
	words := strings.Fields(cmd.CommandPath())[1:]
	if len(words) == 0 {
		words = []string{"root"}
	}
	return "help." + strings.Join(append(words, what), ".")
}

// flagHelpIDs returns the ids that may hold a flag's text, the first to be preferred.
func flagHelpIDs(cmd *cobra.Command, flag string) []string {
	return []string{helpID(cmd, "flags."+flag), "help.flags." + flag}
}

// fillTexts gives cmd and all commands under it their texts, for what reads them from there.
func (a *App) fillTexts(cmd *cobra.Command) {
	cmd.Short = a.First(helpID(cmd, "short"))
	cmd.Long = a.First(helpID(cmd, "long"))
	cmd.Example = a.First(helpID(cmd, "examples"))
	for _, set := range []*pflag.FlagSet{cmd.LocalNonPersistentFlags(), cmd.PersistentFlags()} {
		set.VisitAll(func(f *pflag.Flag) { f.Usage = a.First(flagHelpIDs(cmd, f.Name)...) })
	}
	for _, group := range cmd.Groups() {
		group.Title = a.Word(groupTitles, group.ID)
	}
	for _, sub := range cmd.Commands() {
		a.fillTexts(sub)
	}
}

// usageLine returns how the command is called.
func (a *App) usageLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	if cmd.HasAvailableSubCommands() {
		line += " " + a.T("frame.command")
	}
	if args := a.First(helpID(cmd, "args")); args != "" {
		line += " " + args
	}
	return line + " " + a.T("frame.flag")
}

// section is a titled part of a help page; rows are two columns.
type section struct {
	title string
	rows  []row
}

type row struct {
	left, right string
	role        theme.Role
}

// subcommands returns the commands under cmd by group.
func (a *App) subcommands(cmd *cobra.Command) []section {
	var sections []section
	groups := cmd.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: a.T("frame.commands")}}
	}
	for _, group := range groups {
		s := section{title: group.Title}
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				s.rows = append(s.rows, row{sub.Name(), sub.Short, theme.Command})
			}
		}
		sections = append(sections, s)
	}
	return sections
}

// flags returns the flags of cmd: its own and those it shares with every command.
func (a *App) flags(cmd *cobra.Command) []section {
	own, shared := section{title: a.T("frame.flags")}, section{title: a.T("frame.global-flags")}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && cmd.Root().PersistentFlags().Lookup(f.Name) == nil {
			own.rows = append(own.rows, a.flagRow(f))
		}
	})
	cmd.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shared.rows = append(shared.rows, a.flagRow(f))
		}
	})
	return []section{own, shared}
}

func (a *App) flagRow(f *pflag.Flag) row {
	value, usage := flagUsage(f)
	left := "    --" + f.Name
	if f.Shorthand != "" {
		left = "-" + f.Shorthand + ", --" + f.Name
	}
	if value != "" {
		left += " " + value
	}
	if f.DefValue != "" && !slices.Contains([]string{"false", "0", "0s", "[]"}, f.DefValue) {
		value := f.DefValue
		if f.Value.Type() == "stringSlice" {
			value = strings.Trim(value, "[]") // as it is typed
		}
		usage += " " + a.T("frame.default", locales.Vars{"Value": value})
	}
	return row{left, usage, theme.Command}
}

// flagUsage returns the name of a flag's value, empty for a switch, and the flag's text.
func flagUsage(f *pflag.Flag) (value, usage string) {
	if c, ok := f.Value.(*choice); ok {
		return c.Type(), f.Usage
	}
	if f.Value.Type() == "bool" {
		return "", f.Usage
	}
	return pflag.UnquoteUsage(f)
}

// printHelp prints the help page of a command.
func (a *App) printHelp(cmd *cobra.Command) {
	a.fillTexts(cmd.Root())
	t, width := a.Theme(), a.Columns()
	var b strings.Builder
	intro := cmd.Long
	if intro == "" {
		intro = cmd.Short + "."
	}
	fmt.Fprintln(&b, fold.Text(intro, width))
	fmt.Fprintf(&b, "\n%s\n  %s\n", t.Paint(theme.Title, a.T("frame.usage")), a.usageLine(cmd))
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n%s\n%s\n", t.Paint(theme.Title, a.T("frame.examples")), indent(cmd.Example))
	}
	sections := append(a.subcommands(cmd), a.flags(cmd)...)
	for _, s := range sections {
		writeSection(&b, t, s, width)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\n%s\n", fold.Text(a.T("frame.more", locales.Vars{"Command": cmd.CommandPath()}), width))
	}
	_, _ = fmt.Fprint(a.Out, b.String())
}

// writeSection writes a section's rows in two columns, or one under the other where the terminal
// is too narrow for that.
func writeSection(b *strings.Builder, t *theme.Theme, s section, width int) {
	if len(s.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", t.Paint(theme.Title, s.title))
	column := 0
	for _, r := range s.rows {
		column = max(column, min(ansi.StringWidth(r.left), 30))
	}
	for _, r := range s.rows {
		left := "  " + t.Paint(r.role, r.left)
		room := width - column - 4
		switch {
		case r.right == "":
			fmt.Fprintln(b, left)
		case ansi.StringWidth(r.left) > column || room < 20:
			room = max(width-6, 10)
			fmt.Fprintf(b, "%s\n      %s\n", left, hang(r.right, room, 6))
		default:
			pad := strings.Repeat(" ", column-ansi.StringWidth(r.left)+2)
			fmt.Fprintf(b, "%s%s%s\n", left, pad, hang(r.right, room, column+4))
		}
	}
}

// hang wraps text to room columns and indents all lines but the first.
func hang(text string, room, margin int) string {
	return strings.ReplaceAll(fold.Text(text, room), "\n", "\n"+strings.Repeat(" ", margin))
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// printOverview prints what qa-orch is and where to go from here.
func (a *App) printOverview(root *cobra.Command) {
	a.fillTexts(root)
	t, width := a.Theme(), a.Columns()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", fold.Text(t.Paint(theme.Title, program)+": "+root.Short+".", width))
	start := section{title: a.T("frame.start")}
	for _, name := range []string{"setup", "connect", "doctor", "demo", "sessions", "help"} {
		for _, sub := range root.Commands() {
			if sub.Name() == name {
				start.rows = append(start.rows, row{sub.CommandPath(), sub.Short, theme.Command})
			}
		}
	}
	writeSection(&b, t, start, width)
	_, _ = fmt.Fprint(a.Out, b.String())
}

// newHelp makes "qa-orch help".
func newHelp(a *App) *cobra.Command {
	return &cobra.Command{
		Use:     "help",
		GroupID: groupMore,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				if found.HasSubCommands() {
					return noUnknownCommand(found, rest)
				}
				return atMostArgs(0)(found, rest)
			}
			a.printHelp(found)
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []cobra.Completion
			for _, sub := range found.Commands() {
				if sub.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}
