//go:build unix

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// The size of a cell and the frame around them, in pixels, and the terminal's own colours.
const (
	cellWidth, cellHeight = 8.4, 16.3
	margin                = 14.0
	fontSize              = 14
	paper, ink            = "#16181d", "#d7dae0"
)

// picture is what a terminal shows.
type picture struct {
	columns int
	rows    [][]cell
}

// cell is a character with its look. A wide one is followed by an empty one.
type cell struct {
	text string
	look look
}

type look struct {
	fg, bg                         string // empty: the terminal's own
	bold, faint, italic, underline bool
}

func cells(emu *vt.Emulator, y int) []cell {
	row := make([]cell, emu.Width())
	for x := range row {
		c := emu.CellAt(x, y)
		if c == nil {
			row[x] = cell{text: " "}
			continue
		}
		row[x] = cell{text: c.Content, look: lookOf(c.Style)}
		if c.Content == "" && c.Width > 0 {
			row[x].text = " "
		}
	}
	return row
}

func lookOf(s uv.Style) look {
	l := look{
		fg: hex(s.Fg), bg: hex(s.Bg),
		bold:   s.Attrs&uv.AttrBold != 0,
		faint:  s.Attrs&uv.AttrFaint != 0,
		italic: s.Attrs&uv.AttrItalic != 0,
	}
	l.underline = s.Underline != uv.UnderlineNone
	if s.Attrs&uv.AttrReverse != 0 {
		l.fg, l.bg = l.bg, l.fg
		if l.fg == "" {
			l.fg = paper
		}
		if l.bg == "" {
			l.bg = ink
		}
	}
	return l
}

func hex(c color.Color) string {
	if c == nil {
		return ""
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func (p picture) text(y int) string {
	var b strings.Builder
	for _, c := range p.rows[y] {
		b.WriteString(c.text)
	}
	return b.String()
}

func (p picture) blank(y int) bool { return strings.TrimSpace(p.text(y)) == "" }

// row returns the first row that has the text, -1 if none.
func (p picture) row(text string) int {
	for y := range p.rows {
		if strings.Contains(p.text(y), text) {
			return y
		}
	}
	return -1
}

// svg draws the picture. Each run of cells of one look keeps its width
// whatever the viewer's font is.
func (p picture) svg() []byte {
	var b bytes.Buffer
	width, height := 2*margin+float64(p.columns)*cellWidth, 2*margin+float64(len(p.rows))*cellHeight
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	fmt.Fprintf(&b, `<g font-family="'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="%d" fill="%s">`+"\n", fontSize, ink)
	for y, row := range p.rows {
		top := margin + float64(y)*cellHeight
		for x := 0; x < len(row); {
			end := x + 1
			for end < len(row) && row[end].look == row[x].look {
				end++
			}
			var text strings.Builder
			for _, c := range row[x:end] {
				text.WriteString(c.text)
			}
			draw(&b, row[x].look, text.String(), x, end, top)
			x = end
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

func draw(b *bytes.Buffer, l look, text string, from, to int, top float64) {
	left, width := margin+float64(from)*cellWidth, float64(to-from)*cellWidth
	if l.bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, width, cellHeight, l.bg)
	}
	// Blanks at both ends need not be drawn, unless they are underlined.
	if !l.underline {
		trimmed := strings.TrimLeft(text, " ")
		skipped := len(text) - len(trimmed)
		left += float64(skipped) * cellWidth
		width -= float64(skipped) * cellWidth
		text = strings.TrimRight(trimmed, " ")
		width -= float64(len(trimmed)-len(text)) * cellWidth
	}
	if text == "" {
		return
	}
	var style string
	if l.fg != "" {
		style += fmt.Sprintf(` fill="%s"`, l.fg)
	}
	if l.bold {
		style += ` font-weight="bold"`
	}
	if l.faint {
		style += ` opacity="0.65"`
	}
	if l.italic {
		style += ` font-style="italic"`
	}
	if l.underline {
		style += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" xml:space="preserve"%s>`, left, top+cellHeight*0.78, width, style)
	_ = xml.EscapeText(b, []byte(text))
	b.WriteString("</text>\n")
}
