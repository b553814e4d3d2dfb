package model

import (
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// canFillDisk tells whether a disk can be made to look full.
const canFillDisk = true

// limitFiles keeps a process, 0 for this one, from writing any file beyond size
// bytes. -1 ends it.
func limitFiles(pid int, size int64) {
	limit := unix.Rlimit{}
	if unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit) != nil {
		return // the process is gone
	}
	limit.Cur = limit.Max
	if size >= 0 {
		limit.Cur = min(limit.Max, uint64(size))
	}
	_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
}

// mountSmall makes a disk of 8 MiB at path, and reports whether it could.
func mountSmall(path string) bool {
	return unix.Mount("model", path, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID|unix.MS_NOEXEC, "size=8m,mode=0700") == nil
}

func unmount(path string) { _ = unix.Unmount(path, unix.MNT_DETACH) }

// unlogged starts this program again without the log that the go command asks for,
// which it could not write while files must not grow. It returns when there is none.
func unlogged() error {
	isLog := func(arg string) bool { return strings.HasPrefix(arg, "-test.testlogfile=") }
	if !slices.ContainsFunc(os.Args, isLog) {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return unix.Exec(program, slices.DeleteFunc(slices.Clone(os.Args), isLog), os.Environ())
}
