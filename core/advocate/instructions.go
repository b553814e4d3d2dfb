package advocate

import (
	"fmt"

	"github.com/qa-orch/qa-orch/core/advocate/gate"
)

// Instructions tell a model what to do in the current phase. They are English.
type Instructions struct {
	Phase            Phase          `json:"phase"`
	Step             string         `json:"step"`
	Lens             Mode           `json:"lens,omitzero"` // in a gauntlet
	Claim            string         `json:"claim"`
	Context          string         `json:"context"`
	Goal             string         `json:"goal"`
	ItemFormat       Object[string] `json:"item_format"`
	Rules            []string       `json:"rules"`
	QualityChecks    []string       `json:"quality_checks"`
	Targets          []Item         `json:"targets,omitzero"` // pending ones, in phases that answer
	CategoryMeanings Object[string] `json:"category_meanings,omitzero"`
	HowToSubmit      string         `json:"how_to_submit"`
}

// goals say what each phase is for.
var goals = map[Phase]string{
	Counterarguments: "Argue against the claim as its most capable opponent would. Find distinct reasons why it may be wrong, each concrete enough to be checked.",
	Rebuttals:        "Judge each serious counterargument honestly: does it hold against the claim, hold in part, or is it refuted? Say on what ground.",
	Setup:            "Name the moment to look back from: the time by which the claim or decision will have failed.",
	FailureCauses:    "Imagine that moment has come and it has failed. Write down what happened, one cause an item, and how likely and how harmful each is.",
	Mitigations:      "For each serious cause, name one action that can be taken now, and the risk that is left once it is taken.",
	AssumptionList:   "List what has to be true for the claim to hold. Mark the assumptions that it can't do without, and what evidence there is for each today.",
	Tests:            "For each load-bearing assumption that is not verified, describe a test that could show it to be false.",
	StrongestCase:    "Make the strongest honest case against the claim, point by point, as its proponents would have to admit it.",
	Responses:        "Answer every point of the strongest case: concede it, or counter it with a ground of its own.",
}

// categoryMeanings explain the categories of counterarguments.
var categoryMeanings = Object[string]{
	{"evidence", "the facts behind the claim are missing, weak or read one-sidedly"},
	{"incentives", "somebody gains from the claim being believed, whether or not it is true"},
	{"base_rates", "similar endeavours usually end otherwise"},
	{"alternatives", "another explanation fits, or another option does better"},
	{"second_order", "it works at first, but its consequences undo or outweigh it"},
	{"scope", "it holds in some cases only, and the claim reaches further"},
}

// Instructions says what the current phase wants; nil unless the review is active.
func (r *Review) Instructions() *Instructions {
	p := r.Phase()
	if p == "" {
		return nil
	}
	s := specs[p]
	in := &Instructions{
		Phase: p, Step: r.Step(), Claim: r.Claim, Context: r.Context, Goal: goals[p],
		Rules: s.rules(p), QualityChecks: s.qualityChecks(p),
		HowToSubmit: fmt.Sprintf("Call submit with review_id %q and items, an array of objects of this format. "+
			"A submission is saved as a whole or not at all; items may come in several calls, and the review moves on by itself when the phase has enough.", r.ID),
	}
	if r.Mode == Gauntlet {
		in.Lens = p.Lens()
	}
	for _, f := range s.fields {
		in.ItemFormat = append(in.ItemFormat, Member[string]{f.name, f.describe()})
	}
	if answered := p.Answers(); answered != "" {
		in.Targets = []Item{}
		for _, i := range r.pending(p) {
			in.Targets = append(in.Targets, r.items[answered][i].at(i))
		}
	}
	if p == Counterarguments {
		in.CategoryMeanings = categoryMeanings
	}
	return in
}

// rules say when the phase has enough and how its items are counted.
func (s spec) rules(p Phase) []string {
	rules := []string{}
	switch p {
	case Counterarguments:
		rules = append(rules,
			fmt.Sprintf("At least %d items from at least %d different categories.", minArguments, minCategories),
			fmt.Sprintf("severity: 1 is a quibble, %d alone would sink the claim. From %d on a counterargument must be answered in the next phase.", MaxScale, AnswerSeverity))
	case Setup:
		rules = append(rules, "Exactly one item, such as \"6 months after the release\".")
	case FailureCauses:
		rules = append(rules,
			fmt.Sprintf("At least %d items.", minCauses),
			fmt.Sprintf("likelihood and impact go from 1 to %d. A cause whose product is %d or more must get a mitigation in the next phase.", MaxScale, AnswerRisk))
	case AssumptionList:
		rules = append(rules,
			fmt.Sprintf("At least %d items.", minAssumptions),
			"load_bearing: the claim falls if this assumption does. evidence: verified (checked, with a result), partial, or none.",
			"A load-bearing assumption that is not verified must get a test in the next phase.")
	case StrongestCase:
		rules = append(rules, fmt.Sprintf("At least %d items; each must be answered in the next phase.", minPoints))
	default:
		rules = append(rules, "One item for each of the targets, each answered once; index is the target's index.")
	}
	return append(rules, "Lengths count characters after trimming; integers are JSON integers.")
}

// qualityChecks say what the quality gate refuses in this phase.
func (s spec) qualityChecks(p Phase) []string {
	if s.text == "" {
		return []string{}
	}
	checks := []string{fmt.Sprintf(
		"'%s' needs at least %d distinct content words, and from %d content words on none may make up more than %d %% of them. "+
			"Function words, negations and empty evaluation don't count, and the forms of one word count as one.",
		s.text, s.minWords, gate.DominanceFrom, gate.MaxDominance)}
	repeats := func(what string) string {
		return fmt.Sprintf("Fewer than %d %% of its distinct content words may come from %s, and at least %d must be new to it.",
			gate.MaxCoverage, what, gate.MinNewWords)
	}
	switch p {
	case Counterarguments, StrongestCase, Rebuttals:
		checks = append(checks, repeats("the claim"))
	case Responses:
		checks = append(checks, repeats("the claim")+" This holds for items that counter.")
	}
	if s.answers != "" {
		checks = append(checks, repeats("the item that it answers"))
	}
	return append(checks, fmt.Sprintf(
		"It must not be a near-duplicate of another item of this phase: %d %% or more of the content words of both being the same.",
		gate.DuplicateOverlap))
}
