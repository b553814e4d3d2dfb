package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

const ttl = 30 * time.Minute

var t0 = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// bench is an orchestrator whose clock, ids and policy file a test steers.
type bench struct {
	*testing.T
	*orchestrator.Orchestrator
	now        time.Time
	ids        int
	policyPath string
}

func over(t *testing.T, s store.Store, limit int) *bench {
	dir := t.TempDir()
	b := &bench{T: t, now: t0, policyPath: filepath.Join(dir, "p.json")}
	t.Cleanup(func() { s.Close() })
	b.Orchestrator = orchestrator.New(s, policy.NewSource(b.policyPath, filepath.Join(dir, "m.toml"), nil),
		orchestrator.Limits{TTL: ttl, MaxSessions: limit},
		orchestrator.WithClock(func() time.Time { return b.now }),
		orchestrator.WithIDs(func() string { b.ids++; return fmt.Sprintf("qar-%032x", b.ids) }))
	return b
}

// both runs a test over each kind of store.
func both(t *testing.T, limit int, test func(*bench)) {
	t.Run("memory", func(t *testing.T) { t.Parallel(); test(over(t, store.NewMemory(), limit)) })
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(over(t, sqlite.New(filepath.Join(t.TempDir(), "s"), nil), limit))
	})
}

func (b *bench) breakPolicy() {
	b.Helper()
	if err := os.WriteFile(b.policyPath, []byte("{broken"), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) mendPolicy() {
	b.Helper()
	if err := os.Remove(b.policyPath); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) start() review.Session {
	b.Helper()
	s, err := b.Start(context.Background(), catalog.OrdinaryReview)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (b *bench) advance(s review.Session, r review.Report) review.Session {
	b.Helper()
	next, err := b.Advance(context.Background(), s.RunID, r)
	if err != nil {
		b.Fatalf("%+v: %v", r, err)
	}
	if !next.ExpiresAt.Equal(b.now.Add(ttl)) {
		b.Fatalf("expires %v at %v", next.ExpiresAt, b.now)
	}
	return next
}

func (b *bench) wantCode(err error, code review.Code) {
	b.Helper()
	var refused *review.Error
	if !errors.As(err, &refused) || refused.Code != code {
		b.Fatalf("got %v, want %s", err, code)
	}
}

// wantSame checks that the session is exactly as it was.
func (b *bench) wantSame(s review.Session) {
	b.Helper()
	if got, err := b.Get(context.Background(), s.RunID); err != nil || !reflect.DeepEqual(got, s) {
		b.Fatalf("%v\n got %+v\nwant %+v", err, got, s)
	}
}

var (
	choose = review.Report{Step: review.Triage, Status: review.Completed, Profile: catalog.RubyReviewer}
	done   = review.Report{Step: review.PrimaryReview, Status: review.Completed, CompletedProfile: catalog.RubyReviewer, Signals: new(review.Signals)}
	merge  = review.Report{Step: review.Synthesis, Status: review.Completed}
	stop   = review.Report{Step: review.Triage, Status: review.Partial}
	wrong  = review.Report{Step: review.Synthesis, Status: review.Completed, Bundle: catalog.Widget}
)

func TestWholeReview(t *testing.T) {
	t.Parallel()
	both(t, 9, func(b *bench) {
		s := b.start()
		if s.RunID != "qar-00000000000000000000000000000001" || !s.ExpiresAt.Equal(t0.Add(ttl)) {
			b.Fatalf("%+v", s)
		}
		for _, r := range []review.Report{choose, done, merge} {
			b.now = b.now.Add(20 * time.Minute) // longer than a TTL in all
			s = b.advance(s, r)
			b.wantSame(s)
		}
		_, err := b.Finish(context.Background(), s.RunID, "done")
		b.wantCode(err, review.CodeArguments)
		s, err = b.Finish(context.Background(), s.RunID, review.Completed)
		if err != nil || !s.Finalized {
			b.Fatalf("%+v, %v", s, err)
		}
		b.now = b.now.Add(time.Minute)
		again, err := b.Finish(context.Background(), s.RunID, review.Completed)
		if err != nil || !reflect.DeepEqual(again, s) {
			b.Fatalf("again: %+v, %v", again, err)
		}
		_, err = b.Finish(context.Background(), s.RunID, review.Blocked)
		b.wantCode(err, review.CodeConflict)
		b.wantSame(s)
		_, err = b.Advance(context.Background(), s.RunID, choose)
		b.wantCode(err, review.CodeTerminal)
		list, err := b.List(context.Background())
		if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], s) {
			b.Fatalf("%+v, %v", list, err)
		}
	})
}

// TestOrderOfChecks: run, then expiry, then a session that takes no more steps,
// then the step, then its rules, then the policy.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	both(t, 9, func(b *bench) {
		ctx := context.Background()
		s, stopped := b.start(), b.start()
		stopped = b.advance(stopped, stop)
		b.breakPolicy()

		const unknown = "qar-ffffffffffffffffffffffffffffffff"
		_, err := b.Advance(ctx, unknown, wrong)
		b.wantCode(err, review.CodeUnknownRun)
		_, err = b.Finish(ctx, unknown, review.Completed)
		b.wantCode(err, review.CodeUnknownRun)
		_, err = b.Get(ctx, unknown)
		b.wantCode(err, review.CodeUnknownRun)
		_, err = b.Advance(ctx, stopped.RunID, wrong)
		b.wantCode(err, review.CodeTerminal)
		_, err = b.Advance(ctx, s.RunID, wrong)
		b.wantCode(err, review.CodeIllegal)
		_, err = b.Advance(ctx, s.RunID, review.Report{Step: review.Triage, Status: review.Completed})
		b.wantCode(err, review.CodeArguments)
		b.wantSame(s)
		b.wantSame(stopped)

		b.now = s.ExpiresAt // from the very instant on
		for _, id := range []string{s.RunID, stopped.RunID} {
			_, err = b.Advance(ctx, id, wrong)
			b.wantCode(err, review.CodeExpired)
			_, err = b.Finish(ctx, id, review.Completed)
			b.wantCode(err, review.CodeExpired)
			_, err = b.Get(ctx, id)
			b.wantCode(err, review.CodeExpired)
		}
		if list, err := b.List(ctx); err != nil || len(list) != 0 {
			b.Fatalf("expired ones are listed: %v, %v", list, err)
		}
		b.mendPolicy()
		b.start() // purges
		_, err = b.Get(ctx, s.RunID)
		b.wantCode(err, review.CodeUnknownRun)
	})
}

func TestPolicyOnlyWhereNeeded(t *testing.T) {
	t.Parallel()
	both(t, 9, func(b *bench) {
		ctx := context.Background()
		b.breakPolicy() // never a valid one
		_, err := b.Start(ctx, catalog.OtherTask)
		var invalid *policy.Invalid
		if !errors.Is(err, orchestrator.ErrPolicy) || !errors.As(err, &invalid) || !strings.HasPrefix(err.Error(), "model policy unavailable") {
			b.Fatalf("start: %v", err)
		}
		if _, _, err := b.Policy(); !errors.Is(err, orchestrator.ErrPolicy) {
			b.Fatalf("policy: %v", err)
		}
		if list, err := b.List(ctx); err != nil || len(list) != 0 {
			b.Fatalf("a failed start left %v, %v", list, err)
		}
	})
	// A second server that never saw a valid policy works on the first one's sessions.
	t.Run("shared store", func(t *testing.T) {
		t.Parallel()
		m := store.NewMemory()
		first, second := over(t, m, 9), over(t, m, 9)
		ctx := context.Background()
		waiting, open, early := first.start(), first.start(), first.start()
		waiting = first.advance(first.advance(waiting, choose), done)
		second.breakPolicy()
		if _, err := second.Advance(ctx, open.RunID, choose); !errors.Is(err, orchestrator.ErrPolicy) {
			t.Fatalf("advance: %v", err)
		}
		second.wantSame(open)
		second.advance(early, stop)
		if _, err := second.Finish(ctx, early.RunID, review.Partial); err != nil {
			t.Fatal(err)
		}
		second.advance(waiting, merge)
		if _, err := second.Finish(ctx, waiting.RunID, review.Blocked); err != nil {
			t.Fatal(err)
		}
		second.mendPolicy()
		second.advance(open, choose)
		if p, m, err := second.Policy(); err != nil || p != policy.Default() || m != catalog.Builtin() {
			t.Fatalf("%+v, %v", p, err)
		}
	})
}

func TestChangedPolicyCountsFromTheNextStep(t *testing.T) {
	t.Parallel()
	both(t, 9, func(b *bench) {
		s := b.start()
		p := policy.Default()
		p.Primary = policy.Choice{Model: "gpt-6-astra", Reasoning: catalog.ReasoningLow}
		if _, err := policy.Save(b.policyPath, p, catalog.Builtin()); err != nil {
			b.Fatal(err)
		}
		b.wantSame(s)
		s = b.advance(s, choose)
		if want := (policy.Assignment{Provider: "openai", Model: "gpt-6-astra", Reasoning: "low", Verified: true}); s.Policy != want {
			b.Fatalf("%+v", s.Policy)
		}
		b.breakPolicy() // the last valid one stays
		if got := b.start().Policy.Model; got != "gpt-6-luna" {
			b.Fatal(got)
		}
	})
}

func TestLimitAndEviction(t *testing.T) {
	t.Parallel()
	both(t, 2, func(b *bench) {
		first, second := b.start(), b.start()
		_, err := b.Start(context.Background(), catalog.OtherTask)
		b.wantCode(err, review.CodeLimit)
		b.wantSame(first)
		b.advance(first, stop)
		b.start()
		_, err = b.Get(context.Background(), first.RunID)
		b.wantCode(err, review.CodeUnknownRun)
		b.wantSame(second)
	})
}

func TestClockGoingBack(t *testing.T) {
	t.Parallel()
	both(t, 2, func(b *bench) {
		s := b.start()
		b.now = t0.Add(-24 * time.Hour)
		s = b.advance(s, choose) // expires earlier now, which is what the clock says
		b.wantSame(s)
		b.start()
		if list, err := b.List(context.Background()); err != nil || len(list) != 2 {
			b.Fatalf("%v, %v", list, err)
		}
		b.now = t0 // and forward again
		_, err := b.Get(context.Background(), s.RunID)
		b.wantCode(err, review.CodeExpired)
		b.start()
		b.start()
	})
}

func TestRandomIDs(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none")
	o := orchestrator.New(store.NewMemory(), policy.NewSource(missing, missing, nil), orchestrator.Limits{TTL: time.Hour, MaxSessions: 1000})
	seen := map[string]bool{}
	for range 500 {
		s, err := o.Start(context.Background(), catalog.OtherTask)
		if err != nil || !review.ValidRunID(s.RunID) || seen[s.RunID] {
			t.Fatalf("%s, %v", s.RunID, err)
		}
		seen[s.RunID] = true
		if d := time.Until(s.ExpiresAt); d < 59*time.Minute || d > time.Hour {
			t.Fatalf("expires in %v", d)
		}
	}
}

func TestBrokenStoreIsToldApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := over(t, sqlite.New(dir, nil), 9)
	ctx := context.Background()
	_, startErr := b.Start(ctx, catalog.OtherTask)
	_, getErr := b.Get(ctx, "qar-00000000000000000000000000000001")
	_, advanceErr := b.Advance(ctx, "qar-00000000000000000000000000000001", choose)
	_, finishErr := b.Finish(ctx, "qar-00000000000000000000000000000001", review.Completed)
	_, listErr := b.List(ctx)
	for name, err := range map[string]error{"start": startErr, "get": getErr, "advance": advanceErr, "finish": finishErr, "list": listErr} {
		var u *sqlite.Unusable
		if !errors.Is(err, orchestrator.ErrStore) || !errors.As(err, &u) || u.Reason != sqlite.IsFolder || !strings.HasPrefix(err.Error(), "session store unavailable: ") {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(err.Error(), dir) {
			t.Errorf("%s repeats the path: %v", name, err)
		}
	}
}

func TestConcurrentReviews(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none")
	o := orchestrator.New(store.NewMemory(), policy.NewSource(missing, missing, nil), orchestrator.Limits{TTL: time.Hour, MaxSessions: 100})
	ctx := context.Background()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 10 {
				s, err := o.Start(ctx, catalog.OtherTask)
				for _, r := range []review.Report{choose, done, merge} {
					if err == nil {
						s, err = o.Advance(ctx, s.RunID, r)
					}
				}
				if err == nil {
					s, err = o.Finish(ctx, s.RunID, review.Completed)
				}
				if err != nil || !s.Finalized {
					t.Errorf("%+v, %v", s, err)
				}
			}
		})
	}
	wg.Wait()
}
