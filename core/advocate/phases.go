package advocate

import "github.com/qa-orch/qa-orch/core/advocate/gate"

// MaxScale is the upper end of severity, likelihood and impact; the lower is 1.
const MaxScale = 5

var indexField = field{name: "index", kind: indexKind}

// specs describe every phase.
var specs = map[Phase]spec{
	Counterarguments: {
		fields: []field{
			{name: "text", kind: textKind, min: 30},
			{name: "category", kind: choiceKind, choices: categories},
			{name: "severity", kind: scaleKind},
		},
		text: "text", minWords: gate.MinWordsOpening, min: minArguments, againstClaim: always,
		asks: func(i Item) bool { return i.Severity >= AnswerSeverity },
	},
	Rebuttals: {
		fields: []field{
			indexField,
			{name: "verdict", kind: choiceKind, choices: verdicts},
			{name: "justification", kind: textKind, min: 20},
		},
		text: "justification", minWords: gate.MinWords, answers: Counterarguments, againstClaim: always,
	},
	Setup: {
		fields: []field{{name: "horizon", kind: textKind, min: 2}},
		min:    1,
	},
	FailureCauses: {
		fields: []field{
			{name: "text", kind: textKind, min: 20},
			{name: "likelihood", kind: scaleKind},
			{name: "impact", kind: scaleKind},
		},
		text: "text", minWords: gate.MinWords, min: minCauses, againstClaim: never,
		asks: func(i Item) bool { return i.Likelihood*i.Impact >= AnswerRisk },
	},
	Mitigations: {
		fields: []field{
			indexField,
			{name: "action", kind: textKind, min: 20},
			{name: "residual_risk", kind: choiceKind, choices: levels},
		},
		text: "action", minWords: gate.MinWords, answers: FailureCauses, againstClaim: never,
	},
	AssumptionList: {
		fields: []field{
			{name: "text", kind: textKind, min: 20},
			{name: "load_bearing", kind: boolKind},
			{name: "evidence", kind: choiceKind, choices: evidence},
		},
		text: "text", minWords: gate.MinWords, min: minAssumptions, againstClaim: never,
		asks: func(i Item) bool { return i.bears() && i.Evidence != "verified" },
	},
	Tests: {
		fields: []field{indexField, {name: "test", kind: textKind, min: 20}},
		text:   "test", minWords: gate.MinWords, answers: AssumptionList, againstClaim: never,
	},
	StrongestCase: {
		fields: []field{{name: "text", kind: textKind, min: 30}},
		text:   "text", minWords: gate.MinWordsOpening, min: minPoints, againstClaim: always,
		asks: always,
	},
	Responses: {
		fields: []field{
			indexField,
			{name: "stance", kind: choiceKind, choices: stances},
			{name: "text", kind: textKind, min: 20},
		},
		text: "text", minWords: gate.MinWords, answers: StrongestCase,
		againstClaim: func(i Item) bool { return i.Stance == "counter" },
	},
}
