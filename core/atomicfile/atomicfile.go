// Package atomicfile replaces a file in one step: whoever reads it sees the old
// bytes or the new ones, never a part, also after a crash.
package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/core/regular"
)

// Write replaces path by data. A missing folder is created with mode 0700, an
// existing one is left as it is. A new file gets mode perm; so does a replaced
// one, whatever mode it had. A symlink is followed and stays one, unless it
// belongs to another user. When Write returns nil the data is on disk.
func Write(path string, data []byte, perm fs.FileMode) error {
	target, err := regular.Resolve(path)
	if err != nil {
		return err
	}
	return replace(target, data, perm, true)
}

// WriteShared is Write for a file that others may read: what the person's umask
// takes away from perm is taken away.
func WriteShared(path string, data []byte, perm fs.FileMode) error {
	target, err := regular.Resolve(path)
	if err != nil {
		return err
	}
	return replace(target, data, perm, false)
}

// Replace is Write for a file of our own, which is no link: whatever is at path,
// a link included, gives way to the file.
func Replace(path string, data []byte) error { return replace(path, data, 0o600, true) }

// replace puts a new file in the place of target, whatever is there: a link is
// replaced, not followed. exact says that perm holds whatever the umask is.
func replace(target string, data []byte, perm fs.FileMode, exact bool) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	Sweep(target) // first: once the file is in place, nobody may have a reason to come again
	name, err := beside(target, data, perm, exact)
	if err != nil {
		return err
	}
	if err := os.Rename(name, target); err != nil {
		_ = os.Remove(name)
		return err
	}
	SyncDir(filepath.Dir(target))
	return nil
}

// place is replace where nothing must be; else its error is fs.ErrExist.
func place(path string, data []byte, perm fs.FileMode) error {
	Sweep(path) // also when the file is there: it may be whole and its maker have been killed
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	name, err := beside(path, data, perm, true)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(name) }()
	// Unlike a renaming, another name for a file never takes one away.
	switch err := os.Link(name, path); {
	case err == nil:
		SyncDir(filepath.Dir(path))
		return nil
	case errors.Is(err, fs.ErrExist):
		return err
	}
	// This file system knows no second names. Between taking the name and the
	// renaming the file is empty; there is no other way here.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm) // #nosec G304 -- which file is the caller's business
	if err != nil {
		return err
	}
	if err = f.Close(); err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		_ = os.Remove(path)
		return err
	}
	SyncDir(filepath.Dir(path))
	return nil
}

// unfinished returns what the names of files begin with that are written to take
// the place of target, or its name.
func unfinished(target string) string { return "." + filepath.Base(target) + ".tmp-" }

// beside writes data to a new file in the folder of target and brings it to the
// disk.
func beside(target string, data []byte, perm fs.FileMode, exact bool) (name string, err error) {
	f, err := create(filepath.Dir(target), unfinished(target), perm)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if exact {
		if err := f.Chmod(perm); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return "", err
		}
	}
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// abandoned is how old an unfinished file is when nobody can be writing it any
// more. Writing takes milliseconds, on a bad day seconds.
const abandoned = time.Hour

// Sweep removes what writers of path that were killed have left beside it. All
// that writes to path does so too.
func Sweep(path string) {
	dir, prefix := filepath.Dir(path), unfinished(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// create makes a file whose name begins with prefix and that was not there. Its
// name can't be told beforehand, and a link of that name is not followed.
func create(dir, prefix string, perm fs.FileMode) (*os.File, error) {
	for {
		name := filepath.Join(dir, prefix+strconv.FormatUint(rand.Uint64(), 36)) // #nosec G404 -- a name that is free, no secret: O_EXCL refuses what is there
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)     // #nosec G304 -- beside the file that the caller names
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Create is Write for a file that must not exist: where there is anything at
// path, a dangling symlink included, its error is fs.ErrExist.
func Create(path string, data []byte, perm fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return place(path, data, perm)
}

// Read returns the bytes of the regular file at path, which may be a symlink to
// one. A file of more than limit bytes is an error, as is anything that is no
// regular file: reading never blocks on a pipe or a device.
func Read(path string, limit int64) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return data, nil
}

// ErrTooLarge is returned by Read for a file over its limit.
var ErrTooLarge = errors.New("file too large")

// backups is how many backups of one file are kept at most.
const backups = 20

// Backup writes data beside path under the first free name of path.backup,
// path.backup-2, … and returns that name. It never replaces a file; one of them
// that holds the same data already is as good as a new one.
func Backup(path string, data []byte) (string, error) {
	for i := 1; i <= backups; i++ {
		name := path + ".backup"
		if i > 1 {
			name = fmt.Sprintf("%s-%d", name, i)
		}
		err := place(name, data, 0o600)
		if errors.Is(err, fs.ErrExist) {
			if there, err := Read(name, int64(len(data))); err != nil || !bytes.Equal(there, data) {
				continue
			}
			err = nil
		}
		if err != nil {
			return "", err
		}
		return name, nil
	}
	return "", &fs.PathError{Op: "backup", Path: path, Err: errors.New("too many backups")}
}
