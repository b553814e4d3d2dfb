package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// claim prepares a file for a change.
func claim(t *testing.T, f *File) (backup string) {
	t.Helper()
	if !f.Untouched() {
		if err := f.Keep(f.Data, false, nil); err != nil {
			t.Fatal(err)
		}
	}
	return f.Claim("us", "mark")
}

// backups returns what is in the ledger's folder beside locks and notes.
func backups(l Ledger) []string {
	files, _ := filepath.Glob(filepath.Join(l.Dir, "*-????????-f"))
	return files
}

// What somebody else wrote while a change was made is not written over.
func TestAChangeOfOthersIsNotLost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "before")
	f := open(t, Ledger{filepath.Join(dir, "notes")}, path)
	claim(t, f)
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
		if f.Untouched() != (i > 0) {
			t.Errorf("%s: untouched: %v", text, f.Untouched())
		}
		backup = claim(t, f)
		if err := f.Put([]byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	want(t, backup, "before")
	if left := backups(l); len(left) != 1 {
		t.Errorf("%v", left)
	}
	f := open(t, l, path)
	if exact, kept, err := f.Undo("us", Rest{Data: []byte("rest"), Last: true}); err != nil || !exact || kept != "" {
		t.Errorf("%v %v %v", exact, kept, err)
	}
	want(t, path, "before")
	if left := backups(l); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// When others changed the file, the backup becomes what the file is without us,
// and there is still one.
func TestOneBackupAfterChangesOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	l := Ledger{filepath.Join(dir, "notes")}
	put(t, path, "before")
	f := open(t, l, path)
	claim(t, f)
	if err := f.Put([]byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	put(t, path, "ours, others")
	f = open(t, l, path)
	if f.Untouched() {
		t.Error("the change of others is not seen")
	}
	if original, ok := f.Original(); !ok || string(original) != "before" {
		t.Errorf("%q %v", original, ok)
	}
	if err := f.Keep([]byte("others"), false, f.Ours()); err != nil {
		t.Fatal(err)
	}
	if left := backups(l); len(left) != 2 { // the note still names the old one
		t.Errorf("%v", left)
	}
	backup := f.Claim("more", "m")
	if err := f.Announce(); err != nil {
		t.Fatal(err)
	}
	if left := backups(l); len(left) != 1 || left[0] != backup {
		t.Errorf("%v", left)
	}
	if err := f.Put([]byte("ours, others, more"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	f = open(t, l, path)
	if names := f.Ours(); !slices.Equal(names, []string{"more", "us"}) {
		t.Errorf("%v", names)
	}
	if exact, _, err := f.Undo("more", Rest{Data: []byte("ours, others")}); err != nil || exact {
		t.Errorf("%v %v", exact, err)
	}
	f.Close()
	f = open(t, l, path)
	if exact, _, err := f.Undo("us", Rest{Data: []byte("rest"), Last: true}); err != nil || exact {
		t.Errorf("%v %v", exact, err)
	}
	want(t, path, "others")
}

// What could not be put back stays in the backup.
func TestTheBackupOfWhatIsLostStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	l := Ledger{filepath.Join(dir, "notes")}
	put(t, path, "before")
	f := open(t, l, path)
	claim(t, f)
	if err := f.Put([]byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	put(t, path, "ours, others")
	f = open(t, l, path)
	_, kept, err := f.Undo("us", Rest{Data: []byte("others"), Last: true, Lost: true})
	if err != nil {
		t.Fatal(err)
	}
	want(t, path, "others")
	want(t, kept, "before")
	f.Close()
	// The next change of the file takes its place.
	f = open(t, l, path)
	if _, ok := f.Original(); ok {
		t.Error("a note is left")
	}
	claim(t, f)
	if left := backups(l); len(left) != 1 || left[0] == kept {
		t.Errorf("%v", left)
	}
}

// A file that was not there goes when nothing is left in it, though others wrote
// it meanwhile.
func TestAMadeFileGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "f")
	l := Ledger{filepath.Join(dir, "notes")}
	f := open(t, l, path)
	if backup := claim(t, f); backup != "" {
		t.Error(backup)
	}
	if err := f.Put([]byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	put(t, path, "ours ")
	f = open(t, l, path)
	if !f.Made() || f.Untouched() {
		t.Errorf("made %v, untouched %v", f.Made(), f.Untouched())
	}
	if exact, _, err := f.Undo("us", Rest{Last: true, Empty: true}); err != nil || exact || f.Data != nil {
		t.Errorf("%v %v %q", exact, err, f.Data)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

// A backup that is not what was noted is not put in place of the file.
func TestADamagedBackupIsNotUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	l := Ledger{filepath.Join(dir, "notes")}
	put(t, path, "before")
	f := open(t, l, path)
	backup := claim(t, f)
	if err := f.Put([]byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	put(t, backup, "damaged")
	f = open(t, l, path)
	if _, ok := f.Original(); ok || f.Untouched() {
		t.Error("the damage is not seen")
	}
	if exact, kept, err := f.Undo("us", Rest{Data: []byte("rest"), Last: true, Lost: true}); err != nil || exact || kept != "" {
		t.Errorf("%v %v %v", exact, kept, err)
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

// change makes the file what text says, as connect does, with something of ours
// under a name.
func change(t *testing.T, l Ledger, path, text, name string) {
	t.Helper()
	f, err := l.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !f.Untouched() {
		if err := f.Keep(f.Data, false, f.Ours()); err != nil {
			t.Fatal(err)
		}
	}
	f.Claim(name, "")
	if err := f.Put([]byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// undo takes changes back, as disconnect does, and reports whether the file is to
// the byte what it was.
func undo(t *testing.T, l Ledger, path, text, name string, last bool) bool {
	t.Helper()
	f, err := l.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	exact, _, err := f.Undo(name, Rest{Data: []byte(text), Last: last, Empty: text == ""})
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
		"of the first change": func(l Ledger, path string) { change(t, l, path, "one", "1"); put(t, path, "before") },
		"of the second change": func(l Ledger, path string) {
			change(t, l, path, "one", "1")
			change(t, l, path, "one two", "2")
			put(t, path, "one")
		},
		"of taking one back": func(l Ledger, path string) {
			change(t, l, path, "one", "1")
			change(t, l, path, "one two", "2")
			undo(t, l, path, "one", "2", false)
			put(t, path, "one two")
		},
		"of taking all back": func(l Ledger, path string) {
			change(t, l, path, "one", "1")
			change(t, l, path, "one two", "2")
			put(t, path, "before")
		},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "f")
		l := Ledger{filepath.Join(dir, "notes")}
		put(t, path, "before")
		crash(l, path)
		change(t, l, path, "one two three", "3")
		if !undo(t, l, path, "something else", "3", true) {
			t.Errorf("%s: it is not restored to the byte", name)
		}
		want(t, path, "before")
		if left := entries(t, l.Dir); left != nil {
			t.Errorf("%s: left are %q", name, left)
		}
	}
}

// What is ours in a file is what was done, not what was about to be done.
func TestAKilledChangeClaimsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	l := Ledger{filepath.Join(dir, "notes")}
	ours := func(want ...string) {
		t.Helper()
		f := open(t, l, path)
		defer f.Close()
		if got := f.Ours(); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	change(t, l, path, "one", "1")
	ours("1")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ours()
	change(t, l, path, "one", "1")
	change(t, l, path, "one two", "2")
	ours("1", "2")
	put(t, path, "one")
	ours("1")
	change(t, l, path, "one two", "2")
	undo(t, l, path, "one", "2", false)
	ours("1")
	put(t, path, "one two")
	ours("1", "2")

	// A client's own command was at work when it ended: nobody knows what it wrote.
	f := open(t, l, path)
	f.Claim("3", "")
	if err := f.Announce(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	ours("1", "2")
	put(t, path, "one two three, and more")
	ours("1", "2", "3")

	// What the command wrote is as we left it.
	change(t, l, path, "one two three, and more", "3")
	ours("1", "2", "3")
	if f := open(t, l, path); !f.Untouched() {
		t.Error("touched")
	}
}

// An undoing that ended early is ended later, and what others use stays.
func TestSettle(t *testing.T) {
	t.Parallel()
	free := func(f *File) (bool, error) { return !strings.Contains(string(f.Data), "ours"), nil }
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
	change(t, l, path, "ours", "us")
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
	change(t, l, path, "ours", "us")
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
	claim(t, f)
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
