// Package model has no code, only tests: random histories of many clients,
// servers and mishaps, held to a model of the contract that shares nothing with
// the program but the words of the wire.
//
//	go test ./cmd/proof/model                                 # seconds
//	go test ./cmd/proof/model -timeout 2h -proof.duration=15m # each of its tests for so long
//
// Histories whose calls come one after the other are drawn by rapid: a failure is
// made smaller and prints the flag that plays it again. What several clients do at
// the same time can be drawn again by -rapid.seed, but won't overlap as it did: a
// failure names the file that its history was written to.
package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// This file is the contract for one session: the tables and the transitions,
// written down a second time from the document and not from the program.

var taskTypes = []string{
	"ordinary_review", "widget_review", "epic_analysis", "requirements_analysis",
	"qa_planning", "autotest_implementation", "other",
}

var recommended = map[string][]string{
	"ordinary_review":         {"ordinary_mr"},
	"widget_review":           {"widget", "widget_js"},
	"epic_analysis":           {"requirements"},
	"requirements_analysis":   {"requirements"},
	"qa_planning":             {"requirements"},
	"autotest_implementation": {"autotest", "ordinary_mr"},
	"other":                   {},
}

var profiles = []string{
	"pr_test_analyzer", "code_reviewer", "security_reviewer", "silent_failure_hunter", "code_explorer",
	"typescript_reviewer", "react_reviewer", "ruby_reviewer", "python_reviewer", "mobile_reviewer",
}

var bundles = []string{
	"ordinary_mr", "widget", "widget_js", "ruby_backend", "python_backend", "mobile", "security", "autotest", "requirements",
}

var routes = map[string][]string{
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

var outcomes = []string{"completed", "partial", "blocked"}

var workingSteps = []string{"triage", "primary_review", "deep_review", "synthesis"}

var riskSignals = []string{
	"high_risk_domain", "evidence_uncertain", "cross_system_scope", "multiple_plausible_causes",
	"evidence_conflict", "non_reproducible", "high_blast_radius",
}

// The stable phrases of refusals.
const (
	unknownRun     = "unknown run_id"
	expiredSession = "expired session"
	terminal       = "terminal session"
	illegal        = "illegal transition"
	sessionLimit   = "session limit"
	conflicting    = "conflicting final outcome"
	notReady       = "outcome is not ready"
	invalid        = "invalid arguments"
	wrongProfile   = "completed profile does not match current profile"
	signalsMissing = "risk_signals are required for the final primary-review profile"
	signalsEarly   = "risk signals must be sent with the final primary-review profile"
	noStore        = "session store unavailable"
	noPolicy       = "model policy unavailable"
)

// instant is a time in microseconds, as finely as the wire tells it.
type instant int64

func at(t time.Time) instant { return instant(t.UnixMicro()) }

func (i instant) time() time.Time { return time.UnixMicro(int64(i)).UTC() }

func (i instant) String() string { return i.time().Format("2006-01-02T15:04:05.000000Z") }

// signals are the risk signals that are true, as a set of bits in the order of
// riskSignals.
type signals uint8

func (s signals) has(name string) bool { return s>>slices.Index(riskSignals, name)&1 == 1 }

// session is one review. Two that are equal by == are the same.
type session struct {
	ID, Task, Status, Step string
	Bundle, Profile        string // what was selected at triage
	Done                   int    // how many profiles of the route are completed
	Assessed               bool
	Signals                signals
	Policy                 assignment // zero when no stage is due
	Final                  bool
	Expires                instant
}

// assignment is a session's model policy.
type assignment struct {
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Reasoning string `json:"reasoning"`
	Verified  bool   `json:"reasoning_capabilities_verified"`
}

func (s session) route() []string {
	switch {
	case s.Bundle != "":
		return routes[s.Bundle]
	case s.Profile != "":
		return []string{s.Profile}
	}
	return []string{}
}

func (s session) current() string {
	if s.Step != "primary_review" {
		return ""
	}
	return s.route()[s.Done]
}

func (s session) active() bool { return s.Status == "active" || s.Status == "awaiting_host_outcome" }

func (s session) expired(now instant) bool { return now >= s.Expires }

// older is the order in which sessions are evicted.
func (s session) older(than session) bool {
	return s.Expires < than.Expires || s.Expires == than.Expires && s.ID < than.ID
}

// assessment is section 5.
type assessment struct {
	Escalate bool     `json:"should_escalate"`
	Rules    []string `json:"triggered_rules"`
	Reasons  []string `json:"reason_codes"`
	Count    int      `json:"complexity_signal_count"`
}

func assess(s signals) assessment {
	a := assessment{Rules: []string{}, Reasons: []string{}}
	var complexity []string
	for _, c := range [][2]string{
		{"cross_system_scope", "cross_repository"},
		{"multiple_plausible_causes", "root_cause"},
		{"non_reproducible", "non_reproducible"},
		{"high_blast_radius", "high_blast_radius"},
	} {
		if s.has(c[0]) {
			complexity = append(complexity, c[1])
		}
	}
	a.Count = len(complexity)
	match := func(rule string, reasons ...string) {
		a.Escalate, a.Rules = true, append(a.Rules, rule)
		for _, r := range reasons {
			if !slices.Contains(a.Reasons, r) {
				a.Reasons = append(a.Reasons, r)
			}
		}
	}
	if s.has("high_risk_domain") && s.has("evidence_uncertain") {
		match("high_risk_with_uncertainty", "high_risk_domain", "evidence_gap")
	}
	if a.Count >= 2 {
		match("multiple_complexity_signals", complexity...)
	}
	if s.has("evidence_conflict") && (s.has("high_risk_domain") || s.has("cross_system_scope") || s.has("high_blast_radius")) {
		reasons := []string{"evidence_conflict"}
		if s.has("high_blast_radius") {
			reasons = append(reasons, "high_blast_radius")
		}
		match("critical_evidence_conflict", reasons...)
	}
	return a
}

// report is what advance is told. Empty strings and nil are left out.
type report struct {
	Step      string   `json:"completed_step"`
	Status    string   `json:"status"`
	Bundle    string   `json:"selected_bundle,omitempty"`
	Profile   string   `json:"selected_profile,omitempty"`
	Completed string   `json:"completed_profile,omitempty"`
	Signals   *signals `json:"risk_signals,omitempty"`
}

// MarshalJSON writes a set as the argument that a host sends: some that are
// false are sent, others left out.
func (s signals) MarshalJSON() ([]byte, error) {
	object := map[string]bool{}
	for i, name := range riskSignals {
		if on := s.has(name); on || i%2 == 0 {
			object[name] = on
		}
	}
	return json.Marshal(object)
}

// advance is section 4. Where it refuses, refusals are the phrases that it may
// refuse with: the contract does not say in which order a step's own rules are
// checked. policyOf gives a stage's assignment, and false when there is none.
func (s session) advance(r report, now, ttl instant, policyOf func(stage string) (assignment, bool)) (next session, refusals []string) {
	switch {
	case s.expired(now):
		return s, []string{expiredSession}
	case !s.active() || s.Final:
		return s, []string{terminal}
	case r.Step != s.Step:
		return s, []string{illegal}
	}
	refuse := func(when bool, phrases ...string) {
		if when {
			refusals = append(refusals, phrases...)
		}
	}
	next = s
	last := s.Step == "primary_review" && s.Done == len(s.route())-1
	switch {
	case r.Status != "completed":
		refuse(r.Bundle != "" || r.Profile != "" || r.Completed != "", invalid)
		refuse(r.Signals != nil, invalid, signalsEarly)
		next.Status = r.Status
	case s.Step == "triage":
		refuse((r.Bundle == "") == (r.Profile == ""), invalid)
		refuse(r.Completed != "", invalid)
		refuse(r.Signals != nil, signalsEarly)
		next.Step, next.Bundle, next.Profile = "primary_review", r.Bundle, r.Profile
	case s.Step == "primary_review":
		refuse(r.Bundle != "" || r.Profile != "", invalid)
		refuse(r.Completed != s.current(), wrongProfile)
		refuse(last && r.Signals == nil, signalsMissing)
		refuse(!last && r.Signals != nil, signalsEarly)
		next.Done++
		if last && r.Signals != nil {
			next.Assessed, next.Signals, next.Step = true, *r.Signals, "synthesis"
			if assess(*r.Signals).Escalate {
				next.Step = "deep_review"
			}
		}
	default:
		refuse(r.Bundle != "" || r.Profile != "" || r.Completed != "", invalid)
		refuse(r.Signals != nil, signalsEarly)
		next.Step = map[string]string{"deep_review": "synthesis", "synthesis": "awaiting_host_outcome"}[s.Step]
		if s.Step == "synthesis" {
			next.Status = "awaiting_host_outcome"
		}
	}
	if refusals != nil {
		return s, refusals
	}
	next.Policy = assignment{}
	if next.Status == "active" {
		var ok bool
		if next.Policy, ok = policyOf(stageOf[next.Step]); !ok {
			return s, []string{noPolicy}
		}
	}
	next.Expires = now + ttl
	return next, nil
}

var stageOf = map[string]string{"triage": "triage", "primary_review": "primary", "deep_review": "deep", "synthesis": "synthesis"}

// finish is the other half of section 4.
func (s session) finish(outcome string, now, ttl instant) (next session, refusals []string) {
	switch {
	case s.expired(now):
		return s, []string{expiredSession}
	case s.Status == "active":
		return s, []string{notReady}
	case !s.active() && s.Status != outcome:
		return s, []string{conflicting}
	case s.Final:
		return s, nil
	}
	next = s
	next.Status, next.Final, next.Policy, next.Expires = outcome, true, assignment{}, now+ttl
	return next, nil
}

// shown is section 3: the fields in their order.
type shown struct {
	RunID              string      `json:"run_id"`
	Task               string      `json:"task_type"`
	Status             string      `json:"status"`
	Step               string      `json:"current_step"`
	AllowedProfiles    []string    `json:"allowed_profiles"`
	AllowedBundles     []string    `json:"allowed_bundles"`
	RecommendedBundles []string    `json:"recommended_bundles"`
	Bundle             *string     `json:"selected_bundle"`
	Profile            *string     `json:"selected_profile"`
	Route              []string    `json:"review_profiles"`
	Current            *string     `json:"current_profile"`
	Completed          []string    `json:"completed_profiles"`
	Assessment         *assessment `json:"deep_assessment"`
	Reason             *string     `json:"deep_reason_code"`
	Policy             *assignment `json:"model_policy"`
	NextAction         string      `json:"next_action"`
	ReadOnly           bool        `json:"read_only"`
	HostOwns           bool        `json:"host_owns_decisions"`
	ExpiresAt          string      `json:"expires_at"`
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// show is what a host sees of s. The next action is the program's to word.
func (s session) show(nextAction string) shown {
	v := shown{
		RunID: s.ID, Task: s.Task, Status: s.Status, Step: s.Step,
		AllowedProfiles: profiles, AllowedBundles: bundles, RecommendedBundles: recommended[s.Task],
		Bundle: orNull(s.Bundle), Profile: orNull(s.Profile), Route: s.route(), Current: orNull(s.current()),
		Completed: s.route()[:s.Done], NextAction: nextAction, ReadOnly: true, HostOwns: true, ExpiresAt: s.Expires.String(),
	}
	if s.Bundle != "" {
		v.Profile = &v.Route[0]
	}
	if s.Assessed {
		a := assess(s.Signals)
		v.Assessment = &a
		if a.Escalate {
			v.Reason = &a.Reasons[0]
		}
	}
	if s.Policy != (assignment{}) {
		v.Policy = &s.Policy
	}
	return v
}

// differs says how the answer, a session's JSON, differs from what a host has to
// see of s; "" when it does not.
func (s session) differs(answer json.RawMessage) string {
	var got struct {
		NextAction string `json:"next_action"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return err.Error()
	}
	want, err := json.Marshal(s.show(got.NextAction))
	switch {
	case err != nil:
		return err.Error()
	case string(want) != string(answer):
		return fmt.Sprintf("\n got %s\nwant %s", answer, want)
	case len(got.NextAction) < 10:
		return "next_action says nothing"
	}
	return ""
}

// listed is one session in a listing.
type listed struct {
	RunID     string  `json:"run_id"`
	Task      string  `json:"task_type"`
	Status    string  `json:"status"`
	Step      string  `json:"current_step"`
	Bundle    *string `json:"selected_bundle"`
	Profile   *string `json:"selected_profile"`
	Current   *string `json:"current_profile"`
	ExpiresAt string  `json:"expires_at"`
}

func (s session) listed() listed {
	v := s.show("")
	return listed{v.RunID, v.Task, v.Status, v.Step, v.Bundle, v.Profile, v.Current, v.ExpiresAt}
}
