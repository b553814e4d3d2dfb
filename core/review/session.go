// Package review is the state machine of a QA review: pure functions from a
// state, an input, a policy and a time to a new state or an error. It holds no
// clock, does no I/O and draws no random number. A session is content-free: it
// says which step is due, never what was found.
package review

import (
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
)

// Status is where a session stands as a whole.
type Status string

// The statuses.
const (
	Active    Status = "active"
	Awaiting  Status = "awaiting_host_outcome"
	Completed Status = "completed"
	Partial   Status = "partial"
	Blocked   Status = "blocked"
)

// Statuses returns every status in listing order.
func Statuses() []Status { return []Status{Active, Awaiting, Completed, Partial, Blocked} }

// outcome reports whether s is one that a step or a review may end with.
func (s Status) outcome() bool { return s == Completed || s == Partial || s == Blocked }

// Outcomes returns the statuses that a step or a review may end with.
func Outcomes() []Status { return []Status{Completed, Partial, Blocked} }

// Step is a part of the workflow.
type Step string

// The steps, in the order of a review.
const (
	Triage          Step = "triage"
	PrimaryReview   Step = "primary_review"
	DeepReview      Step = "deep_review"
	Synthesis       Step = "synthesis"
	AwaitingOutcome Step = "awaiting_host_outcome"
)

// Steps returns every step in the order of a review.
func Steps() []Step { return []Step{Triage, PrimaryReview, DeepReview, Synthesis, AwaitingOutcome} }

// WorkingSteps returns the steps that a host carries out and reports.
func WorkingSteps() []Step { return []Step{Triage, PrimaryReview, DeepReview, Synthesis} }

// working reports whether s is one of WorkingSteps.
func (s Step) working() bool {
	return s == Triage || s == PrimaryReview || s == DeepReview || s == Synthesis
}

// stage is the part of the policy that step s runs under.
func (s Step) stage() policy.Stage {
	switch s {
	case Triage:
		return policy.Triage
	case PrimaryReview:
		return policy.Primary
	case DeepReview:
		return policy.Deep
	default:
		return policy.Synthesis
	}
}

// Session is the state of one review. It is a value: transitions return a new
// one and leave the old as it was. What the wire shows beyond these fields is
// derived from them.
type Session struct {
	RunID     string
	Task      catalog.TaskType
	Status    Status
	Step      Step
	Bundle    catalog.Bundle    // the chosen bundle, "" when none is
	Profile   catalog.Profile   // the chosen single profile, "" with a bundle or before triage
	Done      int               // how many of the route's profiles are completed
	Deep      *Assessment       // nil until the last primary-review profile is done
	Policy    policy.Assignment // zero when no stage is due
	Finalized bool              // the host's outcome was accepted; nothing changes any more
	ExpiresAt time.Time         // UTC, whole microseconds
}

// Route returns the profiles of the chosen route in order, nil before triage is done.
func (s *Session) Route() []catalog.Profile {
	if s.Bundle != "" {
		return s.Bundle.Profiles()
	}
	return s.Profile.Route()
}

// Current returns the profile under review, "" when none is.
func (s *Session) Current() catalog.Profile {
	if route := s.Route(); s.Step == PrimaryReview && s.Done < len(route) {
		return route[s.Done]
	}
	return ""
}

// CompletedProfiles returns the profiles that are done, in order.
func (s *Session) CompletedProfiles() []catalog.Profile {
	route := s.Route()
	return route[:min(s.Done, len(route))]
}

// SelectedProfile returns the chosen profile; with a bundle that is its first.
func (s *Session) SelectedProfile() catalog.Profile {
	if s.Bundle != "" {
		return s.Bundle.Profiles()[0]
	}
	return s.Profile
}

// DeepReason returns the first reason for a deep review, "" when there is none.
func (s *Session) DeepReason() Reason {
	if s.Deep == nil || !s.Deep.Escalate || len(s.Deep.Reasons) == 0 {
		return ""
	}
	return s.Deep.Reasons[0]
}

// LastProfile reports whether the profile under review is the route's last.
func (s *Session) LastProfile() bool {
	return s.Step == PrimaryReview && s.Done == len(s.Route())-1
}

// CountsAsActive reports whether the session counts against the limit.
func (s *Session) CountsAsActive() bool { return s.Status == Active || s.Status == Awaiting }

// Stopped reports an early stop whose outcome the host has not confirmed yet.
func (s *Session) Stopped() bool { return s.Status.outcome() && !s.Finalized }

// Expired reports whether the session's time is over at now.
func (s *Session) Expired(now time.Time) bool { return !now.Before(s.ExpiresAt) }

// Expiry returns when a session touched at now expires: now + ttl in UTC, cut
// to the microseconds that the stored form keeps.
func Expiry(now time.Time, ttl time.Duration) time.Time {
	return now.Add(ttl).UTC().Truncate(time.Microsecond)
}
