// Command proof tries to break qa-orch, loads it and measures it.
//
//	go run ./cmd/proof               # model, crash and load in a short form
//	go run ./cmd/proof crash -long   # one part alone; -h tells its flags
//
// docs/proof.md says what each part does. It ends with 1 when something is found.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/table"
)

// part is one way to prove something.
type part struct {
	name, about string
	// short tells that the part belongs to what is run when none is named.
	short bool
	// run takes the flags of the command line and returns what was found; parts
	// that print something else return no rows. The error is for what kept it from
	// being run.
	run func(ctx context.Context, flags *flag.FlagSet, args []string) ([]table.Row, error)
}

// parts are the parts in the order in which they are run.
func parts() []part {
	return []part{
		{"model", "random histories of many clients against an independent model", true, runModel},
		{"crash", "kills at random and at chosen moments", true, runCrash},
		{"load", "many servers and hosts on one store or folder", true, runLoad},
		{"fuzz", "every fuzz target, one after the other", false, runFuzz},
		{"bench", "the page of benchmarks, beside plain programs", false, runBench},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, parts(), os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the part that args name, else all that belong to the short form, and
// returns the exit code: 1 when something was found, 2 when something could not
// be tried.
func run(ctx context.Context, list []part, args []string, out, errs io.Writer) int {
	chosen := list
	short := len(args) == 0 || strings.HasPrefix(args[0], "-")
	if !short {
		chosen = nil
		for _, p := range list {
			if p.name == args[0] {
				chosen = []part{p}
			}
		}
		if chosen == nil {
			usage(list, errs)
			return 2
		}
		args = args[1:]
	} else if len(args) > 0 {
		usage(list, errs)
		return 2
	}
	began, code := time.Now(), 0
	var rows []table.Row
	for _, p := range chosen {
		if short && !p.short {
			continue
		}
		flags := flag.NewFlagSet(p.name, flag.ContinueOnError)
		flags.SetOutput(errs)
		found, err := p.run(ctx, flags, args)
		rows = append(rows, found...)
		switch {
		case errors.Is(err, flag.ErrHelp):
			return 0
		case err != nil:
			_, _ = fmt.Fprintf(errs, "%s: %v\n", p.name, err)
			code = 2
		}
	}
	if len(rows) == 0 {
		return code
	}
	if err := table.Print(out, rows); err != nil {
		return 2
	}
	_, _ = fmt.Fprintf(out, "\n%.0f s in all\n", time.Since(began).Seconds())
	if table.Failed(rows) {
		return max(code, 1)
	}
	return code
}

func usage(list []part, w io.Writer) {
	_, _ = fmt.Fprintln(w, "proof        runs what is marked * in a short form\nproof PART   runs one part; -h tells its flags")
	_, _ = fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range list {
		mark := " "
		if p.short {
			mark = "*"
		}
		_, _ = fmt.Fprintf(t, "  %s %s\t%s\n", mark, p.name, p.about)
	}
	_ = t.Flush()
}
