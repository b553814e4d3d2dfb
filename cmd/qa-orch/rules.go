package main

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/clients"
	"github.com/qa-orch/qa-orch/core/clients/ledger"
	"github.com/qa-orch/qa-orch/core/rules"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type rulesOptions struct {
	*App
	Client  string
	Scope   string
	Install bool
	Remove  bool
}

// newRules makes "qa-orch rules".
func newRules(a *App) *cobra.Command {
	o := &rulesOptions{App: a, Scope: string(clients.Project)}
	ids := clientIDs()
	cmd := &cobra.Command{
		Use:       "rules",
		GroupID:   groupSetup,
		Args:      atMostArgs(1),
		ValidArgs: ids,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := word(cmd, args, ids, &o.Client); err != nil {
				return err
			}
			if o.Install && o.Remove {
				return misused(locales.M("rules.one-of"), cmd.CommandPath())
			}
			return runRules(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Install, "install", false, "")
	cmd.Flags().BoolVar(&o.Remove, "remove", false, "")
	cmd.Flags().Var(oneOf(&o.Scope, string(clients.User), string(clients.Project)), "scope", "")
	return cmd
}

// place is a file that takes instructions, and the clients that read it.
type place struct {
	path  string
	front string
	names []string
}

// in returns the client's file of instructions in a scope, nil if it has none.
func rulesOf(c *clients.Client, scope clients.Scope) *clients.Rules {
	if scope == clients.Project {
		return c.ProjectRules
	}
	return c.UserRules
}

// places returns the files that the options ask for: those of the client, else
// those of the installed clients, else the one that most clients read.
func (o *rulesOptions) places(sys clients.System) []place {
	scope := clients.Scope(o.Scope)
	var out []place
	add := func(c *clients.Client) {
		r := rulesOf(c, scope)
		if r == nil {
			return
		}
		path := r.Path(sys)
		for i := range out {
			if out[i].path == path {
				out[i].names = append(out[i].names, c.Name)
				return
			}
		}
		out = append(out, place{path, r.Front, []string{c.Name}})
	}
	if o.Client != "" {
		add(clients.Find(o.Client))
		return out
	}
	for _, c := range clients.All() {
		if o.Remove || c.Installed(sys) {
			add(c)
		}
	}
	if len(out) == 0 && scope == clients.Project {
		add(clients.Find("codex")) // AGENTS.md
	}
	return out
}

func runRules(ctx context.Context, o *rulesOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	registry := o.registry(s)
	if !o.Install && !o.Remove {
		front := ""
		if o.Client != "" {
			if r := rulesOf(clients.Find(o.Client), clients.Scope(o.Scope)); r != nil {
				front = r.Front
			}
		}
		o.Println(front + strings.TrimSuffix(rules.Text(), "\n"))
		return nil
	}
	places := o.places(registry.System)
	if len(places) == 0 {
		if o.Client != "" {
			return misused(locales.M("rules.no-place", locales.Vars{"Client": clients.Find(o.Client).Name, "Command": commandLine("rules", o.Client)}), program+" rules")
		}
		return failed(locales.M("rules.none-found"), nil)
	}
	bad, done := false, false
	for _, p := range places {
		changed, err := o.change(ctx, registry.Ledger, p)
		if err != nil {
			bad = true
			o.complain(locales.M("connect.refused", locales.Vars{"Path": p.path, "Problem": explain.Edit(o.Printer, err)}))
			continue
		}
		if o.Remove && !changed {
			continue // nothing of ours was there
		}
		done = true
		names := o.And(p.names)
		text := o.T("rules.removed", locales.Vars{"Path": p.path})
		switch {
		case o.Install && changed:
			text = o.T("rules.installed", locales.Vars{"Path": p.path, "Clients": names})
		case o.Install:
			text = o.T("rules.current", locales.Vars{"Path": p.path, "Clients": names})
		}
		o.Println(o.Theme().Paint(theme.Good, o.wrap(text, 0)))
	}
	switch {
	case bad:
		return quiet(exitFailed)
	case !done:
		o.Println(o.T("rules.nowhere"))
	}
	return nil
}

// rulesMark names the instructions in the ledger of a file.
const rulesMark = "rules"

// change installs or removes the instructions in one file, anew if somebody
// else writes it at the same moment.
func (o *rulesOptions) change(ctx context.Context, l ledger.Ledger, p place) (changed bool, err error) {
	for range 5 {
		if changed, err = o.changeOnce(ctx, l, p); !errors.Is(err, ledger.ErrChanged) {
			break
		}
	}
	return changed, err
}

func (o *rulesOptions) changeOnce(ctx context.Context, l ledger.Ledger, p place) (bool, error) {
	before, err := ledger.Peek(p.path)
	if err != nil {
		return false, err
	}
	if has, err := rules.Has(before); err != nil {
		return false, err
	} else if o.Remove && !has {
		return false, l.Settle(ctx, p.path, func(f *ledger.File) (bool, error) {
			has, err := rules.Has(f.Data)
			return !has, err
		})
	}
	f, err := l.Open(ctx, p.path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	has, err := rules.Has(f.Data)
	if err != nil {
		return false, err
	}
	if o.Remove {
		after, err := rules.Remove(f.Data, p.front)
		if err != nil {
			return false, err
		}
		_, _, err = f.Undo(rulesMark, ledger.Rest{Data: after, Last: true, Empty: len(bytes.TrimSpace(after)) == 0})
		return true, err
	}
	after, err := rules.Install(f.Data, p.front)
	if err != nil || has && bytes.Equal(after, f.Data) {
		return false, err
	}
	if !f.Untouched() {
		original := f.Data
		if has { // whoever wrote them: they go when they are removed
			if original, err = rules.Remove(f.Data, p.front); err != nil {
				return false, err
			}
			if f.Made() && len(bytes.TrimSpace(original)) == 0 {
				original = nil
			}
		}
		if err := f.Keep(original, false, nil); err != nil {
			return false, err
		}
	}
	f.Claim(rulesMark, "")
	return true, f.Put(after, 0o644)
}
