package main

import (
	"strings"

	"github.com/qa-orch/qa-orch/tui/fold"
)

// wrap breaks text at spaces for a terminal whose lines have margin columns
// before it, and indents all lines but the first by them. What is longer than a
// line is left to the terminal. Where there is no terminal text stays as it is,
// for programs that look for something in it.
func (a *App) wrap(text string, margin int) string {
	if !a.OutTTY {
		return text
	}
	text = fold.Words(text, max(a.Columns()-margin, 10))
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", margin))
}
