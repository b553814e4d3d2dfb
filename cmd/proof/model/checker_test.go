package model

import (
	"encoding/json"
	"testing"

	"github.com/anishathalye/porcupine"
)

// TestChecker holds the checker itself to histories that are plainly right or wrong.
func TestChecker(t *testing.T) {
	t.Parallel()
	policy := policyFiles[0]
	triage, _ := policy.assign("triage")
	s0 := session{ID: "qar-1", Task: "other", Status: "active", Step: "triage", Policy: triage, Expires: noon + ttl}
	choose := report{Step: "triage", Status: "completed", Profile: "code_reviewer"}
	s1, _ := s0.advance(choose, noon, ttl, policy.assign)
	stop := report{Step: "triage", Status: "blocked"}
	s2, _ := s0.advance(stop, noon, ttl, policy.assign)
	s3, _ := s2.finish("blocked", noon, ttl)

	shows := func(s session) answer {
		text, err := json.Marshal(s.show("Do what is due now."))
		if err != nil {
			t.Fatal(err)
		}
		return answer{State: text}
	}
	refused := func(phrase string) answer { return answer{Refusal: phrase + ": do something else."} }
	type calls []record
	start := record{Call: call{Tool: "start", Task: "other", Run: "qar-1"}, Answer: shows(s0)}
	advance := func(r report, a answer) record {
		return record{Call: call{Tool: "advance", Run: "qar-1", Report: r}, Answer: a}
	}
	finish := func(a answer) record {
		return record{Call: call{Tool: "finish", Run: "qar-1", Outcome: "blocked"}, Answer: a}
	}
	get := func(a answer) record { return record{Call: call{Tool: "get", Run: "qar-1"}, Answer: a} }
	lists := func(rows ...listed) record {
		return record{Call: call{Tool: "list", Run: "qar-1"}, Answer: answer{List: rows}}
	}
	lost := func(r record) record { r.Answer, r.Unanswered = answer{}, true; return r }
	by := func(server int, r record) record { r.Server = server; return r }
	amiss := func(r record) record { r.mishap = true; return r }
	crowded := func(r record) record { r.crowded = true; return r }

	for name, tc := range map[string]struct {
		calls calls
		want  bool
	}{
		"a step, seen by all":                  {calls{start, advance(choose, shows(s1)), by(1, get(shows(s1)))}, true},
		"a step is lost":                       {calls{start, advance(choose, shows(s1)), get(shows(s0))}, false},
		"a session is lost":                    {calls{start, get(refused(unknownRun))}, false},
		"two win":                              {calls{start, advance(choose, shows(s1)), by(1, advance(choose, shows(s1)))}, false},
		"one of two wins":                      {calls{start, advance(choose, shows(s1)), by(1, advance(choose, refused(illegal)))}, true},
		"an unanswered step happened":          {calls{start, lost(advance(choose, answer{})), get(shows(s1))}, true},
		"an unanswered step did not":           {calls{start, lost(advance(choose, answer{})), get(shows(s0))}, true},
		"it happens late":                      {calls{start, lost(advance(choose, answer{})), get(shows(s0)), get(shows(s1))}, false},
		"it is taken back":                     {calls{start, lost(advance(choose, answer{})), get(shows(s1)), get(shows(s0))}, false},
		"the store is refused for a reason":    {calls{start, amiss(get(refused(noStore)))}, true},
		"and for none":                         {calls{start, get(refused(noStore))}, false},
		"a refused step happened":              {calls{start, amiss(advance(choose, refused(noStore))), get(shows(s1))}, false},
		"finalized, known there":               {calls{start, advance(stop, shows(s2)), finish(shows(s3)), get(shows(s3)), by(1, get(refused(unknownRun)))}, true},
		"finalized, known elsewhere":           {calls{start, advance(stop, shows(s2)), finish(shows(s3)), by(1, get(shows(s3)))}, false},
		"finalized, unknown there":             {calls{start, advance(stop, shows(s2)), finish(shows(s3)), get(refused(unknownRun))}, false},
		"evicted where it is crowded":          {calls{start, advance(stop, shows(s2)), crowded(get(refused(unknownRun))), get(refused(unknownRun))}, true},
		"active ones are not":                  {calls{start, crowded(get(refused(unknownRun)))}, false},
		"none comes back":                      {calls{start, advance(stop, shows(s2)), crowded(get(refused(unknownRun))), get(shows(s2))}, false},
		"listed as it is":                      {calls{start, lists(s0.listed()), advance(choose, shows(s1)), lists(s1.listed())}, true},
		"listed as it was":                     {calls{start, advance(choose, shows(s1)), lists(s0.listed())}, false},
		"not listed":                           {calls{start, lists()}, false},
		"refused for what it does not lack":    {calls{start, advance(choose, refused(wrongProfile))}, false},
		"a lifetime that no clock ever showed": {calls{start, advance(choose, shows(session{s1.ID, s1.Task, s1.Status, s1.Step, "", s1.Profile, 0, false, 0, s1.Policy, false, s1.Expires + 1}))}, false},
	} {
		var operations []porcupine.Operation
		for i := range tc.calls {
			r := &tc.calls[i]
			r.limits, r.clocks, r.latest, r.policies = limits{ttl, 9}, []instant{noon}, noon, []*policyFile{policy}
			operations = append(operations, porcupine.Operation{Input: r, Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		if got := porcupine.CheckOperations(checker, operations); got != tc.want {
			t.Errorf("%s: accepted is %v", name, got)
		}
	}
}
