package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// canTrace tells that commands can be killed between two system calls.
const canTrace = true

// What the kernel calls it; the packages have no names for these.
const (
	waitAll      = 0x40000000 // __WALL: threads too
	waitOwn      = 0x20000000 // __WNOTHREAD: only what this thread traces
	traceOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK |
		unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL
	syscallStop = syscall.SIGTRAP | 0x80
)

// traced runs cmd with its children and kills all of them before the system call
// number step of those that change files; with a negative step it only counts
// them.
func traced(ctx context.Context, cmd *exec.Cmd, step int) (e ending, err error) {
	type outcome struct {
		ending
		err error
	}
	done := make(chan outcome, 1)
	go func() { // the thread that starts a process is the one that may trace it
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		e, err := trace(ctx, cmd, step)
		done <- outcome{e, err}
	}()
	o := <-done
	return o.ending, o.err
}

func trace(ctx context.Context, cmd *exec.Cmd, step int) (e ending, err error) {
	began := time.Now()
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return e, err
	}
	pid := cmd.Process.Pid
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-pid, syscall.SIGKILL) })
	defer stop()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, waitAll, nil); err != nil {
		return e, fmt.Errorf("tracing: %w", err)
	}
	if err := syscall.PtraceSetOptions(pid, traceOptions); err != nil {
		_ = cmd.Process.Kill()
		return e, fmt.Errorf("tracing: %w", err)
	}
	_ = syscall.PtraceSyscall(pid, 0)
	for {
		tid, err := syscall.Wait4(-1, &status, waitAll|waitOwn, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD): // all are gone
			e.took = time.Since(began)
			_ = cmd.Process.Release()
			if ctx.Err() != nil {
				return e, fmt.Errorf("it did not end: %w", ctx.Err())
			}
			return e, nil
		case err != nil:
			return e, fmt.Errorf("tracing: %w", err)
		}
		if status.Exited() || status.Signaled() {
			if tid == pid {
				e.code = status.ExitStatus() // -1 when killed
			}
			continue
		}
		pass := 0
		switch sig := status.StopSignal(); {
		case sig == syscallStop:
			if !e.killed && changesFiles(tid) {
				e.steps++
				if e.steps == step {
					e.killed = true
					_ = syscall.Kill(-pid, syscall.SIGKILL)
				}
			}
		case sig == syscall.SIGTRAP && status.TrapCause() > 0: // a new thread or process, or exec
		case sig == syscall.SIGSTOP: // how a new thread begins
		default:
			pass = int(sig)
		}
		_ = syscall.PtraceSyscall(tid, pass)
	}
}

// changesFiles reports whether a thread that has stopped is about to make a system
// call that changes what a crash leaves behind.
func changesFiles(tid int) bool {
	var r syscall.PtraceRegs
	if syscall.PtraceGetRegs(tid, &r) != nil || syscall.Errno(-r.Rax) != syscall.ENOSYS { // what the kernel sets before a call, not after
		return false
	}
	switch r.Orig_rax {
	case unix.SYS_OPENAT:
		return r.Rdx&(unix.O_CREAT|unix.O_TRUNC) != 0
	case unix.SYS_OPEN:
		return r.Rsi&(unix.O_CREAT|unix.O_TRUNC) != 0
	case unix.SYS_WRITE, unix.SYS_PWRITE64:
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, r.Rdi))
		return err == nil && strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "/dev/") && r.Rdi > 2
	case unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT,
		unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_RMDIR, unix.SYS_MKDIR, unix.SYS_MKDIRAT,
		unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE,
		unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT,
		unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return true
	}
	return false
}
