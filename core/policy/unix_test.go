//go:build unix

package policy

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
)

func TestPipeNeverBlocks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p")
	must(t, syscall.Mkfifo(path, 0o600))
	_, configured, err := Load(path, catalog.Builtin())
	wantIO(t, err, "not a regular file")
	if !configured {
		t.Error("a pipe counts as no file")
	}
	if _, err := Save(path, Default(), catalog.Builtin()); err == nil {
		t.Error("a pipe was replaced")
	}
	if _, _, err := NewSource(path, path, nil).Current(); err == nil {
		t.Error("a pipe is a policy")
	}
}

func TestNoPermission(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	path := filepath.Join(t.TempDir(), "p")
	must(t, os.WriteFile(path, []byte(full), 0))
	_, _, err := Load(path, catalog.Builtin())
	wantIO(t, err, "permission denied")
	if _, err := Save(path, Default(), catalog.Builtin()); err == nil {
		t.Error("an unreadable policy was replaced")
	}
}
