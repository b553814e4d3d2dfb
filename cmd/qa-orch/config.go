package main

import (
	"errors"
	"os"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// newConfig makes "qa-orch config".
func newConfig(a *App) *cobra.Command {
	cmd := &cobra.Command{Use: "config", GroupID: groupSetup}
	cmd.AddCommand(newConfigShow(a), newReload(a, ""))
	return cmd
}

type configShowOptions struct {
	*App
	JSON bool
}

func newConfigShow(a *App) *cobra.Command {
	o := &configShowOptions{App: a}
	return newConfigShowWith(o, runConfigShow)
}

func newConfigShowWith(o *configShowOptions, run func(*configShowOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "show",
		RunE: func(*cobra.Command, []string) error { return run(o) },
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	return cmd
}

// policyView is the policy for programs.
type policyView struct {
	Path       string          `json:"path"`
	Configured bool            `json:"configured"` // the file exists; otherwise the selection is the default
	Valid      bool            `json:"valid"`
	Selection  *policy.Policy  `json:"selection"` // null when the file is not valid
	Verified   map[string]bool `json:"reasoning_capabilities_verified,omitempty"`
	Problems   []problemView   `json:"problems"`
	UserModels modelsView      `json:"user_models"`
}

// modelsView is the user's models file for programs.
type modelsView struct {
	Path     string        `json:"path"`
	Present  bool          `json:"present"`
	Valid    bool          `json:"valid"` // also where there is no file
	Models   []string      `json:"models"`
	Problems []problemView `json:"problems"`
}

// problemView is what is wrong with a file, for programs.
type problemView struct {
	Code    string   `json:"code"`
	Field   string   `json:"field,omitempty"`
	Line    int      `json:"line,omitempty"`
	Allowed []string `json:"allowed,omitempty"`
	Message string   `json:"message"`
}

func problemViews(err error) []problemView {
	views := []problemView{}
	var invalid *policy.Invalid
	if !errors.As(err, &invalid) {
		return views
	}
	for _, p := range invalid.Problems {
		views = append(views, problemView{Code: string(p.Code), Field: p.Field, Line: p.Line, Allowed: p.Allowed, Message: p.Error()})
	}
	return views
}

// policyFiles is what the two files of the policy say now.
type policyFiles struct {
	settings.Settings
	policy     policy.Policy
	configured bool
	err        error // why the policy can't be used
	models     *catalog.Models
	hasModels  bool
	modelsErr  error // why the models file can't be used
}

func readPolicyFiles(s settings.Settings) policyFiles {
	f := policyFiles{Settings: s}
	f.models, f.modelsErr = policy.LoadModels(s.ModelsPath)
	_, err := os.Stat(s.ModelsPath)
	f.hasModels = err == nil || f.modelsErr != nil
	f.policy, f.configured, f.err = policy.Load(s.PolicyPath, f.models)
	return f
}

// userModels returns the ids of the models that the user's file adds or changes.
func (f policyFiles) userModels() []string {
	ids := []string{}
	for _, m := range f.models.All() {
		if m.User {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// unverified returns the stages whose reasoning the catalogue can't check.
func (f policyFiles) unverified() []policy.Stage {
	var out []policy.Stage
	for _, st := range policy.Stages() {
		if !f.policy.Assign(st, f.models).Verified {
			out = append(out, st)
		}
	}
	return out
}

func (f policyFiles) view() policyView {
	v := policyView{
		Path: f.PolicyPath, Configured: f.configured, Valid: f.err == nil, Problems: problemViews(f.err),
		UserModels: modelsView{
			Path: f.ModelsPath, Present: f.hasModels, Valid: f.modelsErr == nil,
			Models: f.userModels(), Problems: modelsProblemViews(f.modelsErr),
		},
	}
	if f.err == nil {
		v.Selection, v.Verified = &f.policy, map[string]bool{}
		for _, st := range policy.Stages() {
			v.Verified[string(st)] = f.policy.Assign(st, f.models).Verified
		}
	}
	return v
}

func modelsProblemViews(err error) []problemView {
	var problem *catalog.FileProblem
	switch {
	case err == nil:
		return []problemView{}
	case errors.As(err, &problem):
		return []problemView{{Code: problem.Code, Field: problem.Field, Line: problem.Line, Allowed: problem.Allow, Message: problem.Error()}}
	}
	return []problemView{{Code: string(policy.CodeIO), Message: explain.Models(locales.New(locales.En), err)}}
}

func runConfigShow(o *configShowOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	f := readPolicyFiles(s)
	if o.JSON || !o.OutTTY {
		if err := printJSON(o.App, f.view()); err != nil {
			return err
		}
		if f.err != nil {
			return quiet(exitFailed)
		}
		return nil
	}
	if f.modelsErr != nil {
		o.complain(locales.M("serve.models", locales.Vars{"Path": s.ModelsPath, "Problem": explain.Models(o.Printer, f.modelsErr)}))
	}
	if f.err != nil {
		return failed(locales.M("config.invalid", locales.Vars{"Path": s.PolicyPath, "Problem": explain.Problems(o.Printer, f.err)}), f.err)
	}
	o.printPolicyFiles(f)
	o.Println("")
	o.Println(o.wrap(o.Theme().Paint(theme.Muted, o.T("config.change", locales.Vars{"Command": program + " setup"})), 0))
	return nil
}

// printPolicyFiles prints where the policy lies, what it is, and which models
// the user's own file brings.
func (a *App) printPolicyFiles(f policyFiles) {
	t := a.Theme()
	state := a.T("config.default")
	if f.configured {
		state = a.T("config.configured")
	}
	a.Println(a.wrap(a.T("config.path", locales.Vars{"Path": f.PolicyPath})+" "+t.Paint(theme.Muted, "("+state+")"), 0))
	if ids := f.userModels(); len(ids) > 0 {
		a.Println(a.wrap(a.T("config.models", locales.Vars{"Path": f.ModelsPath, "Models": strings.Join(ids, ", ")}), 0))
	}
	a.Println("")
	a.printPolicy(f.policy, f.models)
}

// printPolicy prints a policy as a small table, or where that is too wide with
// each stage above its model.
func (a *App) printPolicy(p policy.Policy, models *catalog.Models) {
	t, width := a.Theme(), a.Columns()
	a.Println(a.T("config.provider", locales.Vars{"Provider": locales.Styled(t.Paint(theme.Provider(string(p.Provider)), string(p.Provider)))}))
	names, ids, words := 0, 0, 0
	for _, st := range policy.Stages() {
		names = max(names, ansi.StringWidth(terms.Stage(a.Printer, st)))
		ids = max(ids, ansi.StringWidth(p.Stage(st).Model))
		words = max(words, ansi.StringWidth(string(p.Stage(st).Reasoning)))
	}
	for _, st := range policy.Stages() {
		c, name := p.Stage(st), terms.Stage(a.Printer, st)
		line := "  " + name + strings.Repeat(" ", names-ansi.StringWidth(name)+2)
		if 2+names+2+ids+2+words > width {
			line = "  " + name + "\n    "
		}
		a.Println(line + t.Paint(theme.Model, c.Model) + strings.Repeat(" ", ids-ansi.StringWidth(c.Model)+2) +
			t.Paint(theme.Reasoning(string(c.Reasoning)), string(c.Reasoning)))
		if !p.Assign(st, models).Verified {
			a.Println("    " + a.wrap(t.Paint(theme.Attention, a.T("config.unverified")), 4))
		}
	}
}

func isModelsProblem(err error) bool {
	var invalid *policy.Invalid
	return !errors.As(err, &invalid)
}
