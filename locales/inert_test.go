package locales

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestInert(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                 "",
		`C:\work\проект`:                   `C:\work\проект`,
		"e\u0301 и\u0306":                  "e\u0301 и\u0306",
		"\x1b[31mred\x1b[0m":               `\x1b[31mred\x1b[0m`,
		"\x1b]0;title\a":                   `\x1b]0;title\x07`,
		"a\nb\r\tc\x00\x7f":                `a\nb\r\tc\x00\x7f`,
		"\u009b31m":                        `\x9b31m`,
		"\x9b31m":                          `\x9b31m`,
		"ok\xff\xfeок":                     `ok\xff\xfeок`,
		"\u202egnp.exe\u202c":              `\u202egnp.exe\u202c`,
		"\u2066a\u2069\u200e\u061c":        `\u2066a\u2069\u200e\u061c`,
		"zero\u200bwidth\ufeff":            `zero\u200bwidth\ufeff`,
		"line\u2028sep":                    `line\u2028sep`,
		"tag\U000e0041":                    `tag\U000e0041`,
		"a replacement \ufffd stays as is": "a replacement \ufffd stays as is",
	} {
		if got := Inert(in); got != want {
			t.Errorf("Inert(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "жук": "жук", "жуки": "жук…", "\xff\xff\xff\xff": "\xff\xff\xff…"} {
		if got := Shorten(in, 3); got != want {
			t.Errorf("Shorten(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzInert(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := Inert(s)
		if !utf8.ValidString(out) {
			t.Fatalf("%q gives invalid UTF-8 %q", s, out)
		}
		for _, r := range out {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q leaves %q in %q", s, r, out)
			}
		}
		if Inert(out) != out {
			t.Fatalf("%q is not settled after one pass", s)
		}
	})
}
