// Package advocate is the devil's advocate: it leads a claim through the phases of a stress test,
// checks what is submitted for each, and in the end counts up a verdict and writes a memo. It is
// pure: no files, no clock, no chance. Time and identifiers are arguments, and the same submissions
// give the same verdict and the same memo.
package advocate

import "slices"

// Mode is a way to stress-test a claim.
type Mode string

// The modes. A gauntlet plays the other four one after another; there they are called lenses.
const (
	DevilsAdvocate Mode = "devils_advocate"
	Premortem      Mode = "premortem"
	Assumptions    Mode = "assumptions"
	Steelman       Mode = "steelman"
	Gauntlet       Mode = "gauntlet"
)

// Modes lists every mode, in the order in which people are told of them.
func Modes() []Mode {
	return []Mode{DevilsAdvocate, Premortem, Assumptions, Steelman, Gauntlet}
}

// Lenses lists the modes that a gauntlet plays, in its order.
func Lenses() []Mode { return []Mode{DevilsAdvocate, Assumptions, Premortem, Steelman} }

// Phase is one step of a mode.
type Phase string

// The phases. The second of each pair answers the first.
const (
	Counterarguments Phase = "counterarguments"
	Rebuttals        Phase = "rebuttals"
	Setup            Phase = "setup"
	FailureCauses    Phase = "failure_causes"
	Mitigations      Phase = "mitigations"
	AssumptionList   Phase = "assumptions"
	Tests            Phase = "tests"
	StrongestCase    Phase = "strongest_case"
	Responses        Phase = "responses"
)

// Phases lists the phases of the mode in their order; nil for an unknown mode.
func (m Mode) Phases() []Phase {
	switch m {
	case DevilsAdvocate:
		return []Phase{Counterarguments, Rebuttals}
	case Premortem:
		return []Phase{Setup, FailureCauses, Mitigations}
	case Assumptions:
		return []Phase{AssumptionList, Tests}
	case Steelman:
		return []Phase{StrongestCase, Responses}
	case Gauntlet:
		var all []Phase
		for _, lens := range Lenses() {
			all = append(all, lens.Phases()...)
		}
		return all
	}
	return nil
}

// Lens is the mode other than the gauntlet that the phase belongs to.
func (p Phase) Lens() Mode {
	for _, lens := range Lenses() {
		if slices.Contains(lens.Phases(), p) {
			return lens
		}
	}
	return ""
}

// Answers is the phase whose items this phase's items answer; empty when they stand alone.
func (p Phase) Answers() Phase { return specs[p].answers }

// Status is where a review stands.
type Status string

// The states of a review. A complete review never changes again.
const (
	Active    Status = "active"
	Complete  Status = "complete"
	Abandoned Status = "abandoned"
)

// What an item's closed fields may hold.
var (
	categories = []string{"evidence", "incentives", "base_rates", "alternatives", "second_order", "scope"}
	verdicts   = []string{"holds", "partially_holds", "refuted"}
	evidence   = []string{"verified", "partial", "none"}
	levels     = []string{"low", "medium", "high"}
	stances    = []string{"concede", "counter"}
)

// Limits of the rules, in one place; those of the quality gate are in package gate.
const (
	// MinClaim is the least length of a claim in code points, trimmed.
	MinClaim = 10
	// MaxItems is how many items a phase takes: many times what a person could weigh, and few enough
	// for each to be compared with all others in no time and for a refusal to be read.
	MaxItems = 1000
	// MinItems is how many items each phase that answers nothing needs, where no other number is named.
	minArguments, minCategories = 3, 2
	minCauses                   = 4
	minAssumptions              = 4
	minPoints                   = 3
	// AnswerSeverity is the severity from which on a counterargument needs a rebuttal, AnswerRisk the
	// product of likelihood and impact from which on a cause needs a mitigation.
	AnswerSeverity = 3
	AnswerRisk     = 9
)

// kind is the type of a field.
type kind int

const (
	textKind kind = iota
	choiceKind
	scaleKind // an integer from 1 to 5
	boolKind
	indexKind
)

// field is one field of an item.
type field struct {
	name    string
	kind    kind
	min     int      // code points of a text
	choices []string // of a choice
}

// spec is what is known of a phase.
type spec struct {
	fields   []field
	text     string // the free text that the gate judges; empty: none
	minWords int    // distinct content words of that text
	min      int    // items needed; 0 in phases that answer others
	answers  Phase
	// againstClaim tells whether the gate holds an item against the claim.
	againstClaim func(Item) bool
	// asks tells whether an item needs an answer in the next phase.
	asks func(Item) bool
}

func always(Item) bool { return true }
func never(Item) bool  { return false }
