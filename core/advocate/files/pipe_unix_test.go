//go:build unix

package files_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/qa-orch/qa-orch/core/advocate/files"
)

// A pipe in the folder must not block a listing.
func TestPipesAreSkipped(t *testing.T) {
	t.Parallel()
	f := files.New(t.TempDir())
	if err := syscall.Mkfifo(filepath.Join(f.Dir(), "rev-pipe.json"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, skipped, err := f.List(); err != nil || len(skipped) != 1 || skipped[0].Why != "it is no regular file" {
		t.Errorf("skipped %v, %v", skipped, err)
	}
}
