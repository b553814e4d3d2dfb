// Package page lays documents of the devil's advocate out for a terminal: what they are as Markdown,
// with marks that are read instead of parsed.
package page

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/tui/cells"
	"github.com/qa-orch/qa-orch/tui/theme"
)

const (
	// narrowest is the width below which nothing is laid out any more; the terminal breaks the lines.
	narrowest = 20
	// lastColumn is the least width of a table's last column, whose texts are wrapped. With less room
	// each row is a list.
	lastColumn = 28
	gap        = 2
)

// Span is a piece of a line.
type Span struct {
	Text string
	Role theme.Role
}

// Line is one line of a page.
type Line []Span

// Render draws the document in lines of at most width columns, without a newline at the end.
func Render(d advocate.Document, t *theme.Theme, width int) string {
	var b strings.Builder
	for i, l := range Lines(d, width) {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, s := range l {
			b.WriteString(t.Paint(s.Role, s.Text))
		}
	}
	return b.String()
}

// Lines lays the document out in lines of at most width columns. Words longer than a line are broken.
func Lines(d advocate.Document, width int) []Line {
	p := page{width: max(width, narrowest)}
	for i, b := range d {
		if i > 0 {
			p.lines = append(p.lines, nil)
		}
		p.block(b)
	}
	return p.lines
}

// Assessment returns the role of what the devil's advocate says of a claim.
func Assessment(a advocate.Assessment) theme.Role {
	switch a {
	case advocate.Survives:
		return theme.Good
	case advocate.NeedsRevision:
		return theme.Attention
	case advocate.Refuted:
		return theme.Bad
	}
	return theme.Plain
}

type page struct {
	width int
	lines []Line
}

func (p *page) block(b advocate.Block) {
	switch b.Kind {
	case advocate.Heading:
		p.heading(b)
	case advocate.Paragraph:
		p.hang("", spans(b.Line))
	case advocate.Table:
		p.table(b.Rows)
	}
	for i, item := range b.List {
		mark := "• "
		switch b.Kind {
		case advocate.Numbered:
			mark = strconv.Itoa(i+1) + ". "
		case advocate.Checklist:
			mark = "[ ] "
			if item.Done {
				mark = "[x] "
			}
		}
		p.hang(mark, spans(item.Line))
		if len(item.Under) > 0 {
			p.hang(strings.Repeat(" ", ansi.StringWidth(mark))+"→ ", spans(item.Under))
		}
	}
}

// heading draws a heading; the first is underlined, so that it stands out without colours too.
func (p *page) heading(b advocate.Block) {
	line := Line{}
	for _, piece := range b.Line {
		line = append(line, Span{piece.Text, theme.Title})
	}
	before := len(p.lines)
	p.hang("", line)
	if b.Level > 1 {
		return
	}
	longest := 0
	for _, l := range p.lines[before:] {
		longest = max(longest, l.width())
	}
	p.lines = append(p.lines, Line{{strings.Repeat("─", longest), theme.Muted}})
}

func spans(l advocate.Line) Line {
	out := Line{}
	for _, piece := range l {
		role := theme.Plain
		switch {
		case piece.Assessment != "":
			role = Assessment(piece.Assessment)
		case piece.Style == advocate.Strong:
			role = theme.Title
		case piece.Style == advocate.Emphasis:
			role = theme.Muted
		}
		out = append(out, Span{piece.Text, role})
	}
	return out
}

func (l Line) width() (w int) {
	for _, s := range l {
		w += ansi.StringWidth(s.Text)
	}
	return w
}

// hang wraps a line behind a mark; the lines after the first begin where the text does.
func (p *page) hang(mark string, l Line) {
	margin := ansi.StringWidth(mark)
	for _, part := range broken(l, max(p.width-margin, 1)) {
		p.lines = append(p.lines, append(Line{{mark, theme.Plain}}, part...))
		mark = strings.Repeat(" ", margin)
	}
}

// broken breaks a line into lines of at most width columns. Breaking drops spaces and nothing else, which
// tells where each piece has gone.
func broken(l Line, width int) []Line {
	var text strings.Builder
	for _, s := range l {
		text.WriteString(s.Text)
	}
	var out []Line
	at, rest := 0, "" // the span that is being laid out, and what of it is left
	if len(l) > 0 {
		rest = l[0].Text
	}
	for _, part := range cells.Wrap(text.String(), width) {
		line := Line{}
		for part != "" {
			for rest == "" && at < len(l)-1 {
				at++
				rest = l[at].Text
			}
			if n := common(rest, part); n > 0 {
				line = append(line, Span{part[:n], l[at].Role})
				rest, part = rest[n:], part[n:]
				continue
			}
			if rest == "" { // cannot be: all of part is from the spans
				line = append(line, Span{part, theme.Plain})
				break
			}
			_, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
		}
		out = append(out, line)
	}
	return out
}

// common is the length of what a and b begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (p *page) table(rows [][]string) {
	columns := len(rows[0])
	widths := make([]int, columns)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	rest := p.width
	for _, w := range widths[:columns-1] {
		rest -= w + gap
	}
	if rest < min(lastColumn, widths[columns-1]) {
		p.records(rows)
		return
	}
	for n, row := range rows {
		role := theme.Plain
		if n == 0 {
			role = theme.Title
		}
		var b strings.Builder
		for i, cell := range row[:columns-1] {
			b.WriteString(cell + strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+gap))
		}
		first := len(p.lines)
		p.hang(b.String(), Line{{row[columns-1], role}})
		p.lines[first][0].Role = role
	}
}

// records draws each row of a table under its first cell.
func (p *page) records(rows [][]string) {
	for n, row := range rows[1:] {
		if n > 0 {
			p.lines = append(p.lines, nil)
		}
		p.hang("", Line{{row[0], theme.Title}})
		for i, cell := range row[1:] {
			p.hang("  ", Line{{rows[0][i+1] + ": " + cell, theme.Plain}})
		}
	}
}
