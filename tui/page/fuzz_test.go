package page_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/page"
)

// FuzzRender lays documents out that hold any text: no line is too wide, nothing
// steers the terminal, colours change nothing but colours, and nothing is lost.
func FuzzRender(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string, width uint8, complete, russian bool) {
		if len(text) > 2<<10 || !utf8.ValidString(text) {
			return // a client's text is UTF-8: it comes as JSON
		}
		lang := locales.En
		if russian {
			lang = locales.Ru
		}
		claim := "Claim: " + text
		doc := advocate.Document{{Kind: advocate.Paragraph, Line: advocate.Line{{Text: advocate.Plain(text)}}}}
		if complete {
			doc = played(t, lang, advocate.Gauntlet, claim)
		}
		w := max(int(width), 20)
		plain := page.Render(doc, bare, int(width))
		for line := range strings.SplitSeq(plain, "\n") {
			if n := ansi.StringWidth(line); n > w {
				t.Fatalf("at %d columns a line has %d: %q", w, n, line)
			}
		}
		for _, c := range plain {
			if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029') {
				t.Fatalf("%U is drawn", c)
			}
		}
		if got := ansi.Strip(page.Render(doc, coloured, int(width))); got != plain {
			t.Fatalf("colours change the text:\n%q\nwithout:\n%q", got, plain)
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if !strings.Contains(squeeze(plain), squeeze(advocate.Plain(text))) {
			t.Fatalf("%q is lost in\n%s", advocate.Plain(text), plain)
		}
	})
}
