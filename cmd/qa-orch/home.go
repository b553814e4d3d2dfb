package main

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/home"
	"github.com/qa-orch/qa-orch/tui/screen"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// homeCommands are where the home screen leads, in its order, as far as they exist.
var homeCommands = []string{"setup", "connect", "sessions", "doctor", "demo", "help"}

// runHome shows the home screen and runs the command that was chosen there.
func runHome(ctx context.Context, a *App, root *cobra.Command) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	var items []home.Item
	for _, name := range homeCommands {
		if slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name }) {
			items = append(items, home.Item{Name: name, About: func(p *locales.Printer) string {
				return p.First("help." + name + ".short")
			}})
		}
	}
	sessions := &sessionsOptions{App: a}
	path, configured := sessions.storePath(s)
	dark, known := a.background()
	model := home.New(home.Options{
		Lang: a.Lang(), Theme: theme.New(theme.Colors(a.Getenv, true), dark, known), Home: a.Getenv("HOME"), Items: items,
		Load: func() home.State {
			state := home.State{PolicyPath: s.PolicyPath, StorePath: path, StoreOn: configured}
			models, _ := policy.LoadModels(s.ModelsPath)
			state.Policy, state.Configured, state.PolicyErr = policy.Load(s.PolicyPath, models)
			state.Known = true
			for _, found := range a.registry(s).Find() {
				if name := found.Client.Name; found.Err == nil && !slices.Contains(state.Clients, name) {
					state.Clients = append(state.Clients, name)
				}
			}
			feed := watch.NewFeed(path)
			defer func() { _ = feed.Close() }()
			u, err := feed.Next(ctx, 0)
			if err != nil {
				return state
			}
			tracker := watch.NewTracker(s.TTL, 0)
			if state.StoreErr = u.Err; u.Read {
				tracker.Apply(u.Delta, a.Now())
			}
			state.Counts = tracker.Counts()
			return state
		},
	})
	_, interrupted, err := screen.New(os.Stdin, os.Stdout).Run(ctx, model, false)
	switch {
	case interrupted:
		return quiet(exitInterrupted)
	case err != nil || model.Chosen() == "":
		return err
	}
	a.Printer = locales.New(model.Lang())
	a.Args = []string{model.Chosen()}
	return newRoot(a).ExecuteContext(ctx)
}
