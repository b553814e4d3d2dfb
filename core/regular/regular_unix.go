//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	nonBlock = syscall.O_NONBLOCK
	noFollow = syscall.O_NOFOLLOW
)

// wordOf gives the system's errors for what is no file our names.
func wordOf(err error) error {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err
	}
	switch p.Err {
	case syscall.ELOOP:
		return &fs.PathError{Op: p.Op, Path: p.Path, Err: ErrLink}
	case syscall.ENXIO: // a socket, or a pipe that nobody reads
		return &fs.PathError{Op: p.Op, Path: p.Path, Err: ErrNotRegular}
	}
	return err
}

// Ours reports whether a file belongs to the person who runs this process, or to root, who could do
// anything anyway.
func Ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Uid == 0 || int(st.Uid) == os.Geteuid()
}

// Names returns how many names a file has: more than one if there are hard links to it.
func Names(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// Chmod changes the mode of the file at path and follows no link there.
func Chmod(path string, mode fs.FileMode) error {
	err := unix.Fchmodat(unix.AT_FDCWD, path, uint32(mode.Perm()), unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) { // an old Linux, or a link there
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return errors.Join(err, &fs.PathError{Op: "chmod", Path: path, Err: ErrLink})
		}
		return os.Chmod(path, mode.Perm())
	}
	if err != nil {
		return &fs.PathError{Op: "chmod", Path: path, Err: err}
	}
	return nil
}
