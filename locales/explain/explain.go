// Package explain words the errors of the core for people. The core itself knows
// codes and fields only, so that they can be said in any language.
package explain

import (
	"errors"
	"strings"

	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/regular"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/locales"
)

var (
	settingWords = locales.NewFamily("explain.setting.", "not_positive", "too_large", "unknown_word", "no_home", "bad_path")

	policyWords = locales.NewFamily("explain.policy.",
		"encoding", "empty", "syntax", "not_an_object", "duplicate_key", "unknown_key", "missing", "not_a_string",
		"unknown_provider", "bad_model_id", "wrong_provider", "unknown_reasoning", "unsupported_reasoning", "unreadable")

	modelsWords = locales.NewFamily("explain.models.", "syntax", "unknown_key", "missing", "value", "duplicate")

	storeWords = locales.NewFamily("explain.store.",
		"is_folder", "is_symlink", "not_regular", "second_name", "not_sqlite", "damaged", "newer_schema", "foreign_schema", "denied",
		"read_only", "busy", "disk_full", "missing", "bad_row", "hot_journal", "no_folder", "failed")

	storeRemedies = locales.NewFamily("explain.store-remedy.",
		"is_folder", "is_symlink", "not_regular", "second_name", "not_sqlite", "damaged", "newer_schema", "foreign_schema", "denied",
		"read_only", "busy", "disk_full", "missing", "bad_row", "hot_journal", "no_folder", "failed")
)

// Setting says what is wrong with an environment variable.
func Setting(p *locales.Printer, problem *settings.Problem) string {
	return p.Word(settingWords, string(problem.Code), locales.Vars{
		"Variable": problem.Variable, "Max": p.Count(problem.Max), "Allowed": p.Or(problem.Allowed),
	})
}

// Policy says what is wrong with a policy: where, what, and what may stand there.
func Policy(p *locales.Printer, problem policy.Problem) string {
	cause := ""
	if problem.Code == policy.CodeIO {
		cause = fileCause(p, problem.Err)
	}
	text := p.Word(policyWords, string(problem.Code), locales.Vars{"Cause": cause, "Owner": string(problem.Owner)})
	if problem.Defaulted {
		text = p.T("explain.policy-default", locales.Vars{"Default": string(defaultOf(problem.Field))})
	}
	if problem.Field != "" {
		text = p.T("explain.field", locales.Vars{"Field": problem.Field, "Problem": text})
	}
	return where(p, problem.Line, allowed(p, problem.Allowed, text))
}

// Problems says everything that is wrong with a policy, in one line. An error
// that is no policy.Invalid is worded as the system's.
func Problems(p *locales.Printer, err error) string {
	var invalid *policy.Invalid
	if !errors.As(err, &invalid) {
		return fileCause(p, err)
	}
	texts := make([]string, len(invalid.Problems))
	for i, problem := range invalid.Problems {
		texts[i] = Policy(p, problem)
	}
	return strings.Join(texts, "; ")
}

// Models says what is wrong with the user's models file.
func Models(p *locales.Printer, err error) string {
	var problem *catalog.FileProblem
	if !errors.As(err, &problem) {
		return fileCause(p, err)
	}
	text := p.Word(modelsWords, problem.Code)
	if problem.Field != "" {
		text = p.T("explain.field", locales.Vars{"Field": problem.Field, "Problem": text})
	}
	return where(p, problem.Line, allowed(p, problem.Allow, text))
}

// Store says why a session store can't be used, and what to do about it. An
// error that is no sqlite.Unusable is worded as the system's.
func Store(p *locales.Printer, err error) (problem, remedy string) {
	var u *sqlite.Unusable
	if !errors.As(err, &u) {
		return fileCause(p, err), ""
	}
	return p.Word(storeWords, string(u.Reason)), p.Word(storeRemedies, string(u.Reason))
}

// First says the first thing that is wrong with a policy and how many others
// there are, for where a list has no room.
func First(p *locales.Printer, err error) string {
	var invalid *policy.Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) < 2 {
		return Problems(p, err)
	}
	return p.N("explain.and-more", len(invalid.Problems)-1, locales.Vars{"Problem": Policy(p, invalid.Problems[0])})
}

// Only returns the kind of the only thing that is wrong with a policy, empty if
// there are several or err is no *policy.Invalid.
func Only(err error) policy.Code {
	var invalid *policy.Invalid
	if !errors.As(err, &invalid) || len(invalid.Problems) != 1 {
		return ""
	}
	return invalid.Problems[0].Code
}

// File says why a file could not be read or written, without its path.
func File(p *locales.Printer, err error) string {
	var invalid *policy.Invalid
	if errors.As(err, &invalid) {
		return Problems(p, err)
	}
	return fileCause(p, err)
}

func fileCause(p *locales.Printer, err error) string {
	switch {
	case errors.Is(err, regular.ErrNotRegular):
		return p.T("explain.not-regular")
	case errors.Is(err, regular.ErrForeignLink):
		return p.T("explain.foreign-link")
	case errors.Is(err, regular.ErrLink):
		return p.T("explain.link")
	case errors.Is(err, regular.ErrNotFolder):
		return p.T("cause.no-folder")
	case errors.Is(err, atomicfile.ErrTooLarge):
		return p.T("explain.too-large")
	}
	return p.Cause(err)
}

func where(p *locales.Printer, line int, text string) string {
	if line == 0 {
		return text
	}
	return p.T("explain.line", locales.Vars{"Line": line, "Problem": text})
}

func allowed(p *locales.Printer, words []string, text string) string {
	if len(words) == 0 {
		return text
	}
	return p.T("explain.allowed", locales.Vars{"Problem": text, "Words": strings.Join(words, ", ")})
}

func defaultOf(field string) catalog.Reasoning {
	for _, s := range policy.Stages() {
		if s.ReasoningField() == field {
			return s.DefaultReasoning()
		}
	}
	return ""
}
