package sessions

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// policyView shows what new sessions get and what changed on disk.
type policyView struct {
	state   watch.PolicyState
	read    bool
	changes []policyChange // newest first
	page    pager
	w, h    int
}

// policyChange is what the file went through while it was watched.
type policyChange struct {
	at       time.Time
	old, new watch.PolicyState
}

// changesKept bounds the history of the policy file.
const changesKept = 50

func (v *policyView) update(s watch.PolicyState, now time.Time) {
	if v.read {
		v.changes = append([]policyChange{{now, v.state, s}}, v.changes...)
		v.changes = v.changes[:min(len(v.changes), changesKept)]
	}
	v.state, v.read = s, true
}

// SetSize says how much room the view has.
func (v *policyView) SetSize(w, h int) { v.w, v.h = w, h }

// Render draws the view.
func (v *policyView) Render(e *env) []string {
	return framed(e, &v.page, text(theme.Title, e.p.T("sessions.view.policy")), v.lines(e, bodyWidth(v.w, v.h)), v.w, v.h, true)
}

func (v *policyView) act(a action) bool { return v.page.move(a) }

func (v *policyView) lines(e *env, w int) []line {
	p, d := e.p, &doc{p: e.p, w: w}
	if !v.read {
		d.prose(theme.Muted, p.T("sessions.policy.reading"))
		return d.lines
	}
	s := v.state
	if s.Err != nil {
		d.add(bullet("!", theme.Bad, theme.Bad, p.T("sessions.policy.broken", locales.Vars{"Problem": explain.Problems(p, s.Err)}), w, 0)...)
		if s.Usable {
			d.prose(theme.Plain, p.T("sessions.policy.broken-kept"))
		} else {
			d.prose(theme.Plain, p.T("sessions.policy.broken-none"))
		}
		d.add(nil)
	}
	if s.Usable {
		intro := p.T("sessions.policy.intro")
		if !s.Configured && s.Err == nil {
			intro = p.T("sessions.policy.default")
		}
		d.prose(theme.Plain, intro)
		d.add(nil)
		v.table(d, s)
	}
	d.heading(p.T("sessions.policy.file"))
	d.add(bullet(" ", theme.Plain, theme.Plain, e.path(e.o.PolicyPath), w, 0)...)
	d.heading(p.T("sessions.policy.changes"))
	if len(v.changes) == 0 {
		d.prose(theme.Muted, p.T("sessions.policy.no-changes"))
	}
	for _, c := range v.changes {
		for i, what := range c.lines(p) {
			when := strings.Repeat(" ", 8)
			if i == 0 {
				when = p.Clock(c.at.In(e.o.Location))
			}
			d.add(append(line{{when + "  ", theme.Muted}}, what...))
		}
	}
	d.heading(p.T("sessions.policy.models"))
	d.prose(theme.Muted, p.T("sessions.policy.reviewed", locales.Vars{"Date": p.Date(s.Models.Reviewed)}))
	if s.ModelsErr != nil {
		d.add(bullet("!", theme.Attention, theme.Attention, p.T("sessions.policy.models-broken", locales.Vars{"Problem": explain.Models(p, s.ModelsErr)}), w, 0)...)
	}
	return d.lines
}

// table draws the stages: a row each, or three lines each where there is no room for that.
func (v *policyView) table(d *doc, s watch.PolicyState) {
	p := d.p
	stageW, modelW := 0, 0
	for _, st := range policy.Stages() {
		stageW = max(stageW, ansi.StringWidth(terms.Stage(p, st)))
		modelW = max(modelW, ansi.StringWidth(s.Policy.Stage(st).Model))
	}
	modelW = min(modelW, 34)
	provider := string(s.Policy.Provider)
	d.add(line{{p.T("sessions.policy.provider") + "  ", theme.Muted}, {provider, theme.Provider(provider)}})
	d.add(nil)
	wide := stageW+modelW+8+6 <= d.w
	for _, st := range policy.Stages() {
		a := s.Policy.Assign(st, s.Models)
		reasoning := seg{pad(string(a.Reasoning), 8), theme.Reasoning(string(a.Reasoning))}
		name := seg{pad(terms.Stage(p, st), stageW), theme.Title}
		mark := verified(p, a.Verified)
		l := line{name, {"  ", theme.Plain}, {pad(locales.Inert(a.Model), modelW), theme.Model}, {"  ", theme.Plain}, reasoning}
		switch {
		case wide && l.width()+2+mark.width() <= d.w:
			d.add(append(l.with(theme.Plain, "  "), mark...))
			d.add(paragraph(theme.Muted, terms.Work(p, st), d.w, stageW+2)...)
		case wide:
			d.add(l.with(theme.Plain, "  ").with(mark[0].role, strings.TrimSpace(mark[0].text)))
			d.add(paragraph(theme.Muted, terms.Work(p, st), d.w, 2)...)
		default:
			d.add(line{name})
			d.add(line{
				{"  ", theme.Plain},
				{locales.Inert(a.Model), theme.Model},
				{" · ", theme.Muted},
				{string(a.Reasoning), reasoning.role},
				{" ", theme.Plain},
				{strings.TrimSpace(mark[0].text), mark[0].role},
			})
		}
	}
}

// lines says what changed.
func (c policyChange) lines(p *locales.Printer) []line {
	var out []line
	switch {
	case c.new.Err != nil && c.old.Err == nil:
		out = append(out, text(theme.Bad, p.T("sessions.policy.became-broken")))
	case c.new.Err == nil && c.old.Err != nil:
		out = append(out, text(theme.Good, p.T("sessions.policy.mended")))
	case c.new.Configured && !c.old.Configured:
		out = append(out, text(theme.Plain, p.T("sessions.policy.appeared")))
	case !c.new.Configured && c.old.Configured:
		out = append(out, text(theme.Attention, p.T("sessions.policy.removed")))
	}
	if c.new.Usable && c.old.Usable {
		if a, b := string(c.old.Policy.Provider), string(c.new.Policy.Provider); a != b {
			out = append(out, line{{p.T("sessions.policy.provider") + "  ", theme.Muted}, {a, theme.Provider(a)}, {" → ", theme.Muted}, {b, theme.Provider(b)}})
		}
		for _, st := range policy.Stages() {
			a, b := c.old.Policy.Stage(st), c.new.Policy.Stage(st)
			if a != b {
				out = append(out, line{
					{terms.Stage(p, st) + "  ", theme.Muted},
					{locales.Inert(a.Model), theme.Model},
					{" · " + string(a.Reasoning) + " → ", theme.Muted},
					{locales.Inert(b.Model), theme.Model},
					{" · ", theme.Muted},
					{string(b.Reasoning), theme.Reasoning(string(b.Reasoning))},
				})
			}
		}
	}
	if len(out) == 0 {
		out = append(out, text(theme.Muted, p.T("sessions.policy.touched")))
	}
	return out
}
