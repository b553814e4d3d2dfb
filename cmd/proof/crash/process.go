package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// patience bounds how long a command may take, and its children after it. A
// healthy one takes some 50 ms.
const patience = 2 * time.Minute

// killer says when a process is killed; the zero one lets it end.
type killer struct {
	// after is how long after its start.
	after time.Duration
	// change is after which change below the home that is seen, and pause how
	// long after that.
	change int
	pause  time.Duration
	// step is before which of its system calls that change files.
	step int
}

func (k killer) String() string {
	switch {
	case k.step > 0:
		return fmt.Sprintf("before its change of files number %d", k.step)
	case k.change > 0:
		return fmt.Sprintf("%v after change %d in the home", k.pause, k.change)
	case k.after > 0:
		return fmt.Sprintf("%v after its start", k.after)
	}
	return "never"
}

// ending is how a process ended.
type ending struct {
	killed  bool
	code    int
	output  string // of both streams
	took    time.Duration
	changes int // that were seen below the home, at least
	steps   int // system calls that change files, where they are counted
}

// invocation is a command to run.
type invocation struct {
	path     string
	args     []string
	env      []string
	dir      string // where
	home     string // whose changes are watched
	input    string // on its standard input
	terminal bool   // run it on a terminal, where somebody presses Enter all the time
	output   string // file for its output
}

// run runs a command and kills it as k says, and waits for it and its children
// to be gone.
func run(ctx context.Context, in invocation, k killer) (e ending, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if in.terminal {
		return runOnTerminal(ctx, in, k)
	}
	out, err := os.Create(in.output)
	if err != nil {
		return e, err
	}
	defer out.Close()
	inputPath := in.output + ".in"
	if err := os.WriteFile(inputPath, []byte(in.input), 0o600); err != nil {
		return e, err
	}
	input, err := os.Open(inputPath)
	if err != nil {
		return e, err
	}
	defer input.Close()
	cmd := exec.Command(in.path, in.args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = in.env, in.dir, input, out, out
	ownGroup(cmd)
	if k.step != 0 {
		e, err = traced(ctx, cmd, k.step)
	} else {
		if err := cmd.Start(); err != nil {
			return e, err
		}
		e, err = await(ctx, cmd, in.home, k)
	}
	if err != nil {
		return e, err
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		return e, err
	}
	text, err := io.ReadAll(out)
	e.output = string(text)
	return e, err
}

// await kills a running command as k says, and waits.
func await(ctx context.Context, cmd *exec.Cmd, home string, k killer) (e ending, err error) {
	began := time.Now()
	ended := make(chan struct{})
	kill := func() { e.killed = cmd.Process.Kill() == nil }
	killing := make(chan struct{})
	go func() {
		defer close(killing)
		switch {
		case k.change > 0:
			e.changes = watch(home, k.change, ended)
			if e.changes == k.change {
				select {
				case <-ended:
				case <-time.After(k.pause):
					kill()
				}
			}
		case k.after > 0:
			select {
			case <-ended:
			case <-time.After(k.after):
				kill()
			}
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	werr := cmd.Wait()
	e.took = time.Since(began)
	close(ended)
	<-killing
	var exit *exec.ExitError
	if werr != nil && !errors.As(werr, &exit) {
		return e, werr
	}
	e.code = cmd.ProcessState.ExitCode()
	e.killed = e.killed && e.code == -1
	if ctx.Err() != nil {
		return e, fmt.Errorf("%s did not end: %w", filepath.Base(cmd.Path), ctx.Err())
	}
	return e, awaitGroup(ctx, cmd.Process.Pid)
}

// watch looks at home until it has changed n times or ended is closed, and
// returns how many changes it saw.
func watch(home string, n int, ended <-chan struct{}) (seen int) {
	const often = 100 * time.Microsecond
	before := look(home)
	for seen < n {
		select {
		case <-ended:
			return seen
		case <-time.After(often):
		}
		if now := look(home); now != before {
			before = now
			seen++
		}
	}
	return seen
}

// errOutlives is returned when children of a killed command do not end.
var errOutlives = errors.New("a process that the command had started goes on after it was killed")
