package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

// follower is a Follower and what its deltas add up to.
type follower struct {
	*sqlite.Follower
	t    *testing.T
	path string
	seen map[string]review.Session
	bad  int
}

func follow(t *testing.T, path string) *follower {
	t.Helper()
	f, err := sqlite.Follow(context.Background(), path)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return &follower{f, t, path, map[string]review.Session{}, 0}
}

func (f *follower) poll(all bool) {
	f.t.Helper()
	d, err := f.Poll(context.Background(), all)
	must(f.t, err)
	for _, s := range d.Put {
		f.seen[s.RunID] = s
	}
	for _, id := range d.Removed {
		if _, known := f.seen[id]; !known {
			f.t.Errorf("%s was removed and never there", id)
		}
		delete(f.seen, id)
	}
	f.bad = d.Bad
}

// check compares what was followed with the file.
func (f *follower) check(when string) {
	f.t.Helper()
	in, err := sqlite.Inspect(context.Background(), f.path)
	must(f.t, err)
	defer in.Close()
	rows, err := in.Rows(context.Background(), time.Time{})
	must(f.t, err)
	want := map[string]string{}
	for _, s := range rows.Sessions {
		want[s.RunID] = payload(f.t, s)
	}
	got := map[string]string{}
	for id, s := range f.seen {
		got[id] = payload(f.t, s)
	}
	if !maps.Equal(got, want) {
		f.t.Fatalf("%s: followed %d sessions, the file has %d, or they differ", when, len(got), len(want))
	}
	if f.bad != rows.Bad {
		f.t.Fatalf("%s: %d bad rows, want %d", when, f.bad, rows.Bad)
	}
}

// TestFollowNoticesEveryChange: also one that no transition of ours makes.
func TestFollowNoticesEveryChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := storetest.New(1, 0)
	execute(t, path, schema, insert(t, s))
	must(t, open(t, path).Open(context.Background())) // makes the index
	f := follow(t, path)
	f.poll(false)
	f.check("at first")
	s.Policy.Verified = !s.Policy.Verified
	execute(t, path, `UPDATE sessions SET payload = '`+payload(t, s)+`'`)
	f.poll(true)
	f.check("after the model was changed, and not the expiry")
}

// host advances sessions at random through a store of its own.
type host struct {
	*orchestrator.Orchestrator
	r   *rand.Rand
	ids []string
}

func newHost(t *testing.T, path string, ttl time.Duration, seed uint64) *host {
	st := sqlite.New(path, nil)
	t.Cleanup(func() { st.Close() })
	source := policy.NewSource(filepath.Join(t.TempDir(), "none.json"), filepath.Join(t.TempDir(), "none.toml"), nil)
	return &host{orchestrator.New(st, source, orchestrator.Limits{TTL: ttl, MaxSessions: 1000}), rand.New(rand.NewPCG(seed, 1)), nil}
}

func (h *host) act(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	if len(h.ids) < 4 || h.r.IntN(4) == 0 {
		s, err := h.Start(ctx, catalog.TaskTypes()[h.r.IntN(7)])
		must(t, err)
		h.ids = append(h.ids, s.RunID)
		return
	}
	i := h.r.IntN(len(h.ids))
	s, err := h.Get(ctx, h.ids[i])
	must(t, err)
	report := review.Report{Step: s.Step, Status: review.Completed}
	switch {
	case s.Step == review.AwaitingOutcome || s.Stopped():
		outcome := review.Completed
		if s.Stopped() {
			outcome = s.Status
		}
		_, err = h.Finish(ctx, s.RunID, outcome)
		must(t, err)
		h.ids = slices.Delete(h.ids, i, i+1)
		return
	case h.r.IntN(8) == 0:
		report.Status = review.Blocked
	case s.Step == review.Triage:
		report.Bundle = catalog.Bundles()[h.r.IntN(9)]
	case s.Step == review.PrimaryReview:
		report.CompletedProfile = s.Current()
		if s.LastProfile() {
			signals := review.Signals(h.r.IntN(128))
			report.Signals = &signals
		}
	}
	_, err = h.Advance(ctx, s.RunID, report)
	must(t, err)
}

func TestFollowsEveryChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.sqlite3")
	h := newHost(t, path, 30*time.Minute, 1)
	h.act(t)
	f := follow(t, path)
	for round := range 60 {
		for range h.r.IntN(5) {
			h.act(t)
		}
		f.poll(false)
		f.check(fmt.Sprint("round ", round))
	}
}

// Two servers with different lifetimes write expiries in any order.
func TestFollowsWritersWithDifferentLifetimes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.sqlite3")
	hosts := []*host{newHost(t, path, 30*time.Minute, 2), newHost(t, path, 5*time.Minute, 3)}
	hosts[0].act(t)
	f := follow(t, path)
	f.poll(false)
	hosts[1].act(t)
	for range 4 {
		hosts[1].act(t)
	}
	f.poll(true) // tells it that there are two kinds of writers
	for round := range 40 {
		hosts[round%2].act(t)
		f.poll(false)
		f.check(fmt.Sprint("round ", round))
	}
}

func TestFollowsWhatHappensToTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.sqlite3")
	execute(t, path, schema, insert(t, storetest.New(1, 0), storetest.New(2, 0)))
	f := follow(t, path)
	f.poll(false)
	f.check("a file without the index")
	execute(t, path, insert(t, storetest.New(3, 0)), `DELETE FROM sessions WHERE run_id = '`+storetest.ID(1)+`'`)
	f.poll(false)
	f.check("changed without the index")

	st := open(t, path) // adds the index, switches to WAL
	must(t, st.Create(context.Background(), storetest.New(4, 0), storetest.T0, 100))
	f.poll(false)
	f.check("with a server")
	execute(t, path, `INSERT INTO sessions VALUES ('x', 'no session'), ('y', '{"expires_at":"2026'||char(10)||'12 x"}')`)
	f.poll(true)
	f.check("with bad rows")
	if f.bad != 2 {
		t.Errorf("%d bad rows, want 2", f.bad)
	}
	execute(t, path, `DELETE FROM sessions WHERE run_id IN ('x', 'y')`)
	f.poll(true)
	f.check("bad rows mended")
	st.Close()
	f.poll(false)
	f.check("the server gone")

	must(t, os.Rename(path, path+".away"))
	if _, err := f.Poll(context.Background(), false); !sqlite.Is(err, sqlite.Missing) {
		t.Errorf("a deleted file: %v", err)
	}
	must(t, os.WriteFile(path, []byte("this is no database, and long enough to be looked at"), 0o600))
	if _, err := f.Poll(context.Background(), false); !sqlite.Is(err, sqlite.NotSQLite) {
		t.Errorf("another file in its place: %v", err)
	}
	must(t, os.Remove(path))
	execute(t, path, schema, insert(t, storetest.New(2, 0), storetest.New(9, 0)))
	f.poll(false)
	f.check("replaced")
}

func TestFollowingChangesNoByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.sqlite3")
	h := newHost(t, path, time.Hour, 4)
	for range 10 {
		h.act(t)
	}
	before := snapshot(t, dir)
	f := follow(t, path)
	for range 3 {
		f.poll(false)
		f.poll(true)
	}
	f.Close()
	wantUntouched(t, dir, before)
}

// manyRows writes n sessions whose expiries are spread over their lifetime.
func manyRows(b *testing.B, path string, n int) {
	b.Helper()
	st := sqlite.New(path, nil)
	must(b, st.Open(context.Background()))
	must(b, st.Close())
	db, err := sql.Open("sqlite", path)
	must(b, err)
	defer db.Close()
	tx, err := db.Begin()
	must(b, err)
	start := time.Now()
	assign := func(s policy.Stage) (policy.Assignment, error) {
		return policy.Default().Assign(s, catalog.Builtin()), nil
	}
	for i := range n {
		s, err := review.Start(storetest.ID(i), catalog.TaskTypes()[i%7], assign, start.Add(-time.Duration(i)*150*time.Millisecond), time.Hour)
		must(b, err)
		data, err := json.Marshal(s)
		must(b, err)
		_, err = tx.Exec(`INSERT INTO sessions VALUES (?, ?)`, s.RunID, string(data))
		must(b, err)
	}
	must(b, tx.Commit())
}

// The first reading looks at every row; a later one should cost what changed.
func BenchmarkFollow(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{100, 1_000, 10_000} {
		path := filepath.Join(b.TempDir(), "s.sqlite3")
		manyRows(b, path, n)
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			for b.Loop() {
				f, err := sqlite.Follow(ctx, path)
				must(b, err)
				_, err = f.Poll(ctx, false)
				must(b, err)
				f.Close()
			}
		})
		st := sqlite.New(path, nil)
		defer st.Close()
		must(b, st.Open(ctx))
		f, err := sqlite.Follow(ctx, path)
		must(b, err)
		defer f.Close()
		_, err = f.Poll(ctx, false)
		must(b, err)
		b.Run(fmt.Sprintf("unchanged/%d", n), func(b *testing.B) {
			for b.Loop() {
				_, err := f.Poll(ctx, false)
				must(b, err)
			}
		})
		source := policy.NewSource(filepath.Join(b.TempDir(), "none.json"), filepath.Join(b.TempDir(), "none.toml"), nil)
		o := orchestrator.New(st, source, orchestrator.Limits{TTL: time.Hour, MaxSessions: 1_000_000})
		b.Run(fmt.Sprintf("one-changed/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				_, err := o.Advance(ctx, storetest.ID(n-1-i%(n/2)), review.Report{Step: review.Triage, Status: review.Completed, Bundle: catalog.Widget})
				if err != nil { // each can be done once
					_, err = o.Start(ctx, catalog.OtherTask)
				}
				must(b, err)
				b.StartTimer()
				_, err = f.Poll(ctx, false)
				must(b, err)
			}
		})
	}
}

// A writer that keeps the file to itself for a while: what was read before still counts.
func TestFollowingABusyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.sqlite3")
	execute(t, path, schema, insert(t, storetest.New(1, 0)))
	f := follow(t, path)
	f.poll(false)
	db := raw(t, path)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{`BEGIN EXCLUSIVE`, insert(t, storetest.New(2, 0))} {
		_, err := db.Exec(statement)
		must(t, err)
	}
	if _, err := f.Poll(context.Background(), true); !sqlite.Is(err, sqlite.Busy) {
		t.Errorf("a locked file: %v", err)
	}
	_, err := db.Exec(`COMMIT`)
	must(t, err)
	f.poll(false)
	f.check("released")
}
