package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/qa-orch/qa-orch/locales"
)

// The exit codes of every command.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// cliError is an error with its exit code and what people are told. A zero message tells nothing:
// the command has said all there is.
type cliError struct {
	code    int
	message locales.Message
	help    string // command whose help the person is pointed to
	cause   error
}

func (e *cliError) Error() string {
	if e.message.IsZero() {
		return fmt.Sprint(e.code)
	}
	return e.message.In(locales.New(locales.En))
}

func (e *cliError) Unwrap() error { return e.cause }

// failed returns an error of a command that could not do its work.
func failed(message locales.Message, cause error) error {
	return &cliError{code: exitFailed, message: message, cause: cause}
}

// misused returns an error of a command line that makes no sense. command is the path of the
// command whose help explains it.
func misused(message locales.Message, command string) error {
	return &cliError{code: exitUsage, message: message, help: command}
}

// quiet ends the program with a code and no further words.
func quiet(code int) error { return &cliError{code: code} }

// report tells people about err and returns the exit code.
func (a *App) report(err error) int {
	var known *cliError
	if out, ok := a.Out.(*firstError); ok && out.lost() != nil && (err == nil || errors.Is(err, out.lost())) {
		a.complain(locales.M("error.output", locales.Vars{"Cause": a.Cause(out.lost())}))
		return exitFailed
	}
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &known):
		if !known.message.IsZero() {
			a.complain(known.message)
		}
		if known.help != "" {
			_, _ = fmt.Fprintln(a.Err, a.T("error.see-help", locales.Vars{"Command": known.help + " --help"}))
		}
		return known.code
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	a.complain(locales.M("error.unexpected", locales.Vars{"Cause": a.Cause(err)}))
	return exitFailed
}

// complain says what is wrong, after the program's name.
func (a *App) complain(m locales.Message) {
	_, _ = fmt.Fprintf(a.Err, "%s: %s\n", program, m.In(a.Printer))
}
