// Package servertest calls an MCP server in the test's own process and holds
// what is true of every answer of every tool. Only tests use it.
package servertest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Server is a server under test.
type Server struct {
	t       testing.TB
	mcp     *mcpserver.MCPServer
	schemas map[string]*jsonschema.Schema // of the results, by tool
}

// Tool is a tool as clients are told of it.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  map[string]any  `json:"annotations"`
}

// New takes a server to test. The schemas of all tools have to compile.
func New(t testing.TB, s *mcpserver.MCPServer) *Server {
	t.Helper()
	out := &Server{t: t, mcp: s, schemas: map[string]*jsonschema.Schema{}}
	for _, tool := range out.Tools() {
		Compile(t, tool.InputSchema)
		out.schemas[tool.Name] = Compile(t, tool.OutputSchema)
	}
	return out
}

// Compile compiles a schema: JSON, or what becomes it.
func Compile(t testing.TB, schema any) *jsonschema.Schema {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// sent is what a test gives as arguments: JSON in a string, to the letter, or
// what becomes it.
func sent(arguments any) any {
	if text, ok := arguments.(string); ok {
		return json.RawMessage(text)
	}
	return arguments
}

// RPC sends a request and returns its result as JSON, or its error. A string as
// params is JSON, here and as arguments of tools.
func (s *Server) RPC(method string, params any) (json.RawMessage, *mcp.JSONRPCErrorDetails) {
	s.t.Helper()
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": sent(params)})
	if err != nil {
		s.t.Fatal(err)
	}
	data, err := json.Marshal(s.mcp.HandleMessage(s.t.Context(), request))
	if err != nil {
		s.t.Fatal(err)
	}
	var envelope struct {
		Result json.RawMessage          `json:"result"`
		Error  *mcp.JSONRPCErrorDetails `json:"error"`
	}
	if err := json.Unmarshal(data, &envelope); err != nil {
		s.t.Fatal(err)
	}
	return envelope.Result, envelope.Error
}

// Tools lists the tools.
func (s *Server) Tools() []Tool {
	s.t.Helper()
	raw, _ := s.RPC("tools/list", map[string]any{})
	var list struct {
		Tools []Tool `json:"tools"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		s.t.Fatal(err)
	}
	return list.Tools
}

// Call calls a tool and checks what holds for every answer: a result fits the
// tool's schema and is the same as text, a refusal is one text without structure.
func (s *Server) Call(tool string, arguments any) (result map[string]any, refusal string) {
	s.t.Helper()
	raw, rpcErr := s.RPC("tools/call", map[string]any{"name": tool, "arguments": sent(arguments)})
	if rpcErr != nil {
		s.t.Fatalf("%s: a JSON-RPC error: %+v", tool, rpcErr)
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
		s.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	if r.IsError {
		if r.Structured != nil || r.Content[0].Text == "" {
			s.t.Errorf("%s: a refusal has a text and no structure: %s", tool, raw)
		}
		return nil, r.Content[0].Text
	}
	if string(r.Structured) != r.Content[0].Text {
		s.t.Errorf("%s: structure and text differ:\n%s\n%s", tool, r.Structured, r.Content[0].Text)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Structured))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.schemas[tool].Validate(v); err != nil {
		s.t.Errorf("%s: the result does not fit its schema: %v\n%s", tool, err, r.Structured)
	}
	return v.(map[string]any), ""
}

// Must calls a tool that has to succeed.
func (s *Server) Must(tool string, arguments any) map[string]any {
	s.t.Helper()
	r, refusal := s.Call(tool, arguments)
	if refusal != "" {
		s.t.Fatalf("%s %s: %s", tool, arguments, refusal)
	}
	return r
}

// Refused calls a tool that has to refuse with the phrase, and to say more than
// the phrase.
func (s *Server) Refused(phrase, tool string, arguments any) string {
	s.t.Helper()
	r, refusal := s.Call(tool, arguments)
	if r != nil || !strings.HasPrefix(refusal, phrase+": ") || len(refusal) < len(phrase)+20 {
		s.t.Errorf("%s %s: got %v, %q; want %q and what to do", tool, arguments, r, refusal, phrase)
	}
	return refusal
}

// Golden holds the whole list of tools against a file, so that no word of it
// changes unseen.
func (s *Server) Golden(file string) {
	s.t.Helper()
	raw, _ := s.RPC("tools/list", map[string]any{})
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, raw, "", "  "); err != nil {
		s.t.Fatal(err)
	}
	pretty.WriteByte('\n')
	if *update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Equal(want, pretty.Bytes()) {
		s.t.Errorf("the tool list differs from %s; look at the change and run with -update", file)
	}
}
