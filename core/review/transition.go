package review

import (
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
)

// Assign looks up the model policy of a stage. It is only called when the
// transition leads to a stage; its error ends the transition.
type Assign func(policy.Stage) (policy.Assignment, error)

// Report is what a host says about a step that it has worked on. Empty strings
// and nil mean that the argument was left out.
type Report struct {
	Step             Step   // the step that was worked on
	Status           Status // Completed, Partial or Blocked
	Bundle           catalog.Bundle
	Profile          catalog.Profile
	CompletedProfile catalog.Profile
	Signals          *Signals
}

// unknownWord names the first argument that holds a word it does not take, ""
// when there is none.
func (r *Report) unknownWord() string {
	switch {
	case !r.Step.working():
		return "completed_step"
	case !r.Status.outcome():
		return "status"
	case r.Bundle != "" && !r.Bundle.Valid():
		return "selected_bundle"
	case r.Profile != "" && !r.Profile.Valid():
		return "selected_profile"
	case r.CompletedProfile != "" && !r.CompletedProfile.Valid():
		return "completed_profile"
	}
	return ""
}

// Start returns the first state of a review.
func Start(runID string, task catalog.TaskType, assign Assign, now time.Time, ttl time.Duration) (Session, error) {
	s := Session{RunID: runID, Task: task}
	if !task.Valid() {
		return s, s.misfit("task_type", UnknownWord)
	}
	return s.enter(Triage, assign, now, ttl)
}

// Advance reports one step. The checks come in this order: the words of the
// report, expiry, a session that takes no more steps, the step, the step's own
// rules.
func (s Session) Advance(r Report, assign Assign, now time.Time, ttl time.Duration) (Session, error) {
	if argument := r.unknownWord(); argument != "" {
		return s, s.misfit(argument, UnknownWord)
	}
	switch {
	case s.Expired(now):
		return s, s.fail(CodeExpired)
	case s.Status.outcome():
		return s, s.fail(CodeTerminal)
	case r.Step != s.Step:
		return s, s.fail(CodeIllegal)
	}
	if r.Status != Completed {
		return s.stop(r, now, ttl)
	}
	switch s.Step {
	case Triage:
		return s.route(r, assign, now, ttl)
	case PrimaryReview:
		return s.profileDone(r, assign, now, ttl)
	case DeepReview:
		if err := s.nothingElse(r); err != nil {
			return s, err
		}
		return s.enter(Synthesis, assign, now, ttl)
	default:
		if err := s.nothingElse(r); err != nil {
			return s, err
		}
		return s.enter(AwaitingOutcome, nil, now, ttl)
	}
}

// Finish accepts the host's outcome. The same outcome again returns the state
// unchanged.
func (s Session) Finish(outcome Status, now time.Time, ttl time.Duration) (Session, error) {
	switch {
	case !outcome.outcome():
		return s, s.misfit("outcome", UnknownWord)
	case s.Expired(now):
		return s, s.fail(CodeExpired)
	case s.Finalized && outcome == s.Status:
		return s, nil
	case s.Status.outcome() && outcome != s.Status:
		return s, s.fail(CodeConflict)
	case s.Status == Active:
		return s, s.fail(CodeNotReady)
	}
	s.Status = outcome
	s.Finalized = true
	s.Policy = policy.Assignment{}
	s.ExpiresAt = Expiry(now, ttl)
	return s, nil
}

// stop ends the review early: no argument may come with it.
func (s Session) stop(r Report, now time.Time, ttl time.Duration) (Session, error) {
	if err := s.nothingElse(r); err != nil {
		return s, err
	}
	s.Status = r.Status
	s.Policy = policy.Assignment{}
	s.ExpiresAt = Expiry(now, ttl)
	return s, nil
}

func (s Session) route(r Report, assign Assign, now time.Time, ttl time.Duration) (Session, error) {
	switch {
	case r.CompletedProfile != "":
		return s, s.misfit("completed_profile", NotForStep)
	case r.Signals != nil:
		return s, s.fail(CodeSignalsEarly)
	case r.Bundle == "" && r.Profile == "":
		return s, s.misfit("selected_bundle", OneRouteNeeded)
	case r.Bundle != "" && r.Profile != "":
		return s, s.misfit("selected_bundle", OneRouteOnly)
	}
	next := s
	next.Bundle, next.Profile = r.Bundle, r.Profile
	next, err := next.enter(PrimaryReview, assign, now, ttl)
	if err != nil {
		return s, err
	}
	return next, nil
}

func (s Session) profileDone(r Report, assign Assign, now time.Time, ttl time.Duration) (Session, error) {
	last := s.LastProfile()
	switch {
	case r.Bundle != "":
		return s, s.misfit("selected_bundle", NotForStep)
	case r.Profile != "":
		return s, s.misfit("selected_profile", NotForStep)
	case r.CompletedProfile != s.Current():
		return s, s.fail(CodeProfile)
	case last && r.Signals == nil:
		return s, s.fail(CodeSignalsMissing)
	case !last && r.Signals != nil:
		return s, s.fail(CodeSignalsEarly)
	}
	next := s
	next.Done++
	step := PrimaryReview
	if last {
		next.Deep = Assess(*r.Signals)
		step = Synthesis
		if next.Deep.Escalate {
			step = DeepReview
		}
	}
	next, err := next.enter(step, assign, now, ttl)
	if err != nil {
		return s, err
	}
	return next, nil
}

// nothingElse refuses every argument that goes with another step.
func (s *Session) nothingElse(r Report) error {
	switch {
	case r.Bundle != "":
		return s.misfit("selected_bundle", s.misplaced(r))
	case r.Profile != "":
		return s.misfit("selected_profile", s.misplaced(r))
	case r.CompletedProfile != "":
		return s.misfit("completed_profile", s.misplaced(r))
	case r.Signals != nil && r.Status != Completed:
		return s.misfit("risk_signals", NotWithStop)
	case r.Signals != nil:
		return s.fail(CodeSignalsEarly)
	}
	return nil
}

func (s *Session) misplaced(r Report) Misfit {
	if r.Status != Completed {
		return NotWithStop
	}
	return NotForStep
}

// enter moves to step and gives it the policy of its stage. On error the
// session is returned as it came in.
func (s Session) enter(step Step, assign Assign, now time.Time, ttl time.Duration) (Session, error) {
	next := s
	next.Step, next.Status = step, Active
	next.Policy = policy.Assignment{}
	if step == AwaitingOutcome {
		next.Status = Awaiting
	} else {
		a, err := assign(step.stage())
		if err != nil {
			return s, err
		}
		next.Policy = a
	}
	next.ExpiresAt = Expiry(now, ttl)
	return next, nil
}
