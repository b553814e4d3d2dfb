package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/regular"
)

func TestWriteCreatesPrivateFileAndFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "f.json")
	if err := Write(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "one")
	if runtime.GOOS != "windows" {
		wantMode(t, path, 0o600)
		wantMode(t, dir, 0o700)
	}
}

func TestWriteTightensTheFileAndLeavesTheFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are a Unix notion")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must(t, os.Chmod(dir, 0o755))
	must(t, os.WriteFile(path, []byte("old"), 0o644))
	must(t, Write(path, []byte("new"), 0o600))
	wantFile(t, path, "new")
	wantMode(t, path, 0o600)
	wantMode(t, dir, 0o755)
}

func TestWriteFollowsSymlinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles", "policy.json")
	must(t, os.Mkdir(filepath.Dir(real), 0o755))
	must(t, os.WriteFile(real, []byte("old"), 0o600))
	middle := filepath.Join(dir, "middle")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join("dotfiles", "policy.json"), middle); err != nil {
		t.Skip(err)
	}
	must(t, os.Symlink(middle, link))
	must(t, Write(link, []byte("new"), 0o600))
	wantFile(t, real, "new")
	for _, l := range []string{middle, link} {
		if info, err := os.Lstat(l); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no symlink any more (%v)", l, err)
		}
	}
}

func TestWriteThroughADanglingSymlinkCreatesItsTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err)
	}
	must(t, Write(link, []byte("x"), 0o600))
	wantFile(t, filepath.Join(dir, "target"), "x")
}

func TestWriteRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Write(dir, []byte("x"), 0o600); !errors.Is(err, regular.ErrNotRegular) {
		t.Errorf("folder: %v", err)
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	if os.Symlink(b, a) != nil || os.Symlink(a, b) != nil {
		t.Skip("no symlinks")
	}
	if err := Write(a, []byte("x"), 0o600); err == nil {
		t.Error("a symlink loop was written through")
	}
}

func TestFailedWriteLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocker := filepath.Join(dir, "file")
	must(t, os.WriteFile(blocker, []byte("keep"), 0o600))
	if err := Write(filepath.Join(blocker, "sub", "f"), []byte("x"), 0o600); err == nil {
		t.Fatal("wrote below a file")
	}
	wantFile(t, blocker, "keep")
	wantEntries(t, dir, 1)
}

func TestConcurrentWritersLeaveOneWholeFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if err := Write(path, []byte(strings.Repeat(string(rune('a'+i)), 5000)), 0o600); err != nil && runtime.GOOS != "windows" {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(path)
	must(t, err)
	if len(data) != 5000 || strings.Trim(string(data), string(data[:1])) != "" {
		t.Errorf("the file is a mixture of %d bytes", len(data))
	}
	wantEntries(t, dir, 1)
}

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must(t, os.WriteFile(path, []byte("12345"), 0o600))
	if data, err := Read(path, 5); err != nil || string(data) != "12345" {
		t.Errorf("Read = %q, %v", data, err)
	}
	if _, err := Read(path, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := Read(dir, 5); !errors.Is(err, regular.ErrNotRegular) {
		t.Errorf("folder: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if runtime.GOOS != "windows" {
		if _, err := Read(os.DevNull, 5); !errors.Is(err, regular.ErrNotRegular) {
			t.Errorf("device: %v", err)
		}
	}
}

func TestBackupNeverReplaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	for i, want := range []string{path + ".backup", path + ".backup-2", path + ".backup-3"} {
		got, err := Backup(path, []byte{byte('0' + i)})
		if err != nil || got != want {
			t.Fatalf("Backup = %q, %v; want %q", got, err, want)
		}
	}
	wantFile(t, path+".backup", "0")
	if got, err := Backup(path, []byte("1")); err != nil || got != path+".backup-2" {
		t.Errorf("what is kept already got the name %q, %v", got, err)
	}
	for i := range backups - 3 {
		_, err := Backup(path, []byte{byte('3' + i)})
		must(t, err)
	}
	if name, err := Backup(path, nil); err == nil {
		t.Errorf("one backup too many: %s", name)
	}
	wantEntries(t, filepath.Dir(path), backups)
}

// A writer that was killed leaves an unfinished file, which does not stay for good.
func TestWriteClearsAwayWhatWasAbandoned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	long := time.Now().Add(-2 * abandoned)
	for name, old := range map[string]bool{".f.tmp-1": true, ".f.tmp-2": true, ".f.tmp-new": false, ".fg.tmp-1": true, "f.tmp-1": true} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		if old {
			must(t, os.Chtimes(filepath.Join(dir, name), long, long))
		}
	}
	must(t, os.Mkdir(filepath.Join(dir, ".f.tmp-folder"), 0o700))
	must(t, os.Chtimes(filepath.Join(dir, ".f.tmp-folder"), long, long))
	must(t, Write(path, []byte("x"), 0o600))
	var left []string
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	must(t, os.WriteFile(filepath.Join(dir, ".new.tmp-1"), []byte("x"), 0o600))
	must(t, os.Link(filepath.Join(dir, ".new.tmp-1"), filepath.Join(dir, "new"))) // and there it was killed
	must(t, os.Chtimes(filepath.Join(dir, "new"), long, long))
	if err := Create(filepath.Join(dir, "new"), []byte("x"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".new.tmp-1")); err == nil {
		t.Error("the other name of a new file stays")
	}
	if got, want := strings.Join(left, " "), ".f.tmp-folder .f.tmp-new .fg.tmp-1 f f.tmp-1"; got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
	Sweep(filepath.Join(dir, "nowhere", "f"))
}

// Nobody sees a new file before it is whole, and of several makers one makes it.
func TestCreateIsOneStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	whole := strings.Repeat("x", 1<<20)
	var made atomic.Int32
	var makers, readers sync.WaitGroup
	done := make(chan struct{})
	readers.Go(func() {
		for {
			if data, err := os.ReadFile(path); err == nil && len(data) != len(whole) {
				t.Errorf("a reader saw %d bytes", len(data))
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	for range 8 {
		makers.Go(func() {
			switch err := Create(path, []byte(whole), 0o600); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	makers.Wait()
	close(done)
	readers.Wait()
	if made.Load() != 1 {
		t.Errorf("%d made it", made.Load())
	}
	wantEntries(t, dir, 1)
	if runtime.GOOS != "windows" {
		wantMode(t, path, 0o600)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%s = %q, %v; want %q", path, data, err, want)
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
		t.Errorf("%s: mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
	}
}

func wantEntries(t *testing.T, dir string, want int) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
		t.Errorf("%s holds %d entries (%v), want %d", dir, len(entries), err, want)
	}
}

func TestFailuresLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	long := strings.Repeat("x", 250) // fits, but not with what a temporary name adds
	for name, path := range map[string]string{
		"a file as folder":           filepath.Join(dir, "file", "f"),
		"a file as folder's folder":  filepath.Join(dir, "file", "sub", "f"),
		"no room for temporary name": filepath.Join(dir, long),
	} {
		if err := Write(path, []byte("x"), 0o600); err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if _, err := Backup(filepath.Join(dir, long), []byte("x")); err == nil {
		t.Error("a backup under too long a name")
	}
	if _, err := Backup(filepath.Join(dir, "nowhere", "f"), []byte("x")); err == nil {
		t.Error("a backup in a folder that is not there")
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestCreateNeverReplaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "new", "memo.md")
	if err := Create(path, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("second"), 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "first" {
		t.Errorf("it holds %q, %v", data, err)
	}
	if err := Create(filepath.Join(dir, "new"), nil, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder: %v", err)
	}
	dangling := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
		t.Skip(err)
	}
	if err := Create(dangling, nil, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a dangling link: %v", err)
	}
	if entries, _ := os.ReadDir(filepath.Join(dir, "new")); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}
