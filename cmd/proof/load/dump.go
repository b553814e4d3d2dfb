package load

import (
	"bytes"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// dump counts the goroutines in what a Go program writes to its error stream when
// it gets SIGQUIT.
type dump struct {
	mu    sync.Mutex
	line  []byte
	count int
}

// attach makes d the error stream of a command.
func (d *dump) attach(cmd *exec.Cmd) { cmd.Stderr = d }

// Write implements io.Writer.
func (d *dump) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range p {
		if b != '\n' {
			d.line = append(d.line, b)
			continue
		}
		if bytes.HasPrefix(d.line, []byte("goroutine ")) && bytes.HasSuffix(d.line, []byte("]:")) {
			d.count++
		}
		d.line = d.line[:0]
	}
	return len(p), nil
}

// of ends a server and returns how many goroutines it had; ok is false where there
// is no such signal.
func (d *dump) of(s *fleet.Server) (n int, ok bool) {
	if s.Process().Signal(syscall.SIGQUIT) != nil {
		return 0, false
	}
	_ = s.Close(10 * time.Second) // that it ends badly is what was asked for
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count, d.count > 0
}
