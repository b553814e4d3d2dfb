//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

// TestSecondNames: a file that has another name too is not written to: what is behind that name is
// somebody else's, and SQLite would keep side files for one of the names only.
func TestSecondNames(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		dir := t.TempDir()
		path, other := filepath.Join(dir, "s"), filepath.Join(dir, "other")
		must(t, os.WriteFile(other, nil, 0o644))
		must(t, os.Link(other, path+suffix))
		before := snapshot(t, dir)
		wantReason(t, open(t, path).Create(context.Background(), storetest.New(1, 0), storetest.T0, 9), sqlite.SecondName)
		wantUntouched(t, dir, before)
	}
}

// TestSwappedWhileOpening: somebody puts a link to a file of another person, or a pipe, in the store's
// place again and again while it is opened. That file stays as it is, and nobody waits for the pipe.
func TestSwappedWhileOpening(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	path, victim := filepath.Join(dir, "s"), filepath.Join(outside, "empty")
	must(t, os.WriteFile(victim, nil, 0o644))
	before := snapshot(t, outside)
	var stop atomic.Bool
	var swaps atomic.Int64
	swapper := make(chan struct{})
	go func() {
		defer close(swapper)
		for n := 0; !stop.Load(); n++ {
			next := filepath.Join(dir, "next"+strconv.Itoa(n%3))
			switch n % 3 {
			case 0:
				_ = os.Symlink(victim, next)
			case 1:
				_ = os.WriteFile(next, nil, 0o600)
			case 2:
				_ = syscall.Mkfifo(next, 0o600)
			}
			_ = os.Rename(next, path)
			swaps.Add(1)
		}
	}()
	opened := 0
	for i := 0; i < 400 || (opened == 0 || swaps.Load() < 100) && i < 20_000; i++ {
		s := sqlite.New(path, nil)
		err := s.Create(context.Background(), storetest.New(1, 0), storetest.T0, 9)
		var u *sqlite.Unusable
		if err == nil {
			opened++
		} else if !errors.As(err, &u) {
			t.Fatalf("%v", err)
		}
		must(t, s.Close())
		if info, err := os.Stat(victim); err != nil || info.Size() > 0 {
			t.Fatalf("round %d: the other person's file holds %d bytes, %v", i, info.Size(), err)
		}
	}
	stop.Store(true)
	<-swapper
	if n := swaps.Load(); n < 100 || opened == 0 {
		t.Errorf("%d swaps, opened %d times: nothing was tested", n, opened)
	}
	wantUntouched(t, outside, before)
}
