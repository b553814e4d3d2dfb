package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// change makes the file what text says, as connect does.
func change(t *testing.T, l Ledger, path, text string, pristine bool) {
	t.Helper()
	f, err := l.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Prepare(pristine, false); err != nil {
		t.Fatal(err)
	}
	if err := f.Put([]byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// undo takes changes back, as disconnect does, and reports whether the file is to
// the byte what it was.
func undo(t *testing.T, l Ledger, path, text string, last bool) bool {
	t.Helper()
	f, err := l.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	exact, err := f.Undo([]byte(text), last, text == "")
	if err != nil {
		t.Fatal(err)
	}
	return exact
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if filepath.Ext(e.Name()) != ".lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

// The note is written before the file. A process that ended between the two is
// no other program that changed the file.
func TestAKilledChangeDoesNotSpoilTheUndoing(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]func(l Ledger, path string){
		"of the first change": func(l Ledger, path string) { change(t, l, path, "one", true); put(t, path, "before") },
		"of the second change": func(l Ledger, path string) {
			change(t, l, path, "one", true)
			change(t, l, path, "one two", false)
			put(t, path, "one")
		},
		"of taking one back": func(l Ledger, path string) {
			change(t, l, path, "one", true)
			change(t, l, path, "one two", false)
			undo(t, l, path, "one", false)
			put(t, path, "one two")
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		l := Ledger{filepath.Join(dir, "notes")}
		put(t, path, "before")
		crash(l, path)
		change(t, l, path, "one two three", name == "of the first change")
		if !undo(t, l, path, "something else", true) {
			t.Errorf("%s: it is not restored to the byte", name)
		}
		want(t, path, "before")
		if left := entries(t, l.Dir); left != nil {
			t.Errorf("%s: left are %q", name, left)
		}
	}
}

// An undoing that ended early is ended later, and what others use stays.
func TestSettle(t *testing.T) {
	t.Parallel()
	free := func(data []byte) (bool, error) { return !strings.Contains(string(data), "ours"), nil }
	dir := t.TempDir()
	l := Ledger{filepath.Join(dir, "notes")}
	path := filepath.Join(dir, "new", "er", "f")
	settle := func() {
		t.Helper()
		if err := l.Settle(context.Background(), path, free); err != nil {
			t.Fatal(err)
		}
	}
	settle()
	if _, err := os.Stat(l.Dir); err == nil {
		t.Error("a ledger was made for nothing")
	}
	change(t, l, path, "ours", true)
	settle()
	want(t, path, "ours")
	if left := entries(t, l.Dir); len(left) != 1 {
		t.Errorf("the note is gone: %q", left)
	}
	if err := os.Remove(path); err != nil { // and there it ended
		t.Fatal(err)
	}
	settle()
	if left := entries(t, dir); len(left) != 1 {
		t.Errorf("left are %q", left)
	}
	if left := entries(t, l.Dir); left != nil {
		t.Errorf("left are %q", left)
	}

	path = filepath.Join(dir, "f")
	put(t, path, "before")
	change(t, l, path, "ours", true)
	put(t, path, "before")
	settle()
	want(t, path, "before")
	if left := entries(t, l.Dir); left != nil {
		t.Errorf("left are %q", left)
	}
}

// Folders are noted before they are made: without a note nobody would remove them.
func TestFoldersAreNotedFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := Ledger{filepath.Join(dir, "notes")}
	f := open(t, l, filepath.Join(dir, "new", "er", "f"))
	if _, err := f.Prepare(true, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.notePath(), 0o700); err != nil { // so the note can't be written
		t.Fatal(err)
	}
	if err := f.Put([]byte("ours"), 0o600); err == nil {
		t.Error("it was written without a note")
	}
	if left := entries(t, dir); len(left) != 1 {
		t.Errorf("there are %q", left)
	}
}
