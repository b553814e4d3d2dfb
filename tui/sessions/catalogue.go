package sessions

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// entry is a profile or a bundle.
type catalogueEntry struct {
	profile catalog.Profile
	bundle  catalog.Bundle
}

func (c catalogueEntry) id() string { return string(c.profile) + string(c.bundle) }

func (c catalogueEntry) name(p *locales.Printer) string {
	if c.bundle != "" {
		return terms.Bundle(p, c.bundle)
	}
	return terms.Profile(p, c.profile)
}

var catalogueEntries = func() (all []catalogueEntry) {
	for _, p := range catalog.Profiles() {
		all = append(all, catalogueEntry{profile: p})
	}
	for _, b := range catalog.Bundles() {
		all = append(all, catalogueEntry{bundle: b})
	}
	return all
}()

// catalogueView shows the profiles and the bundles.
type catalogueView struct {
	query  string
	shown  []catalogueEntry
	cur    selection
	top    int // first line in view
	page   pager
	open   bool  // the entry has the keys
	atLine []int // entry of each line in view, -1 for headings
	listX  int   // width of the list's box
	boxed  bool
	w, h   int
}

func (v *catalogueView) find(query string) {
	v.query = query
	id := ""
	if v.cur.at < len(v.shown) {
		id = v.shown[v.cur.at].id()
	}
	v.shown = nil
	words := strings.Fields(locales.Fold(query))
	for _, c := range catalogueEntries {
		hay := catalogueText(c)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(hay, w) }) {
			v.shown = append(v.shown, c)
		}
	}
	v.cur.at = max(slices.IndexFunc(v.shown, func(c catalogueEntry) bool { return c.id() == id }), 0)
	v.cur.set(len(v.shown), v.cur.height)
}

// catalogueText is what the search looks at: names and ids in both languages, and what profiles
// look at.
func catalogueText(c catalogueEntry) string {
	parts := []string{c.id()}
	for _, lang := range locales.Langs() {
		p := locales.New(lang)
		parts = append(parts, c.name(p))
		if c.profile != "" {
			parts = append(parts, terms.Focus(p, c.profile))
		}
		for _, profile := range c.bundle.Profiles() {
			parts = append(parts, string(profile), terms.Profile(p, profile))
		}
	}
	return locales.Fold(strings.Join(parts, "\n"))
}

// SetSize says how much room the view has.
func (v *catalogueView) SetSize(w, h int) { v.w, v.h = w, h }

// beside reports whether the entry stands beside the list.
func (v *catalogueView) beside() bool { return v.w >= 90 && v.h >= 10 }

// Render draws the view.
func (v *catalogueView) Render(e *env) []string {
	title := text(theme.Title, e.p.T("sessions.view.catalogue")).with(theme.Muted, " · "+e.p.Count(len(v.shown)))
	if v.query != "" {
		title = title.with(theme.Attention, " · /"+locales.Inert(v.query))
	}
	if v.beside() {
		left := min(max(v.w*2/5, 44), 58)
		v.listX, v.boxed = left, true
		list := box{title: title, focused: !v.open, lines: v.list(e, left-2, v.h-2)}.render(e.br, left, v.h)
		return beside(list, v.entry(e, v.w-left, v.h, v.open))
	}
	if v.open {
		return v.entry(e, v.w, v.h, true)
	}
	v.listX, v.boxed = v.w, boxed(v.w, v.h)
	if v.boxed {
		return box{title: title, focused: true, lines: v.list(e, v.w-2, v.h-2)}.render(e.br, v.w, v.h)
	}
	return fill(v.list(e, v.w, v.h), v.w, v.h)
}

// list draws the names into w by h cells, profiles first, each kind under its heading.
func (v *catalogueView) list(e *env, w, h int) []string {
	if len(v.shown) == 0 {
		v.atLine = nil
		return painted(e.br, paragraph(theme.Muted, e.p.T("sessions.catalogue.nothing"), w-1, 1), w)
	}
	var lines []line
	var owner []int
	chosen := 0
	for i, c := range v.shown {
		if i == 0 || (v.shown[i-1].bundle == "") != (c.bundle == "") {
			heading := e.p.T("sessions.catalogue.profiles")
			if c.bundle != "" {
				heading = e.p.T("sessions.catalogue.bundles")
			}
			lines, owner = append(lines, text(theme.Muted, " "+heading)), append(owner, -1)
		}
		mark := " "
		if i == v.cur.at {
			mark, chosen = "▸", len(lines)
		}
		name, id := c.name(e.p), c.id()
		l := line{{mark + " ", theme.Accent}, {name, theme.Plain}}
		if room := w - l.width() - 1; room >= ansi.StringWidth(id)+2 {
			l = l.with(theme.Muted, padLeft(id, room)+" ")
		}
		lines, owner = append(lines, l), append(owner, i)
	}
	v.cur.set(len(v.shown), max(h-1, 1))
	above := chosen
	if chosen > 0 && owner[chosen-1] < 0 {
		above-- // the heading stays with its first entry
	}
	v.top = max(min(v.top, len(lines)-h), 0)
	v.top = max(min(v.top, above), chosen-h+1)
	end := min(v.top+h, len(lines))
	v.atLine = owner[v.top:end]
	var out []string
	for i, l := range lines[v.top:end] {
		out = append(out, e.br.paint(l.fit(w), v.top+i == chosen))
	}
	return out
}

func (v *catalogueView) entry(e *env, w, h int, focused bool) []string {
	if v.cur.at >= len(v.shown) {
		return framed(e, &v.page, nil, nil, w, h, focused)
	}
	c := v.shown[v.cur.at]
	d := &doc{p: e.p, w: bodyWidth(w, h)}
	if c.bundle != "" {
		v.bundle(d, c.bundle)
	} else {
		v.profile(d, c.profile)
	}
	return framed(e, &v.page, text(theme.Title, c.id()), d.lines, w, h, focused)
}

func (v *catalogueView) profile(d *doc, profile catalog.Profile) {
	c, ok := profile.Checklist()
	if !ok {
		return
	}
	d.add(line{{terms.Profile(d.p, profile), theme.Title}, {" · " + terms.Kind(d.p, c.Kind), theme.Muted}})
	d.add(nil)
	d.prose(theme.Plain, terms.Focus(d.p, profile))
	d.heading(d.p.T("sessions.catalogue.sections"))
	for _, s := range c.RequiredSections {
		d.add(bullet("•", theme.Muted, theme.Plain, s, d.w, 1)...)
	}
	d.heading(d.p.T("sessions.catalogue.in-bundles"))
	found := false
	for _, b := range catalog.Bundles() {
		if i := slices.Index(b.Profiles(), profile); i >= 0 {
			found = true
			d.add(bullet("•", theme.Muted, theme.Plain, d.p.T("sessions.catalogue.place", locales.Vars{
				"Bundle": string(b), "Number": i + 1, "Total": len(b.Profiles()),
			}), d.w, 1)...)
		}
	}
	if !found {
		d.prose(theme.Muted, d.p.T("sessions.catalogue.in-no-bundle"))
	}
	d.heading(d.p.T("sessions.catalogue.as-told"))
	d.prose(theme.Muted, c.Focus)
	d.heading(d.p.T("sessions.catalogue.signals"))
	for _, s := range c.EscalationSignals {
		d.add(bullet("•", theme.Muted, theme.Muted, s, d.w, 1)...)
	}
}

func (v *catalogueView) bundle(d *doc, b catalog.Bundle) {
	d.add(line{{string(b), theme.Title}})
	d.prose(theme.Plain, terms.Bundle(d.p, b))
	d.heading(d.p.T("sessions.catalogue.order"))
	for i, profile := range b.Profiles() {
		d.add(bullet(d.p.Count(i+1)+".", theme.Muted, theme.Plain, terms.Profile(d.p, profile), d.w, 1)...)
		d.add(paragraph(theme.Muted, terms.Focus(d.p, profile), d.w, 4)...)
	}
	var tasks []string
	for _, t := range catalog.TaskTypes() {
		if slices.Contains(t.Recommended(), b) {
			tasks = append(tasks, terms.Task(d.p, t))
		}
	}
	d.heading(d.p.T("sessions.catalogue.recommended"))
	if len(tasks) == 0 {
		d.prose(theme.Muted, d.p.T("sessions.catalogue.by-choice"))
		return
	}
	for _, t := range tasks {
		d.add(bullet("•", theme.Muted, theme.Plain, t, d.w, 1)...)
	}
}

func (v *catalogueView) act(a action) bool {
	switch a {
	case actOpen:
		v.open = len(v.shown) > 0
		return true
	case actBack:
		if v.open {
			v.open = false
			return true
		}
		if v.query != "" {
			v.find("")
			return true
		}
		return false
	}
	if v.open {
		return v.page.move(a)
	}
	was := v.cur.at
	moved := v.cur.move(a)
	if v.cur.at != was {
		v.page.off = 0
	}
	return moved
}

// click selects the entry at a place; a click on the selected one opens it.
func (v *catalogueView) click(x, y int) {
	if v.boxed {
		y--
	}
	if x >= v.listX || v.open && !v.beside() {
		v.open = v.beside() || v.open
		return
	}
	v.open = false
	if y < 0 || y >= len(v.atLine) || v.atLine[y] < 0 {
		return
	}
	if v.cur.at == v.atLine[y] {
		v.act(actOpen)
		return
	}
	v.cur.at, v.page.off = v.atLine[y], 0
}
