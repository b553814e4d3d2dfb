package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

func payload(t testing.TB, s review.Session) string {
	t.Helper()
	data, err := s.MarshalJSON()
	must(t, err)
	return string(data)
}

func insert(t testing.TB, sessions ...review.Session) string {
	t.Helper()
	var b strings.Builder
	for _, s := range sessions {
		fmt.Fprintf(&b, "INSERT INTO sessions VALUES ('%s', '%s');", s.RunID, payload(t, s))
	}
	return b.String()
}

func inspect(t testing.TB, path string) *sqlite.Inspector {
	t.Helper()
	in, err := sqlite.Inspect(context.Background(), path)
	must(t, err)
	t.Cleanup(func() { in.Close() })
	return in
}

func wantRows(t testing.TB, in *sqlite.Inspector, bad int, ids ...int) {
	t.Helper()
	rows, err := in.Rows(context.Background(), storetest.T0)
	must(t, err)
	var got, want []string
	for _, s := range rows.Sessions {
		got = append(got, s.RunID)
	}
	for _, n := range ids {
		want = append(want, storetest.ID(n))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || rows.Bad != bad {
		t.Errorf("rows %v and %d bad, want %v and %d", got, rows.Bad, want, bad)
	}
}

func wantChanged(t testing.TB, in *sqlite.Inspector, want bool) {
	t.Helper()
	got, err := in.Changed(context.Background())
	must(t, err)
	if got != want {
		t.Errorf("Changed() = %v, want %v", got, want)
	}
}

func TestInspectChangesNothing(t *testing.T) {
	t.Parallel()
	row := insert(t, storetest.New(1, 0))
	for name, make := range map[string]func(t *testing.T, path string){
		"no server":       func(t *testing.T, p string) { execute(t, p, `PRAGMA journal_mode = WAL`, schema, row) },
		"Python's file":   func(t *testing.T, p string) { execute(t, p, schema, row) },
		"a -wal, no -shm": func(t *testing.T, p string) { leaveWAL(t, p, schema, row) },
		"an empty -wal": func(t *testing.T, p string) {
			execute(t, p, `PRAGMA journal_mode = WAL`, schema, row)
			must(t, os.WriteFile(p+"-wal", nil, 0o600))
		},
		"a killed server": func(t *testing.T, p string) {
			leaveWAL(t, p, schema, row)
			must(t, os.WriteFile(p+"-shm", make([]byte, 32768), 0o600))
		},
		"a -wal cut off at its header": func(t *testing.T, p string) {
			leaveWAL(t, p, schema, row)
			execute(t, p, `PRAGMA wal_checkpoint(TRUNCATE)`)
			data := append([]byte{0x37, 0x7f, 0x06, 0x82, 0x00, 0x2d, 0xe2, 0x18, 0, 0, 0x10, 0}, make([]byte, 20)...)
			data[20] = 7
			must(t, os.WriteFile(p+"-wal", data, 0o600))
			must(t, os.WriteFile(p+"-shm", make([]byte, 32768), 0o600))
		},
		"a garbage -wal": func(t *testing.T, p string) {
			execute(t, p, `PRAGMA journal_mode = WAL`, schema, row)
			must(t, os.WriteFile(p+"-wal", make([]byte, 5000), 0o600))
		},
		"an empty -shm": func(t *testing.T, p string) { leaveWAL(t, p, schema, row); must(t, os.WriteFile(p+"-shm", nil, 0o600)) },
		"a running server": func(t *testing.T, p string) {
			must(t, open(t, p).Create(context.Background(), storetest.New(1, 0), storetest.T0, 9))
		},
		"a loose file": func(t *testing.T, p string) { execute(t, p, schema, row); must(t, os.Chmod(p, 0o644)) },
		"a writer at work": func(t *testing.T, p string) {
			s := open(t, p)
			must(t, s.Create(context.Background(), storetest.New(1, 0), storetest.T0, 9))
			db := raw(t, p)
			t.Cleanup(func() { db.Close() })
			if _, err := db.Exec(`BEGIN IMMEDIATE; DELETE FROM sessions`); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			must(t, os.Mkdir(dir, 0o700))
			path := filepath.Join(dir, "store #1?%41 хранилище.sqlite3")
			make(t, path)
			before := snapshot(t, dir)
			shm, _ := os.ReadFile(path + "-shm")
			in := inspect(t, path)
			wantUntouched(t, dir, before)
			wantChanged(t, in, true)
			wantRows(t, in, 0, 1)
			wantChanged(t, in, false)
			must(t, in.Integrity(context.Background()))
			wantUntouched(t, dir, before)
			must(t, in.Close())
			wantUntouched(t, dir, before)
			// Within one process SQLite shares one mapping between all connections,
			// and the store's may write to it.
			inProcess := name == "a running server" || name == "a writer at work"
			if now, _ := os.ReadFile(path + "-shm"); string(now) != string(shm) && !inProcess {
				t.Error("the shared index was written to")
			}
		})
	}
}

func TestInspectMissingAndEmpty(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	_, err := sqlite.Inspect(context.Background(), path)
	wantReason(t, err, sqlite.Missing)
	must(t, os.WriteFile(path, nil, 0o600))
	in := inspect(t, path)
	wantRows(t, in, 0)
	wantChanged(t, in, true)
	must(t, os.Remove(path))
	_, err = in.Changed(context.Background())
	wantReason(t, err, sqlite.Missing)
}

func TestInspectHotJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	execute(t, path, schema)
	must(t, os.WriteFile(path+"-journal", []byte("\xd9\xd5\x05\xf9 \xa1c\xd7"), 0o600))
	before := snapshot(t, dir)
	_, err := sqlite.Inspect(context.Background(), path)
	wantReason(t, err, sqlite.HotJournal)
	wantUntouched(t, dir, before)
	must(t, os.WriteFile(path+"-journal", make([]byte, 512), 0o600)) // one that SQLite is done with
	wantRows(t, inspect(t, path), 0)
}

// TestInspectFollows walks one inspector through a server's life.
func TestInspectFollows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	execute(t, path, schema, insert(t, storetest.New(1, 0))) // Python's
	in := inspect(t, path)
	wantChanged(t, in, true)
	wantRows(t, in, 0, 1)
	wantChanged(t, in, false)

	execute(t, path, insert(t, storetest.New(2, 1))) // Python writes
	wantChanged(t, in, true)
	wantRows(t, in, 0, 2, 1)
	wantChanged(t, in, false)

	s := open(t, path) // a server starts and turns it to WAL
	must(t, s.Open(ctx))
	must(t, s.Create(ctx, storetest.New(3, 2000), storetest.T0, 9))
	wantChanged(t, in, true)
	wantRows(t, in, 0, 3, 2, 1)
	wantChanged(t, in, false)
	for i := range 5 {
		must(t, s.Create(ctx, storetest.New(4+i, 3000), storetest.T0, 9))
		wantChanged(t, in, true)
		wantChanged(t, in, false)
	}
	wantRows(t, in, 0, 8, 7, 6, 5, 4, 3, 2, 1)

	must(t, s.Close()) // it stops
	if _, err := in.Changed(ctx); err != nil {
		t.Fatal(err)
	}
	wantRows(t, in, 0, 8, 7, 6, 5, 4, 3, 2, 1)
	wantChanged(t, in, false)

	s = open(t, path) // the next one starts
	_, err := s.Update(ctx, storetest.ID(1), storetest.Choose(catalog.RubyReviewer, 0))
	must(t, err)
	wantChanged(t, in, true)
	rows, err := in.Rows(ctx, storetest.T0)
	must(t, err)
	if got := rows.Sessions[7]; got.Profile != catalog.RubyReviewer {
		t.Errorf("sees an old state: %+v", got)
	}
	must(t, s.Close())

	fresh := filepath.Join(t.TempDir(), "fresh")
	execute(t, fresh, schema, insert(t, storetest.New(20, 0)))
	for _, side := range []string{"-wal", "-shm"} {
		os.Remove(path + side)
	}
	must(t, os.Rename(fresh, path)) // replaced
	wantChanged(t, in, true)
	wantRows(t, in, 0, 20)

	must(t, os.WriteFile(path, []byte("garbage garbage garbage"), 0o600))
	if changed, err := in.Changed(ctx); err == nil && changed {
		_, err = in.Rows(ctx, storetest.T0)
		wantReason(t, err, sqlite.NotSQLite)
	} else if err != nil {
		wantReason(t, err, sqlite.NotSQLite)
	}
}

// TestInspectStillFile: a file that nobody has open is watched from outside.
func TestInspectStillFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path)
	must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
	must(t, s.Close())
	in := inspect(t, path)
	wantChanged(t, in, true)
	wantChanged(t, in, false)
	for n := 2; n < 5; n++ { // a server comes and goes between two looks, or stays
		must(t, s.Create(ctx, storetest.New(n, 0), storetest.T0, 9))
		if n != 3 {
			must(t, s.Close())
		}
		wantChanged(t, in, true)
		wantRows(t, in, 0, []int{4, 3, 2, 1}[4-n:]...)
		wantChanged(t, in, false)
	}
}

func TestIntegrityTellsOfDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	var sessions []review.Session
	for n := range 40 {
		sessions = append(sessions, storetest.New(n+1, 0))
	}
	execute(t, path, schema, insert(t, sessions...))
	data, err := os.ReadFile(path)
	must(t, err)
	for i := 8 * 4096; i < 9*4096; i++ {
		data[i] = 0x5a
	}
	must(t, os.WriteFile(path, data, 0o600))
	in := inspect(t, path)
	wantReason(t, in.Integrity(context.Background()), sqlite.Damaged)
}

// TestInspectBrokenUnderfoot: what goes bad between two looks is told.
func TestInspectBrokenUnderfoot(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	execute(t, path, schema, insert(t, storetest.New(1, 0)))
	in := inspect(t, path)
	wantRows(t, in, 0, 1)
	execute(t, path, `UPDATE session_store_metadata SET schema_version = 2`)
	_, err := in.Rows(ctx, storetest.T0)
	wantReason(t, err, sqlite.NewerSchema)
	must(t, os.WriteFile(path, []byte("garbage garbage garbage"), 0o600))
	wantReason(t, in.Integrity(ctx), sqlite.NotSQLite)
	must(t, os.Remove(path))
	_, err = in.Rows(ctx, storetest.T0)
	wantReason(t, err, sqlite.Missing)
	_, err = in.Changed(ctx)
	wantReason(t, err, sqlite.Missing)
	execute(t, path, schema, insert(t, storetest.New(2, 0))) // and back again
	wantChanged(t, in, true)
	wantRows(t, in, 0, 2)
}
