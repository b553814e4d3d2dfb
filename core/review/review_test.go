package review_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
)

func begin(t testing.TB, task string) review.Session {
	t.Helper()
	s, err := review.Start(runID, catalog.TaskType(task), assign, start, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sameAsModel compares everything that the wire shows.
func sameAsModel(t testing.TB, s review.Session, m model) {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	next, _ := got["next_action"].(string)
	delete(got, "next_action")
	if want := m.wire(runID, review.FormatTime(s.ExpiresAt)); !reflect.DeepEqual(got, want) {
		t.Fatalf("state differs from the contract\n got %v\nwant %v", got, want)
	}
	checkNextAction(t, next, m)
	if s.Finalized != m.finalized {
		t.Fatalf("finalized = %v, want %v", s.Finalized, m.finalized)
	}
}

// checkNextAction holds what the sentence must tell the host.
func checkNextAction(t testing.TB, text string, m model) {
	t.Helper()
	var want []string
	switch {
	case m.finalized:
		want = []string{m.status}
	case isOutcome(m.status):
		want = []string{"finish_qa_orchestration", "outcome=" + m.status}
	case m.step == "awaiting_host_outcome":
		want = []string{"finish_qa_orchestration", "outcome"}
	default:
		want = []string{"advance_qa_orchestration", "completed_step=" + m.step}
		if m.current() != "" {
			want = append(want, "completed_profile="+m.current())
		}
		if m.last() {
			want = append(want, "risk_signals")
		}
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Fatalf("next_action %q does not mention %q", text, w)
		}
	}
	if strings.Contains(text, "\n") || !strings.HasSuffix(text, ".") || strings.Count(text, ". ") > 0 {
		t.Fatalf("next_action is not one sentence: %q", text)
	}
}

// routes returns every bundle and every single profile as the triage request
// that chooses it.
func routes() []request {
	var out []request
	for _, b := range specBundles {
		out = append(out, request{step: "triage", status: "completed", bundle: b, signals: -1})
	}
	for _, p := range specProfiles {
		out = append(out, request{step: "triage", status: "completed", profile: p, signals: -1})
	}
	return out
}

func TestEveryRouteSignalsAndOutcome(t *testing.T) {
	t.Parallel()
	reviews := 0
	for _, choice := range routes() {
		t.Run(choice.bundle+choice.profile, func(t *testing.T) {
			for combination := range 1 << len(specSignals) {
				for _, outcome := range []string{"completed", "partial", "blocked"} {
					wholeReview(t, choice, combination, outcome)
					reviews++
				}
			}
		})
	}
	if want := (9 + 10) * 128 * 3; reviews != want {
		t.Fatalf("%d reviews, want %d", reviews, want)
	}
}

// wholeReview runs one review to its end and compares each state. The wire is
// compared in full where the signals enter and at the end; reachable states get
// that in TestEveryInputAtEveryState.
func wholeReview(t *testing.T, choice request, combination int, outcome string) {
	t.Helper()
	s, m := begin(t, "ordinary_review"), newModel("ordinary_review")
	now := start
	step := func(r request, full bool) {
		t.Helper()
		now = now.Add(time.Minute)
		next, refused := m.apply(r)
		if refused != nil {
			t.Fatalf("the model refuses %+v: %v", r, refused)
		}
		got, err := send(s, r, now)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		if want := now.Add(ttl).Truncate(time.Microsecond); !got.ExpiresAt.Equal(want) {
			t.Fatalf("expires %v, want %v", got.ExpiresAt, want)
		}
		s, m = got, next
		if full {
			sameAsModel(t, s, m)
			return
		}
		if string(s.Status) != m.status || string(s.Step) != m.step || string(s.Current()) != m.current() || s.Done != m.done {
			t.Fatalf("after %+v: %+v, want %+v", r, s, m)
		}
	}
	step(choice, false)
	for _, p := range m.route() {
		r := request{step: "primary_review", status: "completed", completed: p, signals: -1}
		last := m.last()
		if last {
			r.signals = combination
		}
		step(r, last && outcome == "completed")
	}
	if m.step == "deep_review" {
		step(request{step: "deep_review", status: "completed", signals: -1}, false)
	}
	step(request{step: "synthesis", status: "completed", signals: -1}, false)
	if s.Status != review.Awaiting || s.Policy != (policy.Assignment{}) {
		t.Fatalf("at the end: %+v", s)
	}
	step(request{finish: outcome}, outcome == "blocked" && combination == 127)
}

func TestAssessMatchesTheRules(t *testing.T) {
	t.Parallel()
	for combination := range 128 {
		data, err := json.Marshal(review.Assess(*signals(combination)))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if want := specAssess(combination); !reflect.DeepEqual(got, want) {
			t.Errorf("%07b: got %v, want %v", combination, got, want)
		}
	}
}

func TestSignalSet(t *testing.T) {
	t.Parallel()
	var names []string
	for _, n := range review.SignalNames() {
		names = append(names, string(n))
	}
	if !slices.Equal(names, specSignals) {
		t.Fatalf("signals are %v", names)
	}
	set := review.NewSignals(review.EvidenceConflict, "no_such_signal", review.EvidenceConflict)
	for _, n := range review.SignalNames() {
		if set.Has(n) != (n == review.EvidenceConflict) {
			t.Errorf("Has(%s) = %v", n, set.Has(n))
		}
	}
	if set.Has("no_such_signal") || set != review.NewSignals(review.EvidenceConflict) {
		t.Error("an unknown name got into the set")
	}
}

func TestVocabularies(t *testing.T) {
	t.Parallel()
	check := func(got any, want ...string) {
		t.Helper()
		if g := strings.Trim(fmt.Sprint(got), "[]"); g != strings.Join(want, " ") {
			t.Errorf("got %s, want %v", g, want)
		}
	}
	check(review.Statuses(), "active", "awaiting_host_outcome", "completed", "partial", "blocked")
	check(review.Outcomes(), "completed", "partial", "blocked")
	check(review.Steps(), "triage", "primary_review", "deep_review", "synthesis", "awaiting_host_outcome")
	check(review.WorkingSteps(), "triage", "primary_review", "deep_review", "synthesis")
	check(review.Rules(), "high_risk_with_uncertainty", "multiple_complexity_signals", "critical_evidence_conflict")
	seen := map[review.Reason]bool{}
	for combination := range 128 {
		for _, r := range review.Assess(*signals(combination)).Reasons {
			seen[r] = true
		}
	}
	if len(seen) != len(review.Reasons()) {
		t.Errorf("rules give %d reasons, Reasons lists %d", len(seen), len(review.Reasons()))
	}
	for _, r := range review.Reasons() {
		if !seen[r] {
			t.Errorf("no rule gives %s", r)
		}
	}
}

func TestEveryTaskStarts(t *testing.T) {
	t.Parallel()
	for task := range specTasks {
		sameAsModel(t, begin(t, task), newModel(task))
	}
	for _, task := range []catalog.TaskType{"", "Ordinary_Review", "ordinary_review "} {
		_, err := review.Start(runID, task, assign, start, ttl)
		wantRefusal(t, err, []string{phraseArguments})
	}
}

func wantRefusal(t testing.TB, err error, phrases []string) *review.Error {
	t.Helper()
	var refused *review.Error
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want one of %q", err, phrases)
	}
	if !slices.Contains(phrases, string(refused.Code)) {
		t.Fatalf("got %q, want one of %q", refused.Code, phrases)
	}
	if refused.Error() != string(refused.Code) {
		t.Fatalf("Error() = %q for code %q", refused.Error(), refused.Code)
	}
	names := []string{"task_type", "completed_step", "status", "selected_bundle", "selected_profile", "completed_profile", "risk_signals", "outcome"}
	if (refused.Code == review.CodeArguments) != slices.Contains(names, refused.Argument) || (refused.Argument == "") != (refused.Misfit == "") {
		t.Fatalf("%q names argument %q, misfit %q", refused.Code, refused.Argument, refused.Misfit)
	}
	return refused
}

// state pairs a session with what the contract makes of the same requests.
type state struct {
	s review.Session
	m model
}

// reachable walks breadth-first through every state that legal requests lead
// to from triage, for every route. Signals are {} and all of them; the other
// combinations lead to states that differ in nothing but the assessment.
func reachable(t testing.TB) []state {
	t.Helper()
	var all []state
	seen := map[model]bool{}
	add := func(st state) {
		if !seen[st.m] {
			seen[st.m] = true
			all = append(all, st)
		}
	}
	add(state{begin(t, "ordinary_review"), newModel("ordinary_review")})
	for i := 0; i < len(all); i++ {
		at := all[i]
		var tries []request
		for _, status := range []string{"completed", "partial", "blocked"} {
			tries = append(tries, request{finish: status})
			for _, combination := range []int{-1, 0, 127} {
				tries = append(tries, request{step: at.m.step, status: status, completed: at.m.current(), signals: combination})
			}
			tries = append(tries, request{step: at.m.step, status: status, signals: -1})
		}
		tries = append(tries, routes()...)
		for _, r := range tries {
			next, refused := at.m.apply(r)
			if refused != nil {
				continue
			}
			s, err := send(at.s, r, start)
			if err != nil {
				t.Fatalf("at %+v: %+v: %v", at.m, r, err)
			}
			add(state{s, next})
		}
	}
	return all
}

// inputs returns every combination of arguments: each completed_step and status
// in and out of its enum, and each other argument left out, fitting and not
// fitting; then words that no argument takes.
func inputs(m model) []request {
	completed := []string{"", "mobile_reviewer"}
	if c := m.current(); c != "" && c != "mobile_reviewer" {
		completed = append(completed, c)
	}
	var out []request
	for _, step := range []string{"triage", "primary_review", "deep_review", "synthesis"} {
		for _, status := range []string{"completed", "partial", "blocked"} {
			for _, bundle := range []string{"", "widget"} {
				for _, profile := range []string{"", "code_explorer"} {
					for _, c := range completed {
						for _, combination := range []int{-1, 0, 127} {
							out = append(out, request{"", step, status, bundle, profile, c, combination})
						}
					}
				}
			}
		}
	}
	for _, r := range []request{{bundle: "no_such_bundle"}, {profile: "no_such_profile"}, {completed: "no_such_profile"}, {completed: "Code_Explorer"}} {
		r.step, r.status, r.signals = m.step, "completed", -1
		out = append(out, r)
		r.status = "blocked"
		out = append(out, r)
	}
	for _, word := range []string{"", "awaiting_host_outcome", "active", "Triage"} {
		out = append(out,
			request{step: word, status: "completed", completed: m.current(), signals: -1},
			request{step: word, status: "partial", signals: -1},
			request{step: m.step, status: word, completed: m.current(), signals: 0})
	}
	for _, outcome := range []string{"completed", "partial", "blocked", "active", "awaiting_host_outcome", "done"} {
		out = append(out, request{finish: outcome})
	}
	return out
}

func TestEveryInputAtEveryState(t *testing.T) {
	t.Parallel()
	states := reachable(t)
	if len(states) < 500 {
		t.Fatalf("only %d states", len(states))
	}
	t.Logf("%d states, %d inputs at the first", len(states), len(inputs(states[0].m)))
	later := start.Add(time.Minute)
	accepted, refusals := 0, map[review.Code]int{}
	for _, at := range states {
		sameAsModel(t, at.s, at.m)
		for _, r := range inputs(at.m) {
			next, phrases := at.m.apply(r)
			before := at.s
			got, err := send(at.s, r, later)
			if at.s != before {
				t.Fatalf("%+v: %+v changed the session it was called on", at.m, r)
			}
			if phrases == nil {
				if err != nil {
					t.Fatalf("%+v: %+v: %v", at.m, r, err)
				}
				accepted++
				sameAsModel(t, got, next)
				if at.s.Finalized && got != at.s {
					t.Fatalf("%+v: finishing again changed the session", at.m)
				}
				continue
			}
			refused := wantRefusal(t, err, phrases)
			refusals[refused.Code]++
			if got != at.s {
				t.Fatalf("%+v: refused %+v, yet the session changed", at.m, r)
			}
			if refused.Step != at.s.Step || refused.Status != at.s.Status || refused.Profile != at.s.Current() {
				t.Fatalf("%+v: the refusal speaks of %+v", at.m, refused)
			}
		}
	}
	if accepted == 0 {
		t.Fatal("nothing was accepted")
	}
	for _, phrase := range []string{
		phraseTerminal, phraseIllegal, phraseConflict, phraseNotReady, phraseArguments, phraseProfile, phraseMissing, phraseEarly,
	} {
		if refusals[review.Code(phrase)] == 0 {
			t.Errorf("%q never happened", phrase)
		}
	}
}

func TestExpiredFromTheVeryInstant(t *testing.T) {
	t.Parallel()
	for _, at := range reachable(t) {
		// Of arguments that don't fit and a session that has expired, the session is named first.
		for _, r := range []request{{step: "triage", status: "completed", signals: 127}, {finish: "completed"}, {finish: "partial"}} {
			got, err := send(at.s, r, at.s.ExpiresAt)
			wantRefusal(t, err, []string{"expired session"})
			if got != at.s {
				t.Fatal("an expired session changed")
			}
			if _, err := send(at.s, r, at.s.ExpiresAt.Add(-time.Nanosecond)); err != nil && err.Error() == "expired session" {
				t.Fatalf("%+v expired too early", at.m)
			}
		}
		if _, err := send(at.s, request{finish: "done"}, at.s.ExpiresAt); err == nil || err.Error() != phraseArguments {
			t.Fatalf("the shape of the arguments comes first, got %v", err)
		}
	}
}

func TestPolicyIsAskedOnlyForAStage(t *testing.T) {
	t.Parallel()
	none := errors.New("no policy")
	calls := 0
	unavailable := func(policy.Stage) (policy.Assignment, error) { calls++; return policy.Assignment{}, none }
	if s, err := review.Start(runID, catalog.OtherTask, unavailable, start, ttl); !errors.Is(err, none) || !s.ExpiresAt.IsZero() {
		t.Fatalf("start: %+v, %v", s, err)
	}
	needed, free := 0, 0
	for _, at := range reachable(t) {
		for _, r := range inputs(at.m) {
			if r.finish != "" {
				continue
			}
			next, refused := at.m.apply(r)
			calls = 0
			got, err := at.s.Advance(review.Report{
				Step: review.Step(r.step), Status: review.Status(r.status), Bundle: catalog.Bundle(r.bundle),
				Profile: catalog.Profile(r.profile), CompletedProfile: catalog.Profile(r.completed), Signals: signals(r.signals),
			}, unavailable, start, ttl)
			switch {
			case refused != nil:
				if errors.Is(err, none) || calls > 0 {
					t.Fatalf("%+v: %+v asks for a policy before it is refused", at.m, r)
				}
			case next.status == "active":
				needed++
				if !errors.Is(err, none) || got != at.s {
					t.Fatalf("%+v: %+v: got %v, session changed: %v", at.m, r, err, got != at.s)
				}
			default:
				free++
				if err != nil || calls > 0 {
					t.Fatalf("%+v: %+v waits for a policy it does not need: %v", at.m, r, err)
				}
			}
		}
	}
	if needed == 0 || free == 0 {
		t.Fatalf("needed %d, free %d", needed, free)
	}
}

func TestSessionFacts(t *testing.T) {
	t.Parallel()
	for _, at := range reachable(t) {
		if got, want := at.s.CountsAsActive(), at.m.status == "active" || at.m.status == "awaiting_host_outcome"; got != want {
			t.Fatalf("%+v: counts as active: %v", at.m, got)
		}
		if got, want := at.s.Stopped(), isOutcome(at.m.status) && !at.m.finalized; got != want {
			t.Fatalf("%+v: stopped: %v", at.m, got)
		}
	}
}

func TestExpiryIsUTCInMicroseconds(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("X", 3*3600)
	got := review.Expiry(time.Date(2026, 1, 1, 2, 0, 0, 999999999, zone), time.Second)
	if want := time.Date(2025, 12, 31, 23, 0, 1, 999999000, time.UTC); got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}
