package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/review"
	qa "github.com/qa-orch/qa-orch/server/review"
)

// This file makes calls: it draws them, and carries them out in this process or
// by a server process.

// dice is where random choices come from: rapid, so that a failure shrinks, or a
// plain generator where several clients draw at the same time.
type dice interface {
	// n returns one of 0, …, n-1.
	n(n int, what string) int
}

type plainDice struct{ *rand.Rand }

func (d plainDice) n(n int, _ string) int { return d.IntN(n) }

func pick[T any](d dice, from []T, what string) T { return from[d.n(len(from), what)] }

func oneIn(d dice, n int, what string) bool { return d.n(n, what) == n-1 }

// temper is how the clients of a history are: another each time, so that some of
// them leave many stopped reviews behind, say.
type temper struct {
	starts   int // one call of so many starts a review
	stops    int // one report of so many stops it early
	finishes int // of five calls about a review that came to its end, so many finish it
}

func drawTemper(d dice) temper {
	return temper{pick(d, []int{6, 6, 3}, "starts"), pick(d, []int{12, 12, 2}, "stops"), pick(d, []int{4, 4, 1}, "finishes")}
}

// draw draws a call. sessions are those that a client may know; what it
// believes of them, right or not, makes right reports likely.
func (t temper) draw(d dice, sessions []session, wire bool) call {
	if len(sessions) == 0 || oneIn(d, t.starts, "start anew") {
		if c := (call{Tool: "start", Task: pick(d, taskTypes, "task")}); !wire || !oneIn(d, 12, "broken") {
			return c
		}
		return call{Tool: "start", Broken: pick(d, brokenStarts, "arguments")}
	}
	// The latest are the likeliest, so that reviews get somewhere.
	back := min(d.n(len(sessions), "session"), d.n(len(sessions), "session"))
	s := sessions[len(sessions)-1-back]
	if oneIn(d, 30, "no such run") {
		s.ID = fmt.Sprintf("qar-%032x", d.n(1000, "id"))
	}
	if wire && oneIn(d, 25, "broken") {
		c := pick(d, brokenCalls, "arguments")
		c.Broken = strings.ReplaceAll(c.Broken, "RUN", s.ID)
		return c
	}
	switch d.n(10, "tool") {
	case 7:
		return call{Tool: "list"}
	case 8:
		return call{Tool: "get", Run: s.ID}
	case 9:
		return call{Tool: "finish", Run: s.ID, Outcome: pick(d, outcomes, "outcome")}
	default:
		if s.Status == "awaiting_host_outcome" || !s.active() {
			if d.n(5, "finish") < t.finishes {
				outcome := pick(d, outcomes, "outcome")
				if !s.active() && !oneIn(d, 4, "another outcome") {
					outcome = s.Status
				}
				return call{Tool: "finish", Run: s.ID, Outcome: outcome}
			}
		}
		return call{Tool: "advance", Run: s.ID, Report: t.report(d, s), Odd: d.n(4, "encoding")}
	}
}

// report draws what is due for s, often, or else something near it.
func (t temper) report(d dice, s session) report {
	r := report{Step: s.Step, Status: "completed"}
	switch s.Step {
	case "triage":
		if oneIn(d, 2, "single profile") {
			r.Profile = pick(d, profiles, "profile")
		} else {
			r.Bundle = pick(d, bundles, "bundle")
		}
	case "primary_review":
		r.Completed = s.current()
		if s.Done == len(s.route())-1 {
			set := signals(d.n(1<<len(riskSignals), "signals"))
			r.Signals = &set
		}
	case "awaiting_host_outcome":
		r.Step = pick(d, workingSteps, "step")
	}
	if oneIn(d, t.stops, "stop") {
		r = report{Step: r.Step, Status: pick(d, outcomes[1:], "as")}
	}
	switch d.n(12, "mistake") {
	case 6:
		r.Step = pick(d, workingSteps, "step")
	case 7:
		r.Status = pick(d, outcomes, "status")
	case 8:
		r.Profile = pick(d, profiles, "profile")
	case 9:
		r.Bundle = pick(d, bundles, "bundle")
	case 10:
		r.Completed = pick(d, append(slices.Clone(profiles), ""), "profile")
	case 11:
		if r.Signals != nil {
			r.Signals = nil
		} else {
			r.Signals = new(signals)
		}
	}
	return r
}

// Arguments that the schema has to refuse. RUN stands for a run id.
var (
	brokenStarts = []string{
		`{}`, `null`, `{"task_type": null}`, `{"task_type": "review"}`, `{"task_type": ["other"]}`,
		`{"task_type": "other", "note": "secret"}`, `{"task_type": "Other"}`,
	}
	brokenCalls = []call{
		{Tool: "get", Broken: `{}`},
		{Tool: "get", Broken: `{"run_id": "qar-0"}`},
		{Tool: "get", Broken: `{"run_id": " RUN"}`},
		{Tool: "get", Broken: `{"run_id": "RUN", "verbose": true}`},
		{Tool: "list", Broken: `{"run_id": "RUN"}`},
		{Tool: "finish", Broken: `{"run_id": "RUN"}`},
		{Tool: "finish", Broken: `{"run_id": "RUN", "outcome": "done"}`},
		{Tool: "finish", Broken: `{"run_id": "RUN", "outcome": "active"}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "triage"}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "awaiting_host_outcome", "status": "completed"}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "triage", "status": "active", "selected_bundle": "mobile"}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "triage", "status": "completed", "selected_bundle": "all"}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "triage", "status": "completed", "selected_bundle": "mobile", "evidence": "x"}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "primary_review", "status": "completed", "completed_profile": "code_reviewer", "risk_signals": {"high_risk_domain": "true"}}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "primary_review", "status": "completed", "completed_profile": "code_reviewer", "risk_signals": {"high_risk_domain": 1}}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "primary_review", "status": "completed", "completed_profile": "code_reviewer", "risk_signals": {"severity": true}}`},
		{Tool: "advance", Broken: `{"run_id": "RUN", "completed_step": "primary_review", "status": "completed", "completed_profile": "code_reviewer", "risk_signals": []}`},
	}
)

// inProcess carries out a call by an orchestrator.
func inProcess(ctx context.Context, o *orchestrator.Orchestrator, c call) (answer, error) {
	var s review.Session
	var list []review.Session
	var err error
	switch c.Tool {
	case "start":
		s, err = o.Start(ctx, catalog.TaskType(c.Task))
	case "get":
		s, err = o.Get(ctx, c.Run)
	case "finish":
		s, err = o.Finish(ctx, c.Run, review.Status(c.Outcome))
	case "list":
		list, err = o.List(ctx)
	case "advance":
		r := review.Report{
			Step: review.Step(c.Report.Step), Status: review.Status(c.Report.Status),
			Bundle: catalog.Bundle(c.Report.Bundle), Profile: catalog.Profile(c.Report.Profile), CompletedProfile: catalog.Profile(c.Report.Completed),
		}
		if c.Report.Signals != nil {
			var names []review.Signal
			for _, name := range riskSignals {
				if c.Report.Signals.has(name) {
					names = append(names, review.Signal(name))
				}
			}
			set := review.NewSignals(names...)
			r.Signals = &set
		}
		s, err = o.Advance(ctx, c.Run, r)
	}
	var refused *review.Error
	switch {
	case errors.As(err, &refused):
		return answer{Refusal: refused.Error()}, nil
	case errors.Is(err, orchestrator.ErrPolicy), errors.Is(err, orchestrator.ErrStore):
		return answer{Refusal: err.Error()}, nil
	case err != nil:
		return answer{}, err
	case c.Tool == "list":
		rows := make([]listed, len(list))
		for i, s := range list {
			text, err := json.Marshal(s)
			if err != nil {
				return answer{}, err
			}
			if err := json.Unmarshal(text, &rows[i]); err != nil {
				return answer{}, err
			}
		}
		return answer{List: rows}, nil
	}
	state, err := json.Marshal(s)
	return answer{State: state}, err
}

var toolNames = map[string]string{
	"start": qa.StartTool, "advance": qa.AdvanceTool, "get": qa.GetTool, "finish": qa.FinishTool, "list": qa.ListTool,
}

// arguments are what is sent for c.
func (c call) arguments() any {
	if c.Broken != "" {
		return json.RawMessage(c.Broken)
	}
	switch c.Tool {
	case "start":
		return map[string]any{"task_type": c.Task}
	case "get":
		return map[string]any{"run_id": c.Run}
	case "finish":
		return map[string]any{"run_id": c.Run, "outcome": c.Outcome}
	case "advance":
		args := map[string]any{"run_id": c.Run, "completed_step": c.Report.Step, "status": c.Report.Status}
		for name, value := range map[string]string{
			"selected_bundle": c.Report.Bundle, "selected_profile": c.Report.Profile, "completed_profile": c.Report.Completed,
		} {
			switch {
			case value != "":
				args[name] = value
			case c.Odd&1 != 0:
				args[name] = nil // the same as left out
			}
		}
		if c.Report.Signals != nil {
			args["risk_signals"] = c.Report.Signals
			if c.Odd&2 != 0 { // as some clients send objects
				text, _ := json.Marshal(c.Report.Signals)
				args["risk_signals"] = string(text)
			}
		}
		return args
	}
	return nil
}

// byServer carries out a call by a server process. The error is fleet.ErrGone
// when that ended first.
func byServer(ctx context.Context, s *fleet.Server, c call) (answer, error) {
	r, err := s.Call(ctx, toolNames[c.Tool], c.arguments())
	switch {
	case err != nil:
		return answer{}, err
	case r.IsError && r.Structured != nil:
		return answer{}, fmt.Errorf("a refusal with structured content: %s", r.Structured)
	case r.IsError:
		return answer{Refusal: r.Text}, nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, r.Structured); err != nil {
		return answer{}, err
	}
	if r.Text != compact.String() {
		return answer{}, fmt.Errorf("text and structured content differ:\n%s\n%s", r.Text, &compact)
	}
	if c.Tool != "list" {
		return answer{State: compact.Bytes()}, nil
	}
	var listing struct {
		Sessions []listed `json:"sessions"`
		ReadOnly bool     `json:"read_only"`
		HostOwns bool     `json:"host_owns_decisions"`
	}
	strict := json.NewDecoder(&compact)
	strict.DisallowUnknownFields()
	if err := strict.Decode(&listing); err != nil || !listing.ReadOnly || !listing.HostOwns {
		return answer{}, fmt.Errorf("a listing that is none: %s, %w", r.Structured, err)
	}
	return answer{List: listing.Sessions}, nil
}

// runOf is the run id of a state.
func runOf(a answer) string {
	var s struct {
		RunID string `json:"run_id"`
	}
	_ = json.Unmarshal(a.State, &s)
	return s.RunID
}

func (c call) String() string {
	text, _ := json.Marshal(c)
	return string(text)
}
