package crash

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adopt makes this process the parent of what a killed command leaves behind, so
// that it can tell when that has ended.
var adopt = sync.OnceFunc(func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) })

// ownGroup makes a command and its children a group of their own.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// awaitGroup waits until nobody of the group of a command that has ended is left.
func awaitGroup(ctx context.Context, pid int) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		_, err := syscall.Wait4(-pid, nil, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.ECHILD) {
			return nil
		}
		select {
		case <-ctx.Done():
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			return errOutlives
		case <-time.After(wait):
		}
	}
}
