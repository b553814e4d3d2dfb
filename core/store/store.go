// Package store keeps the sessions of the QA orchestrator: in memory here, in a
// shared SQLite file in its sub-package.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
)

// Store keeps sessions between calls. Implementations are safe for concurrent
// use. Apart from the two errors below, an error means that the store can't be
// used now; nothing was changed then.
type Store interface {
	// Create deletes what has expired at now and, when fewer than limit sessions
	// count as active, evicts the oldest stopped or finalized ones until s fits
	// and adds it. Otherwise it returns ErrFull.
	Create(ctx context.Context, s review.Session, now time.Time, limit int) error

	// Get returns the session, expired or not. ErrNotFound if there is none.
	Get(ctx context.Context, runID string) (review.Session, error)

	// Update replaces the session by what change makes of it, as one step that no
	// other change of the session can come between, and returns the new state.
	// ErrNotFound if there is none. An error of change is returned as it is and
	// leaves the session untouched.
	Update(ctx context.Context, runID string, change func(review.Session) (review.Session, error)) (review.Session, error)

	// List returns the sessions that have not expired at now, newest expiry first.
	List(ctx context.Context, now time.Time) ([]review.Session, error)

	// Close lets go of what the store holds open.
	Close() error
}

var (
	// ErrNotFound means that the store has no session of that id.
	ErrNotFound = errors.New("no such session")
	// ErrFull means that as many sessions are active as may be.
	ErrFull = errors.New("too many active sessions")
)
