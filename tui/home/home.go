// Package home is the screen that qa-orch opens with: how things stand, and where to go.
package home

import (
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// Item is a command that one can go to.
type Item struct {
	Name  string                          // what is typed after qa-orch
	About func(p *locales.Printer) string // one line
}

// State is how things stand.
type State struct {
	PolicyPath string
	Policy     policy.Policy
	Configured bool  // there is a policy file
	PolicyErr  error // why it can't be used, a *policy.Invalid

	StorePath string
	StoreOn   bool  // the environment asks for a store
	StoreErr  error // why it can't be read, an *sqlite.Unusable
	Counts    watch.Counts

	Clients []string // names of the clients that qa-orch is registered with
	Known   bool     // whether Clients is known
}

// Options are what the screen shows.
type Options struct {
	Lang  locales.Lang
	Theme *theme.Theme
	Home  string // shown as ~ in paths
	Items []Item
	Load  func() State // looks at the files; called as a command
}

// Model is the screen.
type Model struct {
	o      Options
	p      *locales.Printer
	state  *State // nil until it is loaded
	at     int
	w, h   int
	chosen string
}

// New returns the screen.
func New(o Options) *Model { return &Model{o: o, p: locales.New(o.Lang)} }

// Chosen returns the command that was chosen, empty when the screen was left without one.
func (m *Model) Chosen() string { return m.chosen }

// Lang returns the language that the screen was left in.
func (m *Model) Lang() locales.Lang { return m.o.Lang }

type loadedMsg State

// Init loads the state.
func (m *Model) Init() tea.Cmd {
	load := m.o.Load
	return func() tea.Msg { return loadedMsg(load()) }
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case loadedMsg:
		state := State(msg)
		m.state = &state
	case tea.KeyMsg:
		return m, m.key(msg)
	}
	return m, nil
}

func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	name := msg.String()
	if runes := []rune(name); len(runes) == 1 {
		name = string(locales.LatinKey(runes[0]))
	}
	last := len(m.o.Items) - 1
	switch name {
	case "ctrl+c":
		return tea.Interrupt
	case "ctrl+z":
		return tea.Suspend
	case "q", "esc":
		return tea.Quit
	case "up", "k", "shift+tab":
		m.at = max(m.at-1, 0)
	case "down", "j", "tab":
		m.at = min(m.at+1, last)
	case "home", "g":
		m.at = 0
	case "end", "G":
		m.at = last
	case "L":
		m.o.Lang = map[locales.Lang]locales.Lang{locales.En: locales.Ru, locales.Ru: locales.En}[m.o.Lang]
		m.p = locales.New(m.o.Lang)
	case "enter", "right", " ":
		if m.at <= last {
			m.chosen = m.o.Items[m.at].Name
			return tea.Quit
		}
	default:
		if len(name) == 1 && name[0] >= '1' && int(name[0]-'1') <= last {
			m.at = int(name[0] - '1')
			m.chosen = m.o.Items[m.at].Name
			return tea.Quit
		}
	}
	return nil
}

// The least screen that the list of commands fits on.
const (
	leastWidth  = 30
	leastHeight = 9
)

// View draws the screen: the list of commands always, what is above it as far as there is room.
func (m *Model) View() string {
	switch {
	case m.w == 0:
		return ""
	case m.w < leastWidth || m.h < leastHeight:
		return fold.Text(m.p.T("home.too-small", locales.Vars{
			"NeedWidth": leastWidth, "NeedHeight": leastHeight, "Width": m.w, "Height": m.h,
		}), m.w)
	}
	t := m.o.Theme
	menu := m.menu()
	foot := t.Paint(theme.Muted, cut(" "+m.p.T("home.keys"), m.w))
	head := m.head()
	room := m.h - len(menu) - 1
	for len(head) > room {
		head = head[:len(head)-1]
	}
	lines := append(head, menu...)
	for len(lines) < m.h-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:m.h-1], foot), "\n")
}

func (m *Model) head() []string {
	t, p := m.o.Theme, m.p
	lines := []string{"", " " + t.Paint(theme.Accent, "qa-orch") + "  " + t.Paint(theme.Muted, cut(p.T("help.root.short"), m.w-11)), ""}
	if m.state == nil {
		return append(lines, " "+t.Paint(theme.Muted, p.T("home.loading")), "")
	}
	labels := []string{p.T("home.policy"), p.T("home.store"), p.T("home.clients")}
	column := 0
	for _, l := range labels {
		column = max(column, ansi.StringWidth(l))
	}
	room := max(m.w-column-4, 8)
	add := func(label string, values ...string) {
		for _, value := range values {
			lines = append(lines, " "+t.Paint(theme.Muted, pad(label, column))+"  "+cut(value, room))
			label = ""
		}
	}
	add(labels[0], m.policy(room)...)
	add(labels[1], m.store()...)
	if m.state.Known {
		clients := t.Paint(theme.Attention, "○ "+p.T("home.no-clients"))
		if len(m.state.Clients) > 0 {
			clients = t.Paint(theme.Good, "✓ ") + locales.Inert(strings.Join(m.state.Clients, ", "))
		}
		add(labels[2], clients)
	}
	return append(lines, "")
}

// policy is how things stand with it, in lines of at most room cells.
func (m *Model) policy(room int) []string {
	t, p, s := m.o.Theme, m.p, m.state
	where := t.Paint(theme.Muted, m.path(s.PolicyPath))
	switch {
	case s.PolicyErr != nil:
		return []string{t.Paint(theme.Bad, "! "+p.T("home.policy-broken", locales.Vars{"Problem": explain.Problems(p, s.PolicyErr)})), where}
	case !s.Configured:
		where = t.Paint(theme.Attention, "○ "+p.T("home.policy-default"))
	default:
		where = t.Paint(theme.Good, "✓ ") + where
	}
	lines := []string{where}
	provider := string(s.Policy.Provider)
	names, ids, words := 0, 0, 0
	for _, st := range policy.Stages() {
		names = max(names, ansi.StringWidth(terms.Stage(p, st)))
		ids = max(ids, ansi.StringWidth(s.Policy.Stage(st).Model))
		words = max(words, ansi.StringWidth(string(s.Policy.Stage(st).Reasoning)))
	}
	// Where there is little room the stages, whose order tells them, are cut first.
	const gaps, least = 4, 6
	names = min(names, max(room-ids-words-gaps, least))
	ids = min(ids, max(room-names-words-gaps, least))
	lines = append(lines, t.Paint(theme.Provider(provider), provider))
	for _, st := range policy.Stages() {
		c := s.Policy.Stage(st)
		lines = append(lines, pad(cut(terms.Stage(p, st), names), names)+"  "+t.Paint(theme.Model, pad(cut(locales.Inert(c.Model), ids), ids))+"  "+
			t.Paint(theme.Reasoning(string(c.Reasoning)), string(c.Reasoning)))
	}
	return lines
}

func (m *Model) store() []string {
	t, p, s := m.o.Theme, m.p, m.state
	where := t.Paint(theme.Muted, m.path(s.StorePath))
	missing := sqlite.Is(s.StoreErr, sqlite.Missing)
	switch {
	case missing && !s.StoreOn:
		return []string{t.Paint(theme.Attention, "○ "+p.T("home.store-off"))}
	case missing:
		return []string{t.Paint(theme.Attention, "○ "+p.T("home.store-missing")), where}
	case s.StoreErr != nil:
		problem, _ := explain.Store(p, s.StoreErr)
		return []string{t.Paint(theme.Bad, "! "+problem), where}
	}
	c := s.Counts
	return []string{t.Paint(theme.Good, "✓ ") + where, strings.Join([]string{
		p.N("sessions.count.active", c.Active), p.N("sessions.count.awaiting", c.Awaiting), p.N("sessions.count.stopped", c.Stopped),
	}, " · ")}
}

func (m *Model) path(path string) string {
	if m.o.Home != "" {
		if rest, under := strings.CutPrefix(path, m.o.Home+string(filepath.Separator)); under {
			path = "~" + string(filepath.Separator) + rest
		}
	}
	return locales.Inert(path)
}

func (m *Model) menu() []string {
	t := m.o.Theme
	column := 0
	for _, item := range m.o.Items {
		column = max(column, len(item.Name))
	}
	// On a low screen the part of the list around the selection is shown.
	first, count := 0, len(m.o.Items)
	if room := m.h - 2; count > room {
		first, count = min(max(m.at-room/2, 0), count-room), room
	}
	var lines []string
	for i := first; i < first+count; i++ {
		item := m.o.Items[i]
		mark, role := "  ", theme.Command
		if i == m.at {
			mark, role = "▸ ", theme.Accent
		}
		about := cut(item.About(m.p), m.w-column-8)
		lines = append(lines, " "+t.Paint(theme.Accent, mark)+t.Paint(theme.Muted, m.p.Count(i+1)+" ")+
			t.Paint(role, item.Name)+strings.Repeat(" ", column-len(item.Name)+2)+t.Paint(theme.Plain, about))
	}
	return lines
}

func pad(s string, w int) string { return s + strings.Repeat(" ", max(w-ansi.StringWidth(s), 0)) }

func cut(s string, w int) string { return ansi.Truncate(s, max(w, 0), "…") }
