package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(testing.TB) store.Store { return store.NewMemory() })
}

func TestMemoryOutsideTheInterface(t *testing.T) {
	t.Parallel()
	m := store.NewMemory()
	if _, ok := m.NextIdle(review.Session{}); ok {
		t.Fatal("an empty store has an idle session")
	}
	for n := range 3 {
		s, err := storetest.Stop(time.Duration(n))(storetest.New(n+1, 0))
		if err != nil {
			t.Fatal(err)
		}
		s.ExpiresAt = s.ExpiresAt.Add(-time.Duration(n) * time.Second)
		m.Put(s)
	}
	m.Put(storetest.New(9, 0)) // active: not idle
	var order []string
	for s, ok := m.NextIdle(review.Session{}); ok; s, ok = m.NextIdle(s) {
		order = append(order, s.RunID)
	}
	if !slices.Equal(order, []string{storetest.ID(3), storetest.ID(2), storetest.ID(1)}) {
		t.Fatalf("idle sessions come as %v", order)
	}
	replaced := storetest.New(3, time.Hour)
	m.Put(replaced) // the same session again, active now
	if s, _ := m.NextIdle(review.Session{}); s.RunID != storetest.ID(2) || m.Len() != 4 {
		t.Fatalf("after the replacement: %+v, %d sessions", s, m.Len())
	}
	m.Remove(storetest.ID(2))
	m.Remove(storetest.ID(2))
	m.Remove(storetest.ID(1))
	if m.Len() != 2 {
		t.Fatalf("%d left", m.Len())
	}
	if got, err := m.Get(context.Background(), storetest.ID(3)); err != nil || got != replaced {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkMemory: a call must cost about the same with 100 sessions as with 100,000.
func BenchmarkMemory(b *testing.B) {
	ctx := context.Background()
	for _, n := range []int{100, 100_000} {
		m := store.NewMemory()
		pick := storetest.Filled(b, m, n)
		b.Run(fmt.Sprintf("get/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Get(ctx, pick()); err != nil {
					b.Fatal(err)
				}
			}
		})
		at := time.Duration(0)
		touch := func(s review.Session) (review.Session, error) {
			at += time.Millisecond
			s.ExpiresAt = review.Expiry(storetest.T0.Add(at%time.Minute), storetest.TTL)
			return s, nil
		}
		b.Run(fmt.Sprintf("update/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Update(ctx, pick(), touch); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("create/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			next := n
			assign := storetest.Assign
			for b.Loop() {
				// Each new one is stopped at once, so that the next evicts it.
				next++
				s, err := review.Start(storetest.ID(next), catalog.OtherTask, assign, storetest.T0, storetest.TTL)
				if err != nil {
					b.Fatal(err)
				}
				if err := m.Create(ctx, s, storetest.T0, n+1); err != nil {
					b.Fatal(err)
				}
				if _, err := m.Update(ctx, s.RunID, storetest.Stop(0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
