// Package terms says the contract's words for people: steps, statuses, task
// types, profiles, bundles, rules, reasons and stages.
package terms

import (
	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/locales"
)

var (
	steps    = locales.NewFamily("term.step.", "triage", "primary_review", "deep_review", "synthesis", "awaiting_host_outcome")
	statuses = locales.NewFamily("term.status.", "active", "awaiting_host_outcome", "completed", "partial", "blocked")
	tasks    = locales.NewFamily("term.task.", "ordinary_review", "widget_review", "epic_analysis", "requirements_analysis", "qa_planning", "autotest_implementation", "other")
	bundles  = locales.NewFamily("term.bundle.", "ordinary_mr", "widget", "widget_js", "ruby_backend", "python_backend", "mobile", "security", "autotest", "requirements")
	profiles = locales.NewFamily("term.profile.", "pr_test_analyzer", "code_reviewer", "security_reviewer", "silent_failure_hunter", "code_explorer", "typescript_reviewer", "react_reviewer", "ruby_reviewer", "python_reviewer", "mobile_reviewer")
	focus    = locales.NewFamily("term.focus.", "pr_test_analyzer", "code_reviewer", "security_reviewer", "silent_failure_hunter", "code_explorer", "typescript_reviewer", "react_reviewer", "ruby_reviewer", "python_reviewer", "mobile_reviewer")
	kinds    = locales.NewFamily("term.kind.", "evidence", "test_analysis", "implementation", "specialist")
	rules    = locales.NewFamily("term.rule.", "high_risk_with_uncertainty", "multiple_complexity_signals", "critical_evidence_conflict")
	reasons  = locales.NewFamily("term.reason.", "high_risk_domain", "evidence_gap", "cross_repository", "root_cause", "non_reproducible", "high_blast_radius", "evidence_conflict")
	stages   = locales.NewFamily("term.stage.", "triage", "primary", "deep", "synthesis")
	works    = locales.NewFamily("term.stage-work.", "triage", "primary", "deep", "synthesis")
)

// Step names a step.
func Step(p *locales.Printer, s review.Step) string { return p.Word(steps, string(s)) }

// Status names a status.
func Status(p *locales.Printer, s review.Status) string { return p.Word(statuses, string(s)) }

// Task names a task type.
func Task(p *locales.Printer, t catalog.TaskType) string { return p.Word(tasks, string(t)) }

// Bundle says what a bundle is for.
func Bundle(p *locales.Printer, b catalog.Bundle) string { return p.Word(bundles, string(b)) }

// Profile names a profile.
func Profile(p *locales.Printer, r catalog.Profile) string { return p.Word(profiles, string(r)) }

// Focus says what a profile looks at.
func Focus(p *locales.Printer, r catalog.Profile) string { return p.Word(focus, string(r)) }

// Kind names a kind of profile.
func Kind(p *locales.Printer, k catalog.Kind) string { return p.Word(kinds, string(k)) }

// Rule says when a rule matches.
func Rule(p *locales.Printer, r review.Rule) string { return p.Word(rules, string(r)) }

// Reason says what a reason code means.
func Reason(p *locales.Printer, r review.Reason) string { return p.Word(reasons, string(r)) }

// Stage names a stage of the model policy.
func Stage(p *locales.Printer, s policy.Stage) string { return p.Word(stages, string(s)) }

// Work says what a model does in a stage.
func Work(p *locales.Printer, s policy.Stage) string { return p.Word(works, string(s)) }
