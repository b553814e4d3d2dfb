package sqlite_test

import (
	"context"
	"errors"
	"fmt"
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

// Whether there is room does not depend on which rowids the rows have, and not on who wrote them.
func TestRoomWhateverTheRowids(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, rowids := range map[string][2]string{
		"one after the other": {"1", "2"},
		"far apart":           {"5", "1000000"},
		"below zero":          {"-7", "-6"},
		"as far as they go":   {"-9223372036854775808", "9223372036854775807"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s.sqlite3")
			s, other := open(t, path), open(t, path)
			must(t, s.Open(ctx))
			for i, rowid := range rowids {
				session := storetest.New(i+1, 0)
				execute(t, path, fmt.Sprintf(`INSERT INTO sessions (rowid, run_id, payload) VALUES (%s, '%s', '%s')`, rowid, session.RunID, payload(t, session)))
			}
			const limit = 4
			must(t, s.Create(ctx, storetest.New(3, 0), storetest.T0, limit))
			must(t, other.Create(ctx, storetest.New(4, 0), storetest.T0, limit))
			for _, full := range []*sqlite.Store{s, other} {
				if err := full.Create(ctx, storetest.New(5, 0), storetest.T0, limit); !errors.Is(err, store.ErrFull) {
					t.Fatalf("with as many as may be: %v", err)
				}
			}
			// One that another process stopped gives way, and nobody else does.
			_, err := other.Update(ctx, storetest.ID(2), storetest.Stop(0))
			must(t, err)
			must(t, s.Create(ctx, storetest.New(5, 0), storetest.T0, limit))
			list, err := other.List(ctx, storetest.T0)
			must(t, err)
			if len(list) != limit {
				t.Errorf("%d sessions", len(list))
			}
			for _, session := range list {
				if session.RunID == storetest.ID(2) {
					t.Error("the stopped session is still there")
				}
			}
		})
	}
}
