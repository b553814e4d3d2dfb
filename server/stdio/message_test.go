package stdio

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// toolResult is a result as the servers here make them: the same JSON as text and as structured content.
func toolResult(structured string) *mcp.CallToolResult {
	return mcp.NewToolResultStructured(json.RawMessage(structured), structured)
}

// A tool's result takes a shorter way to the same line.
func TestSuccess(t *testing.T) {
	t.Parallel()
	odd := toolResult("{ \"a\" : \"<b>&\u2028 ё \\u0001\" ,\n\"n\": 1e3 }")
	odd.Meta = &mcp.Meta{AdditionalFields: map[string]any{"x": "<y>"}}
	for name, result := range map[string]any{
		"structured": odd,
		"an error":   mcp.NewToolResultError("no <such> thing\n"),
		"empty":      &mcp.CallToolResult{},
		"none":       (*mcp.CallToolResult)(nil),
		"by value":   *toolResult(`{}`),
		"other":      map[string]any{"tools": []string{"<a>"}},
	} {
		want, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		got := string(success(json.RawMessage(`7`), result))
		if got != `{"jsonrpc":"2.0","id":7,"result":`+string(want)+"}\n" {
			t.Errorf("%s: %s", name, got)
		}
		if strings.Count(got, "\n") != 1 {
			t.Errorf("%s: more than a line", name)
		}
	}
	if got := string(success(json.RawMessage(`7`), toolResult(`{"a":`))); !strings.Contains(got, `"error":{"code":-32603`) {
		t.Errorf("a result that is no JSON: %s", got)
	}
}

func BenchmarkSuccess(b *testing.B) {
	result := toolResult(`{"sections":["` + strings.Repeat(`a sentence of some words","`, 40) + `"]}`)
	b.ReportAllocs()
	for b.Loop() {
		success(json.RawMessage(`1`), result)
	}
}
