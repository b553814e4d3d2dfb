package sessions

import (
	"slices"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// action is what a key asks for.
type action uint8

const (
	actNone action = iota
	actUp
	actDown
	actPageUp
	actPageDown
	actTop
	actBottom
	actOpen
	actBack
	actFilter
	actSort
	actReverse
	actStatus
	actCopy
	actPause
	actRefresh
	actNextView
	actPrevView
	actView // with the view's number
	actLanguage
	actTheme
	actHelp
	actSuspend
	actQuit
	actInterrupt
)

// binding is an entry of the key map, from which keys are understood, the footer and the help are
// made.
type binding struct {
	act    action
	keys   []string // as the terminal library names them, on a Latin layout
	shown  string   // how people are told of them
	word   string   // of keyHelp, "" for what the help does not list
	footer views    // where the footer tells of it; its text is of keyShort
}

// views is a set of views.
type views uint8

const (
	inSessions views = 1 << iota
	inPolicy
	inCatalogue
	inReviews
	inAll = inSessions | inPolicy | inCatalogue | inReviews
)

var keyMap = []binding{
	{act: actUp, keys: []string{"up", "k"}, shown: "↑ k", word: "up"},
	{act: actDown, keys: []string{"down", "j"}, shown: "↓ j", word: "down"},
	{act: actPageUp, keys: []string{"pgup", "ctrl+b"}, shown: "PgUp", word: "page-up"},
	{act: actPageDown, keys: []string{"pgdown", "ctrl+f", " "}, shown: "PgDn", word: "page-down"},
	{act: actTop, keys: []string{"home", "g"}, shown: "Home g", word: "top"},
	{act: actBottom, keys: []string{"end", "G"}, shown: "End G", word: "bottom"},
	{act: actOpen, keys: []string{"enter", "right"}, shown: "Enter", word: "open", footer: inSessions | inCatalogue | inReviews},
	{act: actBack, keys: []string{"esc", "left"}, shown: "Esc", word: "back"},
	{act: actFilter, keys: []string{"/"}, shown: "/", word: "filter", footer: inSessions | inCatalogue | inReviews},
	{act: actStatus, keys: []string{"f"}, shown: "f", word: "status", footer: inSessions},
	{act: actSort, keys: []string{"s"}, shown: "s", word: "sort", footer: inSessions},
	{act: actReverse, keys: []string{"S"}, shown: "S", word: "reverse"},
	{act: actCopy, keys: []string{"y"}, shown: "y", word: "copy", footer: inSessions | inReviews},
	{act: actPause, keys: []string{"p"}, shown: "p", word: "pause", footer: inSessions},
	{act: actRefresh, keys: []string{"r", "ctrl+r"}, shown: "r", word: "refresh"},
	{act: actView, keys: []string{"1", "2", "3", "4"}, shown: "1–4", word: "view"},
	{act: actNextView, keys: []string{"tab"}, shown: "Tab", word: "next-view", footer: inAll},
	{act: actPrevView, keys: []string{"shift+tab"}, shown: "Shift+Tab", word: "previous-view"},
	{act: actLanguage, keys: []string{"L"}, shown: "L", word: "language"},
	{act: actTheme, keys: []string{"t"}, shown: "t", word: "theme"},
	{act: actSuspend, keys: []string{"ctrl+z"}, shown: "Ctrl+Z", word: "suspend"},
	{act: actHelp, keys: []string{"?"}, shown: "?", word: "help", footer: inAll},
	{act: actQuit, keys: []string{"q"}, shown: "q", word: "quit", footer: inAll},
	{act: actInterrupt, keys: []string{"ctrl+c"}},
}

var (
	keyHelp = locales.NewFamily("sessions.key.", "up", "down", "page-up", "page-down", "top", "bottom", "open", "back",
		"filter", "status", "sort", "reverse", "copy", "pause", "refresh", "view", "next-view", "previous-view",
		"language", "theme", "suspend", "help", "quit")
	keyShort = locales.NewFamily("sessions.hint.", "open", "filter", "status", "sort", "copy", "pause", "next-view", "help", "quit")
)

// actionOf understands a key on a Latin and on a Russian layout. The second result is the key's
// name on a Latin one.
func actionOf(msg tea.KeyMsg) (action, string) {
	name := msg.String()
	if r, size := utf8.DecodeRuneInString(name); size == len(name) {
		name = string(locales.LatinKey(r))
	}
	for _, b := range keyMap {
		if slices.Contains(b.keys, name) {
			return b.act, name
		}
	}
	return actNone, name
}

// helpLines lists every key of the key map and what the marks mean.
func helpLines(e *env, w int) []line {
	p := e.p
	d := &doc{p: p, w: w}
	column := 0
	for _, b := range keyMap {
		column = max(column, ansi.StringWidth(b.shown))
	}
	var keys []line
	for _, b := range keyMap {
		if b.word != "" {
			keys = append(keys, line{{pad(b.shown, column+2), theme.Accent}, {p.Word(keyHelp, b.word), theme.Plain}})
		}
	}
	widest := 0
	for _, l := range keys {
		widest = max(widest, l.width())
	}
	if half := (len(keys) + 1) / 2; 2*widest+4 <= w { // two columns
		for i := range half {
			l := keys[i].fit(widest + 4)
			if half+i < len(keys) {
				l = append(l, keys[half+i]...)
			}
			d.add(l)
		}
	} else {
		d.add(keys...)
	}
	d.heading(p.T("sessions.help.marks"))
	for _, s := range []review.Status{review.Active, review.Awaiting, review.Partial, review.Blocked} {
		role := theme.Status(string(s))
		d.add(line{{" " + glyphs[s] + p.Word(letters, string(s)) + "  ", role}, {terms.Status(p, s), theme.Plain}})
	}
	d.add(line{{" ×" + p.T("sessions.letter-gone") + "  ", theme.Muted}, {p.T("sessions.help.gone"), theme.Plain}})
	d.add(nil)
	d.prose(theme.Muted, p.T("sessions.help.notes"))
	return d.lines
}
