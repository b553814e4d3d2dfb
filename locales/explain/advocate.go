package explain

import (
	"errors"
	"strings"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/gate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/memo"
)

var (
	advocateWords = locales.NewFamily("explain.advocate.",
		"unknown_mode", "unknown_review", "items_not_a_list", "no_items", "already_complete", "already_abandoned", "not_complete",
		"reason_missing", "unknown_format", "damaged_review", "folder_trouble", "review_too_large", "no_free_review_id")

	faultWords = locales.NewFamily("explain.fault.",
		"syntax", "not_object", "type", "time", "missing", "unknown", "range", "phases", "contradiction", "item",
		"name", "other_id", "link", "irregular", "too_large", "unreadable")
)

// Advocate says what the devil's advocate refused or failed at, in one line. An error that is no
// *advocate.Error is worded as the system's.
func Advocate(p *locales.Printer, err error) string {
	var e *advocate.Error
	if !errors.As(err, &e) {
		return p.Cause(err)
	}
	switch e.Code {
	case advocate.ClaimTooShort:
		return p.N("explain.advocate-claim", e.Have, locales.Vars{"Need": e.Need})
	case advocate.OneItemOnly:
		return p.N("explain.advocate-one-item", e.Have, locales.Vars{"Phase": memo.Name(p, e.Phase)})
	case advocate.TooManyItems:
		return p.N("explain.advocate-too-many", e.Have, locales.Vars{"Phase": memo.Name(p, e.Phase), "Most": p.Count(e.Need)})
	case advocate.Rejected:
		head, items := Rejection(p, e)
		return head + ": " + strings.Join(items, "; ")
	}
	var modes []string
	for _, m := range advocate.Modes() {
		modes = append(modes, string(m))
	}
	cause := ""
	if e.Cause != nil {
		cause = Fault(p, e.Cause)
	}
	return p.Word(advocateWords, string(e.Code), locales.Vars{
		"Review": e.Review, "Phase": memo.Name(p, e.Phase), "File": e.File, "Cause": cause, "Modes": locales.OneOf(modes),
		"Limit": p.Bytes(int64(e.Need)),
	})
}

// Rejection says of a submission that was refused how many items need work, and what is wrong with
// each. People count items from 1.
func Rejection(p *locales.Printer, e *advocate.Error) (head string, items []string) {
	bad := 0
	for i, problem := range e.Problems {
		if i == 0 || problem.Item != e.Problems[i-1].Item {
			bad++
		}
		items = append(items, p.T("explain.advocate-problem.item", locales.Vars{"Item": problem.Item + 1, "Problem": Problem(p, problem)}))
	}
	return p.N("explain.advocate-rejected", bad), items
}

// Problem says what is wrong with one item.
func Problem(p *locales.Printer, problem advocate.Problem) string {
	switch problem.Kind {
	case advocate.NotAnObject:
		return p.T("explain.advocate-problem.not-an-object")
	case advocate.Missing:
		return p.T("explain.advocate-problem.missing", locales.Vars{"Field": problem.Field})
	case advocate.WrongType:
		return p.T("explain.advocate-problem.wrong-type", locales.Vars{"Field": problem.Field})
	case advocate.TooShort:
		return p.N("explain.advocate-problem.too-short", problem.Have, locales.Vars{"Field": problem.Field, "Need": problem.Min()})
	case advocate.NotAChoice:
		return p.T("explain.advocate-problem.choice", locales.Vars{"Field": problem.Field, "Choices": locales.OneOf(problem.Choices())})
	case advocate.OutOfRange:
		return p.T("explain.advocate-problem.range", locales.Vars{"Field": problem.Field, "Most": advocate.MaxScale})
	case advocate.IndexUnknown:
		return p.T("explain.advocate-problem.index-unknown", locales.Vars{"Field": problem.Field})
	case advocate.IndexNeedsNone:
		return p.T("explain.advocate-problem.index-needs-none", locales.Vars{"Field": problem.Field})
	case advocate.IndexAnswered:
		return p.T("explain.advocate-problem.index-answered", locales.Vars{"Field": problem.Field})
	case advocate.IndexTwice:
		return p.T("explain.advocate-problem.index-twice", locales.Vars{"Field": problem.Field})
	}
	f := problem.Finding
	switch {
	case f.Repetitive():
		return p.T("explain.advocate-problem.repetitive", locales.Vars{"Top": f.Top, "Total": f.Total})
	case f.Check == gate.LowInformation:
		return p.N("explain.advocate-problem.few-words", f.Distinct, locales.Vars{"Need": f.Need})
	case f.Check == gate.RestatesClaim:
		return p.T("explain.advocate-problem.restates", locales.Vars{"Distinct": f.Distinct, "Shared": f.Shared})
	case f.Check == gate.ParrotsTarget:
		return p.T("explain.advocate-problem.parrots", locales.Vars{"Distinct": f.Distinct, "Shared": f.Shared})
	case problem.TwinSaved:
		return p.T("explain.advocate-problem.duplicate-saved", locales.Vars{"Twin": problem.Twin + 1, "Overlap": f.Overlap})
	}
	return p.T("explain.advocate-problem.duplicate", locales.Vars{"Twin": problem.Twin + 1, "Overlap": f.Overlap})
}

// Fault says why a file is no valid review. An error that is no *advocate.Fault is worded as the
// system's.
func Fault(p *locales.Printer, err error) string {
	var f *advocate.Fault
	if !errors.As(err, &f) {
		return fileCause(p, err)
	}
	cause := ""
	if f.Cause != nil {
		cause = fileCause(p, f.Cause)
	}
	return p.Word(faultWords, string(f.Code), locales.Vars{
		"Field": f.Field, "Phase": string(f.Phase), "Number": f.Number, "Limit": p.Bytes(f.Number), "Cause": cause,
	})
}
