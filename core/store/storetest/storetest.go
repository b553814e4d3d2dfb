// Package storetest holds what every store.Store must do, as tests that run
// over any of them.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
)

// T0 is when the sessions of the tests begin.
var T0 = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// TTL is how long they live.
const TTL = 30 * time.Minute

// ID returns the n-th run id; they sort as their numbers do.
func ID(n int) string {
	var b [16]byte
	for i := 15; n > 0; i-- {
		b[i] = byte(n)
		n >>= 8
	}
	return review.RunID(b)
}

// Assign is a policy for tests.
func Assign(policy.Stage) (policy.Assignment, error) {
	return policy.Assignment{Provider: catalog.OpenAI, Model: "gpt-6-sol", Reasoning: catalog.ReasoningHigh, Verified: true}, nil
}

// New returns a session at triage that was touched at T0+at.
func New(n int, at time.Duration) review.Session {
	s, err := review.Start(ID(n), catalog.OrdinaryReview, Assign, T0.Add(at), TTL)
	if err != nil {
		panic(err)
	}
	return s
}

// Stop ends the session early at T0+at.
func Stop(at time.Duration) func(review.Session) (review.Session, error) {
	return func(s review.Session) (review.Session, error) {
		return s.Advance(review.Report{Step: s.Step, Status: review.Blocked}, Assign, T0.Add(at), TTL)
	}
}

// Finish finalizes a stopped or waiting session at T0+at.
func Finish(outcome review.Status, at time.Duration) func(review.Session) (review.Session, error) {
	return func(s review.Session) (review.Session, error) { return s.Finish(outcome, T0.Add(at), TTL) }
}

// Choose reports triage with one profile at T0+at.
func Choose(p catalog.Profile, at time.Duration) func(review.Session) (review.Session, error) {
	return func(s review.Session) (review.Session, error) {
		return s.Advance(review.Report{Step: review.Triage, Status: review.Completed, Profile: p}, Assign, T0.Add(at), TTL)
	}
}

// suite is one store under test.
type suite struct {
	testing.TB
	store.Store
}

func (s suite) create(session review.Session, now time.Duration, limit int) error {
	s.Helper()
	return s.Create(context.Background(), session, T0.Add(now), limit)
}

func (s suite) mustCreate(session review.Session, now time.Duration, limit int) {
	s.Helper()
	if err := s.create(session, now, limit); err != nil {
		s.Fatalf("create: %v", err)
	}
}

func (s suite) update(n int, change func(review.Session) (review.Session, error)) review.Session {
	s.Helper()
	next, err := s.Update(context.Background(), ID(n), change)
	if err != nil {
		s.Fatalf("update %d: %v", n, err)
	}
	return next
}

func (s suite) want(n int, want review.Session) {
	s.Helper()
	got, err := s.Get(context.Background(), ID(n))
	if err != nil || !reflect.DeepEqual(got, want) {
		s.Fatalf("session %d: %v\n got %+v\nwant %+v", n, err, got, want)
	}
}

func (s suite) wantGone(n int) {
	s.Helper()
	if got, err := s.Get(context.Background(), ID(n)); !errors.Is(err, store.ErrNotFound) {
		s.Fatalf("session %d is still there: %+v, %v", n, got, err)
	}
	_, err := s.Update(context.Background(), ID(n), func(x review.Session) (review.Session, error) {
		s.Error("change is called for a session that is not there")
		return x, nil
	})
	if !errors.Is(err, store.ErrNotFound) {
		s.Fatalf("update of %d: %v", n, err)
	}
}

// wantListed checks the ids that a listing at T0+now has, in its order.
func (s suite) wantListed(now time.Duration, ids ...int) {
	s.Helper()
	list, err := s.List(context.Background(), T0.Add(now))
	if err != nil {
		s.Fatal(err)
	}
	var got, want []string
	for _, x := range list {
		got = append(got, x.RunID)
	}
	for _, n := range ids {
		want = append(want, ID(n))
	}
	if !slices.Equal(got, want) {
		s.Fatalf("listed %v\n  want %v", got, want)
	}
}

// Run runs the whole suite; open returns a new, empty store each time.
func Run(t *testing.T, open func(testing.TB) store.Store) {
	for name, test := range map[string]func(suite){
		"keeps what it is given":            keeps,
		"refuses at the limit":              refusesAtTheLimit,
		"a full store still purges":         fullStorePurges,
		"purges at the very instant":        purgesAtTheVeryInstant,
		"nothing but Create purges":         onlyCreatePurges,
		"evicts the oldest stopped first":   evictsInOrder,
		"evicts finalized and stopped":      evictsFinalized,
		"never evicts an active one":        neverEvictsActive,
		"evicts as many as a lower limit":   lowerLimit,
		"an error of change is passed on":   changeFails,
		"finalized sessions are retained":   finalizedRetained,
		"lists newest expiry first":         listOrder,
		"changes of one session are serial": serialChanges,
		"capacity holds under concurrency":  concurrentCapacity,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(suite{t, open(t)})
		})
	}
	t.Run("behaves like a plain list", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) { likeAPlainList(rt, suite{t, open(t)}) })
	})
}

func keeps(s suite) {
	a := New(1, 0)
	s.wantGone(1)
	s.mustCreate(a, 0, 10)
	s.want(1, a)
	next := s.update(1, Choose(catalog.RubyReviewer, time.Minute))
	if next.Step != review.PrimaryReview || !next.ExpiresAt.Equal(T0.Add(time.Minute+TTL)) {
		s.Fatalf("update returned %+v", next)
	}
	s.want(1, next)
	s.wantGone(2)
}

func refusesAtTheLimit(s suite) {
	s.mustCreate(New(1, 0), 0, 2)
	s.mustCreate(New(2, 1), 1, 2)
	if err := s.create(New(3, 2), 2, 2); !errors.Is(err, store.ErrFull) {
		s.Fatalf("got %v", err)
	}
	s.wantGone(3)
	s.wantListed(3, 2, 1)
	// A waiting session counts as active too.
	s.update(2, func(x review.Session) (review.Session, error) {
		x.Profile, x.Done, x.Step, x.Status = catalog.CodeExplorer, 1, review.AwaitingOutcome, review.Awaiting
		x.Deep, x.Policy = review.Assess(0), policy.Assignment{}
		return x, nil
	})
	if err := s.create(New(3, 3), 3, 2); !errors.Is(err, store.ErrFull) {
		s.Fatalf("a waiting session does not count: %v", err)
	}
	s.update(1, Stop(4))
	s.mustCreate(New(3, 5), 5, 2) // 1 has stopped: it makes room
	s.wantGone(1)
	s.wantListed(6, 3, 2)
}

func fullStorePurges(s suite) {
	s.mustCreate(New(1, 0), 0, 3)
	s.update(1, Stop(0))
	s.mustCreate(New(2, time.Minute), 0, 3)
	if err := s.create(New(3, 0), TTL, 1); !errors.Is(err, store.ErrFull) {
		s.Fatalf("got %v", err)
	}
	s.wantGone(1) // expired: purged by the start that failed
	s.wantListed(TTL, 2)
}

func purgesAtTheVeryInstant(s suite) {
	const us = time.Microsecond
	s.mustCreate(New(1, 0), 0, 1)
	if err := s.create(New(2, 0), TTL-us, 1); !errors.Is(err, store.ErrFull) {
		s.Fatalf("a microsecond before: %v", err)
	}
	s.mustCreate(New(2, TTL), TTL, 1)
	s.wantGone(1)
	// Within one second, by the fraction.
	s.mustCreate(New(3, TTL+1*us), TTL, 9)
	s.mustCreate(New(4, TTL+2*us), TTL, 9)
	s.mustCreate(New(5, 3*TTL), 2*TTL+us, 9)
	s.wantGone(2)
	s.wantGone(3)
	s.want(4, New(4, TTL+2*us))
}

func onlyCreatePurges(s suite) {
	a := New(1, 0)
	s.mustCreate(a, 0, 9)
	s.wantListed(TTL)
	s.wantListed(TTL-1, 1)
	s.want(1, a)
	expired := errors.New("expired")
	if _, err := s.Update(context.Background(), ID(1), func(x review.Session) (review.Session, error) { return x, expired }); !errors.Is(err, expired) {
		s.Fatal(err)
	}
	s.want(1, a)
	s.mustCreate(New(2, 2*TTL), 2*TTL, 9)
	s.wantGone(1)
}

func evictsInOrder(s suite) {
	const us = time.Microsecond
	// Ids against times, and three within one second.
	for n, at := range map[int]time.Duration{1: 5 * time.Second, 2: 3*time.Second + 2*us, 3: 3*time.Second + us, 4: 3*time.Second + us, 5: 0} {
		s.mustCreate(New(n, 0), 0, 9)
		s.update(n, Stop(at))
	}
	for i, victim := range []int{5, 3, 4, 2, 1} { // 3 before 4: same instant, lower id
		s.mustCreate(New(10+i, 20*time.Second), 6*time.Second, 5)
		s.wantGone(victim)
	}
	s.wantListed(6*time.Second, 14, 13, 12, 11, 10)
	if err := s.create(New(15, 0), 6*time.Second, 5); !errors.Is(err, store.ErrFull) {
		s.Fatal(err)
	}
}

func evictsFinalized(s suite) {
	for n, at := range map[int]time.Duration{1: 3, 2: 1, 3: 2, 4: 4} {
		s.mustCreate(New(n, 0), 0, 9)
		s.update(n, Stop(at*time.Second))
		if n == 2 || n == 4 {
			s.update(n, Finish(review.Blocked, at*time.Second))
		}
	}
	s.wantListed(9*time.Second, 4, 1, 3, 2)
	for i, victim := range []int{2, 3, 1, 4} {
		s.mustCreate(New(10+i, 20*time.Second), 9*time.Second, 4)
		s.wantGone(victim)
	}
}

func neverEvictsActive(s suite) {
	for n := range 5 {
		s.mustCreate(New(n+1, time.Duration(n)*time.Second), 0, 6)
	}
	s.update(5, Stop(time.Minute))
	s.mustCreate(New(6, 0), 0, 6)
	s.mustCreate(New(7, 2), 2, 6)
	s.wantGone(5)
	s.wantListed(3, 4, 3, 2, 7, 6, 1)
}

func lowerLimit(s suite) {
	for n := range 6 {
		s.mustCreate(New(n+1, 0), 0, 9)
		if n < 4 {
			s.update(n+1, Stop(time.Duration(n)*time.Second))
		}
	}
	s.mustCreate(New(9, 0), 0, 3) // the limit was lowered between two runs
	s.wantListed(0, 9, 6, 5)
}

func changeFails(s suite) {
	a := New(1, 0)
	s.mustCreate(a, 0, 1)
	for _, want := range []error{errors.New("boom"), &review.Error{Code: review.CodeIllegal}} {
		got, err := s.Update(context.Background(), ID(1), func(x review.Session) (review.Session, error) {
			x.Status = review.Blocked
			return x, want
		})
		if err != want || got != (review.Session{}) {
			s.Fatalf("got %+v, %v; want %v as it is", got, err, want)
		}
		s.want(1, a)
	}
	if err := s.create(New(2, 0), 0, 1); !errors.Is(err, store.ErrFull) {
		s.Fatalf("the failed change counted: %v", err)
	}
}

func finalizedRetained(s suite) {
	s.mustCreate(New(1, 0), 0, 1)
	s.update(1, Stop(time.Second))
	done := s.update(1, Finish(review.Blocked, 2*time.Second))
	if !done.Finalized {
		s.Fatal("not finalized")
	}
	s.want(1, done)
	if again := s.update(1, Finish(review.Blocked, time.Minute)); again != done {
		s.Fatalf("finishing again: %+v", again)
	}
	_, err := s.Update(context.Background(), ID(1), Finish(review.Completed, time.Minute))
	var refused *review.Error
	if !errors.As(err, &refused) || refused.Code != review.CodeConflict {
		s.Fatalf("another outcome: %v", err)
	}
	s.want(1, done)
	s.wantListed(time.Minute, 1)
	s.mustCreate(New(2, time.Minute), time.Minute, 1) // takes its room
	s.wantGone(1)
}

func listOrder(s suite) {
	const us = time.Microsecond
	s.wantListed(0)
	for n, at := range map[int]time.Duration{1: us, 2: 2 * us, 3: us, 4: time.Second, 5: 0, 6: -time.Hour} {
		s.mustCreate(New(n, at), -2*time.Hour, 9)
	}
	s.wantListed(0, 4, 2, 3, 1, 5)
}

func serialChanges(s suite) {
	s.mustCreate(New(1, 0), 0, 1)
	var wg sync.WaitGroup
	won := make(chan catalog.Profile, 16)
	for i := range 8 {
		wg.Go(func() {
			p := catalog.Profiles()[i]
			_, err := s.Update(context.Background(), ID(1), Choose(p, 0))
			var refused *review.Error
			switch {
			case err == nil:
				won <- p
			case !errors.As(err, &refused) || refused.Code != review.CodeIllegal:
				s.Errorf("loser: %v", err)
			}
			if _, err := s.Get(context.Background(), ID(1)); err != nil {
				s.Error(err)
			}
			if _, err := s.List(context.Background(), T0); err != nil {
				s.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		s.Fatalf("%d of 8 identical steps were accepted", len(won))
	}
	if got, err := s.Get(context.Background(), ID(1)); err != nil || got.Profile != <-won {
		s.Fatalf("the winner's step is not there: %+v, %v", got, err)
	}
}

func concurrentCapacity(s suite) {
	const limit = 5
	var wg sync.WaitGroup
	var mu sync.Mutex
	created := 0
	for i := range 16 {
		wg.Go(func() {
			err := s.create(New(i+1, 0), 0, limit)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				created++
			} else if !errors.Is(err, store.ErrFull) {
				s.Error(err)
			}
		})
	}
	wg.Wait()
	if created != limit {
		s.Fatalf("%d sessions were created, the limit is %d", created, limit)
	}
}

// plain is the model: a list that is searched from end to end.
type plain []review.Session

func (p plain) find(id string) int {
	return slices.IndexFunc(p, func(s review.Session) bool { return s.RunID == id })
}

func (p plain) create(s review.Session, now time.Time, limit int) (plain, error) {
	p = slices.DeleteFunc(slices.Clone(p), func(x review.Session) bool { return !x.ExpiresAt.After(now) })
	active := 0
	for _, x := range p {
		if x.Status == review.Active || x.Status == review.Awaiting {
			active++
		}
	}
	if active >= limit {
		return p, store.ErrFull
	}
	slices.SortFunc(p, older)
	for len(p) >= limit {
		i := slices.IndexFunc(p, func(x review.Session) bool { return x.Status != review.Active && x.Status != review.Awaiting })
		if i < 0 {
			break
		}
		p = slices.Delete(p, i, i+1)
	}
	return append(p, s), nil
}

func older(a, b review.Session) int {
	if c := a.ExpiresAt.Compare(b.ExpiresAt); c != 0 {
		return c
	}
	if a.RunID < b.RunID {
		return -1
	}
	return 1
}

func likeAPlainList(t *rapid.T, s suite) {
	var p plain
	now := time.Duration(0)
	limit := rapid.IntRange(1, 5).Draw(t, "limit")
	created := 0
	pick := func() int { return rapid.IntRange(1, max(created, 1)).Draw(t, "session") }
	change := func(name string, change func(review.Session) (review.Session, error)) {
		n := pick()
		got, err := s.Update(context.Background(), ID(n), change)
		i := p.find(ID(n))
		if i < 0 {
			if !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%s %d: %v, want not found", name, n, err)
			}
			return
		}
		want, werr := change(p[i])
		if fmt.Sprint(err) != fmt.Sprint(werr) {
			t.Fatalf("%s %d: %v, want %v", name, n, err, werr)
		}
		if werr == nil {
			p[i] = want
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s %d:\n got %+v\nwant %+v", name, n, got, want)
			}
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"wait": func(t *rapid.T) {
			steps := []time.Duration{time.Microsecond, 400 * time.Millisecond, 7 * time.Minute, TTL, -time.Minute}
			now += rapid.SampledFrom(steps).Draw(t, "by")
		},
		"create": func(t *rapid.T) {
			created++
			session := New(created, now)
			err := s.create(session, now, limit)
			var want error
			if p, want = p.create(session, T0.Add(now), limit); !errors.Is(err, want) {
				t.Fatalf("create: %v, want %v", err, want)
			}
		},
		"choose": func(*rapid.T) { change("choose", Choose(catalog.RubyReviewer, now)) },
		"stop":   func(*rapid.T) { change("stop", Stop(now)) },
		"finish": func(*rapid.T) { change("finish", Finish(review.Blocked, now)) },
		"": func(t *rapid.T) {
			want := slices.DeleteFunc(slices.Clone(p), func(x review.Session) bool { return !x.ExpiresAt.After(T0.Add(now)) })
			slices.SortFunc(want, func(a, b review.Session) int { return -older(a, b) })
			got, err := s.List(context.Background(), T0.Add(now))
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, []review.Session(want)) {
				t.Fatalf("list\n got %+v\nwant %+v", got, want)
			}
		},
	})
}

// Filled creates n sessions, all at triage, with expiries in no order, and
// returns a source of their numbers for benchmarks.
func Filled(b testing.TB, s store.Store, n int) func() string {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- the same times in each test run
	for i := range n {
		at := time.Duration(random.IntN(int(time.Minute)))
		if err := s.Create(context.Background(), New(i+1, at), T0, n+1); err != nil {
			b.Fatal(err)
		}
	}
	return func() string { return ID(1 + random.IntN(n)) }
}
