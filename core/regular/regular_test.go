package regular

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenTakesFilesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("text"), 0o600))
	for name, open := range map[string]func(string) (*os.File, error){"Open": Open, "OpenHere": OpenHere} {
		f, err := open(file)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data, err := io.ReadAll(f); err != nil || string(data) != "text" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		must(t, f.Close())
		if _, err := open(dir); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s of a folder: %v", name, err)
		}
		if _, err := open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err)
	}
	if f, err := Open(link); err != nil {
		t.Errorf("a link: %v", err)
	} else {
		_ = f.Close()
	}
	if _, err := OpenHere(link); !errors.Is(err, ErrLink) {
		t.Errorf("a link where none may be: %v", err)
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fresh := filepath.Join(dir, "a", "b")
	must(t, Folder(fresh))
	must(t, Folder(fresh)) // it may be there
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if Folder(file) == nil {
		t.Error("a file passes for a folder")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(fresh, link); err != nil {
		t.Skip(err)
	}
	if err := Folder(link); !errors.Is(err, ErrLink) {
		t.Errorf("a link to a folder: %v", err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got, err := Resolve(filepath.Join(dir, "none")); err != nil || got != filepath.Join(dir, "none") {
		t.Errorf("nothing there: %q, %v", got, err)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if err := os.Symlink("b", a); err != nil {
		t.Skip(err)
	}
	if got, err := Resolve(a); err != nil || got != b {
		t.Errorf("a dangling link: %q, %v", got, err)
	}
	must(t, os.Symlink(a, b))
	if _, err := Resolve(a); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("links in a circle: %v", err)
	}
	folder := filepath.Join(dir, "folder")
	must(t, os.Symlink(dir, folder))
	if _, err := Resolve(folder); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a link to a folder: %v", err)
	}
}

func TestLockFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	for range 2 { // made the first time, there the second
		l, err := NewLock(path)
		must(t, err)
		must(t, l.Lock())
		other, err := NewLock(path)
		must(t, err)
		if ok, err := other.TryLock(); ok || err != nil {
			t.Errorf("locked twice: %v, %v", ok, err)
		}
		must(t, l.Unlock())
	}
	if _, err := NewLock(dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	link, target := filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if _, err := NewLock(link); !errors.Is(err, ErrLink) {
		t.Errorf("a dangling link: %v", err)
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("a file was made through a link")
	}
}
