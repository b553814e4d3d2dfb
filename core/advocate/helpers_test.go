package advocate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/qa-orch/qa-orch/core/advocate"
)

// obj is a raw item.
type obj = map[string]any

// raw makes raw items of objects the way they arrive: as JSON that is decoded.
func raw(t testing.TB, items ...any) []any {
	t.Helper()
	data, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := advocate.DecodeItems(data)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// fact is a text of content words that no other number has.
func fact(n int) string {
	return fmt.Sprintf("measured ledger%d replica%d tenant%d refund%d outage%d", n, n, n, n, n)
}

// begin starts a review of a claim that shares no word with facts.
func begin(t testing.TB, mode advocate.Mode) *advocate.Review {
	t.Helper()
	r, err := advocate.New("rev-test", "Release 4.2 of the portal may go out on Friday", mode, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// play submits items that must be accepted.
func play(t testing.TB, r *advocate.Review, items ...any) *advocate.SubmitResult {
	t.Helper()
	result, err := r.Submit(raw(t, items...), noon)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// codeOf is the code of an Error, or empty.
func codeOf(err error) advocate.Code {
	var e *advocate.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// numbers gives each text of a test another number.
type numbers struct{ n int }

func (n *numbers) next() string {
	n.n++
	return fact(n.n)
}

// counterarguments plays both phases of the devil's advocate: one counterargument for each verdict,
// with the severity; severity below 3 means that there is no rebuttal.
func (n *numbers) counterarguments(t testing.TB, r *advocate.Review, severities []int, verdicts []string) {
	t.Helper()
	var items, rebuttals []any
	categories := []string{"evidence", "scope"}
	for i, s := range severities {
		items = append(items, obj{"text": n.next(), "category": categories[i%2], "severity": s})
		if s >= 3 {
			rebuttals = append(rebuttals, obj{"index": i, "verdict": verdicts[i], "justification": n.next()})
		}
	}
	play(t, r, items...)
	if len(rebuttals) > 0 {
		play(t, r, rebuttals...)
	}
}

// causes plays a premortem: causes of likelihood × impact, and mitigations of the residual risk where
// they are needed.
func (n *numbers) causes(t testing.TB, r *advocate.Review, scores [][2]int, residual string) {
	t.Helper()
	play(t, r, obj{"horizon": "one year"})
	var items, mitigations []any
	for i, s := range scores {
		items = append(items, obj{"text": n.next(), "likelihood": s[0], "impact": s[1]})
		if s[0]*s[1] >= 9 {
			mitigations = append(mitigations, obj{"index": i, "action": n.next(), "residual_risk": residual})
		}
	}
	play(t, r, items...)
	if len(mitigations) > 0 {
		play(t, r, mitigations...)
	}
}

// assumptions plays both phases: one load-bearing assumption of each evidence, and others that bear
// nothing to make up the number.
func (n *numbers) assumptions(t testing.TB, r *advocate.Review, evidence ...string) {
	t.Helper()
	var items, tests []any
	for i, e := range evidence {
		items = append(items, obj{"text": n.next(), "load_bearing": true, "evidence": e})
		if e != "verified" {
			tests = append(tests, obj{"index": i, "test": n.next()})
		}
	}
	for len(items) < 4 {
		items = append(items, obj{"text": n.next(), "load_bearing": false, "evidence": "none"})
	}
	play(t, r, items...)
	if len(tests) > 0 {
		play(t, r, tests...)
	}
}

// points plays a steelman: as many points conceded and countered.
func (n *numbers) points(t testing.TB, r *advocate.Review, conceded, countered int) {
	t.Helper()
	var items, responses []any
	for i := range conceded + countered {
		stance := "concede"
		if i >= conceded {
			stance = "counter"
		}
		items = append(items, obj{"text": n.next()})
		responses = append(responses, obj{"index": i, "stance": stance, "text": n.next()})
	}
	play(t, r, items...)
	play(t, r, responses...)
}
