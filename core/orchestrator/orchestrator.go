// Package orchestrator joins the state machine of a review with a store, the
// model policy, a clock and a source of ids: it is what a server calls.
package orchestrator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
)

// Limits bound the life and the number of sessions.
type Limits struct {
	TTL         time.Duration // how long a session lives after its last change
	MaxSessions int           // how many may be active at once
}

// Orchestrator runs reviews. It is safe for concurrent use.
type Orchestrator struct {
	store  store.Store
	policy *policy.Source
	limits Limits
	now    func() time.Time
	newID  func() string
}

// Option replaces a part that tests need to steer.
type Option func(*Orchestrator)

// WithClock sets the clock.
func WithClock(now func() time.Time) Option { return func(o *Orchestrator) { o.now = now } }

// WithIDs sets the source of run ids.
func WithIDs(newID func() string) Option { return func(o *Orchestrator) { o.newID = newID } }

// New returns an orchestrator over s and p.
func New(s store.Store, p *policy.Source, l Limits, opts ...Option) *Orchestrator {
	o := &Orchestrator{store: s, policy: p, limits: l, now: time.Now, newID: randomID}
	for _, opt := range opts {
		opt(o)
	}
	return o
}

func randomID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return review.RunID(b)
}

// Errors of the parts around the state machine. Those of a transition itself
// are *review.Error.
var (
	// ErrStore is wrapped by every error of a store that can't be used.
	ErrStore = errors.New("session store unavailable")
	// ErrPolicy is wrapped where a step needs the model policy and there is none.
	ErrPolicy = errors.New("model policy unavailable")
)

// Start begins a review.
func (o *Orchestrator) Start(ctx context.Context, task catalog.TaskType) (review.Session, error) {
	now := o.now()
	s, err := review.Start(o.newID(), task, o.assign, now, o.limits.TTL)
	if err != nil {
		return review.Session{}, err
	}
	if err := o.store.Create(ctx, s, now, o.limits.MaxSessions); err != nil {
		return review.Session{}, classify(err)
	}
	return s, nil
}

// Advance reports one step of a review.
func (o *Orchestrator) Advance(ctx context.Context, runID string, r review.Report) (review.Session, error) {
	s, err := o.store.Update(ctx, runID, func(s review.Session) (review.Session, error) {
		return s.Advance(r, o.assign, o.now(), o.limits.TTL)
	})
	return s, classify(err)
}

// Finish accepts the host's outcome of a review.
func (o *Orchestrator) Finish(ctx context.Context, runID string, outcome review.Status) (review.Session, error) {
	s, err := o.store.Update(ctx, runID, func(s review.Session) (review.Session, error) {
		return s.Finish(outcome, o.now(), o.limits.TTL)
	})
	return s, classify(err)
}

// Get returns a review as it stands, without changing it.
func (o *Orchestrator) Get(ctx context.Context, runID string) (review.Session, error) {
	s, err := o.store.Get(ctx, runID)
	if err == nil && s.Expired(o.now()) {
		err = &review.Error{Code: review.CodeExpired, Status: s.Status, Step: s.Step}
	}
	if err != nil {
		return review.Session{}, classify(err)
	}
	return s, nil
}

// List returns the sessions that have not expired, newest expiry first.
func (o *Orchestrator) List(ctx context.Context) ([]review.Session, error) {
	list, err := o.store.List(ctx, o.now())
	return list, classify(err)
}

// Policy returns the policy that new sessions get.
func (o *Orchestrator) Policy() (policy.Policy, *catalog.Models, error) {
	p, m, err := o.policy.Current()
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return p, m, err
}

func (o *Orchestrator) assign(st policy.Stage) (policy.Assignment, error) {
	a, err := o.policy.Assign(st)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	return a, err
}

// classify gives the errors of a store the codes that a host knows.
func classify(err error) error {
	var refused *review.Error
	switch {
	case err == nil, errors.As(err, &refused), errors.Is(err, ErrPolicy):
		return err
	case errors.Is(err, store.ErrNotFound):
		return &review.Error{Code: review.CodeUnknownRun}
	case errors.Is(err, store.ErrFull):
		return &review.Error{Code: review.CodeLimit}
	default:
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
}
