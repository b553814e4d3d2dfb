package explain

import (
	"errors"

	"github.com/qa-orch/qa-orch/core/clients"
	"github.com/qa-orch/qa-orch/core/clients/edit"
	"github.com/qa-orch/qa-orch/core/clients/ledger"
	"github.com/qa-orch/qa-orch/core/rules"
	"github.com/qa-orch/qa-orch/locales"
)

var (
	editWords    = locales.NewFamily("explain.edit.", "not_text", "not_valid", "shape")
	commandWords = locales.NewFamily("explain.command.", "go_run", "temporary", "gone")
	rulesWords   = locales.NewFamily("explain.rules.", "not_text", "markers")
)

// Edit says why a client's file was not changed.
func Edit(p *locales.Printer, err error) string {
	var refusal *edit.Error
	var rule *rules.Error
	switch {
	case errors.As(err, &refusal):
		text := p.Word(editWords, string(refusal.Code), locales.Vars{"Format": formatNames[refusal.Format], "Key": refusal.Key})
		return where(p, refusal.Line, text)
	case errors.As(err, &rule):
		return p.Word(rulesWords, string(rule.Code))
	case errors.Is(err, ledger.ErrChanged):
		return p.T("explain.file-changed")
	case errors.Is(err, ledger.ErrBusy):
		return p.T("explain.file-busy")
	}
	return fileCause(p, err)
}

var formatNames = map[edit.Format]string{edit.JSON: "JSON", edit.TOML: "TOML", edit.YAML: "YAML"}

// Command says why a path can't be registered.
func Command(p *locales.Printer, err error) string {
	var problem *clients.PathError
	if !errors.As(err, &problem) {
		return p.Cause(err)
	}
	return p.Word(commandWords, string(problem.Code), locales.Vars{"Path": problem.Path})
}
