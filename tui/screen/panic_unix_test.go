//go:build unix && !race

package screen

import (
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// The race detector has no part in this: when the library recovers from a panic, it closes its
// reader without waiting for it, which is a race, if one of a program that is about to end.
func TestAPanicLeavesTheTerminalSane(t *testing.T) {
	// What the library says of a panic goes to the standard output: one test at a time.
	calls := 0
	for name, m := range map[string]model{
		"in a view": {view: func() string {
			if calls++; calls > 2 {
				panic("the view is broken")
			}
			return "fine so far"
		}, update: func(tea.Msg) tea.Cmd { return func() tea.Msg { time.Sleep(time.Millisecond); return "again" } }},
		"in an update": {view: func() string { return "" }, update: func(tea.Msg) tea.Cmd { panic("the update is broken") }},
		"in a command": {view: func() string { return "" }, update: func(msg tea.Msg) tea.Cmd {
			if _, size := msg.(tea.WindowSizeMsg); size {
				return func() tea.Msg { panic("the command is broken") }
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, m, nil); err == nil {
				t.Error("a panic is no error")
			}
		})
	}
}
