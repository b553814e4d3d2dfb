// Package crash kills qa-orch at random and at chosen moments, and holds what is
// left to being whole: each file old or new to the byte, nothing that was
// acknowledged gone, and nothing in the way of the next run.
package crash

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/table"
)

// Options steer a run.
type Options struct {
	// Trials is how many random trials there are, over all subjects.
	Trials int
	// Steps is before how many of its system calls that change files each command
	// is killed at most: before each of them if there are no more, else the seed
	// decides, and they are evenly spread.
	Steps int
	// Seed decides about everything random. The same seed kills the same subjects
	// in the same ways; what a moment of time hits is up to the machine, what a
	// system call is not.
	Seed uint64
	// Only keeps the subjects whose name contains it.
	Only string
	// Log gets a line for each subject. It may be nil.
	Log io.Writer
}

// Run makes the trials. The error is for what keeps them from being made.
func Run(ctx context.Context, o Options) ([]table.Row, error) {
	w, clean, err := makeWorkshop(ctx)
	if err != nil {
		return nil, err
	}
	defer clean()
	var list []command
	for _, c := range commands() {
		if strings.Contains(c.name, o.Only) && (canUseTerminal || !c.terminal) {
			list = append(list, c)
		}
	}
	var sieges []fleetSubject
	for _, f := range fleets() {
		if strings.Contains(f.name, o.Only) {
			sieges = append(sieges, f)
		}
	}
	return trials(ctx, w, list, sieges, o)
}

// trials makes the trials of some commands and fleets.
func trials(ctx context.Context, w *workshop, list []command, sieges []fleetSubject, o Options) ([]table.Row, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	// A third of the trials is for servers among hosts, the rest for commands.
	kills := 0
	if len(sieges) > 0 {
		kills = o.Trials / 3 / len(sieges)
		if len(list) == 0 {
			kills = o.Trials / len(sieges)
		}
	}
	random := o.Trials - kills*len(sieges)
	var rows []table.Row
	done := func(row table.Row, began time.Time) {
		row.Took = time.Since(began)
		rows = append(rows, row)
		fmt.Fprintf(o.Log, "%6.1f s  %s: %s, %d found\n", row.Took.Seconds(), row.What, row.Tried, len(row.Found))
		for _, f := range row.Found {
			fmt.Fprintf(o.Log, "          %s\n", f)
		}
	}
	for i, c := range list {
		began := time.Now()
		n := random / len(list)
		if i < random%len(list) {
			n++
		}
		t, err := w.all(ctx, c, o, n)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", c.name, err)
		}
		row := table.Row{What: c.name, Tried: fmt.Sprintf("%d trials, %d kills", t.trials, t.kills), Found: t.found}
		if left := t.leftovers(); left != "" {
			row.Tried += "; left " + left
		}
		done(row, began)
	}
	for _, f := range sieges {
		began := time.Now()
		s, err := w.besiege(ctx, f, o.Seed, kills)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", f.name, err)
		}
		row := table.Row{What: f.name, Tried: fmt.Sprintf("%d trials, %d kills, %d calls answered", kills, s.kills, s.calls), Found: s.found}
		if n := leftIn(s.data); n > 0 {
			row.Tried += fmt.Sprintf("; left %d unfinished reviews", n)
			if n > mayStay {
				row.Found = append(row.Found, fmt.Sprintf("%d unfinished files are left: they pile up", n))
			}
		}
		done(row, began)
	}
	return rows, nil
}

// all makes the trials of one command.
func (w *workshop) all(ctx context.Context, c command, o Options, trials int) (*tally, error) {
	t := &tally{left: map[string]int{}}
	s, err := w.measure(ctx, c)
	if err != nil {
		return t, err
	}
	steps := min(o.Steps, s.steps)
	for i := range steps {
		// One of each stretch, another one with another seed.
		from, to := i*s.steps/steps, (i+1)*s.steps/steps
		step := 1 + from + randomOf(o.Seed, c.name, -1-i).IntN(to-from)
		if err := w.try(ctx, s, []killer{{step: step}}, t); err != nil {
			return t, err
		}
	}
	for i := range trials {
		if err := w.try(ctx, s, s.draw(randomOf(o.Seed, c.name, i)), t); err != nil {
			return t, err
		}
	}
	return t, nil
}

// randomOf returns what decides about trial i of a subject, whatever other
// trials there are.
func randomOf(seed uint64, name string, i int) *rand.Rand {
	const prime = 1099511628211
	sum := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		sum = (sum ^ uint64(c)) * prime
	}
	return rand.New(rand.NewPCG(seed, sum+uint64(i)))
}
