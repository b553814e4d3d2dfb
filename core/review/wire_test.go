package review_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
)

var specFields = []string{
	"run_id", "task_type", "status", "current_step", "allowed_profiles", "allowed_bundles", "recommended_bundles",
	"selected_bundle", "selected_profile", "review_profiles", "current_profile", "completed_profiles", "deep_assessment",
	"deep_reason_code", "model_policy", "next_action", "read_only", "host_owns_decisions", "expires_at",
}

// keys returns the names of the outermost object in the order they stand in.
func keys(t testing.TB, data []byte) []string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(data)))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, k.(string))
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestWireFieldsAndRoundTrip(t *testing.T) {
	t.Parallel()
	for _, at := range reachable(t) {
		data, err := json.Marshal(at.s)
		if err != nil {
			t.Fatal(err)
		}
		if got := keys(t, data); !reflect.DeepEqual(got, specFields) {
			t.Fatalf("fields %v, want %v", got, specFields)
		}
		if at.s.Finalized && at.s.Step != review.AwaitingOutcome {
			continue // never stored: the wire does not tell a stop from a confirmed one
		}
		var back review.Session
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !reflect.DeepEqual(back, at.s) {
			t.Fatalf("round trip\n got %+v\nwant %+v", back, at.s)
		}
	}
}

// pythonSession is a row as the earlier Python edition wrote it: json.dumps
// with its separators, isoformat's time.
func pythonSession(expires string) string {
	return `{"run_id": "qar-0123456789abcdef0123456789abcdef", "task_type": "widget_review", "status": "active", ` +
		`"current_step": "deep_review", "allowed_profiles": ["pr_test_analyzer", "code_reviewer", "security_reviewer", ` +
		`"silent_failure_hunter", "code_explorer", "typescript_reviewer", "react_reviewer", "ruby_reviewer", "python_reviewer", ` +
		`"mobile_reviewer"], "allowed_bundles": ["ordinary_mr", "widget", "widget_js", "ruby_backend", "python_backend", "mobile", ` +
		`"security", "autotest", "requirements"], "recommended_bundles": ["widget", "widget_js"], "selected_bundle": "requirements", ` +
		`"selected_profile": "code_explorer", "review_profiles": ["code_explorer", "code_reviewer"], "current_profile": null, ` +
		`"completed_profiles": ["code_explorer", "code_reviewer"], "deep_assessment": {"should_escalate": true, ` +
		`"triggered_rules": ["high_risk_with_uncertainty"], "reason_codes": ["high_risk_domain", "evidence_gap"], ` +
		`"complexity_signal_count": 0}, "deep_reason_code": "high_risk_domain", "model_policy": {"provider": "openai", ` +
		`"model": "gpt-6-sol", "reasoning": "high", "reasoning_capabilities_verified": true}, "next_action": "Words of the \u0434\u0440\u0443\u0433\u043e\u0439 edition.", ` +
		`"read_only": true, "host_owns_decisions": true, "expires_at": "` + expires + `"}`
}

func TestReadsPythonPayloads(t *testing.T) {
	t.Parallel()
	whole := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-10-01T12:00:00.123456+00:00":    whole.Add(123456 * time.Microsecond),
		"2026-10-01T12:00:00+00:00":           whole,
		"2026-10-01T12:00:00Z":                whole,
		"2026-10-01T12:00:00.5Z":              whole.Add(500 * time.Millisecond),
		"2026-10-01T12:00:00.000001+00:00":    whole.Add(time.Microsecond),
		"2026-10-01T12:00:00.123456789+00:00": whole.Add(123456 * time.Microsecond),
	} {
		var s review.Session
		if err := json.Unmarshal([]byte(pythonSession(text)), &s); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if s.ExpiresAt != want {
			t.Errorf("%s: expires %v, want %v", text, s.ExpiresAt, want)
		}
		if s.Deep != review.Assess(review.NewSignals(review.HighRiskDomain, review.EvidenceUncertain)) {
			t.Errorf("assessment %+v", s.Deep)
		}
		s, err := s.Advance(review.Report{Step: review.DeepReview, Status: review.Completed}, assign, want.Add(-time.Second), ttl)
		if err != nil || s.Step != review.Synthesis {
			t.Errorf("%s: does not continue: %v", text, err)
		}
	}
}

func TestNullListsAreReadAsEmpty(t *testing.T) {
	t.Parallel()
	s := begin(t, "other")
	data, _ := json.Marshal(s)
	text := strings.Replace(string(data), `"completed_profiles":[]`, `"completed_profiles":null`, 1)
	if text == string(data) {
		t.Fatal("completed_profiles is no empty list")
	}
	var back review.Session
	if err := json.Unmarshal([]byte(text), &back); err != nil || back != s {
		t.Fatalf("%+v, %v", back, err)
	}
	// An assessment without reasons keeps its lists.
	text = strings.NewReplacer(`"status": "active", "current_step": "deep_review"`, `"status": "active", "current_step": "synthesis"`,
		`"should_escalate": true`, `"should_escalate": false`, `["high_risk_with_uncertainty"]`, `null`,
		`["high_risk_domain", "evidence_gap"]`, `null`, `"deep_reason_code": "high_risk_domain"`, `"deep_reason_code": null`,
	).Replace(pythonSession("2026-10-01T12:00:00Z"))
	if err := json.Unmarshal([]byte(text), &back); err != nil {
		t.Fatal(err)
	}
	data, _ = json.Marshal(back)
	if !strings.Contains(string(data), `"triggered_rules":[],"reason_codes":[]`) {
		t.Fatalf("lists are not []: %s", data)
	}
}

func TestRefusesDamagedPayloads(t *testing.T) {
	t.Parallel()
	good := pythonSession("2026-10-01T12:00:00.123456+00:00")
	var s review.Session
	if err := json.Unmarshal([]byte(good), &s); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ field, old, new string }{
		{"", good, `null`},
		{"", good, `[]`},
		{"", good, `"text"`},
		{"", good, `{}`},
		{"", `"review_profiles": [`, `"review_profiles": [5, `},
		{"run_id", "qar-0123456789abcdef0123456789abcdef", "qar-0123456789ABCDEF0123456789abcdef"},
		{"run_id", "qar-0123456789abcdef0123456789abcdef", "qar-0123456789abcdef0123456789abcde"},
		{"run_id", "qar-0123456789abcdef0123456789abcdef", "run-0123456789abcdef0123456789abcdef"},
		{"task_type", "widget_review", "sk-secret"},
		{"status", `"status": "active"`, `"status": "paused"`},
		{"status", `"status": "active"`, `"status": "completed"`},
		{"status", `"status": "active"`, `"status": "awaiting_host_outcome"`},
		{"current_step", `"current_step": "deep_review"`, `"current_step": "sk-secret"`},
		{"selected", `"current_step": "deep_review"`, `"current_step": "triage"`},
		{"completed_profiles", `"current_step": "deep_review"`, `"current_step": "primary_review"`},
		{"selected_bundle", `"selected_bundle": "requirements"`, `"selected_bundle": "sk-secret"`},
		{"review_profiles", `"selected_bundle": "requirements"`, `"selected_bundle": null`},
		{"selected_profile", `"selected_profile": "code_explorer"`, `"selected_profile": "code_reviewer"`},
		{"selected_profile", `"selected_profile": "code_explorer"`, `"selected_profile": null`},
		{"selected_profile", `"selected_bundle": "requirements", "selected_profile": "code_explorer"`, `"selected_bundle": null, "selected_profile": "sk-secret"`},
		{"review_profiles", `"review_profiles": ["code_explorer", "code_reviewer"]`, `"review_profiles": ["code_reviewer", "code_explorer"]`},
		{"completed_profiles", `"completed_profiles": ["code_explorer", "code_reviewer"]`, `"completed_profiles": ["code_explorer"]`},
		{"completed_profiles", `"completed_profiles": ["code_explorer", "code_reviewer"]`, `"completed_profiles": ["code_reviewer", "code_explorer"]`},
		{"completed_profiles", `"completed_profiles": ["code_explorer", `, `"completed_profiles": ["code_explorer", "code_explorer", `},
		{"current_profile", `"current_profile": null`, `"current_profile": "code_reviewer"`},
		{"deep_assessment", `"should_escalate": true`, `"should_escalate": false`},
		{"deep_assessment", `"complexity_signal_count": 0`, `"complexity_signal_count": 5`},
		{"deep_assessment", `"evidence_gap"]`, `"sk-secret"]`},
		{"model_policy", `"provider": "openai"`, `"provider": "sk-secret"`},
		{"model_policy", `"model": "gpt-6-sol"`, `"model": "sk secret"`},
		{"model_policy", `"reasoning": "high"`, `"reasoning": "sk-secret"`},
		{"expires_at", "2026-10-01T12:00:00.123456+00:00", "2026-10-01 12:00:00"},
		{"expires_at", "2026-10-01T12:00:00.123456+00:00", "2026-10-01T12:00:00+03:00"},
		{"expires_at", "2026-10-01T12:00:00.123456+00:00", ""},
		{"expires_at", "2026-10-01T12:00:00.123456+00:00", "2026-10-01T2:00:00Z"},
		// The store's index would read the first one, or none.
		{"", `"status": "active"`, `"status": "blocked", "status": "active"`},
		{"status", `"status": "active"`, `"Status": "active"`},
	} {
		text := strings.Replace(good, tc.old, tc.new, 1)
		if text == good {
			t.Errorf("%s: nothing to damage: %s", tc.field, tc.old)
			continue
		}
		before := review.Session{RunID: "kept"}
		s := before
		err := s.UnmarshalJSON([]byte(text))
		if !errors.Is(err, review.ErrMalformed) || !strings.Contains(err.Error(), tc.field) {
			t.Errorf("%s -> %s: got %v, want %s", tc.old, tc.new, err, tc.field)
		}
		if s != before {
			t.Errorf("%s -> %s: the refused payload left traces", tc.old, tc.new)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats the value: %v", err)
		}
	}
	for i := range good { // truncated anywhere
		if err := s.UnmarshalJSON([]byte(good[:i])); !errors.Is(err, review.ErrMalformed) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	// The model policy stands exactly while a stage is due; deep assessment from the last profile on.
	for _, pair := range [][2]string{
		{`"model_policy": {"provider": "openai", "model": "gpt-6-sol", "reasoning": "high", "reasoning_capabilities_verified": true}`, `"model_policy": null`},
		{`"status": "active"`, `"status": "partial"`},
		{good[strings.Index(good, `{"should_escalate"`):strings.Index(good, `, "deep_reason_code"`)], `null`},
		{
			`{"should_escalate": true, "triggered_rules": ["high_risk_with_uncertainty"], "reason_codes": ["high_risk_domain", "evidence_gap"]`,
			`{"should_escalate": false, "triggered_rules": [], "reason_codes": []`, // what leads past the deep review
		},
	} {
		if err := s.UnmarshalJSON([]byte(strings.Replace(good, pair[0], pair[1], 1))); !errors.Is(err, review.ErrMalformed) {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

func TestRunID(t *testing.T) {
	t.Parallel()
	id := review.RunID([16]byte{0, 1, 0xfe, 15: 0xff})
	if id != "qar-0001fe000000000000000000000000ff" || !review.ValidRunID(id) {
		t.Fatal(id)
	}
	for _, bad := range []string{"", "qar-", id + "0", id[1:], strings.ToUpper(id), " " + id, strings.Replace(id, "f", "g", 1), id[:35] + "é"} {
		if review.ValidRunID(bad) {
			t.Errorf("%q passes", bad)
		}
	}
}

// FuzzUnmarshalJSON: whatever a row holds, it is refused or it is a state that
// goes out and comes back the same; and no error repeats it.
func FuzzUnmarshalJSON(f *testing.F) {
	f.Add([]byte(pythonSession("2026-10-01T12:00:00.123456+00:00")))
	f.Add([]byte(`{"RUN_ID":"qar-0123456789abcdef0123456789abcdef"}`))
	f.Add([]byte(`null`))
	for _, at := range reachable(f)[:60] {
		data, _ := json.Marshal(at.s)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s review.Session
		if err := s.UnmarshalJSON(data); err != nil {
			if !errors.Is(err, review.ErrMalformed) || len(err.Error()) > 80 {
				t.Fatalf("odd error %v", err)
			}
			return
		}
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back review.Session
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("accepts %s, but not what it becomes: %s: %v", data, out, err)
		}
		if !reflect.DeepEqual(back, s) {
			t.Fatalf("%+v became %+v", s, back)
		}
	})
}

var sink review.Session

func BenchmarkTransition(b *testing.B) {
	triage := begin(b, "ordinary_review")
	steps := []struct {
		name string
		r    request
	}{
		{"triage", request{step: "triage", status: "completed", bundle: "widget"}},
		{"primary_review", request{step: "primary_review", status: "completed", completed: "code_explorer"}},
		{"stop", request{step: "primary_review", status: "blocked"}},
	}
	at := triage
	for _, st := range steps {
		report := review.Report{
			Step: review.Step(st.r.step), Status: review.Status(st.r.status), Bundle: "", CompletedProfile: "",
		}
		if st.r.bundle != "" {
			report.Bundle = "widget"
		}
		if st.r.completed != "" {
			report.CompletedProfile = "code_explorer"
		}
		b.Run(st.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink, _ = at.Advance(report, assign, start, ttl)
			}
		})
		at, _ = at.Advance(report, assign, start, ttl)
	}
	set := review.NewSignals(review.HighBlastRadius, review.EvidenceConflict)
	last := review.Report{Step: review.PrimaryReview, Status: review.Completed, CompletedProfile: "code_reviewer", Signals: &set}
	s, _ := triage.Advance(review.Report{Step: review.Triage, Status: review.Completed, Profile: "code_reviewer"}, assign, start, ttl)
	b.Run("last_profile_escalates", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = s.Advance(last, assign, start, ttl)
		}
	})
	b.Run("refused", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = triage.Advance(last, assign, start, ttl)
		}
	})
	if sink != triage {
		b.Fatal(fmt.Sprint("a refusal changed the state: ", sink))
	}
}

func BenchmarkMarshal(b *testing.B) {
	s := begin(b, "ordinary_review")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	data := []byte(pythonSession("2026-10-01T12:00:00.123456+00:00"))
	b.ReportAllocs()
	for b.Loop() {
		if err := json.Unmarshal(data, &sink); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTransitionsAllocateNothing holds the budget of two allocations per
// transition beyond the state itself.
func TestTransitionsAllocateNothing(t *testing.T) {
	s := begin(t, "ordinary_review")
	r := review.Report{Step: review.Triage, Status: review.Completed, Bundle: "widget"}
	if n := testing.AllocsPerRun(100, func() { sink, _ = s.Advance(r, assign, start, ttl) }); n > 2 {
		t.Errorf("%v allocations", n)
	}
}
