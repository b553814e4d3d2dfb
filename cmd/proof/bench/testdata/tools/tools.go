// Package tools reads what the reference servers serve: tools with the schemas of qa-orch's and with
// answers that it gave once.
package tools

import (
	"encoding/json"
	"os"
)

// Tool is one of them. Without an answer it echoes the argument run_id.
type Tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Answer       json.RawMessage `json:"answer"`
	Writes       bool            `json:"writes"`
}

// Read returns the tools that the command line names a file of, and one that echoes.
func Read() ([]Tool, error) {
	all := []Tool{{
		Name: "echo", Description: "Echoes.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"run_id":{"type":"string"}},"required":["run_id"],"additionalProperties":false}`),
	}}
	if len(os.Args) < 2 {
		return all, nil
	}
	data, err := os.ReadFile(os.Args[1])
	if err != nil {
		return nil, err
	}
	var more []Tool
	err = json.Unmarshal(data, &more)
	return append(all, more...), err
}
