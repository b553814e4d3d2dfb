//go:build !windows

package screen

import (
	"os"
	"syscall"
)

func hangups() []os.Signal { return []os.Signal{syscall.SIGHUP} }
