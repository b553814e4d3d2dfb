package advocate_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/santhosh-tekuri/jsonschema/v6"

	core "github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/server/advocate"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// fixture is a server in this process.
type fixture struct {
	t       *testing.T
	server  *mcpserver.MCPServer
	schemas map[string]*jsonschema.Schema
	ids     []string // of the reviews started, in order
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	d := desk.New(filepath.Join(t.TempDir(), "reviews"))
	clock := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	d.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	s, err := advocate.New(d, "test")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, server: s, schemas: map[string]*jsonschema.Schema{}}
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
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (f *fixture) rpc(method string, params any) (json.RawMessage, *mcp.JSONRPCErrorDetails) {
	f.t.Helper()
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		f.t.Fatal(err)
	}
	data, err := json.Marshal(f.server.HandleMessage(f.t.Context(), request))
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
	raw, _ := f.rpc("tools/list", map[string]any{})
	var list struct {
		Tools []listedTool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		f.t.Fatal(err)
	}
	return list.Tools
}

// call calls a tool; every result is checked against the tool's schema.
func (f *fixture) call(tool string, arguments any) (result map[string]any, refusal string) {
	f.t.Helper()
	raw, rpcErr := f.rpc("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if rpcErr != nil {
		f.t.Fatalf("%s: a JSON-RPC error: %+v", tool, rpcErr)
	}
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || len(r.Content) != 1 {
		f.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	if r.IsError {
		if r.Structured != nil || r.Content[0].Text == "" {
			f.t.Errorf("%s: %s", tool, raw)
		}
		return nil, r.Content[0].Text
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Structured))
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.schemas[tool].Validate(v); err != nil {
		f.t.Errorf("%s: the result does not fit its schema: %v\n%s", tool, err, r.Structured)
	}
	result = v.(map[string]any)
	if tool == advocate.StartTool {
		f.ids = append(f.ids, result["review_id"].(string))
	}
	return result, ""
}

func (f *fixture) must(tool string, arguments any) map[string]any {
	f.t.Helper()
	r, refusal := f.call(tool, arguments)
	if refusal != "" {
		f.t.Fatalf("%s: %s", tool, refusal)
	}
	return r
}

func TestToolDefinitions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	raw, _ := f.rpc("tools/list", map[string]any{})
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
	var names []string
	for _, tool := range f.tools() {
		names = append(names, tool.Name)
		compile(t, tool.InputSchema)
		if tool.Title == "" || len(tool.Description) < 200 {
			t.Errorf("%s: title %q and a description of %d bytes", tool.Name, tool.Title, len(tool.Description))
		}
		if tool.Annotations["destructiveHint"] != false || tool.Annotations["openWorldHint"] != false {
			t.Errorf("%s: %v", tool.Name, tool.Annotations)
		}
		var schema struct {
			AdditionalProperties any `json:"additionalProperties"`
			Properties           map[string]struct {
				Type, Description string
				Items             *struct{ Type string }
			}
		}
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if schema.AdditionalProperties != false {
			t.Errorf("%s lets unknown arguments through", tool.Name)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || len(p.Description) < 20 {
				t.Errorf("%s.%s: type %q, described by %q", tool.Name, name, p.Type, p.Description)
			}
		}
		if tool.Name == advocate.SubmitTool && (schema.Properties["items"].Items == nil || schema.Properties["items"].Items.Type != "object") {
			t.Error("items are not described as an array of objects")
		}
	}
	slices.Sort(names)
	seven := []string{"abandon_review", "export_report", "get_review", "get_verdict", "list_reviews", "start_review", "submit"}
	if !slices.Equal(names, seven) {
		t.Errorf("tools: %v", names)
	}
}

var dollar = regexp.MustCompile(`^\$(\d+)$`)

// TestFlowsOverMCP plays the recorded reviews through the tools. What they
// return is compared where the engine is tested; here it is the way through the
// server: the same calls succeed, and every result fits its schema.
func TestFlowsOverMCP(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../core/advocate/testdata/flow.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	played := 0
	for lines.Scan() {
		var flow struct {
			ID         string
			Borderline bool
			Calls      []struct {
				Tool   string
				Args   map[string]any
				Expect struct {
					OK     bool
					Status string
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &flow); err != nil {
			t.Fatal(err)
		}
		if flow.Borderline {
			continue
		}
		played++
		f := newFixture(t)
		for i, c := range flow.Calls {
			if id, ok := c.Args["review_id"].(string); ok {
				if m := dollar.FindStringSubmatch(id); m != nil {
					n, _ := strconv.Atoi(m[1])
					c.Args["review_id"] = f.ids[n-1]
				}
			}
			result, refusal := f.call(c.Tool, c.Args)
			if (refusal == "") != c.Expect.OK {
				t.Errorf("%s, call %d, %s: ok is to be %v: %s", flow.ID, i, c.Tool, c.Expect.OK, refusal)
				break
			}
			if c.Expect.Status != "" && result != nil && result["status"] != c.Expect.Status {
				t.Errorf("%s, call %d, %s: status %v, want %s", flow.ID, i, c.Tool, result["status"], c.Expect.Status)
			}
		}
	}
	if played < 100 {
		t.Errorf("only %d flows were played", played)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const claim = "Release 4.2 is ready to ship to every customer"
	for _, c := range []struct {
		tool      string
		arguments string
		says      string
	}{
		{advocate.StartTool, `{}`, "claim: required"},
		{advocate.StartTool, `{"claim":"` + claim + `","mode":"zzz"}`, "mode: must be one of devils_advocate, premortem, assumptions, steelman, gauntlet"},
		{advocate.StartTool, `{"claim":"` + claim + `","mode":"premortem","colour":"red"}`, `unknown argument "colour"`},
		{advocate.StartTool, `{"claim":"short","mode":"premortem"}`, "at least 10"},
		{advocate.SubmitTool, `{"review_id":"rev-none"}`, "items: required, an array of objects"},
		{advocate.SubmitTool, `{"review_id":"rev-none","items":"x"}`, "items: must be an array of objects"},
		{advocate.SubmitTool, `{"review_id":"rev-none","items":{}}`, "items: must be an array of objects"},
		{advocate.SubmitTool, `{"review_id":"rev-none","items":[]}`, "no review"},
		{advocate.VerdictTool, `{"review_id":"../../etc/passwd"}`, "no review"},
		{advocate.ExportTool, `{"review_id":"rev-none","format":"pdf"}`, "format: must be one of markdown, md, json"},
		{advocate.AbandonTool, `{"review_id":"rev-none"}`, "reason: required"},
		{advocate.ListTool, `{"x":1}`, "it takes no arguments"},
	} {
		_, refusal := f.call(c.tool, json.RawMessage(c.arguments))
		if !strings.Contains(refusal, c.says) {
			t.Errorf("%s %s: %q does not say %q", c.tool, c.arguments, refusal, c.says)
		}
	}
	f.must(advocate.StartTool, map[string]any{"claim": claim, "mode": "assumptions", "context": nil})
	_, refusal := f.call(advocate.SubmitTool, map[string]any{"review_id": f.ids[0], "items": []any{7, map[string]any{"text": "x"}}})
	for _, says := range []string{"item 0:", "item 1: 'text'", "item 1: 'load_bearing'", "item 1: 'evidence'"} {
		if !strings.Contains(refusal, says) {
			t.Errorf("%q does not say %q", refusal, says)
		}
	}
	good := map[string]any{"text": "Rollback was rehearsed on production-sized data", "load_bearing": true, "evidence": "none"}
	encoded, _ := json.Marshal([]any{good})
	if r := f.must(advocate.SubmitTool, map[string]any{"review_id": f.ids[0], "items": string(encoded)}); r["status"] != "in_progress" {
		t.Errorf("encoded items: %v", r)
	}
}

func TestResourcesAndPrompt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.must(advocate.StartTool, map[string]any{"claim": "We should rewrite `everything` | in Rust", "mode": "premortem"})
	read := func(uri string) string {
		t.Helper()
		raw, rpcErr := f.rpc("resources/read", map[string]any{"uri": uri})
		if rpcErr != nil {
			t.Fatalf("%s: %+v", uri, rpcErr)
		}
		var r struct {
			Contents []struct{ Text string }
		}
		if err := json.Unmarshal(raw, &r); err != nil || len(r.Contents) != 1 {
			t.Fatalf("%s: %v in %s", uri, err, raw)
		}
		return r.Contents[0].Text
	}
	if text := read("reviews://"); !strings.Contains(text, f.ids[0]) {
		t.Errorf("reviews://: %s", text)
	}
	if text := read("review://" + f.ids[0]); !strings.Contains(text, "setup") || strings.Contains(text, "`everything`") {
		t.Errorf("progress: %s", text)
	}
	if _, rpcErr := f.rpc("resources/read", map[string]any{"uri": "review://rev-none"}); rpcErr == nil {
		t.Error("an unknown review was read")
	}
	raw, rpcErr := f.rpc("prompts/get", map[string]any{"name": "stress_test", "arguments": map[string]any{"claim": "We should rewrite everything", "mode": "gauntlet"}})
	if rpcErr != nil || !bytes.Contains(raw, []byte("strongest_case")) || !bytes.Contains(raw, []byte("We should rewrite everything")) {
		t.Errorf("prompt: %s, %+v", raw, rpcErr)
	}
	if _, rpcErr := f.rpc("prompts/get", map[string]any{"name": "stress_test", "arguments": map[string]any{"claim": "We should rewrite everything", "mode": "zzz"}}); rpcErr == nil || !strings.Contains(rpcErr.Message, "gauntlet") {
		t.Errorf("unknown mode: %+v", rpcErr)
	}
	raw, _ = f.rpc("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "stress_test"}, "argument": map[string]any{"name": "mode", "value": "st"}})
	if !bytes.Contains(raw, []byte(core.Steelman)) || bytes.Contains(raw, []byte(core.Premortem)) {
		t.Errorf("completion: %s", raw)
	}
}
