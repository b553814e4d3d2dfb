package review_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	core "github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/server/review"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixture is a server in this process with a clock that the test moves.
type fixture struct {
	t       *testing.T
	server  *review.Server
	now     time.Time
	policy  string // path of the policy file
	schemas map[string]*jsonschema.Schema
}

func newFixture(t *testing.T, tools settings.Tools) *fixture {
	t.Helper()
	f := &fixture{t: t, now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), policy: filepath.Join(t.TempDir(), "model-policy.json")}
	source := policy.NewSource(f.policy, filepath.Join(filepath.Dir(f.policy), "models.toml"), nil)
	o := orchestrator.New(store.NewMemory(), source, orchestrator.Limits{TTL: 30 * time.Minute, MaxSessions: 3},
		orchestrator.WithClock(func() time.Time { return f.now }))
	s, err := review.New(o, review.Options{Tools: tools, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	f.server = s
	f.schemas = map[string]*jsonschema.Schema{}
	for _, tool := range f.tools() {
		f.schemas[tool.Name] = compile(t, tool.OutputSchema)
	}
	return f
}

type listedTool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  map[string]any  `json:"annotations"`
}

func compile(t *testing.T, raw []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rpc sends a request and returns its result as JSON, or its error.
func (f *fixture) rpc(method, params string) (json.RawMessage, *mcp.JSONRPCErrorDetails) {
	f.t.Helper()
	reply := f.server.MCP.HandleMessage(f.t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`))
	data, err := json.Marshal(reply)
	if err != nil {
		f.t.Fatal(err)
	}
	var envelope struct {
		Result json.RawMessage          `json:"result"`
		Error  *mcp.JSONRPCErrorDetails `json:"error"`
	}
	if err := json.Unmarshal(data, &envelope); err != nil {
		f.t.Fatal(err)
	}
	return envelope.Result, envelope.Error
}

func (f *fixture) tools() []listedTool {
	f.t.Helper()
	raw, _ := f.rpc("tools/list", `{}`)
	var list struct {
		Tools []listedTool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		f.t.Fatal(err)
	}
	return list.Tools
}

// call calls a tool and checks what holds for every answer: a result fits the
// schema and is the same as text, an error is one text without structure.
func (f *fixture) call(tool, arguments string) (result map[string]any, refusal string) {
	f.t.Helper()
	raw, rpcErr := f.rpc("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
	if rpcErr != nil {
		f.t.Fatalf("%s %s: a JSON-RPC error: %+v", tool, arguments, rpcErr)
	}
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) != 1 || r.Content[0].Type != "text" {
		f.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	if r.IsError {
		if r.Structured != nil {
			f.t.Errorf("%s: an error with structured content: %s", tool, raw)
		}
		return nil, r.Content[0].Text
	}
	if string(r.Structured) != r.Content[0].Text {
		f.t.Errorf("%s: structure and text differ:\n%s\n%s", tool, r.Structured, r.Content[0].Text)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Structured))
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.schemas[tool].Validate(v); err != nil {
		f.t.Errorf("%s: the result does not fit its schema: %v", tool, err)
	}
	return v.(map[string]any), ""
}

// must calls a tool that has to succeed.
func (f *fixture) must(tool, arguments string) map[string]any {
	f.t.Helper()
	r, refusal := f.call(tool, arguments)
	if refusal != "" {
		f.t.Fatalf("%s %s: %s", tool, arguments, refusal)
	}
	return r
}

// refused calls a tool that has to refuse with the phrase.
func (f *fixture) refused(phrase, tool, arguments string) string {
	f.t.Helper()
	r, refusal := f.call(tool, arguments)
	if r != nil || !strings.HasPrefix(refusal, phrase+": ") || len(refusal) < len(phrase)+20 {
		f.t.Errorf("%s %s: got %v, %q; want %q and what to do", tool, arguments, r, refusal, phrase)
	}
	return refusal
}

func TestToolsAreExactlyTheContracts(t *testing.T) {
	t.Parallel()
	names := func(f *fixture) (out []string) {
		for _, tool := range f.tools() {
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

// TestToolDefinitions holds the whole list against a golden file, so that no
// word of it changes unseen, and what must be true of every tool.
func TestToolDefinitions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.ExtendedTools)
	raw, _ := f.rpc("tools/list", `{}`)
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	const golden = "testdata/tools.golden.json"
	if *update {
		if err := os.WriteFile(golden, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, pretty.Bytes()) {
		t.Errorf("the tool list differs from %s; look at the change and run with -update", golden)
	}

	readOnly := map[string]bool{review.PrepareTool: true, review.GetTool: true, review.ListTool: true, review.PolicyTool: true}
	idempotent := map[string]bool{review.FinishTool: true}
	for _, tool := range f.tools() {
		in, out := compile(t, tool.InputSchema), compile(t, tool.OutputSchema)
		_, _ = in, out
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
		for _, other := range f.tools() {
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
	raw, _ := f.rpc("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`)
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
				s := f.must(review.StartTool, `{"task_type":"other"}`)
				id := `"run_id":"` + s["run_id"].(string) + `"`
				s = f.must(review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","`+r.argument+`":"`+r.name+`"}`)
				for i, p := range r.profiles {
					if s["current_profile"] != string(p) {
						t.Fatalf("current_profile is %v, want %s", s["current_profile"], p)
					}
					f.must(review.PrepareTool, `{"agent_profile":"`+string(p)+`"}`)
					done := `{` + id + `,"completed_step":"primary_review","status":"completed","completed_profile":"` + string(p) + `"`
					if i == len(r.profiles)-1 {
						done += `,"risk_signals":` + signals
					}
					s = f.must(review.AdvanceTool, done+`}`)
					f.must(review.ListTool, `{}`)
				}
				if deep := s["current_step"] == "deep_review"; deep != (signals != `{}`) {
					t.Fatalf("current_step is %v", s["current_step"])
				}
				if s["current_step"] == "deep_review" {
					s = f.must(review.AdvanceTool, `{`+id+`,"completed_step":"deep_review","status":"completed"}`)
				}
				s = f.must(review.AdvanceTool, `{`+id+`,"completed_step":"`+s["current_step"].(string)+`","status":"completed"}`)
				if s["current_step"] != "awaiting_host_outcome" || s["model_policy"] != nil {
					t.Fatalf("after synthesis: %v", s)
				}
				first := f.must(review.FinishTool, `{`+id+`,"outcome":"partial"}`)
				f.now = f.now.Add(time.Minute)
				again := f.must(review.FinishTool, `{`+id+`,"outcome":"partial"}`)
				if first["expires_at"] != again["expires_at"] {
					t.Error("repeating the outcome renewed the session")
				}
				f.must(review.GetTool, `{`+id+`}`)
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.ExtendedTools)
	const unknown = `"run_id":"qar-00000000000000000000000000000000"`
	f.refused("unknown run_id", review.GetTool, `{`+unknown+`}`)
	f.refused("unknown run_id", review.FinishTool, `{`+unknown+`,"outcome":"completed"}`)
	f.refused("unknown run_id", review.AdvanceTool, `{`+unknown+`,"completed_step":"triage","status":"partial"}`)

	s := f.must(review.StartTool, `{"task_type":"widget_review"}`)
	id := `"run_id":"` + s["run_id"].(string) + `"`
	f.refused("outcome is not ready", review.FinishTool, `{`+id+`,"outcome":"completed"}`)
	if text := f.refused("illegal transition", review.AdvanceTool, `{`+id+`,"completed_step":"synthesis","status":"completed"}`); !strings.Contains(text, "triage") {
		t.Errorf("%q does not name the step", text)
	}
	f.refused("invalid arguments", review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed"}`)
	f.refused("invalid arguments", review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","selected_bundle":"widget","selected_profile":"code_reviewer"}`)
	f.refused("invalid arguments", review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"blocked","selected_bundle":"widget"}`)
	f.refused("risk signals must be sent with the final primary-review profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"triage","status":"completed","selected_bundle":"widget","risk_signals":{}}`)
	f.must(review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","selected_bundle":"requirements"}`)
	if text := f.refused("completed profile does not match current profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"react_reviewer"}`); !strings.Contains(text, "code_explorer") {
		t.Errorf("%q does not name the profile", text)
	}
	f.refused("risk signals must be sent with the final primary-review profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_explorer","risk_signals":{"high_risk_domain":true}}`)
	f.must(review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_explorer"}`)
	f.refused("risk_signals are required for the final primary-review profile", review.AdvanceTool,
		`{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_reviewer","risk_signals":null}`)
	before := f.must(review.GetTool, `{`+id+`}`)
	f.must(review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"blocked"}`)
	f.refused("terminal session", review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"blocked"}`)
	f.refused("conflicting final outcome", review.FinishTool, `{`+id+`,"outcome":"completed"}`)
	f.must(review.FinishTool, `{`+id+`,"outcome":"blocked"}`)
	for phrase, call := range map[string][2]string{
		"conflicting final outcome": {review.FinishTool, `{` + id + `,"outcome":"partial"}`},
		"terminal session":          {review.AdvanceTool, `{` + id + `,"completed_step":"primary_review","status":"blocked"}`},
	} {
		if text := f.refused(phrase, call[0], call[1]); !strings.Contains(text, "was finalized as blocked") {
			t.Errorf("%q does not say that the outcome stands", text)
		}
	}
	if before["status"] != "active" {
		t.Errorf("a refusal changed the session: %v", before)
	}

	for range 3 { // the third evicts the finalized one
		s = f.must(review.StartTool, `{"task_type":"other"}`)
	}
	f.refused("unknown run_id", review.GetTool, `{`+id+`}`)
	id = `"run_id":"` + s["run_id"].(string) + `"`
	f.refused("session limit", review.StartTool, `{"task_type":"other"}`)
	f.now = f.now.Add(30 * time.Minute)
	f.refused("expired session", review.GetTool, `{`+id+`}`)
	f.must(review.StartTool, `{"task_type":"other"}`)

	if err := os.WriteFile(f.policy, []byte(`{"provider":"openai","triage_model":"sk-CANARY"`), 0o600); err != nil {
		t.Fatal(err)
	}
	f.must(review.StartTool, `{"task_type":"other"}`) // the last valid policy stands
}

func TestPolicyUnavailable(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.ExtendedTools)
	if err := os.WriteFile(f.policy, []byte(`{"provider":"sk-CANARY"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for tool, arguments := range map[string]string{review.StartTool: `{"task_type":"other"}`, review.PolicyTool: `{}`} {
		text := f.refused("model policy unavailable", tool, arguments)
		if strings.Contains(text, "CANARY") || !strings.Contains(text, "provider") || !strings.Contains(text, "openai, anthropic") {
			t.Errorf("%s: %q", tool, text)
		}
	}
	f.must(review.PrepareTool, `{"agent_profile":"code_reviewer"}`)
	if err := os.Remove(f.policy); err != nil {
		t.Fatal(err)
	}
	f.must(review.StartTool, `{"task_type":"other"}`)
}

// TestBadArgumentsNameWhatIsAllowed sends every tool a secret in every place.
func TestBadArgumentsNameWhatIsAllowed(t *testing.T) {
	t.Parallel()
	const canary = "sk-CANARY-0451"
	f := newFixture(t, settings.ExtendedTools)
	for _, tool := range f.tools() {
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
			text := f.refused("invalid arguments", tool.Name, arguments)
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
	s := f.must(review.StartTool, `{"task_type":"other"}`)
	id := s["run_id"].(string)
	read := func(uri string) map[string]any {
		t.Helper()
		raw, rpcErr := f.rpc("resources/read", `{"uri":"`+uri+`"}`)
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
	raw, _ := f.rpc("completion/complete", `{"ref":{"type":"ref/resource","uri":"qa://sessions/{run_id}"},"argument":{"name":"run_id","value":"qar-"}}`)
	if !bytes.Contains(raw, []byte(id)) {
		t.Errorf("completion: %s", raw)
	}
	for _, uri := range []string{"qa://sessions/qar-00000000000000000000000000000000", "qa://sessions/sk-CANARY", "qa://nothing"} {
		if _, rpcErr := f.rpc("resources/read", `{"uri":"`+uri+`"}`); rpcErr == nil {
			t.Errorf("%s: no error", uri)
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.CoreTools)
	for _, task := range catalog.TaskTypes() {
		raw, rpcErr := f.rpc("prompts/get", `{"name":"qa_review","arguments":{"task_type":"`+string(task)+`"}}`)
		if rpcErr != nil || !bytes.Contains(raw, []byte(task)) || !bytes.Contains(raw, []byte("finish_qa_orchestration")) {
			t.Errorf("%s: %s, %+v", task, raw, rpcErr)
		}
	}
	if raw, rpcErr := f.rpc("prompts/get", `{"name":"qa_review"}`); rpcErr != nil || !bytes.Contains(raw, []byte("ordinary_review")) ||
		!bytes.Contains(raw, []byte("devil's advocate")) || !bytes.Contains(raw, []byte("start_review")) || !bytes.Contains(raw, []byte("share nothing")) {
		t.Errorf("no task type: %s, %+v", raw, rpcErr)
	}
	for _, arguments := range []string{`{"task_type":"sk-CANARY"}`, `{"sk-CANARY":"x"}`} {
		if _, rpcErr := f.rpc("prompts/get", `{"name":"qa_review","arguments":`+arguments+`}`); rpcErr == nil || strings.Contains(rpcErr.Message, "CANARY") {
			t.Errorf("%s: %+v", arguments, rpcErr)
		}
	}
	raw, _ := f.rpc("completion/complete", `{"ref":{"type":"ref/prompt","name":"qa_review"},"argument":{"name":"task_type","value":"w"}}`)
	if !bytes.Contains(raw, []byte(`"widget_review"`)) || bytes.Contains(raw, []byte(`"other"`)) {
		t.Errorf("completion: %s", raw)
	}
}

// TestDeepAssessmentOnTheWire spot-checks that the signals arrive as they were sent.
func TestDeepAssessmentOnTheWire(t *testing.T) {
	t.Parallel()
	f := newFixture(t, settings.CoreTools)
	s := f.must(review.StartTool, `{"task_type":"other"}`)
	id := `"run_id":"` + s["run_id"].(string) + `"`
	f.must(review.AdvanceTool, `{`+id+`,"completed_step":"triage","status":"completed","selected_profile":"code_reviewer"}`)
	s = f.must(review.AdvanceTool, `{`+id+`,"completed_step":"primary_review","status":"completed","completed_profile":"code_reviewer",
		"risk_signals":"{\"evidence_conflict\":true,\"high_blast_radius\":true,\"non_reproducible\":true,\"high_risk_domain\":null,\"evidence_uncertain\":false}"}`)
	deep, _ := json.Marshal(s["deep_assessment"])
	const want = `{"complexity_signal_count":2,"reason_codes":["non_reproducible","high_blast_radius","evidence_conflict"],"should_escalate":true,"triggered_rules":["multiple_complexity_signals","critical_evidence_conflict"]}`
	if string(deep) != want || s["deep_reason_code"] != string(core.ReasonNonReproducible) {
		t.Errorf("got  %s (%v)\nwant %s", deep, s["deep_reason_code"], want)
	}
}
