package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// workshop is where commands are run.
type workshop struct {
	folder  string
	program string
}

func (w *workshop) home() string { return filepath.Join(w.folder, "home") }

// run runs a command of qa-orch in the home.
func (w *workshop) run(ctx context.Context, args []string, input string, terminal bool, k killer) (ending, error) {
	home := w.home()
	return run(ctx, invocation{
		path: w.program, args: args, dir: filepath.Join(home, project), home: home, input: input, terminal: terminal,
		output: filepath.Join(w.folder, "output"),
		// Nothing of the person's, no programs of clients above all.
		env: fleet.Env(home, "PATH="+filepath.Join(home, "programs"), "TMPDIR="+filepath.Join(home, tempFolder), "LANG=en_US.UTF-8", "TERM=xterm-256color", "COLORFGBG=15;0"),
	}, k)
}

// must runs a command that has to succeed.
func (w *workshop) must(ctx context.Context, args []string) error {
	e, err := w.run(ctx, args, "", false, killer{})
	if err == nil && e.code != 0 {
		err = fmt.Errorf("exit code %d: %s", e.code, e.output)
	}
	if err != nil {
		return fmt.Errorf("qa-orch %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// subject is a command and what it does when nobody kills it.
type subject struct {
	command
	start   tree // what it starts from
	after   tree // what it leads to
	undone  tree // what undo leads to
	span    time.Duration
	changes int // of the home that are seen while it runs
	steps   int // system calls that change files
}

// measure runs a command undisturbed, a few times.
func (w *workshop) measure(ctx context.Context, c command) (*subject, error) {
	s := &subject{command: c}
	if err := c.lay(w.home()); err != nil {
		return nil, err
	}
	for _, args := range c.before {
		if err := w.must(ctx, args); err != nil {
			return nil, err
		}
	}
	var err error
	if s.start, err = treeOf(w.home()); err != nil {
		return nil, err
	}
	// Twice for the time, the second time warm; watched; and counted.
	kinds := []killer{{}, {}, {change: 1 << 30}}
	if canTrace && !c.terminal {
		kinds = append(kinds, killer{step: -1})
	}
	for i, k := range kinds {
		if err := s.start.restore(w.home()); err != nil {
			return nil, err
		}
		e, err := w.run(ctx, c.args, c.input, c.terminal, k)
		if err != nil || e.code != 0 {
			return nil, fmt.Errorf("undisturbed it ends with %d, %w: %s", e.code, err, e.output)
		}
		if _, err := c.acknowledged(e.output); err != nil {
			return nil, err
		}
		s.changes, s.steps = max(s.changes, e.changes), max(s.steps, e.steps)
		t, err := treeOf(w.home())
		if err != nil {
			return nil, err
		}
		if k == (killer{}) {
			s.span = e.took
		}
		if i == 0 {
			s.after = t
		}
		if d := t.differences(s.after, varies); len(d) > 0 {
			return nil, fmt.Errorf("two undisturbed runs differ: %s", strings.Join(d, "; "))
		}
	}
	if c.looks {
		if d := s.after.differences(s.start, varies); len(d) > 0 {
			return nil, fmt.Errorf("it changes files: %s", strings.Join(d, "; "))
		}
	}
	if c.undo != nil {
		if err := w.must(ctx, c.undo); err != nil {
			return nil, err
		}
		if s.undone, err = treeOf(w.home()); err != nil {
			return nil, err
		}
		for name := range c.files { // undone is what this command did, or what those before it did too
			if now := s.undone[name]; now != s.start[name] && now.content != c.files[name] {
				return nil, fmt.Errorf("undone, %s is %v and was %v", name, now, s.start[name])
			}
		}
	}
	return s, nil
}

// acknowledged is what a server that got input has said to have started.
func (c command) acknowledged(output string) ([]string, error) {
	if c.input == "" {
		return nil, nil
	}
	return answers(output)
}

// draw decides how the runs of a trial are killed, before the one that is not.
func (s *subject) draw(rng *rand.Rand) []killer {
	n := 1
	if rng.IntN(4) == 0 { // killed again when it is run again
		n += 1 + rng.IntN(2)
	}
	var ways []killer
	for range n {
		switch {
		case s.changes > 0 && rng.IntN(2) == 0:
			ways = append(ways, killer{change: 1 + rng.IntN(s.changes), pause: time.Duration(rng.IntN(300)) * time.Microsecond})
		default:
			ways = append(ways, killer{after: 1 + time.Duration(rng.Int64N(int64(s.span+s.span/10)))})
		}
	}
	return ways
}

// tally is what came of the trials of something.
type tally struct {
	trials, kills int
	left          map[string]int
	found         []string
}

// try kills a command in the ways given, one after the other, and then lets it
// end. After each time every file is as before or as after, and at the end all
// is as if it had never been killed.
func (w *workshop) try(ctx context.Context, s *subject, ways []killer, t *tally) error {
	t.trials++
	if err := s.start.restore(w.home()); err != nil {
		return err
	}
	bad := func(format string, args ...any) {
		var how []string
		for _, k := range ways {
			how = append(how, k.String())
		}
		t.found = append(t.found, fmt.Sprintf("killed %s: ", strings.Join(how, ", then "))+fmt.Sprintf(format, args...))
	}
	var acknowledged []string
	for _, k := range ways {
		e, err := w.run(ctx, s.args, s.input, s.terminal, k)
		if errors.Is(err, errOutlives) {
			bad("%v", err)
		} else if err != nil {
			return err
		}
		if e.killed {
			t.kills++
		}
		ids, err := s.acknowledged(e.output)
		if err != nil {
			bad("%v", err)
		}
		acknowledged = append(acknowledged, ids...)
		now, err := treeOf(w.home())
		if err != nil {
			return err
		}
		problems := now.either(s.start, s.after, varies, t.left)
		problems = append(problems, checkVarying(ctx, w.home(), acknowledged)...)
		if len(problems) > 0 {
			bad("%s", strings.Join(problems, "\n"))
			return nil
		}
		if err := now.age(w.home()); err != nil {
			return err
		}
	}
	now, err := treeOf(w.home())
	if err != nil {
		return err
	}
	done := len(now.differences(s.after, func(name string) bool { return varies(name) || leftOver(name) != "" })) == 0
	e, err := w.run(ctx, s.args, s.input, s.terminal, killer{})
	if err != nil {
		return err
	}
	if e.code != 0 && !(s.once && done) {
		bad("run again it ends with %d: %s", e.code, e.output)
		return nil
	}
	ids, err := s.acknowledged(e.output)
	if err != nil {
		bad("run again: %v", err)
	}
	if now, err = treeOf(w.home()); err != nil {
		return err
	}
	problems := append(now.differences(s.after, varies), checkVarying(ctx, w.home(), append(acknowledged, ids...))...)
	if len(problems) > 0 {
		bad("run again it leads to something else: %s", strings.Join(problems, "\n"))
		return nil
	}
	if s.undo == nil {
		return nil
	}
	if err := w.must(ctx, s.undo); err != nil {
		bad("undone: %v", err)
		return nil
	}
	if now, err = treeOf(w.home()); err != nil {
		return err
	}
	if problems := now.differences(s.undone, varies); len(problems) > 0 {
		bad("undone: %s", strings.Join(problems, "\n"))
	}
	return nil
}

// leftovers words what was left behind.
func (t *tally) leftovers() string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(t.left)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", t.left[kind], kind))
	}
	return strings.Join(kinds, ", ")
}

// makeWorkshop makes a folder for trials: not a temporary one, since no client may be
// told of a program there.
func makeWorkshop(ctx context.Context) (*workshop, func(), error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, nil, err
	}
	folder, err := os.MkdirTemp(cache, "qa-orch-proof-")
	if err != nil {
		return nil, nil, err
	}
	clean := func() { _ = os.RemoveAll(folder) }
	bin := filepath.Join(folder, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		clean()
		return nil, nil, err
	}
	w := &workshop{folder: folder}
	if w.program, err = fleet.Build(ctx, bin, "cmd/qa-orch", false); err != nil {
		clean()
		return nil, nil, err
	}
	adopt()
	return w, clean, nil
}
