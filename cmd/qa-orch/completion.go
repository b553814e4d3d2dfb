package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qa-orch/qa-orch/locales"
)

// shells are the generators of completion scripts.
var shells = map[string]func(root *cobra.Command, a *App) error{
	"bash":       func(root *cobra.Command, a *App) error { return root.GenBashCompletionV2(a.Out, true) },
	"fish":       func(root *cobra.Command, a *App) error { return root.GenFishCompletion(a.Out, true) },
	"powershell": func(root *cobra.Command, a *App) error { return root.GenPowerShellCompletionWithDesc(a.Out) },
	"zsh":        func(root *cobra.Command, a *App) error { return root.GenZshCompletion(a.Out) },
}

// newCompletion makes "qa-orch completion".
func newCompletion(a *App) *cobra.Command {
	names := slices.Sorted(maps.Keys(shells))
	return &cobra.Command{
		Use:       "completion",
		GroupID:   groupMore,
		ValidArgs: names,
		Args:      exactArgs(1, locales.M("help.completion.args")),
		RunE: func(cmd *cobra.Command, args []string) error {
			var shell string
			if err := word(cmd, args, names, &shell); err != nil {
				return err
			}
			return shells[shell](cmd.Root(), a)
		},
	}
}

// completeChoices completes the words of all flags that take one of a few, in all commands.
func completeChoices(cmd *cobra.Command) {
	for _, set := range []*pflag.FlagSet{cmd.LocalNonPersistentFlags(), cmd.PersistentFlags()} {
		set.VisitAll(func(f *pflag.Flag) {
			if c, ok := f.Value.(*choice); ok {
				_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(c.words, cobra.ShellCompDirectiveNoFileComp))
			}
		})
	}
	for _, sub := range cmd.Commands() {
		completeChoices(sub)
	}
}
