package bench

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// startUp times whole runs of the program, and servers from their start to
// their answer to initialize.
func (b *bench) startUp() (string, error) {
	_, env, err := b.home()
	if err != nil {
		return "", err
	}
	var rows []row
	for _, args := range []string{"version", "version --json", "--help", "--help --lang ru"} {
		s, err := compete(3, b.turns(100), b.program(env, b.own, strings.Fields(args)...), b.program(env, b.refs["linked"]), b.program(env, b.refs["plain"]))
		if err != nil {
			return "", err
		}
		rows = append(rows, row{"`" + args + "`", "a program that links the same libraries", s[0], s[1]}, row{"`" + args + "`", "a plain Go program", s[0], s[2]})
	}
	hello := func(path string, args ...string) run {
		return func() (time.Duration, error) {
			home, env, err := b.home()
			if err != nil {
				return 0, err
			}
			defer os.RemoveAll(home)
			env = append(env, "SESSIONS="+storeAt(home), "QA_ORCHESTRATOR_SESSION_STORE_PATH=")
			if len(args) == 2 {
				env[len(env)-1] += storeAt(home)
			}
			began := time.Now()
			w, err := b.spawn(env, path, args[:min(1, len(args))]...)
			if err != nil {
				return 0, err
			}
			_, err = w.ask(helloLine)
			took := time.Since(began)
			w.end()
			return took, err
		}
	}
	s, err := compete(3, b.turns(100), hello(b.own, "serve"), hello(b.own, "serve", "store"), hello(b.refs["mcpgo"]), hello(b.refs["mcpgostore"]), hello(b.refs["gosdk"]))
	if err != nil {
		return "", err
	}
	const what, withStore = "`serve`, to `initialize` answered", "`serve` with a new store, to `initialize` answered"
	rows = append(rows,
		row{what, "minimal mcp-go server", s[0], s[2]}, row{what, "minimal Go SDK server", s[0], s[4]},
		row{withStore, "minimal mcp-go server that opens a SQLite file", s[1], s[3]}, row{withStore, "minimal Go SDK server, no file", s[1], s[4]})
	return "Whole runs, and servers from their start to the moment the answer is there. qa-orch opens its store after it has answered.\n\n" + table(rows, false), nil
}

// roundTrip times each tool beside the same tool of the reference servers.
func (b *bench) roundTrip() (string, error) {
	_, env, err := b.home()
	if err != nil {
		return "", err
	}
	own, err := b.serve(env, b.own, "serve")
	if err != nil {
		return "", err
	}
	defer own.end()
	mcpgo, err := b.serve(env, b.refs["mcpgo"], b.tools)
	if err != nil {
		return "", err
	}
	defer mcpgo.end()
	gosdk, err := b.serve(env, b.refs["gosdk"], b.tools)
	if err != nil {
		return "", err
	}
	defer gosdk.end()
	times, err := b.reviews(b.turns(400), own, []*wire{mcpgo, gosdk}, true)
	if err != nil {
		return "", err
	}
	var rows []row
	for _, tool := range []string{prepareTool, startTool, advanceTool, getTool, finishTool} {
		t := times[tool]
		name, _, _ := strings.Cut(tool, "_")
		what := fmt.Sprintf("%s (%s kB)", name, figure(float64(b.answers[tool])/1e3))
		rows = append(rows, row{what, "the same tool on mcp-go", t[0], t[1]}, row{what, "the same tool on the Go SDK", t[0], t[2]}, row{what, "an echo of 36 bytes on mcp-go", t[0], t[3]})
	}
	return "The same tool: the same input and output schema, input validated, and the same answer, recorded from qa-orch, as text " +
		"and as structured content. What remains is the review itself. The echo does next to nothing. A whole review goes through, and each call takes turns with theirs.\n\n" + table(rows, true), nil
}

// reviews takes whole reviews through own, with the same calls to the others
// and an echo in turn, and returns what each took, by tool.
func (b *bench) reviews(n int, own *wire, others []*wire, echo bool) (map[string][]samples, error) {
	times := map[string][]samples{}
	warm := b.turns(100)
	for turn := range n + warm {
		runID := "qar-00000000000000000000000000000000"
		for _, s := range theReview {
			calls := []run{own.call(s.tool, s.with(runID))}
			var answer []byte
			if s.tool == startTool {
				line := callLine(s.tool, s.arguments)
				calls[0] = timed(func() (err error) {
					answer, err = own.ask(line)
					return err
				})
			}
			for _, other := range others {
				calls = append(calls, other.call(s.tool, s.with(runID)))
			}
			if echo {
				calls = append(calls, others[0].call("echo", `{"run_id":"`+runID+`"}`))
			}
			if times[s.tool] == nil {
				times[s.tool] = make([]samples, len(calls))
			}
			for i := range calls {
				i = (i + turn) % len(calls)
				took, err := calls[i]()
				if err != nil {
					return nil, err
				}
				if turn >= warm {
					times[s.tool][i] = append(times[s.tool][i], float64(took))
				}
			}
			if answer != nil {
				var err error
				if runID, err = runIDOf(answer); err != nil {
					return nil, err
				}
			}
		}
	}
	return times, nil
}

// memory reads what servers hold after their start, and held at most after a
// thousand reviews.
func (b *bench) memory() (string, error) {
	if runtime.GOOS != "linux" {
		return "Read from /proc: on Linux only.", nil
	}
	reviews := b.turns(1000)
	type server struct {
		name, path string
		args       []string
		start      samples
		peak       samples
	}
	servers := []*server{
		{name: "own", path: b.own, args: []string{"serve"}},
		{name: "own with a store", path: b.own, args: []string{"serve"}},
		{name: "mcpgo", path: b.refs["mcpgo"], args: []string{b.tools}},
		{name: "mcpgostore", path: b.refs["mcpgostore"], args: []string{b.tools}},
		{name: "gosdk", path: b.refs["gosdk"], args: []string{b.tools}},
	}
	for turn := range 5 {
		for _, s := range servers {
			home, env, err := b.home()
			if err != nil {
				return "", err
			}
			env = append(env, "SESSIONS="+storeAt(home))
			if s.name == "own with a store" {
				env = append(env, "QA_ORCHESTRATOR_SESSION_STORE_PATH="+storeAt(home))
			}
			w, err := b.serve(env, s.path, s.args...)
			if err != nil {
				return "", err
			}
			time.Sleep(200 * time.Millisecond) // what it does after its start
			u, _ := fleet.UsageOf(w.cmd.Process.Pid)
			s.start = append(s.start, float64(u.RSS))
			if turn == 0 {
				own := strings.HasPrefix(s.name, "own")
				for range reviews {
					runID := "qar-00000000000000000000000000000000"
					for _, c := range theReview {
						answer, err := w.ask(callLine(c.tool, c.with(runID)))
						if err == nil && own && c.tool == startTool {
							runID, err = runIDOf(answer)
						}
						if err != nil {
							return "", err
						}
					}
				}
				s.peak = append(s.peak, peak(w.cmd.Process.Pid))
			}
			w.end()
			_ = os.RemoveAll(home)
		}
	}
	var rows []row
	for _, phase := range []string{"after the start", fmt.Sprintf("at most, in %d reviews", reviews)} {
		of := func(i int) samples {
			if phase == "after the start" {
				return servers[i].start
			}
			return servers[i].peak
		}
		rows = append(rows,
			row{"`serve`, " + phase, "minimal mcp-go server", of(0), of(2)},
			row{"`serve`, " + phase, "minimal Go SDK server", of(0), of(4)},
			row{"`serve` with a store, " + phase, "minimal mcp-go server with a SQLite file", of(1), of(3)},
			row{"`serve` with a store, " + phase, "minimal Go SDK server, no file", of(1), of(4)})
	}
	return "Resident memory. The reference servers have the same tools and get the same calls.\n\n" + tableOf(rows, false, mebibytes), nil
}

// peak is the most memory that a process had in use, in bytes.
func peak(pid int) float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kib)[0])
			return float64(n) * 1024
		}
	}
	return 0
}

// size compares the stripped programs.
func (b *bench) size() (string, error) {
	bytes := func(path string) (float64, error) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		return float64(info.Size()), nil
	}
	own, err := bytes(b.own)
	if err != nil {
		return "", err
	}
	var t strings.Builder
	t.WriteString("| qa-orch | beside | ratio | qa-orch | beside it |\n|---|---|---|---|---|\n")
	for _, r := range [][2]string{{"linked", "a program that names the same libraries and uses none"}, {"mcpgostore", "minimal mcp-go server with a SQLite file"}, {"mcpgo", "minimal mcp-go server"}, {"gosdk", "minimal Go SDK server"}, {"plain", "a plain Go program"}} {
		n, err := bytes(b.refs[r[0]])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&t, "| as released | %s | **%s** | %.2f MB | %.2f MB |\n", r[1], ratio(own/n), own/1e6, n/1e6)
	}
	return t.String(), nil
}
