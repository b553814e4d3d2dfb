package home

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/theme"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func state() State {
	return State{
		PolicyPath: "/home/ada/.qa-orchestrator/model-policy.json", Policy: policy.Default(), Configured: true,
		StorePath: "/home/ada/.qa-orchestrator/sessions.sqlite3", StoreOn: true, Counts: watch.Counts{Active: 5, Awaiting: 2, Stopped: 1},
		Clients: []string{"Claude Code", "Codex"}, Known: true,
	}
}

func open(lang locales.Lang, w, h int, s State) *Model {
	items := []Item{}
	for _, name := range []string{"setup", "sessions", "demo", "help"} {
		items = append(items, Item{Name: name, About: func(p *locales.Printer) string { return p.First("help." + name + ".short") }})
	}
	m := New(Options{
		Lang: lang, Theme: theme.New(termenv.Ascii, true, true), Home: "/home/ada", Items: items,
		Load: func() State { return s },
	})
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	m.Update(m.Init()())
	return m
}

func TestScreens(t *testing.T) {
	t.Parallel()
	fresh := state()
	fresh.Configured, fresh.StoreOn, fresh.Clients = false, false, nil
	fresh.StoreErr = &sqlite.Unusable{Reason: sqlite.Missing}
	broken := state()
	_, broken.PolicyErr = policy.Parse([]byte("{"), catalog.Builtin())
	broken.StoreErr = &sqlite.Unusable{Reason: sqlite.ForeignSchema}
	broken.Known = false
	for name, s := range map[string]State{"set-up": state(), "fresh": fresh, "broken": broken} {
		for _, lang := range locales.Langs() {
			var b strings.Builder
			for _, size := range [][2]int{{100, 30}, {80, 24}, {50, 20}, {40, 12}, {20, 5}} {
				w, h := size[0], size[1]
				screen := open(lang, w, h, s).View()
				fmt.Fprintf(&b, "== %dx%d\n", w, h)
				lines := strings.Split(screen, "\n")
				if len(lines) > h {
					t.Errorf("%s: %d lines at %dx%d", name, len(lines), w, h)
				}
				for _, line := range lines {
					if n := ansi.StringWidth(line); n > w {
						t.Errorf("%s: %d cells at %dx%d: %q", name, n, w, h, line)
					}
					b.WriteString(strings.TrimRight(line, " ") + "\n")
				}
			}
			path := filepath.Join("testdata", "screens", name+"."+lang.String()+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(want) != b.String() {
				t.Errorf("%s differs (-update writes it anew):\n%s", path, b.String())
			}
		}
	}
}

// The models and the reasoning of the policy are read on narrow screens too.
func TestPolicyFits(t *testing.T) {
	t.Parallel()
	s := state()
	s.Policy = policy.Recommended(catalog.Anthropic, catalog.Builtin())
	for _, lang := range locales.Langs() {
		for _, width := range []int{40, 50, 60} {
			screen := open(lang, width, 24, s).View()
			for _, st := range policy.Stages() {
				c := s.Policy.Stage(st)
				whole := c.Model + " "
				if width < 50 {
					whole = c.Model[:6]
				}
				found := false
				for line := range strings.SplitSeq(screen, "\n") {
					found = found || strings.Contains(line, whole) && strings.HasSuffix(strings.TrimRight(line, " "), " "+string(c.Reasoning))
				}
				if !found {
					t.Errorf("%v at %d columns: no line with %s and %s\n%s", lang, width, c.Model, c.Reasoning, screen)
				}
			}
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"\r":      "setup",
		"j\r":     "sessions",
		"jjk\r":   "sessions",
		"оо\r":    "demo",
		"G\r":     "help",
		"jjjjj\r": "help",
		"Gg\r":    "setup",
		"3":       "demo",
		"q":       "",
		"й":       "",
	} {
		m := open(locales.En, 80, 24, state())
		quit := false
		for _, r := range keys {
			msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
			if r == '\r' {
				msg = tea.KeyMsg{Type: tea.KeyEnter}
			}
			if _, cmd := m.Update(msg); cmd != nil {
				_, quit = cmd().(tea.QuitMsg)
			}
		}
		if !quit || m.Chosen() != want {
			t.Errorf("%q: chosen %q, want %q; left: %v", keys, m.Chosen(), want, quit)
		}
	}
	m := open(locales.En, 80, 24, state())
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("L")})
	if m.Lang() != locales.Ru || !strings.Contains(m.View(), "хранилище") {
		t.Error("L does not change the language")
	}
}

// What the files hold can't steer the terminal, and no size breaks the screen.
func TestAnySizeAndText(t *testing.T) {
	t.Parallel()
	s := state()
	s.PolicyPath, s.StorePath = "/tmp/\x1b[2J", "/tmp/\u202e"
	s.Clients = []string{"x\x1b]0;evil\x07"}
	s.Policy.Deep.Model = "\x1b[31m"
	for w := range 120 {
		for _, h := range []int{1, 5, 9, 10, 13, 24, 60} {
			screen := open(locales.Ru, w, h, s).View()
			if strings.ContainsAny(screen, "\x1b\u202e") {
				t.Fatalf("%dx%d: %q", w, h, screen)
			}
			if n := strings.Count(screen, "\n") + 1; n > h && w > 8 && h > 4 {
				t.Fatalf("%dx%d: %d lines", w, h, n)
			}
		}
	}
}
