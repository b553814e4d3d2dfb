package locales

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// FuzzDetect: any flag and any environment choose a language; a flag that names one
// is obeyed, one that names none is an error that still leaves a language to say so in.
func FuzzDetect(f *testing.F) {
	f.Fuzz(func(t *testing.T, flag, own, all, messages, lang string) {
		values := map[string]string{"QA_ORCH_LANG": own, "LC_ALL": all, "LC_MESSAGES": messages, "LANG": lang}
		getenv := func(name string) string { return values[name] }
		got, err := Detect(flag, getenv)
		asked, known := Parse(flag)
		switch {
		case !slices.Contains(Langs(), got):
			t.Fatalf("no language: %v", got)
		case (err != nil) != (flag != "" && !known):
			t.Fatalf("flag %q: %v", flag, err)
		case flag != "" && known && got != asked:
			t.Fatalf("flag %q asks for %v and gets %v", flag, asked, got)
		}
		if flag != "" {
			return
		}
		for _, name := range environment {
			if value := strings.TrimSpace(values[name]); value != "" {
				if want, _ := Parse(value); got != want {
					t.Fatalf("%s=%q asks for %v and gets %v", name, value, want, got)
				}
				// What systems write after the language changes nothing.
				if !strings.ContainsAny(value, ":.@") {
					if as, _ := Parse(value + ".UTF-8@latin:de"); as != got {
						t.Fatalf("%q with a charset is %v, without %v", value, as, got)
					}
				}
				return
			}
		}
		if got != En {
			t.Fatalf("nobody asks for %v", got)
		}
	})
}

// named is a kind of text that is no string by type.
type named string

// FuzzMessages says messages with any text in their variables: it stays on its line,
// steers no terminal, and is not taken for a template.
func FuzzMessages(f *testing.F) {
	type said struct {
		id     string
		plural bool
	}
	var all []said
	names := map[string]bool{}
	for id, m := range readMessages(f, En) {
		all = append(all, said{id, m.plural()})
		for _, v := range m.vars {
			names[v] = true
		}
	}
	slices.SortFunc(all, func(a, b said) int { return strings.Compare(a.id, b.id) })
	say := func(lang Lang, m said, count int, value any) string {
		vars := Vars{}
		for name := range names {
			vars[name] = value
		}
		if m.plural {
			delete(vars, "Count")
			return New(lang).N(m.id, count, vars)
		}
		return New(lang).T(m.id, vars)
	}
	f.Fuzz(func(t *testing.T, pick uint16, count int, text string) {
		m := all[int(pick)%len(all)]
		for _, lang := range Langs() {
			plain := say(lang, m, count, "x")
			for _, value := range []any{text, named(text), []string{text}, OneOf{text}} {
				got := say(lang, m, count, value)
				if !utf8.ValidString(got) || strings.Count(got, "\n") != strings.Count(plain, "\n") {
					t.Fatalf("%s in %v: %q", m.id, lang, got)
				}
				for _, r := range got {
					if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !strings.ContainsRune(plain, r) {
						t.Fatalf("%s in %v: %q is in %q", m.id, lang, r, got)
					}
				}
			}
			if got := say(lang, m, count, text); got != strings.ReplaceAll(say(lang, m, count, "\ue000"), "\ue000", Inert(text)) {
				t.Fatalf("%s in %v: %q does not hold %q as it is", m.id, lang, got, text)
			}
		}
	})
}

// FuzzFormat: numbers and times of any size are written without an end in the middle.
func FuzzFormat(f *testing.F) {
	f.Fuzz(func(t *testing.T, n int64, x float64) {
		for _, lang := range Langs() {
			p := New(lang)
			for _, s := range []string{
				p.Count(int(n)), p.Bytes(n), p.Duration(time.Duration(n)), p.Ago(time.Duration(n)),
				p.Decimal(x, 2), p.DateTime(time.Unix(n, 0).UTC()), p.Clock(time.Unix(n, 0).UTC()),
			} {
				if s == "" || strings.HasPrefix(s, "format.") || Inert(s) != s {
					t.Errorf("%d, %v in %v: %q", n, x, lang, s)
				}
			}
			if digits := strings.NewReplacer(",", "", "\u00a0", "").Replace(p.Count(int(n))); len(digits) == 0 || strings.Trim(digits, "-0123456789") != "" {
				t.Errorf("%d: %q", n, digits)
			}
		}
	})
}
