package setup

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// paintWords paints reasoning words.
func (w *Wizard) paintWords(words []catalog.Reasoning) string {
	parts := make([]string, len(words))
	for i, word := range words {
		parts[i] = w.look.Paint(theme.Reasoning(string(word)), string(word))
	}
	return strings.Join(parts, " ")
}

// result is the whole policy beside the current one.
func (w *Wizard) result() string {
	provider, stages := w.Result()
	text := w.table(append([]Row{provider}, stages...), true)
	if note := w.Compared(); note != "" {
		text += "\n" + w.look.Paint(theme.Muted, fold.Text(note, w.columns()))
	}
	return text
}

// table lays rows out in columns, with compare beside what they were before. A
// terminal too narrow for that gets what was before on a line of its own.
func (w *Wizard) table(rows []Row, compare bool) string {
	names, models, words, notes := 0, 0, 0, 0
	for _, r := range rows {
		names = max(names, ansi.StringWidth(r.Name))
		models = max(models, ansi.StringWidth(r.Model))
		if r.Model != "" {
			words = max(words, ansi.StringWidth(r.Reasoning))
		}
		notes = max(notes, ansi.StringWidth(w.note(r)))
	}
	models = min(models, w.columns()-2-names-2-2-words)
	values := models + 2 + words
	wide := 2+names+2+values+2+notes <= w.columns()
	var lines []string
	for _, r := range rows {
		line := "  " + r.Name + strings.Repeat(" ", names-ansi.StringWidth(r.Name)+2)
		cell := w.cell(r, models)
		note := ""
		if compare {
			note = w.note(r)
		}
		role := theme.Muted
		if !r.Same {
			role = theme.Attention
		}
		switch {
		case note != "" && wide:
			line += cell + strings.Repeat(" ", values-ansi.StringWidth(cell)+2) + w.look.Paint(role, note)
		case r.Same || note == "":
			line += cell
		default:
			line += cell + "\n" + ansi.Truncate("    "+w.look.Paint(role, note), w.columns(), "…")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// cell is the value of a row, the model cut or filled to a width.
func (w *Wizard) cell(r Row, width int) string {
	if r.Model == "" {
		return w.look.Paint(theme.Provider(r.Reasoning), r.Reasoning)
	}
	model := ansi.Truncate(r.Model, width, "…")
	return w.look.Paint(theme.Model, model) + strings.Repeat(" ", width-ansi.StringWidth(model)+2) +
		w.look.Paint(theme.Reasoning(r.Reasoning), r.Reasoning)
}

// note says what a row was before.
func (w *Wizard) note(r Row) string {
	switch {
	case r.Same:
		return w.T("setup.same")
	case r.Was != "":
		return w.T("setup.was", locales.Vars{"Before": r.Was})
	}
	return ""
}
