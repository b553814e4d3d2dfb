package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// newConfig makes "qa-orch config".
func newConfig(a *App) *cobra.Command {
	cmd := &cobra.Command{Use: "config", GroupID: groupSetup}
	cmd.AddCommand(newConfigShow(a))
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

func runConfigShow(o *configShowOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	models, modelsErr := policy.LoadModels(s.ModelsPath)
	p, configured, err := policy.Load(s.PolicyPath, models)
	if o.JSON || !o.OutTTY {
		view := policyView{Path: s.PolicyPath, Configured: configured, Valid: err == nil, Problems: problemViews(err)}
		if err == nil {
			view.Selection, view.Verified = &p, map[string]bool{}
			for _, st := range policy.Stages() {
				view.Verified[string(st)] = p.Assign(st, models).Verified
			}
		}
		if perr := printJSON(o.App, view); perr != nil {
			return perr
		}
		if err != nil {
			return quiet(exitFailed)
		}
		return nil
	}
	if modelsErr != nil {
		o.complain(locales.M("serve.models", locales.Vars{"Path": s.ModelsPath, "Problem": explain.Models(o.Printer, modelsErr)}))
	}
	if err != nil {
		return failed(locales.M("config.invalid", locales.Vars{"Path": s.PolicyPath, "Problem": explain.Problems(o.Printer, err)}), err)
	}
	t, width := o.Theme(), o.Columns()
	state := o.T("config.default")
	if configured {
		state = o.T("config.configured")
	}
	o.Println(ansi.Wrap(o.T("config.path", locales.Vars{"Path": s.PolicyPath})+" "+t.Paint(theme.Muted, "("+state+")"), width, ""))
	o.Println("")
	o.printPolicy(p, models)
	o.Println("")
	o.Println(t.Paint(theme.Muted, ansi.Wrap(o.T("config.change", locales.Vars{"Command": program + " setup"}), width, "")))
	return nil
}

// printPolicy prints a policy as a small table.
func (a *App) printPolicy(p policy.Policy, models *catalog.Models) {
	t := a.Theme()
	a.Println(a.T("config.provider", locales.Vars{"Provider": locales.Styled(t.Paint(theme.Provider(string(p.Provider)), string(p.Provider)))}))
	names, ids := 0, 0
	for _, st := range policy.Stages() {
		names = max(names, ansi.StringWidth(terms.Stage(a.Printer, st)))
		ids = max(ids, ansi.StringWidth(p.Stage(st).Model))
	}
	for _, st := range policy.Stages() {
		c := p.Stage(st)
		note := ""
		if !p.Assign(st, models).Verified {
			note = "  " + t.Paint(theme.Attention, a.T("config.unverified"))
		}
		a.Println(fmt.Sprintf("  %s  %s  %s%s",
			terms.Stage(a.Printer, st)+strings.Repeat(" ", names-ansi.StringWidth(terms.Stage(a.Printer, st))),
			t.Paint(theme.Model, c.Model)+strings.Repeat(" ", ids-ansi.StringWidth(c.Model)),
			t.Paint(theme.Reasoning(string(c.Reasoning)), string(c.Reasoning)), note))
	}
}

func isModelsProblem(err error) bool {
	var invalid *policy.Invalid
	return !errors.As(err, &invalid)
}
