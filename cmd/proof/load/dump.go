package load

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
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
	by    map[string]int // by the function that started them
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
		if by, ok := bytes.CutPrefix(d.line, []byte("created by ")); ok {
			if d.by == nil {
				d.by = map[string]int{}
			}
			name, _, _ := bytes.Cut(by, []byte(" in goroutine"))
			d.by[string(name)]++
		}
		d.line = d.line[:0]
	}
	return len(p), nil
}

// rest is how long a server is left alone before it is asked: what has written
// the last answer ends after that.
const rest = 300 * time.Millisecond

// patience is how long a server may take to tell.
const patience = 30 * time.Second

// of ends a server and returns how many goroutines it had; ok is false where there
// is no such signal.
func (d *dump) of(s *fleet.Server) (n int, ok bool) {
	time.Sleep(rest)
	if s.Process().Signal(syscall.SIGQUIT) != nil {
		return 0, false
	}
	// Its input stays open: at the end of that it would leave before it has told all.
	select {
	case <-s.Done():
	case <-time.After(patience):
		return 0, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count, d.count > 0
}

// beyond words of which goroutines d has more than other.
func (d *dump) beyond(other *dump) string {
	var more []string
	for _, name := range slices.Sorted(maps.Keys(d.by)) {
		if n := d.by[name] - other.by[name]; n > 0 {
			more = append(more, fmt.Sprintf("%d of %s", n, name))
		}
	}
	return strings.Join(more, ", ")
}
