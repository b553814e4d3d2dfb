package sessions

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play/playtest"
)

// stressTests are reviews in every state.
func stressTests(t testing.TB, lang locales.Lang) watch.ReviewsState {
	t.Helper()
	gone := playtest.Review(t, lang, "rev-gone", "The portal goes out on Thursday \x1b[2J\u202e", advocate.Assumptions, 0, noon.Add(-26*time.Hour))
	if _, err := gone.Abandon("withdrawn", noon.Add(-25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	return watch.ReviewsState{
		Reviews: []*advocate.Review{
			playtest.Review(t, lang, "rev-whol", "", advocate.Gauntlet, playtest.All, noon.Add(-time.Minute)),
			playtest.Review(t, lang, "rev-pre2", "", advocate.Premortem, 2, noon.Add(-time.Hour)),
			playtest.Review(t, lang, "rev-stee", "We keep the old API for 👨‍👩‍👧 another year", advocate.Steelman, playtest.All, noon.Add(-2*time.Hour)),
			gone,
		},
		Skipped: []files.Skipped{{File: "notes.json", Fault: &advocate.Fault{Code: advocate.FaultName}}},
	}
}

// reviewed is a dashboard that shows the reviews.
func reviewed(t testing.TB, lang locales.Lang, w, h int) *desk {
	t.Helper()
	d := lived(t, lang, w, h)
	d.press("4")
	d.Update(reviewsMsg{stressTests(t, lang)})
	return d
}

func (d *desk) reviewIDs() string {
	var ids []string
	for _, r := range d.rev.shown {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func TestReviewsView(t *testing.T) {
	t.Parallel()
	d := reviewed(t, locales.En, 80, 24)
	for _, says := range []string{"▸ rev-whol", "~ claim needs revision · gauntlet", "▶ 3/3 mitigations · premortem", "✓ claim survives scrutiny", "– abandoned", "11:59", "! one file is no valid review"} {
		if !strings.Contains(d.screen(), says) {
			t.Errorf("the list does not show %q:\n%s", says, d.screen())
		}
	}
	d.press("down", "y")
	if !slices.Equal(d.copied, []string{"rev-pre2"}) {
		t.Errorf("copied %q", d.copied)
	}
	d.press("enter")
	for _, says := range []string{"✓ setup · 1 item", "✓ failure causes · 4 items", "▶ mitigations · 0 items"} {
		if !strings.Contains(d.screen(), says) {
			t.Errorf("the progress does not show %q:\n%s", says, d.screen())
		}
	}
	d.press("end")
	if !strings.Contains(d.screen(), "[ ] an answer to item 1 of phase failure causes") {
		t.Errorf("what is missing is not there:\n%s", d.screen())
	}
	d.press("esc", "home", "enter")
	d.screen()
	d.press("end")
	if !strings.Contains(d.screen(), "[ ] Act on the conceded point: ") {
		t.Errorf("the next actions are not at the end:\n%s", d.screen())
	}
	d.press("L")
	d.screen()
	d.press("end")
	if !strings.Contains(d.screen(), "[ ] Учесть признанный довод: ") {
		t.Errorf("the language does not follow:\n%s", d.screen())
	}
}

func TestReviewsFilter(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"premortem": "rev-pre2", "ПРЕМОРТЕМ": "rev-pre2", "old api": "rev-stee", "rev-g": "rev-gone",
		"устояло": "rev-stee", "needs revision": "rev-whol", "abandoned": "rev-gone", "no such": "",
	} {
		d := reviewed(t, locales.En, 80, 24)
		d.search(query)
		if got := d.reviewIDs(); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
		d.press("esc")
		if len(d.rev.shown) != 4 {
			t.Errorf("%q: Esc leaves %s", query, d.reviewIDs())
		}
	}
}

// The selection stays on its review when others come or go, and an open one that went away is closed.
func TestReviewsSelectionSurvives(t *testing.T) {
	t.Parallel()
	d := reviewed(t, locales.En, 80, 24)
	d.press("down", "down")
	s := stressTests(t, locales.En)
	s.Reviews = append([]*advocate.Review{playtest.Review(t, locales.En, "rev-new1", "", advocate.Steelman, 0, noon)}, s.Reviews...)
	d.Update(reviewsMsg{s})
	if r := d.rev.current(); r == nil || r.ID != "rev-stee" {
		t.Errorf("selected %v", r)
	}
	d.press("enter")
	d.Update(reviewsMsg{})
	if d.rev.open || !strings.Contains(d.screen(), "no reviews yet") {
		t.Errorf("an empty folder shows\n%s", d.screen())
	}
}

// The folder is another server's: it is looked at while its view is shown, by one command at a time.
func TestReviewsAreFollowedWhileShown(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 80, 24)
	d.press("2")
	if d.waitingReviews {
		t.Error("the reviews are followed before they are shown")
	}
	d.press("4")
	if !d.waitingReviews || d.followReviews() != nil {
		t.Error("the reviews are not followed, or twice")
	}
	d.press("1")
	d.Update(reviewsMsg{stressTests(t, locales.En)})
	if d.waitingReviews {
		t.Error("the reviews are followed after they were shown")
	}
}

func TestReviewsMouse(t *testing.T) {
	t.Parallel()
	d := reviewed(t, locales.En, 80, 24)
	d.screen()
	click := func(x, y int) {
		d.Update(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		d.screen()
	}
	click(10, d.bodyTop+1+2*perReview)
	if r := d.rev.current(); r == nil || r.ID != "rev-stee" || d.rev.open {
		t.Errorf("a click selects %v", r)
	}
	click(10, d.bodyTop+1+2*perReview)
	if !d.rev.open {
		t.Error("a second click does not open")
	}
	d.Update(tea.MouseMsg{X: 10, Y: 10, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	if d.rev.page.off == 0 {
		t.Error("the wheel does not scroll the memo")
	}
}

// A key and the frame that answers it, with a memo open beside thousands of reviews.
func BenchmarkReviews(b *testing.B) {
	d := reviewed(b, locales.Ru, 160, 50)
	s := stressTests(b, locales.Ru)
	for i := range 5000 {
		s.Reviews = append(s.Reviews, playtest.Review(b, locales.Ru, fmt.Sprintf("rev-%04d", i), "", advocate.Premortem, 1, noon.Add(-time.Hour)))
	}
	d.Update(reviewsMsg{s})
	b.Run("down", func(b *testing.B) {
		for b.Loop() {
			d.press("down")
			d.View()
		}
	})
	b.Run("scroll", func(b *testing.B) {
		d.press("home", "enter")
		for b.Loop() {
			d.press("down")
			d.View()
		}
	})
	b.Run("filter", func(b *testing.B) {
		d.press("esc")
		for b.Loop() {
			d.press("/", "р", "backspace", "esc")
			d.View()
		}
	})
}
