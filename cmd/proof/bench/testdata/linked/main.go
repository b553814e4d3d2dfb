// Command linked links the libraries that qa-orch links and says one line: the floor for the start-up
// time of a program made of them.
package main

import (
	"os"

	_ "github.com/blevesearch/snowballstem/english"
	_ "github.com/blevesearch/snowballstem/russian"
	_ "github.com/blevesearch/snowballstem/spanish"
	_ "github.com/charmbracelet/bubbles/textinput"
	_ "github.com/charmbracelet/bubbletea"
	_ "github.com/charmbracelet/huh"
	_ "github.com/charmbracelet/lipgloss"
	_ "github.com/go-json-experiment/json"
	_ "github.com/goccy/go-yaml"
	_ "github.com/gofrs/flock"
	_ "github.com/google/btree"
	_ "github.com/kljensen/snowball/english"
	_ "github.com/kljensen/snowball/russian"
	_ "github.com/kljensen/snowball/spanish"
	_ "github.com/mark3labs/mcp-go/client"
	_ "github.com/mark3labs/mcp-go/server"
	_ "github.com/muesli/termenv"
	_ "github.com/nicksnyder/go-i18n/v2/i18n"
	_ "github.com/pelletier/go-toml/v2"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	_ "github.com/tailscale/hujson"
	_ "golang.org/x/text/unicode/norm"
	_ "modernc.org/sqlite"
)

func main() {
	cmd := &cobra.Command{Use: "linked", Run: func(cmd *cobra.Command, _ []string) { cmd.Println("linked") }}
	cmd.SetOut(os.Stdout)
	if cmd.Execute() != nil {
		os.Exit(1)
	}
}
