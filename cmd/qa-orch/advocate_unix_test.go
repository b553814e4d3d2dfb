//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
)

// sgr is what qa-orch itself writes to colour text.
var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// onlyColours checks that nothing steers the terminal but colours and line ends.
func onlyColours(t *testing.T, written string) {
	t.Helper()
	for _, r := range sgr.ReplaceAllString(written, "") {
		if r != '\n' && r != '\r' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("%U reaches the terminal in %.300q", r, written)
		}
	}
}

// What a client submitted can't steer the terminal of whoever looks at it, and on a terminal the bare
// command lists.
func TestReviewsOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const claim = "Ship \x1b[2J\x1b]0;owned\x07 \u009b31m\x1b[31mit\u202e now\r\nand\x08 then 🔥 `x` | # y"
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	folder := files.New(dir)
	for _, id := range []string{"rev-aaaa", "rev-bbbb"} {
		r, err := advocate.New(id, claim, advocate.Steelman, claim, at)
		if err != nil {
			t.Fatal(err)
		}
		if err := folder.Create(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.Update("rev-bbbb", func(r *advocate.Review) error {
		points := []any{
			map[string]any{"text": "Half of the partners have not signed \x1b[2J\u202e the amended contract"},
			map[string]any{"text": "The load test stopped at a tenth of the traffic"},
			map[string]any{"text": "Nobody has translated the Swiss invoices yet"},
		}
		if _, err := r.Submit(points, at); err != nil {
			return err
		}
		_, err := r.Submit([]any{
			map[string]any{"index": 0, "stance": "concede", "text": "They keep the previous portal \x1b]0;x\x07 until summer"},
			map[string]any{"index": 1, "stance": "counter", "text": "A full run is booked for the weekend"},
			map[string]any{"index": 2, "stance": "counter", "text": "Switzerland joins in the second wave"},
		}, at)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + t.TempDir(), "DEVILS_ADVOCATE_DIR=" + dir}
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"advocate"}, []string{"2 reviews", "rev-aaaa", "claim survives scrutiny"}},
		{[]string{"advocate", "list", "--lang", "ru"}, []string{"2 испытания", "утверждение устояло"}},
		{[]string{"advocate", "show", "rev-aaaa"}, []string{"Stress test: Ship", "[ ] 3 more of at least 3 items"}},
		{[]string{"advocate", "show", "rev-bbbb"}, []string{"Decision memo: Ship", "Started: 4 March 2026, 12:00", "[ ] Act on the conceded point: Half"}},
		{[]string{"advocate", "show", "rev-aaaa", "--lang", "ru"}, []string{"Начато: 4 марта 2026, 12:00", "Изменено: 4 марта 2026, 12:00"}},
		{[]string{"advocate", "report", "rev-bbbb", "--lang", "ru"}, []string{"Заключение: Ship", "• Способ: сильнейшие доводы"}},
		{[]string{"advocate", "show", "rev-bbbb", "--json"}, []string{`"verdict": {`}},
		{[]string{"advocate", "report", "rev-bbbb", "--format", "json"}, []string{`"review_id": "rev-bbbb"`}},
		{[]string{"advocate", "list", "--json"}, []string{`"count": 2`}},
	} {
		s := sitDown(t, onTerminal{columns: 60, rows: 60, env: env}, c.args...)
		s.exit(exitOK)
		written := s.written()
		onlyColours(t, written)
		for _, says := range c.says {
			if !strings.Contains(squeeze(sgr.ReplaceAllString(written, "")), squeeze(says)) {
				t.Errorf("%v does not say %q:\n%s", c.args, says, written)
			}
		}
	}
}
