package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

// badRows are rows that no session comes from, by what is wrong with them. Each
// value is a pair of SQL literals.
func badRows(t testing.TB) map[string]string {
	good := func(n int) string { return payload(t, storetest.New(n, 0)) }
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	own := quote(storetest.ID(77))
	stopped, err := storetest.Stop(0)(storetest.New(77, 0))
	must(t, err)
	return map[string]string{
		"not JSON":               own + `, 'not JSON'`,
		"empty":                  own + `, ''`,
		"truncated":              own + `, ` + quote(good(77)[:300]),
		"an array":               own + `, '[1,2]'`,
		"a number":               own + `, '7'`,
		"NULL key":               `NULL, ` + quote(good(77)),
		"BLOB payload":           own + `, CAST(` + quote(good(77)) + ` AS BLOB)`,
		"BLOB key":               `CAST(` + own + ` AS BLOB), ` + quote(good(77)),
		"random BLOB":            own + `, x'00ff00fe'`,
		"another's run_id":       own + `, ` + quote(good(78)),
		"a key that is no id":    `'key', ` + quote(good(78)),
		"unknown status":         own + `, ` + quote(strings.Replace(good(77), `"active"`, `"paused"`, 1)),
		"numeric status":         own + `, ` + quote(strings.Replace(good(77), `"active"`, `5`, 1)),
		"only a status":          own + `, '{"status":"active"}'`,
		"active for ever":        own + `, '{"status":"active","expires_at":"9999-12-31T23:59:59Z"}'`,
		"long expired":           own + `, '{"status":"active","expires_at":"1999-12-31T23:59:59Z"}'`,
		"stopped, unreadable":    own + `, '{"status":"blocked","expires_at":"1999-12-31T23:59:59Z"}'`,
		"stopped under NULL":     `NULL, ` + quote(payload(t, stopped)),
		"stopped, BLOB key":      `CAST(` + own + ` AS BLOB), ` + quote(payload(t, stopped)),
		"numeric time":           own + `, '{"status":"active","expires_at":5}'`,
		"nested 2000 deep":       own + `, ` + quote(strings.Repeat("[", 2000)),
		"two megabytes":          own + `, ` + quote(strings.Repeat("x", 2<<20)),
		"a status twice":         own + `, '{"status":"active","status":"blocked"}'`,
		"NUL in the text":        own + `, 'a' || char(0) || 'b'`,
		"not UTF-8":              own + `, CAST(x'7b22fffe227d' AS TEXT)`,
		"JSON with JSON5 extras": own + `, '{status:"active",}'`,
	}
}

func dump(t testing.TB, path string) string {
	t.Helper()
	db := raw(t, path)
	defer db.Close()
	var out string
	must(t, db.QueryRow(`SELECT coalesce(group_concat(coalesce(quote(run_id), 'NULL') || typeof(run_id) || ' ' || typeof(payload) || quote(payload), char(10)), '')
		FROM sessions WHERE run_id IS NULL OR typeof(run_id) = 'blob' OR run_id IN (?, 'key')`, storetest.ID(77)).Scan(&out))
	return out
}

func TestBadRowsStopNobody(t *testing.T) {
	t.Parallel()
	for name, row := range badRows(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			path := filepath.Join(t.TempDir(), "s")
			execute(t, path, schema, `INSERT INTO sessions VALUES (`+row+`)`)
			before := dump(t, path)
			var warnings atomic.Int32
			s := sqlite.New(path, func(err error) {
				var bad *sqlite.BadRows
				if !errors.As(err, &bad) || bad.Count != 1 || strings.Contains(err.Error(), "qar-") {
					t.Errorf("warned of %v", err)
				}
				warnings.Add(1)
			})
			defer s.Close()

			// At the limit of one: the bad row takes nobody's place.
			must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 1))
			if err := s.Create(ctx, storetest.New(2, 0), storetest.T0, 1); !errors.Is(err, store.ErrFull) {
				t.Fatalf("the limit does not hold: %v", err)
			}
			_, err := s.Update(ctx, storetest.ID(1), storetest.Stop(0))
			must(t, err)
			must(t, s.Create(ctx, storetest.New(2, 0), storetest.T0, 2)) // beside the stopped one
			got, err := s.Get(ctx, storetest.ID(1))
			if err != nil || !got.Stopped() {
				t.Fatalf("the stopped session had to give way to a bad row: %v", err)
			}
			must(t, s.Create(ctx, storetest.New(3, 0), storetest.T0, 2)) // it gives way to a good one
			if _, err := s.Get(ctx, storetest.ID(1)); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("got %v", err)
			}
			if err := s.Create(ctx, storetest.New(4, 0), storetest.T0, 2); !errors.Is(err, store.ErrFull) {
				t.Fatalf("the limit does not hold: %v", err)
			}
			// After all have expired, starts go on purging and counting right.
			for n := 5; n < 9; n++ {
				now := time.Duration(n) * storetest.TTL
				must(t, s.Create(ctx, storetest.New(n, now), storetest.T0.Add(now), 1))
				if err := s.Create(ctx, storetest.New(n+10, now), storetest.T0.Add(now), 1); !errors.Is(err, store.ErrFull) {
					t.Fatalf("the limit does not hold: %v", err)
				}
			}
			list, err := s.List(ctx, storetest.T0)
			if err != nil || len(list) != 1 || list[0].RunID != storetest.ID(8) {
				t.Fatalf("listed %v, %v", list, err)
			}
			if warnings.Load() == 0 {
				t.Error("nobody was told")
			}
			if _, err := s.Get(ctx, storetest.ID(77)); !errors.Is(err, store.ErrNotFound) {
				wantReason(t, err, sqlite.BadRow)
				_, err = s.Update(ctx, storetest.ID(77), storetest.Choose(catalog.RubyReviewer, 0))
				wantReason(t, err, sqlite.BadRow)
			}
			must(t, s.Close())
			if after := dump(t, path); after != before {
				t.Errorf("the bad row was changed:\n%.200s\nwas\n%.200s", after, before)
			}
			wantRows(t, inspect(t, path), 1, 8)
		})
	}
}

// TestPythonStore: a file of the earlier edition opens, continues and finalizes,
// and keeps the form that edition knows.
func TestPythonStore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	python := func(s review.Session) string { // json.dumps's separators, isoformat's time
		text := strings.NewReplacer(`":`, `": `, `,"`, `, "`, `Z"`, `+00:00"`, ".000000", "").Replace(payload(t, s))
		return "INSERT INTO sessions VALUES ('" + s.RunID + "', '" + text + "');"
	}
	waiting := storetest.New(2, 123456*time.Microsecond)
	for _, r := range []review.Report{
		{Step: review.Triage, Status: review.Completed, Profile: catalog.PythonReviewer},
		{Step: review.PrimaryReview, Status: review.Completed, CompletedProfile: catalog.PythonReviewer, Signals: new(review.Signals)},
		{Step: review.Synthesis, Status: review.Completed},
	} {
		var err error
		waiting, err = waiting.Advance(r, storetest.Assign, storetest.T0.Add(123456*time.Microsecond), storetest.TTL)
		must(t, err)
	}
	stopped, err := storetest.Stop(0)(storetest.New(3, 0))
	must(t, err)
	execute(t, path, schema, python(storetest.New(1, 0))+python(waiting)+python(stopped))

	s := open(t, path)
	list, err := s.List(ctx, storetest.T0)
	if err != nil || len(list) != 3 || list[0].RunID != storetest.ID(2) || list[0] != waiting {
		t.Fatalf("%+v, %v", list, err)
	}
	next, err := s.Update(ctx, storetest.ID(1), storetest.Choose(catalog.RubyReviewer, time.Minute))
	must(t, err)
	for n, outcome := range map[int]review.Status{2: review.Partial, 3: review.Blocked} {
		got, err := s.Update(ctx, storetest.ID(n), storetest.Finish(outcome, time.Minute))
		if err != nil || !got.Finalized {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	must(t, s.Close())

	db := raw(t, path)
	defer db.Close()
	var ids, text, tables string
	must(t, db.QueryRow(`SELECT group_concat(run_id), max(payload) FROM sessions`).Scan(&ids, &text))
	if ids != storetest.ID(1) || text != payload(t, next) {
		t.Errorf("rows %s: %s", ids, text)
	}
	must(t, db.QueryRow(`SELECT group_concat(sql, '; ') FROM (SELECT sql FROM sqlite_master WHERE type <> 'index' ORDER BY name)`).Scan(&tables))
	if want := `CREATE TABLE session_store_metadata (schema_version INTEGER NOT NULL); CREATE TABLE sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL)`; tables != want {
		t.Errorf("tables are now %s", tables)
	}
	// Another process does not know the finalized ones.
	if _, err := open(t, path).Get(ctx, storetest.ID(2)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// TestBrokenUnderfoot: when the file goes bad while it is open, every call says
// so, none changes what is left, and a mended file works again.
func TestBrokenUnderfoot(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path)
	must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
	_, err := s.Get(ctx, storetest.ID(1))
	must(t, err)
	execute(t, path, `ALTER TABLE sessions RENAME TO elsewhere`)
	for range 2 {
		var u *sqlite.Unusable
		if err := s.Create(ctx, storetest.New(2, 0), storetest.T0, 9); !errors.As(err, &u) {
			t.Errorf("create: %v", err)
		}
		if _, err := s.Get(ctx, storetest.ID(1)); !errors.As(err, &u) {
			t.Errorf("get: %v", err)
		}
		if _, err := s.Update(ctx, storetest.ID(1), storetest.Stop(0)); !errors.As(err, &u) {
			t.Errorf("update: %v", err)
		}
		if _, err := s.List(ctx, storetest.T0); !errors.As(err, &u) {
			t.Errorf("list: %v", err)
		}
	}
	execute(t, path, `ALTER TABLE elsewhere RENAME TO sessions`)
	got, err := s.Get(ctx, storetest.ID(1))
	if err != nil || got != storetest.New(1, 0) {
		t.Fatalf("after mending: %+v, %v", got, err)
	}
	// A trigger that refuses stands for a write that fails half-way.
	for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
		execute(t, path, `CREATE TRIGGER refuse BEFORE `+event+` ON sessions BEGIN SELECT raise(ABORT, 'refused'); END`)
		var u *sqlite.Unusable
		var err error
		switch event {
		case "INSERT":
			err = s.Create(ctx, storetest.New(2, 0), storetest.T0, 9)
		case "UPDATE":
			_, err = s.Update(ctx, storetest.ID(1), storetest.Stop(0))
		case "DELETE":
			now := storetest.T0.Add(storetest.TTL)
			err = s.Create(ctx, storetest.New(2, storetest.TTL), now, 9)
		}
		if !errors.As(err, &u) || u.Reason != sqlite.Failed {
			t.Errorf("%s: %v", event, err)
		}
		execute(t, path, `DROP TRIGGER refuse`)
		if got, err := s.Get(ctx, storetest.ID(1)); err != nil || got != storetest.New(1, 0) {
			t.Fatalf("after a failed %s: %+v, %v", event, got, err)
		}
	}
	must(t, s.Create(ctx, storetest.New(2, 0), storetest.T0, 9))

	// The same for an eviction and for a finish, which delete too.
	_, err = s.Update(ctx, storetest.ID(2), storetest.Stop(0))
	must(t, err)
	stopped, err := s.Get(ctx, storetest.ID(2))
	must(t, err)
	execute(t, path, `CREATE TRIGGER refuse BEFORE DELETE ON sessions BEGIN SELECT raise(ABORT, 'refused'); END`)
	wantReason(t, s.Create(ctx, storetest.New(3, 0), storetest.T0, 2), sqlite.Failed)
	_, err = s.Update(ctx, storetest.ID(2), storetest.Finish(review.Blocked, 0))
	wantReason(t, err, sqlite.Failed)
	if got, err := s.Get(ctx, storetest.ID(2)); err != nil || got != stopped {
		t.Fatalf("a finish that failed is half done: %+v, %v", got, err)
	}
	execute(t, path, `DROP TRIGGER refuse`)
	must(t, s.Create(ctx, storetest.New(3, 0), storetest.T0, 2))
	wantRows(t, inspect(t, path), 0, 3, 1)
}

// TestPanicInAChange: a change that panics leaves no transaction open.
func TestPanicInAChange(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	s, other := open(t, path), open(t, path)
	must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is swallowed")
			}
		}()
		s.Update(ctx, storetest.ID(1), func(review.Session) (review.Session, error) { panic("boom") })
	}()
	for _, s := range []*sqlite.Store{other, s} {
		got, err := s.Update(ctx, storetest.ID(1), func(x review.Session) (review.Session, error) { return x, nil })
		if err != nil || got != storetest.New(1, 0) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
}

// TestDamagedPages: pages of the table or of its index are garbage, the rest is
// whole. Every call that needs them says that the store is damaged; none hangs,
// panics or takes garbage for a session.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const pageSize = 4096
	for _, part := range []string{"sessions_by_status", "sessions", "sqlite_autoindex_sessions_1", "session_store_metadata", "leaves"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			s := open(t, path)
			for n := range 60 {
				must(t, s.Create(ctx, storetest.New(n+1, time.Duration(n)*time.Second), storetest.T0, 99))
				if n%2 == 0 {
					_, err := s.Update(ctx, storetest.ID(n+1), storetest.Stop(time.Duration(n)*time.Second))
					must(t, err)
				}
			}
			must(t, s.Close())
			var roots []int
			db := raw(t, path)
			rows, err := db.Query(`SELECT rootpage FROM sqlite_master WHERE name = ?`, part)
			must(t, err)
			for rows.Next() {
				var root int
				must(t, rows.Scan(&root))
				roots = append(roots, root)
			}
			must(t, rows.Close())
			var pages int
			must(t, db.QueryRow(`PRAGMA page_count`).Scan(&pages))
			must(t, db.Close())
			if part == "leaves" { // of the table, which fills most of the file
				for page := 8; page <= pages; page++ {
					roots = append(roots, page)
				}
			}
			data, err := os.ReadFile(path)
			must(t, err)
			for _, root := range roots {
				for i := (root - 1) * pageSize; i < root*pageSize; i++ {
					data[i] = 0x5a
				}
			}
			must(t, os.WriteFile(path, data, 0o600))

			failures := 0
			check := func(err error) {
				t.Helper()
				var refused *review.Error
				switch {
				case err == nil, errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrFull), errors.As(err, &refused):
				default:
					failures++
					wantReason(t, err, sqlite.Damaged)
				}
			}
			for n := range 3 {
				at := storetest.T0.Add((storetest.TTL/2 + 40*time.Second) * time.Duration(n))
				check(s.Create(ctx, storetest.New(200+n, time.Hour), at, 40))
				check(s.Create(ctx, storetest.New(300+n, time.Hour), at, 20)) // at the limit
				_, err := s.Update(ctx, storetest.ID(2+n), storetest.Choose(catalog.RubyReviewer, 0))
				check(err)
				got, err := s.Get(ctx, storetest.ID(40+n))
				check(err)
				if err == nil && got.RunID != storetest.ID(40+n) {
					t.Errorf("got %+v", got)
				}
				_, err = s.List(ctx, storetest.T0)
				check(err)
			}
			if failures == 0 {
				t.Error("nobody noticed")
			}
			in, err := sqlite.Inspect(ctx, path)
			if err != nil {
				wantReason(t, err, sqlite.Damaged)
				return
			}
			if _, err := in.Rows(ctx, storetest.T0); err != nil {
				wantReason(t, err, sqlite.Damaged)
			}
			wantReason(t, in.Integrity(ctx), sqlite.Damaged)
			must(t, in.Close())
		})
	}
}
