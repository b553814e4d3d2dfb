package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/muesli/termenv"
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/tui/screen"
	"github.com/qa-orch/qa-orch/tui/setup"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type setupOptions struct {
	*App
	Provider   string
	Models     map[policy.Stage]*string
	Reasoning  map[policy.Stage]*string
	DryRun     bool
	Accessible bool
}

// newSetup makes "qa-orch setup".
func newSetup(a *App) *cobra.Command {
	o := &setupOptions{App: a}
	return newSetupWith(o, runSetup)
}

func newSetupWith(o *setupOptions, run func(context.Context, *setupOptions) error) *cobra.Command {
	o.Models, o.Reasoning = map[policy.Stage]*string{}, map[policy.Stage]*string{}
	cmd := &cobra.Command{
		Use:     "setup",
		GroupID: groupSetup,
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.Var(oneOf(&o.Provider, wordsOf(catalog.Providers())...), "provider", "")
	for _, s := range policy.Stages() {
		o.Models[s], o.Reasoning[s] = new(string), new(string)
		flags.StringVar(o.Models[s], flagOf(s.ModelField()), "", "")
		_ = cmd.RegisterFlagCompletionFunc(flagOf(s.ModelField()), o.completeModels)
	}
	for _, s := range policy.Stages() {
		flags.Var(oneOf(o.Reasoning[s], wordsOf(catalog.ReasoningWords())...), flagOf(s.ReasoningField()), "")
	}
	flags.BoolVar(&o.DryRun, "dry-run", false, "")
	flags.BoolVar(&o.Accessible, "accessible", false, "")
	return cmd
}

// flagOf returns the flag, without its hyphens, that stands for a field of the policy.
func flagOf(field string) string { return strings.ReplaceAll(field, "_", "-") }

func wordsOf[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// completeModels offers the models of the provider that was given, or of all.
func (o *setupOptions) completeModels(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	s, _ := settings.Read(o.Getenv)
	models, _ := policy.LoadModels(s.ModelsPath)
	var out []cobra.Completion
	for _, m := range models.All() {
		if m.Menu && (o.Provider == "" || o.Provider == string(m.Provider)) {
			out = append(out, cobra.CompletionWithDesc(m.ID, locales.Inert(m.Label[o.Lang().String()])))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// given returns what the flags say.
func (o *setupOptions) given() setup.Given {
	g := setup.Given{
		Provider: catalog.Provider(o.Provider),
		Models:   map[policy.Stage]string{}, Reasoning: map[policy.Stage]catalog.Reasoning{},
	}
	for _, s := range policy.Stages() {
		if v := *o.Models[s]; v != "" {
			g.Models[s] = v
		}
		if v := *o.Reasoning[s]; v != "" {
			g.Reasoning[s] = catalog.Reasoning(v)
		}
	}
	return g
}

// missing returns the flags without which nothing can be saved unasked.
func missing(g setup.Given) []string {
	var out []string
	if g.Provider == "" {
		out = append(out, "--provider")
	}
	for _, s := range policy.Stages() {
		if g.Models[s] == "" {
			out = append(out, "--"+flagOf(s.ModelField()))
		}
	}
	return out
}

// runSetup writes the model policy that a person chooses or the flags give.
func runSetup(ctx context.Context, o *setupOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	const command = program + " setup"
	models, modelsErr := policy.LoadModels(s.ModelsPath)
	current := setup.Current{Path: s.PolicyPath, ModelsPath: s.ModelsPath, ModelsErr: modelsErr}
	current.Policy, current.Configured, current.Problem = policy.Load(s.PolicyPath, models)
	given := o.given()
	if err := checkGiven(o.Printer, given, models, command); err != nil {
		return err
	}
	save := func(p policy.Policy) (string, error) { return policy.Save(s.PolicyPath, p, models) }
	if o.DryRun {
		save = nil
	}

	if given.Complete() {
		if modelsErr != nil {
			o.complain(locales.M("serve.models", locales.Vars{"Path": s.ModelsPath, "Problem": explain.Models(o.Printer, modelsErr)}))
		}
		return o.unasked(given.Policy(current, models), current, models, save)
	}
	if !o.InTTY || !o.OutTTY {
		return misused(locales.M("setup.missing", locales.Vars{"Flags": strings.Join(missing(given), " ")}), command)
	}
	flow := setup.NewFlow(o.Printer, models, current, given, o.DryRun)
	backup, err := o.converse(ctx, flow, save)
	if err != nil {
		return err
	}
	o.Printer = flow.Printer
	switch flow.End() {
	case setup.Done:
		o.conclude(flow.Policy(), models, current.Path, backup)
		return nil
	case setup.Kept:
		o.conclude(flow.Policy(), models, "", "")
		return nil
	}
	_, _ = fmt.Fprintln(o.Err, o.T("setup.left"))
	return quiet(exitInterrupted)
}

// checkGiven finds fault with the flags by themselves, before anything is asked.
func checkGiven(p *locales.Printer, g setup.Given, models *catalog.Models, command string) error {
	providers := catalog.Providers()
	if g.Provider != "" {
		providers = []catalog.Provider{g.Provider}
	}
	var first *policy.Problem
	for _, provider := range providers {
		problem := givenProblem(g, provider, models)
		if problem == nil {
			return nil
		}
		if first == nil || problem.Code != policy.CodeForeign {
			first = problem
		}
	}
	if first.Code == policy.CodeForeign && g.Provider == "" {
		return misused(locales.M("setup.conflict"), command)
	}
	flag := "--" + flagOf(first.Field)
	first.Field = ""
	return misused(locales.M("setup.flag", locales.Vars{"Flag": flag, "Problem": explain.Policy(p, *first)}), command)
}

// givenProblem returns the first thing wrong with what is given under a provider.
func givenProblem(g setup.Given, provider catalog.Provider, models *catalog.Models) *policy.Problem {
	p := policy.Policy{Provider: provider}
	for s, model := range g.Models {
		words, _ := models.ReasoningFor(provider, model)
		p.SetStage(s, policy.Choice{Model: model, Reasoning: words[0]})
	}
	for s, r := range g.Reasoning {
		c := p.Stage(s)
		c.Reasoning = r
		p.SetStage(s, c)
	}
	for _, problem := range policy.Validate(p, models) {
		for _, s := range policy.Stages() {
			// Reasoning without its model is judged once the model is known.
			if g.Models[s] != "" && (problem.Field == s.ModelField() || problem.Field == s.ReasoningField()) {
				return &problem
			}
		}
	}
	return nil
}

// unasked saves, or with a nil save prints, a policy that the flags gave.
func (o *setupOptions) unasked(p policy.Policy, current setup.Current, models *catalog.Models, save setup.Save) error {
	if save == nil {
		_, _ = o.Out.Write(p.Encode())
		return nil
	}
	backup, err := save(p)
	if err != nil {
		return failed(locales.M("setup.unsaved", locales.Vars{"Path": current.Path, "Cause": explain.File(o.Printer, err)}), err)
	}
	o.conclude(p, models, current.Path, backup)
	return nil
}

// askLimit bounds how long a terminal may take to tell its background before the
// first screen is shown, which is to be there within 100 ms. A later answer does
// nothing.
const askLimit = 40 * time.Millisecond

// converse asks on a full screen, or line by line where that is wanted.
func (o *setupOptions) converse(ctx context.Context, flow *setup.Flow, save setup.Save) (backup string, err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if o.plain() {
		backup, err = setup.Prompt(ctx, flow, o.In, o.Out, o.Columns(), save)
		return backup, err
	}
	w := setup.NewWizard(flow, o.screenTheme(), save)
	_, interrupted, err := screen.New(os.Stdin, os.Stdout).Run(ctx, w, false)
	if err != nil && ctx.Err() == nil {
		return "", failed(locales.M("setup.screen", locales.Vars{"Cause": o.Cause(err)}), err)
	}
	if (interrupted || ctx.Err() != nil) && flow.End() == setup.Running {
		flow.Leave()
	}
	return w.Backup, nil
}

// plain reports whether to ask line by line.
func (o *setupOptions) plain() bool {
	return o.Accessible || o.Getenv("TERM") == "dumb" || !slices.Contains([]string{"", "0", "false"}, o.Getenv("ACCESSIBLE"))
}

// screenTheme is Theme for a full screen: where nothing else tells the
// background, the terminal is asked.
func (a *App) screenTheme() *theme.Theme {
	dark, known := theme.Background(a.mode, a.Getenv)
	colors := theme.Colors(a.Getenv, a.OutTTY)
	if !known && colors != termenv.Ascii {
		dark, known = theme.Ask(os.Stdin, os.Stdout, a.Getenv, askLimit)
	}
	a.theme = theme.New(colors, dark, known)
	return a.theme
}

// conclude says what became of the policy and what to do next. saved is where
// it was saved, empty if nothing was.
func (o *setupOptions) conclude(p policy.Policy, models *catalog.Models, saved, backup string) {
	if o.DryRun {
		_, _ = o.Out.Write(p.Encode())
		return
	}
	t := o.Theme()
	say := func(text string) { o.Println(o.wrap(text, 0)) }
	s, _ := settings.Read(o.Getenv)
	if saved == "" {
		say(o.T("setup.kept", locales.Vars{"Path": s.PolicyPath}))
	} else {
		say(t.Paint(theme.Good, o.T("setup.saved", locales.Vars{"Path": saved})))
	}
	if backup != "" {
		say(t.Paint(theme.Attention, o.T("setup.backup", locales.Vars{"Path": backup})))
	}
	o.Println("")
	o.printPolicy(p, models)
	o.Println("")
	o.Println(t.Paint(theme.Title, o.T("setup.next")))
	item := func(text string) { o.Println("  " + o.wrap(text, 2)) }
	item(o.T("setup.next-doctor", locales.Vars{"Command": o.typed(program + " doctor")}))
	item(o.T("setup.next-register", locales.Vars{"Command": o.typed(program + " connect")}))
	item(o.T("setup.next-running"))
}

// typed paints what a person may type. text must be inert.
func (a *App) typed(text string) locales.Styled {
	return locales.Styled(a.Theme().Paint(theme.Command, text))
}
