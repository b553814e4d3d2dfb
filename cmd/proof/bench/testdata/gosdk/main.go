// Command gosdk is a minimal MCP server on the official Go SDK.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/qa-orch/qa-orch/cmd/proof/bench/testdata/tools"
)

func main() {
	all, err := tools.Read()
	if err != nil {
		os.Exit(1)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "reference", Version: "0"}, nil)
	for _, t := range all {
		tool := &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema}
		if t.Answer == nil {
			mcp.AddTool(s, tool, func(_ context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, any, error) {
				id, _ := in["run_id"].(string)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: id}}}, nil, nil
			})
			continue
		}
		tool.OutputSchema = t.OutputSchema
		mcp.AddTool(s, tool, func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, json.RawMessage, error) {
			return nil, t.Answer, nil
		})
	}
	if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		os.Exit(1)
	}
}
