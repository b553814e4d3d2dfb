package review

import (
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
)

// Every refusal has words of its own, also those that the schema keeps from happening, and no two the
// same.
func TestEveryRefusalIsWorded(t *testing.T) {
	t.Parallel()
	facts := review.Error{Status: review.Partial, Step: review.PrimaryReview, Profile: catalog.CodeReviewer, Argument: "selected_bundle"}
	seen := map[string]string{}
	say := func(name string, e review.Error) {
		text := refuse(&e)
		_, advice, ok := strings.Cut(text, string(e.Code)+": ")
		if other := seen[advice]; !ok || advice == "" || other != "" || strings.Contains(advice, "the call was refused") {
			t.Errorf("%s: %q, as %s", name, text, other)
		}
		seen[advice] = name
	}
	for _, code := range []review.Code{
		review.CodeUnknownRun, review.CodeExpired, review.CodeTerminal, review.CodeIllegal, review.CodeLimit, review.CodeConflict,
		review.CodeNotReady, review.CodeProfile, review.CodeSignalsMissing, review.CodeSignalsEarly,
	} {
		e := facts
		e.Code = code
		say(string(code), e)
	}
	for _, m := range []review.Misfit{review.UnknownWord, review.NotForStep, review.NotWithStop, review.OneRouteNeeded, review.OneRouteOnly} {
		e := facts
		e.Code, e.Misfit = review.CodeArguments, m
		say(string(m), e)
	}
}
