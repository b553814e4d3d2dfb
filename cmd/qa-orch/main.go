// Command qa-orch gives coding agents a QA orchestrator and a devil's advocate over MCP, and their
// person a terminal to set them up and to watch them.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/tui/calm"
)

func main() {
	calm.Restore()
	cobra.MousetrapHelpText = "" // a double click shows the overview like any other terminal
	os.Exit(run(systemApp()))
}
