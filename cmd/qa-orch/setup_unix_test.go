//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
)

// sitter is a person at the wizard.
type sitter struct {
	*terminal
	p    *locales.Printer
	path string // of the policy
}

// atSetup starts the wizard in a fresh home, or that of the policy at path.
func atSetup(t testing.TB, lang locales.Lang, o onTerminal, path string, args ...string) *sitter {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "home", ".qa-orchestrator", "model-policy.json")
	}
	locale := map[locales.Lang]string{locales.En: "en_US.UTF-8", locales.Ru: "ru_RU.UTF-8"}[lang]
	o.env = append(o.env, "LANG="+locale, "HOME="+filepath.Dir(filepath.Dir(path)))
	return &sitter{sitDown(t, o, append([]string{"setup"}, args...)...), locales.New(lang), path}
}

func (s *sitter) wantFile(want policy.Policy) {
	s.t.Helper()
	data, err := os.ReadFile(s.path)
	if err != nil || string(data) != string(want.Encode()) {
		s.t.Errorf("the file holds %s (%v), want %s", data, err, want.Encode())
	}
	info, err := os.Stat(s.path)
	if err == nil && info.Mode().Perm() != 0o600 {
		s.t.Errorf("the file has mode %v", info.Mode().Perm())
	}
}

func (s *sitter) wantNoFile() {
	s.t.Helper()
	if _, err := os.Stat(s.path); !os.IsNotExist(err) {
		s.t.Errorf("there is a file (%v)", err)
	}
}

func (s *sitter) model(st policy.Stage) string {
	return s.p.T("setup.model", locales.Vars{"Stage": terms.Stage(s.p, st)})
}

func (s *sitter) reasoning(st policy.Stage) string {
	return s.p.T("setup.reasoning", locales.Vars{"Stage": terms.Stage(s.p, st)})
}

func (s *sitter) step(n int) string {
	return s.p.T("setup.step", locales.Vars{"Step": n, "Total": 12})
}

// toWay answers the questions up to the one how to choose.
func (s *sitter) toWay(provider string) {
	s.t.Helper()
	s.see(s.p.T("setup.language"), s.step(1))
	s.press(keyEnter)
	s.see(s.p.T("setup.provider"), s.step(2))
	if provider == "anthropic" {
		s.press(keyDown)
		s.see("> anthropic")
	}
	s.press(keyEnter)
	s.see(s.p.T("setup.way.stages"), s.step(3))
}

func TestWizardStageByStage(t *testing.T) {
	t.Parallel()
	for _, lang := range locales.Langs() {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {50, 20}} {
			t.Run(fmt.Sprintf("%v %dx%d", lang, size[0], size[1]), func(t *testing.T) {
				t.Parallel()
				s := atSetup(t, lang, onTerminal{columns: size[0], rows: size[1]}, "")
				stageByStage(s)
			})
		}
	}
}

func stageByStage(s *sitter) {
	s.t.Helper()
	p := s.p
	s.toWay("anthropic")
	s.see("> "+p.T("setup.way.recommended"), "claude-sonnet-5")
	s.press(keyEnd)
	s.see("> " + p.T("setup.way.stages"))
	s.press(keyEnter)

	// A catalogue model, one up from the recommended, and another word.
	s.see(s.step(4), s.model(policy.Triage), terms.Work(p, policy.Triage), "> claude-sonnet-5")
	s.press(keyUp)
	s.see("> claude-opus-5 ", p.T("setup.takes", locales.Vars{"Words": "low medium high xhigh max"}))
	s.press(keyEnter)
	s.see(s.step(5), s.reasoning(policy.Triage), "> max")
	s.press(keyUp)
	s.see("> xhigh")
	s.press(keyEnter)

	// Back, twice, keeps what was chosen.
	s.see(s.step(6), s.model(policy.Primary), "> claude-opus-5-5")
	s.press(keyLeft)
	s.see(s.step(5), "> xhigh")
	s.press(keyLeft)
	s.see(s.step(4), "> claude-opus-5 ")
	s.press(keyEnter)
	s.see(s.step(5), "> xhigh")
	s.press(keyEnter)

	// A model without reasoning.
	s.see(s.step(6), "> claude-opus-5-5")
	s.press(keyDown, keyDown, keyDown)
	s.see("> claude-haiku-4-5-20251001")
	s.press(keyEnter)
	s.see(s.step(7), s.reasoning(policy.Primary), p.T("setup.one-word", locales.Vars{"Model": "claude-haiku-4-5-20251001"}), "> none")
	s.press(keyEnter)

	// An id by hand: foreign, then malformed, back out of it, again, right.
	s.see(s.step(8), s.model(policy.Deep))
	s.press(keyEnd)
	s.see("> " + p.T("setup.another"))
	s.press(keyEnter)
	s.see(p.T("setup.exact-id", locales.Vars{"Stage": terms.Stage(p, policy.Deep)}), p.T("setup.id-empty"))
	s.press(keyEnter) // nothing typed yet
	s.press("gpt-6-sol")
	s.see("> gpt-6-sol", p.T("explain.policy.wrong_provider", locales.Vars{"Owner": "openai"}))
	s.press(keyEnter) // does nothing
	s.press(" b")
	s.see(p.T("explain.policy.bad_model_id"))
	s.press(keyShiftTab)
	s.see(s.model(policy.Deep), "> "+p.T("setup.another"))
	s.press(keyEnter)
	s.see("> gpt-6-sol b", p.T("explain.policy.bad_model_id"))
	s.press(strings.Repeat(keyBack, len("gpt-6-sol b")), "claude-next.9")
	s.see("> claude-next.9", p.T("setup.id-unknown"))
	s.press(keyEnter)
	s.see(s.step(9), p.T("setup.unverified", locales.Vars{"Model": "claude-next.9"}), "> high", "none", "xhigh")
	s.press(keyEnter)

	s.see(s.step(10), s.model(policy.Synthesis), "> claude-opus-5-5")
	s.press(keyEnter)
	s.see(s.step(11), "> medium")
	s.press(keyEnter)

	// The whole against what is in force.
	s.see(p.T("setup.last-step"), p.T("setup.confirm"), p.T("setup.compared-default"),
		"claude-opus-5 ", "xhigh", "claude-haiku-4-5", "none", "claude-next.9", "high", "claude-opus-5-5", "medium",
		p.T("setup.was", locales.Vars{"Before": "gpt-6-luna max"}), p.T("setup.was", locales.Vars{"Before": "openai"}))
	s.wantNoFile()
	s.press(keyDown, keyEnter) // change something
	s.see(s.step(11), "> medium")
	s.press(keyDown, keyEnter)
	s.see("> " + p.T("setup.save"))
	s.press(keyEnter)
	s.said(p.T("setup.saved", locales.Vars{"Path": s.path}), p.T("setup.next"), "qa-orch doctor", "qa-orch connect", "claude-next.9", p.T("config.unverified"))
	s.wantFile(policy.Policy{
		Provider:  catalog.Anthropic,
		Triage:    policy.Choice{Model: "claude-opus-5", Reasoning: "xhigh"},
		Primary:   policy.Choice{Model: "claude-haiku-4-5-20251001", Reasoning: "none"},
		Deep:      policy.Choice{Model: "claude-next.9", Reasoning: "high"},
		Synthesis: policy.Choice{Model: "claude-opus-5-5", Reasoning: "high"},
	})
	if info, err := os.Stat(filepath.Dir(s.path)); err != nil || info.Mode().Perm() != 0o700 {
		s.t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
}

// The quick ways: the recommended set in one press, then the current policy in one press.
func TestWizardQuickly(t *testing.T) {
	t.Parallel()
	s := atSetup(t, locales.En, onTerminal{}, "")
	s.toWay("anthropic")
	s.press(keyEnter)
	s.see(s.p.T("setup.last-step"), "> "+s.p.T("setup.save"))
	s.press(keyEnter)
	s.exit(exitOK)
	want := policy.Recommended(catalog.Anthropic, catalog.Builtin())
	s.wantFile(want)
	before, err := os.Stat(s.path)
	must(t, err)

	s = atSetup(t, locales.En, onTerminal{}, s.path)
	s.toWay("")
	s.see("> "+s.p.T("setup.way.current"), "claude-sonnet-5")
	s.press(keyEnter)
	s.said(s.p.T("setup.kept", locales.Vars{"Path": s.path}), s.p.T("setup.next"))
	s.wantFile(want)
	if after, err := os.Stat(s.path); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("keeping the policy wrote it (%v)", err)
	}
}

// The language that is chosen first is that of everything after it, and is not saved.
func TestWizardChangesLanguage(t *testing.T) {
	t.Parallel()
	s := atSetup(t, locales.En, onTerminal{}, "")
	s.see(s.p.T("setup.language"), "> English")
	s.press(keyDown, keyEnter)
	ru := locales.New(locales.Ru)
	s.see(ru.T("setup.provider"))
	s.press(keyEnter, keyEnter)
	s.see(ru.T("setup.confirm"))
	s.press(keyEnter)
	s.said(ru.T("setup.saved", locales.Vars{"Path": s.path}), ru.T("setup.next"))
	s.wantFile(policy.Default())
}

func TestWizardLeaves(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*sitter){
		"Esc at once": func(s *sitter) { s.see(s.p.T("setup.language")); s.press(keyEsc) },
		"Ctrl+C":      func(s *sitter) { s.toWay("anthropic"); s.press(keyCtrlC) },
		"Esc at the end": func(s *sitter) {
			s.toWay("")
			s.press(keyEnter)
			s.see(s.p.T("setup.confirm"))
			s.press(keyEsc)
		},
		"the last answer": func(s *sitter) {
			s.toWay("")
			s.press(keyEnter)
			s.see(s.p.T("setup.confirm"))
			s.press(keyEnd)
			s.see("> " + s.p.T("setup.leave"))
			s.press(keyEnter)
		},
		"a signal": func(s *sitter) { s.toWay(""); _ = s.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := atSetup(t, locales.Ru, onTerminal{}, "")
			leave(s)
			s.exit(exitInterrupted)
			s.see(s.p.T("setup.left"))
			s.wantNoFile()
		})
	}
}

// Shortcuts are keys, not letters: they work on a Russian layout.
func TestWizardOnARussianLayout(t *testing.T) {
	t.Parallel()
	s := atSetup(t, locales.Ru, onTerminal{}, "")
	s.see("> Русский")
	s.press("д") // l: next
	s.see("> openai")
	s.press("о") // j: down
	s.see("> anthropic")
	s.press("л") // k: up
	s.see("> openai")
	s.press("р") // h: back
	s.see("> Русский")
	s.press(keyEsc)
	s.exit(exitInterrupted)
}

func TestWizardOnASmallTerminal(t *testing.T) {
	t.Parallel()
	s := atSetup(t, locales.En, onTerminal{columns: 30, rows: 8}, "")
	s.see("too small (30×8)", "46×")
	s.resize(80, 24)
	s.see(s.step(1), "> English")
	s.press(keyEnter, keyEnter)
	s.see("> " + s.p.T("setup.way.recommended"))
	s.press(keyDown, keyEnter)
	s.see("> gpt-6-luna")
	s.resize(60, 12) // a part of the models
	s.see("> gpt-6-luna", "↑", "↓", "more")
	s.press(keyUp, keyUp, keyUp)
	s.see("> gpt-6-astra")
	s.resize(20, 5)
	s.see("too small")
	s.press(keyEsc)
	s.exit(exitInterrupted)
}

func TestWizardKeepsABrokenPolicyAsBackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home", ".qa-orchestrator", "model-policy.json")
	broken := "{\n  \"provider\": \"openai\", // mine\n}"
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(broken), 0o600))
	s := atSetup(t, locales.En, onTerminal{}, path)
	s.see(path, "line 2: this is not valid JSON", "kept as a backup")
	s.press(keyEnter)
	s.see(s.p.T("setup.provider"))
	s.press(keyEnter)
	s.see("> " + s.p.T("setup.way.recommended"))
	s.press(keyEnter)
	s.see(s.p.T("setup.compared-broken"))
	s.press(keyEnter)
	s.said(s.p.T("setup.backup", locales.Vars{"Path": path + ".backup"}))
	s.wantFile(policy.Default())
	if data, err := os.ReadFile(path + ".backup"); string(data) != broken {
		t.Errorf("the backup holds %q (%v)", data, err)
	}
}

// A disk that takes nothing: said on the screen, nothing lost.
func TestWizardOnAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home", ".qa-orchestrator", "model-policy.json")
	old := policy.Recommended(catalog.Anthropic, catalog.Builtin())
	_, err := policy.Save(path, old, catalog.Builtin())
	must(t, err)
	s := atSetup(t, locales.En, onTerminal{shell: "ulimit -f 0"}, path)
	s.see(s.step(1))
	s.press(keyEnter)
	s.see("> anthropic")
	s.press(keyUp, keyEnter)
	s.see("> " + s.p.T("setup.way.recommended"))
	s.press(keyEnter)
	s.see(s.p.T("setup.confirm"))
	s.press(keyEnter)
	s.see("Could not save "+path, "your choices are kept", "> "+s.p.T("setup.save"))
	s.press(keyEsc)
	s.exit(exitInterrupted)
	s.wantFile(old)
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

func TestWizardSavesAtASecondTry(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home", ".qa-orchestrator", "model-policy.json")
	must(t, os.MkdirAll(filepath.Dir(filepath.Dir(path)), 0o700))
	must(t, os.WriteFile(filepath.Dir(path), nil, 0o600)) // in the folder's place
	s := atSetup(t, locales.En, onTerminal{}, path)
	s.see("can't be used", "It can't be replaced either")
	s.press(keyEnter)
	s.see(s.p.T("setup.provider"))
	s.press(keyEnter)
	s.see("> " + s.p.T("setup.way.recommended"))
	s.press(keyEnter)
	s.see(s.p.T("setup.confirm"))
	s.press(keyEnter)
	s.see("Could not save "+path, s.p.T("cause.no-folder"))
	must(t, os.Remove(filepath.Dir(path)))
	s.press(keyEnter)
	s.exit(exitOK)
	s.wantFile(policy.Default())
}

func TestWizardThroughASymlink(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path, dotfile := filepath.Join(home, ".qa-orchestrator", "model-policy.json"), filepath.Join(home, "dotfiles", "policy.json")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.MkdirAll(filepath.Dir(dotfile), 0o700))
	must(t, os.WriteFile(dotfile, policy.Default().Encode(), 0o600))
	must(t, os.Symlink("../dotfiles/policy.json", path))
	s := atSetup(t, locales.En, onTerminal{}, path)
	s.toWay("anthropic")
	s.press(keyEnter)
	s.see(s.p.T("setup.confirm"))
	s.press(keyEnter)
	s.exit(exitOK)
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the symlink is gone (%v)", err)
	}
	s.path = dotfile
	s.wantFile(policy.Recommended(catalog.Anthropic, catalog.Builtin()))
}

// Two wizards that save at the same time leave one whole file.
func TestTwoWizards(t *testing.T) {
	t.Parallel()
	one := atSetup(t, locales.En, onTerminal{}, "")
	two := atSetup(t, locales.Ru, onTerminal{}, one.path)
	one.toWay("")
	two.toWay("anthropic")
	for _, s := range []*sitter{one, two} {
		s.press(keyEnter)
		s.see(s.p.T("setup.confirm"))
	}
	one.press(keyEnter)
	two.press(keyEnter)
	one.exit(exitOK)
	two.exit(exitOK)
	p, configured, err := policy.Load(one.path, catalog.Builtin())
	if err != nil || !configured || p != policy.Default() && p != policy.Recommended(catalog.Anthropic, catalog.Builtin()) {
		t.Errorf("the file: %v, %v, %v", p, configured, err)
	}
}

// Flags answer in advance; only what is missing is asked.
func TestWizardAsksForWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := atSetup(t, locales.En, onTerminal{}, "",
		"--provider", "openai", "--triage-model", "gpt-4.1", "--deep-model", "gpt-6-sol", "--deep-reasoning", "max", "--synthesis-model", "gpt-6-sol")
	s.see("step 1 of 4")
	s.press(keyEnter)
	s.see("step 2 of 4", s.model(policy.Primary), "> gpt-6-sol")
	s.press(keyEnter)
	s.see("step 3 of 4", s.reasoning(policy.Primary), "> medium")
	s.press(keyEnter)
	s.see(s.p.T("setup.confirm"))
	s.press(keyEnter)
	s.exit(exitOK)
	want := policy.Default()
	want.Triage = policy.Choice{Model: "gpt-4.1", Reasoning: "none"}
	want.Deep.Reasoning = "max"
	s.wantFile(want)
}

func TestWizardDryRun(t *testing.T) {
	t.Parallel()
	s := atSetup(t, locales.En, onTerminal{}, "", "--dry-run")
	s.toWay("anthropic")
	s.press(keyEnter)
	s.see(s.p.T("setup.print"), s.p.T("setup.path-dry", locales.Vars{"Path": s.path})[:8])
	s.press(keyEnter)
	s.said(string(policy.Recommended(catalog.Anthropic, catalog.Builtin()).Encode()))
	s.wantNoFile()
}

var foreground = regexp.MustCompile("\x1b\\[[0-9;]*(3[0-8]|4[0-8]|9[0-7])[;m]")

// What the screen says does not hang on its colours, and a terminal that answers
// nothing is not waited for.
func TestWizardWithoutColours(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]onTerminal{
		"NO_COLOR":      {env: []string{"NO_COLOR=1", "COLORTERM=truecolor"}},
		"FORCE_COLOR=0": {env: []string{"FORCE_COLOR=0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := atSetup(t, locales.En, o, "")
			s.toWay("anthropic")
			s.press(keyEsc)
			s.exit(exitInterrupted)
			if found := foreground.FindString(s.written()); found != "" || strings.Contains(s.written(), "\x1b]11;?") {
				t.Errorf("colours are used or asked for: %q", found)
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		s := atSetup(t, locales.En, onTerminal{mute: true, env: []string{"COLORTERM=truecolor"}}, "")
		s.see(s.step(1))
		s.press("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?6c") // too late
		s.toWay("anthropic")
		if !foreground.MatchString(s.written()) {
			t.Error("no colours at all")
		}
		s.press(keyEsc)
		s.exit(exitInterrupted)
	})
}

// BenchmarkFirstFrame times the wizard from its start until the first question
// is on the screen.
func BenchmarkFirstFrame(b *testing.B) {
	for b.Loop() {
		s := atSetup(b, locales.Ru, onTerminal{}, filepath.Join("none", "none", "policy.json"))
		s.see(s.p.T("setup.language"))
		s.press(keyEsc)
		s.exit(exitInterrupted)
	}
}
