//go:build unix

package main

import (
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A terminal that answers nothing: no command may ask it anything, as bubbletea would while it is
// initialised, or wait for it.
func TestNoCommandAsksTheTerminal(t *testing.T) {
	t.Parallel()
	info, ok := debug.ReadBuildInfo()
	if !ok || !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return strings.HasSuffix(m.Path, "/bubbletea") }) {
		t.Fatal("bubbletea is not linked, so that this test shows nothing")
	}
	for _, line := range []string{
		"--help", "--lang ru help version", "version", "version --json", "--theme auto version",
		"completion bash", "__complete v", "reload", "config show", "setup --provider x", "setup --dry-run --provider openai --triage-model m --primary-model m --deep-model m --synthesis-model m", "frobnicate", "--nonsense",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			said := onSilentTerminal(t, strings.Fields(line)...)
			if rest := colour.ReplaceAllString(said, ""); strings.Contains(rest, "\x1b") {
				t.Errorf("the terminal is sent more than text and colours: %q", rest)
			}
			if said == "" {
				t.Error("nothing is said at all")
			}
		})
	}
}

// onSilentTerminal runs the program on a pseudo-terminal that never answers and returns all that
// it was sent. A program that is still there when bubbletea would give up waiting is a failure.
func onSilentTerminal(t *testing.T, args ...string) string {
	t.Helper()
	s := sitDown(t, onTerminal{mute: true}, args...)
	select {
	case <-s.ended:
	case <-time.After(4500 * time.Millisecond):
		t.Errorf("the program waits; so far it said %q", s.written())
	}
	return s.written()
}
