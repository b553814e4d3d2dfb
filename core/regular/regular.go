// Package regular opens files that are just files. Whoever can write to a folder can put something
// else in a file's place, and change it between a look and the opening: a link that leads elsewhere, a
// pipe that never ends. What is opened here was looked at after it was opened, and opening never waits
// for another process.
package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"
)

// What stands in a file's or a folder's place.
var (
	ErrNotRegular  = errors.New("not a regular file") // a folder, a device, a pipe, a socket
	ErrLink        = errors.New("a symbolic link")
	ErrForeignLink = errors.New("a symbolic link that belongs to another user")
	ErrNotFolder   = errors.New("not a folder")
)

// Open opens the file at path, or the one that links there lead to, for reading.
func Open(path string) (*os.File, error) { return open(path, os.Stat, 0) }

// OpenHere is Open for a path that must be no link itself.
func OpenHere(path string) (*os.File, error) { return open(path, os.Lstat, noFollow) }

func open(path string, look func(string) (fs.FileInfo, error), flags int) (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	// Opening is not without effect on every device, so it is not tried on what is none of our files.
	info, err := look(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return fail(ErrLink)
	case !info.Mode().IsRegular():
		return fail(ErrNotRegular)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|nonBlock|flags, 0) // #nosec G304 -- which file is the caller's business
	if err != nil {
		return nil, wordOf(err)
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Folder makes the folder dir, and those above it, for nobody but the person, unless it is there. What
// is there already keeps its mode; a link in its place is refused.
func Folder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "open", Path: dir, Err: ErrLink}
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: dir, Err: ErrNotFolder}
	}
	return nil
}

// NewLock returns the lock that the file at path stands for; it is made when the lock is taken. A link
// in its place is refused, as is anything that is no file.
func NewLock(path string) (*flock.Flock, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDONLY|nonBlock|noFollow)), nil
}

// maxLinks bounds how many links in a row are followed.
const maxLinks = 16

// Resolve follows path through links to the file it names, which need not exist yet. Anything but a
// regular file at its end is ErrNotRegular. Links are a person's way to keep files elsewhere; one that
// another person has put there is ErrForeignLink.
func Resolve(path string) (string, error) {
	fail := func(err error) (string, error) { return "", &fs.PathError{Op: "open", Path: path, Err: err} }
	for range maxLinks {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, nil
		case err != nil:
			return "", err
		case info.Mode().IsRegular():
			return path, nil
		case info.Mode()&fs.ModeSymlink == 0:
			return fail(ErrNotRegular)
		case !Ours(info):
			return fail(ErrForeignLink)
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return fail(syscall.ELOOP)
}
