package page_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/memo"
	"github.com/qa-orch/qa-orch/locales/play/playtest"
	"github.com/qa-orch/qa-orch/tui/page"
	"github.com/qa-orch/qa-orch/tui/theme"
)

var (
	bare     = theme.New(termenv.Ascii, true, true)
	coloured = theme.New(termenv.TrueColor, true, true)
)

// played returns the performance of a mode, complete, with a claim of its own.
func played(t testing.TB, lang locales.Lang, mode advocate.Mode, claim string) advocate.Document {
	t.Helper()
	return playtest.Review(t, lang, "rev-play", claim, mode, playtest.All, time.Unix(0, 0)).Document(memo.Labels(locales.New(lang)))
}

func TestEveryLineFits(t *testing.T) {
	t.Parallel()
	for _, lang := range locales.Langs() {
		for _, mode := range advocate.Modes() {
			for _, claim := range []string{"", strings.Repeat("w", 300), "🔥👨‍👩‍👧🏳️‍🌈 " + strings.Repeat("e\u0301", 90), strings.Repeat("שלום עולם ", 20)} {
				if claim != "" && mode != advocate.Steelman {
					continue
				}
				doc := played(t, lang, mode, claim)
				for _, width := range []int{20, 50, 100} {
					plain := page.Render(doc, bare, width)
					for line := range strings.SplitSeq(plain, "\n") {
						if w := ansi.StringWidth(line); w > width {
							t.Errorf("%v, %s: at %d columns a line has %d: %q", lang, mode, width, w, line)
						}
					}
					if got := ansi.Strip(page.Render(doc, coloured, width)); got != plain {
						t.Errorf("%v, %s, %d columns: colours change the text:\n%s\nwithout:\n%s", lang, mode, width, got, plain)
					}
				}
			}
		}
	}
}

// Everything that the Markdown has is on the terminal too, in words.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	doc := played(t, locales.En, advocate.Gauntlet, "")
	for _, width := range []int{40, 80, 500} {
		drawn := squeeze(page.Render(doc, bare, width))
		for _, b := range doc {
			lines := []advocate.Line{b.Line}
			for _, item := range b.List {
				lines = append(lines, item.Line, item.Under)
			}
			for _, line := range lines {
				text := ""
				for _, p := range line {
					text += p.Text
				}
				if !strings.Contains(drawn, squeeze(text)) {
					t.Errorf("%d columns: %q is missing", width, text)
				}
			}
		}
	}
	wide := page.Render(doc, bare, 140)
	if !regexp.MustCompile(`\nLens +Assessment +Risk score +Verdict\n`).MatchString(wide) {
		t.Errorf("no table at 140 columns:\n%.1500s", wide)
	}
	narrow := page.Render(doc, bare, 50)
	if !strings.Contains(narrow, "\npremortem\n  Assessment: claim needs revision\n  Risk score: 9.75\n") {
		t.Errorf("no records at 50 columns:\n%.1500s", narrow)
	}
	if !strings.Contains(narrow, "\n[ ] Run the test: ") || !strings.Contains(narrow, "\n   → Rebuttal (holds): ") {
		t.Errorf("no checklist or answers:\n%s", narrow)
	}
}

func TestHostileTextsAreInert(t *testing.T) {
	t.Parallel()
	for _, claim := range []string{
		"a claim \x1b[2J\x1b]0;title\x07 \x9b31m\u009b31m \x00\x08\x7f end", "a claim\r\nb\rc\u2028d\u2029e\u0085f\vg\fh",
		"\u202eevil\u202c a claim \u2066x\u2069 \u200f", "a claim <!-- --> | # `x` \u200b\ufeff\u00ad",
	} {
		for _, mode := range []advocate.Mode{advocate.Gauntlet, advocate.Steelman} {
			text := ansi.Strip(page.Render(played(t, locales.En, mode, claim), coloured, 60))
			plain := page.Render(played(t, locales.En, mode, claim), bare, 60)
			for _, c := range text + plain {
				if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)) {
					t.Errorf("%q: %U is drawn", claim, c)
				}
			}
		}
	}
}
