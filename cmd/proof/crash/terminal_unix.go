//go:build unix

package crash

import (
	"context"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/creack/pty"
)

// canUseTerminal tells that commands can be run on a terminal.
const canUseTerminal = true

// runOnTerminal is run on a terminal that answers nothing, before which somebody
// presses Enter until the command ends.
func runOnTerminal(ctx context.Context, in invocation, k killer) (e ending, err error) {
	cmd := exec.Command(in.path, in.args...)
	cmd.Env, cmd.Dir = in.env, in.dir
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24}) // in a session, and so a group, of its own
	if err != nil {
		return e, err
	}
	defer terminal.Close()
	var output []byte
	var reading, pressing sync.WaitGroup
	reading.Go(func() { output, _ = io.ReadAll(terminal) })
	ended := make(chan struct{})
	pressing.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(10 * time.Millisecond):
				_, _ = terminal.WriteString("\r")
			}
		}
	})
	e, err = await(ctx, cmd, in.home, k)
	close(ended)
	pressing.Wait()
	terminal.Close()
	reading.Wait()
	e.output = string(output)
	return e, err
}
