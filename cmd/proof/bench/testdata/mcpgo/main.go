// Command mcpgo is a minimal MCP server on mcp-go.
package main

import (
	"os"

	"github.com/qa-orch/qa-orch/cmd/proof/bench/testdata/mcpgotools"
)

func main() {
	if mcpgotools.Serve(nil) != nil {
		os.Exit(1)
	}
}
