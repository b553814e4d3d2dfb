package main

import (
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// programs are what a test process can be started as.
var programs = map[string]func(){program: main}

func TestMain(m *testing.M) { testscript.Main(m, programs) }

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
