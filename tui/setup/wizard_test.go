package setup

import (
	"errors"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/theme"
)

var enter = tea.KeyMsg{Type: tea.KeyEnter}

func wizardOf(lang locales.Lang, current Current, width, height int) *Wizard {
	f := NewFlow(locales.New(lang), models, current, Given{}, false)
	w := NewWizard(f, theme.New(termenv.TrueColor, true, true), nil)
	w.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return w
}

// Every screen, in both languages, stays within the smallest terminal that is
// promised, and within ever wider ones; in smaller ones it says what it needs.
// The tests share the library's default renderer, so they don't run in parallel.
func TestScreensFit(t *testing.T) {
	mine := policy.Recommended(catalog.Anthropic, models)
	mine.Deep = policy.Choice{Model: "claude-haiku-4-5-20251001", Reasoning: "none"}
	broken := Current{
		Path: "/home/somebody/with/a/long/path/.qa-orchestrator/model-policy.json",
		Problem: &policy.Invalid{Problems: []policy.Problem{
			{Code: policy.CodeDuplicate, Field: "provider", Line: 3}, {Code: policy.CodeSyntax, Line: 12},
		}},
	}
	for _, current := range []Current{{Path: "p", Policy: policy.Default()}, configured(mine), broken} {
		for _, lang := range locales.Langs() {
			for _, size := range [][2]int{{50, 20}, {80, 24}, {120, 40}, {46, 14}, {12, 4}} {
				w := wizardOf(lang, current, size[0], size[1])
				seen := 0
				check := func() {
					t.Helper()
					seen++
					view := w.View()
					lines := strings.Split(view, "\n")
					small := strings.Contains(squeeze(view), squeeze(w.T("setup.small", locales.Vars{"Have": "", "Need": ""})[:20]))
					if small && size[0] >= 50 && size[1] >= 20 {
						t.Errorf("%v %v: %v does not fit:\n%s", lang, size, w.Screen(), view)
					}
					if !small && len(lines) > size[1] {
						t.Errorf("%v %v: %v has %d lines:\n%s", lang, size, w.Screen(), len(lines), view)
					}
					for _, line := range lines {
						if n := ansi.StringWidth(line); n > size[0] {
							t.Errorf("%v %v: %v has a line of %d: %q", lang, size, w.Screen(), n, ansi.Strip(line))
						}
					}
				}
				for w.Screen().Kind != Confirm {
					check()
					answer := w.chosen
					switch w.Screen().Kind {
					case AskWay:
						answer = wayStages
					case AskModel:
						if w.Screen().Stage == policy.Primary {
							answer = otherModel
						}
					case AskID:
						answer = "quite-a-long-id-of-a-model-that-nobody-knows"
					}
					w.next(answer)
				}
				check()
				w.Failed(errors.New("no"))
				w.ask()
				check()
				if seen != 14 {
					t.Errorf("%d screens were seen", seen)
				}
			}
		}
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(ansi.Strip(s)), "") }

// Nobody sees what a key does on a terminal that is too small: nothing.
func TestKeysAreNotTakenBlindly(t *testing.T) {
	w := wizardOf(locales.En, Current{Policy: policy.Default()}, 30, 8)
	w.Update(enter)
	if w.Screen().Kind != AskLanguage {
		t.Errorf("Enter led to %v", w.Screen())
	}
	w.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	w.Update(enter)
	if w.Screen().Kind != AskProvider {
		t.Errorf("Enter led to %v", w.Screen())
	}
}

// While the policy is being saved, no key starts a second save or leaves.
func TestKeysWaitForTheSave(t *testing.T) {
	w := wizardOf(locales.En, Current{Policy: policy.Default()}, 80, 24)
	saves := 0
	w.save = func(policy.Policy) (string, error) { saves++; return "b", nil }
	for w.Screen().Kind != Confirm {
		w.Update(enter)
	}
	_, save := w.Update(enter)
	for _, k := range []tea.KeyMsg{enter, {Type: tea.KeyEsc}, {Type: tea.KeyShiftTab}} {
		if _, cmd := w.Update(k); cmd != nil {
			t.Errorf("%v does something while saving", k)
		}
	}
	if w.View() == "" {
		t.Error("the screen is gone while saving")
	}
	_, quit := w.Update(save())
	if saves != 1 || w.End() != Done || w.Backup != "b" || quit == nil {
		t.Errorf("saved %d times, end %v, backup %q", saves, w.End(), w.Backup)
	}
}

// A key that is pressed once more while the wizard saves or ends does nothing: it
// would save again in a program that is about to leave, or leave what was saved.
func TestKeysAfterTheEndDoNothing(t *testing.T) {
	saves := 0
	f := NewFlow(locales.New(locales.En), models, Current{Path: "p", Policy: policy.Default()}, Given{}, false)
	w := NewWizard(f, theme.New(termenv.TrueColor, true, true), func(policy.Policy) (string, error) { saves++; return "", nil })
	w.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	var save tea.Cmd
	for n := 0; w.End() == Running && n < 20; n++ {
		_, save = w.Update(enter)
	}
	if w.End() != Done {
		t.Fatalf("it ended with %v at %v", w.End(), w.Screen())
	}
	more := func() {
		t.Helper()
		for _, key := range []tea.KeyMsg{enter, {Type: tea.KeyCtrlC}, {Type: tea.KeyLeft}} {
			if _, cmd := w.Update(key); cmd != nil {
				cmd()
			}
		}
		if w.End() != Done || saves > 1 {
			t.Errorf("it ended with %v and was saved %d times", w.End(), saves)
		}
	}
	more()
	_, quit := w.Update(save())
	if quit == nil {
		t.Error("it does not end")
	}
	more()
}
