package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// On a disk that is full nothing is lost and nothing half-written stays. A limit for the size of files
// stands in for it; it holds for the whole process, so no other test may run meanwhile.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must(t, Write(path, []byte("old"), 0o600))
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: was.Max}))
	big := []byte(strings.Repeat("x", 2<<20))
	for name, err := range map[string]error{
		"write":   Write(path, big, 0o600),
		"shared":  WriteShared(path, big, 0o644),
		"replace": Replace(path, big),
		"create":  Create(filepath.Join(dir, "new"), big, 0o600),
	} {
		if !errors.Is(err, syscall.EFBIG) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Backup(path, big); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("backup: %v", err)
	}
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
	wantFile(t, path, "old")
	wantEntries(t, dir, 1)
	must(t, Write(path, big, 0o600)) // there is room again
	if info, err := os.Stat(path); err != nil || info.Size() != int64(len(big)) {
		t.Errorf("%v %v", info, err)
	}
}

// A circle of links is no file, and no file is made in its place.
func TestCircleOfLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must(t, os.Symlink("f", path))
	for name, err := range map[string]error{"write": Write(path, nil, 0o600), "shared": WriteShared(path, nil, 0o644)} {
		if err == nil {
			t.Errorf("%s: written", name)
		}
	}
	if to, err := os.Readlink(path); err != nil || to != "f" {
		t.Errorf("the link says %q, %v", to, err)
	}
	wantEntries(t, dir, 1)
	if err := Create(filepath.Join(dir, "f", "g"), nil, 0o600); err == nil {
		t.Error("created below a circle")
	}
}
