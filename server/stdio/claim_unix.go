//go:build unix

package stdio

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// privateStdout moves standard output to a descriptor of its own and puts
// standard error in its place, also for code that does not ask the os package.
func privateStdout() (*os.File, error) {
	signal.Ignore(syscall.SIGPIPE)
	fd, err := unix.FcntlInt(uintptr(syscall.Stdout), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	if err := unix.Dup2(syscall.Stderr, syscall.Stdout); err != nil {
		return nil, os.NewSyscallError("dup2", err)
	}
	return os.NewFile(uintptr(fd), "protocol"), nil
}
