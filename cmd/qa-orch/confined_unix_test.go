//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/qa-orch/qa-orch/locales"
	advserver "github.com/qa-orch/qa-orch/server/advocate"
	"github.com/qa-orch/qa-orch/tui/calm"
)

// The variables of "confined", a program that takes on a umask and gives up network sockets and then
// becomes qa-orch, or what progVar names. Both hold for all that qa-orch starts.
const (
	umaskVar = "CONFINED_UMASK" // octal
	noNetVar = "CONFINED_NO_NETWORK"
	progVar  = "CONFINED_PROGRAM"
)

func init() { programs["confined"] = confined }

// noNetwork gives up network sockets for good; nil where that can't be done.
var noNetwork func() error

func confined() {
	calm.Restore() // before the environment is handed on
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "confined:", err)
		os.Exit(99)
	}
	if text := os.Getenv(umaskVar); text != "" {
		mask, err := strconv.ParseUint(text, 8, 16)
		if err != nil {
			fail(err)
		}
		syscall.Umask(int(mask))
	}
	name := program
	if other := os.Getenv(progVar); other != "" {
		name = other
	}
	path, err := exec.LookPath(name)
	if err != nil {
		fail(err)
	}
	if os.Getenv(noNetVar) != "" {
		if err := noNetwork(); err != nil { // holds for this thread, which becomes the program
			fail(err)
		}
	}
	fail(syscall.Exec(path, append([]string{name}, os.Args[1:]...), os.Environ()))
}

// person is somebody with a home, a folder of a project and an environment, who runs the program there.
type person struct {
	t             *testing.T
	path          string // of the program
	home, project string
	env           []string
}

// lookPath returns where a program of the tests is.
func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newPerson makes somebody whose folders lie in dir.
func newPerson(t *testing.T, dir string, env ...string) *person {
	t.Helper()
	name := program
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "CONFINED_") }) {
		name = "confined"
	}
	p := &person{t: t, path: lookPath(t, name), home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	for _, folder := range []string{p.home, p.project, filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(bareEnv(p.home, "TMPDIR="+filepath.Join(dir, "tmp")), env...)
	return p
}

// said is what a run wrote, and its exit code; -1 if a signal ended it.
type said struct {
	out, err string
	code     int
}

func (p *person) run(args ...string) said { p.t.Helper(); return p.runWith(nil, args...) }

// runWith runs the program with more in its environment.
func (p *person) runWith(env []string, args ...string) said {
	p.t.Helper()
	cmd := p.command(env, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func (p *person) command(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Dir = p.project
	cmd.Env = append(append([]string{}, p.env...), env...)
	return cmd
}

// must runs the program and expects it to end well.
func (p *person) must(args ...string) string {
	p.t.Helper()
	s := p.run(args...)
	if s.code != exitOK {
		p.t.Errorf("%q: exit code %d\n%s%s", args, s.code, s.out, s.err)
	}
	return s.out
}

// peer starts a server and a client that speaks to it.
func (p *person) peer(args ...string) *peer {
	p.t.Helper()
	return startPeerAs(p.t, p.path, p.env, args...)
}

// put writes a file of the person with that mode, whatever the umask here is.
func (p *person) put(path, text string, mode fs.FileMode) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		p.t.Fatal(err)
	}
}

// store is where the person's sessions are.
func (p *person) store() string { return filepath.Join(p.home, ".qa-orchestrator", "sessions.sqlite3") }

// policy is where the person's policy is.
func (p *person) policy() string {
	return filepath.Join(p.home, ".qa-orchestrator", "model-policy.json")
}

// setupFlags are the flags that answer all of setup's questions.
var setupFlags = []string{
	"setup", "--provider", "openai", "--triage-model", "gpt-6-luna", "--primary-model", "gpt-6-luna",
	"--deep-model", "gpt-6-sol", "--synthesis-model", "gpt-6-sol",
}

// day takes the person through every command. after is called after each.
func (p *person) day(after func(what string)) {
	p.t.Helper()
	do := func(args ...string) {
		p.t.Helper()
		p.must(args...)
		after(strings.Join(args, " "))
	}
	do(setupFlags...)
	p.put(p.policy(), "{", 0o600)
	do(setupFlags...) // which keeps a backup
	do("config", "show")
	do("reload")

	s := p.peer("serve", "--store", p.store())
	a := s.must("start_qa_orchestration", map[string]any{"task_type": "other"})
	s.must("advance_qa_orchestration", report(a))
	after("a server over a store")
	do("sessions", "--plain")
	do("sessions", "show", a.str("run_id"))
	s.kill()
	after("a server that was killed")
	do("sessions", "--json")
	s = p.peer("serve", "--store", p.store())
	wholeReview(p.t, func(tool string, args map[string]any) answer { return s.call(tool, args) })
	after("a whole review")
	s.end()

	adv := p.peer("advocate", "serve")
	id := adv.must(advserver.StartTool, map[string]any{"claim": "Release 4.2 is ready to ship", "mode": "steelman"}).str("review_id")
	adv.must(advserver.SubmitTool, map[string]any{"review_id": id, "items": []any{
		map[string]any{"text": "Half of the partners have not signed the amended contract"},
		map[string]any{"text": "The load test stopped at a tenth of the traffic"},
		map[string]any{"text": "Nobody has translated the Swiss invoices yet"},
	}})
	adv.must(advserver.SubmitTool, map[string]any{"review_id": id, "items": []any{
		map[string]any{"index": 0, "stance": "concede", "text": "They keep the previous portal until summer"},
		map[string]any{"index": 1, "stance": "counter", "text": "A full run is booked for the weekend"},
		map[string]any{"index": 2, "stance": "counter", "text": "Switzerland joins in the second wave"},
	}})
	after("a review of the devil's advocate")
	adv.end()
	do("advocate", "list")
	do("advocate", "show", id)
	do("advocate", "report", id, "-o", filepath.Join(p.home, "reports", "memo.md"))
	do("advocate", "report", id, "-o", filepath.Join(p.home, "reports", "memo.md"), "--force")
	do("advocate", "demo")
	do("demo", "--with-advocate")

	do("connect", "generic")
	do("connect", "cursor", "--dry-run")
	do("connect", "cursor", "--yes")
	do("connect", "zed", "--yes")
	do("connect", "zed", "--advocate", "--yes")
	do("connect", "codex", "--yes")
	do("connect", "goose", "--yes")
	do("connect", "claude-code", "--scope", "project", "--yes")
	do("connect", "--list")
	do("doctor")
	do("rules", "--install")
	do("rules", "claude-code", "--install", "--scope", "user")
	do("rules", "cursor", "--install")
	do("rules", "--remove")
	do("rules", "--install")
	for _, client := range []string{"codex", "goose", "claude-code", "zed"} {
		do("disconnect", client, "--yes")
	}

	do("eval", "list")
	do("profiles")
	do("completion", "bash")
	do("docs", "man", filepath.Join(p.project, "man"))
	do("version")
	do("help")
	do("sessions")
}

// inBoth calls f with the words of both languages.
func inBoth(t *testing.T, f func(t *testing.T, words *locales.Printer, lang string)) {
	for _, lang := range locales.Langs() {
		t.Run(lang.String(), func(t *testing.T) {
			t.Parallel()
			f(t, locales.New(lang), lang.String())
		})
	}
}
