package sessions

import (
	"strings"

	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/cells"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// The least screen that the dashboard can work on.
const (
	leastWidth  = 40
	leastHeight = 10
)

// boxed reports whether a body of w by h cells has room for a frame around it.
func boxed(w, h int) bool { return w >= 46 && h >= 12 }

// bodyWidth is the width of the text in a body of w by h cells.
func bodyWidth(w, h int) int {
	if boxed(w, h) {
		return w - 4
	}
	return w - 2
}

// framed draws a page of text into w by h cells, in a frame where there is room for one.
func framed(e *env, page *pager, title line, lines []line, w, h int, focused bool) []string {
	for i, l := range lines {
		lines[i] = append(line{{" ", theme.Plain}}, l...)
	}
	if boxed(w, h) {
		content := page.page(e.br, lines, w-2, h-2)
		return box{title: title, note: page.note(e.p), focused: focused, lines: content}.render(e.br, w, h)
	}
	return fill(page.page(e.br, lines, w, h), w, h)
}

// fill adds blank lines up to h.
func fill(lines []string, w, h int) []string {
	for len(lines) < h {
		lines = append(lines, strings.Repeat(" ", w))
	}
	return lines[:h]
}

func painted(br *brush, lines []line, w int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = br.paint(l.fit(w), false)
	}
	return out
}

// ends puts left and right at the two ends of a line of w cells. When both don't fit, the right one
// goes.
func ends(left, right line, w int) line {
	room := w - left.width() - right.width()
	if room < 1 {
		return left.fit(w)
	}
	return append(left.with(theme.Plain, strings.Repeat(" ", room)), right...)
}

// firstFit returns the first of several ways to say something that leaves room, the last one where
// none does.
func firstFit(room int, ways ...line) line {
	for _, way := range ways {
		if way.width() <= room {
			return way
		}
	}
	return ways[len(ways)-1]
}

// tooSmall says what is needed, on whatever screen there is.
func tooSmall(p *locales.Printer, w, h int) string {
	lines := strings.Split(fold.Text(p.T("sessions.too-small", locales.Vars{
		"NeedWidth": leastWidth, "NeedHeight": leastHeight, "Width": w, "Height": h,
	}), max(w, 1)), "\n")
	for i := range lines {
		lines[i] = cells.Cut(lines[i], w)
	}
	return strings.Join(lines[:min(len(lines), max(h, 1))], "\n")
}
