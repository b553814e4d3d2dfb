package store

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/btree"

	"github.com/qa-orch/qa-orch/core/review"
)

// Memory is a Store that lives as long as its process. No call but List looks
// at all sessions: each costs about the same however many there are.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]review.Session
	all      *btree.BTreeG[deadline] // every session
	idle     *btree.BTreeG[deadline] // those that may be evicted: stopped or finalized
	active   int
}

// deadline orders sessions by expiry, then by id.
type deadline struct {
	at    int64 // Unix microseconds
	runID string
}

func (d deadline) less(e deadline) bool {
	if c := cmp.Compare(d.at, e.at); c != 0 {
		return c < 0
	}
	return d.runID < e.runID
}

func deadlineOf(s review.Session) deadline { return deadline{s.ExpiresAt.UnixMicro(), s.RunID} }

// btreeDegree is the usual one for small items.
const btreeDegree = 32

// NewMemory returns an empty memory store.
func NewMemory() *Memory {
	return &Memory{
		sessions: make(map[string]review.Session),
		all:      btree.NewG(btreeDegree, deadline.less),
		idle:     btree.NewG(btreeDegree, deadline.less),
	}
}

// Create implements Store.
func (m *Memory) Create(_ context.Context, s review.Session, now time.Time, limit int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.purge(now)
	if m.active >= limit {
		return ErrFull
	}
	for len(m.sessions) >= limit {
		oldest, ok := m.idle.Min()
		if !ok {
			break
		}
		m.remove(m.sessions[oldest.runID])
	}
	m.add(s)
	return nil
}

// Get implements Store.
func (m *Memory) Get(_ context.Context, runID string) (review.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[runID]
	if !ok {
		return review.Session{}, ErrNotFound
	}
	return s, nil
}

// Update implements Store.
func (m *Memory) Update(_ context.Context, runID string, change func(review.Session) (review.Session, error)) (review.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, ok := m.sessions[runID]
	if !ok {
		return review.Session{}, ErrNotFound
	}
	s, err := change(old)
	if err != nil {
		return review.Session{}, err
	}
	m.remove(old)
	m.add(s)
	return s, nil
}

// List implements Store.
func (m *Memory) List(_ context.Context, now time.Time) ([]review.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]review.Session, 0, len(m.sessions))
	m.all.Descend(func(d deadline) bool {
		s := m.sessions[d.runID]
		if s.Expired(now) {
			return false
		}
		out = append(out, s)
		return true
	})
	return out, nil
}

// Close implements Store.
func (m *Memory) Close() error { return nil }

// Put adds a session that came to its end elsewhere, or replaces it.
func (m *Memory) Put(s review.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old, ok := m.sessions[s.RunID]; ok {
		m.remove(old)
	}
	m.add(s)
}

// NextIdle returns the stopped or finalized session that would be evicted after
// the given one; the first of all for the zero Session.
func (m *Memory) NextIdle(after review.Session) (next review.Session, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pivot := deadlineOf(after)
	m.idle.AscendGreaterOrEqual(pivot, func(d deadline) bool {
		if d == pivot {
			return true
		}
		next, ok = m.sessions[d.runID], true
		return false
	})
	return next, ok
}

// Remove deletes the session if it is there.
func (m *Memory) Remove(runID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.sessions[runID]; ok {
		m.remove(s)
	}
}

// Len returns how many sessions are kept.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions)
}

func (m *Memory) purge(now time.Time) {
	for {
		d, ok := m.all.Min()
		if !ok {
			return
		}
		s := m.sessions[d.runID]
		if !s.Expired(now) {
			return
		}
		m.remove(s)
	}
}

func (m *Memory) add(s review.Session) {
	m.sessions[s.RunID] = s
	m.all.ReplaceOrInsert(deadlineOf(s))
	if s.CountsAsActive() {
		m.active++
	} else {
		m.idle.ReplaceOrInsert(deadlineOf(s))
	}
}

func (m *Memory) remove(s review.Session) {
	delete(m.sessions, s.RunID)
	m.all.Delete(deadlineOf(s))
	if s.CountsAsActive() {
		m.active--
	} else {
		m.idle.Delete(deadlineOf(s))
	}
}
