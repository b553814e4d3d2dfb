package cells

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 5, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one  two", 8, []string{"one  two"}},
		{"one   two", 5, []string{"one", "two"}},
		{"  in ", 9, []string{"  in "}},
		{"a\n\nb", 5, []string{"a", "", "b"}},
		{"ab well-known", 10, []string{"ab", "well-known"}},
		{"well-known", 8, []string{"well-kno", "wn"}},
		{"a bcdefgh", 3, []string{"a", "bcd", "efg", "h"}},
		{"abc d", 3, []string{"abc", "d"}},
		{strings.Repeat("-", 8), 3, []string{"---", "---", "--"}},
		{"1️⃣2️⃣3️⃣", 4, []string{"1️⃣2️⃣", "3️⃣"}},
		{"漢字漢字", 5, []string{"漢字", "漢字"}},
		{"👨‍👩‍👧👨‍👩‍👧", 2, []string{"👨‍👩‍👧", "👨‍👩‍👧"}},
		{"e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"12\u00a0345 6", 6, []string{"12\u00a0345", "6"}},
		{"漢", 1, []string{"漢"}}, // there is no way to make it fit
	} {
		if got := Wrap(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d cells: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text       string
		width      int
		cut, start string
	}{
		{"abcdef", 6, "abcdef", "abcdef"},
		{"abcdef", 4, "abc…", "…def"},
		{"abcdef", 1, "…", "…"},
		{"abcdef", 0, "", ""},
		{"", 3, "", ""},
		{"1️⃣2️⃣3️⃣", 5, "1️⃣2️⃣…", "…2️⃣3️⃣"},
		{"1️⃣2️⃣3️⃣", 4, "1️⃣…", "…3️⃣"},
		{"漢字漢", 4, "漢…", "…漢"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", "…e\u0301"},
		{"👨‍👩‍👧x", 2, "…", "…x"},
	} {
		if got := Cut(c.text, c.width); got != c.cut {
			t.Errorf("%q cut to %d cells: %q, want %q", c.text, c.width, got, c.cut)
		}
		if got := CutStart(c.text, c.width); got != c.start {
			t.Errorf("%q cut to its last %d cells: %q, want %q", c.text, c.width, got, c.start)
		}
	}
}

// FuzzCells: no text is too wide for the room that it was wrapped or cut for, and
// wrapping loses nothing but white space.
func FuzzCells(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\n' {
				return -1 // it has no escape sequences
			}
			return r
		}, strings.ToValidUTF8(text, "?"))
		w := max(int(width), 2) // a character may take two
		lines := Wrap(text, w)
		for _, l := range lines {
			if n := ansi.StringWidth(l); n > w {
				t.Errorf("%d cells in %d: %q", n, w, l)
			}
		}
		bare := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		if got, want := bare(strings.Join(lines, "")), bare(text); got != want {
			t.Errorf("%q became %q", want, got)
		}
		line := strings.ReplaceAll(text, "\n", " ")
		for _, cut := range []func(string, int) string{Cut, CutStart} {
			got := cut(line, int(width))
			n := ansi.StringWidth(got)
			switch {
			case n > int(width):
				t.Errorf("%d cells in %d: %q", n, width, got)
			case ansi.StringWidth(line) <= int(width) && got != line && width > 0:
				t.Errorf("%q fits, and yet it became %q", line, got)
			}
		}
	})
}
