package fold

import "testing"

func TestHyphensHoldTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wrap  func(string, int) string
		text  string
		width int
		want  string
	}{
		{Text, "run qa-orch setup --no-store now", 12, "run qa-orch\nsetup\n--no-store\nnow"},
		{Text, "кое-где и кое-как", 10, "кое-где и\nкое-как"},
		{Text, "a-very-long-name", 8, "a-very-l\nong-name"},
		{Text, "\x1b[1mqa-orch\x1b[0m one-two", 8, "\x1b[1mqa-orch\x1b[0m\none-two"},
		{Text, "private \ue02d use", 8, "private\n\ue02d use"},
		{Words, "see /a-long/path now", 8, "see\n/a-long/path\nnow"},
	} {
		if got := c.wrap(c.text, c.width); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
