package main

import (
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type reloadOptions struct {
	*App
	JSON bool
}

// newReload makes "qa-orch reload" and, in no group, "qa-orch config reload".
func newReload(a *App, group string) *cobra.Command {
	o := &reloadOptions{App: a}
	return newReloadWith(o, group, runReload)
}

func newReloadWith(o *reloadOptions, group string, run func(*reloadOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "reload",
		GroupID: group,
		RunE:    func(*cobra.Command, []string) error { return run(o) },
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	return cmd
}

// What a running server does with the files, for programs.
const (
	serverTakes   = "takes_policy"      // at the next start or transition
	serverDefault = "takes_default"     // there is no file
	serverKeeps   = "keeps_last_valid"  // or, if it never had one, answers "model policy unavailable"
	modelsTaken   = "takes_user_models" // at the same time as the policy
	modelsBuiltin = "knows_built_in_only"
)

// reloadView is what running servers will do, for programs.
type reloadView struct {
	OK      bool   `json:"ok"`     // nothing is wrong with either file
	Server  string `json:"server"` // what a running server does with the policy
	Catalog string `json:"catalog"`
	policyView
}

// runReload reads and checks the policy as a running server will, and says what
// that server does with it. There is nothing to send it: it looks by itself.
func runReload(o *reloadOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	f := readPolicyFiles(s)
	ok := f.err == nil && f.modelsErr == nil
	if o.JSON {
		v := reloadView{OK: ok, Server: serverTakes, Catalog: modelsTaken, policyView: f.view()}
		switch {
		case f.err != nil:
			v.Server = serverKeeps
		case !f.configured:
			v.Server = serverDefault
		}
		if !f.hasModels || f.modelsErr != nil {
			v.Catalog = modelsBuiltin
		}
		if err := printJSON(o.App, v); err != nil {
			return err
		}
		if !ok {
			return quiet(exitFailed)
		}
		return nil
	}
	t := o.Theme()
	say := func(role theme.Role, text string) { o.Println(o.wrap(t.Paint(role, text), 0)) }
	if f.modelsErr != nil {
		o.complain(locales.M("serve.models", locales.Vars{"Path": s.ModelsPath, "Problem": explain.Models(o.Printer, f.modelsErr)}))
	}
	if f.err != nil {
		o.complain(locales.M("config.invalid", locales.Vars{"Path": s.PolicyPath, "Problem": explain.Problems(o.Printer, f.err)}))
		say(theme.Attention, o.T("reload.keeps", locales.Vars{"Phrase": orchestrator.ErrPolicy.Error()}))
		return quiet(exitFailed)
	}
	o.printPolicyFiles(f)
	o.Println("")
	if f.configured {
		say(theme.Good, o.T("reload.takes"))
	} else {
		say(theme.Good, o.T("reload.default"))
	}
	if !ok {
		say(theme.Attention, o.T("reload.built-in"))
		return quiet(exitFailed)
	}
	return nil
}
