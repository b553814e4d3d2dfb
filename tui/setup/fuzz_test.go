package setup

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
)

// FuzzPrompt holds the plain conversation with somebody who types anything. It comes
// to an end with the input, says nothing that steers a terminal, does not repeat what
// was typed wrong, and saves nothing but a valid policy, once. Each @ stands for a secret.
func FuzzPrompt(f *testing.F) {
	const canary = "sk-CANARY-7f3a"
	f.Fuzz(func(t *testing.T, typed []byte, russian, configured bool, path string) {
		if len(typed) > 4<<10 {
			return
		}
		lang := locales.En
		if russian {
			lang = locales.Ru
		}
		current := Current{Path: path}
		if configured {
			current.Configured, current.Policy = true, policy.Default()
		}
		flow := NewFlow(locales.New(lang), models, current, Given{}, false)
		saved := 0
		save := func(p policy.Policy) (string, error) {
			saved++
			if problems := policy.Validate(p, models); len(problems) > 0 {
				t.Errorf("saved %+v: %v", p, problems)
			}
			return "", nil
		}
		var out bytes.Buffer
		if _, err := Prompt(context.Background(), flow, bytes.NewReader(bytes.ReplaceAll(typed, []byte("@"), []byte(canary+" x"))), &out, 80, save); err != nil {
			t.Fatal(err)
		}
		if flow.End() == Running || (saved > 0) != (flow.End() == Done) || saved > 1 {
			t.Errorf("it ended as %v and saved %d times", flow.End(), saved)
		}
		text := out.String()
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) }) {
			t.Errorf("steers a terminal: %q", text)
		}
		if strings.Contains(text, canary+" x") {
			t.Errorf("repeats what was typed: %s", text)
		}
	})
}
