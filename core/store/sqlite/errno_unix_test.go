//go:build unix

package sqlite

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"
)

func TestReasonOfErrno(t *testing.T) {
	t.Parallel()
	for errno, want := range map[syscall.Errno]Reason{
		syscall.EROFS: ReadOnly, syscall.ENOSPC: DiskFull, syscall.EDQUOT: DiskFull, syscall.EACCES: Denied, syscall.EIO: Failed,
	} {
		var u *Unusable
		if errors.As(unusable("/x", &fs.PathError{Op: "open", Path: "/x", Err: errno}), &u); u.Reason != want {
			t.Errorf("%v: %s, want %s", errno, u.Reason, want)
		}
	}
}
