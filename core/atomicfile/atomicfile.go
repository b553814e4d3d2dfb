// Package atomicfile replaces a file in one step: whoever reads it sees the old
// bytes or the new ones, never a part, also after a crash.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

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

// replace puts a new file in the place of target, whatever is there: a link is
// replaced, not followed. exact says that perm holds whatever the umask is.
func replace(target string, data []byte, perm fs.FileMode, exact bool) error {
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := create(dir, "."+filepath.Base(target)+".tmp-", perm)
	if err != nil {
		return err
	}
	defer func() {
		if tmp != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if exact {
		if err := tmp.Chmod(perm); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), target); err != nil {
		return err
	}
	tmp = nil
	SyncDir(dir)
	return nil
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
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm) // the name is ours now
	if err != nil {
		return err
	}
	err = f.Close()
	if err == nil {
		err = replace(path, data, perm, true)
	}
	if err != nil {
		_ = os.Remove(path)
	}
	return err
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
// path.backup-2, … and returns that name. It never replaces a file.
func Backup(path string, data []byte) (string, error) {
	for i := 1; i <= backups; i++ {
		name := path + ".backup"
		if i > 1 {
			name = fmt.Sprintf("%s-%d", name, i)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		if err == nil {
			err = f.Sync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = os.Remove(name)
			return "", err
		}
		return name, nil
	}
	return "", &fs.PathError{Op: "backup", Path: path, Err: errors.New("too many backups")}
}
