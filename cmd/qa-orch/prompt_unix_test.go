//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
)

// The plain conversation, by each way that leads to it, in both languages, with
// going back, a slip and an id by hand.
func TestPlainPrompts(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]struct {
		env  []string
		args []string
		lang locales.Lang
		back string
	}{
		"flag":                   {args: []string{"--accessible"}, lang: locales.En, back: "b"},
		"variable":               {env: []string{"ACCESSIBLE=1"}, lang: locales.Ru, back: "назад"},
		"dumb terminal":          {env: []string{"TERM=dumb"}, lang: locales.Ru, back: "и"}, // b on a Russian layout
		"the other one's word":   {args: []string{"--accessible"}, lang: locales.En, back: "НАЗАД"},
		"narrow dumb terminal":   {env: []string{"TERM=dumb"}, lang: locales.En, back: "B"},
		"variable beside a flag": {env: []string{"ACCESSIBLE=true"}, args: []string{"--accessible"}, lang: locales.En, back: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := onTerminal{columns: 80, rows: 24, env: o.env}
			if strings.HasPrefix(name, "narrow") {
				size.columns = 30
			}
			s := atSetup(t, o.lang, size, "", o.args...)
			p := s.p
			// answer types a line and waits for what it leads to, which is followed
			// by the next invitation.
			answer := func(line string, then ...string) {
				t.Helper()
				before := len(s.written())
				s.press(line + "\n")
				s.until(then, func(string) bool {
					all := squeeze(s.written()[before:])
					for _, text := range append(then, p.T("setup.leave-word")) {
						if !strings.Contains(all, squeeze(text)) {
							return false
						}
					}
					return strings.HasSuffix(all, ":")
				})
			}
			s.see(p.T("setup.language"), p.T("setup.ask-choice", locales.Vars{
				"Max": 2, "Default": 1 + int(o.lang), "Back": p.T("setup.back-word"), "Leave": p.T("setup.leave-word"),
			}))
			answer(o.back, p.T("setup.first"))
			answer("", p.T("setup.provider"), "2. anthropic")
			answer("7", p.T("setup.bad-number", locales.Vars{"Max": 2}))
			answer("2", p.T("setup.how", locales.Vars{"Provider": "Anthropic"}))
			answer(o.back, p.T("setup.provider"))
			answer("1", p.T("setup.how", locales.Vars{"Provider": "OpenAI"}))
			answer("2", s.model(policy.Triage), "4. gpt-6-luna: ")
			answer("9", p.T("setup.id-about", locales.Vars{"Provider": "OpenAI"}))
			answer("claude-x", p.T("explain.policy.wrong_provider", locales.Vars{"Owner": "anthropic"}))
			answer("my-own", p.T("setup.id-unknown"), s.reasoning(policy.Triage), "2. minimal")
			answer("", s.model(policy.Primary))
			answer("8", s.reasoning(policy.Primary), "1. none")
			answer("", s.model(policy.Deep))
			answer("", s.reasoning(policy.Deep))
			answer("5", s.model(policy.Synthesis))
			answer("", s.reasoning(policy.Synthesis))
			answer("", p.T("setup.confirm"), "my-own max", p.T("setup.was", locales.Vars{"Before": "gpt-6-luna max"}))
			s.wantNoFile()
			s.press("1\n")
			s.said(p.T("setup.saved", locales.Vars{"Path": s.path}))
			if strings.Contains(s.written(), "\x1b") && o.env != nil && o.env[0] == "TERM=dumb" {
				t.Errorf("a dumb terminal is sent escape sequences: %q", s.written())
			}
			want := policy.Default()
			want.Triage = policy.Choice{Model: "my-own", Reasoning: "max"}
			want.Primary = policy.Choice{Model: "gpt-4.1", Reasoning: "none"}
			want.Deep.Reasoning = "xhigh"
			s.wantFile(want)
		})
	}
}

func TestPlainPromptsLeave(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{
		"end of input": "\n\x04", "Ctrl+C": "\n\x03", "q": "\nq\n", "выход": "\nвыход\n", "q on a Russian layout": "й\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := atSetup(t, locales.En, onTerminal{}, "", "--accessible")
			s.see(s.p.T("setup.language"))
			for _, line := range strings.SplitAfter(keys, "\n") {
				s.press(line)
				if line == "\n" {
					s.see(s.p.T("setup.provider"))
				}
			}
			s.exit(exitInterrupted)
			s.see(s.p.T("setup.left"))
			s.wantNoFile()
		})
	}
}

func TestPlainPromptsTellOfAFailedSave(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home", ".qa-orchestrator", "model-policy.json")
	old := policy.Recommended(catalog.Anthropic, catalog.Builtin())
	_, err := policy.Save(path, old, catalog.Builtin())
	must(t, err)
	s := atSetup(t, locales.Ru, onTerminal{shell: "ulimit -f 0"}, path, "--accessible")
	s.see(s.p.T("setup.language"))
	s.press("\n1\n1\n1\n")
	s.see("Не удалось сохранить "+path, "ещё раз")
	s.press("q\n")
	s.exit(exitInterrupted)
	s.wantFile(old)
}
