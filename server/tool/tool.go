package tool

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Tool is one tool: what hosts are told of it, and what it does.
type Tool struct {
	Name        string
	Title       string
	Description string
	Input       Schema
	Output      Schema
	ReadOnly    bool
	Idempotent  bool

	// Run carries out a call with checked arguments. The result is any value
	// that marshals to a JSON object which Output allows.
	Run func(ctx context.Context, args Arguments) (any, error)
	// Refuse words an error of Run, or of the arguments (then it is a Problems),
	// for the host.
	Refuse func(error) string
	// NameUnknown lets refusals repeat the names of unknown arguments.
	NameUnknown bool
}

// Register adds the tools to the server, each with a closed world and without
// destruction: neither server here reaches outside or destroys anything.
func Register(s *server.MCPServer, tools []Tool) error {
	for _, t := range tools {
		input, err := t.Input.MarshalJSON()
		if err != nil {
			return err
		}
		output, err := t.Output.MarshalJSON()
		if err != nil {
			return err
		}
		def := mcp.NewToolWithRawSchema(t.Name, t.Description, input)
		def.Title = t.Title
		def.RawOutputSchema = output
		def.Annotations = mcp.ToolAnnotation{
			Title:           t.Title,
			ReadOnlyHint:    &t.ReadOnly,
			DestructiveHint: mcp.ToBoolPtr(false),
			IdempotentHint:  &t.Idempotent,
			OpenWorldHint:   mcp.ToBoolPtr(false),
		}
		s.AddTool(def, t.handler())
	}
	return nil
}

func (t Tool) handler() server.ToolHandlerFunc {
	checker := NewChecker(t.Input, t.NameUnknown)
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		args, err := checker.Check(req.Params.RawArguments)
		if err != nil {
			return mcp.NewToolResultError(t.Refuse(err)), nil
		}
		result, err := t.Run(ctx, args)
		if err != nil {
			return mcp.NewToolResultError(t.Refuse(err)), nil
		}
		// Encoded once: the text and the structured content are the same JSON.
		data, err := json.Marshal(result)
		if err != nil {
			return nil, err
		}
		return mcp.NewToolResultStructured(json.RawMessage(data), string(data)), nil
	}
}
