package main

import (
	"strings"
	"unicode"

	"github.com/qa-orch/qa-orch/core/clients"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// shown are the words that a diff may show. A client's list holds the secrets of
// other servers, and a person may have put some into our entry too, so a diff
// shows what is known to be ours and leaves out the rest.
type shown map[string]bool

// shownOf returns the words of the entry as it will be and, of the one that is
// there, the program.
func shownOf(plan *clients.Plan) shown {
	s := shown{}
	c := plan.Client
	if text, err := c.Format.Set(nil, c.Entry(plan.Name), c.Object(plan.Scope, plan.Name, plan.Entry)); err == nil {
		s.add(string(text))
	}
	if old, found, err := c.Lookup(plan.Before, plan.Name); err == nil && found {
		s.add(old.Command)
	}
	return s
}

func (s shown) add(text string) {
	for _, word := range strings.FieldsFunc(text, between) {
		s[word] = true
	}
}

// between reports whether a character stands between words. In all three formats
// it is never a part of a secret worth the name.
func between(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'{}[]:,`, r) }

// veil puts an ellipsis for each word of a line that may not be shown, one for
// all that follow each other.
func (s shown) veil(line string) string {
	var b strings.Builder
	gap, hidden := "", false // since the last word
	for rest := line; rest != ""; {
		at := strings.IndexFunc(rest, func(r rune) bool { return !between(r) })
		if at < 0 {
			at = len(rest)
		}
		gap, rest = gap+rest[:at], rest[at:]
		end := strings.IndexFunc(rest, between)
		if end < 0 {
			end = len(rest)
		}
		word := rest[:end]
		rest = rest[end:]
		switch {
		case word == "" || s[word]:
			b.WriteString(gap + word)
			hidden = false
		case !hidden || strings.TrimSpace(gap) != "":
			b.WriteString(gap + "…")
			hidden = true
		}
		gap = ""
	}
	return b.String() + gap
}

// printDiff prints what changes between two texts: an edit of ours is in one
// place.
func (a *App) printDiff(before, after []byte, may shown) {
	old, now := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	top := 0
	for top < len(old) && top < len(now) && old[top] == now[top] {
		top++
	}
	old, now = old[top:], now[top:]
	for len(old) > 0 && len(now) > 0 && old[len(old)-1] == now[len(now)-1] {
		old, now = old[:len(old)-1], now[:len(now)-1]
	}
	a.Println("  " + a.Theme().Paint(theme.Muted, a.T("connect.from-line", locales.Vars{"Line": top + 1})))
	show := func(sign string, role theme.Role, lines, others []string) {
		for i, line := range lines {
			line = strings.TrimRight(line, "\r\n")
			if line == "" && i == len(lines)-1 {
				continue
			}
			other := ""
			if len(others) > 0 {
				other = strings.TrimRight(others[min(i, len(others)-1)], "\r\n")
			}
			a.Println("  " + a.Theme().Paint(role, sign+" "+locales.Inert(may.veil(elide(line, other)))))
		}
	}
	show("-", theme.Bad, old, now)
	show("+", theme.Good, now, old)
}

const (
	// around is how much is shown about a change within a line, in characters.
	around = 24
	// longestLine is the most that is shown of a line.
	longestLine = 2000
)

// elide leaves out of a long line what it has in common with other.
func elide(line, other string) string {
	a, b := []rune(line), []rune(other)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, to := 0, len(a)
	if head > 2*around {
		from = head - around
	}
	if tail > 2*around {
		to = len(a) - tail + around
	}
	to = min(to, from+longestLine)
	out := string(a[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(a) {
		out += "…"
	}
	return out
}
