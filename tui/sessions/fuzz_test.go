package sessions

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play/playtest"
)

// fuzzKeys are what a byte of the input presses.
var fuzzKeys = []string{
	"up", "down", "enter", "esc", "tab", "shift+tab", "pgup", "pgdown", "home", "end", "backspace",
	"j", "k", "/", "s", "S", "f", "p", "r", "1", "2", "3", "4", "L", "t", "?", "г", "я", " ", "text",
}

// sgr is a sequence that changes colours and nothing else.
var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// FuzzScreen shows any text wherever the dashboard shows one that comes from a file,
// and presses any keys, at any size: every frame has its size, and but for our own
// colours nothing in it steers the terminal.
func FuzzScreen(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string, w, h uint8, russian bool, keys []byte) {
		if len(text) > 1<<10 || len(keys) > 24 || w == 0 || h == 0 {
			return
		}
		lang := locales.En
		if russian {
			lang = locales.Ru
		}
		d := newDesk(t, lang, int(w), int(h))
		d.o.Colors, d.o.Dark, d.o.Known = termenv.TrueColor, true, true
		d.o.StorePath, d.o.PolicyPath, d.o.ReviewsDir, d.o.Home = "/tmp/"+text, "/home/"+text, "/r/"+text, "/home"
		d.look()
		s := session(t, 1, catalog.OtherTask, time.Second)
		s.Policy.Model = text
		p := policy.Default()
		p.Deep.Model = text
		d.reads(sqlite.Delta{Put: []review.Session{s, session(t, 2, catalog.OrdinaryReview, time.Minute)}})
		d.Update(policyMsg{watch.PolicyState{Policy: p, Usable: true, Models: catalog.Builtin()}})
		utf := strings.ToValidUTF8(text, "?") // reviews are JSON
		begun, complete := playtest.Review(t, lang, "rev-aaaa", "a claim of: "+utf, advocate.Steelman, playtest.All, noon), playtest.Review(t, lang, "rev-bbbb", "a claim of: "+utf, advocate.Premortem, 1, noon)
		gone, err := advocate.New("rev-cccc", "a claim of: "+utf, advocate.Gauntlet, utf, noon)
		if err == nil {
			_, err = gone.Abandon("reason "+utf, noon)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.Update(reviewsMsg{watch.ReviewsState{
			Reviews: []*advocate.Review{begun, complete, gone},
			Skipped: []files.Skipped{{File: text, Fault: &advocate.Fault{Code: advocate.FaultType, Field: text}}},
		}})
		check := func() {
			t.Helper()
			raw := d.View()
			if !utf8.ValidString(raw) {
				t.Fatalf("no UTF-8: %q", raw)
			}
			frame := sgr.ReplaceAllString(raw, "")
			lines := strings.Split(frame, "\n")
			if len(lines) > int(h) || len(lines) < int(h) && w >= leastWidth && h >= leastHeight {
				t.Fatalf("%dx%d: %d lines", w, h, len(lines))
			}
			for _, l := range lines {
				if n := ansi.StringWidth(l); n > int(w) {
					t.Fatalf("%dx%d: a line is %d cells wide: %q", w, h, n, l)
				}
				for _, c := range l {
					joins := c == '\u200c' || c == '\u200d' // within words and emoji of reviews
					if unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !joins {
						t.Fatalf("%dx%d: %U is in %q", w, h, c, l)
					}
				}
			}
		}
		check()
		for _, k := range keys {
			key := fuzzKeys[int(k)%len(fuzzKeys)]
			if key == "text" {
				d.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
			} else {
				d.press(key)
			}
			check()
		}
	})
}
