// Package theme decides about colour and holds the palette: what has which colour on a dark, a
// light and an unknown background. Colour never carries a meaning alone; words, letters and glyphs
// do, and colour only helps to tell them apart.
package theme

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Role is what a piece of text is, and so how it looks.
type Role uint8

// The roles.
const (
	Plain     Role = iota
	Title          // headings
	Muted          // what matters less: hints, units, paths
	Accent         // what is selected, keys
	Good           // passed, completed, active
	Attention      // awaiting, partial
	Bad            // failed, blocked
	Command        // what can be typed
	OpenAI         // the provider
	Anthropic      // the provider
	Model          // model ids
	Off            // reasoning none
	Slight         // reasoning minimal and low
	Moderate       // reasoning medium
	Deep           // reasoning high
	Deepest        // reasoning xhigh and max
	roles
)

// shade is a colour on one kind of background: for true colour, 256 colours and 16 colours.
type shade struct{ hex, c256, c16 string }

// paint is the look of a role. A background that is not known takes colours that stand out, if less,
// on black and on white.
type paint struct {
	dark, light, unknown shade
	bold                 bool
}

var palette = [roles]paint{
	Title:     {bold: true},
	Muted:     {dark: shade{"#9aa4b2", "247", "7"}, light: shade{"#5b6470", "241", "8"}, unknown: shade{"#737880", "243", "8"}},
	Accent:    {dark: shade{"#7dcfff", "117", "14"}, light: shade{"#005f9e", "25", "4"}, unknown: shade{"#1b79b8", "32", "6"}, bold: true},
	Good:      {dark: shade{"#7ee787", "114", "10"}, light: shade{"#1a6b2b", "22", "2"}, unknown: shade{"#218530", "28", "2"}},
	Attention: {dark: shade{"#f2cc60", "221", "11"}, light: shade{"#7a5200", "94", "3"}, unknown: shade{"#9a6b00", "136", "3"}},
	Bad:       {dark: shade{"#ff7b72", "210", "9"}, light: shade{"#b3131f", "124", "1"}, unknown: shade{"#e0353a", "160", "1"}, bold: true},
	Command:   {dark: shade{"#c8b6ff", "183", "13"}, light: shade{"#5b2fb8", "55", "5"}, unknown: shade{"#8257e0", "98", "5"}},
	OpenAI:    {dark: shade{"#5eead4", "80", "14"}, light: shade{"#00655b", "23", "6"}, unknown: shade{"#008377", "30", "6"}},
	Anthropic: {dark: shade{"#f5a97f", "216", "11"}, light: shade{"#9a3f12", "130", "3"}, unknown: shade{"#c2571b", "166", "3"}},
	Model:     {dark: shade{"#a5c8ff", "153", "12"}, light: shade{"#1e4fb0", "26", "4"}, unknown: shade{"#3f74d1", "68", "4"}},
	Off:       {dark: shade{"#9aa4b2", "247", "7"}, light: shade{"#5b6470", "241", "8"}, unknown: shade{"#737880", "243", "8"}},
	Slight:    {dark: shade{"#8bd5a0", "115", "10"}, light: shade{"#23683a", "29", "2"}, unknown: shade{"#2c8349", "29", "2"}},
	Moderate:  {dark: shade{"#e5d67a", "186", "11"}, light: shade{"#6b5a00", "58", "3"}, unknown: shade{"#857100", "100", "3"}},
	Deep:      {dark: shade{"#ffab70", "215", "11"}, light: shade{"#944300", "130", "3"}, unknown: shade{"#bb5d0e", "166", "3"}, bold: true},
	Deepest:   {dark: shade{"#ff9ec7", "218", "13"}, light: shade{"#a1165f", "125", "5"}, unknown: shade{"#d2347f", "162", "5"}, bold: true},
}

// Theme renders roles for one output.
type Theme struct {
	// Renderer makes further styles that follow the theme's colours and background.
	Renderer *lipgloss.Renderer
	styles   [roles]lipgloss.Style
}

// New returns a theme that writes with at most the colours of profile. known false stands for a
// background that nobody knows; dark does not count then.
func New(profile termenv.Profile, dark, known bool) *Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(dark || !known)
	t := &Theme{Renderer: r}
	for role := range roles {
		p := palette[role]
		s := p.unknown
		switch {
		case known && dark:
			s = p.dark
		case known:
			s = p.light
		}
		style := r.NewStyle().Bold(p.bold)
		if s != (shade{}) {
			style = style.Foreground(lipgloss.CompleteColor{TrueColor: s.hex, ANSI256: s.c256, ANSI: s.c16})
		}
		t.styles[role] = style
	}
	return t
}

// Use makes the theme's colours and background those of everything that is drawn without naming a
// renderer, as the form library does.
func (t *Theme) Use() { lipgloss.SetDefaultRenderer(t.Renderer) }

// Style returns the style of a role.
func (t *Theme) Style(role Role) lipgloss.Style { return t.styles[role] }

// Paint returns text in the style of its role. text must be inert.
func (t *Theme) Paint(role Role, text string) string { return t.styles[role].Render(text) }

// Provider returns the role of a provider's name.
func Provider(name string) Role {
	switch name {
	case "openai":
		return OpenAI
	case "anthropic":
		return Anthropic
	}
	return Plain
}

// Reasoning returns the role of a reasoning word.
func Reasoning(word string) Role {
	switch word {
	case "none":
		return Off
	case "minimal", "low":
		return Slight
	case "medium":
		return Moderate
	case "high":
		return Deep
	case "xhigh", "max":
		return Deepest
	}
	return Plain
}

// Status returns the role of a session's status.
func Status(word string) Role {
	switch word {
	case "active", "completed", "complete":
		return Good
	case "awaiting_host_outcome", "partial":
		return Attention
	case "blocked":
		return Bad
	}
	return Plain
}
