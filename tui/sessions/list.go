package sessions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// column is a column of the list, and what the list is sorted by.
type column string

const (
	colChanged column = "changed"
	colLeft    column = "left"
	colStatus  column = "status"
	colID      column = "run"
	colTask    column = "task"
	colRoute   column = "route"
	colStep    column = "step"
	colModel   column = "model"
)

var (
	columnTitles = locales.NewFamily("sessions.column.", "run", "status", "task", "route", "step", "model", "left", "changed")
	// sortOrder is what the sort key goes through.
	sortOrder = []column{colChanged, colLeft, colStatus, colTask, colRoute, colStep, colID}

	groups = locales.NewFamily("sessions.group.", "all", "active", "awaiting", "stopped", "gone")
)

// list is the list of sessions: which are shown, in what order, and which one is selected.
type list struct {
	rows map[string]*watch.Row

	query   string
	group   int // index in groups
	sort    column
	reverse bool

	shown    []*watch.Row
	selected string // run id
	cur      selection
	text     map[textKey]string

	perRow  int // screen lines of an entry
	firstAt int // screen line of the first entry in view
}

func newList() *list {
	return &list{sort: colChanged, text: map[textKey]string{}, perRow: 1}
}

// update takes over rows and keeps the selection on the session that it was on.
func (l *list) update(rows map[string]*watch.Row) {
	l.rows = rows
	words := strings.Fields(locales.Fold(l.query))
	take := func(r *watch.Row) {
		if l.inGroup(r) && l.matches(r, words) {
			l.shown = append(l.shown, r)
		}
	}
	// What was shown is nearly in order: sorting is quick when it comes first.
	before := l.shown
	l.shown = make([]*watch.Row, 0, len(rows))
	known := 0
	for _, old := range before {
		if r := rows[old.RunID]; r != nil {
			known++
			take(r)
		}
	}
	if known < len(rows) {
		had := make(map[string]bool, len(before))
		for _, old := range before {
			had[old.RunID] = true
		}
		for id, r := range rows {
			if !had[id] {
				take(r)
			}
		}
	}
	slices.SortFunc(l.shown, func(a, b *watch.Row) int {
		c := l.compare(a, b)
		if l.reverse {
			c = -c
		}
		if c == 0 {
			return cmp.Compare(a.RunID, b.RunID)
		}
		return c
	})
	if i := slices.IndexFunc(l.shown, func(r *watch.Row) bool { return r.RunID == l.selected }); i >= 0 {
		l.cur.jump(i)
	}
	l.cur.set(len(l.shown), l.cur.height)
	l.remember()
}

// remember notes which session the selection is on.
func (l *list) remember() {
	if r := l.current(); r != nil {
		l.selected = r.RunID
	}
}

// current returns the selected session, nil when the list is empty.
func (l *list) current() *watch.Row {
	if l.cur.at < 0 || l.cur.at >= len(l.shown) {
		return nil
	}
	return l.shown[l.cur.at]
}

func (l *list) inGroup(r *watch.Row) bool {
	present := r.Fate == watch.Present
	switch groups.Words()[l.group] {
	case "active":
		return present && r.Status == review.Active
	case "awaiting":
		return present && r.Status == review.Awaiting
	case "stopped":
		return present && r.Stopped()
	case "gone":
		return !present
	}
	return true
}

func (l *list) compare(a, b *watch.Row) int {
	switch l.sort {
	case colLeft:
		return a.ExpiresAt.Compare(b.ExpiresAt)
	case colStatus:
		return cmp.Compare(rank(a), rank(b))
	case colTask:
		return cmp.Compare(slices.Index(catalog.TaskTypes(), a.Task), slices.Index(catalog.TaskTypes(), b.Task))
	case colRoute:
		return cmp.Compare(Route(&a.Session), Route(&b.Session))
	case colStep:
		return cmp.Or(cmp.Compare(slices.Index(review.Steps(), a.Step), slices.Index(review.Steps(), b.Step)), cmp.Compare(a.Done, b.Done))
	case colID:
		return cmp.Compare(a.RunID, b.RunID)
	}
	return b.Changed.Compare(a.Changed)
}

func rank(r *watch.Row) int {
	if r.Fate != watch.Present {
		return len(review.Statuses())
	}
	return slices.Index(review.Statuses(), r.Status)
}

// textKey is all of a session that the filter looks at, the id apart. Thousands of sessions share a
// few hundred of them.
type textKey struct {
	task    catalog.TaskType
	status  review.Status
	step    review.Step
	bundle  catalog.Bundle
	profile catalog.Profile
	done    int
	fate    watch.Fate
}

func (l *list) matches(r *watch.Row, words []string) bool {
	if len(words) == 0 {
		return true
	}
	key := textKey{r.Task, r.Status, r.Step, r.Bundle, r.Profile, r.Done, r.Fate}
	hay, ok := l.text[key]
	if !ok {
		hay = haystack(r)
		l.text[key] = hay
	}
	for _, w := range words {
		if !strings.Contains(hay, w) && !strings.Contains(r.RunID, w) {
			return false
		}
	}
	return true
}

// haystack is the text of a session in both languages and in the contract's words.
func haystack(r *watch.Row) string {
	parts := []string{string(r.Task), string(r.Status), string(r.Step), Route(&r.Session), string(r.Current()), string(r.Fate)}
	for _, lang := range locales.Langs() {
		p := locales.New(lang)
		parts = append(parts, terms.Task(p, r.Task), Status(p, r), Step(p, &r.Session))
		if r.Bundle != "" {
			parts = append(parts, terms.Bundle(p, r.Bundle))
		}
	}
	return locales.Fold(strings.Join(parts, "\n"))
}

func (l *list) nextGroup() { l.group = (l.group + 1) % len(groups.Words()) }

func (l *list) nextSort() {
	l.sort = sortOrder[(slices.Index(sortOrder, l.sort)+1)%len(sortOrder)]
	l.reverse = false
}

// layout is the columns that fit, with their widths.
type layout struct {
	cols []column
	w    map[column]int
	bar  int // cells of the gauge before the figure of what is left
}

const (
	gap       = 2
	badgeWide = 3 // mark of the selection, glyph, letter
	idWide    = 8
	fullStep  = 36 // cells from which on steps have their full names
	freshFor  = 5 * time.Second
)

// layoutFor fits columns into w cells: what matters most comes first, and what is left over goes to
// the texts.
func (l *list) layoutFor(p *locales.Printer, w int) layout {
	const left, bar = 7, 6
	lay := layout{w: map[column]int{colID: idWide, colLeft: left, colStep: 14}}
	title := func(c column) int { return ansi.StringWidth(p.Word(columnTitles, string(c))) + 1 }
	room := w - badgeWide - 1 - idWide - gap - left - gap - lay.w[colStep] - 1
	take := func(c column, least int) bool {
		if room < least+gap {
			return false
		}
		lay.w[c] = least
		room -= least + gap
		return true
	}
	grow := func(c column, limit int) {
		if have, ok := lay.w[c]; ok && room > 0 && have < limit {
			lay.w[c] = have + min(limit-have, room)
			room -= lay.w[c] - have
		}
	}
	if take(colChanged, max(title(colChanged), 6)) && take(colTask, 12) && room > bar {
		lay.bar, room = bar, room-bar-1
		const route, model = 11, 18
		if room < route+model+2*gap { // not both of them
			grow(colStep, 18)
			grow(colTask, 16)
		}
		if take(colRoute, route) {
			take(colModel, model)
		}
	}
	if lay.bar == 0 {
		grow(colLeft, title(colLeft))
	}
	grow(colStep, 20)
	grow(colTask, 16)
	grow(colStep, 24)
	grow(colTask, 18)
	grow(colRoute, 14)
	grow(colModel, 20)
	grow(colStep, fullStep)
	grow(colTask, 22)
	grow(colRoute, 17)
	grow(colStep, 52)
	if lay.bar > 0 {
		more := min(room, bar)
		lay.bar, room = lay.bar+more, room-more
	}
	grow(colTask, 27)
	grow(colModel, 28)
	grow(colRoute, 22)
	grow(colStep, w)
	for _, c := range []column{colTask, colRoute, colStep, colModel, colLeft, colChanged} {
		if _, ok := lay.w[c]; ok {
			lay.cols = append(lay.cols, c)
		}
	}
	return lay
}

// titles is the line above the list.
func (l *list) titles(p *locales.Printer, lay layout) line {
	label := func(c column) string {
		s := p.Word(columnTitles, string(c))
		if c == l.sort {
			s += map[bool]string{false: "↓", true: "↑"}[l.reverse]
		}
		return s
	}
	head := strings.Repeat(" ", badgeWide+1) + pad(label(colID), idWide)
	if l.sort == colStatus {
		head = pad(" "+label(colStatus), badgeWide+1+idWide)
	}
	out := text(theme.Muted, head)
	for _, c := range lay.cols {
		s := pad(label(c), lay.w[c])
		switch {
		case c == colLeft && lay.bar > 0:
			s = pad(label(c), lay.bar+1+lay.w[c])
		case c == colLeft || c == colChanged:
			s = padLeft(label(c), lay.w[c])
		}
		out = out.with(theme.Muted, strings.Repeat(" ", gap)+s)
	}
	return out
}

// entry is a session's line.
func (l *list) entry(e *env, r *watch.Row, lay layout, chosen bool) line {
	out := l.head(e, r, chosen)
	for _, c := range lay.cols {
		out = out.with(theme.Plain, strings.Repeat(" ", gap))
		w := lay.w[c]
		switch c {
		case colTask:
			out = out.with(theme.Plain, pad(terms.Task(e.p, r.Task), w))
		case colRoute:
			out = out.with(theme.Plain, pad(Route(&r.Session), w))
		case colStep:
			out = append(out, stepLine(e.p, r, w < fullStep).fit(w)...)
		case colModel:
			out = append(out, modelLine(e.p, r).fit(w)...)
		case colLeft:
			out = append(out, l.left(e, r, lay.bar, w)...)
		case colChanged:
			out = out.with(ageRole(e, r), padLeft(Age(e.p, e.now, r.Changed), w))
		}
	}
	return dim(out, r)
}

func (l *list) head(e *env, r *watch.Row, chosen bool) line {
	mark := " "
	if chosen {
		mark = "▸"
	}
	return line{{mark, theme.Accent}, badge(e.p, r), {" ", theme.Plain}, {pad(ShortID(r.RunID), idWide), theme.Accent}}
}

func (l *list) left(e *env, r *watch.Row, bar, w int) line {
	if r.Fate != watch.Present {
		blank := 0
		if bar > 0 {
			blank = bar + 1
		}
		return text(theme.Muted, strings.Repeat(" ", blank)+padLeft("—", w))
	}
	left := r.ExpiresAt.Sub(e.now)
	var out line
	if bar > 0 {
		out = gauge(left, e.o.TTL, bar).with(theme.Plain, " ")
	}
	role := theme.Plain
	if part := float64(left) / float64(max(e.o.TTL, time.Second)); part <= 1.0/3 {
		role = leftRole(part)
	}
	return out.with(role, padLeft(Figure(e.p, left), w))
}

// ageRole makes what has just changed stand out.
func ageRole(e *env, r *watch.Row) theme.Role {
	if r.Seen && e.now.Sub(r.Changed) < freshFor {
		return theme.Good
	}
	return theme.Muted
}

// dim takes the colours from a session that is gone.
func dim(out line, r *watch.Row) line {
	if r.Fate != watch.Present {
		for i := range out {
			out[i].role = theme.Muted
		}
	}
	return out
}

func modelLine(p *locales.Printer, r *watch.Row) line {
	if r.Policy.Model == "" {
		return text(theme.Muted, "—")
	}
	return line{
		{locales.Inert(r.Policy.Model), theme.Model},
		{" · ", theme.Muted},
		{string(r.Policy.Reasoning), theme.Reasoning(string(r.Policy.Reasoning))},
	}
}

// card is a session on two lines, for narrow and high screens.
func (l *list) card(e *env, r *watch.Row, w int, chosen bool) [2]line {
	left := l.left(e, r, 6, 7)
	first := l.head(e, r, chosen).with(theme.Plain, "  "+terms.Task(e.p, r.Task))
	first = append(first.fit(w-left.width()-1).with(theme.Plain, " "), left...)
	age := Age(e.p, e.now, r.Changed)
	second := append(text(theme.Plain, strings.Repeat(" ", badgeWide+1)), stepLine(e.p, r, w < fullStep+8)...)
	second = second.fit(w-ansi.StringWidth(age)-1).with(ageRole(e, r), " "+age)
	return [2]line{dim(first, r), dim(second, r)}
}

// render draws the entries that are in view into w by h cells.
func (l *list) render(e *env, w, h int) []string {
	var out []string
	l.perRow, l.firstAt = 1, 0
	lay := l.layoutFor(e.p, w)
	if _, roomy := lay.w[colTask]; !roomy && h >= 12 {
		l.perRow = 2
	} else if h >= 6 {
		out = append(out, e.br.paint(l.titles(e.p, lay).fit(w), false))
		l.firstAt = 1
	}
	l.cur.set(len(l.shown), (h-l.firstAt)/l.perRow)
	for i := l.cur.off; i < min(l.cur.off+l.cur.height, len(l.shown)); i++ {
		r, chosen := l.shown[i], i == l.cur.at
		if l.perRow == 2 {
			for _, part := range l.card(e, r, w-1, chosen) {
				out = append(out, e.br.paint(part.fit(w), chosen))
			}
			continue
		}
		out = append(out, e.br.paint(l.entry(e, r, lay, chosen).fit(w), chosen))
	}
	return out
}

// at returns the entry on a line of what render drew, -1 where there is none.
func (l *list) at(y int) int {
	i := l.cur.off + (y-l.firstAt)/l.perRow
	if y < l.firstAt || i >= len(l.shown) || i >= l.cur.off+l.cur.height {
		return -1
	}
	return i
}
