// Package mcpgotools serves the reference tools on mcp-go.
package mcpgotools

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/cmd/proof/bench/testdata/tools"
)

// Serve serves the tools on mcp-go's stock transport with its schema validation. write, if not nil,
// is called before a tool that writes answers.
func Serve(write func(text string) error) error {
	all, err := tools.Read()
	if err != nil {
		return err
	}
	s := server.NewMCPServer("reference", "0", server.WithInputSchemaValidation())
	for _, t := range all {
		tool := mcp.NewToolWithRawSchema(t.Name, t.Description, t.InputSchema)
		tool.RawOutputSchema = t.OutputSchema
		text := string(t.Answer)
		s.AddTool(tool, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if t.Answer == nil {
				return mcp.NewToolResultText(r.GetString("run_id", "")), nil
			}
			if t.Writes && write != nil {
				if err := write(text); err != nil {
					return nil, err
				}
			}
			return mcp.NewToolResultStructured(t.Answer, text), nil
		})
	}
	return server.ServeStdio(s)
}
