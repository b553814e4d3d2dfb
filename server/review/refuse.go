package review

import (
	"errors"
	"fmt"
	"strings"

	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/server/tool"
)

// refuse words an error for a host: the stable phrase, a colon, and what to do
// now. Nothing that the host sent is repeated.
func refuse(err error) string {
	var problems tool.Problems
	var e *review.Error
	switch {
	case errors.As(err, &problems):
		return fmt.Sprintf("%s: %s. Nothing was changed; correct the call and send it again.", review.CodeArguments, problems.Error())
	case errors.As(err, &e):
		return fmt.Sprintf("%s: %s", e.Code, advice(e))
	case errors.Is(err, orchestrator.ErrPolicy):
		return policyAdvice(err)
	case errors.Is(err, orchestrator.ErrStore):
		return storeAdvice(err)
	default:
		return "internal error: the call was not carried out; try it once more, then report it to the person you work for."
	}
}

func advice(e *review.Error) string {
	switch e.Code {
	case review.CodeUnknownRun:
		return "no session has this run_id; check that it was copied whole, or call start_qa_orchestration for a new review. (A finalized review is known only to the server process that finalized it.)"
	case review.CodeExpired:
		return "its time is over and it cannot be continued; call start_qa_orchestration for a new review."
	case review.CodeTerminal:
		if e.Final {
			return fmt.Sprintf("this review was finalized as %s and takes no more steps; start a new one if there is more to review.", e.Status)
		}
		return fmt.Sprintf("this review ended as %s and takes no more steps; call finish_qa_orchestration with outcome=%s to finalize it, or start a new one.", e.Status, e.Status)
	case review.CodeIllegal:
		if e.Step == review.AwaitingOutcome {
			return "all steps are done; call finish_qa_orchestration with your outcome."
		}
		return fmt.Sprintf("the session is at %s; do that step%s, then send completed_step=%s. If an answer was lost, look with get_qa_orchestration first.", e.Step, profilePart(e), e.Step)
	case review.CodeLimit:
		return "too many sessions are active; finish one with finish_qa_orchestration (or stop it with advance_qa_orchestration), or wait until one expires."
	case review.CodeConflict:
		if e.Final {
			return fmt.Sprintf("this review was finalized as %s, which stands.", e.Status)
		}
		return fmt.Sprintf("this review stopped as %s and can only be finished with outcome=%s.", e.Status, e.Status)
	case review.CodeNotReady:
		return fmt.Sprintf("the session is at %s%s; report the remaining steps with advance_qa_orchestration, or stop early with status=partial or blocked, then finish.", e.Step, profilePart(e))
	case review.CodeProfile:
		return fmt.Sprintf("the profile under review is %s; finish it and send completed_profile=%s.", e.Profile, e.Profile)
	case review.CodeSignalsMissing:
		return fmt.Sprintf("%s is the last profile of the route; send risk_signals with it, {} when none apply.", e.Profile)
	case review.CodeSignalsEarly:
		return fmt.Sprintf("the session is at %s%s; leave risk_signals out of this call.", e.Step, profilePart(e))
	case review.CodeArguments:
		return misfit(e) + " Nothing was changed; correct the call and send it again."
	}
	return "the call was refused and nothing was changed."
}

func profilePart(e *review.Error) string {
	if e.Profile == "" {
		return ""
	}
	return fmt.Sprintf(" (profile %s)", e.Profile)
}

func misfit(e *review.Error) string {
	switch e.Misfit {
	case review.OneRouteNeeded:
		return "triage needs exactly one of selected_bundle or selected_profile."
	case review.OneRouteOnly:
		return "triage takes exactly one of selected_bundle or selected_profile, not both."
	case review.NotWithStop:
		return fmt.Sprintf("%s: leave it out; an early stop (status=partial or blocked) takes no other argument.", e.Argument)
	case review.NotForStep:
		return fmt.Sprintf("%s: leave it out; it does not belong to %s.", e.Argument, e.Step)
	default: // review.UnknownWord: the schema has caught those already
		return fmt.Sprintf("%s: must be one of the words that the tool's schema lists.", e.Argument)
	}
}

func policyAdvice(err error) string {
	why := "its file cannot be used"
	var invalid *policy.Invalid
	if errors.As(err, &invalid) {
		why = invalid.Error()
	}
	return fmt.Sprintf("%s: %s. Ask the person you work for to run `qa-orch setup` or mend the model policy file, then send this call again; no restart is needed.",
		orchestrator.ErrPolicy, why)
}

func storeAdvice(err error) string {
	why, then := "the recovery store cannot be used", "Ask the person you work for to run `qa-orch doctor` or mend the store, then send this call again; no restart is needed."
	var u *sqlite.Unusable
	if errors.As(err, &u) {
		why = strings.TrimSuffix(reason(u), ".")
		switch u.Reason {
		case sqlite.BadRow:
			then = "It was left in place. Start a new review with start_qa_orchestration."
		case sqlite.Busy:
			then = "Send this call again in a moment."
		}
	}
	return fmt.Sprintf("%s: %s. Nothing was changed. %s", orchestrator.ErrStore, why, then)
}

// reason leaves out what the system said in words of its own: that may hold paths.
func reason(u *sqlite.Unusable) string {
	plain := *u
	plain.Err = nil
	return plain.Error()
}
