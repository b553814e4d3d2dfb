// Command frame is a minimal bubbletea program that shows a lipgloss table of as many rows as the
// dashboard shows, at the dashboard's frame rate.
package main

import (
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss/table"
)

type model struct{}

func (model) Init() tea.Cmd                         { return nil }
func (m model) Update(tea.Msg) (tea.Model, tea.Cmd) { return m, nil }
func (model) View() string {
	t := table.New().Headers("id", "status", "task", "route", "step", "left")
	for i := range 40 {
		t.Row(fmt.Sprintf("row-%02d", i), "active", "other", "ordinary_mr", "triage", "29:59")
	}
	return t.String()
}

func main() {
	if _, err := tea.NewProgram(model{}, tea.WithAltScreen(), tea.WithFPS(30)).Run(); err != nil {
		os.Exit(1)
	}
}
