//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qa-orch/qa-orch/locales"
)

// documents returns the Markdown files of the repository by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			docs[filepath.Base(p)] = string(data)
		}
	}
	if len(docs) < 10 {
		t.Fatalf("only %d documents: the search is broken", len(docs))
	}
	return docs
}

// fence is a fenced block: its language and content.
var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// In a block of the language "console", lines that begin with "$ " are commands and what follows is
// what they print. "…" stands for anything, also for lines. The commands of a document run one after
// the other in a home of its own.
func TestDocumentsShowWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	self, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for name, text := range documents(t) {
		home := t.TempDir()
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			if m[1] != "console" {
				continue
			}
			for _, step := range consoleSteps(m[2]) {
				ran++
				cmd := exec.Command("sh", "-c", step.command)
				cmd.Dir = home
				cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Dir(self) + ":" + os.Getenv("PATH"), "GORACE=" + noRaceSleep, "TZ=UTC"}
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				_ = cmd.Run() // a command that fails says so
				got := trailing.ReplaceAllString(strings.ReplaceAll(out.String(), home, "~"), "")
				if !matches(got, step.output) {
					t.Errorf("%s: $ %s\nprints\n%s\nnot\n%s", name, step.command, got, step.output)
				}
			}
		}
	}
	if ran == 0 {
		t.Error("no document has a command with its output: the search is broken")
	}
}

type consoleStep struct{ command, output string }

func consoleSteps(block string) []consoleStep {
	var steps []consoleStep
	for line := range strings.Lines(block) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			steps = append(steps, consoleStep{command: strings.TrimSuffix(command, "\n")})
		} else if len(steps) > 0 {
			steps[len(steps)-1].output += line
		}
	}
	return steps
}

// trailing blanks are what a line was broken at.
var trailing = regexp.MustCompile(`(?m) +$`)

// matches reports whether text is what pattern shows.
func matches(text, pattern string) bool {
	parts := strings.Split(pattern, "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`(?s)\A` + strings.Join(parts, ".*") + `\s*\z`).MatchString(text)
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, pattern string
		want          bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nx\ny\nb\n", "a\n…\nb\n", true},
		{"id 12.5 ms\n", "id … ms\n", true},
		{"a\n", "b\n", false},
		{"a\nb\n", "a\n", false},
		{"", "", true},
	} {
		if got := matches(c.text, c.pattern); got != c.want {
			t.Errorf("%q, %q: %v", c.text, c.pattern, got)
		}
	}
}

// inline is a command line in the running text.
var inline = regexp.MustCompile("`(qa-orch [^`]+)`")

// Every command line in the documents names commands and flags that exist.
func TestDocumentsNameRealCommands(t *testing.T) {
	t.Parallel()
	found := 0
	for name, text := range documents(t) {
		var lines []string
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			if !slices.Contains([]string{"sh", "console"}, m[1]) {
				continue
			}
			for line := range strings.Lines(m[2]) {
				line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
				if m[1] == "console" || strings.HasPrefix(line, program+" ") {
					lines = append(lines, line)
				}
			}
		}
		for _, m := range inline.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			lines = append(lines, m[1])
		}
		for _, line := range lines {
			_, args, ok := strings.Cut(line, program+" ")
			if !ok || strings.HasPrefix(line, "which ") || strings.HasPrefix(line, "codex ") || strings.HasPrefix(line, "claude ") {
				continue
			}
			found++
			if problem := badCommandLine(t, args); problem != "" {
				t.Errorf("%s: %s: %s", name, line, problem)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d command lines: the search is broken", found)
	}
}

// badCommandLine returns what is wrong with the arguments of a command line, empty if nothing is.
func badCommandLine(t *testing.T, line string) string {
	t.Helper()
	for _, end := range []string{" #", " |", " >", " <", "…"} {
		line, _, _ = strings.Cut(line, end)
	}
	words := strings.Fields(line)
	app, _, _ := fakeApp(locales.En)
	root := withHelp(app)
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return "there is no such command"
	}
	for _, word := range rest {
		flagName, isFlag := strings.CutPrefix(word, "--")
		if !isFlag || flagName == "" {
			continue
		}
		flagName, _, _ = strings.Cut(flagName, "=")
		if !hasFlag(cmd, flagName) {
			return "there is no flag --" + flagName
		}
	}
	return ""
}

func hasFlag(cmd *cobra.Command, name string) bool {
	found := name == "help"
	for c := cmd; c != nil; c = c.Parent() {
		for _, set := range []*pflag.FlagSet{c.PersistentFlags(), c.LocalNonPersistentFlags()} {
			if set.Lookup(name) != nil && (c == cmd || c.PersistentFlags().Lookup(name) != nil) {
				found = true
			}
		}
	}
	return found
}

func TestBadCommandLines(t *testing.T) {
	t.Parallel()
	for line, bad := range map[string]bool{
		"eval show page-cursor --judge":      false,
		"eval check page-cursor - < x":       false,
		"setup --provider openai --lang ru":  false,
		"advocate report rev-ab12 -o memo":   false,
		"sesame":                             true,
		"eval sesame":                        true,
		"eval show page-cursor --sesame":     true,
		"profiles code_reviewer --judge":     true,
		"serve --store x --tools extended #": false,
	} {
		if problem := badCommandLine(t, line); (problem != "") != bad {
			t.Errorf("%s: %q", line, problem)
		}
	}
}
