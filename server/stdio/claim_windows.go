package stdio

import (
	"os"

	"golang.org/x/sys/windows"
)

// privateStdout keeps the handle and puts standard error in its place, also for
// code that does not ask the os package.
func privateStdout() (*os.File, error) {
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, os.NewSyscallError("SetStdHandle", err)
	}
	return os.Stdout, nil
}
