package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// App is the world as commands see it. Tests make one of their own.
//
// Its printer says things in the language of the run: a.T("some.id"). It reads no message file
// before something is said.
type App struct {
	*locales.Printer
	Args                  []string // without the program's name
	In                    io.Reader
	Out                   io.Writer
	Err                   io.Writer
	InTTY, OutTTY, ErrTTY bool
	// Size returns the columns and rows of the terminal, zeros where there is none.
	Size   func() (width, height int)
	Getenv func(string) string
	Now    func() time.Time

	// Serve is what qa-orch without a command does where nobody sits at a terminal: clients that
	// were registered so long ago start it like that.
	Serve func(context.Context) error

	enableColors func()     // makes the output understand colours
	mode         theme.Mode // of --theme
	theme        *theme.Theme
}

// systemApp returns the real world.
func systemApp() *App {
	lang, _ := locales.Detect(langArg(os.Args[1:]), os.Getenv) // the flag itself is checked later
	a := &App{
		Printer: locales.New(lang),

		Args:   os.Args[1:],
		In:     os.Stdin,
		Out:    &firstError{w: os.Stdout},
		Err:    os.Stderr,
		InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Size: func() (int, int) {
			w, h, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil {
				return 0, 0
			}
			return w, h
		},
		Getenv: os.Getenv,
		Now:    time.Now,

		enableColors: func() { theme.Enable(os.Stdout) },
	}
	a.Serve = func(ctx context.Context) error { return runServe(ctx, &serveOptions{App: a}) }
	return a
}

// Theme returns the look of what is printed. It does not ask the terminal anything.
func (a *App) Theme() *theme.Theme {
	if a.theme == nil {
		if a.enableColors != nil {
			a.enableColors()
		}
		dark, known := theme.Background(a.mode, a.Getenv)
		a.theme = theme.New(theme.Colors(a.Getenv, a.OutTTY), dark, known)
	}
	return a.theme
}

// Columns returns how wide printed text may be: the terminal's width, at most 100 so that lines
// stay readable, and 80 where there is no terminal.
func (a *App) Columns() int {
	if a.OutTTY {
		if w, _ := a.Size(); w > 0 {
			return min(w, 100)
		}
	}
	return 80
}

// strangeLang reports whether the program's own variable asks for a language that it does not speak.
func (a *App) strangeLang() bool {
	asked := strings.TrimSpace(a.Getenv(locales.Variable))
	_, known := locales.Parse(asked)
	return asked != "" && !known
}

// Println prints a line to the output.
func (a *App) Println(line string) { _, _ = fmt.Fprintln(a.Out, line) }

// firstError remembers the first error of a writer, so that output that was lost is a failure of
// the command without each command having to look.
type firstError struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (f *firstError) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.err == nil {
			f.err = err
		}
	}
	return n, err
}

func (f *firstError) lost() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// langArg returns the value of the last --lang in args, empty if there is none. It works before the
// arguments are parsed, and when they can't be.
func langArg(args []string) string {
	const flag = "--lang"
	value := ""
	for i, arg := range args {
		switch {
		case arg == "--":
			return value
		case arg == flag && i+1 < len(args):
			value = args[i+1]
		case len(arg) > len(flag) && arg[:len(flag)+1] == flag+"=":
			value = arg[len(flag)+1:]
		}
	}
	return value
}
