package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qa-orch/qa-orch/locales"
)

// choice is the value of a flag that takes one of a few words.
type choice struct {
	target *string  // where the word goes; may be nil when takes keeps it
	words  []string // what the help and errors offer
	takes  func(word string) bool
	value  string
}

// oneOf returns a flag's value that takes one of words and starts as *target.
func oneOf(target *string, words ...string) pflag.Value {
	return &choice{target: target, words: words, value: *target, takes: func(word string) bool {
		return slices.Contains(words, word)
	}}
}

func (c *choice) Set(word string) error {
	if !c.takes(word) {
		return quiet(exitUsage) // flagError finds the words
	}
	c.value = word
	if c.target != nil {
		*c.target = word
	}
	return nil
}

func (c *choice) String() string { return c.value }

// Type is what the help shows for the value.
func (c *choice) Type() string { return strings.Join(c.words, "|") }

// flagError words what the flag library found wrong. It never repeats a value.
func flagError(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() && len(cmd.Flags().Args()) > 0 {
		// The flag is that of a command that does not exist.
		if unknown := noUnknownCommand(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	message := locales.M("error.flag-syntax")
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown):
		message = unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		message = locales.M("error.flag-needs-value", locales.Vars{"Flag": "--" + missing.GetFlag().Name})
	case errors.As(err, &invalid):
		message = invalidValue(invalid.GetFlag())
	}
	return misused(message, cmd.CommandPath())
}

func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) locales.Message {
	name := err.GetSpecifiedName()
	switch {
	case !showable(name):
		return locales.M("error.unknown-flag-unnamed")
	case err.GetSpecifiedShortnames() != "":
		return locales.M("error.unknown-flag", locales.Vars{"Flag": "-" + name})
	}
	return didYouMean(locales.M("error.unknown-flag", locales.Vars{"Flag": "--" + name}), "--", nearFlags(cmd, name))
}

// nearFlags returns the flags of a command that a mistyped name may stand for. What is near is
// decided as for commands: by the library that finds those.
func nearFlags(cmd *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: min(2, len(name)/2)}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	return flags.SuggestionsFor(name)
}

// didYouMean adds to a problem the names that may have been meant, each behind the prefix.
func didYouMean(problem locales.Message, prefix string, near []string) locales.Message {
	if len(near) == 0 {
		return problem
	}
	slices.Sort(near)
	for i := range near {
		near[i] = prefix + near[i]
	}
	return locales.M("error.did-you-mean", locales.Vars{"Problem": problem, "Near": locales.OneOf(near)})
}

func invalidValue(flag *pflag.Flag) locales.Message {
	name := "--" + flag.Name
	if c, ok := flag.Value.(*choice); ok {
		return locales.M("error.flag-choice", locales.Vars{"Flag": name, "Choices": locales.OneOf(c.words)})
	}
	switch kind := flag.Value.Type(); {
	case kind == "bool":
		return locales.M("error.flag-bool", locales.Vars{"Flag": name})
	case kind == "duration":
		return locales.M("error.flag-duration", locales.Vars{"Flag": name})
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return locales.M("error.flag-number", locales.Vars{"Flag": name})
	}
	return locales.M("error.flag-value", locales.Vars{"Flag": name})
}

// noUnknownCommand refuses arguments of a command that has only subcommands: they are mistyped
// commands.
func noUnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := locales.M("error.unknown-command-unnamed")
	if name := args[0]; showable(name) {
		message = locales.M("error.unknown-command", locales.Vars{"Command": cmd.CommandPath() + " " + name})
		message = didYouMean(message, cmd.CommandPath()+" ", cmd.SuggestionsFor(name))
	}
	return misused(message, cmd.CommandPath())
}

// exactArgs returns the check that a command gets count arguments; names is how its help calls them.
func exactArgs(count int, names locales.Message) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < count {
			return misused(locales.MN("error.args-missing", count, locales.Vars{"Arguments": names}), cmd.CommandPath())
		}
		return atMostArgs(count)(cmd, args)
	}
}

// atMostArgs returns the check that a command gets no more than most arguments.
func atMostArgs(most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) <= most:
			return nil
		case most == 0:
			return misused(locales.M("error.args-none"), cmd.CommandPath())
		}
		return misused(locales.MN("error.args-many", most), cmd.CommandPath())
	}
}

// word takes the first argument, if there is one, which has to be one of the words.
func word(cmd *cobra.Command, args, words []string, to *string) error {
	if len(args) == 0 {
		return nil
	}
	if !slices.Contains(words, args[0]) {
		return misused(locales.M("error.argument-choice", locales.Vars{"Choices": locales.OneOf(words)}), cmd.CommandPath())
	}
	*to = args[0]
	return nil
}

// showable reports whether a mistyped word may be repeated: it is short and plain enough to be a
// mistyped name and not a secret that slipped into the command line.
func showable(word string) bool {
	const longest, plain = 24, "abcdefghijklmnopqrstuvwxyz0123456789-"
	return word != "" && len(word) <= longest && strings.Trim(word, plain) == ""
}
