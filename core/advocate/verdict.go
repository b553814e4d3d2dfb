package advocate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Assessment is what a finished stress test says of the claim.
type Assessment string

// The assessments.
const (
	Refuted       Assessment = "claim refuted"
	NeedsRevision Assessment = "claim needs revision"
	Survives      Assessment = "claim survives scrutiny"
)

// Rule names the rule that decided an assessment.
type Rule string

// The rules, by mode: those that refute, those that ask for revision, and the rest.
const (
	RuleTwoHold          Rule = "two_hold"
	RuleSevereHolds      Rule = "severe_holds"
	RuleOneHolds         Rule = "one_holds"
	RuleTwoPartial       Rule = "two_partially_hold"
	RuleNoneHolds        Rule = "none_holds"
	RuleMeanRefutes      Rule = "mean_refutes"
	RuleMeanRevise       Rule = "mean_revise"
	RuleHighResidual     Rule = "high_residual"
	RuleLowMean          Rule = "low_mean"
	RuleTwoUnsupported   Rule = "two_unsupported"
	RuleOneUnsupported   Rule = "one_unsupported"
	RuleTwoHalfSupported Rule = "two_half_supported"
	RuleSupported        Rule = "supported"
	RuleAllConceded      Rule = "all_conceded"
	RuleMostConceded     Rule = "half_conceded"
	RuleMostCountered    Rule = "most_countered"
	RuleTwoLensesRefute  Rule = "two_lenses_refute"
	RuleOneLensRefutes   Rule = "one_lens_refutes"
	RuleTwoLensesRevise  Rule = "two_lenses_revise"
	RuleLensesSurvive    Rule = "lenses_survive"
)

// Limits of the verdict rules.
const (
	sinkingSeverity = 5
	// mean likelihood × impact, in hundredths
	meanRefutes = 1200
	meanRevises = 600
)

// Outcome is an assessment with all that led to it; only the counts of its mode are set.
type Outcome struct {
	Mode       Mode
	Assessment Assessment
	Rule       Rule
	// Risk is the risk score in hundredths.
	Risk int

	// Answers to counterarguments; Sinking are those of severity 5 that hold.
	Holds, PartiallyHolds, Refuted, Sinking int
	// Causes of failure, the sum of likelihood × impact, and the answers of high residual risk.
	Causes, Sum, HighResidual int
	// Load-bearing assumptions, and those of them without evidence and with partial evidence.
	LoadBearing, Unsupported, HalfSupported int
	// Points of the strongest case.
	Conceded, Countered int
	// Lenses of a gauntlet that refute and that ask for revision, and each lens's own outcome.
	LensesRefute, LensesRevise int
	Lenses                     []Outcome
}

// decide sets the assessment and the rule.
func (o *Outcome) decide(a Assessment, r Rule) { o.Assessment, o.Rule = a, r }

// outcome counts the review up.
func (r *Review) outcome() Outcome { return r.lensOutcome(r.Mode) }

func (r *Review) lensOutcome(m Mode) Outcome {
	o := Outcome{Mode: m}
	switch m {
	case DevilsAdvocate:
		r.countRebuttals(&o)
	case Premortem:
		r.countCauses(&o)
	case Assumptions:
		r.countAssumptions(&o)
	case Steelman:
		r.countResponses(&o)
	case Gauntlet:
		for _, lens := range Lenses() {
			l := r.lensOutcome(lens)
			o.Lenses = append(o.Lenses, l)
			switch l.Assessment {
			case Refuted:
				o.LensesRefute++
			case NeedsRevision:
				o.LensesRevise++
			}
		}
		o.Risk = (2*o.LensesRefute + o.LensesRevise) * 100
		switch {
		case o.LensesRefute >= 2:
			o.decide(Refuted, RuleTwoLensesRefute)
		case o.LensesRefute == 1:
			o.decide(NeedsRevision, RuleOneLensRefutes)
		case o.LensesRevise >= 2:
			o.decide(NeedsRevision, RuleTwoLensesRevise)
		default:
			o.decide(Survives, RuleLensesSurvive)
		}
	}
	return o
}

func (r *Review) countRebuttals(o *Outcome) {
	for _, rebuttal := range r.items[Rebuttals] {
		switch rebuttal.Verdict {
		case "holds":
			o.Holds++
			if r.items[Counterarguments][rebuttal.target()].Severity >= sinkingSeverity {
				o.Sinking++
			}
		case "partially_holds":
			o.PartiallyHolds++
		case "refuted":
			o.Refuted++
		}
	}
	o.Risk = o.Holds * 100
	switch {
	case o.Holds >= 2:
		o.decide(Refuted, RuleTwoHold)
	case o.Sinking >= 1:
		o.decide(Refuted, RuleSevereHolds)
	case o.Holds == 1:
		o.decide(NeedsRevision, RuleOneHolds)
	case o.PartiallyHolds >= 2:
		o.decide(NeedsRevision, RuleTwoPartial)
	default:
		o.decide(Survives, RuleNoneHolds)
	}
}

func (r *Review) countCauses(o *Outcome) {
	for _, cause := range r.items[FailureCauses] {
		o.Causes++
		o.Sum += cause.Likelihood * cause.Impact
	}
	for _, mitigation := range r.items[Mitigations] {
		if mitigation.ResidualRisk == "high" {
			o.HighResidual++
		}
	}
	o.Risk = roundedMean(o.Sum, o.Causes)
	switch {
	case o.Risk > meanRefutes:
		o.decide(Refuted, RuleMeanRefutes)
	case o.Risk > meanRevises:
		o.decide(NeedsRevision, RuleMeanRevise)
	case o.HighResidual > 0:
		o.decide(NeedsRevision, RuleHighResidual)
	default:
		o.decide(Survives, RuleLowMean)
	}
}

// roundedMean is sum/n in hundredths, rounded half to even, without the errors of binary fractions.
func roundedMean(sum, n int) int {
	if n == 0 {
		return 0
	}
	whole, rest := sum*100/n, sum*100%n
	if 2*rest > n || 2*rest == n && whole%2 == 1 {
		whole++
	}
	return whole
}

func (r *Review) countAssumptions(o *Outcome) {
	for _, a := range r.items[AssumptionList] {
		if !a.bears() {
			continue
		}
		o.LoadBearing++
		switch a.Evidence {
		case "none":
			o.Unsupported++
		case "partial":
			o.HalfSupported++
		}
	}
	o.Risk = (o.Unsupported + o.HalfSupported) * 100
	switch {
	case o.Unsupported >= 2:
		o.decide(Refuted, RuleTwoUnsupported)
	case o.Unsupported == 1:
		o.decide(NeedsRevision, RuleOneUnsupported)
	case o.HalfSupported >= 2:
		o.decide(NeedsRevision, RuleTwoHalfSupported)
	default:
		o.decide(Survives, RuleSupported)
	}
}

func (r *Review) countResponses(o *Outcome) {
	for _, response := range r.items[Responses] {
		switch response.Stance {
		case "concede":
			o.Conceded++
		case "counter":
			o.Countered++
		}
	}
	o.Risk = o.Conceded * 100
	switch {
	case o.Conceded > 0 && o.Countered == 0:
		o.decide(Refuted, RuleAllConceded)
	case o.Conceded > 0 && o.Conceded >= o.Countered:
		o.decide(NeedsRevision, RuleMostConceded)
	default:
		o.decide(Survives, RuleMostCountered)
	}
}

// RiskNumber is the risk score as it is written: without needless zeros.
func (o Outcome) RiskNumber() string {
	return strconv.FormatFloat(float64(o.Risk)/100, 'f', -1, 64)
}

// rules say in English what each rule is.
var rules = map[Rule]string{
	RuleTwoHold:          "two or more counterarguments that hold refute the claim",
	RuleSevereHolds:      "a counterargument of severity 5 that holds refutes the claim",
	RuleOneHolds:         "exactly one counterargument that holds asks for revision",
	RuleTwoPartial:       "two or more counterarguments that partially hold ask for revision",
	RuleNoneHolds:        "no counterargument holds and fewer than two hold partially",
	RuleMeanRefutes:      "a mean likelihood × impact above 12 refutes the claim",
	RuleMeanRevise:       "a mean likelihood × impact above 6 asks for revision",
	RuleHighResidual:     "a high residual risk asks for revision",
	RuleLowMean:          "the mean likelihood × impact is at most 6 and no residual risk is high",
	RuleTwoUnsupported:   "two or more load-bearing assumptions without evidence refute the claim",
	RuleOneUnsupported:   "exactly one load-bearing assumption without evidence asks for revision",
	RuleTwoHalfSupported: "two or more load-bearing assumptions with partial evidence ask for revision",
	RuleSupported:        "no load-bearing assumption lacks evidence and fewer than two have partial evidence",
	RuleAllConceded:      "the claim is refuted when every point is conceded",
	RuleMostConceded:     "at least as many points conceded as countered ask for revision",
	RuleMostCountered:    "more points are countered than conceded",
	RuleTwoLensesRefute:  "two or more lenses that refute the claim refute it",
	RuleOneLensRefutes:   "exactly one lens that refutes the claim asks for revision",
	RuleTwoLensesRevise:  "revision is asked for when two or more lenses ask for it",
	RuleLensesSurvive:    "no lens refutes the claim and fewer than two ask for revision",
}

// Reason says in English what was counted and which rule decided.
func (o Outcome) Reason() string { return o.counts() + ". Rule: " + rules[o.Rule] + "." }

func (o Outcome) counts() string {
	switch o.Mode {
	case DevilsAdvocate:
		return fmt.Sprintf("Counterarguments that hold: %d (of severity 5: %d), partially: %d, refuted: %d",
			o.Holds, o.Sinking, o.PartiallyHolds, o.Refuted)
	case Premortem:
		return fmt.Sprintf("Mean likelihood × impact: %s over causes: %d, high residual risks: %d",
			o.RiskNumber(), o.Causes, o.HighResidual)
	case Assumptions:
		return fmt.Sprintf("Load-bearing assumptions: %d, without evidence: %d, with partial evidence: %d",
			o.LoadBearing, o.Unsupported, o.HalfSupported)
	case Steelman:
		return fmt.Sprintf("Points conceded: %d, countered: %d", o.Conceded, o.Countered)
	}
	return fmt.Sprintf("Lenses that refute the claim: %d, that ask for revision: %d, of: %d",
		o.LensesRefute, o.LensesRevise, len(o.Lenses))
}

// RiskScore is a number with what it means. A higher one is worse for the claim in every mode.
type RiskScore struct {
	Value       json.Number `json:"value"`
	Scale       string      `json:"scale"`
	Explanation string      `json:"explanation"`
}

func (o Outcome) riskScore() RiskScore {
	s := RiskScore{Value: json.Number(o.RiskNumber())}
	switch o.Mode {
	case DevilsAdvocate:
		s.Scale, s.Explanation = "count, from 0", "how many counterarguments hold"
	case Premortem:
		s.Scale, s.Explanation = "1-25", "mean likelihood × impact of the causes of failure, rounded to 2 decimals"
	case Assumptions:
		s.Scale, s.Explanation = "count, from 0", "how many load-bearing assumptions are not verified"
	case Steelman:
		s.Scale, s.Explanation = "count, from 0", "how many points of the strongest case were conceded"
	case Gauntlet:
		s.Scale, s.Explanation = "0-8", "2 for each lens that refutes the claim, 1 for each that asks for revision"
	}
	return s
}

// AnsweredItem is an item of a verdict with what was answered to it.
type AnsweredItem struct {
	Item
	Rebuttal   *Item  `json:"rebuttal,omitzero"`
	Mitigation *Item  `json:"mitigation,omitzero"`
	TestToRun  *Item  `json:"test,omitzero"`
	Response   *Item  `json:"response,omitzero"`
	Note       string `json:"note,omitzero"` // why there is no answer
}

// answer is what was answered, in whichever field it is; nil when nothing was.
func (a AnsweredItem) answer() *Item {
	for _, item := range []*Item{a.Rebuttal, a.Mitigation, a.TestToRun, a.Response} {
		if item != nil {
			return item
		}
	}
	return nil
}

// Verdict is the result of a complete review. Texts in it are English, except what was submitted.
type Verdict struct {
	ReviewID         string                 `json:"review_id"`
	Claim            string                 `json:"claim"`
	Mode             Mode                   `json:"mode"`
	Context          string                 `json:"context"`
	CreatedAt        string                 `json:"created_at"`
	CompletedAt      string                 `json:"completed_at"`
	Assessment       Assessment             `json:"assessment"`
	AssessmentReason string                 `json:"assessment_reason"`
	RiskScore        RiskScore              `json:"risk_score"`
	Horizon          string                 `json:"horizon,omitzero"`
	SkippedPhases    []Phase                `json:"skipped_phases"`
	Lenses           Object[LensVerdict]    `json:"lenses,omitzero"`
	Phases           Object[[]AnsweredItem] `json:"phases"` // those whose items are answered

	outcome            Outcome
	created, completed time.Time
}

// LensVerdict is what one lens of a gauntlet says.
type LensVerdict struct {
	Phases           []Phase    `json:"phases"`
	RiskScore        RiskScore  `json:"risk_score"`
	Assessment       Assessment `json:"assessment"`
	AssessmentReason string     `json:"assessment_reason"`
}

// Verdict compiles the result of a complete review; of another it is an Error of code NotComplete or
// AlreadyAbandoned.
func (r *Review) Verdict() (*Verdict, error) {
	switch r.Status {
	case Active:
		return nil, &Error{Code: NotComplete, Review: r.ID, Phase: r.Phase()}
	case Abandoned:
		return nil, &Error{Code: AlreadyAbandoned, Review: r.ID}
	}
	o := r.outcome()
	v := &Verdict{
		ReviewID: r.ID, Claim: r.Claim, Mode: r.Mode, Context: r.Context,
		CreatedAt: Stamp(r.Created), CompletedAt: Stamp(r.Updated),
		Assessment: o.Assessment, AssessmentReason: o.Reason(), RiskScore: o.riskScore(),
		Horizon: r.Horizon(), SkippedPhases: nonNil(r.Skipped), outcome: o, created: r.Created, completed: r.Updated,
	}
	for _, l := range o.Lenses {
		v.Lenses = append(v.Lenses, Member[LensVerdict]{string(l.Mode), LensVerdict{
			Phases: l.Mode.Phases(), RiskScore: l.riskScore(), Assessment: l.Assessment, AssessmentReason: l.Reason(),
		}})
	}
	for _, p := range r.Mode.Phases() {
		if answered := p.Answers(); answered != "" {
			v.Phases = append(v.Phases, Member[[]AnsweredItem]{string(answered), r.answered(answered, p)})
		}
	}
	return v, nil
}

// answered joins the items of a phase with the answers that the other phase gives.
func (r *Review) answered(p, by Phase) []AnsweredItem {
	joined := []AnsweredItem{}
	answers := r.answers(by)
	for i, item := range r.items[p] {
		a := AnsweredItem{Item: item.at(i)}
		answer := answers[i]
		if answer == nil {
			a.Note = note(p, item)
			joined = append(joined, a)
			continue
		}
		bare := *answer
		bare.Index = nil
		switch by {
		case Rebuttals:
			a.Rebuttal = &bare
		case Mitigations:
			a.Mitigation = &bare
		case Tests:
			a.TestToRun = &bare
		case Responses:
			a.Response = &bare
		}
		joined = append(joined, a)
	}
	return joined
}

// note says in English why an item has no answer.
func note(p Phase, item Item) string {
	switch p {
	case Counterarguments:
		return fmt.Sprintf("severity below %d: no rebuttal needed", AnswerSeverity)
	case FailureCauses:
		return fmt.Sprintf("likelihood × impact below %d: no mitigation needed", AnswerRisk)
	case AssumptionList:
		if item.bears() {
			return "verified: no test needed"
		}
		return "not load-bearing: no test needed"
	}
	return "not answered"
}
