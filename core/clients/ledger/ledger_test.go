package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func open(t *testing.T, l Ledger, path string) *File {
	t.Helper()
	f, err := l.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, path, text string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != text {
		t.Errorf("%s: %q (%v), want %q", path, data, err, text)
	}
}

// What somebody else wrote while a change was made is not written over.
func TestAChangeOfOthersIsNotLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "before")
	f := open(t, Ledger{filepath.Join(dir, "notes")}, path)
	if _, err := f.Prepare(true, false); err != nil {
		t.Fatal(err)
	}
	put(t, path, "others")
	if err := f.Put([]byte("ours"), 0o600); !errors.Is(err, ErrChanged) {
		t.Errorf("%v", err)
	}
	want(t, path, "others")
}

// There is one backup, of what was there before anything of ours, however often
// the file is changed.
func TestOneBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	l := Ledger{filepath.Join(dir, "notes")}
	put(t, path, "before")
	backup := ""
	for i, text := range []string{"one", "two", "three"} {
		f := open(t, l, path)
		var err error
		if backup, err = f.Prepare(i == 0, false); err != nil {
			t.Fatal(err)
		}
		if err := f.Put([]byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	want(t, backup, "before")
	files, _ := filepath.Glob(filepath.Join(l.Dir, "*-f"))
	if len(files) != 1 {
		t.Errorf("%v", files)
	}
	f := open(t, l, path)
	if exact, err := f.Undo([]byte("rest"), true, false); err != nil || !exact {
		t.Errorf("%v %v", exact, err)
	}
	want(t, path, "before")
}

// A backup that is not what was noted is not put in place of the file.
func TestADamagedBackupIsNotUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	l := Ledger{filepath.Join(dir, "notes")}
	put(t, path, "before")
	f := open(t, l, path)
	backup, err := f.Prepare(true, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Put([]byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	put(t, backup, "damaged")
	f = open(t, l, path)
	if exact, err := f.Undo([]byte("rest"), true, false); err != nil || exact {
		t.Errorf("%v %v", exact, err)
	}
	want(t, path, "rest")
}

func TestOnlyFilesAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := (Ledger{filepath.Join(dir, "notes")}).Open(context.Background(), dir); err == nil {
		t.Error("a folder was opened")
	}
}
