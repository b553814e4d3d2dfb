package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

// never is before everything: nothing has expired then.
var never = time.Date(-9, 1, 1, 0, 0, 0, 0, time.UTC)

// cell is a value for a column, of any type that SQLite has.
func cell(kind uint8, data []byte) any {
	switch kind % 5 {
	case 0:
		return string(data)
	case 1:
		return data
	case 2:
		return int64(len(data))
	case 3:
		return math.Pi * float64(len(data))
	}
	return nil
}

// stranger writes rows of a store as another program would.
type stranger struct {
	t  testing.TB
	db *sql.DB
}

// rows are the rows of the file as SQL literals, and how each reads as a session.
func (s stranger) rows() (literals map[string]int, readable map[string]review.Session) {
	s.t.Helper()
	literals, readable = map[string]int{}, map[string]review.Session{}
	rows, err := s.db.Query(`SELECT quote(run_id) || ' ' || quote(payload), run_id, payload FROM sessions`)
	must(s.t, err)
	defer rows.Close()
	for rows.Next() {
		var literal string
		var id, payload any
		must(s.t, rows.Scan(&literal, &id, &payload))
		literals[literal]++
		text, isText := payload.(string)
		var session review.Session
		if isText && session.UnmarshalJSON([]byte(text)) == nil && id == any(session.RunID) {
			readable[session.RunID] = session
		}
	}
	must(s.t, rows.Err())
	return literals, readable
}

func unusable(t testing.TB, err error, reasons ...sqlite.Reason) {
	t.Helper()
	var u *sqlite.Unusable
	if !errors.As(err, &u) || !slices.Contains(reasons, u.Reason) {
		t.Errorf("%v, want one of %v", err, reasons)
	}
}

func byID(sessions []review.Session) map[string]review.Session {
	out := map[string]review.Session{}
	for _, s := range sessions {
		out[s.RunID] = s
	}
	return out
}

// FuzzRow puts a row of any content beside good ones. It stops nobody: the others
// are read, moved on and counted as if it were not there, every way of reading
// agrees about what it is, and if it is no session it stays as it was.
func FuzzRow(f *testing.F) {
	ctx := context.Background()
	path := filepath.Join(f.TempDir(), "s")
	db := raw(f, path)
	f.Cleanup(func() { db.Close() })
	s := sqlite.New(path, nil)
	f.Cleanup(func() { s.Close() })
	must(f, s.Open(ctx))
	follower, err := sqlite.Follow(ctx, path)
	must(f, err)
	f.Cleanup(func() { follower.Close() })
	inspector := inspect(f, path)
	followed := map[string]review.Session{}

	active, free := storetest.New(1, 0), storetest.New(3, time.Minute)
	stopped, err := storetest.Stop(time.Second)(storetest.New(2, 0))
	must(f, err)

	f.Fuzz(func(t *testing.T, keyKind uint8, key []byte, payloadKind uint8, odd []byte) {
		if len(key)+len(odd) > 64<<10 {
			return
		}
		other := stranger{t, db}
		poll := func() int {
			t.Helper()
			d, err := follower.Poll(ctx, true)
			must(t, err)
			for _, id := range d.Removed {
				delete(followed, id)
			}
			maps.Copy(followed, byID(d.Put))
			return d.Bad
		}
		_, err := db.Exec(`DELETE FROM sessions`)
		must(t, err)
		if bad := poll(); bad != 0 || len(followed) > 0 { // a row that changes but for its expiry may be taken for the same
			t.Fatalf("followed an empty table: %d bad, %+v", bad, followed)
		}
		tx, err := db.Begin()
		must(t, err)
		for _, good := range []review.Session{active, stopped} {
			_, err = tx.Exec(`INSERT INTO sessions VALUES (?, ?)`, good.RunID, payload(t, good))
			must(t, err)
		}
		if _, err := tx.Exec(`INSERT INTO sessions VALUES (?, ?)`, cell(keyKind, key), cell(payloadKind, odd)); err != nil {
			must(t, tx.Rollback()) // no such row can be in a file
			return
		}
		must(t, tx.Commit())
		literals, readable := other.rows()
		oddLiteral := maps.Clone(literals)
		for _, good := range []review.Session{active, stopped} {
			for l := range oddLiteral {
				if bytes.HasPrefix([]byte(l), []byte("'"+good.RunID+"' ")) {
					delete(oddLiteral, l)
				}
			}
		}
		bad := 3 - len(readable)

		rows, err := inspector.Rows(ctx, never)
		if err != nil || rows.Bad != bad || !maps.Equal(byID(rows.Sessions), readable) {
			t.Fatalf("inspected: %v, %d bad, %+v\nwant %d, %+v", err, rows.Bad, rows.Sessions, bad, readable)
		}
		if got := poll(); got != bad || !maps.Equal(followed, readable) {
			t.Fatalf("followed: %d bad, %+v\nwant %d, %+v", got, followed, bad, readable)
		}
		list, err := s.List(ctx, never)
		if err != nil || !maps.Equal(byID(list), readable) {
			t.Fatalf("listed: %v, %+v\nwant %+v", err, list, readable)
		}
		for id, want := range readable {
			if got, err := s.Get(ctx, id); err != nil || got != want {
				t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
			}
		}
		if id, isText := cell(keyKind, key).(string); isText && bad == 1 {
			if _, err := s.Get(ctx, id); !errors.Is(err, store.ErrNotFound) {
				unusable(t, err, sqlite.BadRow)
			}
		}

		// It takes nobody's place, unless it is a session itself.
		now := storetest.T0
		counts := 0
		for id := range readable {
			if r := readable[id]; r.Expired(now) {
				delete(readable, id)
			} else if r.CountsAsActive() {
				counts++
			}
		}
		if err := s.Create(ctx, free, now, counts); !errors.Is(err, store.ErrFull) {
			t.Fatalf("%d are active and the limit does not hold: %v", counts, err)
		}
		must(t, s.Create(ctx, free, now, len(readable)+1))
		next, err := s.Update(ctx, active.RunID, storetest.Choose(catalog.RubyReviewer, time.Second))
		must(t, err)
		readable[active.RunID], readable[free.RunID] = next, free
		after, left := other.rows()
		if !maps.Equal(left, readable) {
			t.Fatalf("left are %+v\nwant %+v", left, readable)
		}
		for l := range oddLiteral {
			if bad == 1 && after[l] != 1 {
				t.Fatalf("the row was changed: %s", l)
			}
		}
	})
}

// FuzzDamage changes bytes of a store, or of its -wal as a killed server left it.
// Whatever is left of it, nothing panics or hangs, and an error says what is wrong.
func FuzzDamage(f *testing.F) {
	ctx := context.Background()
	dir := f.TempDir()
	whole := filepath.Join(dir, "whole")
	s := sqlite.New(whole, nil)
	for n := range 30 {
		must(f, s.Create(ctx, storetest.New(n+1, time.Duration(n)*time.Second), storetest.T0, 99))
		if n%2 == 0 {
			_, err := s.Update(ctx, storetest.ID(n+1), storetest.Stop(time.Duration(n)*time.Second))
			must(f, err)
		}
		if n == 20 {
			must(f, s.Close()) // the rest stays in the -wal
		}
	}
	file, err := os.ReadFile(whole)
	must(f, err)
	wal, err := os.ReadFile(whole + "-wal")
	must(f, err)
	must(f, s.Close())
	path := filepath.Join(dir, "s")

	f.Fuzz(func(t *testing.T, inWAL bool, withWAL bool, patch []byte) {
		if len(patch) > 4<<10 {
			return
		}
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		file, wal := bytes.Clone(file), bytes.Clone(wal)
		target := file
		if inWAL {
			target = wal
		}
		// Four bytes a change: where, in three bytes, and what.
		for change := range slices.Chunk(patch, 4) {
			if len(change) < 4 {
				break
			}
			at := (int(change[0])<<16 | int(change[1])<<8 | int(change[2])) % len(target)
			target[at] ^= change[3]
		}
		must(t, os.WriteFile(path, file, 0o600))
		if withWAL {
			must(t, os.WriteFile(path+"-wal", wal, 0o600))
		}
		check := func(err error) {
			t.Helper()
			var refused *review.Error
			switch {
			case err == nil, errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrFull), errors.As(err, &refused):
			default:
				unusable(t, err, sqlite.Damaged, sqlite.NotSQLite, sqlite.ForeignSchema, sqlite.NewerSchema, sqlite.BadRow)
			}
		}
		own := func(want string, s review.Session, err error) {
			t.Helper()
			check(err)
			if err == nil && s.RunID != want {
				t.Errorf("asked for %s and got %+v", want, s)
			}
		}
		in, err := sqlite.Inspect(ctx, path)
		check(err)
		if err == nil {
			_, err := in.Rows(ctx, storetest.T0)
			check(err)
			check(in.Integrity(ctx))
			must(t, in.Close())
		}
		if follower, err := sqlite.Follow(ctx, path); err == nil {
			_, err := follower.Poll(ctx, true)
			check(err)
			must(t, follower.Close())
		}
		s := sqlite.New(path, nil)
		for n := range 3 {
			check(s.Create(ctx, storetest.New(200+n, time.Hour), storetest.T0.Add(time.Duration(n)*storetest.TTL), 40))
			got, err := s.Get(ctx, storetest.ID(1+n))
			own(storetest.ID(1+n), got, err)
			got, err = s.Update(ctx, storetest.ID(10+n), storetest.Choose(catalog.RubyReviewer, 0))
			own(storetest.ID(10+n), got, err)
			_, err = s.List(ctx, storetest.T0)
			check(err)
		}
		must(t, s.Close())
	})
}
