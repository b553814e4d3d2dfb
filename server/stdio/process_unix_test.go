//go:build unix

package stdio

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestProcessEndsOnSignals(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd, in, out, _ := startChild(t)
		if _, err := io.WriteString(in, call(`1`, "echo", `{}`)+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1`) {
			t.Fatalf("%q, %v", line, err)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := wait(t, cmd); err != nil {
			t.Errorf("%v: %v", sig, err)
		}
	}
}

func TestProcessEndsQuietlyWhenItsOutputIsClosed(t *testing.T) {
	t.Parallel()
	cmd, in, out, stderr := startChild(t)
	out.Close()
	for range 3 {
		if _, err := io.WriteString(in, call(`1`, "echo", `{}`)+"\n"); err != nil {
			break
		}
	}
	if err := wait(t, cmd); err != nil {
		t.Errorf("%v, stderr %q", err, stderr.String())
	}
	if s := stderr.String(); strings.Contains(s, "broken pipe") || strings.Contains(s, "panic") {
		t.Errorf("it was not quiet: %q", s)
	}
}
