package review

import (
	"context"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/server/tool"
)

// The tools' names.
const (
	PrepareTool = "prepare_qa_orchestration"
	StartTool   = "start_qa_orchestration"
	AdvanceTool = "advance_qa_orchestration"
	GetTool     = "get_qa_orchestration"
	FinishTool  = "finish_qa_orchestration"
	ListTool    = "list_qa_orchestrations"
	PolicyTool  = "get_qa_orchestration_model_policy"
)

func (h host) coreTools() []tool.Tool {
	return []tool.Tool{
		{
			Name:  PrepareTool,
			Title: "Get a reviewer profile's checklist",
			Description: "Returns the fixed checklist of one reviewer profile: focus, sections that its answer must have, constraints and escalation signals to weigh. " +
				"Call it right before you run a profile, with the current_profile of a session, or on its own to compare profiles before triage. " +
				"It is a pure lookup: it needs no session, changes nothing, extends no lifetime and always gives the same answer for the same profile. " +
				"It does not report a profile as done (use advance_qa_orchestration) and does not show where a session stands (use get_qa_orchestration).",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				enum("agent_profile", true, tool.Strings(catalog.Profiles()),
					"The profile whose checklist is wanted: during primary_review the current_profile of the session, before triage any profile you consider."),
			}},
			Output:   checklistSchema(),
			ReadOnly: true, Idempotent: true,
			Run: h.prepare,
		},
		{
			Name:  StartTool,
			Title: "Start a QA review",
			Description: "Opens a new review session and returns its state with a run_id, at step triage. Call it once per review, before any other session tool; keep the run_id for all later calls. " +
				"Do not call it to find out about an existing review (use get_qa_orchestration) or to move it on (use advance_qa_orchestration): each call opens another session. " +
				"The session lives until expires_at; every successful start, advance or finish renews it, reading does not. " +
				"Fails with `session limit` when too many sessions are active: finish one first. Fails with `model policy unavailable` when the model policy file needs mending.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				enum("task_type", true, tool.Strings(catalog.TaskTypes()),
					"What kind of QA work this is. It only decides recommended_bundles, a shortlist that narrows nothing and says nothing about risk; use other when nothing fits."),
			}},
			Output: sessionSchema(),
			Run:    h.start,
		},
		{
			Name:  AdvanceTool,
			Title: "Report a finished step of a QA review",
			Description: "Reports the step that you have just worked on and moves the session to the next one; returns the new state, whose next_action says what is due. " +
				"Call it after doing the work of current_step, once per step and, in primary_review, once per profile. " +
				"Per completed_step with status=completed send exactly: triage: one of selected_bundle or selected_profile; primary_review: completed_profile, and with the last profile of the route also risk_signals; deep_review and synthesis: nothing more. " +
				"With status=partial or blocked (early stop, at any working step) send none of these, then call finish_qa_orchestration with the same word. " +
				"It renews expires_at. It is not idempotent: repeating a call that succeeded is refused as `illegal transition`, so after a lost answer look with get_qa_orchestration first. " +
				"A refused call changes nothing and its text says what to send. To close the review after synthesis use finish_qa_orchestration, to read a checklist prepare_qa_orchestration.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				runID("The run_id that start_qa_orchestration returned."),
				enum("completed_step", true, tool.Strings(review.WorkingSteps()),
					"The step you worked on: always the session's current_step."),
				enum("status", true, tool.Strings(review.Outcomes()),
					"completed when the step's work is done; partial or blocked to stop the review early, when evidence or access is missing."),
				enum("selected_bundle", false, tool.Strings(catalog.Bundles()),
					"Only with completed_step=triage and status=completed: the bundle to review with, for broad, cross-concern or high-risk work. Leave it out when you send selected_profile, and at every other step."),
				enum("selected_profile", false, tool.Strings(catalog.Profiles()),
					"Only with completed_step=triage and status=completed: the single profile to review with, for a routine, narrow, low-risk change. Leave it out when you send selected_bundle, and at every other step."),
				enum("completed_profile", false, tool.Strings(catalog.Profiles()),
					"Only with completed_step=primary_review and status=completed: the profile just finished, always the session's current_profile. Leave it out at every other step."),
				signalsProperty(),
			}},
			Output: sessionSchema(),
			Run:    h.advance,
		},
		{
			Name:  GetTool,
			Title: "Look at a QA review",
			Description: "Returns the present state of one session: step, route, completed profiles, model policy and next_action. " +
				"Call it after a restart, a lost answer or a refused call, to see what is due before you repeat anything. There is no need to call it after a successful start, advance or finish: those return the same state. " +
				"It changes nothing and does not renew expires_at. Fails with `unknown run_id` or `expired session`; then start anew with start_qa_orchestration.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				runID("The run_id that start_qa_orchestration returned. There is no search: without the id, start a new review."),
			}},
			Output:   sessionSchema(),
			ReadOnly: true, Idempotent: true,
			Run: h.get,
		},
		{
			Name:  FinishTool,
			Title: "Finalize a QA review",
			Description: "Records the outcome that you decided and finalizes the session. Call it once current_step is awaiting_host_outcome (after synthesis was reported), or after an early stop, then only with the outcome that equals the stopped status. " +
				"Before that it is refused with `outcome is not ready`: report the remaining steps with advance_qa_orchestration, also to stop early. " +
				"Repeating the same outcome returns the same state, so it is safe to retry after a lost answer; a different outcome is refused with `conflicting final outcome`. " +
				"A finalized session takes no more steps and stays readable for a while in the server process that finalized it.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				runID("The run_id that start_qa_orchestration returned."),
				enum("outcome", true, tool.Strings(review.Outcomes()),
					"Your decision: completed when the review was carried through, partial when part of it is missing, blocked when it could not be done. It says nothing about release or merge readiness."),
			}},
			Output:     sessionSchema(),
			Idempotent: true,
			Run:        h.finish,
		},
	}
}

func (h host) extendedTools() []tool.Tool {
	return []tool.Tool{
		{
			Name:  ListTool,
			Title: "List open QA reviews",
			Description: "Returns a short row for each session that has not expired, newest expiry first. Use it to find a run_id that was lost; for one session whose run_id you know, get_qa_orchestration returns the full state. " +
				"It takes no arguments, changes nothing and renews no lifetime. The list is empty when no review is open.",
			Input:    tool.Schema{Type: "object"},
			Output:   listSchema(),
			ReadOnly: true, Idempotent: true,
			Run: h.list,
		},
		{
			Name:  PolicyTool,
			Title: "Show the model policy",
			Description: "Returns the model policy that new sessions and steps get: provider, and model and reasoning for each of the four stages. Use it to plan; the model of the step that is due stands in every session state as model_policy, " +
				"so there is no need to call it during a review. It takes no arguments and changes nothing: people edit the policy with the qa-orch command. Fails with `model policy unavailable` when its file needs mending.",
			Input:    tool.Schema{Type: "object"},
			Output:   policySchema(),
			ReadOnly: true, Idempotent: true,
			Run: h.modelPolicy,
		},
	}
}

// checklist is the result of prepare.
type checklist struct {
	Profile           catalog.Profile `json:"profile"`
	DisplayName       string          `json:"display_name"`
	Focus             string          `json:"focus"`
	RequiredSections  []string        `json:"required_sections"`
	Constraints       []string        `json:"constraints"`
	EscalationSignals []string        `json:"escalation_signals"`
	boundary
}

// boundary stands at the end of every result.
type boundary struct {
	ReadOnly          bool `json:"read_only"`
	HostOwnsDecisions bool `json:"host_owns_decisions"`
}

var held = boundary{ReadOnly: true, HostOwnsDecisions: true}

func (h host) prepare(_ context.Context, args tool.Arguments) (any, error) {
	c, ok := catalog.Profile(args.String("agent_profile")).Checklist()
	if !ok {
		return nil, tool.Problems{"agent_profile: unknown"} // the schema lets none through
	}
	return checklist{
		Profile: c.Profile, DisplayName: c.DisplayName, Focus: c.Focus, RequiredSections: c.RequiredSections,
		Constraints: c.Constraints, EscalationSignals: c.EscalationSignals, boundary: held,
	}, nil
}

func (h host) start(ctx context.Context, args tool.Arguments) (any, error) {
	return h.o.Start(ctx, catalog.TaskType(args.String("task_type")))
}

func (h host) advance(ctx context.Context, args tool.Arguments) (any, error) {
	r := review.Report{
		Step:             review.Step(args.String("completed_step")),
		Status:           review.Status(args.String("status")),
		Bundle:           catalog.Bundle(args.String("selected_bundle")),
		Profile:          catalog.Profile(args.String("selected_profile")),
		CompletedProfile: catalog.Profile(args.String("completed_profile")),
	}
	if object, ok := args.Object("risk_signals"); ok {
		var set review.Signals
		for _, name := range review.SignalNames() {
			if object[string(name)] == true {
				set |= review.NewSignals(name)
			}
		}
		r.Signals = &set
	}
	return h.o.Advance(ctx, args.String("run_id"), r)
}

func (h host) get(ctx context.Context, args tool.Arguments) (any, error) {
	return h.o.Get(ctx, args.String("run_id"))
}

func (h host) finish(ctx context.Context, args tool.Arguments) (any, error) {
	return h.o.Finish(ctx, args.String("run_id"), review.Status(args.String("outcome")))
}

// row is one session in a listing.
type row struct {
	RunID     string           `json:"run_id"`
	Task      catalog.TaskType `json:"task_type"`
	Status    review.Status    `json:"status"`
	Step      review.Step      `json:"current_step"`
	Bundle    *catalog.Bundle  `json:"selected_bundle"`
	Profile   *catalog.Profile `json:"selected_profile"`
	Current   *catalog.Profile `json:"current_profile"`
	ExpiresAt string           `json:"expires_at"`
}

type listing struct {
	Sessions []row `json:"sessions"`
	boundary
}

func (h host) list(ctx context.Context, _ tool.Arguments) (any, error) {
	sessions, err := h.o.List(ctx)
	if err != nil {
		return nil, err
	}
	out := listing{Sessions: make([]row, len(sessions)), boundary: held}
	for i, s := range sessions {
		out.Sessions[i] = row{
			RunID: s.RunID, Task: s.Task, Status: s.Status, Step: s.Step,
			Bundle: optional(s.Bundle), Profile: optional(s.SelectedProfile()), Current: optional(s.Current()),
			ExpiresAt: review.FormatTime(s.ExpiresAt),
		}
	}
	return out, nil
}

func optional[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

func (h host) modelPolicy(context.Context, tool.Arguments) (any, error) {
	p, _, err := h.o.Policy()
	if err != nil {
		return nil, err
	}
	return p, nil
}

func enum(name string, required bool, words []string, description string) tool.Property {
	return tool.Property{Name: name, Required: required, Schema: tool.Schema{Type: "string", Enum: words, Description: description}}
}

func runID(description string) tool.Property {
	return tool.Property{Name: "run_id", Required: true, Schema: tool.Schema{Type: "string", Pattern: review.RunIDPattern, Description: description}}
}

// signalTexts say what must be in evidence for a signal.
var signalTexts = map[review.Signal]string{
	review.HighRiskDomain:          "The change touches a domain where a defect is costly: authentication, authorization, payment, personal data, security, data loss.",
	review.EvidenceUncertain:       "Evidence for an important claim is missing, incomplete or indirect.",
	review.CrossSystemScope:        "The behaviour crosses into another repository, service or system.",
	review.MultiplePlausibleCauses: "Two or more causes fit the observations and the evidence does not tell them apart.",
	review.EvidenceConflict:        "Sources of evidence contradict each other.",
	review.NonReproducible:         "The behaviour was reported but cannot be reproduced.",
	review.HighBlastRadius:         "A defect would reach many users, records or dependants at once.",
}

func signalsProperty() tool.Property {
	p := tool.Property{Name: "risk_signals", Schema: tool.Schema{
		Type: "object",
		Description: "Only with completed_step=primary_review and the last profile of the route, and required there: which risk signals your evidence supports. " +
			"Each is a JSON boolean and false when left out; send {} when none apply. Leave the argument out everywhere else. Fixed rules decide from them whether a deep review follows.",
	}}
	for _, s := range review.SignalNames() {
		p.Properties = append(p.Properties, tool.Property{
			Name:   string(s),
			Schema: tool.Schema{Type: "boolean", Description: signalTexts[s]},
		})
	}
	return p
}

func policyFields() []tool.Property {
	list := []tool.Property{enum("provider", true, tool.Strings(catalog.Providers()), "Vendor of the models.")}
	for _, s := range policy.Stages() {
		list = append(list, text(s.ModelField(), "Model id for the "+string(s)+" stage."))
	}
	for _, s := range policy.Stages() {
		list = append(list, enum(s.ReasoningField(), true, tool.Strings(catalog.ReasoningWords()), "Reasoning for the "+string(s)+" stage."))
	}
	return list
}
