// Package sessions is the live dashboard: the list of QA reviews with details beside it, the model
// policy, the catalogue and the reviews of the devil's advocate. It only shows; nothing that it does changes a session.
package sessions

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/tui/cells"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// Options are what the dashboard shows and where.
type Options struct {
	Lang        locales.Lang
	Colors      termenv.Profile
	Dark, Known bool // the background, and whether it is known

	StorePath   string
	Configured  bool // the path was asked for; otherwise it is where a store would be by default
	PolicyPath  string
	ModelsPath  string
	ReviewsDir  string // of the devil's advocate
	Home        string // shown as ~ in paths
	TTL         time.Duration
	MaxSessions int

	Now      func() time.Time
	Location *time.Location
	Copy     func(text string) // puts a run id on the clipboard
}

// env is what drawing needs.
type env struct {
	p   *locales.Printer
	br  *brush
	now time.Time
	o   *Options
}

// path shows a path: inert, the home folder as ~.
func (e *env) path(path string) string {
	if home := e.o.Home; home != "" {
		if rest, under := strings.CutPrefix(path, home+string(filepath.Separator)); under {
			path = "~" + string(filepath.Separator) + rest
		}
	}
	return locales.Inert(path)
}

// keepGone is how long a session that went away stays on the screen.
const keepGone = time.Minute

// noticeFor is how long a notice stays in the footer.
const noticeFor = 4 * time.Second

// The views, by number.
const (
	viewSessions = iota
	viewPolicy
	viewCatalogue
	viewReviews
	viewCount
)

var viewTitles = locales.NewFamily("sessions.view.", "sessions", "policy", "catalogue", "reviews")

// Model is the dashboard. It does no I/O outside of its commands.
type Model struct {
	o   Options
	env env

	ctx    context.Context
	stop   context.CancelFunc
	feed   *watch.Feed
	policy *watch.PolicyFeed
	// reviews is followed while its view is shown: it is another server's folder.
	reviews        *watch.ReviewsFeed
	waitingReviews bool // a command waits for it

	w, h int
	view int

	tracker *watch.Tracker
	counts  watch.Counts
	begun   bool  // the store was tried
	read    bool  // and could be read at least once
	err     error // why it can't be read now
	bad     int   // rows that can't be read
	updated time.Time
	paused  bool
	held    *watch.Update // news that came while paused; more is not asked for
	waiting bool          // a command waits for the store
	ticking bool          // a command waits for the next second

	list      *list
	page      pager // of the detail
	open      bool  // the detail has the keys
	pol       policyView
	cat       catalogueView
	rev       reviewsView
	help      bool
	helpPage  pager
	input     textinput.Model
	editing   bool
	notice    string
	noticeEnd time.Time

	bodyTop   int // first line of the body
	tabs      [viewCount][2]int
	last      string // the frame as it was drawn last
	outOfDate bool
}

// New returns the dashboard.
func New(o Options) *Model {
	m := &Model{
		o:    o,
		feed: watch.NewFeed(o.StorePath), policy: watch.NewPolicyFeed(o.PolicyPath, o.ModelsPath),
		reviews: watch.NewReviewsFeed(o.ReviewsDir),
		tracker: watch.NewTracker(o.TTL, keepGone), list: newList(), input: textinput.New(),
		outOfDate: true,
	}
	m.ctx, m.stop = context.WithCancel(context.Background())
	m.env = env{p: locales.New(o.Lang), now: o.Now(), o: &m.o}
	m.input.Prompt = ""
	m.input.CharLimit = 100
	m.input.Cursor.SetMode(cursor.CursorStatic)
	m.cat.find("")
	m.look()
	return m
}

// look makes the colours of the current theme.
func (m *Model) look() {
	th := theme.New(m.o.Colors, m.o.Dark, m.o.Known)
	m.env.br = newBrush(th, m.o.Dark, m.o.Known)
	m.input.TextStyle = th.Style(theme.Title)
	m.input.Cursor.Style = th.Style(theme.Accent)
	m.input.Cursor.TextStyle = th.Style(theme.Title)
}

// Close lets go of the store. Call it after the program has ended.
func (m *Model) Close() { m.stop() }

type (
	storeMsg   struct{ watch.Update }
	policyMsg  struct{ watch.PolicyState }
	reviewsMsg struct{ watch.ReviewsState }
	tickMsg    struct{}
)

// Init starts to follow the store and the policy.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.follow(), m.followPolicy()) }

// follow waits for news of the store. One such command runs at a time.
func (m *Model) follow() tea.Cmd {
	if m.waiting {
		return nil
	}
	m.waiting = true
	feed := m.feed
	return news(m.ctx, func(ctx context.Context) (watch.Update, error) { return feed.Next(ctx, 0) },
		func(u watch.Update) tea.Msg { return storeMsg{u} })
}

func (m *Model) followPolicy() tea.Cmd {
	return news(m.ctx, m.policy.Next, func(s watch.PolicyState) tea.Msg { return policyMsg{s} })
}

// followReviews waits for news of the reviews while they are shown.
func (m *Model) followReviews() tea.Cmd {
	if m.view != viewReviews || m.waitingReviews {
		return nil
	}
	m.waitingReviews = true
	return news(m.ctx, m.reviews.Next, func(s watch.ReviewsState) tea.Msg { return reviewsMsg{s} })
}

// news waits for the next news of a feed; there is none when the program has ended.
func news[S any](ctx context.Context, next func(context.Context) (S, error), msg func(S) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		s, err := next(ctx)
		if err != nil {
			return nil
		}
		return msg(s)
	}
}

// tick waits for the next second while something on the screen depends on it.
func (m *Model) tick() tea.Cmd {
	moving := !m.paused && len(m.tracker.Rows()) > 0
	if m.ticking || !moving && m.notice == "" {
		return nil
	}
	m.ticking = true
	return tea.Every(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.outOfDate = true
	now := m.o.Now()
	if !m.paused {
		m.env.now = now
	}
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case storeMsg:
		m.waiting = false
		if m.paused {
			m.held = &msg.Update
			break
		}
		m.news(msg.Update)
		cmd = m.follow()
	case policyMsg:
		m.pol.update(msg.PolicyState, now)
		cmd = m.followPolicy()
	case reviewsMsg:
		m.waitingReviews = false
		m.rev.update(msg.ReviewsState)
	case tickMsg:
		m.ticking = false
		if m.notice != "" && !now.Before(m.noticeEnd) {
			m.notice = ""
		}
		if !m.paused {
			m.pass()
		}
	case tea.KeyMsg:
		cmd = m.keys(msg)
	case tea.MouseMsg:
		m.mouse(msg)
	case tea.ResumeMsg:
		m.pass()
	}
	return m, tea.Batch(cmd, m.tick(), m.followReviews())
}

// news takes over what the store feed tells.
func (m *Model) news(u watch.Update) {
	m.begun, m.err = true, u.Err
	if !u.Read {
		return
	}
	m.read, m.bad, m.updated = true, u.Bad, m.env.now
	m.tracker.Apply(u.Delta, m.env.now)
	m.refresh()
}

// pass lets the time go on.
func (m *Model) pass() {
	before := len(m.tracker.Rows())
	if len(m.tracker.Tick(m.env.now)) > 0 || len(m.tracker.Rows()) != before {
		m.refresh()
	}
}

// refresh sorts and filters anew.
func (m *Model) refresh() {
	was := m.list.selected
	m.counts = m.tracker.Counts()
	m.list.update(m.tracker.Rows())
	if m.list.selected != was {
		m.page.off = 0
	}
}

func (m *Model) say(notice string) {
	m.notice, m.noticeEnd = notice, m.o.Now().Add(noticeFor)
}

// keys takes letters one by one: those that come close together arrive as one message.
func (m *Model) keys(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Paste: // what is pasted is no key
		if m.editing {
			m.edit(msg)
		}
		return nil
	case msg.Type != tea.KeyRunes || len(msg.Runes) < 2:
		return m.key(msg)
	}
	if strings.Contains(string(msg.Runes), "rgb:") {
		return nil // a terminal's late answer to the question for its background
	}
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		cmds = append(cmds, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}))
	}
	return tea.Batch(cmds...)
}

func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	a, name := actionOf(msg)
	switch a {
	case actInterrupt:
		return tea.Interrupt
	case actSuspend:
		return tea.Suspend
	}
	switch {
	case m.w < leastWidth || m.h < leastHeight:
		if a == actQuit {
			return tea.Quit
		}
		return nil
	case m.editing:
		m.edit(msg)
		return nil
	case m.help:
		switch {
		case a == actQuit:
			return tea.Quit
		case a == actHelp || a == actBack || a == actOpen:
			m.help = false
		default:
			m.helpPage.move(a)
		}
		return nil
	}
	switch a {
	case actQuit:
		return tea.Quit
	case actHelp:
		m.help, m.helpPage.off = true, 0
	case actView:
		if n := int(name[0] - '1'); n < viewCount {
			m.view = n
		}
	case actNextView:
		m.view = (m.view + 1) % viewCount
	case actPrevView:
		m.view = (m.view + viewCount - 1) % viewCount
	case actLanguage:
		m.o.Lang = map[locales.Lang]locales.Lang{locales.En: locales.Ru, locales.Ru: locales.En}[m.o.Lang]
		m.env.p = locales.New(m.o.Lang)
	case actTheme:
		m.o.Dark, m.o.Known = !(m.o.Dark && m.o.Known), true
		m.look()
		if m.o.Dark {
			m.say(m.env.p.T("sessions.theme-dark"))
		} else {
			m.say(m.env.p.T("sessions.theme-light"))
		}
	case actRefresh:
		m.feed.Refresh()
		m.reviews.Refresh()
		m.say(m.env.p.T("sessions.refreshed"))
	case actFilter:
		if m.view != viewPolicy {
			m.editing = true
			m.input.SetValue(m.query())
			m.input.CursorEnd()
			m.input.Focus()
		}
	default:
		return m.inView(a)
	}
	return nil
}

// inView passes an action on to the view that is shown.
func (m *Model) inView(a action) tea.Cmd {
	switch m.view {
	case viewPolicy:
		m.pol.act(a)
		return nil
	case viewCatalogue:
		m.cat.act(a)
		return nil
	case viewReviews:
		if r := m.rev.current(); a == actCopy && r != nil {
			return m.copy(r.ID)
		}
		m.rev.act(a)
		return nil
	}
	switch a {
	case actOpen:
		m.open = m.list.current() != nil
	case actBack:
		switch {
		case m.open:
			m.open = false
		case m.list.query != "" || m.list.group != 0:
			m.list.query, m.list.group = "", 0
			m.refresh()
		}
	case actSort:
		m.list.nextSort()
		m.refresh()
	case actReverse:
		m.list.reverse = !m.list.reverse
		m.refresh()
	case actStatus:
		m.list.nextGroup()
		m.refresh()
	case actPause:
		return m.pause()
	case actCopy:
		if r := m.list.current(); r != nil {
			return m.copy(r.RunID)
		}
	default:
		m.move(a)
	}
	return nil
}

func (m *Model) copy(id string) tea.Cmd {
	m.say(m.env.p.T("sessions.copied", locales.Vars{"ID": id}))
	to := m.o.Copy
	return func() tea.Msg { to(id); return nil }
}

func (m *Model) move(a action) {
	if m.open {
		m.page.move(a)
		return
	}
	if m.list.cur.move(a) {
		was := m.list.selected
		m.list.remember()
		if m.list.selected != was {
			m.page.off = 0
		}
	}
}

func (m *Model) pause() tea.Cmd {
	m.paused = !m.paused
	if m.paused {
		return nil
	}
	m.env.now = m.o.Now()
	if m.held != nil {
		m.news(*m.held)
		m.held = nil
	}
	m.pass()
	return m.follow()
}

func (m *Model) query() string {
	switch m.view {
	case viewCatalogue:
		return m.cat.query
	case viewReviews:
		return m.rev.query
	}
	return m.list.query
}

func (m *Model) setQuery(q string) {
	switch m.view {
	case viewCatalogue:
		m.cat.find(q)
		return
	case viewReviews:
		m.rev.find(q)
		return
	}
	m.list.query = q
	m.refresh()
}

// edit handles a key while the filter is typed. The list follows each letter.
func (m *Model) edit(msg tea.KeyMsg) {
	switch msg.String() {
	case "esc":
		m.editing = false
		m.setQuery("")
	case "enter":
		m.editing = false
	case "up", "down", "pgup", "pgdown":
		a, _ := actionOf(msg)
		switch m.view {
		case viewCatalogue:
			m.cat.act(a)
		case viewReviews:
			m.rev.act(a)
		default:
			m.list.cur.move(a)
			m.list.remember()
		}
	default:
		// What is pasted may hold more than keys give.
		msg.Runes = slices.DeleteFunc(slices.Clone(msg.Runes), func(r rune) bool {
			return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		})
		m.input, _ = m.input.Update(msg)
		m.setQuery(m.input.Value())
	}
	if !m.editing {
		m.input.Blur()
	}
}

func (m *Model) mouse(msg tea.MouseMsg) {
	if m.w < leastWidth || m.h < leastHeight {
		return
	}
	by := 0
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		by = -3
	case msg.Button == tea.MouseButtonWheelDown:
		by = 3
	case msg.Button == tea.MouseButtonLeft && msg.Action == tea.MouseActionPress:
		m.click(msg.X, msg.Y)
		return
	default:
		return
	}
	for range max(by, -by) {
		a := actDown
		if by < 0 {
			a = actUp
		}
		switch {
		case m.help:
			m.helpPage.move(a)
		case m.view == viewPolicy:
			m.pol.act(a)
		case m.view == viewCatalogue:
			m.cat.act(a)
		case m.view == viewReviews:
			m.rev.act(a)
		case m.open || m.sideBySide() && msg.X >= m.listWidth():
			m.page.move(a)
		default:
			m.move(a)
		}
	}
}

func (m *Model) click(x, y int) {
	if m.help {
		m.help = false
		return
	}
	if y == 0 {
		for i, tab := range m.tabs {
			if x >= tab[0] && x < tab[1] {
				m.view = i
			}
		}
		return
	}
	y -= m.bodyTop
	switch m.view {
	case viewCatalogue:
		m.cat.click(x, y)
		return
	case viewReviews:
		m.rev.click(x, y)
		return
	case viewPolicy:
		return
	}
	if m.sideBySide() && x >= m.listWidth() {
		m.open = m.list.current() != nil
		return
	}
	if m.open && !m.sideBySide() {
		return
	}
	m.open = false
	if boxed(m.listWidth(), m.bodyHeight()) {
		y--
	}
	if i := m.list.at(y); i >= 0 {
		if i == m.list.cur.at {
			m.open = true
			return
		}
		m.list.cur.at = i
		m.list.remember()
		m.page.off = 0
	}
}

// sideBySide reports whether the detail stands beside the list.
func (m *Model) sideBySide() bool { return m.w >= 120 && len(m.list.shown) > 0 }

func (m *Model) listWidth() int {
	if m.sideBySide() {
		return m.w - min(max(m.w*31/100, 46), 72)
	}
	return m.w
}

// View draws the frame.
func (m *Model) View() string {
	if m.outOfDate {
		m.last, m.outOfDate = m.draw(), false
	}
	return m.last
}

func (m *Model) draw() string {
	switch {
	case m.w == 0:
		return ""
	case m.w < leastWidth || m.h < leastHeight:
		return tooSmall(m.env.p, m.w, m.h)
	}
	lines := m.header()
	m.bodyTop = len(lines)
	lines = append(lines, m.body(m.w, m.h-len(lines)-1)...)
	lines = append(lines, m.env.br.paint(m.footer().fit(m.w), false))
	if m.editing {
		lines[len(lines)-1] = m.prompt()
	}
	return strings.Join(lines, "\n")
}

func (m *Model) bodyHeight() int { return m.h - m.bodyTop - 1 }

func (m *Model) body(w, h int) []string {
	e := &m.env
	switch {
	case m.help:
		return framed(e, &m.helpPage, text(theme.Title, e.p.T("sessions.help.title")), helpLines(e, bodyWidth(w, h)), w, h, true)
	case m.view == viewPolicy:
		m.pol.SetSize(w, h)
		return m.pol.Render(e)
	case m.view == viewCatalogue:
		m.cat.SetSize(w, h)
		return m.cat.Render(e)
	case m.view == viewReviews:
		m.rev.SetSize(w, h)
		return m.rev.Render(e)
	}
	if len(m.list.shown) == 0 {
		m.open = false
		return framed(e, &m.page, m.listTitle(), m.empty(bodyWidth(w, h)), w, h, true)
	}
	if m.sideBySide() {
		left := m.listWidth()
		return beside(m.listBox(left, h, !m.open), m.detail(w-left, h, m.open))
	}
	if m.open {
		return m.detail(w, h, true)
	}
	return m.listBox(w, h, true)
}

func (m *Model) listBox(w, h int, focused bool) []string {
	if !boxed(w, h) {
		return fill(m.list.render(&m.env, w, h), w, h)
	}
	return box{
		title: m.listTitle(), note: m.listNote(), focused: focused,
		lines: m.list.render(&m.env, w-2, h-2),
	}.render(m.env.br, w, h)
}

func (m *Model) detail(w, h int, focused bool) []string {
	r := m.list.current()
	lines := detail(&m.env, r, bodyWidth(w, h))
	return framed(&m.env, &m.page, text(theme.Title, ShortID(r.RunID)), lines, w, h, focused)
}

func (m *Model) listTitle() line {
	p := m.env.p
	out := text(theme.Title, p.T("sessions.view.sessions"))
	shown, all := len(m.list.shown), len(m.tracker.Rows())
	switch {
	case shown != all:
		out = out.with(theme.Muted, " · "+p.T("sessions.shown", locales.Vars{"Shown": p.Count(shown), "Total": p.Count(all)}))
	case all > 0:
		out = out.with(theme.Muted, " · "+p.Count(all))
	}
	if m.list.query != "" {
		out = out.with(theme.Attention, " · /"+locales.Inert(m.list.query))
	}
	if m.list.group > 0 {
		out = out.with(theme.Attention, " · "+p.Word(groups, groups.Words()[m.list.group]))
	}
	return out
}

func (m *Model) listNote() line {
	p := m.env.p
	order := map[bool]string{false: "↓", true: "↑"}[m.list.reverse]
	return text(theme.Muted, p.Word(columnTitles, string(m.list.sort))+" "+order+" · "+
		p.Count(m.list.cur.at+1)+"/"+p.Count(len(m.list.shown)))
}

// header draws the lines above the body: views and state, store and counts, and what is wrong.
func (m *Model) header() []string {
	e, p := &m.env, m.env.p
	state := m.state()
	var tabs line
	for _, short := range []bool{false, true} {
		tabs = m.tabLine(short)
		if tabs.width()+1+state[len(state)-1].width() <= m.w {
			break
		}
	}
	out := []string{e.br.paint(ends(tabs, firstFit(m.w-tabs.width()-1, state...).with(theme.Plain, " "), m.w).fit(m.w), false)}

	c := m.counts
	share := p.T("sessions.of-limit", locales.Vars{"Count": p.Count(c.Limited()), "Limit": p.Count(m.o.MaxSessions)})
	limit := theme.Muted
	if c.Limited()*10 >= m.o.MaxSessions*9 {
		limit = theme.Bad
	}
	long := line{
		{p.N("sessions.count.active", c.Active), theme.Good},
		{" · ", theme.Muted},
		{p.N("sessions.count.awaiting", c.Awaiting), theme.Attention},
		{" · ", theme.Muted},
		{p.N("sessions.count.stopped", c.Stopped), theme.Plain},
		{" · ", theme.Muted},
		{share, limit},
	}
	short := line{
		{p.Word(letters, "active") + " " + p.Count(c.Active), theme.Good},
		{" · ", theme.Muted},
		{p.Word(letters, "awaiting_host_outcome") + " " + p.Count(c.Awaiting), theme.Attention},
		{" · ", theme.Muted},
		{p.T("sessions.count.stopped-short", locales.Vars{"Count": p.Count(c.Stopped)}), theme.Plain},
		{" · ", theme.Muted},
		{share, limit},
	}
	if m.read {
		counts := firstFit(m.w-14, long, short)
		room := m.w - counts.width() - 3
		left := text(theme.Plain, " ")
		if room >= 12 {
			left = left.with(theme.Muted, cells.CutStart(e.path(m.o.StorePath), room))
		}
		out = append(out, e.br.paint(ends(left, counts.with(theme.Plain, " "), m.w).fit(m.w), false))
	} else {
		out = append(out, e.br.paint(text(theme.Muted, " "+cells.CutStart(e.path(m.o.StorePath), m.w-2)).fit(m.w), false))
	}
	if m.err != nil && len(m.tracker.Rows()) > 0 {
		problem, _ := explain.Store(p, m.err)
		out = append(out, e.br.paint(text(theme.Bad, " ! "+p.T("sessions.stale", locales.Vars{
			"Problem": problem, "Time": p.Clock(m.updated.In(m.o.Location)),
		})).fit(m.w), false))
	}
	if m.bad > 0 {
		ways := []line{text(theme.Attention, " ! "+p.N("sessions.bad", m.bad)), text(theme.Attention, " ! "+p.N("sessions.bad-short", m.bad))}
		out = append(out, e.br.paint(firstFit(m.w, ways...).fit(m.w), false))
	}
	return out
}

func (m *Model) tabLine(short bool) line {
	p := m.env.p
	out := line{{" ", theme.Plain}}
	if !short && m.w >= 76 {
		out = line{{" qa-orch ", theme.Accent}, {" ", theme.Plain}}
	}
	for i, word := range viewTitles.Words() {
		at := out.width()
		number := p.Count(i + 1)
		switch {
		case i == m.view:
			out = out.with(theme.Accent, "["+number+" "+p.Word(viewTitles, word)+"]")
		case short:
			out = out.with(theme.Muted, " "+number+" ")
		default:
			out = out.with(theme.Muted, " "+number+" "+p.Word(viewTitles, word)+" ")
		}
		m.tabs[i] = [2]int{at, out.width()}
	}
	return out
}

// state says whether the screen is live, in several lengths.
func (m *Model) state() []line {
	p := m.env.p
	if !m.read {
		switch {
		case m.err != nil && !sqlite.Is(m.err, sqlite.Missing):
			return []line{text(theme.Bad, "! "+p.T("sessions.state.unusable"))}
		case m.begun:
			return []line{text(theme.Attention, "○ "+p.T("sessions.state.waiting"))}
		}
		return []line{text(theme.Muted, "○ "+p.T("sessions.state.reading"))}
	}
	mark := line{{"● ", theme.Good}, {p.T("sessions.state.live"), theme.Good}}
	switch {
	case m.paused:
		mark = line{{"‖ ", theme.Attention}, {p.T("sessions.state.paused"), theme.Attention}}
	case m.err != nil:
		mark = line{{"! ", theme.Bad}, {p.T("sessions.state.stale"), theme.Bad}}
	}
	clock := p.Clock(m.updated.In(m.o.Location))
	long := append(line{}, mark...).with(theme.Muted, " · "+p.T("sessions.state.updated", locales.Vars{"Time": clock}))
	short := append(line{}, mark...).with(theme.Muted, " "+clock)
	return []line{long, short, mark}
}

// footer names the keys of the view, or shows a notice.
func (m *Model) footer() line {
	p := m.env.p
	out := line{{" ", theme.Plain}}
	if m.notice != "" {
		return out.with(theme.Good, "✓ ").with(theme.Plain, m.notice)
	}
	here := []views{inSessions, inPolicy, inCatalogue, inReviews}[m.view]
	var hints []line
	for _, b := range keyMap {
		if b.footer&here != 0 {
			hints = append(hints, line{{b.shown, theme.Accent}, {" " + p.Word(keyShort, b.word), theme.Muted}})
		}
	}
	if m.open && m.view == viewSessions || m.cat.open && m.view == viewCatalogue || m.rev.open && m.view == viewReviews {
		hints = append([]line{{{"Esc", theme.Accent}, {" " + p.T("sessions.hint-back"), theme.Muted}}}, hints[1:]...)
	}
	// Help and quit are always there; the others as far as there is room.
	tail := hints[len(hints)-2:]
	hints = hints[:len(hints)-2]
	room := m.w - 2 - tail[0].width() - 2 - tail[1].width()
	for _, hint := range hints {
		if n := hint.width() + 2; n <= room {
			out = append(out, hint...).with(theme.Plain, "  ")
			room -= n
		}
	}
	out = append(out, tail[0]...).with(theme.Plain, "  ")
	return append(out, tail[1]...)
}

// prompt draws the filter while it is typed.
func (m *Model) prompt() string {
	e := &m.env
	hint := text(theme.Muted, e.p.T("sessions.filter-hint"))
	m.input.Width = max(m.w-hint.width()-8, 12)
	left := e.br.paint(text(theme.Accent, " / "), false) + m.input.View()
	rest := m.w - ansi.StringWidth(left)
	if rest < 0 {
		return ansi.Truncate(left, m.w, "")
	}
	return left + e.br.paint(ends(nil, hint.with(theme.Plain, " "), rest).fit(rest), false)
}

// empty says why there is nothing to see, and what would change that.
func (m *Model) empty(w int) []line {
	e, p := &m.env, m.env.p
	d := &doc{p: p, w: w}
	title := func(s string) { d.prose(theme.Title, s) }
	// A command is cut where the line ends and nowhere else, so that it can be copied.
	command := func(s string) {
		for part := range strings.SplitSeq(ansi.Hardwrap(locales.Inert(s), w+1, true), "\n") {
			d.add(text(theme.Command, part))
		}
	}
	switch {
	case !m.begun:
		d.prose(theme.Muted, p.T("sessions.empty.reading"))
	case len(m.tracker.Rows()) > 0:
		title(p.T("sessions.empty.no-match"))
		d.prose(theme.Muted, p.T("sessions.empty.no-match-hint"))
	case sqlite.Is(m.err, sqlite.Missing) && !m.o.Configured && !m.read:
		title(p.T("sessions.empty.off"))
		d.prose(theme.Plain, p.T("sessions.empty.off-why"))
		d.add(nil)
		d.prose(theme.Plain, p.T("sessions.empty.off-shell"))
		lines := Switch(e.path(m.o.StorePath))
		command(lines[0])
		d.prose(theme.Plain, p.T("sessions.empty.off-client"))
		command(lines[1])
		d.add(nil)
		d.prose(theme.Muted, p.T("sessions.empty.off-then"))
	case sqlite.Is(m.err, sqlite.Missing) && m.read:
		d.prose(theme.Bad, p.T("sessions.empty.vanished"))
		d.prose(theme.Plain, e.path(m.o.StorePath))
		d.prose(theme.Muted, p.T("sessions.empty.vanished-hint"))
	case sqlite.Is(m.err, sqlite.Missing):
		title(p.T("sessions.empty.missing"))
		d.prose(theme.Plain, e.path(m.o.StorePath))
		d.add(nil)
		d.prose(theme.Muted, p.T("sessions.empty.missing-hint"))
	case m.err != nil:
		problem, remedy := explain.Store(p, m.err)
		d.add(bullet("!", theme.Bad, theme.Bad, p.T("sessions.empty.unusable", locales.Vars{"Problem": problem}), w, 0)...)
		d.prose(theme.Plain, e.path(m.o.StorePath))
		if remedy != "" {
			d.add(nil)
			d.prose(theme.Plain, remedy)
		}
		d.prose(theme.Muted, p.T("sessions.empty.untouched"))
	default:
		title(p.T("sessions.empty.none"))
		d.prose(theme.Muted, p.T("sessions.empty.none-hint"))
	}
	return d.lines
}

// Switch returns the two ways to switch recovery on: a line for a shell, and one for the env of a
// client's entry. A ~ at the start of the path stands for the home folder in both.
func Switch(path string) [2]string {
	const name = settings.StorePathVar
	shell := path
	if strings.ContainsAny(path, " '\"$&();<>|*?[]#`\\!") {
		shell = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return [2]string{"export " + name + "=" + shell, strconv.Quote(name) + ": " + strconv.Quote(path)}
}
