package advocate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/advocate"
)

// want is the assessment and the risk score that a review must end with.
type want struct {
	assessment advocate.Assessment
	risk       string
	rule       advocate.Rule
}

func check(t *testing.T, r *advocate.Review, w want) *advocate.Verdict {
	t.Helper()
	v, err := r.Verdict()
	if err != nil {
		t.Fatal(err)
	}
	if v.Assessment != w.assessment || v.RiskScore.Value.String() != w.risk || v.Outcome().Rule != w.rule {
		t.Errorf("%q with a risk of %s by %s, want %q, %s, %s: %s",
			v.Assessment, v.RiskScore.Value, v.Outcome().Rule, w.assessment, w.risk, w.rule, v.AssessmentReason)
	}
	return v
}

const (
	h = "holds"
	p = "partially_holds"
	x = "refuted"
)

func TestVerdictDevilsAdvocate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		severities []int
		verdicts   []string
		want
	}{
		"nothing to rebut":       {[]int{2, 2, 1}, nil, want{advocate.Survives, "0", advocate.RuleNoneHolds}},
		"all refuted":            {[]int{3, 4, 5}, []string{x, x, x}, want{advocate.Survives, "0", advocate.RuleNoneHolds}},
		"one holds partially":    {[]int{5, 3, 3}, []string{p, x, x}, want{advocate.Survives, "0", advocate.RuleNoneHolds}},
		"two hold partially":     {[]int{5, 5, 3}, []string{p, p, x}, want{advocate.NeedsRevision, "0", advocate.RuleTwoPartial}},
		"one holds":              {[]int{4, 3, 3}, []string{h, x, x}, want{advocate.NeedsRevision, "1", advocate.RuleOneHolds}},
		"one holds, two partial": {[]int{4, 3, 3}, []string{h, p, p}, want{advocate.NeedsRevision, "1", advocate.RuleOneHolds}},
		"one of severity 5":      {[]int{5, 3, 3}, []string{h, x, x}, want{advocate.Refuted, "1", advocate.RuleSevereHolds}},
		"5 refuted, 4 holds":     {[]int{5, 4, 3}, []string{x, h, x}, want{advocate.NeedsRevision, "1", advocate.RuleOneHolds}},
		"two hold":               {[]int{3, 3, 2}, []string{h, h, ""}, want{advocate.Refuted, "2", advocate.RuleTwoHold}},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, advocate.DevilsAdvocate)
			new(numbers).counterarguments(t, r, c.severities, c.verdicts)
			check(t, r, c.want)
		})
	}
}

func TestVerdictPremortem(t *testing.T) {
	t.Parallel()
	// 8 causes whose products sum up to the number wanted, each of 1×n or 5×n
	scores := func(products ...int) [][2]int {
		var s [][2]int
		for _, n := range products {
			l := 1
			for n/l > 5 || n%l != 0 {
				l++
			}
			s = append(s, [2]int{l, n / l})
		}
		return s
	}
	for name, c := range map[string]struct {
		scores   [][2]int
		residual string
		want
	}{
		"lowest":             {scores(1, 1, 1, 1), "", want{advocate.Survives, "1", advocate.RuleLowMean}},
		"mean 6":             {scores(6, 6, 6, 6), "", want{advocate.Survives, "6", advocate.RuleLowMean}},
		"mean 6, one medium": {scores(9, 5, 5, 5), "medium", want{advocate.Survives, "6", advocate.RuleLowMean}},
		"mean 6, one high":   {scores(9, 5, 5, 5), "high", want{advocate.NeedsRevision, "6", advocate.RuleHighResidual}},
		"mean 6.25":          {scores(6, 6, 6, 6, 6, 6, 6, 8), "", want{advocate.NeedsRevision, "6.25", advocate.RuleMeanRevise}},
		"mean 6.125 to even": {scores(6, 6, 6, 6, 6, 6, 5, 8), "", want{advocate.NeedsRevision, "6.12", advocate.RuleMeanRevise}},
		"mean 5.875 to even": {scores(6, 6, 6, 6, 6, 6, 6, 5), "", want{advocate.Survives, "5.88", advocate.RuleLowMean}},
		"mean 6.33":          {scores(6, 6, 6, 6, 6, 8), "", want{advocate.NeedsRevision, "6.33", advocate.RuleMeanRevise}},
		"mean 12":            {scores(12, 12, 12, 12), "low", want{advocate.NeedsRevision, "12", advocate.RuleMeanRevise}},
		"mean 12, high":      {scores(12, 12, 12, 12), "high", want{advocate.NeedsRevision, "12", advocate.RuleMeanRevise}},
		"mean 12.25":         {scores(12, 12, 10, 15), "low", want{advocate.Refuted, "12.25", advocate.RuleMeanRefutes}},
		"mean 11.75":         {scores(12, 12, 8, 15), "low", want{advocate.NeedsRevision, "11.75", advocate.RuleMeanRevise}},
		"highest":            {scores(25, 25, 25, 25), "low", want{advocate.Refuted, "25", advocate.RuleMeanRefutes}},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, advocate.Premortem)
			new(numbers).causes(t, r, c.scores, c.residual)
			if v := check(t, r, c.want); v.Horizon != "one year" {
				t.Errorf("horizon %q", v.Horizon)
			}
		})
	}
}

// A mean is judged as it is shown: 12.004… is 12 and refutes nothing, 12.006… is 12.01 and does.
func TestVerdictPremortemJudgesTheRoundedMean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		causes int
		want
	}{
		{250, want{advocate.NeedsRevision, "12", advocate.RuleMeanRevise}},
		{201, want{advocate.NeedsRevision, "12", advocate.RuleMeanRevise}},
		{199, want{advocate.Refuted, "12.01", advocate.RuleMeanRefutes}},
	} {
		r := begin(t, advocate.Premortem)
		scores := slices.Repeat([][2]int{{3, 4}}, c.causes-2)
		scores = append(scores, [2]int{5, 3}, [2]int{5, 2}) // 25, one more than two times 12
		new(numbers).causes(t, r, scores, "low")
		check(t, r, c.want)
	}
}

func TestVerdictAssumptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		evidence []string
		want
	}{
		"none bears":          {nil, want{advocate.Survives, "0", advocate.RuleSupported}},
		"all verified":        {[]string{"verified", "verified", "verified", "verified"}, want{advocate.Survives, "0", advocate.RuleSupported}},
		"one partial":         {[]string{"partial", "verified"}, want{advocate.Survives, "1", advocate.RuleSupported}},
		"two partial":         {[]string{"partial", "partial"}, want{advocate.NeedsRevision, "2", advocate.RuleTwoHalfSupported}},
		"one none":            {[]string{"none"}, want{advocate.NeedsRevision, "1", advocate.RuleOneUnsupported}},
		"one none, 3 partial": {[]string{"none", "partial", "partial", "partial"}, want{advocate.NeedsRevision, "4", advocate.RuleOneUnsupported}},
		"two none":            {[]string{"none", "none"}, want{advocate.Refuted, "2", advocate.RuleTwoUnsupported}},
	} {
		t.Run(name, func(t *testing.T) {
			r := begin(t, advocate.Assumptions)
			new(numbers).assumptions(t, r, c.evidence...)
			check(t, r, c.want)
		})
	}
}

func TestVerdictSteelman(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		conceded, countered int
		want
	}{
		{0, 3, want{advocate.Survives, "0", advocate.RuleMostCountered}},
		{1, 2, want{advocate.Survives, "1", advocate.RuleMostCountered}},
		{2, 3, want{advocate.Survives, "2", advocate.RuleMostCountered}},
		{2, 2, want{advocate.NeedsRevision, "2", advocate.RuleMostConceded}},
		{2, 1, want{advocate.NeedsRevision, "2", advocate.RuleMostConceded}},
		{3, 0, want{advocate.Refuted, "3", advocate.RuleAllConceded}},
	} {
		r := begin(t, advocate.Steelman)
		new(numbers).points(t, r, c.conceded, c.countered)
		check(t, r, c.want)
	}
}

// gauntlet plays all nine phases; the letters say how each lens ends: x refutes, v asks for revision,
// s survives.
func gauntlet(t *testing.T, ends string) *advocate.Review {
	t.Helper()
	r, n := begin(t, advocate.Gauntlet), &numbers{}
	n.counterarguments(t, r, []int{4, 4, 3}, map[byte][]string{'x': {h, h, x}, 'v': {h, x, x}, 's': {x, x, x}}[ends[0]])
	n.assumptions(t, r, map[byte][]string{'x': {"none", "none"}, 'v': {"none"}, 's': {"partial"}}[ends[1]]...)
	n.causes(t, r, map[byte][][2]int{
		'x': {{5, 5}, {5, 5}, {5, 5}, {5, 5}}, 'v': {{3, 3}, {3, 3}, {3, 3}, {3, 3}}, 's': {{3, 3}, {1, 1}, {1, 1}, {1, 1}},
	}[ends[2]], "low")
	end := map[byte][2]int{'x': {3, 0}, 'v': {2, 1}, 's': {0, 3}}[ends[3]]
	n.points(t, r, end[0], end[1])
	return r
}

func TestVerdictGauntlet(t *testing.T) {
	t.Parallel()
	for ends, w := range map[string]want{
		"ssss": {advocate.Survives, "0", advocate.RuleLensesSurvive},
		"vsss": {advocate.Survives, "1", advocate.RuleLensesSurvive},
		"sssv": {advocate.Survives, "1", advocate.RuleLensesSurvive},
		"vvss": {advocate.NeedsRevision, "2", advocate.RuleTwoLensesRevise},
		"vvvv": {advocate.NeedsRevision, "4", advocate.RuleTwoLensesRevise},
		"xsss": {advocate.NeedsRevision, "2", advocate.RuleOneLensRefutes},
		"ssxs": {advocate.NeedsRevision, "2", advocate.RuleOneLensRefutes},
		"xvvv": {advocate.NeedsRevision, "5", advocate.RuleOneLensRefutes},
		"xxss": {advocate.Refuted, "4", advocate.RuleTwoLensesRefute},
		"ssxx": {advocate.Refuted, "4", advocate.RuleTwoLensesRefute},
		"xxxx": {advocate.Refuted, "8", advocate.RuleTwoLensesRefute},
	} {
		r := gauntlet(t, ends)
		v := check(t, r, w)
		var got strings.Builder
		for _, l := range v.Lenses {
			got.WriteString(map[advocate.Assessment]string{advocate.Refuted: "x", advocate.NeedsRevision: "v", advocate.Survives: "s"}[l.Value.Assessment])
		}
		if got.String() != ends {
			t.Errorf("lenses end %s, want %s", got.String(), ends)
		}
	}
}

func TestGauntletGoesThroughNinePhases(t *testing.T) {
	t.Parallel()
	r, n := begin(t, advocate.Gauntlet), &numbers{}
	var seen []string
	look := func() {
		in := r.Instructions()
		seen = append(seen, fmt.Sprintf("%s %s %s", in.Step, in.Lens, in.Phase))
	}
	submit := func(items ...any) {
		look()
		play(t, r, items...)
	}
	submit(obj{"text": n.next(), "category": "scope", "severity": 3}, obj{"text": n.next(), "category": "evidence", "severity": 1}, obj{"text": n.next(), "category": "scope", "severity": 1})
	submit(obj{"index": 0, "verdict": h, "justification": n.next()})
	submit(obj{"text": n.next(), "load_bearing": true, "evidence": "none"}, obj{"text": n.next(), "load_bearing": false, "evidence": "none"},
		obj{"text": n.next(), "load_bearing": true, "evidence": "verified"}, obj{"text": n.next(), "load_bearing": true, "evidence": "verified"})
	submit(obj{"index": 0, "test": n.next()})
	submit(obj{"horizon": "one year"})
	submit(obj{"text": n.next(), "likelihood": 3, "impact": 3}, obj{"text": n.next(), "likelihood": 1, "impact": 1},
		obj{"text": n.next(), "likelihood": 1, "impact": 1}, obj{"text": n.next(), "likelihood": 2, "impact": 4})
	submit(obj{"index": 0, "action": n.next(), "residual_risk": "low"})
	submit(obj{"text": n.next()}, obj{"text": n.next()}, obj{"text": n.next()})
	submit(obj{"index": 2, "stance": "counter", "text": n.next()}, obj{"index": 0, "stance": "counter", "text": n.next()}, obj{"index": 1, "stance": "concede", "text": n.next()})
	want := []string{
		"1/9 devils_advocate counterarguments", "2/9 devils_advocate rebuttals",
		"3/9 assumptions assumptions", "4/9 assumptions tests",
		"5/9 premortem setup", "6/9 premortem failure_causes", "7/9 premortem mitigations",
		"8/9 steelman strongest_case", "9/9 steelman responses",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("phases:\n%s\nwant:\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
	if r.Status != advocate.Complete {
		t.Errorf("status %s", r.Status)
	}
}

// The JSON of a verdict has the names of the contract, in a sensible order.
func TestVerdictJSON(t *testing.T) {
	t.Parallel()
	v, err := gauntlet(t, "vxss").Verdict()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, name := range []string{
		"review_id", "claim", "mode", "context", "created_at", "completed_at", "assessment", "assessment_reason",
		"risk_score", "value", "scale", "explanation", "horizon", "skipped_phases", "lenses", "devils_advocate", "assumptions",
		"premortem", "steelman", `phases":{"counterarguments`, "rebuttal", "assumptions", "test", "note", "failure_causes", "mitigation", "strongest_case", "response",
	} {
		i := strings.Index(string(data[at:]), `"`+name+`":`)
		if i < 0 {
			t.Fatalf("no %q after byte %d of %s", name, at, data)
		}
		at += i
	}
	if strings.Contains(string(data), "null") {
		t.Errorf("null in %s", data)
	}
}
