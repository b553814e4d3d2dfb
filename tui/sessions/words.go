package sessions

import (
	"fmt"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

var (
	fates = locales.NewFamily("sessions.fate.", "finished", "expired", "removed")
	// letters tell statuses apart where there is no colour and no room for the word.
	letters = locales.NewFamily("sessions.letter.", "active", "awaiting_host_outcome", "completed", "partial", "blocked")
	// steps are the names of steps where there is little room.
	steps = locales.NewFamily("sessions.step.", "triage", "primary_review", "deep_review", "synthesis", "awaiting_host_outcome")
	nexts = locales.NewFamily("sessions.next.", "triage", "primary_review", "last_profile", "deep_review", "synthesis", "awaiting_host_outcome", "stopped", "gone")
)

// glyphs are the shapes of the statuses.
var glyphs = map[review.Status]string{
	review.Active: "●", review.Awaiting: "◆", review.Completed: "✓", review.Partial: "▲", review.Blocked: "■",
}

// badge returns the glyph and letter of a session's status.
func badge(p *locales.Printer, r *watch.Row) seg {
	if r.Fate != watch.Present {
		return seg{"×" + p.T("sessions.letter-gone"), theme.Muted}
	}
	return seg{glyphs[r.Status] + p.Word(letters, string(r.Status)), theme.Status(string(r.Status))}
}

// ShortID returns the first eight digits of a run id.
func ShortID(runID string) string {
	_, digits, _ := strings.Cut(runID, "-")
	return digits[:min(8, len(digits))]
}

// Status says what a session does or waits for: "awaiting the outcome", "gone: expired".
func Status(p *locales.Printer, r *watch.Row) string {
	if r.Fate != watch.Present {
		return p.Word(fates, string(r.Fate))
	}
	return terms.Status(p, r.Status)
}

// Step says where a session is: "primary review 2/3 · Code Reviewer".
func Step(p *locales.Printer, s *review.Session) string {
	step := terms.Step(p, s.Step)
	if s.Step != review.PrimaryReview {
		return step
	}
	if n := len(s.Route()); n > 1 {
		step += fmt.Sprintf(" %d/%d", s.Done+1, n)
	}
	return step + " · " + terms.Profile(p, s.Current())
}

// shortStep is Step in the fewest words.
func shortStep(p *locales.Printer, s *review.Session) string {
	step := p.Word(steps, string(s.Step))
	if s.Step != review.PrimaryReview {
		return step
	}
	if n := len(s.Route()); n > 1 {
		step += fmt.Sprintf(" %d/%d", s.Done+1, n)
	}
	return step + " · " + terms.Profile(p, s.Current())
}

// stepLine is Step, after the status where that is not the one that the step implies.
func stepLine(p *locales.Printer, r *watch.Row, short bool) line {
	step, stopped := Step(p, &r.Session), terms.Status(p, r.Status)
	if short {
		step, stopped = shortStep(p, &r.Session), p.T("sessions.stopped-short")
	}
	switch {
	case r.Fate != watch.Present:
		return line{{Status(p, r), theme.Plain}, {" · " + step, theme.Muted}}
	case r.Stopped():
		return line{{stopped, theme.Status(string(r.Status))}, {" · " + step, theme.Muted}}
	case r.Status == review.Awaiting:
		return text(theme.Attention, step)
	}
	return text(theme.Plain, step)
}

// Route names a session's route as the contract does, "—" before it is chosen.
func Route(s *review.Session) string {
	switch {
	case s.Bundle != "":
		return string(s.Bundle)
	case s.Profile != "":
		return string(s.Profile)
	}
	return "—"
}

// Figure returns a time that is left in a steady form: "4:05", "24:05", "1:24:05", or with days in
// words.
func Figure(p *locales.Printer, d time.Duration) string {
	d = max(d, 0)
	s := int(d / time.Second)
	switch {
	case s >= 24*3600:
		return p.Duration(d)
	case s >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Age returns how long ago something was in its largest unit, "—" where that is not known.
func Age(p *locales.Printer, now, then time.Time) string {
	if then.IsZero() {
		return "—"
	}
	d := max(now.Sub(then), 0).Truncate(time.Second)
	for _, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d >= unit {
			return p.Duration(d.Truncate(unit))
		}
	}
	return p.Duration(d)
}

// gauge draws the part of ttl that is left in w cells.
func gauge(left, ttl time.Duration, w int) line {
	full := 0
	part := 1.0
	if ttl > 0 {
		part = max(min(float64(left)/float64(ttl), 1), 0)
	}
	full = int(part*float64(w) + 0.999)
	return line{
		{strings.Repeat("━", full), leftRole(part)},
		{strings.Repeat("╌", w-full), theme.Muted},
	}
}

// leftRole is the look of what is left of a lifetime.
func leftRole(part float64) theme.Role {
	switch {
	case part > 1.0/3:
		return theme.Good
	case part > 0.1:
		return theme.Attention
	}
	return theme.Bad
}

// Next says for people what the host does next.
func Next(p *locales.Printer, r *watch.Row) string {
	word := string(r.Step)
	switch {
	case r.Fate != watch.Present:
		word = "gone"
	case r.Stopped():
		word = "stopped"
	case r.LastProfile():
		word = "last_profile"
	}
	return p.Word(nexts, word, locales.Vars{
		"Profile": terms.Profile(p, r.Current()), "Outcome": string(r.Status),
	})
}
