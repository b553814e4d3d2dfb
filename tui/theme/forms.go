package theme

import (
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"
)

// Forms returns the theme for the form library and makes it the default of the process (see Use),
// because forms draw a part of themselves with the default renderer.
func (t *Theme) Forms() *huh.Theme {
	t.Use()
	h := huh.ThemeBase()
	color := func(s lipgloss.Style, role Role) lipgloss.Style {
		return s.Foreground(t.styles[role].GetForeground()).Bold(palette[role].bold)
	}

	f := &h.Focused
	f.Base = f.Base.BorderForeground(t.styles[Accent].GetForeground())
	f.Card = f.Base
	f.Title = color(f.Title, Title)
	f.NoteTitle = color(f.NoteTitle, Title)
	f.Description = color(f.Description, Muted)
	f.ErrorIndicator = color(f.ErrorIndicator, Bad)
	f.ErrorMessage = color(f.ErrorMessage, Bad)
	f.SelectSelector = color(f.SelectSelector, Accent)
	f.MultiSelectSelector = color(f.MultiSelectSelector, Accent)
	f.NextIndicator = color(f.NextIndicator, Accent)
	f.PrevIndicator = color(f.PrevIndicator, Accent)
	f.SelectedOption = color(f.SelectedOption, Accent)
	f.SelectedPrefix = color(f.SelectedPrefix, Accent)
	f.TextInput.Cursor = color(f.TextInput.Cursor, Accent)
	f.TextInput.Prompt = color(f.TextInput.Prompt, Accent)
	f.TextInput.Placeholder = color(f.TextInput.Placeholder, Muted)
	button := t.Renderer.NewStyle().Padding(0, 2).MarginRight(1)
	f.FocusedButton = color(button, Accent).Reverse(true)
	f.BlurredButton = color(button, Muted)
	f.Next = f.FocusedButton

	h.Blurred = *f
	h.Blurred.Base = f.Base.BorderStyle(lipgloss.HiddenBorder())
	h.Blurred.Card = h.Blurred.Base
	h.Blurred.NextIndicator, h.Blurred.PrevIndicator = t.Renderer.NewStyle(), t.Renderer.NewStyle()
	h.Group.Title, h.Group.Description = f.Title, f.Description

	h.Help.ShortKey = t.styles[Accent]
	h.Help.ShortDesc = t.styles[Muted]
	h.Help.ShortSeparator = t.styles[Muted]
	h.Help.FullKey, h.Help.FullDesc, h.Help.FullSeparator = h.Help.ShortKey, h.Help.ShortDesc, h.Help.ShortSeparator
	h.Help.Ellipsis = t.styles[Muted]
	return h
}
