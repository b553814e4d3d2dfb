// Command minimal links what qa-orch links and says one line: the floor for its start-up time.
package main

import (
	"os"

	_ "github.com/charmbracelet/bubbletea"
	_ "github.com/charmbracelet/huh"
	_ "github.com/mark3labs/mcp-go/client"
	_ "github.com/mark3labs/mcp-go/server"
	_ "github.com/nicksnyder/go-i18n/v2/i18n"
	_ "github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	_ "modernc.org/sqlite"
)

func main() {
	cmd := &cobra.Command{Use: "minimal", Run: func(cmd *cobra.Command, _ []string) { cmd.Println("minimal") }}
	cmd.SetOut(os.Stdout)
	if cmd.Execute() != nil {
		os.Exit(1)
	}
}
