package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

// open returns a store over a new file that is closed when the test ends.
func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s := sqlite.New(path, func(err error) { t.Errorf("warned: %v", err) })
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t testing.TB) store.Store { return open(t, filepath.Join(t.TempDir(), "s.sqlite3")) })
}
