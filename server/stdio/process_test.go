package stdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// child serves as a process of its own, as the commands do. While it does, a
// library prints to what it takes for standard output.
func child() {
	in, out, err := Claim()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	fmt.Println("a library says hello")
	_, _ = os.Stdout.WriteString("and once more\n")
	_, _ = os.NewFile(1, "stdout").WriteString("and to the descriptor itself\n")
	if err := Serve(ctx, testServer(newGate()), in, out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func startChild(t *testing.T) (cmd *exec.Cmd, in io.WriteCloser, out *output, stderr *syncBuffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe)
	cmd.Env = append(os.Environ(), "STDIO_CHILD=1", "GORACE=atexit_sleep_ms=0")
	stderr = &syncBuffer{}
	cmd.Stderr = stderr
	if in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, &output{bufio.NewReader(pipe), pipe}, stderr
}

// output is the reading end of the child's standard output.
type output struct {
	*bufio.Reader
	io.Closer
}

// wait returns how the child ended; it has two seconds for that.
func wait(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-time.After(2*time.Second + raceSlack):
		t.Fatal("the process is still there")
		return nil
	}
}

// raceSlack is for machines that are busy with other tests.
const raceSlack = 3 * time.Second

func TestProcessAnswersEverythingAndExitsCleanly(t *testing.T) {
	t.Parallel()
	cmd, in, out, stderr := startChild(t)
	var b strings.Builder
	for i := range 20 {
		b.WriteString(call(fmt.Sprint(i), "echo", `{}`) + "\n")
	}
	if _, err := io.WriteString(in, b.String()); err != nil {
		t.Fatal(err)
	}
	in.Close()
	data, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), `"result"`); n != 20 || strings.Count(string(data), "\n") != 20 {
		t.Errorf("%d results in %q", n, data)
	}
	if err := wait(t, cmd); err != nil {
		t.Error(err)
	}
	for _, said := range []string{"hello", "once more", "descriptor"} {
		if strings.Contains(string(data), said) {
			t.Errorf("a library wrote into the protocol: %q", said)
		}
	}
	if !strings.Contains(stderr.String(), "a library says hello") {
		t.Errorf("stderr lost what a library said: %q", stderr.String())
	}
}
