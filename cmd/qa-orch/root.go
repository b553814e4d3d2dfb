package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/theme"
)

const program = "qa-orch"

// The groups of commands in the help, in its order. Their titles are messages.
const (
	groupServe = "serve"
	groupSetup = "setup"
	groupLook  = "look"
	groupMore  = "more"
)

var groupTitles = locales.NewFamily("frame.group.", "serve", "setup", "look", "more")

// commands makes the commands of the program, each in a file of its own. A command has no texts:
// the help takes them from the messages help.PATH.* (see help.go).
var commands = []func(*App) *cobra.Command{
	newAdvocate,
	newCompletion,
	newConfig,
	newConnect,
	newDemo,
	newDisconnect,
	newDocs,
	newEval,
	newDoctor,
	newHelp,
	newProfiles,
	func(a *App) *cobra.Command { return newReload(a, groupSetup) },
	newRules,
	newServe,
	newSessions,
	newSetup,
	newVersion,
}

// run executes the command line and returns the exit code.
func run(a *App) int {
	return a.report(newRoot(a).Execute())
}

func newRoot(a *App) *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use: program,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return runVersion(&versionOptions{App: a, Build: thisBuild})
			}
			return runBare(a, cmd)
		},
	}
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		// Said to a person who might wonder; the doctor has it among its findings.
		if a.ErrTTY && a.strangeLang() && langArg(a.Args) == "" && cmd.Name() != "doctor" {
			a.complain(locales.M("error.strange-lang", locales.Vars{"Variable": locales.Variable}))
		}
	}
	root.SetArgs(a.Args)
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)

	flags := root.PersistentFlags()
	flags.SortFlags = false
	flags.BoolP("help", "h", false, "")
	flags.Var(&choice{words: langWords(), takes: func(word string) bool {
		_, ok := locales.Parse(word)
		return ok
	}}, "lang", "")
	flags.Var(&choice{words: theme.Modes(), takes: func(word string) (ok bool) {
		a.mode, ok = theme.ParseMode(word)
		return ok && word != ""
	}}, "theme", "")
	root.Flags().BoolVar(&showVersion, "version", false, "")

	for _, word := range groupTitles.Words() {
		root.AddGroup(&cobra.Group{ID: word})
	}
	for _, newCommand := range commands {
		cmd := newCommand(a)
		if cmd.Name() == "help" {
			root.SetHelpCommand(cmd)
			continue
		}
		root.AddCommand(cmd)
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.printHelp(cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error { a.printHelp(cmd); return nil })
	root.SetFlagErrorFunc(flagError)
	prepare(root)
	if len(a.Args) > 0 && strings.HasPrefix(a.Args[0], cobra.ShellCompRequestCmd) {
		a.fillTexts(root) // completions show the commands' texts
		completeChoices(root)
	}
	return root
}

// runBare is qa-orch without a command: a server where a program has the input, the home screen
// where a person sits at a terminal, else the overview.
func runBare(a *App, root *cobra.Command) error {
	if !a.InTTY && a.Serve != nil {
		return a.Serve(root.Context())
	}
	if a.fullScreen() {
		return runHome(root.Context(), a, root)
	}
	a.printOverview(root)
	return nil
}

// prepare gives every command the checks that its kind needs and that it did not bring.
func prepare(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.DisableFlagsInUseLine = true
	cmd.Flags().SortFlags = false
	for _, sub := range cmd.Commands() {
		prepare(sub)
	}
	switch {
	case cmd.HasSubCommands():
		cmd.Args = noUnknownCommand
		if !cmd.Runnable() {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	case cmd.Args == nil:
		cmd.Args = atMostArgs(0)
	}
}

func langWords() []string {
	var words []string
	for _, lang := range locales.Langs() {
		words = append(words, lang.String())
	}
	return words
}
