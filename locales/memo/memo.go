// Package memo says the words of the devil's advocate for people: the labels of its decision memo and
// the names of its contract.
package memo

import (
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
)

var (
	names = locales.NewFamily("memo.name.",
		"devils_advocate", "premortem", "assumptions", "steelman", "gauntlet",
		"counterarguments", "rebuttals", "setup", "failure_causes", "mitigations", "tests", "strongest_case", "responses",
		"active", "complete", "abandoned", "claim_refuted", "claim_needs_revision", "claim_survives_scrutiny",
		"evidence", "incentives", "base_rates", "alternatives", "second_order", "scope",
		"holds", "partially_holds", "refuted", "verified", "partial", "none", "low", "medium", "high", "concede", "counter")
	counts = locales.NewFamily("memo.count.", "devils_advocate", "premortem", "assumptions", "steelman", "gauntlet")
	scales = locales.NewFamily("memo.scale.", "devils_advocate", "premortem", "assumptions", "steelman", "gauntlet")
	rules  = locales.NewFamily("memo.rule.",
		"two_hold", "severe_holds", "one_holds", "two_partially_hold", "none_holds",
		"mean_refutes", "mean_revise", "high_residual", "low_mean",
		"two_unsupported", "one_unsupported", "two_half_supported", "supported",
		"all_conceded", "half_conceded", "most_countered",
		"two_lenses_refute", "one_lens_refutes", "two_lenses_revise", "lenses_survive")
)

// Name says a name of the contract: a mode, phase, status, assessment, category or another value of an
// item's field.
func Name[S ~string](p *locales.Printer, name S) string {
	return p.Word(names, strings.ReplaceAll(string(name), " ", "_"))
}

// Labels are the labels of a memo in the printer's language. Its bytes are the same everywhere.
func Labels(p *locales.Printer) advocate.Labels {
	return advocate.Labels{
		Title: p.T("memo.title"), Review: p.T("memo.review"), Mode: p.T("memo.mode"), Assessment: p.T("memo.assessment"),
		RiskScore: p.T("memo.risk-score"), Started: p.T("memo.started"), Completed: p.T("memo.completed"),
		Horizon: p.T("memo.horizon"), Skipped: p.T("memo.skipped"), Context: p.T("memo.context"), Verdict: p.T("memo.verdict"),
		Lenses: p.T("memo.lenses"), Lens: p.T("memo.lens"), NextActions: p.T("memo.next-actions"), Done: p.T("memo.done"),
		Severity: p.T("memo.severity"), Likelihood: p.T("memo.likelihood"), Impact: p.T("memo.impact"),
		LoadBearing: p.T("memo.load-bearing"), NotBearing: p.T("memo.not-bearing"), Evidence: p.T("memo.evidence"), Residual: p.T("memo.residual"),
		Rebuttal: p.T("memo.rebuttal"), Mitigation: p.T("memo.mitigation"), Test: p.T("memo.test"), Response: p.T("memo.response"),
		Address: p.T("memo.action.address"), Settle: p.T("memo.action.settle"), Run: p.T("memo.action.run"),
		CarryOut: p.T("memo.action.carry-out"), Accept: p.T("memo.action.accept"),
		Progress: p.T("memo.progress"), Status: p.T("memo.status"), Reasoned: p.T("memo.reason"), Phase: p.T("memo.phase"),
		Updated: p.T("memo.updated"), ItemsPerPhase: p.T("memo.items-per-phase"), Missing: p.T("memo.missing"),
		NoAnswer:    func(phase advocate.Phase, item advocate.Item) string { return noAnswer(p, phase, item) },
		Requirement: func(q advocate.Requirement) string { return Requirement(p, q) },
		Time:        advocate.Stamp,
		Number:      func(number string) string { return figure(p, number) },
		Name:        func(name string) string { return Name(p, name) },
		Reason:      func(o advocate.Outcome) string { return Reason(p, o) },
		Scale:       func(o advocate.Outcome) string { return p.Word(scales, string(o.Mode)) },
	}
}

// OnScreen are the labels of a memo that is read at once and not kept: times are those of the place.
func OnScreen(p *locales.Printer, place *time.Location) advocate.Labels {
	l := Labels(p)
	l.Time = func(t time.Time) string { return p.DateTime(t.In(place)) }
	return l
}

// Requirement says one thing that a phase still needs. People count items from 1.
func Requirement(p *locales.Printer, q advocate.Requirement) string {
	switch q.Kind {
	case advocate.NeedItems:
		return p.N("memo.need.items", q.Need-q.Have, locales.Vars{"Need": q.Need})
	case advocate.NeedCategories:
		return p.N("memo.need.categories", q.Have, locales.Vars{"Need": q.Need})
	}
	return p.T("memo.need.answer", locales.Vars{"Index": q.Index + 1, "Phase": Name(p, q.Phase)})
}

// Reason says what was counted for a verdict and which rule decided.
func Reason(p *locales.Printer, o advocate.Outcome) string {
	counted := p.Word(counts, string(o.Mode), locales.Vars{
		"Holds": o.Holds, "Sinking": o.Sinking, "Partially": o.PartiallyHolds, "Refuted": o.Refuted, "Worst": advocate.MaxScale,
		"Mean": figure(p, o.RiskNumber()), "Causes": o.Causes, "High": o.HighResidual,
		"Bearing": o.LoadBearing, "Without": o.Unsupported, "Half": o.HalfSupported,
		"Conceded": o.Conceded, "Countered": o.Countered,
		"Refute": o.LensesRefute, "Revise": o.LensesRevise, "Lenses": len(o.Lenses),
	})
	return p.T("memo.count.reason", locales.Vars{"Counts": counted, "Rule": p.Word(rules, string(o.Rule))})
}

func noAnswer(p *locales.Printer, phase advocate.Phase, item advocate.Item) string {
	switch {
	case phase == advocate.Counterarguments:
		return p.T("memo.no-answer.severity", locales.Vars{"Least": advocate.AnswerSeverity})
	case phase == advocate.FailureCauses:
		return p.T("memo.no-answer.risk", locales.Vars{"Least": advocate.AnswerRisk})
	case phase == advocate.AssumptionList && item.LoadBearing != nil && *item.LoadBearing:
		return p.T("memo.no-answer.verified")
	case phase == advocate.AssumptionList:
		return p.T("memo.no-answer.not-bearing")
	}
	return p.T("memo.no-answer.unanswered")
}

// figure writes a risk score with the decimal mark of the language.
func figure(p *locales.Printer, number string) string {
	if p.Lang() == locales.Ru {
		return strings.Replace(number, ".", ",", 1)
	}
	return number
}
