// Package fold breaks text into lines at spaces. Hyphens are no place to break:
// commands, flags, paths and file names have them.
package fold

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// hyphen stands in for hyphens while the library, which would break there,
// breaks lines. It is a letter of private use, so no text has it.
const hyphen = "\ue02d"

// Text breaks text into lines of at most width columns: at spaces, and inside a
// word only where that is wider than a line.
func Text(text string, width int) string { return with(ansi.Wrap, text, width) }

// Words breaks text at spaces only. A word that is wider than a line stays whole
// and is left to the terminal.
func Words(text string, width int) string { return with(ansi.Wordwrap, text, width) }

func with(wrap func(string, int, string) string, text string, width int) string {
	if strings.Contains(text, hyphen) {
		return wrap(text, width, "")
	}
	return strings.ReplaceAll(wrap(strings.ReplaceAll(text, "-", hyphen), width, ""), hyphen, "-")
}
