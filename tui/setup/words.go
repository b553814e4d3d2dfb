package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/terms"
)

var (
	langNames     = locales.NewFamily("lang.", "en", "ru")
	providerNotes = locales.NewFamily("setup.provider-note.", "openai", "anthropic")
	providerNames = locales.NewFamily("setup.provider-name.", "openai", "anthropic")
	wayNames      = locales.NewFamily("setup.way.", "recommended", "current", "stages")
	strengths     = locales.NewFamily("setup.strength.", "none", "minimal", "low", "medium", "high", "xhigh", "max")
)

// Title returns the current question.
func (f *Flow) Title() string {
	stage := terms.Stage(f.Printer, f.at.Stage)
	switch f.at.Kind {
	case AskLanguage:
		return f.T("setup.language")
	case AskProvider:
		return f.T("setup.provider")
	case AskWay:
		return f.T("setup.how", locales.Vars{"Provider": f.Word(providerNames, string(f.provider))})
	case AskModel:
		return f.T("setup.model", locales.Vars{"Stage": stage})
	case AskID:
		return f.T("setup.exact-id", locales.Vars{"Stage": stage})
	case AskReasoning:
		return f.T("setup.reasoning", locales.Vars{"Stage": stage})
	}
	if f.Unchanged() {
		return f.T("setup.confirm-same")
	}
	return f.T("setup.confirm")
}

// About returns what helps to answer the current question.
func (f *Flow) About() string {
	switch f.at.Kind {
	case AskLanguage:
		return f.T("setup.language-about")
	case AskProvider:
		return f.T("setup.provider-about")
	case AskModel:
		return terms.Work(f.Printer, f.at.Stage)
	case AskID:
		return f.T("setup.id-about", locales.Vars{"Provider": f.Word(providerNames, string(f.provider))})
	case AskReasoning:
		return f.reasoningAbout()
	case Confirm:
		switch {
		case f.DryRun:
			return f.T("setup.path-dry", locales.Vars{"Path": f.Current.Path})
		case !f.Current.Configured:
			return f.T("setup.path-new", locales.Vars{"Path": f.Current.Path})
		}
		return f.T("setup.path", locales.Vars{"Path": f.Current.Path})
	}
	return ""
}

func (f *Flow) reasoningAbout() string {
	model := f.draft().Stage(f.at.Stage).Model
	words, verified := f.models.ReasoningFor(f.provider, model)
	switch {
	case !verified:
		return f.T("setup.unverified", locales.Vars{"Model": model})
	case len(words) == 1:
		return f.T("setup.one-word", locales.Vars{"Model": model})
	}
	return f.T("setup.of-model", locales.Vars{"Model": model})
}

// Notices returns what is wrong with the files that setup found, as sentences.
func (f *Flow) Notices() []string {
	var out []string
	if err := f.Current.Problem; err != nil {
		problem := explain.First(f.Printer, err)
		switch explain.Only(err) {
		case policy.CodeEmpty:
			out = append(out, f.T("setup.notice-empty", locales.Vars{"Path": f.Current.Path}))
		case policy.CodeIO:
			out = append(out, f.T("setup.notice-unreadable", locales.Vars{"Path": f.Current.Path, "Problem": problem}))
		default:
			out = append(out, f.T("setup.notice-broken", locales.Vars{"Path": f.Current.Path, "Problem": problem}))
		}
	}
	if err := f.Current.ModelsErr; err != nil {
		out = append(out, f.T("setup.notice-models", locales.Vars{"Path": f.Current.ModelsPath, "Problem": explain.Models(f.Printer, err)}))
	}
	return out
}

// Trouble returns why the policy could not be saved, empty if it was not tried.
func (f *Flow) Trouble() string {
	if f.problem == nil {
		return ""
	}
	return f.T("setup.save-failed", locales.Vars{"Path": f.Current.Path, "Cause": explain.File(f.Printer, f.problem)})
}

// IDHint says what a typed id is, and whether it may be used.
func (f *Flow) IDHint(id string) (hint string, ok bool) {
	if id == "" {
		return f.T("setup.id-empty"), false
	}
	if problem := f.CheckID(id); problem != nil {
		problem.Field = ""
		return explain.Policy(f.Printer, *problem), false
	}
	if m, known := f.models.Lookup(id); known {
		return f.T("setup.id-known", locales.Vars{"Words": joinWords(m.Reasoning)}), true
	}
	return f.T("setup.id-unknown"), true
}

func (f *Flow) languages() []Option {
	var out []Option
	for _, l := range locales.Langs() {
		out = append(out, Option{Value: l.String(), Name: f.Word(langNames, l.String())})
	}
	return out
}

func (f *Flow) providerOptions() []Option {
	var out []Option
	for _, p := range f.providers() {
		o := Option{Value: string(p), Name: string(p), Note: f.Word(providerNotes, string(p))}
		if f.currentFits(p) && f.Current.Configured {
			o.Mark = f.T("setup.mark-current")
		}
		out = append(out, o)
	}
	return out
}

func (f *Flow) wayOptions() []Option {
	var out []Option
	for _, w := range f.ways() {
		out = append(out, Option{Value: w, Name: f.Word(wayNames, w)})
	}
	return out
}

// isCurrent reports whether the stage's model is this one in the policy file.
func (f *Flow) isCurrent(s policy.Stage, model string) bool {
	return f.currentFits(f.provider) && f.Current.Configured && f.Current.Policy.Stage(s).Model == model
}

func (f *Flow) modelOptions(s policy.Stage) []Option {
	models := f.models.Menu(f.provider)
	offered := func(id string) bool {
		return slices.ContainsFunc(models, func(m catalog.Model) bool { return m.ID == id })
	}
	extra := []string{f.draft().Stage(s).Model}
	if f.currentFits(f.provider) {
		extra = append(extra, f.Current.Policy.Stage(s).Model)
	}
	for _, id := range extra {
		if !offered(id) {
			m, known := f.models.Lookup(id)
			if !known {
				m = catalog.Model{ID: id}
			}
			models = append(slices.Clone(models), m)
		}
	}
	recommended := policy.Recommended(f.provider, f.models).Stage(s).Model
	var out []Option
	for _, m := range models {
		o := Option{Value: m.ID, Name: m.ID, Note: f.label(m)}
		switch {
		case f.isCurrent(s, m.ID):
			o.Mark = f.T("setup.mark-current")
		case m.ID == recommended:
			o.Mark = f.T("setup.mark-recommended")
		}
		out = append(out, o)
	}
	return append(out, Option{Value: otherModel, Name: f.T("setup.another")})
}

// label says what a model is for, in the language of the run if it can.
func (f *Flow) label(m catalog.Model) string {
	if _, known := f.models.Lookup(m.ID); !known {
		return f.T("setup.not-in-catalogue")
	}
	for _, lang := range []string{f.Lang().String(), locales.En.String(), locales.Ru.String()} {
		if text := m.Label[lang]; text != "" {
			return locales.Inert(text)
		}
	}
	return ""
}

func (f *Flow) reasoningOptions(s policy.Stage) []Option {
	var out []Option
	model := f.draft().Stage(s).Model
	for _, w := range f.words(s) {
		o := Option{Value: string(w), Name: string(w), Note: f.Word(strengths, string(w))}
		switch {
		case f.isCurrent(s, model) && f.Current.Policy.Stage(s).Reasoning == w:
			o.Mark = f.T("setup.mark-current")
		case w == s.DefaultReasoning():
			o.Mark = f.T("setup.mark-recommended")
		}
		out = append(out, o)
	}
	return out
}

func (f *Flow) confirmOptions() []Option {
	save := f.T("setup.save")
	switch {
	case f.DryRun:
		save = f.T("setup.print")
	case f.Unchanged():
		save = f.T("setup.keep")
	}
	out := []Option{{Value: answerSave, Name: save}}
	if len(f.trail) > 0 {
		out = append(out, Option{Value: answerChange, Name: f.T("setup.change")})
	}
	return append(out, Option{Value: answerLeave, Name: f.T("setup.leave")})
}

// Preview returns the set behind an answer to AskWay, nil where there is none.
func (f *Flow) Preview(way string) []Row {
	switch way {
	case wayRecommended:
		return f.rows(policy.Recommended(f.provider, f.models))
	case wayCurrent:
		return f.rows(f.Current.Policy)
	}
	return nil
}

// Row is a stage, or with an empty Model the provider, of a policy.
type Row struct {
	Name      string
	Model     string
	Reasoning string
	Was       string // what it was before; empty if it is the same or there is nothing to compare with
	Same      bool   // it was the same before
}

func (f *Flow) rows(p policy.Policy) []Row {
	var out []Row
	for _, s := range policy.Stages() {
		c := p.Stage(s)
		r := Row{Name: terms.Stage(f.Printer, s), Model: c.Model, Reasoning: string(c.Reasoning)}
		if f.Current.Usable() {
			was := f.Current.Policy.Stage(s)
			if r.Same = was == c; !r.Same {
				r.Was = fmt.Sprintf("%s %s", was.Model, was.Reasoning)
			}
		}
		out = append(out, r)
	}
	return out
}

// Result returns the provider and the stages of the chosen policy beside the
// current one.
func (f *Flow) Result() (provider Row, stages []Row) {
	p := f.Policy()
	provider = Row{Name: f.T("setup.row-provider"), Reasoning: string(p.Provider)}
	if f.Current.Usable() {
		if provider.Same = f.Current.Policy.Provider == p.Provider; !provider.Same {
			provider.Was = string(f.Current.Policy.Provider)
		}
	}
	return provider, f.rows(p)
}

// Compared says what the rows are compared with.
func (f *Flow) Compared() string {
	switch {
	case explain.Only(f.Current.Problem) == policy.CodeEmpty, explain.Only(f.Current.Problem) == policy.CodeIO:
		return ""
	case !f.Current.Usable():
		return f.T("setup.compared-broken")
	case !f.Current.Configured:
		return f.T("setup.compared-default")
	}
	return ""
}

func joinWords[T ~string](words []T) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = string(w)
	}
	return strings.Join(parts, ", ")
}
