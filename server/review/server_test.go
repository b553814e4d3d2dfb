package review_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	core "github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/server/review"
	"github.com/qa-orch/qa-orch/server/servertest"
)

// fixture is a server in this process with a clock that the test moves.
type fixture struct {
	*servertest.Server
	now    time.Time
	policy string // path of the policy file
}

func newFixture(t *testing.T, tools settings.Tools) *fixture {
	t.Helper()
	f := &fixture{now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), policy: filepath.Join(t.TempDir(), "model-policy.json")}
	source := policy.NewSource(f.policy, filepath.Join(filepath.Dir(f.policy), "models.toml"), nil)
	o := orchestrator.New(store.NewMemory(), source, orchestrator.Limits{TTL: 30 * time.Minute, MaxSessions: 3},
		orchestrator.WithClock(func() time.Time { return f.now }))
	s, err := review.New(o, review.Options{Tools: tools, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	f.Server = servertest.New(t, s.MCP)
	return f
}

func TestToolsAreExactlyTheContracts(t *testing.T) {
	t.Parallel()
	names := func(f *fixture) (out []string) {
		for _, tool := range f.Tools() {
			out = append(out, tool.Name)
		}
		slices.Sort(out)
		return out
	}
	five := []string{
		"advance_qa_orchestration", "finish_qa_orchestration", "get_qa_orchestration",
		"prepare_qa_orchestration", "start_qa_orchestration",
	}
	if got := names(newFixture(t, settings.CoreTools)); !slices.Equal(got, five) {
		t.Errorf("core: %v", got)
	}
	seven := append([]string{"get_qa_orchestration_model_policy", "list_qa_orchestrations"}, five...)
	slices.Sort(seven)
	if got := names(newFixture(t, settings.ExtendedTools)); !slices.Equal(got, seven) {
		t.Errorf("extended: %v", got)
	}
}

// TestToolDefinitions holds what must be true of every tool.
func TestToolDefinitions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.ExtendedTools)
	f.Golden("testdata/tools.golden.json")
	readOnly := map[string]bool{review.PrepareTool: true, review.GetTool: true, review.ListTool: true, review.PolicyTool: true}
	idempotent := map[string]bool{review.FinishTool: true}
	for _, tool := range f.Tools() {
		if tool.Title == "" || len(tool.Description) < 200 {
			t.Errorf("%s: title %q and a description of %d bytes", tool.Name, tool.Title, len(tool.Description))
		}
		for name, want := range map[string]bool{
			"readOnlyHint": readOnly[tool.Name], "destructiveHint": false, "openWorldHint": false,
			"idempotentHint": readOnly[tool.Name] || idempotent[tool.Name],
		} {
			if tool.Annotations[name] != want {
				t.Errorf("%s: %s is %v", tool.Name, name, tool.Annotations[name])
			}
		}
		var schema map[string]any
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		plainInput(t, tool.Name, schema)
		// Every tool says which sibling does what it does not.
		siblings := 0
		for _, other := range f.Tools() {
			if other.Name != tool.Name && strings.Contains(tool.Description, other.Name) {
				siblings++
			}
		}
		if siblings == 0 && tool.Name != review.PolicyTool {
			t.Errorf("%s: the description names no sibling", tool.Name)
		}
	}
}

// plainInput holds an input schema to what every client understands.
func plainInput(t *testing.T, at string, schema map[string]any) {
	t.Helper()
	for key := range schema {
		if !slices.Contains([]string{"type", "description", "enum", "pattern", "properties", "required", "additionalProperties"}, key) {
			t.Errorf("%s: keyword %s in an input schema", at, key)
		}
	}
	kind, single := schema["type"].(string)
	if !single {
		t.Errorf("%s: type is %v", at, schema["type"])
	}
	if kind != "object" {
		return
	}
	if schema["additionalProperties"] != false {
		t.Errorf("%s: additionalProperties is %v", at, schema["additionalProperties"])
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		property := p.(map[string]any)
		if text, _ := property["description"].(string); len(text) < 20 {
			t.Errorf("%s.%s: described by %q", at, name, text)
		}
		plainInput(t, at+"."+name, property)
	}
}

func TestInitialize(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.CoreTools)
	raw, _ := f.RPC("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`)
	var r struct {
		Instructions string `json:"instructions"`
		Capabilities map[string]any
		ServerInfo   struct{ Name, Title, Version string }
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"start_qa_orchestration", "prepare_qa_orchestration", "get_qa_orchestration", "finish_qa_orchestration", "risk_signals", "partial"} {
		if !strings.Contains(r.Instructions, word) {
			t.Errorf("the instructions do not speak of %s", word)
		}
	}
	for _, name := range []string{"tools", "resources", "prompts", "logging", "completions"} {
		if r.Capabilities[name] == nil {
			t.Errorf("capability %s is not declared", name)
		}
	}
	if r.ServerInfo.Name != "qa-orch" || r.ServerInfo.Version != "test" {
		t.Errorf("server info %+v", r.ServerInfo)
	}
}

// TestWholeReviews takes every route with and without escalation through the
// tools: every result on the way is validated against the output schema.
func TestWholeReviews(t *testing.T) {
	t.Parallel()
	type route struct {
		argument, name string
		profiles       []catalog.Profile
	}
	var routes []route
	for _, b := range catalog.Bundles() {
		routes = append(routes, route{"selected_bundle", string(b), b.Profiles()})
	}
	for _, p := range catalog.Profiles() {
		routes = append(routes, route{"selected_profile", string(p), []catalog.Profile{p}})
	}
	for _, r := range routes {
		for _, signals := range []string{`{}`, `{"high_risk_domain":true,"evidence_uncertain":true}`} {
			t.Run(r.name+signals, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, settings.ExtendedTools)
				s := f.Must(review.StartTool, `{"task_type":"other"}`)
				id := `"run_id":"` + s["run_id"].(string) + `"`
				s = f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","`+r.argument+`":"`+r.name+`"}`)
				for i, p := range r.profiles {
					if s["current_profile"] != string(p) {
						t.Fatalf("current_profile is %v, want %s", s["current_profile"], p)
					}
					f.Must(review.PrepareTool, `{"agent_profile":"`+string(p)+`"}`)
					done := `{` + id + `,"completed_step":"primary_review","status":"completed","completed_profile":"` + string(p) + `"`
					if i == len(r.profiles)-1 {
						done += `,"risk_signals":` + signals
					}
					s = f.Must(review.AdvanceTool, done+`}`)
					f.Must(review.ListTool, `{}`)
				}
				if deep := s["current_step"] == "deep_review"; deep != (signals != `{}`) {
					t.Fatalf("current_step is %v", s["current_step"])
				}
				if s["current_step"] == "deep_review" {
					s = f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"deep_review","status":"completed"}`)
				}
				s = f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"`+s["current_step"].(string)+`","status":"completed"}`)
				if s["current_step"] != "awaiting_host_outcome" || s["model_policy"] != nil {
					t.Fatalf("after synthesis: %v", s)
				}
				first := f.Must(review.FinishTool, `{`+id+`,"outcome":"partial"}`)
				f.now = f.now.Add(time.Minute)
				again := f.Must(review.FinishTool, `{`+id+`,"outcome":"partial"}`)
				if first["expires_at"] != again["expires_at"] {
					t.Error("repeating the outcome renewed the session")
				}
				f.Must(review.GetTool, `{`+id+`}`)
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.ExtendedTools)
	const unknown = `"run_id":"qar-00000000000000000000000000000000"`
	f.Refused("unknown run_id", review.GetTool, `{`+unknown+`}`)
	f.Refused("unknown run_id", review.FinishTool, `{`+unknown+`,"outcome":"completed"}`)
	f.Refused("unknown run_id", review.AdvanceTool, `{`+unknown+`,"completed_step":"triage","status":"partial"}`)

	s := f.Must(review.StartTool, `{"task_type":"widget_review"}`)
	id := `"run_id":"` + s["run_id"].(string) + `"`
	f.Refused("outcome is not ready", review.FinishTool, `{`+id+`,"outcome":"completed"}`)
	if text := f.Refused("illegal transition", review.AdvanceTool, `{`+id+`,"completed_step":"synthesis","status":"completed"}`); !strings.Contains(text, "triage") {
		t.Errorf("%q does not name the step", text)
	}
	f.Refused("invalid arguments", review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed"}`)
	f.Refused("invalid arguments", review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","selected_bundle":"widget","selected_profile":"code_reviewer"}`)
	f.Refused("invalid arguments", review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"blocked","selected_bundle":"widget"}`)
	f.Refused("risk signals must be sent with the final primary-review profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"triage","status":"completed","selected_bundle":"widget","risk_signals":{}}`)
	f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","selected_bundle":"requirements"}`)
	if text := f.Refused("completed profile does not match current profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"react_reviewer"}`); !strings.Contains(text, "code_explorer") {
		t.Errorf("%q does not name the profile", text)
	}
	f.Refused("risk signals must be sent with the final primary-review profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_explorer","risk_signals":{"high_risk_domain":true}}`)
	f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_explorer"}`)
	f.Refused("risk_signals are required for the final primary-review profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_reviewer","risk_signals":null}`)
	before := f.Must(review.GetTool, `{`+id+`}`)
	f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"blocked"}`)
	f.Refused("terminal session", review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"blocked"}`)
	f.Refused("conflicting final outcome", review.FinishTool, `{`+id+`,"outcome":"completed"}`)
	f.Must(review.FinishTool, `{`+id+`,"outcome":"blocked"}`)
	for phrase, call := range map[string][2]string{
		"conflicting final outcome": {review.FinishTool, `{` + id + `,"outcome":"partial"}`},
		"terminal session":          {review.AdvanceTool, `{` + id + `,"completed_step":"primary_review","status":"blocked"}`},
	} {
		if text := f.Refused(phrase, call[0], call[1]); !strings.Contains(text, "was finalized as blocked") {
			t.Errorf("%q does not say that the outcome stands", text)
		}
	}
	if before["status"] != "active" {
		t.Errorf("a refusal changed the session: %v", before)
	}

	for range 3 { // the third evicts the finalized one
		s = f.Must(review.StartTool, `{"task_type":"other"}`)
	}
	f.Refused("unknown run_id", review.GetTool, `{`+id+`}`)
	id = `"run_id":"` + s["run_id"].(string) + `"`
	f.Refused("session limit", review.StartTool, `{"task_type":"other"}`)
	f.now = f.now.Add(30 * time.Minute)
	f.Refused("expired session", review.GetTool, `{`+id+`}`)
	f.Must(review.StartTool, `{"task_type":"other"}`)

	if err := os.WriteFile(f.policy, []byte(`{"provider":"openai","triage_model":"sk-CANARY"`), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Must(review.StartTool, `{"task_type":"other"}`) // the last valid policy stands
}

func TestPolicyUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.ExtendedTools)
	if err := os.WriteFile(f.policy, []byte(`{"provider":"sk-CANARY"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for tool, arguments := range map[string]string{review.StartTool: `{"task_type":"other"}`, review.PolicyTool: `{}`} {
		text := f.Refused("model policy unavailable", tool, arguments)
		if strings.Contains(text, "CANARY") || !strings.Contains(text, "provider") || !strings.Contains(text, "openai, anthropic") {
			t.Errorf("%s: %q", tool, text)
		}
	}
	f.Must(review.PrepareTool, `{"agent_profile":"code_reviewer"}`)
	if err := os.Remove(f.policy); err != nil {
		t.Fatal(err)
	}
	f.Must(review.StartTool, `{"task_type":"other"}`)
}

// TestBadArgumentsNameWhatIsAllowed sends every tool a secret in every place.
func TestBadArgumentsNameWhatIsAllowed(t *testing.T) {
	t.Parallel()
	const canary = "sk-CANARY-0451"
	f := newFixture(t, settings.ExtendedTools)
	for _, tool := range f.Tools() {
		var schema struct {
			Properties map[string]struct {
				Enum []string `json:"enum"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		calls := map[string]string{`{"` + canary + `":1}`: "unknown argument", `"` + canary + `"`: "JSON object", `[1]`: "JSON object"}
		for name, p := range schema.Properties {
			for _, v := range []string{`"` + canary + `"`, `7`, `true`, `["` + canary + `"]`, `{"` + canary + `":"` + canary + `"}`} {
				want := name
				if len(p.Enum) > 0 {
					want = name + ": must be one of " + strings.Join(p.Enum, ", ")
				}
				calls[`{"`+name+`":`+v+`}`] = want
			}
		}
		for arguments, want := range calls {
			text := f.Refused("invalid arguments", tool.Name, arguments)
			if strings.Contains(text, canary) {
				t.Errorf("%s %s: %q repeats the value", tool.Name, arguments, text)
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s %s: %q does not say %q", tool.Name, arguments, text, want)
			}
		}
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.CoreTools)
	s := f.Must(review.StartTool, `{"task_type":"other"}`)
	id := s["run_id"].(string)
	read := func(uri string) map[string]any {
		t.Helper()
		raw, rpcErr := f.RPC("resources/read", `{"uri":"`+uri+`"}`)
		if rpcErr != nil {
			t.Fatalf("%s: %+v", uri, rpcErr)
		}
		var r struct {
			Contents []struct{ URI, MimeType, Text string }
		}
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Contents) != 1 || r.Contents[0].URI != uri || r.Contents[0].MimeType != "application/json" {
			t.Fatalf("%s: %v in %s", uri, err, raw)
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(r.Contents[0].Text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	c := read("qa://catalog")
	if len(c["profiles"].([]any)) != len(catalog.Profiles()) || len(c["bundles"].([]any)) != len(catalog.Bundles()) {
		t.Errorf("catalog: %v", c)
	}
	if p := read("qa://policy"); p["provider"] != "openai" || p["triage_reasoning"] != "max" {
		t.Errorf("policy: %v", p)
	}
	if l := read("qa://sessions"); len(l["sessions"].([]any)) != 1 {
		t.Errorf("sessions: %v", l)
	}
	if one := read("qa://sessions/" + id); one["run_id"] != id || one["next_action"] == "" {
		t.Errorf("session: %v", one)
	}
	raw, _ := f.RPC("completion/complete", `{"ref":{"type":"ref/resource","uri":"qa://sessions/{run_id}"},"argument":{"name":"run_id","value":"qar-"}}`)
	if !bytes.Contains(raw, []byte(id)) {
		t.Errorf("completion: %s", raw)
	}
	for _, uri := range []string{"qa://sessions/qar-00000000000000000000000000000000", "qa://sessions/sk-CANARY", "qa://nothing"} {
		if _, rpcErr := f.RPC("resources/read", `{"uri":"`+uri+`"}`); rpcErr == nil {
			t.Errorf("%s: no error", uri)
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.CoreTools)
	for _, task := range catalog.TaskTypes() {
		raw, rpcErr := f.RPC("prompts/get", `{"name":"qa_review","arguments":{"task_type":"`+string(task)+`"}}`)
		if rpcErr != nil || !bytes.Contains(raw, []byte(task)) || !bytes.Contains(raw, []byte("finish_qa_orchestration")) {
			t.Errorf("%s: %s, %+v", task, raw, rpcErr)
		}
	}
	if raw, rpcErr := f.RPC("prompts/get", `{"name":"qa_review"}`); rpcErr != nil || !bytes.Contains(raw, []byte("ordinary_review")) ||
		!bytes.Contains(raw, []byte("devil's advocate")) || !bytes.Contains(raw, []byte("start_review")) || !bytes.Contains(raw, []byte("share nothing")) {
		t.Errorf("no task type: %s, %+v", raw, rpcErr)
	}
	for _, arguments := range []string{`{"task_type":"sk-CANARY"}`, `{"sk-CANARY":"x"}`} {
		if _, rpcErr := f.RPC("prompts/get", `{"name":"qa_review","arguments":`+arguments+`}`); rpcErr == nil || strings.Contains(rpcErr.Message, "CANARY") {
			t.Errorf("%s: %+v", arguments, rpcErr)
		}
	}
	raw, _ := f.RPC("completion/complete", `{"ref":{"type":"ref/prompt","name":"qa_review"},"argument":{"name":"task_type","value":"w"}}`)
	if !bytes.Contains(raw, []byte(`"widget_review"`)) || bytes.Contains(raw, []byte(`"other"`)) {
		t.Errorf("completion: %s", raw)
	}
}

// TestDeepAssessmentOnTheWire spot-checks that the signals arrive as they were sent.
func TestDeepAssessmentOnTheWire(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.CoreTools)
	s := f.Must(review.StartTool, `{"task_type":"other"}`)
	id := `"run_id":"` + s["run_id"].(string) + `"`
	f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","selected_profile":"code_reviewer"}`)
	s = f.Must(review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_reviewer",
		"risk_signals":"{\"evidence_conflict\":true,\"high_blast_radius\":true,\"non_reproducible\":true,\"high_risk_domain\":null,\"evidence_uncertain\":false}"}`)
	deep, _ := json.Marshal(s["deep_assessment"])
	const want = `{"complexity_signal_count":2,"reason_codes":["non_reproducible","high_blast_radius","evidence_conflict"],"should_escalate":true,"triggered_rules":["multiple_complexity_signals","critical_evidence_conflict"]}`
	if string(deep) != want || s["deep_reason_code"] != string(core.ReasonNonReproducible) {
		t.Errorf("got  %s (%v)\nwant %s", deep, s["deep_reason_code"], want)
	}
}
