package review_test

import (
	"slices"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
)

// This file is the contract written out a second time, in plain words and
// independently of the code under test: tests compare the two.

var specProfiles = []string{
	"pr_test_analyzer", "code_reviewer", "security_reviewer", "silent_failure_hunter", "code_explorer",
	"typescript_reviewer", "react_reviewer", "ruby_reviewer", "python_reviewer", "mobile_reviewer",
}

var specBundles = []string{
	"ordinary_mr", "widget", "widget_js", "ruby_backend", "python_backend", "mobile", "security", "autotest", "requirements",
}

var specRoutes = map[string][]string{
	"ordinary_mr":    {"code_explorer", "code_reviewer", "pr_test_analyzer"},
	"widget":         {"code_explorer", "react_reviewer", "typescript_reviewer", "pr_test_analyzer"},
	"widget_js":      {"code_explorer", "code_reviewer", "react_reviewer", "pr_test_analyzer"},
	"ruby_backend":   {"code_explorer", "ruby_reviewer", "pr_test_analyzer"},
	"python_backend": {"code_explorer", "python_reviewer", "pr_test_analyzer"},
	"mobile":         {"code_explorer", "mobile_reviewer", "pr_test_analyzer"},
	"security":       {"code_explorer", "security_reviewer", "silent_failure_hunter"},
	"autotest":       {"code_reviewer", "pr_test_analyzer", "typescript_reviewer"},
	"requirements":   {"code_explorer", "code_reviewer"},
}

var specTasks = map[string][]string{
	"ordinary_review":         {"ordinary_mr"},
	"widget_review":           {"widget", "widget_js"},
	"epic_analysis":           {"requirements"},
	"requirements_analysis":   {"requirements"},
	"qa_planning":             {"requirements"},
	"autotest_implementation": {"autotest", "ordinary_mr"},
	"other":                   {},
}

// specSignals in the contract's order; bit i of a combination is the i-th.
var specSignals = []string{
	"high_risk_domain", "evidence_uncertain", "cross_system_scope", "multiple_plausible_causes",
	"evidence_conflict", "non_reproducible", "high_blast_radius",
}

// specAssess works out the deep assessment of a combination of signals.
func specAssess(combination int) map[string]any {
	on := map[string]bool{}
	for i, name := range specSignals {
		on[name] = combination>>i&1 == 1
	}
	rules, reasons := []any{}, []any{}
	because := func(list ...string) {
		for _, r := range list {
			if !slices.Contains(reasons, any(r)) {
				reasons = append(reasons, r)
			}
		}
	}
	var complex []string
	if on["cross_system_scope"] {
		complex = append(complex, "cross_repository")
	}
	if on["multiple_plausible_causes"] {
		complex = append(complex, "root_cause")
	}
	if on["non_reproducible"] {
		complex = append(complex, "non_reproducible")
	}
	if on["high_blast_radius"] {
		complex = append(complex, "high_blast_radius")
	}
	if on["high_risk_domain"] && on["evidence_uncertain"] {
		rules = append(rules, "high_risk_with_uncertainty")
		because("high_risk_domain", "evidence_gap")
	}
	if len(complex) >= 2 {
		rules = append(rules, "multiple_complexity_signals")
		because(complex...)
	}
	if on["evidence_conflict"] && (on["high_risk_domain"] || on["cross_system_scope"] || on["high_blast_radius"]) {
		rules = append(rules, "critical_evidence_conflict")
		because("evidence_conflict")
		if on["high_blast_radius"] {
			because("high_blast_radius")
		}
	}
	return map[string]any{
		"should_escalate":         len(rules) > 0,
		"triggered_rules":         rules,
		"reason_codes":            reasons,
		"complexity_signal_count": float64(len(complex)),
	}
}

// model is a session as the contract tells it.
type model struct {
	task, status, step, bundle, profile string
	done                                int
	signals                             int // the combination sent; -1 before it was
	finalized                           bool
}

func newModel(task string) model {
	return model{task: task, status: "active", step: "triage", signals: -1}
}

func (m model) route() []string {
	if m.bundle != "" {
		return specRoutes[m.bundle]
	}
	if m.profile != "" {
		return []string{m.profile}
	}
	return []string{}
}

func (m model) current() string {
	if m.step == "primary_review" {
		return m.route()[m.done]
	}
	return ""
}

func (m model) last() bool { return m.step == "primary_review" && m.done == len(m.route())-1 }

// request is one call; empty and negative fields are left out.
type request struct {
	finish                     string // outcome; "" means advance
	step, status               string
	bundle, profile, completed string
	signals                    int // -1: left out
}

const (
	phraseTerminal  = "terminal session"
	phraseIllegal   = "illegal transition"
	phraseConflict  = "conflicting final outcome"
	phraseNotReady  = "outcome is not ready"
	phraseArguments = "invalid arguments"
	phraseProfile   = "completed profile does not match current profile"
	phraseMissing   = "risk_signals are required for the final primary-review profile"
	phraseEarly     = "risk signals must be sent with the final primary-review profile"
)

func isOutcome(s string) bool { return s == "completed" || s == "partial" || s == "blocked" }

// apply says what the contract makes of a request: the next state, or every
// phrase that a refusal may start with.
func (m model) apply(r request) (model, []string) {
	if r.finish != "" {
		switch {
		case !isOutcome(r.finish):
			return m, []string{phraseArguments}
		case isOutcome(m.status): // stopped or finalized: the same one only
			if r.finish != m.status {
				return m, []string{phraseConflict}
			}
		case m.status != "awaiting_host_outcome":
			return m, []string{phraseNotReady}
		}
		m.status, m.finalized = r.finish, true
		return m, nil
	}
	working := slices.Contains([]string{"triage", "primary_review", "deep_review", "synthesis"}, r.step)
	known := func(list []string, v string) bool { return v == "" || slices.Contains(list, v) }
	switch {
	case !working, !isOutcome(r.status), !known(specBundles, r.bundle), !known(specProfiles, r.profile), !known(specProfiles, r.completed):
		return m, []string{phraseArguments}
	case isOutcome(m.status):
		return m, []string{phraseTerminal}
	case r.step != m.step:
		return m, []string{phraseIllegal}
	}
	var faults []string
	fault := func(when bool, phrase string) {
		if when {
			faults = append(faults, phrase)
		}
	}
	selected, sent := r.bundle != "" || r.profile != "", r.signals >= 0
	if r.status != "completed" {
		fault(selected || r.completed != "" || sent, phraseArguments)
		if len(faults) == 0 {
			m.status = r.status
		}
		return m, faults
	}
	switch m.step {
	case "triage":
		fault((r.bundle == "") == (r.profile == ""), phraseArguments)
		fault(r.completed != "", phraseArguments)
		fault(sent, phraseEarly)
	case "primary_review":
		fault(selected, phraseArguments)
		fault(r.completed != m.current(), phraseProfile)
		fault(m.last() && !sent, phraseMissing)
		fault(!m.last() && sent, phraseEarly)
	default:
		fault(selected || r.completed != "", phraseArguments)
		fault(sent, phraseEarly)
	}
	if len(faults) > 0 {
		return m, faults
	}
	switch m.step {
	case "triage":
		m.bundle, m.profile, m.step = r.bundle, r.profile, "primary_review"
	case "primary_review":
		last := m.last()
		m.done++
		if last {
			m.signals, m.step = r.signals, "synthesis"
			if specAssess(r.signals)["should_escalate"] == true {
				m.step = "deep_review"
			}
		}
	case "deep_review":
		m.step = "synthesis"
	case "synthesis":
		m.step, m.status = "awaiting_host_outcome", "awaiting_host_outcome"
	}
	return m, nil
}

// wire is the JSON object that the contract asks for, without next_action.
func (m model) wire(runID, expires string) map[string]any {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	list := func(s []string) []any {
		out := []any{}
		for _, v := range s {
			out = append(out, v)
		}
		return out
	}
	selected := m.profile
	if m.bundle != "" {
		selected = specRoutes[m.bundle][0]
	}
	w := map[string]any{
		"run_id": runID, "task_type": m.task, "status": m.status, "current_step": m.step,
		"allowed_profiles": list(specProfiles), "allowed_bundles": list(specBundles),
		"recommended_bundles": list(specTasks[m.task]),
		"selected_bundle":     orNull(m.bundle), "selected_profile": orNull(selected),
		"review_profiles": list(m.route()), "current_profile": orNull(m.current()),
		"completed_profiles": list(m.route()[:m.done]),
		"deep_assessment":    nil, "deep_reason_code": nil, "model_policy": nil,
		"read_only": true, "host_owns_decisions": true, "expires_at": expires,
	}
	if m.signals >= 0 {
		a := specAssess(m.signals)
		w["deep_assessment"] = a
		if reasons := a["reason_codes"].([]any); len(reasons) > 0 {
			w["deep_reason_code"] = reasons[0]
		}
	}
	if m.status == "active" {
		stage := map[string]string{"triage": "triage", "primary_review": "primary", "deep_review": "deep", "synthesis": "synthesis"}[m.step]
		w["model_policy"] = map[string]any{
			"provider": "openai", "model": "model-for-" + stage, "reasoning": "high", "reasoning_capabilities_verified": stage == "deep",
		}
	}
	return w
}

// assign gives each stage a model that names it.
func assign(st policy.Stage) (policy.Assignment, error) {
	return policy.Assignment{
		Provider: catalog.OpenAI, Model: "model-for-" + string(st), Reasoning: catalog.ReasoningHigh, Verified: st == policy.Deep,
	}, nil
}

const (
	runID = "qar-0123456789abcdef0123456789abcdef"
	ttl   = 30 * time.Minute
)

var start = time.Date(2026, 10, 1, 12, 0, 0, 123456789, time.UTC)

func signals(combination int) *review.Signals {
	if combination < 0 {
		return nil
	}
	var names []review.Signal
	for i, name := range specSignals {
		if combination>>i&1 == 1 {
			names = append(names, review.Signal(name))
		}
	}
	set := review.NewSignals(names...)
	return &set
}

// send carries a request out on the code under test.
func send(s review.Session, r request, now time.Time) (review.Session, error) {
	if r.finish != "" {
		return s.Finish(review.Status(r.finish), now, ttl)
	}
	return s.Advance(review.Report{
		Step: review.Step(r.step), Status: review.Status(r.status),
		Bundle: catalog.Bundle(r.bundle), Profile: catalog.Profile(r.profile),
		CompletedProfile: catalog.Profile(r.completed), Signals: signals(r.signals),
	}, assign, now, ttl)
}
