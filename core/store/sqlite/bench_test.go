package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

// filled puts n sessions into a file at once: one transaction each would take
// minutes.
func filled(b *testing.B, n int) (*sqlite.Store, string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "s")
	execute(b, path, schema)
	db := raw(b, path)
	tx, err := db.Begin()
	must(b, err)
	insert, err := tx.Prepare(`INSERT INTO sessions VALUES (?, ?)`)
	must(b, err)
	for i := range n {
		s := storetest.New(i+1, time.Duration(i*7919%60_000)*time.Millisecond)
		_, err := insert.Exec(s.RunID, payload(b, s))
		must(b, err)
	}
	must(b, tx.Commit())
	must(b, db.Close())
	s := open(b, path)
	must(b, s.Open(context.Background()))
	return s, path
}

// touch moves the expiry, as every transition does.
func touch() func(review.Session) (review.Session, error) {
	at := time.Duration(0)
	return func(s review.Session) (review.Session, error) {
		at += time.Millisecond
		s.ExpiresAt = review.Expiry(storetest.T0.Add(at%time.Minute), storetest.TTL)
		return s, nil
	}
}

// BenchmarkStore: a call should cost about the same with 100 sessions as with 100,000.
func BenchmarkStore(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{100, 100_000} {
		s, path := filled(b, n)
		i := 0
		pick := func() string { i++; return storetest.ID(1 + i*7919%n) }
		b.Run(fmt.Sprintf("get/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Get(ctx, pick()); err != nil {
					b.Fatal(err)
				}
			}
		})
		change := touch()
		b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Update(ctx, pick(), change); err != nil {
					b.Fatal(err)
				}
			}
		})
		next := n
		b.Run(fmt.Sprintf("create/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				next++
				if err := s.Create(ctx, storetest.New(next, 0), storetest.T0, 10_000_000); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("create_after_another_process/%d", n), func(b *testing.B) {
			other := open(b, path)
			for b.Loop() {
				b.StopTimer()
				next++
				must(b, other.Create(ctx, storetest.New(next, 0), storetest.T0, 10_000_000))
				next++
				b.StartTimer()
				if err := s.Create(ctx, storetest.New(next, 0), storetest.T0, 10_000_000); err != nil {
					b.Fatal(err)
				}
			}
		})
		must(b, s.Close())
	}
}

// BenchmarkTransition sets a durable transition against a bare one-row UPDATE
// with the same pragmas on the same disk. The two take turns, so that a slow
// moment of the disk strikes both; x is the ratio of their medians.
func BenchmarkTransition(b *testing.B) {
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "bare")
	execute(b, path, schema, insert(b, storetest.New(1, 0)))
	q := "mode=rw&_txlock=immediate&_journal_mode=WAL&_synchronous=FULL&_pragma=fullfsync(1)&_pragma=checkpoint_fullfsync(1)"
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q}).String())
	must(b, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	update, err := db.Prepare(`UPDATE sessions SET payload = ? WHERE run_id = ?`)
	must(b, err)
	texts := []string{payload(b, storetest.New(1, 0)), payload(b, storetest.New(1, time.Second))}

	s := open(b, filepath.Join(b.TempDir(), "s"))
	must(b, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
	change := touch()
	var bare, ours []time.Duration
	for b.Loop() {
		t0 := time.Now()
		if _, err := update.Exec(texts[len(bare)%2], storetest.ID(1)); err != nil {
			b.Fatal(err)
		}
		t1 := time.Now()
		if _, err := s.Update(ctx, storetest.ID(1), change); err != nil {
			b.Fatal(err)
		}
		bare, ours = append(bare, t1.Sub(t0)), append(ours, time.Since(t1))
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2])
	}
	b.ReportMetric(median(bare), "bare-ns")
	b.ReportMetric(median(ours), "transition-ns")
	b.ReportMetric(median(ours)/median(bare), "x")
}
