package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qa-orch/qa-orch/locales"
)

// fakeApp is a world without a terminal or an environment, at a fixed time.
func fakeApp(lang locales.Lang, args ...string) (app *App, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &App{
		Printer: locales.New(lang),
		Args:    args,
		In:      strings.NewReader(""),
		Out:     out,
		Err:     errs,
		Size:    func() (int, int) { return 0, 0 },
		Getenv:  func(string) string { return "" },
		Now:     func() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC) },
	}, out, errs
}

// walk calls visit for a command and all below it.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		walk(sub, visit)
	}
}

// withHelp returns the whole command tree, the help command included.
func withHelp(app *App) *cobra.Command {
	root := newRoot(app)
	root.InitDefaultHelpCmd()
	return root
}

// The help of a command follows its name (see help.go). So every command and flag must have its
// texts, and every text its command.
func TestEveryCommandHasItsHelpAndEveryHelpItsCommand(t *testing.T) {
	t.Parallel()
	for _, lang := range locales.Langs() {
		app, _, _ := fakeApp(lang)
		known := map[string]bool{}
		walk(withHelp(app), func(cmd *cobra.Command) {
			for _, part := range []string{"short", "long", "args", "examples"} {
				known[helpID(cmd, part)] = true
			}
			if !app.Has(helpID(cmd, "short")) {
				t.Errorf("%v: %s has no %s", lang, cmd.CommandPath(), helpID(cmd, "short"))
			}
			if strings.HasSuffix(app.First(helpID(cmd, "short")), ".") {
				t.Errorf("%v: %s ends with a full stop", lang, helpID(cmd, "short"))
			}
			visitOwnFlags(cmd, func(f *pflag.Flag) {
				ids := flagHelpIDs(cmd, f.Name)
				for _, id := range ids {
					known[id] = true
				}
				usage := app.First(ids...)
				if usage == "" {
					t.Errorf("%v: %s --%s has no %s", lang, cmd.CommandPath(), f.Name, ids[0])
				}
				_, words := f.Value.(*choice)
				if takesValue := !words && f.Value.Type() != "bool"; takesValue != (strings.Count(usage, "`") == 2) {
					t.Errorf("%v: %s: the name of a value in backquotes belongs to flags that take any value, and to no others: %q", lang, ids[0], usage)
				}
			})
		})
		for _, id := range app.IDs("help") {
			if !known[id] {
				t.Errorf("%v: %s belongs to no command or flag", lang, id)
			}
		}
	}
}

func visitOwnFlags(cmd *cobra.Command, visit func(*pflag.Flag)) {
	cmd.LocalNonPersistentFlags().VisitAll(visit)
	cmd.PersistentFlags().VisitAll(visit)
}

// The terminal library has texts of its own. None of them may show.
var libraryEnglish = regexp.MustCompile(`(?i)\b(usage|flags?|command|commands|help for|use "|default|available|examples|arguments?)\b`)

func TestRussianHelpHasNoEnglish(t *testing.T) {
	t.Parallel()
	app, _, _ := fakeApp(locales.Ru)
	var paths [][]string
	walk(withHelp(app), func(cmd *cobra.Command) {
		paths = append(paths, strings.Fields(cmd.CommandPath())[1:])
	})
	for _, path := range paths {
		app, out, errs := fakeApp(locales.Ru, slices.Concat(path, []string{"--help", "--lang", "ru"})...)
		if code := run(app); code != exitOK || errs.Len() > 0 {
			t.Errorf("%v --help: exit code %d, %s", path, code, errs)
		}
		if found := libraryEnglish.FindAllString(out.String(), -1); found != nil {
			t.Errorf("%v --help has English words: %q\n%s", path, found, out)
		}
	}
}

func TestHelpFitsItsTerminal(t *testing.T) {
	t.Parallel()
	for _, width := range []int{20, 40, 50, 80, 120} {
		app, out, _ := fakeApp(locales.Ru, "--help")
		app.OutTTY = true
		app.Size = func() (int, int) { return width, 24 }
		run(app)
		for line := range strings.Lines(out.String()) {
			// Names of commands and flags are never broken.
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > max(width, 40) {
				t.Errorf("at %d columns a line has %d: %q", width, n, line)
			}
		}
	}
}
