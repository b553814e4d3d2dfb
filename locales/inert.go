package locales

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert returns s as one line of text that does nothing to a terminal: control and escape
// characters, line breaks, direction overrides and invisible characters are written out (`\x1b`,
// `\n`, `\u202e`), as are bytes that are no UTF-8. Ordinary text comes back unchanged.
func Inert(s string) string {
	clean := func(r rune) bool {
		return r != utf8.RuneError && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !clean(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == utf8.RuneError || clean(r):
			b.WriteString(s[:size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// Shorten cuts s after the given number of characters and says so with an ellipsis.
func Shorten(s string, characters int) string {
	for i := range s {
		if characters == 0 {
			return s[:i] + "…"
		}
		characters--
	}
	return s
}
