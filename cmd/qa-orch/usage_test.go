package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/locales"
)

func TestErrorsBecomeExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		err  error
		code int
		says string
	}{
		{"success", nil, exitOK, ""},
		{"a failure", failed(locales.M("error.unknown-command-unnamed"), nil), exitFailed, "qa-orch: there is no such command\n"},
		{"a wrapped failure", fmt.Errorf("x: %w", failed(locales.M("error.unknown-command-unnamed"), nil)), exitFailed, "qa-orch: there is no such command\n"},
		{"misuse", misused(locales.M("error.args-none"), "qa-orch x"), exitUsage, "qa-orch: this command takes no arguments\nMore: qa-orch x --help\n"},
		{"a quiet end", quiet(exitFailed), exitFailed, ""},
		{"an interrupt", fmt.Errorf("x: %w", context.Canceled), exitInterrupted, ""},
		{"anything else", errors.New("odd\x1b[31m"), exitFailed, "qa-orch: that did not work: system error: odd\\x1b[31m\n"},
	} {
		app, out, errs := fakeApp(locales.En)
		if code := app.report(c.err); code != c.code || errs.String() != c.says || out.Len() > 0 {
			t.Errorf("%s: exit code %d and %q, want %d and %q", c.name, code, errs, c.code, c.says)
		}
	}
	cause := errors.New("cause")
	if err := failed(locales.M("error.args-none"), cause); !errors.Is(err, cause) || err.Error() != "this command takes no arguments" {
		t.Errorf("a failure hides its cause, or says %q", err)
	}
}

func TestLostOutputIsAFailure(t *testing.T) {
	t.Parallel()
	app, _, errs := fakeApp(locales.En, "--help")
	app.Out = &firstError{w: failingWriter{}}
	if code := run(app); code != exitFailed || errs.String() != "qa-orch: not everything could be printed: the other end is closed\n" {
		t.Errorf("exit code %d, %q", code, errs)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestBareCommandServesPrograms(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		served := false
		app, out, _ := fakeApp(locales.En)
		app.InTTY = terminal
		app.Serve = func(context.Context) error { served = true; return nil }
		if code := run(app); code != exitOK || served == terminal || (out.Len() > 0) != terminal {
			t.Errorf("terminal %v: exit code %d, served %v, said %q", terminal, code, served, out)
		}
	}
}

func TestLangArg(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                      "",
		"version":               "",
		"--lang ru":             "ru",
		"version --lang=ru":     "ru",
		"--lang en x --lang=ru": "ru",
		"--lang":                "",
		"--lang=":               "",
		"--language ru":         "",
		"-- --lang ru":          "",
	} {
		if got := langArg(strings.Fields(line)); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestFlagKindsAreExplained(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"--n=x":        "--n takes a whole number",
		"--u=-1":       "--u takes a whole number",
		"--d=soon":     "--d takes a length of time such as 30s, 5m or 1h",
		"--f=x":        "--f does not take this value",
		"--b=x":        "--b takes true or false, or nothing at all",
		"--word=green": "--word must be red or blue",
		"--n":          "--n needs a value",
		"-q":           "there is no flag -q here",
	} {
		word := "red"
		cmd := &cobra.Command{Use: "x", RunE: func(*cobra.Command, []string) error { return nil }}
		cmd.Flags().Int("n", 0, "")
		cmd.Flags().Uint("u", 0, "")
		cmd.Flags().Duration("d", 0, "")
		cmd.Flags().Float64("f", 0, "")
		cmd.Flags().Bool("b", false, "")
		cmd.Flags().Var(oneOf(&word, "red", "blue"), "word", "")
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetFlagErrorFunc(flagError)
		cmd.SetArgs([]string{arg})
		err := cmd.Execute()
		var known *cliError
		if !errors.As(err, &known) || known.code != exitUsage || err.Error() != want {
			t.Errorf("%s: got %v, want %s", arg, err, want)
		}
		if word != "red" {
			t.Errorf("%s: a refused word was taken", arg)
		}
	}
}

// A mistyped flag brings those that are near, of the command and of all commands.
func TestMistypedFlagsGetASuggestion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang locales.Lang
		line string
		says string // the whole message; what is not near is not offered
	}{
		{locales.En, "serve --storre x", "there is no flag --storre here; did you mean --store?"},
		{locales.Ru, "serve --storre x", "флага --storre здесь нет; похоже на --store"},
		{locales.En, "connect --no-stor", "there is no flag --no-stor here; did you mean --no-store?"},
		{locales.En, "doctor --jsno", "there is no flag --jsno here; did you mean --json?"},
		{locales.En, "doctor --lnag ru", "there is no flag --lnag here; did you mean --lang?"},
		{locales.En, "doctor --frobnicate", "there is no flag --frobnicate here"},
		{locales.En, "doctor --x", "there is no flag --x here"},
		{locales.En, "doctor --sk-CANARY-0451", "there is no such flag here"},
	} {
		app, out, errs := fakeApp(c.lang, strings.Fields(c.line)...)
		if code := run(app); code != exitUsage || out.Len() > 0 || !strings.HasPrefix(errs.String(), "qa-orch: "+c.says+"\n") {
			t.Errorf("%s: exit code %d, %q, want %q", c.line, code, errs, c.says)
		}
	}
}

// Whoever asks for a language that there is not is told, on the error stream and only on a terminal.
func TestStrangeLanguageIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang     string
		terminal bool
		line     string
		said     bool
	}{
		{"de", true, "version --json", true},
		{" DE_de ", true, "version", true},
		{"de", true, "--lang en version", false},
		{"de", false, "version", false},
		{"en", true, "version", false},
		{"", true, "version", false},
		{"sk-CANARY-0451", true, "version", true},
	} {
		app, out, errs := fakeApp(locales.En, strings.Fields(c.line)...)
		app.ErrTTY = c.terminal
		app.Getenv = func(name string) string { return map[string]string{locales.Variable: c.lang}[name] }
		want := ""
		if c.said {
			want = "qa-orch: QA_ORCH_LANG names no language that qa-orch speaks, so this is English; set it to en or ru\n"
		}
		if code := run(app); code != exitOK || errs.String() != want || strings.Contains(out.String(), "QA_ORCH_LANG") {
			t.Errorf("%+v: exit code %d, %q", c, code, errs)
		}
	}
}

func TestChoiceTakesItsWords(t *testing.T) {
	t.Parallel()
	word := "red"
	c := oneOf(&word, "red", "blue")
	if c.String() != "red" || c.Type() != "red|blue" {
		t.Errorf("starts as %q of %q", c, c.Type())
	}
	if err := c.Set("blue"); err != nil || word != "blue" || c.String() != "blue" {
		t.Errorf("blue: %v, %q", err, word)
	}
}
