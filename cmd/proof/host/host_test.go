package host

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// serve runs a server of the program.
func serve(t *testing.T, path string, words ...string) *fleet.Server {
	t.Helper()
	home := t.TempDir()
	s, err := fleet.Start(t.Context(), path, words, fleet.Env(home, "QA_ORCHESTRATOR_SESSION_STORE_PATH="+filepath.Join(home, "s.sqlite3")), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

// carry takes a review to its end, and looks where it stands after each call.
func carry(t *testing.T, s *fleet.Server, p Play) (calls int) {
	t.Helper()
	for !p.Over() {
		if calls++; calls > 200 {
			t.Fatalf("%s does not end", p.ID())
		}
		c := p.Next()
		answer, err := s.Call(t.Context(), c.Tool, c.Arguments)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Take(answer); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
	}
	return calls
}

var busy = Manners{Look: 20, Prepare: 20, Stop: 3}

func TestPlays(t *testing.T) {
	t.Parallel()
	path, err := fleet.Build(t.Context(), t.TempDir(), "cmd/qa-orch", false)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, path, "serve")
	for i := range uint64(30) {
		carry(t, s, NewReview(busy, rand.New(rand.NewPCG(1, i))))
	}
	s = serve(t, path, "advocate", "serve", "--data-dir", t.TempDir())
	for i := range uint64(30) {
		p, err := NewStressTest(busy, rand.New(rand.NewPCG(1, i)))
		if err != nil {
			t.Fatal(err)
		}
		carry(t, s, p)
	}
}

func answerOf(t *testing.T, v any) fleet.Result {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Result{Structured: data}
}

// What a crash must not do is noticed.
func TestFindNoticesWhatIsLost(t *testing.T) {
	t.Parallel()
	at := func(step string, completed ...string) map[string]any {
		return map[string]any{"run_id": "qar-1", "status": "active", "current_step": step, "review_profiles": []string{"a", "b"}, "completed_profiles": completed}
	}
	for name, c := range map[string]struct {
		was, is  any // nil: unknown run_id
		underWay bool
		lost     bool
	}{
		"as acknowledged":                {at("primary_review", "a"), at("primary_review", "a"), true, false},
		"one step on":                    {at("triage"), at("primary_review"), true, false},
		"one step on, nothing under way": {at("triage"), at("primary_review"), false, true},
		"two steps on":                   {at("triage"), at("primary_review", "a"), true, true},
		"a step back":                    {at("primary_review", "a"), at("primary_review"), true, true},
		"a profile on":                   {at("primary_review"), at("primary_review", "a"), true, false},
		"the last profile on":            {at("primary_review", "a"), at("synthesis", "a", "b"), true, false},
		"a profile is missing":           {at("primary_review", "a"), at("synthesis", "a"), true, true},
		"gone":                           {at("primary_review", "a"), nil, true, true},
	} {
		r := NewReview(Manners{}, rand.New(rand.NewPCG(1, 1)))
		if err := r.Take(answerOf(t, c.was)); err != nil {
			t.Fatal(err)
		}
		r.Next()
		answer := fleet.Result{IsError: true, Text: "unknown run_id: gone"}
		if c.is != nil {
			answer = answerOf(t, c.is)
		}
		if err := r.Find(answer, c.underWay); (err != nil) != c.lost {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := NewStressTest(Manners{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s.Next()
	start := map[string]any{"review_id": "rev-1", "instructions": map[string]any{"phase": "strongest_case"}}
	if err := s.Take(answerOf(t, start)); err != nil {
		t.Fatal(err)
	}
	sent := len(s.Next().Arguments["items"].([]map[string]any))
	standing := func(n int) fleet.Result {
		return answerOf(t, map[string]any{
			"review_id": "rev-1", "status": "active", "phase": "strongest_case", "items_per_phase": map[string]int{"strongest_case": n},
			"instructions": map[string]any{"phase": "strongest_case"},
		})
	}
	if err := s.Find(standing(sent+1), true); err == nil {
		t.Error("more items than were sent")
	}
	if err := s.Find(standing(0), false); err != nil {
		t.Error(err)
	}
	s.Next()
	if err := s.Take(fleet.Result{IsError: true, Text: "item 0: no"}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "item 0") {
		t.Errorf("a refusal: %v", err)
	}
}
