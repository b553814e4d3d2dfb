// Package bench measures qa-orch beside plain programs that do the least that
// could be done, and writes the page of benchmarks. Everything is built and run
// on one machine, turn and turn about, so that a slow moment strikes both sides.
package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// Options steer a run.
type Options struct {
	// Page is the file whose generated part is written anew. Empty: none is.
	Page string
	// Quick takes a tenth of the turns: enough to see that everything runs.
	Quick bool
	// Log gets a line for each part as it begins. It may be nil.
	Log io.Writer
}

// Command is what repeats everything.
const Command = "go run ./cmd/proof bench"

// Section is a part of the page.
type Section struct {
	Title   string
	measure func(*bench) (string, error)
}

// Sections are the parts of the page in its order.
func Sections() []Section {
	return []Section{
		{"Start-up", (*bench).startUp},
		{"Round trip over stdio", (*bench).roundTrip},
		{"Durable transition", (*bench).transition},
		{"Scale", (*bench).scale},
		{"Memory", (*bench).memory},
		{"Binary size", (*bench).size},
		{"Quality gate", (*bench).gate},
		{"Dashboard", (*bench).dashboard},
	}
}

// bench is one run.
type bench struct {
	ctx     context.Context
	folder  string
	quick   bool
	own     string // path of qa-orch
	refs    map[string]string
	tools   string // path of the file that the reference servers serve
	answers map[string]int
}

// references are the programs that qa-orch is measured beside: folder below testdata and name on the page.
var references = []string{"plain", "linked", "mcpgo", "mcpgostore", "gosdk", "frame"}

// Run measures everything, writes the result to w and into the page.
func Run(ctx context.Context, w io.Writer, o Options) (err error) {
	began := time.Now()
	if o.Log == nil {
		o.Log = io.Discard
	}
	folder, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{ctx: ctx, folder: folder, quick: o.Quick, refs: map[string]string{}}
	say := func(what string) {
		fmt.Fprintf(o.Log, "%7.1fs  %s\n", time.Since(began).Seconds(), what)
	}
	say("building")
	if b.own, err = fleet.Build(ctx, folder, "cmd/qa-orch", true); err != nil {
		return err
	}
	for _, name := range references {
		if b.refs[name], err = fleet.Build(ctx, folder, "cmd/proof/bench/testdata/"+name, true); err != nil {
			return err
		}
	}
	if err := b.record(); err != nil {
		return err
	}
	var body strings.Builder
	for _, s := range Sections() {
		say(s.Title)
		text, err := s.measure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Title, err)
		}
		fmt.Fprintf(&body, "## %s\n\n%s\n\n", s.Title, strings.TrimSpace(text))
	}
	say("done")
	text := b.head(began) + "\n" + body.String()
	if _, err := io.WriteString(w, text); err != nil || o.Page == "" {
		return err
	}
	return write(o.Page, text)
}

// turns is how many turns a measurement takes, a tenth in a quick run.
func (b *bench) turns(n int) int {
	if b.quick {
		return min(n, max(n/10, 3))
	}
	return n
}

// head says where and when the figures were taken.
func (b *bench) head(began time.Time) string {
	commit := "unknown"
	if out, err := exec.CommandContext(b.ctx, "git", "rev-parse", "--short=10", "HEAD").Output(); err == nil {
		commit = "`" + strings.TrimSpace(string(out)) + "`"
		if out, err := exec.CommandContext(b.ctx, "git", "status", "--porcelain", "--untracked-files=no").Output(); err == nil {
			for line := range strings.Lines(string(out)) {
				if !strings.HasSuffix(strings.TrimSpace(line), "docs/benchmarks.md") {
					commit += ", with changes"
					break
				}
			}
		}
	}
	cores := fmt.Sprintf("%d cores", runtime.NumCPU())
	if runtime.NumCPU() == 1 {
		cores = "1 core"
	}
	text := fmt.Sprintf("Measured on %s from commit %s, with %s on %s/%s, %s",
		began.UTC().Format("2 January 2006"), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, cores)
	if load := load(); load != "" {
		text += ", with a load of " + load + " when it ended"
	}
	text += fmt.Sprintf(". It took %v", time.Since(began).Round(time.Second))
	if b.quick {
		text += ", in the quick form: the figures are rough"
	}
	return text + ".\n"
}

// load is the system's load average over the last minute, empty where it is not known.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}

// The generated part of the page stands between these.
const (
	Begin = "<!-- generated: benchmarks -->\n"
	End   = "<!-- end -->"
)

// write puts text into the page at path.
func write(path, text string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page := string(data)
	from := strings.Index(page, Begin)
	if from < 0 {
		return fmt.Errorf("%s has no %q", path, strings.TrimSpace(Begin))
	}
	from += len(Begin)
	to := strings.Index(page[from:], End)
	if to < 0 {
		return fmt.Errorf("%s has no %q", path, End)
	}
	return os.WriteFile(path, []byte(page[:from]+"\n"+strings.TrimSpace(text)+"\n\n"+page[from+to:]), 0o644)
}

// home makes an empty home folder and the environment of programs that live in it.
func (b *bench) home(extra ...string) (folder string, env []string, err error) {
	folder, err = os.MkdirTemp(b.folder, "home-")
	return folder, fleet.Env(folder, extra...), err
}

// storeAt is the path of a store in a folder.
func storeAt(folder string) string { return filepath.Join(folder, "sessions.sqlite3") }
