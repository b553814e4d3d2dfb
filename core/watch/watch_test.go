package watch_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
	"github.com/qa-orch/qa-orch/core/watch"
)

const (
	ttl  = storetest.TTL
	keep = time.Minute
)

func at(d time.Duration) time.Time { return storetest.T0.Add(d) }

// told writes events as "kind id status fate".
func told(events []watch.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Kind, strings.TrimLeft(e.Row.RunID[4:], "0"), e.Row.Status, e.Row.Fate)))
	}
	return strings.Join(out, "; ")
}

func put(sessions ...review.Session) sqlite.Delta { return sqlite.Delta{Put: sessions} }

func gone(n ...int) (d sqlite.Delta) {
	for _, i := range n {
		d.Removed = append(d.Removed, storetest.ID(i))
	}
	return d
}

func TestTrackerTellsWhatHappens(t *testing.T) {
	t.Parallel()
	first := storetest.New(1, 0)
	chosen := must(storetest.Choose(catalog.CodeReviewer, time.Minute)(first))
	stopped := must(storetest.Stop(time.Minute)(first))
	waiting := chosen
	waiting.Step, waiting.Status, waiting.Done = review.AwaitingOutcome, review.Awaiting, 1

	begun := func() *watch.Tracker {
		tr := watch.NewTracker(ttl, keep)
		tr.Apply(sqlite.Delta{}, at(0))
		return tr
	}
	for name, c := range map[string]struct {
		do   func(*watch.Tracker) []watch.Event
		want string
	}{
		"a session starts": {func(tr *watch.Tracker) []watch.Event { return tr.Apply(put(first), at(1)) }, "started 1 active"},
		"advances": {func(tr *watch.Tracker) []watch.Event {
			tr.Apply(put(first), at(1))
			return tr.Apply(put(chosen), at(2))
		}, "advanced 1 active"},
		"stops early": {func(tr *watch.Tracker) []watch.Event {
			tr.Apply(put(first), at(1))
			return tr.Apply(put(stopped), at(2))
		}, "stopped 1 blocked"},
		"is finished":              {func(tr *watch.Tracker) []watch.Event { tr.Apply(put(waiting), at(1)); return tr.Apply(gone(1), at(2)) }, "gone 1 awaiting_host_outcome finished"},
		"is finished when stopped": {func(tr *watch.Tracker) []watch.Event { tr.Apply(put(stopped), at(1)); return tr.Apply(gone(1), at(2)) }, "gone 1 blocked finished"},
		"is taken away":            {func(tr *watch.Tracker) []watch.Event { tr.Apply(put(first), at(1)); return tr.Apply(gone(1), at(2)) }, "gone 1 active removed"},
		"expires":                  {func(tr *watch.Tracker) []watch.Event { tr.Apply(put(first), at(1)); return tr.Tick(at(ttl)) }, "gone 1 active expired"},
		"expires and is purged":    {func(tr *watch.Tracker) []watch.Event { tr.Apply(put(first), at(1)); return tr.Apply(gone(1), at(ttl)) }, "gone 1 active expired"},
		"goes only once": {func(tr *watch.Tracker) []watch.Event {
			tr.Apply(put(first), at(1))
			tr.Tick(at(ttl))
			return tr.Apply(gone(1), at(ttl+1))
		}, ""},
		"is unknown and goes": {func(tr *watch.Tracker) []watch.Event { return tr.Apply(gone(7), at(1)) }, ""},
		"comes expired":       {func(tr *watch.Tracker) []watch.Event { return tr.Apply(put(first), at(ttl)) }, ""},
		"many at once, in order": {func(tr *watch.Tracker) []watch.Event {
			return tr.Apply(put(storetest.New(5, 3*time.Second), storetest.New(4, 3*time.Second), storetest.New(6, time.Second)), at(4*time.Second))
		}, "started 6 active; started 4 active; started 5 active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := told(c.do(begun())); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestTrackerKeepsWhatWentForAWhile(t *testing.T) {
	t.Parallel()
	tr := watch.NewTracker(ttl, keep)
	if events := tr.Apply(put(storetest.New(1, 0), storetest.New(2, time.Minute)), at(2*time.Minute)); len(events) > 0 {
		t.Errorf("what was there at the beginning made events: %s", told(events))
	}
	row := tr.Rows()[storetest.ID(1)]
	if !row.Changed.Equal(at(0)) || row.Seen {
		t.Errorf("dated %v, seen %v", row.Changed, row.Seen)
	}
	tr.Apply(gone(1), at(3*time.Minute))
	if c := tr.Counts(); c != (watch.Counts{Active: 1}) {
		t.Errorf("counts %+v", c)
	}
	tr.Tick(at(4*time.Minute - 1))
	if row := tr.Rows()[storetest.ID(1)]; row == nil || row.Fate != watch.Removed {
		t.Error("it should still be there, as gone")
	}
	tr.Tick(at(4 * time.Minute))
	if tr.Rows()[storetest.ID(1)] != nil {
		t.Error("it should be forgotten")
	}
}

func TestAnotherLifetimeLeavesTheChangeUndated(t *testing.T) {
	t.Parallel()
	tr := watch.NewTracker(ttl, keep)
	tr.Apply(put(storetest.New(1, time.Hour)), at(0))
	if row := tr.Rows()[storetest.ID(1)]; !row.Changed.IsZero() {
		t.Errorf("dated %v", row.Changed)
	}
}

func TestFeedFollowsAStoreThatComesAndGoes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "s.sqlite3")
	feed := watch.NewFeed(path)
	defer feed.Close()
	next := func() watch.Update { t.Helper(); return must(feed.Next(ctx, 10*time.Second)) }

	if u := next(); !sqlite.Is(u.Err, sqlite.Missing) || u.Read {
		t.Errorf("no file: %+v", u)
	}
	st := sqlite.New(path, nil)
	defer st.Close()
	if err := st.Create(ctx, storetest.New(1, 0), at(0), 10); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for u := next(); ; u = next() { // the file may be seen before its first row
		for _, s := range u.Put {
			ids = append(ids, s.RunID)
		}
		if len(ids) > 0 || !u.Read {
			break
		}
	}
	if !slices.Equal(ids, []string{storetest.ID(1)}) {
		t.Errorf("it came with %v", ids)
	}
	if u := must(feed.Next(ctx, time.Millisecond)); u.Read || u.Err != nil {
		t.Errorf("news where there are none: %+v", u)
	}
	feed.Refresh()
	if u := next(); !u.Read || len(u.Put) > 0 {
		t.Errorf("a refresh: %+v", u)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Skip(err) // a system that does not let go of open files
	}
	if u := next(); !sqlite.Is(u.Err, sqlite.Missing) {
		t.Errorf("it went: %+v", u)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if u := next(); !u.Read || len(u.Put)+len(u.Removed) > 0 {
		t.Errorf("it came back as it was: %+v", u)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := feed.Next(done, 0); err == nil {
		t.Error("the end of the context is no error")
	}
}

func TestPolicyFeed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "model-policy.json")
	feed := watch.NewPolicyFeed(path, filepath.Join(dir, "models.toml"))
	next := func() watch.PolicyState {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return must(feed.Next(ctx))
	}
	if s := next(); !s.Usable || s.Configured || s.Policy != policy.Default() {
		t.Errorf("no file: %+v", s)
	}
	p := policy.Default()
	p.Deep.Reasoning = catalog.ReasoningMax
	if err := os.WriteFile(path, p.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := next(); !s.Configured || s.Policy != p || s.Err != nil {
		t.Errorf("a file: %+v", s)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := next(); s.Err == nil || !s.Usable || s.Policy != p {
		t.Errorf("a broken file: %+v", s)
	}
}
