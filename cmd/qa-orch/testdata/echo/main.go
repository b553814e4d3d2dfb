// Command echo is a minimal MCP server with one tool on mcp-go's stock transport: what the speed and
// size of qa-orch serve are measured against.
package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("echo", "0", server.WithInputSchemaValidation())
	s.AddTool(mcp.NewToolWithRawSchema("echo", "Echoes.", json.RawMessage(
		`{"type":"object","properties":{"run_id":{"type":"string"}},"required":["run_id"],"additionalProperties":false}`)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(r.GetString("run_id", "")), nil
		})
	if server.ServeStdio(s) != nil {
		os.Exit(1)
	}
}
