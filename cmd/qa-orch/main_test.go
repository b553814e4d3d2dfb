package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what a test process can be started as.
var programs = map[string]func(){program: main}

func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "codex" {
		if err := fakeCodex(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testscript.Main(m, programs)
}

// fakeCodex does what "codex mcp add" does: it writes its file anew, without
// comments. A copy of the test program named codex is it; as a program of the
// scripts it would be installed in all of them.
func fakeCodex(args []string) error {
	dashes := slices.Index(args, "--")
	if dashes < 0 || !slices.Equal(args[:2], []string{"mcp", "add"}) {
		return fmt.Errorf("codex: %q", args)
	}
	name, command, rest := args[2], args[dashes+1], args[dashes+2:]
	var b strings.Builder
	fmt.Fprintf(&b, "# by codex\n[mcp_servers.%s]\ncommand = %q\nargs = [", name, command)
	for i, arg := range rest {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", arg)
	}
	fmt.Fprintf(&b, "]\n\n[mcp_servers.%s.env]\n", name)
	for i := 3; i < dashes-1; i += 2 {
		key, value, _ := strings.Cut(args[i+1], "=")
		fmt.Fprintf(&b, "%s = %q\n", key, value)
	}
	dir := filepath.Join(os.Getenv("HOME"), ".codex")
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "config.toml"), []byte(b.String()), 0o600))
}

// noRaceSleep is a GORACE that spares each process of a test under the race detector a second of
// waiting at its end.
const noRaceSleep = "atexit_sleep_ms=0"

// Scripts see a nearly empty environment, so English. Beyond the usual commands they have
// "exits CODE COMMAND ARGS...": run a command and compare its exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			bin, err := exec.LookPath(program)
			env.Setenv("BIN", bin)
			env.Setenv("GORACE", noRaceSleep)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
