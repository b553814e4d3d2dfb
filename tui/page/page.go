// Package page draws documents of the devil's advocate on a terminal: what they are as Markdown, with
// marks that are read instead of parsed.
package page

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/advocate"
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

// Render draws the document in lines of at most width columns, without a newline at the end. Words
// longer than a line are broken.
func Render(d advocate.Document, t *theme.Theme, width int) string {
	r := renderer{t, max(width, narrowest)}
	var blocks []string
	for _, b := range d {
		blocks = append(blocks, r.block(b))
	}
	return strings.Join(blocks, "\n\n")
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

type renderer struct {
	theme *theme.Theme
	width int
}

func (r renderer) block(b advocate.Block) string {
	switch b.Kind {
	case advocate.Heading:
		return r.heading(b)
	case advocate.Paragraph:
		return r.hang("", r.line(b.Line))
	case advocate.Table:
		return r.table(b.Rows)
	}
	var lines []string
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
		lines = append(lines, r.hang(mark, r.line(item.Line)))
		if len(item.Under) > 0 {
			lines = append(lines, r.hang(strings.Repeat(" ", ansi.StringWidth(mark))+"→ ", r.line(item.Under)))
		}
	}
	return strings.Join(lines, "\n")
}

// heading draws a heading; the first is underlined, so that it stands out without colours too.
func (r renderer) heading(b advocate.Block) string {
	var text strings.Builder
	for _, p := range b.Line {
		text.WriteString(p.Text)
	}
	lines := ansi.Wrap(text.String(), r.width, "")
	painted := r.paint(theme.Title, lines)
	if b.Level > 1 {
		return painted
	}
	longest := 0
	for line := range strings.SplitSeq(lines, "\n") {
		longest = max(longest, ansi.StringWidth(line))
	}
	return painted + "\n" + r.theme.Paint(theme.Muted, strings.Repeat("─", longest))
}

// paint paints line by line: a style over several lines would pad them to one width.
func (r renderer) paint(role theme.Role, text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = r.theme.Paint(role, lines[i])
	}
	return strings.Join(lines, "\n")
}

func (r renderer) line(l advocate.Line) string {
	var b strings.Builder
	for _, p := range l {
		role := theme.Plain
		switch {
		case p.Assessment != "":
			role = Assessment(p.Assessment)
		case p.Style == advocate.Strong:
			role = theme.Title
		case p.Style == advocate.Emphasis:
			role = theme.Muted
		}
		b.WriteString(r.theme.Paint(role, p.Text))
	}
	return b.String()
}

// hang wraps a text behind a mark; the lines after the first begin where the text does.
func (r renderer) hang(mark, text string) string {
	margin := ansi.StringWidth(mark)
	lines := ansi.Wrap(text, max(r.width-margin, 1), "")
	return mark + strings.ReplaceAll(lines, "\n", "\n"+strings.Repeat(" ", margin))
}

func (r renderer) table(rows [][]string) string {
	columns := len(rows[0])
	widths := make([]int, columns)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	rest := r.width
	for _, w := range widths[:columns-1] {
		rest -= w + gap
	}
	if rest < min(lastColumn, widths[columns-1]) {
		return r.records(rows)
	}
	var lines []string
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row[:columns-1] {
			b.WriteString(cell + strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+gap))
		}
		line := r.hang(b.String(), row[columns-1])
		if n == 0 {
			line = r.paint(theme.Title, line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// records draws each row of a table under its first cell.
func (r renderer) records(rows [][]string) string {
	var blocks []string
	for _, row := range rows[1:] {
		lines := []string{r.paint(theme.Title, ansi.Wrap(row[0], r.width, ""))}
		for i, cell := range row[1:] {
			lines = append(lines, r.hang("  ", rows[0][i+1]+": "+cell))
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return strings.Join(blocks, "\n\n")
}
