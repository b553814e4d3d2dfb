// Package screen runs full-screen programs and leaves the terminal as it was, however they end.
package screen

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// Terminal is where a full-screen program runs.
type Terminal struct {
	in, out *os.File
	mu      sync.Mutex // keeps what frames and copies write apart
}

// New returns the terminal behind two files. Both must be one.
func New(in, out *os.File) *Terminal { return &Terminal{in: in, out: out} }

// Copy puts text on the clipboard of the person's own machine, as far as their terminal lets
// programs do that (OSC 52). text must be inert.
func (t *Terminal) Copy(text string) {
	_, _ = io.WriteString(&output{File: t.out, t: t}, ansi.SetSystemClipboard(text))
}

// Run runs a program until it quits, ctx ends or the terminal goes away. With mouse, wheel and
// clicks go to the program and no longer to the terminal's own selection. interrupted reports
// that the person pressed Ctrl+C. A terminal that went away is no error.
func (t *Terminal) Run(ctx context.Context, model tea.Model, mouse bool) (last tea.Model, interrupted bool, err error) {
	var program *tea.Program
	var gone atomic.Bool
	// It ends as it does at a person's wish: that waits for what is being read and drawn.
	leave := func() {
		gone.Store(true)
		program.Quit()
	}
	options := []tea.ProgramOption{
		tea.WithContext(ctx),
		tea.WithAltScreen(),
		tea.WithFPS(framesPerSecond),
		tea.WithInput(&input{File: t.in, ended: leave}),
		tea.WithOutput(&output{File: t.out, t: t}),
	}
	if mouse {
		options = append(options, tea.WithMouseCellMotion())
	}
	program = tea.NewProgram(model, options...)

	hangup := make(chan os.Signal, 1)
	if signals := hangups(); len(signals) > 0 {
		signal.Notify(hangup, signals...)
		defer signal.Stop(hangup)
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-hangup:
			leave()
		case <-ended:
		}
	}()
	last, err = program.Run()
	switch {
	case errors.Is(err, tea.ErrInterrupted):
		return last, true, nil
	case gone.Load():
		return last, false, nil
	}
	return last, false, err
}

// framesPerSecond is how often the library looks for a new frame. Each look wakes the process, so
// that more of them would make an idle program cost more than it is worth.
const framesPerSecond = 30

// input notices that nothing will be typed any more.
type input struct {
	*os.File
	ended func()
}

func (i *input) Read(p []byte) (int, error) {
	n, err := i.File.Read(p)
	if err != nil && n == 0 {
		i.ended()
	}
	return n, err
}

// output writes what it is given in one piece.
type output struct {
	*os.File
	t *Terminal
}

func (o *output) Write(p []byte) (int, error) {
	o.t.mu.Lock()
	defer o.t.mu.Unlock()
	return o.File.Write(p)
}

// WriteString keeps the file's own, which knows no lock, from being used.
func (o *output) WriteString(s string) (int, error) { return o.Write([]byte(s)) }
