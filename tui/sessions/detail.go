package sessions

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// doc collects the lines of a page w cells wide.
type doc struct {
	p     *locales.Printer
	w     int
	lines []line
}

func (d *doc) add(lines ...line) { d.lines = append(d.lines, lines...) }

func (d *doc) heading(s string) {
	if len(d.lines) > 0 {
		d.add(nil)
	}
	d.prose(theme.Title, s)
}

func (d *doc) prose(role theme.Role, s string) { d.add(paragraph(role, s, d.w, 0)...) }

// fact is a name and a value, in two columns or one under the other.
func (d *doc) fact(name string, value line) {
	const column = 12
	if n := ansi.StringWidth(name); n < column && column+value.width() <= d.w {
		d.add(append(line{{pad(name, column), theme.Muted}}, value...))
		return
	}
	if ansi.StringWidth(name)+2+value.width() <= d.w {
		d.add(append(line{{name + "  ", theme.Muted}}, value...))
		return
	}
	d.add(text(theme.Muted, name))
	if len(value) == 1 {
		d.add(paragraph(value[0].role, value[0].text, d.w, 2)...)
		return
	}
	d.add(append(text(theme.Plain, "  "), value...))
}

// stage is where a part of a route stands.
type stage uint8

const (
	ahead stage = iota
	done
	due
	halted  // the review stopped here
	skipped // not needed
)

var stageMarks = map[stage]seg{
	ahead:   {"○", theme.Muted},
	done:    {"✓", theme.Good},
	due:     {"▶", theme.Accent},
	halted:  {"■", theme.Bad},
	skipped: {"–", theme.Muted},
}

// step draws one step of a route: a mark, its name, and what is to say about it.
func (d *doc) step(s stage, name, detail string) {
	mark := stageMarks[s]
	role := theme.Plain
	switch s {
	case ahead, skipped:
		role = theme.Muted
	case due:
		role = theme.Title
	}
	l := line{{" ", theme.Plain}, mark, {" ", theme.Plain}, {name, role}}
	if detail != "" {
		if l.width()+3+ansi.StringWidth(detail) > d.w {
			d.add(l)
			d.add(paragraph(theme.Muted, detail, d.w, 5)...)
			return
		}
		l = l.with(theme.Muted, " · "+detail)
	}
	d.add(l)
}

// Detail returns the page of one session as lines of at most w cells, for a command that prints it.
func Detail(o Options, r *watch.Row, w int) []string {
	e := &env{p: locales.New(o.Lang), br: newBrush(theme.New(o.Colors, o.Dark, o.Known), o.Dark, o.Known), now: o.Now(), o: &o}
	lines := detail(e, r, w)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = e.br.paint(l, false)
	}
	return out
}

// detail is the page of one session.
func detail(e *env, r *watch.Row, w int) []line {
	p := e.p
	d := &doc{p: p, w: w}
	status := badge(p, r)
	head := line{status, {" " + Status(p, r), status.role}}
	if r.Fate == watch.Present {
		head = head.with(theme.Muted, " · "+terms.Task(p, r.Task))
	}
	d.add(head)
	d.add(text(theme.Accent, r.RunID))
	d.add(nil)
	if r.Fate != watch.Present {
		d.prose(theme.Plain, Next(p, r))
	} else {
		d.add(line{{p.T("sessions.detail.next"), theme.Title}})
		d.prose(theme.Plain, Next(p, r))
	}

	d.heading(p.T("sessions.detail.route"))
	d.route(r)

	if current := r.Current(); current != "" && r.Fate == watch.Present {
		d.heading(p.T("sessions.detail.checklist", locales.Vars{"Profile": terms.Profile(p, current)}))
		checklist(d, current)
	}
	d.heading(p.T("sessions.detail.model"))
	d.assignment(r.Policy)
	if r.Deep != nil {
		d.heading(p.T("sessions.detail.deep"))
		d.assessment(r.Deep)
	}

	d.heading(p.T("sessions.detail.time"))
	local := r.ExpiresAt.In(e.o.Location)
	expiry := p.Clock(local)
	if e.now.In(e.o.Location).Format("2006-01-02") != local.Format("2006-01-02") {
		expiry += ", " + p.Date(local)
	}
	if r.Fate == watch.Present {
		left := r.ExpiresAt.Sub(e.now)
		d.fact(p.T("sessions.detail.left"), gauge(left, e.o.TTL, 12).with(theme.Plain, " "+Figure(p, left)))
	} else {
		d.fact(p.T("sessions.detail.gone"), text(theme.Plain, p.Ago(e.now.Sub(r.GoneAt).Truncate(1e9))))
	}
	d.fact(p.T("sessions.detail.expires"), text(theme.Plain, expiry))
	switch {
	case r.Changed.IsZero():
		d.fact(p.T("sessions.detail.changed"), text(theme.Muted, p.T("sessions.detail.unknown")))
	case r.Seen:
		d.fact(p.T("sessions.detail.changed"), text(theme.Plain, p.Clock(r.Changed.In(e.o.Location))))
	default:
		d.fact(p.T("sessions.detail.changed"), text(theme.Plain, p.T("sessions.detail.about", locales.Vars{"Time": p.Clock(r.Changed.In(e.o.Location))})))
	}
	return d.lines
}

// route draws the whole route with what is done, due and ahead.
func (d *doc) route(r *watch.Row) {
	p := d.p
	here := due
	if r.Stopped() || r.Fate != watch.Present {
		here = halted
	}
	if r.Fate == watch.Finished && !r.Stopped() {
		here = done
	}
	order := map[review.Step]int{}
	for i, s := range review.Steps() {
		order[s] = i
	}
	at := func(s review.Step) stage {
		switch {
		case order[s] < order[r.Step]:
			return done
		case s == r.Step:
			return here
		}
		return ahead
	}
	choice := ""
	switch {
	case r.Bundle != "":
		choice = string(r.Bundle)
	case r.Profile != "":
		choice = string(r.Profile)
	}
	d.step(at(review.Triage), terms.Step(p, review.Triage), choice)
	route := r.Route()
	if route == nil {
		d.step(ahead, terms.Step(p, review.PrimaryReview), d.recommended(r.Task))
	}
	for i, profile := range route {
		s := at(review.PrimaryReview)
		if r.Step == review.PrimaryReview {
			switch {
			case i < r.Done:
				s = done
			case i > r.Done:
				s = ahead
			}
		}
		place := ""
		if len(route) > 1 {
			place = fmt.Sprintf(" %d/%d", i+1, len(route))
		}
		name, who := terms.Step(p, review.PrimaryReview)+place, terms.Profile(p, profile)
		if ansi.StringWidth(name+who)+6 > d.w {
			name = p.Word(steps, string(review.PrimaryReview)) + place
		}
		d.step(s, name, who)
	}
	switch {
	case r.Deep == nil:
		d.step(ahead, terms.Step(p, review.DeepReview), p.T("sessions.detail.deep-open"))
	case r.Deep.Escalate:
		d.step(at(review.DeepReview), terms.Step(p, review.DeepReview), terms.Reason(p, r.DeepReason()))
	default:
		d.step(skipped, terms.Step(p, review.DeepReview), p.T("sessions.detail.not-escalated"))
	}
	d.step(at(review.Synthesis), terms.Step(p, review.Synthesis), "")
	d.step(at(review.AwaitingOutcome), p.T("sessions.detail.outcome"), p.T("sessions.detail.outcome-by"))
}

func (d *doc) recommended(t catalog.TaskType) string {
	list := t.Recommended()
	if len(list) == 0 {
		return ""
	}
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = string(b)
	}
	return d.p.T("sessions.detail.recommended", locales.Vars{"Bundles": d.p.Or(names)})
}

// checklist is what a profile looks at and answers with.
func checklist(d *doc, profile catalog.Profile) {
	c, ok := profile.Checklist()
	if !ok {
		return
	}
	d.prose(theme.Plain, terms.Focus(d.p, profile))
	d.fact(d.p.T("sessions.detail.sections"), text(theme.Plain, strings.Join(c.RequiredSections, " · ")))
}

// assignment is the model of the step that is due.
func (d *doc) assignment(a policy.Assignment) {
	if a == (policy.Assignment{}) {
		d.prose(theme.Muted, d.p.T("sessions.detail.no-model"))
		return
	}
	d.add(line{
		{string(a.Provider), theme.Provider(string(a.Provider))},
		{" · ", theme.Muted},
		{locales.Inert(a.Model), theme.Model},
		{" · ", theme.Muted},
		{string(a.Reasoning), theme.Reasoning(string(a.Reasoning))},
	})
	d.add(verified(d.p, a.Verified))
}

func verified(p *locales.Printer, yes bool) line {
	if yes {
		return line{{"✓ ", theme.Good}, {p.T("sessions.verified"), theme.Muted}}
	}
	return line{{"? ", theme.Attention}, {p.T("sessions.unverified"), theme.Muted}}
}

// assessment says whether a deep review was due, and why.
func (d *doc) assessment(a *review.Assessment) {
	if a.Escalate {
		d.prose(theme.Attention, d.p.T("sessions.detail.escalated"))
	} else {
		d.prose(theme.Plain, d.p.T("sessions.detail.no-rule"))
	}
	for _, rule := range a.Rules {
		d.add(bullet("•", theme.Attention, theme.Plain, terms.Rule(d.p, rule), d.w, 1)...)
		d.add(paragraph(theme.Muted, string(rule), d.w, 3)...)
	}
	if len(a.Reasons) > 0 {
		d.add(text(theme.Muted, d.p.T("sessions.detail.reasons")))
	}
	for _, reason := range a.Reasons {
		d.add(bullet("•", theme.Muted, theme.Plain, terms.Reason(d.p, reason)+" ("+string(reason)+")", d.w, 1)...)
	}
	d.add(text(theme.Muted, d.p.N("sessions.detail.signals", a.ComplexitySignal)))
}
