// Package atomicfile replaces a file in one step: whoever reads it sees the old
// bytes or the new ones, never a part, also after a crash.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks bounds how many symlinks in a row are followed.
const maxLinks = 16

// ErrNotRegular is returned where the path leads to something that is no
// regular file: a folder, a device, a pipe, a socket.
var ErrNotRegular = errors.New("not a regular file")

// Write replaces path by data. A missing folder is created with mode 0700, an
// existing one is left as it is. A new file gets mode perm; so does a replaced
// one, whatever mode it had. A symlink is followed and stays one. When Write
// returns nil the data is on disk.
func Write(path string, data []byte, perm fs.FileMode) error {
	target, err := Resolve(path)
	if err != nil {
		return err
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(target)+".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if tmp != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := tmp.Chmod(perm); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
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
		err = Write(path, data, perm)
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

// Resolve follows path through symlinks to the regular file it names, which
// need not exist yet. Anything else at its end is ErrNotRegular.
func Resolve(path string) (string, error) {
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
			return "", &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
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
	return "", &fs.PathError{Op: "open", Path: path, Err: errors.New("too many symbolic links")}
}

// Read returns the bytes of the regular file at path, which may be a symlink to
// one. A file of more than limit bytes is an error, as is anything that is no
// regular file: reading never blocks on a pipe or a device.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
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
			os.Remove(name)
			return "", err
		}
		return name, nil
	}
	return "", &fs.PathError{Op: "backup", Path: path, Err: errors.New("too many backups")}
}
