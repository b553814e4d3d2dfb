package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Usage is what a process holds.
type Usage struct {
	// RSS is its resident memory in bytes.
	RSS int64
	// Descriptors is how many files, pipes and sockets it has open.
	Descriptors int
	// Threads is how many threads of the system it has.
	Threads int
}

// UsageOf reads what a running process holds from /proc: on Linux only. ok is
// false elsewhere, and when the process is gone.
func UsageOf(pid int) (u Usage, ok bool) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return Usage{}, false
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "VmRSS":
			var kilobytes int64
			if _, err := fmt.Sscan(value, &kilobytes); err == nil {
				u.RSS = kilobytes << 10
			}
		case "Threads":
			_, _ = fmt.Sscan(value, &u.Threads)
		}
	}
	open, err := os.ReadDir(filepath.Join(proc, "fd"))
	u.Descriptors = len(open)
	return u, err == nil
}
