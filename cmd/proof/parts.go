package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/bench"
	"github.com/qa-orch/qa-orch/cmd/proof/crash"
	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	"github.com/qa-orch/qa-orch/cmd/proof/load"
	"github.com/qa-orch/qa-orch/cmd/proof/table"
)

// seedFlag is the flag of parts with something random in them.
func seedFlag(flags *flag.FlagSet) *uint64 {
	return flags.Uint64("seed", rand.Uint64(), "what decides about everything random")
}

// parse reads the flags of a part, which takes no other arguments.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("what is %q? -h tells the flags", flags.Arg(0))
	}
	return nil
}

func runCrash(ctx context.Context, flags *flag.FlagSet, args []string) ([]table.Row, error) {
	seed := seedFlag(flags)
	long := flags.Bool("long", false, "1,000 random trials, and each command killed before up to 60 of its changes of files")
	trials := flags.Int("trials", 0, "random trials, instead of the number that goes with the form")
	only := flags.String("only", "", "only what has this in its name")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	o := crash.Options{Seed: *seed, Trials: 120, Steps: 10, Only: *only, Log: os.Stderr}
	if *long {
		o.Trials, o.Steps = 1000, 60
	}
	if *trials > 0 {
		o.Trials = *trials
	}
	_, _ = fmt.Fprintf(os.Stderr, "crash: -seed %d\n", *seed)
	return crash.Run(ctx, o)
}

func runLoad(ctx context.Context, flags *flag.FlagSet, args []string) ([]table.Row, error) {
	seed := seedFlag(flags)
	long := flags.Bool("long", false, "a minute each instead of some seconds")
	each := flags.Duration("for", 0, "how long each, instead of what goes with the form")
	shapes := flags.String("shapes", "", "servers×hosts, such as 1x1,4x8, instead of what goes with the form")
	kinds := flags.String("kinds", strings.Join(load.Kinds(), ","), "what to load")
	asJSON := flags.Bool("json", false, "print the figures as JSON, without the table")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	o := load.Options{Seed: *seed, For: 8 * time.Second, Shapes: []load.Shape{{Servers: 2, Hosts: 4}}, Kinds: strings.Split(*kinds, ","), Log: os.Stderr}
	if *long {
		o.For, o.Shapes = time.Minute, []load.Shape{{Servers: 1, Hosts: 1}, {Servers: 4, Hosts: 8}, {Servers: 8, Hosts: 25}}
	}
	if *each > 0 {
		o.For = *each
	}
	if *shapes != "" {
		o.Shapes = nil
		for text := range strings.SplitSeq(*shapes, ",") {
			shape, err := load.ParseShape(text)
			if err != nil {
				return nil, err
			}
			o.Shapes = append(o.Shapes, shape)
		}
	}
	_, _ = fmt.Fprintf(os.Stderr, "load: -seed %d\n", *seed)
	reports, err := load.Run(ctx, o)
	if *asJSON {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(reports); err != nil {
			return nil, err
		}
		for _, r := range reports {
			if len(r.Found) > 0 {
				return nil, fmt.Errorf("%s: %s", r.Name(), strings.Join(r.Found, "; "))
			}
		}
		return nil, err
	}
	var rows []table.Row
	for _, r := range reports {
		if err := r.Print(os.Stdout); err != nil {
			return rows, err
		}
		rows = append(rows, r.Row())
	}
	return rows, err
}

// modelPackage is where the tests against a model are.
const modelPackage = fleet.Module + "/cmd/proof/model"

// runModel runs the tests of the model. They report what they tried by themselves.
func runModel(ctx context.Context, flags *flag.FlagSet, args []string) ([]table.Row, error) {
	long := flags.Bool("long", false, "ten minutes for each test instead of a few histories")
	each := flags.Duration("for", 0, "how long each test goes on, instead of what goes with the form")
	seed := flags.Uint64("seed", 0, "the seed that a failure has printed; 0 is a new one")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "proof-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	report := filepath.Join(folder, "report")
	test := []string{"test", modelPackage, "-count=1", "-timeout=2h"}
	if *long && *each == 0 {
		*each = 10 * time.Minute
	}
	if *each > 0 {
		test = append(test, "-proof.duration="+each.String())
	}
	if *seed != 0 {
		test = append(test, "-rapid.seed="+strconv.FormatUint(*seed, 10))
	}
	began := time.Now()
	_, _ = fmt.Fprintln(os.Stderr, "model: go", strings.Join(test, " "))
	cmd := exec.CommandContext(ctx, "go", test...)
	cmd.Env = append(os.Environ(), table.ReportVar+"="+report)
	out, terr := cmd.CombinedOutput()
	rows, err := table.ReadReport(report)
	if err != nil {
		return rows, err
	}
	for i := range rows {
		if rows[i].Took == 0 && i == len(rows)-1 {
			rows[i].Took = time.Since(began)
		}
	}
	if terr != nil {
		rows = append(rows, table.Row{What: "model", Tried: "its tests", Found: []string{strings.TrimSpace(string(out))}, Took: time.Since(began)})
	} else if len(rows) == 0 {
		rows = append(rows, table.Row{What: "model", Tried: "its tests", Took: time.Since(began)})
	}
	return rows, nil
}

// runBench writes the page of benchmarks. It finds nothing.
func runBench(ctx context.Context, _ *flag.FlagSet, args []string) ([]table.Row, error) {
	return nil, bench.Main(ctx, args)
}

var progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)

// runFuzz runs each fuzz target for a while.
func runFuzz(ctx context.Context, flags *flag.FlagSet, args []string) ([]table.Row, error) {
	each := flags.Duration("each", time.Minute, "how long each target is run")
	only := flags.String("only", "", "only targets with this in their package or name")
	if err := parse(flags, args); err != nil {
		return nil, err
	}
	targets, err := fuzzTargets(ctx)
	if err != nil {
		return nil, err
	}
	var rows []table.Row
	for _, t := range targets {
		if !strings.Contains(t.String(), *only) || ctx.Err() != nil {
			continue
		}
		began := time.Now()
		cmd := exec.CommandContext(ctx, "go", "test", t.pkg, "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+each.String(), "-parallel=1")
		out, err := cmd.CombinedOutput()
		execs, fresh := fuzzed(out)
		row := table.Row{What: t.String(), Tried: fmt.Sprintf("%d inputs, %d of them new", execs, fresh), Took: time.Since(began)}
		if err != nil {
			row.Found = []string{strings.TrimSpace(string(out))}
		}
		rows = append(rows, row)
		_, _ = fmt.Fprintf(os.Stderr, "%6.0f s  %s: %s, %d found\n", row.Took.Seconds(), row.What, row.Tried, len(row.Found))
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("there is no such target among %d", len(targets))
	}
	return rows, ctx.Err()
}

// target is a fuzz target.
type target struct{ pkg, name string }

func (t target) String() string {
	return strings.TrimPrefix(t.pkg, fleet.Module+"/") + " " + t.name
}

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)

// fuzzTargets lists the fuzz targets of the module. They are looked up in the
// source: to ask "go test -list" takes as long as building every test.
func fuzzTargets(ctx context.Context) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", fleet.Module+"/...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var targets []target
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		switch err := dec.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return targets, nil
		case err != nil:
			return nil, err
		}
		for _, file := range slices.Concat(pkg.TestGoFiles, pkg.XTestGoFiles) {
			source, err := os.ReadFile(filepath.Join(pkg.Dir, file))
			if err != nil {
				return nil, err
			}
			for _, m := range fuzzFunc.FindAllSubmatch(source, -1) {
				targets = append(targets, target{pkg.ImportPath, string(m[1])})
			}
		}
	}
}

// fuzzed reads how many inputs were tried, and how many of them led somewhere
// new, from the last report of a fuzz run.
func fuzzed(out []byte) (execs, fresh int) {
	var last []byte
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if progress.Match(lines.Bytes()) {
			last = slices.Clone(lines.Bytes())
		}
	}
	if m := progress.FindSubmatch(last); m != nil {
		execs, _ = strconv.Atoi(string(m[1]))
		fresh, _ = strconv.Atoi(string(m[2]))
	}
	return execs, fresh
}
