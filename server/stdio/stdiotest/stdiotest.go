// Package stdiotest holds a whole server to JSON-RPC, as tests and fuzz targets
// of the servers do: whatever lines come in, the right ones are answered, once.
package stdiotest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/qa-orch/qa-orch/server/stdio"
)

// Canary stands for a secret that a client sends by mistake.
const Canary = "sk-CANARY-7f3a"

// Plant puts the canary in the place of each @, a character that nothing in the
// protocol needs: so a fuzzer puts it anywhere with a single byte.
func Plant(data []byte) []byte { return bytes.ReplaceAll(data, []byte("@"), []byte(Canary)) }

// Answer is one line that a server wrote.
type Answer struct {
	ID     string // as it was written; "" with a notification
	Method string // of a notification
	Result json.RawMessage
	Error  *mcp.JSONRPCErrorDetails
	Line   string
	// Request is what it answers, nil where it answers a line that is no request.
	Request *Request
	// Shared says that several lines have its id, so that Request is not known.
	Shared bool
}

// Leaks reports whether the answer repeats the canary outside of its id.
func (a *Answer) Leaks() bool {
	return strings.Contains(strings.Replace(a.Line, a.ID, "", 1), Canary)
}

// Refused reports whether the answer says that the request was not carried out:
// as an error of the protocol, or of a tool.
func (a *Answer) Refused() bool {
	var r struct {
		IsError bool `json:"isError"`
	}
	return a.Error != nil || json.Unmarshal(a.Result, &r) == nil && r.IsError
}

// Request is a request among the lines.
type Request struct {
	ID     string
	Method string
	Params json.RawMessage
}

// Tool is the name of the tool that a request calls, "" if it calls none.
func (r *Request) Tool() string {
	if r == nil || r.Method != string(mcp.MethodToolsCall) {
		return ""
	}
	// Read as the library reads it: names in any case, the last one counts.
	var p struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return ""
	}
	return p.Name
}

// failed begins the message of an answer where the library or a handler broke
// down, in a panic for one; other errors have words of their own.
const failed = "the request could not be carried out"

// expect says what a line asks for: an answer with that id ("null" where the line
// has none that can be used), or "" for none; and the request that it is, if it is one.
func expect(line []byte) (id string, req *Request) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return "", nil
	}
	var fields map[string]json.RawMessage
	if !utf8.Valid(line) || line[0] != '{' || json.Unmarshal(line, &fields) != nil {
		return "null", nil
	}
	var method, version string
	isMethod := json.Unmarshal(fields["method"], &method) == nil && fields["method"][0] == '"'
	if fields["method"] == nil && (fields["result"] != nil || fields["error"] != nil) {
		return "", nil // an answer to a request that no server here sends
	}
	given := string(fields["id"])
	switch {
	case given == "":
	case given[0] != '"' && given[0] != '-' && (given[0] < '0' || given[0] > '9'):
		return "null", nil
	}
	sound := isMethod && json.Unmarshal(fields["jsonrpc"], &version) == nil && version == "2.0"
	if params := fields["params"]; params != nil && params[0] != '{' && string(params) != "null" {
		sound = false
	}
	switch {
	case sound && given == "":
		return "", nil // a notification
	case sound:
		return given, &Request{given, method, fields["params"]}
	case given == "":
		return "null", nil
	}
	return given, nil
}

// Exchange sends the lines to a server, which is all that it ever gets, and
// returns what it wrote, in order. Every request has to be answered exactly once
// and nothing else at all, each answer has to be JSON-RPC on a line of its own,
// and none may say that the server itself failed. observe, if not nil, sees each
// line before the server goes on.
func Exchange(t testing.TB, s *server.MCPServer, lines []byte, observe func(*Answer)) []Answer {
	t.Helper()
	due := map[string]int{}
	requests := map[string][]*Request{}
	for line := range bytes.SplitSeq(bytes.TrimPrefix(lines, []byte("\ufeff")), []byte("\n")) {
		if id, req := expect(line); id != "" {
			due[id]++
			requests[id] = append(requests[id], req)
		}
	}
	w := &writer{t: t, requests: requests, observe: observe}
	if err := stdio.Serve(t.Context(), s, bytes.NewReader(lines), w); err != nil {
		t.Fatalf("the server ended with %v", err)
	}
	got := map[string]int{}
	for _, a := range w.answers {
		if a.Method == "" {
			got[a.ID]++
		}
	}
	if !maps.Equal(got, due) {
		t.Fatalf("answers by id: %v, want %v\n%q", got, due, lines)
	}
	return w.answers
}

// writer takes apart what a server writes.
type writer struct {
	t        testing.TB
	requests map[string][]*Request
	observe  func(*Answer)
	answers  []Answer
}

// Write implements io.Writer. The transport writes each line with one call.
func (w *writer) Write(p []byte) (int, error) {
	a := w.read(string(p))
	w.answers = append(w.answers, a)
	if w.observe != nil {
		w.observe(&a)
	}
	return len(p), nil
}

func (w *writer) read(line string) Answer {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &fields); err != nil || !utf8.ValidString(line) || strings.Index(line, "\n") != len(line)-1 {
		w.t.Errorf("no line of JSON: %q, %v", line, err)
		return Answer{Line: line}
	}
	a := Answer{ID: string(fields["id"]), Result: fields["result"], Line: line}
	keys := slices.Sorted(maps.Keys(fields))
	switch {
	case slices.Equal(keys, []string{"id", "jsonrpc", "result"}) && len(a.Result) > 0 && a.Result[0] == '{':
	case slices.Equal(keys, []string{"error", "id", "jsonrpc"}):
		a.Error = new(mcp.JSONRPCErrorDetails)
		if err := json.Unmarshal(fields["error"], a.Error); err != nil || a.Error.Code == 0 || len(a.Error.Message) < 10 {
			w.t.Errorf("no error of JSON-RPC: %q, %v", line, err)
		} else if strings.HasPrefix(a.Error.Message, failed) {
			w.t.Errorf("the server failed: %q", line)
		}
	case fields["method"] != nil && fields["id"] == nil && json.Unmarshal(fields["method"], &a.Method) == nil:
	default:
		w.t.Errorf("no answer of JSON-RPC: %q", line)
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		w.t.Errorf("no JSON-RPC 2.0: %q", line)
	}
	if r := w.requests[a.ID]; len(r) == 1 {
		a.Request = r[0]
	} else {
		a.Shared = len(r) > 1
	}
	return a
}

// Schemas are the output schemas of a server's tools by name.
type Schemas map[string]*jsonschema.Schema

// SchemasOf asks the server for its tools.
func SchemasOf(t testing.TB, s *server.MCPServer) Schemas {
	t.Helper()
	answers := Exchange(t, s, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), nil)
	var list struct {
		Tools []struct {
			Name         string          `json:"name"`
			OutputSchema json.RawMessage `json:"outputSchema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(answers[0].Result, &list); err != nil {
		t.Fatal(err)
	}
	out := Schemas{}
	for _, tool := range list.Tools {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.OutputSchema))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("s.json", doc); err != nil {
			t.Fatal(err)
		}
		if out[tool.Name], err = c.Compile("s.json"); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Result checks the result of a call of a tool and returns the text of a refusal
// or else the structure, which fits the tool's schema and is the same as the text.
func (s Schemas) Result(t testing.TB, tool string, result json.RawMessage) (structure json.RawMessage, refusal string) {
	t.Helper()
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	if err := json.Unmarshal(result, &r); err != nil || len(r.Content) != 1 || r.Content[0].Type != "text" || r.Content[0].Text == "" {
		t.Fatalf("%s: %v in %s", tool, err, result)
	}
	text := r.Content[0].Text
	if r.IsError {
		if r.Structured != nil {
			t.Errorf("%s: a refusal with a structure: %s", tool, result)
		}
		return nil, text
	}
	if string(r.Structured) != text {
		t.Errorf("%s: structure and text differ:\n%s\n%s", tool, r.Structured, text)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Structured))
	if err != nil {
		t.Fatal(err)
	}
	if s[tool] == nil {
		t.Fatalf("there is no tool %q, and yet it answers %s", tool, result)
	}
	if err := s[tool].Validate(v); err != nil {
		t.Errorf("%s: the result does not fit its schema: %v\n%s", tool, err, r.Structured)
	}
	return r.Structured, ""
}

// Call writes the line of a tool call. Arguments that are no JSON on one line are sent as a string.
func Call(id, tool string, arguments []byte) []byte {
	if !json.Valid(arguments) || !utf8.Valid(arguments) || bytes.ContainsAny(arguments, "\n\r") {
		arguments, _ = json.Marshal(string(arguments))
	}
	name, _ := json.Marshal(tool)
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":` + string(name) + `,"arguments":` + string(arguments) + "}}\n")
}
