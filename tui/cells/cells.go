// Package cells breaks and cuts plain text by the room that it takes on a terminal.
// It goes by whole characters, as people see them: the library takes digits with a
// sign on them (1️⃣) and letters with an accent of their own apart, and leaves rows
// of hyphens too wide. Text with styles in it is for package fold.
package cells

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width is how many cells a text takes.
func Width(text string) int { return ansi.StringWidth(text) }

// next is the first character of a text that is not empty, and its cells.
func next(text string) (char string, width int) {
	if c := text[0]; ' ' <= c && c < 0x7f && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return text[:1], 1
	}
	return ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
}

// Wrap breaks a text into lines of at most width cells: between words where it
// can, else within a word. Hyphens are no place to break: commands and file names
// have them.
func Wrap(text string, width int) []string {
	var w wrapper
	for paragraph := range strings.SplitSeq(text, "\n") {
		w.paragraph(paragraph, width)
	}
	return w.lines
}

// wrapper holds the line that is being filled, spaces after it and the word after those.
type wrapper struct {
	lines               []string
	line, space, word   string
	lineW, spaceW, wide int
}

func (w *wrapper) paragraph(text string, width int) {
	for text != "" {
		char, n := next(text)
		text = text[len(char):]
		r, size := utf8.DecodeRuneInString(char) // a space with an accent on it is none
		if size == len(char) && unicode.IsSpace(r) && r != '\u00a0' && r != '\u202f' {
			w.settle()
			w.space += char
			w.spaceW += n
			continue
		}
		if w.wide+n > width {
			w.settle()
		}
		w.word += char
		w.wide += n
		if w.lineW+w.spaceW+w.wide > width && w.lineW+w.spaceW > 0 {
			w.end()
		}
	}
	w.settle()
	if w.lineW+w.spaceW <= width {
		w.line += w.space
	}
	w.end()
}

// settle puts the word on the line.
func (w *wrapper) settle() {
	if w.word == "" {
		return
	}
	w.line += w.space + w.word
	w.lineW += w.spaceW + w.wide
	w.space, w.word, w.spaceW, w.wide = "", "", 0, 0
}

// end ends the line; spaces at its end are dropped.
func (w *wrapper) end() {
	w.lines = append(w.lines, w.line)
	w.line, w.space, w.lineW, w.spaceW = "", "", 0, 0
}

// Cut shortens a text to width cells, with an ellipsis where something is lost.
func Cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	room, fits := width, 0 // fits is what stays beside the ellipsis
	for at := 0; at < len(text); {
		char, n := next(text[at:])
		if n > room {
			return text[:fits] + "…"
		}
		at += len(char)
		room -= n
		if room > 0 {
			fits = at
		}
	}
	return text
}

// CutStart is Cut for texts whose end tells more, as that of a path does.
func CutStart(text string, width int) string {
	if width <= 1 {
		return Cut(text, width)
	}
	over := Width(text) - width
	if over <= 0 {
		return text
	}
	for over++; over > 0; { // and room for the ellipsis
		char, n := next(text)
		text = text[len(char):]
		over -= n
	}
	return "…" + text
}
