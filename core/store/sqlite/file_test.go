package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

func TestPathsOpenExactlyThatFile(t *testing.T) {
	t.Parallel()
	names := []string{
		"with space", "per%20cent", "100%", "a#b", "хранилище сеансов", "a&b=c", "a+b", "a;b", "=", "#", "%", "mode=ro",
		"file:x", ":memory:", "'quoted'", "q\u00ec\u0301",
	}
	if runtime.GOOS != "windows" {
		names = append(names, "what?", "a?mode=ro", "?", `back\slash`, "new\nline", "\"", "a:b", "a?immutable=1&vfs=memdb#x")
	} else {
		names = names[:10]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			dir := filepath.Join(t.TempDir(), name)
			path := filepath.Join(dir, name)
			s := open(t, path)
			must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
			wantRows(t, inspect(t, path), 0, 1)
			must(t, s.Close())
			wantRows(t, inspect(t, path), 0, 1)
			entries, err := os.ReadDir(dir)
			must(t, err)
			for _, e := range entries {
				if !strings.HasPrefix(e.Name(), name) {
					t.Errorf("made %q", e.Name())
				}
			}
			if len(entries) == 0 || entries[0].Name() != name {
				t.Errorf("the folder holds %v", entries)
			}
		})
	}
}

// TestDeletedWhileOpen: what is acknowledged after the file was deleted is in
// the new file, not in one that nobody can reach.
func TestDeletedWhileOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be deleted")
	}
	ctx := context.Background()
	for name, remove := range map[string][]string{"the file alone": {""}, "all of it": {"", "-wal", "-shm"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "s")
			a, b := open(t, path), open(t, path)
			must(t, a.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
			_, err := b.Get(ctx, storetest.ID(1))
			must(t, err)
			for _, suffix := range remove {
				must(t, os.Remove(path+suffix))
			}
			if _, err := a.Update(ctx, storetest.ID(1), storetest.Choose(catalog.RubyReviewer, 0)); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("an update of a session whose file is gone: %v", err)
			}
			for n := 2; n < 6; n++ {
				must(t, a.Create(ctx, storetest.New(n, 0), storetest.T0, 9))
				must(t, b.Create(ctx, storetest.New(n+10, 0), storetest.T0, 9))
			}
			must(t, a.Close())
			must(t, b.Close())
			in := inspect(t, path)
			must(t, in.Integrity(ctx))
			wantRows(t, in, 0, 15, 14, 13, 12, 5, 4, 3, 2)
		})
	}
}

// TestReplacedWhileOpen: another store is moved to the path while servers have
// the old one open. Its own content counts from then on, and the old one's -wal,
// which still lies there, does not get mixed into it.
func TestReplacedWhileOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file can't be replaced")
	}
	ctx := context.Background()
	for _, otherMode := range []string{"DELETE", "WAL"} {
		t.Run(otherMode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "s")
			a, b := open(t, path), open(t, path)
			for n := range 30 {
				must(t, a.Create(ctx, storetest.New(n+1, 0), storetest.T0, 99))
			}
			_, err := b.Get(ctx, storetest.ID(1))
			must(t, err)
			other := filepath.Join(dir, "other")
			execute(t, other, `PRAGMA journal_mode = `+otherMode, schema, insert(t, storetest.New(90, 0)))
			must(t, os.Rename(other, path))

			got, err := a.Get(ctx, storetest.ID(90))
			if err != nil || got != storetest.New(90, 0) {
				t.Fatalf("%+v, %v", got, err)
			}
			must(t, b.Create(ctx, storetest.New(91, 0), storetest.T0, 99))
			_, err = a.Update(ctx, storetest.ID(91), storetest.Choose(catalog.RubyReviewer, 0))
			must(t, err)
			must(t, a.Close())
			must(t, b.Close())
			in := inspect(t, path)
			must(t, in.Integrity(ctx))
			wantRows(t, in, 0, 91, 90)
		})
	}
}

// TestCancelledRequestIsCarriedThrough: a transition that has begun is not left
// half-done because its caller went away.
func TestCancelledRequestIsCarriedThrough(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path)
	must(t, s.Create(context.Background(), storetest.New(1, 0), storetest.T0, 9))
	ctx, cancel := context.WithCancel(context.Background())
	got, err := s.Update(ctx, storetest.ID(1), func(x review.Session) (review.Session, error) {
		cancel()
		return storetest.Choose(catalog.RubyReviewer, 0)(x)
	})
	if err != nil || got.Profile != catalog.RubyReviewer {
		t.Fatalf("%+v, %v", got, err)
	}
	back, err := s.Get(context.Background(), storetest.ID(1))
	if err != nil || back != got {
		t.Fatalf("%+v, %v", back, err)
	}
}

func TestRetainedSessionsExpireAndGoWithTheProcess(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path)
	must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
	for _, change := range []func(review.Session) (review.Session, error){storetest.Stop(0), storetest.Finish(review.Blocked, 0)} {
		_, err := s.Update(ctx, storetest.ID(1), change)
		must(t, err)
	}
	must(t, s.Close()) // closing the file does not lose what the process knows
	if _, err := s.Get(ctx, storetest.ID(1)); err != nil {
		t.Fatal(err)
	}
	now := storetest.TTL + time.Second
	must(t, s.Create(ctx, storetest.New(2, now), storetest.T0.Add(now), 9))
	if _, err := s.Get(ctx, storetest.ID(1)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("an expired one is kept: %v", err)
	}
	wantRows(t, inspect(t, path), 0, 2)
}

// finalize brings a session to its end.
func finalize(t *testing.T, s *sqlite.Store, n int) {
	t.Helper()
	for _, change := range []func(review.Session) (review.Session, error){storetest.Stop(0), storetest.Finish(review.Blocked, 0)} {
		_, err := s.Update(context.Background(), storetest.ID(n), change)
		must(t, err)
	}
}

// TestFailedStartForgetsNothing: a start drops finalized sessions that have
// expired or take its place, but only once it is committed.
func TestFailedStartForgetsNothing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path)
	must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9))
	finalize(t, s, 1)
	execute(t, path, `CREATE TRIGGER no BEFORE INSERT ON sessions BEGIN SELECT RAISE(ABORT, 'no'); END`)
	for name, now := range map[string]time.Duration{"evicted": 0, "expired": 2 * storetest.TTL} {
		if err := s.Create(ctx, storetest.New(2, now), storetest.T0.Add(now), 1); err == nil {
			t.Fatal("the start did not fail")
		}
		if _, err := s.Get(ctx, storetest.ID(1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	execute(t, path, `DROP TRIGGER no`)
	must(t, s.Create(ctx, storetest.New(2, 0), storetest.T0, 1))
	if _, err := s.Get(ctx, storetest.ID(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nothing was evicted: %v", err)
	}
}

// TestFinalizingIsOneStep: the row goes and the state is retained, and nobody in
// this process sees it between the two.
func TestFinalizingIsOneStep(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := open(t, filepath.Join(t.TempDir(), "s"))
	for n := range 100 {
		must(t, s.Create(ctx, storetest.New(n, 0), storetest.T0, 1000))
		var others sync.WaitGroup
		done := make(chan struct{})
		for _, look := range []func() error{
			func() error {
				_, err := s.Get(ctx, storetest.ID(n))
				return err
			},
			func() error { // which finalizes it again, or is too early
				_, err := s.Update(ctx, storetest.ID(n), storetest.Finish(review.Blocked, 0))
				var early *review.Error
				if errors.As(err, &early) {
					return nil
				}
				return err
			},
			func() error {
				list, err := s.List(ctx, storetest.T0)
				if err == nil && len(list) != n+1 {
					err = fmt.Errorf("%d of %d sessions are listed", len(list), n+1)
				}
				return err
			},
		} {
			others.Go(func() {
				for {
					if err := look(); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		finalize(t, s, n)
		close(done)
		others.Wait()
		if t.Failed() {
			return
		}
	}
}

func TestBadRowsText(t *testing.T) {
	t.Parallel()
	if text := (&sqlite.BadRows{Count: 3}).Error(); !strings.Contains(text, "left in place") {
		t.Error(text)
	}
}
