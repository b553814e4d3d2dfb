package sessions

import (
	"slices"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/memo"
	"github.com/qa-orch/qa-orch/tui/page"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// reviewsView shows the reviews of the devil's advocate: how far each is and, when it is complete, its
// memo.
type reviewsView struct {
	state    watch.ReviewsState
	read     bool
	query    string
	texts    map[*advocate.Review]string // what the filter looks at, made when first needed
	shown    []*advocate.Review
	selected string // id
	cur      selection
	page     pager
	open     bool // the review has the keys
	listX    int  // width of the list's box
	boxed    bool
	w, h     int

	// The page as it was laid out last: a long memo is not wrapped anew for every key.
	laid   []line
	laidAs laidKey
}

// laidKey is what a laid out page depends on. Reviews are read anew when they change, so a pointer
// stands for what is in one.
type laidKey struct {
	review *advocate.Review
	lang   locales.Lang
	width  int
}

func (v *reviewsView) update(s watch.ReviewsState) {
	v.state, v.read = s, true
	v.texts = map[*advocate.Review]string{}
	v.find(v.query)
}

// find filters the list and keeps the selection on the review that it was on.
func (v *reviewsView) find(query string) {
	v.query = query
	v.shown = v.shown[:0]
	words := strings.Fields(locales.Fold(query))
	for _, r := range v.state.Reviews {
		hay, known := v.texts[r]
		if !known && len(words) > 0 {
			hay = reviewText(r)
			v.texts[r] = hay
		}
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(hay, w) }) {
			v.shown = append(v.shown, r)
		}
	}
	if i := slices.IndexFunc(v.shown, func(r *advocate.Review) bool { return r.ID == v.selected }); i >= 0 {
		v.cur.jump(i)
	}
	v.cur.set(len(v.shown), v.cur.height)
	v.remember()
}

// reviewText is what the filter looks at: id and claim, and the words for where it stands in both
// languages.
func reviewText(r *advocate.Review) string {
	row := r.Row()
	parts := []string{r.ID, r.Claim, string(r.Mode), string(r.Status)}
	for _, lang := range locales.Langs() {
		p := locales.New(lang)
		parts = append(parts, memo.Name(p, r.Mode), memo.Name(p, r.Status), memo.Name(p, row.Assessment))
		if phase := r.Phase(); phase != "" {
			parts = append(parts, memo.Name(p, phase))
		}
	}
	return locales.Fold(strings.Join(parts, "\n"))
}

// remember notes which review the selection is on.
func (v *reviewsView) remember() {
	r := v.current()
	if r == nil {
		v.open = false
		return
	}
	if v.selected != r.ID {
		v.page.off = 0
	}
	v.selected = r.ID
}

// current returns the selected review, nil when the list is empty.
func (v *reviewsView) current() *advocate.Review {
	if v.cur.at < 0 || v.cur.at >= len(v.shown) {
		return nil
	}
	return v.shown[v.cur.at]
}

// SetSize says how much room the view has.
func (v *reviewsView) SetSize(w, h int) { v.w, v.h = w, h }

// beside reports whether the review stands beside the list.
func (v *reviewsView) beside() bool { return v.w >= 100 && v.h >= 10 && len(v.shown) > 0 }

// Render draws the view.
func (v *reviewsView) Render(e *env) []string {
	p := e.p
	title := text(theme.Title, p.T("sessions.view.reviews"))
	switch shown, all := len(v.shown), len(v.state.Reviews); {
	case shown != all:
		title = title.with(theme.Muted, " · "+p.T("sessions.shown", locales.Vars{"Shown": p.Count(shown), "Total": p.Count(all)}))
	case all > 0:
		title = title.with(theme.Muted, " · "+p.Count(all))
	}
	if v.query != "" {
		title = title.with(theme.Attention, " · /"+locales.Inert(v.query))
	}
	switch {
	case len(v.shown) == 0:
		return framed(e, &v.page, title, v.empty(e), v.w, v.h, true)
	case v.beside():
		left := min(max(v.w*2/5, 44), 60)
		v.listX, v.boxed = left, true
		list := box{title: title, note: v.note(e), focused: !v.open, lines: v.list(e, left-2, v.h-2)}.render(e.br, left, v.h)
		return beside(list, v.review(e, v.w-left, v.open))
	case v.open:
		return v.review(e, v.w, true)
	}
	v.listX, v.boxed = v.w, boxed(v.w, v.h)
	if v.boxed {
		return box{title: title, note: v.note(e), focused: true, lines: v.list(e, v.w-2, v.h-2)}.render(e.br, v.w, v.h)
	}
	return fill(v.list(e, v.w, v.h), v.w, v.h)
}

// note says where in the list the selection is, and how many files are none.
func (v *reviewsView) note(e *env) line {
	out := text(theme.Muted, e.p.Count(v.cur.at+1)+"/"+e.p.Count(len(v.shown)))
	if n := len(v.state.Skipped); n > 0 {
		out = append(text(theme.Attention, "! "+e.p.N("sessions.reviews.skipped", n)+" · "), out...)
	}
	return out
}

// joiners takes the joiners inside emoji and words out of inert text: terminals differ in how wide they
// draw what is joined, and a frame needs to know.
var joiners = strings.NewReplacer("\u200c", "", "\u200d", "")

// perReview is how many lines of the screen a review has in the list.
const perReview = 2

// list draws the reviews into w by h cells: id and claim, and below where it stands.
func (v *reviewsView) list(e *env, w, h int) []string {
	v.cur.set(len(v.shown), h/perReview)
	var out []string
	for i := v.cur.off; i < min(v.cur.off+v.cur.height, len(v.shown)); i++ {
		r, chosen := v.shown[i], i == v.cur.at
		mark := " "
		if chosen {
			mark = "▸"
		}
		first := line{{mark + " ", theme.Accent}, {r.ID, theme.Accent}, {"  ", theme.Plain}, {joiners.Replace(advocate.Plain(r.Claim)), theme.Plain}}
		second := append(text(theme.Plain, "    "), standing(e, r)...)
		when := text(theme.Muted, moment(e, r.Updated)+" ")
		out = append(out, e.br.paint(first.fit(w-1).with(theme.Plain, " "), chosen), e.br.paint(ends(second, when, w), chosen))
	}
	return out
}

// standing says where a review stands, with a glyph beside the colour.
func standing(e *env, r *advocate.Review) line {
	mode := seg{" · " + memo.Name(e.p, r.Mode), theme.Muted}
	row := r.Row()
	switch r.Status {
	case advocate.Complete:
		glyph := map[advocate.Assessment]string{advocate.Survives: "✓ ", advocate.NeedsRevision: "~ ", advocate.Refuted: "× "}[row.Assessment]
		return line{{glyph + memo.Name(e.p, row.Assessment), page.Assessment(row.Assessment)}, mode}
	case advocate.Abandoned:
		return line{{"– " + memo.Name(e.p, r.Status), theme.Muted}, mode}
	}
	return line{{"▶ " + r.Step() + " " + memo.Name(e.p, r.Phase()), theme.Accent}, mode}
}

// moment shows a time: of today the clock, else the day.
func moment(e *env, at time.Time) string {
	at, now := at.In(e.o.Location), e.now.In(e.o.Location)
	if at.Year() == now.Year() && at.YearDay() == now.YearDay() {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02")
}

// review draws the selected review: its memo, or how far it is.
func (v *reviewsView) review(e *env, w int, focused bool) []string {
	r := v.current()
	key := laidKey{r, e.p.Lang(), bodyWidth(w, v.h)}
	if v.laidAs != key {
		v.laid, v.laidAs = v.layOut(e, r, key.width), key
	}
	return framed(e, &v.page, text(theme.Title, r.ID), slices.Clone(v.laid), w, v.h, focused)
}

func (v *reviewsView) layOut(e *env, r *advocate.Review, w int) []line {
	d := &doc{p: e.p, w: w}
	if r.Status != advocate.Complete {
		v.progress(d, r)
	}
	document := r.Document(memo.OnScreen(e.p, e.o.Location))
	for _, b := range document {
		lines := []advocate.Line{b.Line}
		for _, item := range b.List {
			lines = append(lines, item.Line, item.Under)
		}
		for _, l := range lines {
			for i := range l {
				l[i].Text = joiners.Replace(l[i].Text)
			}
		}
	}
	for _, l := range page.Lines(document, w) {
		out := line{}
		for _, s := range l {
			out = append(out, seg{s.Text, s.Role})
		}
		d.add(out)
	}
	return d.lines
}

// progress draws the phases of a review that is not complete: what is done, due, skipped and ahead.
func (v *reviewsView) progress(d *doc, r *advocate.Review) {
	now := r.Phase()
	past := true
	for _, phase := range r.Mode.Phases() {
		n := len(r.Items(phase))
		stage, detail := ahead, ""
		switch {
		case phase == now:
			stage, past = due, false
			detail = d.p.N("sessions.reviews.items", n)
		case slices.Contains(r.Skipped, phase):
			stage = skipped
		case r.Status == advocate.Abandoned && n == 0:
		case past:
			stage = done
			detail = d.p.N("sessions.reviews.items", n)
		}
		d.step(stage, memo.Name(d.p, phase), detail)
	}
	d.add(nil)
}

// empty says why there is nothing to see, and what would change that.
func (v *reviewsView) empty(e *env) []line {
	p := e.p
	d := &doc{p: p, w: bodyWidth(v.w, v.h)}
	switch {
	case !v.read:
		d.prose(theme.Muted, p.T("sessions.reviews.reading"))
	case v.state.Err != nil:
		d.add(bullet("!", theme.Bad, theme.Bad, explain.Advocate(p, v.state.Err), d.w, 0)...)
	case len(v.state.Reviews) > 0:
		d.prose(theme.Title, p.T("sessions.empty.no-match"))
		d.prose(theme.Muted, p.T("sessions.reviews.no-match-hint"))
	default:
		d.prose(theme.Title, p.T("sessions.reviews.none"))
		d.prose(theme.Plain, e.path(e.o.ReviewsDir))
		d.add(nil)
		d.prose(theme.Muted, p.T("sessions.reviews.none-hint", locales.Vars{"Command": strings.Join([]string{"qa-orch", "advocate", "demo"}, " ")}))
	}
	if v.read && len(v.state.Skipped) > 0 {
		d.add(nil)
		d.prose(theme.Attention, "! "+p.N("sessions.reviews.skipped", len(v.state.Skipped)))
		for _, s := range v.state.Skipped {
			d.add(bullet("•", theme.Muted, theme.Plain, locales.Inert(s.File)+": "+explain.Fault(p, s.Fault), d.w, 1)...)
		}
	}
	return d.lines
}

func (v *reviewsView) act(a action) {
	switch a {
	case actOpen:
		v.open = len(v.shown) > 0
	case actBack:
		switch {
		case v.open:
			v.open = false
		case v.query != "":
			v.find("")
		}
	default:
		if v.open || len(v.shown) == 0 {
			v.page.move(a)
			return
		}
		v.cur.move(a)
		v.remember()
	}
}

// click selects the review at a place; a click on the selected one opens it.
func (v *reviewsView) click(x, y int) {
	if len(v.shown) == 0 {
		return
	}
	if x >= v.listX || v.open && !v.beside() {
		v.open = v.beside() || v.open
		return
	}
	if v.boxed {
		y--
	}
	v.open = false
	i := v.cur.off + y/perReview
	if y < 0 || i >= len(v.shown) || i >= v.cur.off+v.cur.height {
		return
	}
	if i == v.cur.at {
		v.act(actOpen)
		return
	}
	v.cur.at = i
	v.remember()
}
