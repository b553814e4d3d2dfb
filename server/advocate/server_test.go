package advocate_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	core "github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/server/advocate"
	"github.com/qa-orch/qa-orch/server/servertest"
)

// newServer makes a server in this process.
func newServer(t *testing.T) *servertest.Server {
	t.Helper()
	d := desk.New(filepath.Join(t.TempDir(), "reviews"))
	clock := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	d.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	s, err := advocate.New(d, "test")
	if err != nil {
		t.Fatal(err)
	}
	return servertest.New(t, s)
}

func TestToolDefinitions(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	f.Golden("testdata/tools.golden.json")
	var names []string
	for _, tool := range f.Tools() {
		names = append(names, tool.Name)
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
		f := newServer(t)
		var ids []string // of the reviews started, in order
		for i, c := range flow.Calls {
			if id, ok := c.Args["review_id"].(string); ok {
				if m := dollar.FindStringSubmatch(id); m != nil {
					n, _ := strconv.Atoi(m[1])
					c.Args["review_id"] = ids[n-1]
				}
			}
			result, refusal := f.Call(c.Tool, c.Args)
			if c.Tool == advocate.StartTool && result != nil {
				ids = append(ids, result["review_id"].(string))
			}
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
	f := newServer(t)
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
		_, refusal := f.Call(c.tool, c.arguments)
		if !strings.Contains(refusal, c.says) {
			t.Errorf("%s %s: %q does not say %q", c.tool, c.arguments, refusal, c.says)
		}
	}
	id := f.Must(advocate.StartTool, map[string]any{"claim": claim, "mode": "assumptions", "context": nil})["review_id"]
	_, refusal := f.Call(advocate.SubmitTool, map[string]any{"review_id": id, "items": []any{7, map[string]any{"text": "x"}}})
	for _, says := range []string{"item 0:", "item 1: 'text'", "item 1: 'load_bearing'", "item 1: 'evidence'"} {
		if !strings.Contains(refusal, says) {
			t.Errorf("%q does not say %q", refusal, says)
		}
	}
	good := map[string]any{"text": "Rollback was rehearsed on production-sized data", "load_bearing": true, "evidence": "none"}
	encoded, _ := json.Marshal([]any{good})
	if r := f.Must(advocate.SubmitTool, map[string]any{"review_id": id, "items": string(encoded)}); r["status"] != "in_progress" {
		t.Errorf("encoded items: %v", r)
	}
}

func TestResourcesAndPrompt(t *testing.T) {
	t.Parallel()
	f := newServer(t)
	id := f.Must(advocate.StartTool, map[string]any{"claim": "We should rewrite `everything` | in Rust", "mode": "premortem"})["review_id"].(string)
	read := func(uri string) string {
		t.Helper()
		raw, rpcErr := f.RPC("resources/read", map[string]any{"uri": uri})
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
	if text := read("reviews://"); !strings.Contains(text, id) {
		t.Errorf("reviews://: %s", text)
	}
	if text := read("review://" + id); !strings.Contains(text, "setup") || strings.Contains(text, "`everything`") {
		t.Errorf("progress: %s", text)
	}
	if _, rpcErr := f.RPC("resources/read", map[string]any{"uri": "review://rev-none"}); rpcErr == nil {
		t.Error("an unknown review was read")
	}
	raw, rpcErr := f.RPC("prompts/get", map[string]any{"name": "stress_test", "arguments": map[string]any{"claim": "We should rewrite everything", "mode": "gauntlet"}})
	if rpcErr != nil || !bytes.Contains(raw, []byte("strongest_case")) || !bytes.Contains(raw, []byte("We should rewrite everything")) {
		t.Errorf("prompt: %s, %+v", raw, rpcErr)
	}
	if _, rpcErr := f.RPC("prompts/get", map[string]any{"name": "stress_test", "arguments": map[string]any{"claim": "We should rewrite everything", "mode": "zzz"}}); rpcErr == nil || !strings.Contains(rpcErr.Message, "gauntlet") {
		t.Errorf("unknown mode: %+v", rpcErr)
	}
	raw, _ = f.RPC("completion/complete", map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "stress_test"}, "argument": map[string]any{"name": "mode", "value": "st"}})
	if !bytes.Contains(raw, []byte(core.Steelman)) || bytes.Contains(raw, []byte(core.Premortem)) {
		t.Errorf("completion: %s", raw)
	}
}
