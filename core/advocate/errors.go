package advocate

import (
	"fmt"
	"strings"

	"github.com/qa-orch/qa-orch/core/advocate/gate"
)

// Code tells what went wrong.
type Code string

// The codes of an Error.
const (
	ClaimTooShort    Code = "claim_too_short"   // Have, Need
	UnknownMode      Code = "unknown_mode"      //
	UnknownReview    Code = "unknown_review"    //
	ItemsNotList     Code = "items_not_a_list"  //
	NoItems          Code = "no_items"          // Phase
	OneItemOnly      Code = "one_item_only"     // Phase, Have
	TooManyItems     Code = "too_many_items"    // Phase, Have, Need
	Rejected         Code = "rejected"          // Phase, Items, Problems
	AlreadyComplete  Code = "already_complete"  // Review
	AlreadyAbandoned Code = "already_abandoned" // Review
	NotComplete      Code = "not_complete"      // Review, Phase
	ReasonMissing    Code = "reason_missing"    //
	UnknownFormat    Code = "unknown_format"    //
	DamagedReview    Code = "damaged_review"    // File, Cause
	FolderTrouble    Code = "folder_trouble"    // File, Cause
	TooLarge         Code = "review_too_large"  // Review, Have, Need (bytes)
	NoFreeID         Code = "no_free_review_id" //
)

// Error is everything that the devil's advocate refuses or fails at. Error() is English, complete and
// fit for a model to act upon; it repeats nothing that was submitted.
type Error struct {
	Code       Code
	Review     string // id
	Phase      Phase
	Have, Need int
	Items      int       // items of a rejected submission
	Problems   []Problem // of a rejected submission, in order of items
	File       string
	Cause      error
}

func (e *Error) Unwrap() error { return e.Cause }

func (e *Error) Error() string {
	switch e.Code {
	case ClaimTooShort:
		return fmt.Sprintf("the claim has %d characters and needs at least %d: state in one sentence what is to be tested", e.Have, e.Need)
	case UnknownMode:
		return "unknown mode: use one of " + list(Modes())
	case UnknownReview:
		return "no review with this review_id: list_reviews shows those that exist, start_review begins one"
	case ItemsNotList:
		return "items must be a JSON array of objects"
	case NoItems:
		return fmt.Sprintf("items is empty: submit at least one item of phase %s; get_review shows what is missing", e.Phase)
	case OneItemOnly:
		return fmt.Sprintf("nothing was saved: phase %s takes exactly one item, not %d", e.Phase, e.Have)
	case TooManyItems:
		return fmt.Sprintf("nothing was saved: phase %s would have %d items, at most %d are taken; submit the weightiest", e.Phase, e.Have, e.Need)
	case Rejected:
		return e.rejection()
	case AlreadyComplete:
		return fmt.Sprintf("review %s is complete and its verdict is final: get_verdict and export_report read it, start_review begins another", e.Review)
	case AlreadyAbandoned:
		return fmt.Sprintf("review %s was abandoned: start_review begins another", e.Review)
	case NotComplete:
		return fmt.Sprintf("review %s is not complete, it is in phase %s: get_review shows what is missing", e.Review, e.Phase)
	case ReasonMissing:
		return "reason is required: say in a few words why the review is abandoned"
	case UnknownFormat:
		return "unknown format: use markdown, md or json"
	case DamagedReview:
		return fmt.Sprintf("review file %s is damaged and was left untouched: %v", e.File, e.Cause)
	case FolderTrouble:
		return fmt.Sprintf("the review folder can't be used: %v", e.Cause)
	case TooLarge:
		return fmt.Sprintf("nothing was saved: review %s would grow to %d bytes, more than the %d that one may have; submit shorter texts", e.Review, e.Have, e.Need)
	case NoFreeID:
		return "no free review id was found: move finished reviews out of the folder"
	}
	return string(e.Code)
}

// rejection lists every problem, one a line.
func (e *Error) rejection() string {
	bad := 0
	for i, p := range e.Problems {
		if i == 0 || p.Item != e.Problems[i-1].Item {
			bad++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "nothing was saved: %d of the %d submitted items need work. Fix them and submit all of them again.", bad, e.Items)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\nitem %d: %s", p.Item, p.text(e.Phase))
	}
	return b.String()
}

// ProblemKind tells what is wrong with a submitted item.
type ProblemKind int

// The kinds of problem.
const (
	NotAnObject    ProblemKind = iota + 1 // the item as a whole
	Missing                               // the field is not there or null
	WrongType                             // the field is of another JSON type
	TooShort                              // a text: Have code points, Min needed
	NotAChoice                            // the value is none of Choices
	OutOfRange                            // an integer outside 1 to 5
	IndexUnknown                          // index: no such item
	IndexNeedsNone                        // index: that item needs no answer
	IndexAnswered                         // index: a saved item answers it
	IndexTwice                            // index: an earlier item of this submission answers it
	LowQuality                            // the quality gate refused the text: Finding
)

// Problem is one thing that is wrong with one item of a submission.
type Problem struct {
	// Item is the item's position in the submission, from 0.
	Item int
	// Field is the name of the field at fault; empty when it is the item as a whole.
	Field string
	Kind  ProblemKind
	// Have is the number of code points of a text that is too short.
	Have int
	// Finding is what the gate found, with Kind LowQuality.
	Finding gate.Finding
	// Twin is the item that a near-duplicate repeats: its position in the submission, or among the
	// saved items of the phase when TwinSaved.
	Twin      int
	TwinSaved bool

	want field
}

// Min is the least number of code points of the text at fault.
func (p Problem) Min() int { return p.want.min }

// Choices are the values that the field at fault may have; empty when they are not a closed list.
func (p Problem) Choices() []string { return p.want.choices }

// text says in English what is wrong. The words that name a check appear with that check only.
func (p Problem) text(phase Phase) string {
	switch p.Kind {
	case NotAnObject:
		return "must be a JSON object with the fields " + fieldNames(phase)
	case Missing:
		return fmt.Sprintf("'%s' is missing: it must be %s", p.Field, p.want.describe())
	case WrongType, NotAChoice, OutOfRange:
		return fmt.Sprintf("'%s' must be %s", p.Field, p.want.describe())
	case TooShort:
		return fmt.Sprintf("'%s' has %d characters, at least %d are needed", p.Field, p.Have, p.want.min)
	case IndexUnknown:
		return fmt.Sprintf("'%s' names no item of phase %s", p.Field, phase.Answers())
	case IndexNeedsNone:
		return fmt.Sprintf("'%s' names an item of phase %s that needs no answer", p.Field, phase.Answers())
	case IndexAnswered:
		return fmt.Sprintf("'%s' names an item of phase %s that is answered already", p.Field, phase.Answers())
	case IndexTwice:
		return fmt.Sprintf("'%s' names an item of phase %s that an earlier item of this submission answers", p.Field, phase.Answers())
	}
	f := p.Finding
	share := func() string {
		return fmt.Sprintf("of its %d distinct words %d come from there, new: %d; fewer than %d %% may come from there and at least %d must be new",
			f.Distinct, f.Shared, f.New, gate.MaxCoverage, gate.MinNewWords)
	}
	switch f.Check {
	case gate.LowInformation:
		if f.Repetitive() {
			return fmt.Sprintf("'%s' is low on information: one word makes up %d of its %d content words, at most %d %% are allowed; say more than one thing",
				p.Field, f.Top, f.Total, gate.MaxDominance)
		}
		return fmt.Sprintf("'%s' is low on information: it has %d distinct content words and needs %d; give a concrete fact, cause or step",
			p.Field, f.Distinct, f.Need)
	case gate.RestatesClaim:
		return fmt.Sprintf("'%s' restates the claim: %s; add a reason, a fact or an example of your own", p.Field, share())
	case gate.ParrotsTarget:
		return fmt.Sprintf("'%s' parrots its target: %s; answer it with something it does not say", p.Field, share())
	}
	twin := fmt.Sprintf("item %d of this submission", p.Twin)
	if p.TwinSaved {
		twin = fmt.Sprintf("item %d of the saved ones", p.Twin)
	}
	return fmt.Sprintf("'%s' is a near-duplicate of %s: %d %% of their words are the same, fewer than %d %% may be; say something different or leave it out",
		p.Field, twin, f.Overlap, gate.DuplicateOverlap)
}

// describe says in English what the field must be.
func (f field) describe() string {
	switch f.kind {
	case textKind:
		return fmt.Sprintf("a string of at least %d characters", f.min)
	case choiceKind:
		return "one of " + list(f.choices)
	case scaleKind:
		return fmt.Sprintf("an integer from 1 to %d", MaxScale)
	case boolKind:
		return "true or false"
	}
	return "the 0-based integer position of a pending item"
}

func fieldNames(phase Phase) string {
	var names []string
	for _, f := range specs[phase].fields {
		names = append(names, f.name)
	}
	return list(names)
}

func list[S ~string](values []S) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(v))
	}
	return b.String()
}
