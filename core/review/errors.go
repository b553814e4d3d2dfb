package review

import (
	"github.com/qa-orch/qa-orch/core/catalog"
)

// Code is the stable phrase of an error.
type Code string

// The codes. Each is the phrase that a host sees first.
const (
	CodeUnknownRun     Code = "unknown run_id"
	CodeExpired        Code = "expired session"
	CodeTerminal       Code = "terminal session"
	CodeIllegal        Code = "illegal transition"
	CodeLimit          Code = "session limit"
	CodeConflict       Code = "conflicting final outcome"
	CodeNotReady       Code = "outcome is not ready"
	CodeArguments      Code = "invalid arguments"
	CodeProfile        Code = "completed profile does not match current profile"
	CodeSignalsMissing Code = "risk_signals are required for the final primary-review profile"
	CodeSignalsEarly   Code = "risk signals must be sent with the final primary-review profile"
)

// Misfit says why an argument does not fit the step.
type Misfit string

// The misfits.
const (
	UnknownWord    Misfit = "unknown_word"     // not one of the words that the argument takes
	NotForStep     Misfit = "not_for_step"     // belongs to another step
	NotWithStop    Misfit = "not_with_stop"    // an early stop takes no argument
	OneRouteNeeded Misfit = "one_route_needed" // neither a bundle nor a profile was chosen
	OneRouteOnly   Misfit = "one_route_only"   // both a bundle and a profile were chosen
)

// Error is a refused transition. It holds facts of the session, never anything
// that the caller sent but the name of an argument.
type Error struct {
	Code     Code
	Status   Status          // of the session
	Step     Step            // that the session is at
	Profile  catalog.Profile // under review, "" when none is
	Final    bool            // the host's outcome was accepted already
	Argument string          // for CodeArguments: the argument at fault
	Misfit   Misfit          // for CodeArguments
}

// Error returns the stable phrase.
func (e *Error) Error() string { return string(e.Code) }

func (s *Session) fail(c Code) error {
	return &Error{Code: c, Status: s.Status, Step: s.Step, Profile: s.Current(), Final: s.Finalized}
}

func (s *Session) misfit(argument string, m Misfit) error {
	return &Error{
		Code: CodeArguments, Status: s.Status, Step: s.Step, Profile: s.Current(),
		Argument: argument, Misfit: m,
	}
}
