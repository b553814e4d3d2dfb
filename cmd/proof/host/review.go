package host

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	"github.com/qa-orch/qa-orch/core/catalog"
	core "github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/server/review"
)

// Manners say how a host behaves in a review, in percent of the chances.
type Manners struct {
	// Look is how often it looks where the review stands before it goes on.
	Look int
	// Prepare is how often it asks for the checklist of a profile.
	Prepare int
	// Stop is how often it stops early, at each step.
	Stop int
	// Leave is how often it leaves the review for good, at each step.
	Leave int
}

// Review is a QA review.
type Review struct {
	manners Manners
	rng     *rand.Rand

	state state
	raw   []byte // the state as it was last acknowledged
	over  bool
	due   *Call
}

// NewReview returns a review that has not been started. rng decides about its
// route.
func NewReview(m Manners, rng *rand.Rand) *Review { return &Review{manners: m, rng: rng} }

type state struct {
	RunID     string            `json:"run_id"`
	Status    core.Status       `json:"status"`
	Step      core.Step         `json:"current_step"`
	Profile   catalog.Profile   `json:"current_profile"`
	Route     []catalog.Profile `json:"review_profiles"`
	Completed []catalog.Profile `json:"completed_profiles"`
}

// ID implements Play.
func (r *Review) ID() string { return r.state.RunID }

// Over implements Play.
func (r *Review) Over() bool { return r.over }

// Look implements Play.
func (r *Review) Look() Call { return Call{review.GetTool, map[string]any{"run_id": r.state.RunID}} }

// Next implements Play.
func (r *Review) Next() Call {
	if r.due == nil {
		c := r.next()
		r.due = &c
	}
	return *r.due
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

func (r *Review) percent(n int) bool { return r.rng.IntN(100) < n }

func (r *Review) next() Call {
	s := r.state
	if s.RunID == "" {
		return Call{review.StartTool, map[string]any{"task_type": string(pick(r.rng, catalog.TaskTypes()))}}
	}
	if r.percent(r.manners.Look) {
		return r.Look()
	}
	args := map[string]any{"run_id": s.RunID}
	switch s.Status {
	case core.Awaiting:
		args["outcome"] = string(pick(r.rng, core.Outcomes()))
		return Call{review.FinishTool, args}
	case core.Active:
	default:
		args["outcome"] = string(s.Status)
		return Call{review.FinishTool, args}
	}
	if s.Step == core.PrimaryReview && r.percent(r.manners.Prepare) {
		return Call{review.PrepareTool, map[string]any{"agent_profile": string(s.Profile)}}
	}
	args["completed_step"], args["status"] = string(s.Step), string(core.Completed)
	if r.percent(r.manners.Stop) {
		args["status"] = string(pick(r.rng, []core.Status{core.Partial, core.Blocked}))
		return Call{review.AdvanceTool, args}
	}
	switch s.Step {
	case core.Triage:
		if r.percent(50) {
			args["selected_bundle"] = string(pick(r.rng, catalog.Bundles()))
		} else {
			args["selected_profile"] = string(pick(r.rng, catalog.Profiles()))
		}
	case core.PrimaryReview:
		args["completed_profile"] = string(s.Profile)
		if len(s.Completed)+1 == len(s.Route) {
			signals := map[string]any{}
			for _, name := range core.SignalNames() {
				if r.percent(30) {
					signals[string(name)] = true
				}
			}
			args["risk_signals"] = signals
		}
	}
	return Call{review.AdvanceTool, args}
}

// Take implements Play.
func (r *Review) Take(answer fleet.Result) error {
	c := r.Next()
	if err := refusal(c, answer); err != nil {
		return err
	}
	r.due = nil
	if c.Tool == review.PrepareTool {
		return nil
	}
	var s state
	if err := read(answer, &s); err != nil {
		return err
	}
	if c.Tool == review.GetTool && !bytes.Equal(answer.Structured, r.raw) {
		return fmt.Errorf("%s answers %s after %s", c.Tool, answer.Structured, r.raw)
	}
	r.state, r.raw = s, answer.Structured
	r.over = c.Tool == review.FinishTool || r.percent(r.manners.Leave)
	return nil
}

// Find implements Play.
func (r *Review) Find(answer fleet.Result, underWay bool) error {
	c := r.Next()
	r.due = nil
	if answer.IsError {
		// The row of a finished session goes; the server that knew it is dead.
		if underWay && c.Tool == review.FinishTool && strings.HasPrefix(answer.Text, string(core.CodeUnknownRun)) {
			r.over = true
			return nil
		}
		return fmt.Errorf("acknowledged as %s, now %w: %s", r.raw, ErrRefused, answer.Text)
	}
	if bytes.Equal(answer.Structured, r.raw) {
		return nil
	}
	var now state
	if err := read(answer, &now); err != nil {
		return err
	}
	if !underWay || c.Tool != review.AdvanceTool || !r.state.leadsTo(now) {
		return fmt.Errorf("acknowledged as %s, now %s; under way was %v", r.raw, answer.Structured, c)
	}
	r.state, r.raw = now, answer.Structured
	return nil
}

// leadsTo reports whether one advance may lead from s to next.
func (s state) leadsTo(next state) bool {
	if s.RunID != next.RunID || s.Status != core.Active {
		return false
	}
	if next.Status == core.Partial || next.Status == core.Blocked {
		return next.Step == s.Step
	}
	steps := core.Steps()
	from, to := slices.Index(steps, s.Step), slices.Index(steps, next.Step)
	switch {
	case s.Step == core.PrimaryReview && len(s.Completed)+1 < len(s.Route):
		return to == from && len(next.Completed) == len(s.Completed)+1
	case s.Step == core.PrimaryReview:
		return (to == from+1 || to == from+2) && len(next.Completed) == len(s.Completed)+1
	}
	return to == from+1 && len(next.Completed) == len(s.Completed)
}
