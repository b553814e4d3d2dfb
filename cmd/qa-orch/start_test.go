package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The benchmarks here run the real binaries, this program and a minimal one beside it, turn and turn
// about, so that both see the same machine. They report what counts as figures of their own:
// medians in microseconds and the ratio of the two.

// builtFor builds a command of this module as a release does.
func builtFor(b *testing.B, name, pkg string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// samples are the durations of one thing that is measured.
type samples []time.Duration

func (s samples) at(quantile float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return float64(sorted[min(len(sorted)-1, int(quantile*float64(len(sorted))))]) / 1e3
}

// compare measures base and own by turns and reports both.
func compare(b *testing.B, base, own func() time.Duration) {
	b.Helper()
	var bases, owns samples
	for b.Loop() {
		bases, owns = append(bases, base()), append(owns, own())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(bases.at(.5), "base-p50-µs")
	b.ReportMetric(owns.at(.5), "own-p50-µs")
	b.ReportMetric(owns.at(.5)/bases.at(.5), "ratio")
	b.ReportMetric(bases.at(.99)/bases.at(.5), "base-p99/p50")
	b.ReportMetric(owns.at(.99)/owns.at(.5), "own-p99/p50")
}

// BenchmarkStart times whole runs of the program beside those of a minimal program that links the
// same libraries.
func BenchmarkStart(b *testing.B) {
	minimal, own := builtFor(b, "minimal", "./testdata/minimal"), builtFor(b, program, ".")
	timed := func(path string, args ...string) func() time.Duration {
		return func() time.Duration {
			cmd := exec.Command(path, args...)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
			began := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatal(err)
			}
			return time.Since(began)
		}
	}
	for _, args := range []string{"version", "version --json", "--help", "--help --lang ru"} {
		b.Run(strings.ReplaceAll(args, " ", "_"), func(b *testing.B) {
			compare(b, timed(minimal), timed(own, strings.Fields(args)...))
		})
	}
}

// wire is a server process that is spoken to in raw lines, with as little in between as can be.
type wire struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

const (
	helloLine = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"0"}}}` + "\n"
	readyLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

func spawn(b *testing.B, path string, args ...string) *wire {
	b.Helper()
	w := &wire{b: b, cmd: exec.Command(path, args...)}
	w.cmd.Env = bareEnv(b.TempDir())
	in, err := w.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := w.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return w
}

// ask sends a line and returns the answer.
func (w *wire) ask(line string) []byte {
	w.b.Helper()
	if _, err := io.WriteString(w.in, line); err != nil {
		w.b.Fatal(err)
	}
	answer, err := w.out.ReadSlice('\n')
	if err != nil || bytes.Contains(answer, []byte(`"error":`)) || bytes.Contains(answer, []byte(`"isError":true`)) {
		w.b.Fatalf("%v in %s", err, answer)
	}
	return answer
}

func (w *wire) call(tool, arguments string) []byte {
	w.b.Helper()
	return w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + "}}\n")
}

func (w *wire) ready() *wire {
	w.b.Helper()
	w.ask(helloLine)
	if _, err := io.WriteString(w.in, readyLine); err != nil {
		w.b.Fatal(err)
	}
	return w
}

func (w *wire) end() {
	_ = w.in.Close()
	_ = w.cmd.Wait()
}

// BenchmarkSpawn times a server from its start to its answer to initialize.
func BenchmarkSpawn(b *testing.B) {
	echo, own := builtFor(b, "echo", "./testdata/echo"), builtFor(b, program, ".")
	timed := func(path string, args ...string) func() time.Duration {
		return func() time.Duration {
			began := time.Now()
			w := spawn(b, path, args...)
			w.ask(helloLine)
			took := time.Since(began)
			w.end()
			return took
		}
	}
	b.Run("memory", func(b *testing.B) { compare(b, timed(echo), timed(own, "serve")) })
	b.Run("store", func(b *testing.B) {
		compare(b, timed(echo), timed(own, "serve", "--store", filepath.Join(b.TempDir(), "s.sqlite3")))
	})
}

var runIDField = regexp.MustCompile(`"run_id":"(qar-[0-9a-f]{32})"`)

// BenchmarkCall times one call there and back beside the minimal server's echo.
func BenchmarkCall(b *testing.B) {
	echoPath, ownPath := builtFor(b, "echo", "./testdata/echo"), builtFor(b, program, ".")
	for _, c := range []struct {
		name string
		call func(w *wire, id string)
	}{
		{"prepare", func(w *wire, _ string) { w.call("prepare_qa_orchestration", `{"agent_profile":"code_reviewer"}`) }},
		{"get", func(w *wire, id string) { w.call("get_qa_orchestration", `{"run_id":"`+id+`"}`) }},
		{"finish", func(w *wire, id string) { w.call("finish_qa_orchestration", `{"run_id":"`+id+`","outcome":"partial"}`) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			echo, own := spawn(b, echoPath).ready(), spawn(b, ownPath, "serve").ready()
			defer echo.end()
			defer own.end()
			id := string(runIDField.FindSubmatch(own.call("start_qa_orchestration", `{"task_type":"other"}`))[1])
			if c.name == "finish" {
				own.call("advance_qa_orchestration", `{"run_id":"`+id+`","completed_step":"triage","status":"partial"}`)
			}
			timed := func(f func()) func() time.Duration {
				return func() time.Duration {
					began := time.Now()
					f()
					return time.Since(began)
				}
			}
			echoes := timed(func() { echo.call("echo", `{"run_id":"`+id+`"}`) })
			owns := timed(func() { c.call(own, id) })
			for range 200 { // both are warm then
				echoes()
				owns()
			}
			compare(b, echoes, owns)
		})
	}
}

// review takes one session through a whole review.
func (w *wire) review() {
	id := string(runIDField.FindSubmatch(w.call("start_qa_orchestration", `{"task_type":"other"}`))[1])
	advance := func(step, more string) {
		w.call("advance_qa_orchestration", `{"run_id":"`+id+`","completed_step":"`+step+`","status":"completed"`+more+`}`)
	}
	advance("triage", `,"selected_bundle":"ordinary_mr"`)
	advance("primary_review", `,"completed_profile":"code_explorer"`)
	advance("primary_review", `,"completed_profile":"code_reviewer"`)
	advance("primary_review", `,"completed_profile":"pr_test_analyzer","risk_signals":{"high_risk_domain":true,"evidence_uncertain":true}`)
	advance("deep_review", "")
	advance("synthesis", "")
	w.call("finish_qa_orchestration", `{"run_id":"`+id+`","outcome":"completed"}`)
}

// BenchmarkReviews takes a thousand reviews through one server, and as many calls through the
// minimal one, and reports the memory that each took at most.
func BenchmarkReviews(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("peak memory is read from /proc")
	}
	const reviews, callsEach = 1000, 8
	echoPath, ownPath := builtFor(b, "echo", "./testdata/echo"), builtFor(b, program, ".")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"memory", []string{"serve"}},
		{"store", []string{"serve", "--store", filepath.Join(b.TempDir(), "s.sqlite3")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var base, own float64
			for b.Loop() {
				echo, server := spawn(b, echoPath).ready(), spawn(b, ownPath, c.args...).ready()
				for range reviews {
					server.review()
					for range callsEach {
						echo.call("echo", `{"run_id":"qar-0123456789abcdef0123456789abcdef"}`)
					}
				}
				base, own = max(base, peak(b, echo)), max(own, peak(b, server))
				echo.end()
				server.end()
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(base, "base-MiB")
			b.ReportMetric(own, "own-MiB")
			b.ReportMetric(own/base, "ratio")
		})
	}
}

// peak is the most memory that a process had in use, in MiB.
func peak(b *testing.B, w *wire) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(kib)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(n) / 1024
		}
	}
	return math.NaN()
}

// BenchmarkSize reports the size of the stripped program, in millions of bytes.
func BenchmarkSize(b *testing.B) {
	info, err := os.Stat(builtFor(b, program, "."))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = info.Size()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(info.Size())/1e6, "MB")
}
