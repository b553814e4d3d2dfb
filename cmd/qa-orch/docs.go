package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/locales"
)

// newDocs makes the hidden "qa-orch docs", which packagers use.
func newDocs(a *App) *cobra.Command {
	docs := &cobra.Command{Use: "docs", Hidden: true}
	docs.AddCommand(&cobra.Command{
		Use:               "man",
		Args:              exactArgs(1, locales.M("help.docs.man.args")),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeManuals(a, cmd.Root(), args[0])
		},
	})
	return docs
}

// writeManuals writes a manual page for root and for every visible command below it into folder,
// in the language of the run.
func writeManuals(a *App, root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { // #nosec G301 -- manual pages are for everybody
		return failed(locales.M("docs.unwritable", locales.Vars{"Path": folder, "Cause": a.Cause(err)}), err)
	}
	a.fillTexts(root)
	var write func(cmd *cobra.Command) error
	write = func(cmd *cobra.Command) error {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		path := filepath.Join(folder, name+".1")
		if err := atomicfile.WriteShared(path, []byte(a.manual(cmd, name)), 0o644); err != nil {
			return failed(locales.M("docs.unwritable", locales.Vars{"Path": path, "Cause": a.Cause(err)}), err)
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.Name() != "help" {
				if err := write(sub); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return write(root)
}

// manual returns the manual page of a command in roff. The generators at hand write their headings
// in English only.
func (a *App) manual(cmd *cobra.Command, name string) string {
	var b strings.Builder
	heading := func(title string) { fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(strings.TrimSuffix(title, ":")))) }
	paragraph := func(s string) { fmt.Fprintf(&b, "%s\n", strings.ReplaceAll(roff(s), "\n\n", "\n.PP\n")) }

	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s %s\"\n", roff(strings.ToUpper(name)), program, roff(thisBuild().Version))
	heading(a.T("frame.manual.name"))
	paragraph(name + " - " + cmd.Short)
	heading(a.T("frame.usage"))
	fmt.Fprintf(&b, ".B %s\n", roff(a.usageLine(cmd)))
	if cmd.Long != "" {
		heading(a.T("frame.manual.about"))
		paragraph(cmd.Long)
	}
	for _, s := range append(a.subcommands(cmd), a.flags(cmd)...) {
		if len(s.rows) == 0 {
			continue
		}
		heading(s.title)
		for _, r := range s.rows {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(r.left)), roff(r.right))
		}
	}
	if cmd.Example != "" {
		heading(a.T("frame.examples"))
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	}
	return b.String()
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`)

// roff escapes text so that it stands for itself in a manual page.
func roff(s string) string {
	lines := strings.Split(roffEscapes.Replace(s), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
