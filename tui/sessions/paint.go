package sessions

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/cells"
	"github.com/qa-orch/qa-orch/tui/theme"
)

const roleCount = int(theme.Deepest) + 1

// brush writes text in the look of its role. The escape sequences are made once: a frame has some
// thousand pieces of text.
type brush struct {
	plain, chosen [roleCount]around
}

type around struct{ before, after string }

func newBrush(t *theme.Theme, dark, known bool) *brush {
	b := &brush{}
	for role := range roleCount {
		style := t.Style(theme.Role(role))
		b.plain[role] = aroundOf(style)
		switch profile := t.Renderer.ColorProfile(); {
		case profile == termenv.Ascii || profile == termenv.ANSI || !known:
			style = t.Renderer.NewStyle().Reverse(true)
		case dark:
			style = style.Background(lipgloss.CompleteColor{TrueColor: "#2a3647", ANSI256: "237"})
		default:
			style = style.Background(lipgloss.CompleteColor{TrueColor: "#d9e5f3", ANSI256: "254"})
		}
		b.chosen[role] = aroundOf(style)
	}
	return b
}

func aroundOf(style lipgloss.Style) around {
	before, after, _ := strings.Cut(style.Render("x"), "x")
	return around{before, after}
}

// seg is a piece of a line: text of one role. Its text must be inert and without styling.
type seg struct {
	text string
	role theme.Role
}

// line is a line made of pieces.
type line []seg

func text(role theme.Role, s string) line { return line{{s, role}} }

func (l line) with(role theme.Role, s string) line { return append(l, seg{s, role}) }

func (l line) width() (w int) {
	for _, s := range l {
		w += ansi.StringWidth(s.text)
	}
	return w
}

// fit cuts or fills l to exactly w cells.
func (l line) fit(w int) line {
	out := make(line, 0, len(l)+1)
	room := w
	for _, s := range l {
		n := ansi.StringWidth(s.text)
		if n > room {
			s.text = cells.Cut(s.text, room)
			n = ansi.StringWidth(s.text)
			out = append(out, s)
			room -= n
			break
		}
		out = append(out, s)
		room -= n
	}
	if room > 0 {
		out = append(out, seg{text: strings.Repeat(" ", room)})
	}
	return out
}

// paint writes l in its colours.
func (b *brush) paint(l line, chosen bool) string {
	set := &b.plain
	if chosen {
		set = &b.chosen
	}
	var out strings.Builder
	for _, s := range l {
		if s.text == "" {
			continue
		}
		w := set[s.role]
		out.WriteString(w.before)
		out.WriteString(s.text)
		out.WriteString(w.after)
	}
	return out.String()
}

func pad(s string, w int) string {
	s = cells.Cut(s, w)
	if n := ansi.StringWidth(s); n < w {
		s += strings.Repeat(" ", w-n)
	}
	return s
}

func padLeft(s string, w int) string {
	s = cells.Cut(s, w)
	if n := ansi.StringWidth(s); n < w {
		s = strings.Repeat(" ", w-n) + s
	}
	return s
}

// paragraph wraps prose to w cells, all lines indented.
func paragraph(role theme.Role, s string, w, indent int) []line {
	margin := strings.Repeat(" ", indent)
	var out []line
	for _, part := range cells.Wrap(s, max(w-indent, 8)) {
		out = append(out, line{{margin, theme.Plain}, {part, role}})
	}
	return out
}

// bullet is paragraph with a mark before the first line.
func bullet(mark string, markRole, role theme.Role, s string, w, indent int) []line {
	width := ansi.StringWidth(mark) + 1
	out := paragraph(role, s, w, indent+width)
	out[0][0] = seg{strings.Repeat(" ", indent) + mark + " ", markRole}
	return out
}

// box draws lines in a frame of w by h cells with a title above and a note below. Missing lines are
// left blank, lines too many are dropped. Lines that stand for the selection say so themselves.
type box struct {
	title   line
	note    line
	focused bool
	lines   []string // painted, each w-2 cells wide
}

func (b box) render(br *brush, w, h int) []string {
	role := theme.Muted
	if b.focused {
		role = theme.Accent
	}
	edge := func(left, right string, label line, atEnd bool) string {
		room := w - 2
		if len(label) > 0 && room > 6 {
			label = append(append(line{{" ", theme.Plain}}, label...), seg{" ", theme.Plain})
			if n := label.width(); n > room-2 {
				label = label.fit(room - 2)
			}
			rest := room - 1 - label.width()
			if atEnd {
				return br.paint(append(append(line{{left + strings.Repeat("─", rest), role}}, label...), seg{"─" + right, role}), false)
			}
			return br.paint(append(append(line{{left + "─", role}}, label...), seg{strings.Repeat("─", rest) + right, role}), false)
		}
		return br.paint(line{{left + strings.Repeat("─", max(room, 0)) + right, role}}, false)
	}
	out := make([]string, 0, h)
	out = append(out, edge("╭", "╮", b.title, false))
	side := br.paint(line{{"│", role}}, false)
	blank := strings.Repeat(" ", max(w-2, 0))
	for i := range h - 2 {
		content := blank
		if i < len(b.lines) {
			content = b.lines[i]
		}
		out = append(out, side+content+side)
	}
	return append(out, edge("╰", "╯", b.note, true))
}

// beside joins two columns of equally many lines.
func beside(left, right []string) []string {
	out := make([]string, len(left))
	for i := range left {
		out[i] = left[i] + right[i]
	}
	return out
}

// pager shows a part of many lines.
type pager struct {
	off, height, total int
}

// page returns the painted lines that are in view, each w cells wide.
func (p *pager) page(br *brush, lines []line, w, h int) []string {
	p.height, p.total = h, len(lines)
	p.off = max(min(p.off, p.total-h), 0)
	var out []string
	for _, l := range lines[p.off:min(p.off+h, len(lines))] {
		out = append(out, br.paint(l.fit(w), false))
	}
	return out
}

// note says where the page is, nothing where all is in view.
func (p *pager) note(pr *locales.Printer) line {
	if p.total <= p.height {
		return nil
	}
	return text(theme.Muted, pr.T("sessions.lines", locales.Vars{
		"First": p.off + 1, "Last": min(p.off+p.height, p.total), "Total": p.total,
	}))
}

func (p *pager) move(a action) bool {
	to, ok := a.from(p.off, p.height, p.total)
	if ok {
		p.off = max(min(to, p.total-p.height), 0)
	}
	return ok
}

// from returns where an action that moves leads to from a line, with height lines in view and total
// in all; that may be past the ends.
func (a action) from(at, height, total int) (to int, moves bool) {
	page := max(height-1, 1)
	switch a {
	case actUp:
		return at - 1, true
	case actDown:
		return at + 1, true
	case actPageUp:
		return at - page, true
	case actPageDown:
		return at + page, true
	case actTop:
		return 0, true
	case actBottom:
		return total, true
	}
	return at, false
}

// selection is what is chosen in a list and the part of it that is in view.
type selection struct {
	at, off, height, total int
}

// set says how many entries there are and how many fit, and keeps the selection in view.
func (c *selection) set(total, height int) {
	c.total, c.height = total, max(height, 1)
	c.at = max(min(c.at, total-1), 0)
	c.off = max(min(c.off, total-c.height), 0)
	c.off = max(min(c.off, c.at), c.at-c.height+1)
}

// jump selects an entry that moved, with the selection staying where it is on the screen.
func (c *selection) jump(at int) {
	if c.off > 0 || at >= c.height {
		c.off = max(at-(c.at-c.off), 0)
	}
	c.at = at
}

func (c *selection) move(a action) bool {
	to, ok := a.from(c.at, c.height, c.total)
	if ok {
		c.at = to
		c.set(c.total, c.height)
	}
	return ok
}
