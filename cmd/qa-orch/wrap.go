package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// noBreak stands in for hyphens while text is wrapped, so that flags and paths
// stay whole.
const noBreak = "\u2011"

// fold breaks text at spaces, and inside a word only where it is wider than width columns.
func fold(text string, width int) string {
	text = ansi.Wrap(strings.ReplaceAll(text, "-", noBreak), width, "")
	return strings.ReplaceAll(text, noBreak, "-")
}

// wrap breaks text at spaces for a terminal whose lines have margin columns
// before it, and indents all lines but the first by them. What is longer than a
// line is left to the terminal. Where there is no terminal text stays as it is,
// for programs that look for something in it.
func (a *App) wrap(text string, margin int) string {
	if !a.OutTTY {
		return text
	}
	text = ansi.Wordwrap(strings.ReplaceAll(text, "-", noBreak), max(a.Columns()-margin, 10), "")
	text = strings.ReplaceAll(text, noBreak, "-")
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", margin))
}
