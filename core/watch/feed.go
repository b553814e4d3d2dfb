// Package watch follows the sessions of a recovery store without touching it:
// what is there, what began, moved on, stopped or went away.
package watch

import (
	"context"
	"errors"
	"time"

	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

// How often a store is looked at. Looking costs well under a millisecond;
// opening one that can't be used costs more.
const (
	pollEvery  = 250 * time.Millisecond
	retryEvery = time.Second
)

// Update is news of a store.
type Update struct {
	sqlite.Delta
	Read bool  // the store could be read: Delta counts
	Err  error // why it could not, an *sqlite.Unusable; what was read before still stands
}

// Feed opens a store, reads it, and opens it again when it was replaced or
// came back. Next is for one caller at a time.
type Feed struct {
	path    string
	f       *sqlite.Follower
	begun   bool
	reason  sqlite.Reason // of the last error, "" when there is none
	refresh chan struct{}
}

// NewFeed returns a feed of the store at path. Nothing is opened yet.
func NewFeed(path string) *Feed { return &Feed{path: path, refresh: make(chan struct{}, 1)} }

// Refresh makes the call of Next that waits, or the next one, compare every row
// and return even if nothing changed. It may be called from anywhere.
func (f *Feed) Refresh() {
	select {
	case f.refresh <- struct{}{}:
	default:
	}
}

// Next returns the first news: at once when first called, later when something
// changed, the store became unusable or usable, or Refresh was called. After
// limit, if that isn't zero, it returns without news. The only error is that of
// ctx.
func (f *Feed) Next(ctx context.Context, limit time.Duration) (Update, error) {
	var over <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		over = timer.C
	}
	all := false
	for {
		if u, news := f.look(ctx, all); news || all {
			return u, ctx.Err()
		}
		pause := pollEvery
		if f.f == nil && f.reason != sqlite.Missing {
			pause = retryEvery
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-f.refresh:
			all = true
		case <-over:
			timer.Stop()
			return Update{}, nil
		case <-ctx.Done():
			timer.Stop()
			return Update{}, ctx.Err()
		}
		timer.Stop()
	}
}

// look reads the store once.
func (f *Feed) look(ctx context.Context, all bool) (u Update, news bool) {
	if f.f == nil {
		if f.f, u.Err = sqlite.Follow(ctx, f.path); u.Err != nil {
			f.f = nil
		}
	}
	if u.Err == nil {
		// After an error the follower stays: once the file is back, it knows what that changes.
		u.Delta, u.Err = f.f.Poll(ctx, all)
	}
	u.Read = u.Err == nil
	reason := reasonOf(u.Err)
	news = !f.begun || reason != f.reason || len(u.Put)+len(u.Removed) > 0
	if ctx.Err() == nil {
		f.begun, f.reason = true, reason
	}
	return u, news
}

func reasonOf(err error) sqlite.Reason {
	var u *sqlite.Unusable
	switch {
	case err == nil:
		return ""
	case errors.As(err, &u):
		return u.Reason
	}
	return sqlite.Failed
}

// Close lets go of the store. No call of Next may be running.
func (f *Feed) Close() error {
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}
