package watch

import (
	"cmp"
	"slices"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

// Fate says how a session went away. The store keeps no history, so it is
// concluded from what was seen last.
type Fate string

// The fates. Present is that of a session that is still there.
const (
	Present  Fate = ""
	Finished Fate = "finished" // the host's outcome was due, and the row is gone
	Expired  Fate = "expired"
	Removed  Fate = "removed" // the row is gone though work was due
)

// Row is a session as it is watched.
type Row struct {
	review.Session
	Changed time.Time // of the last change; zero when not known
	Seen    bool      // the change was seen; otherwise Changed is concluded from the lifetime
	Fate    Fate
	GoneAt  time.Time // when it went away
}

// Kind is what happened to a session.
type Kind string

// The kinds of events.
const (
	Started  Kind = "started"
	Advanced Kind = "advanced"
	Stopped  Kind = "stopped" // early, partial or blocked
	Gone     Kind = "gone"
)

// Event is one thing that happened to a session.
type Event struct {
	Kind Kind
	At   time.Time
	Row  Row
}

// Tracker keeps the sessions of a store as they are watched. It holds no clock
// and does no I/O.
type Tracker struct {
	ttl  time.Duration // lifetime that the changes before the watch are dated by
	keep time.Duration // how long a session that went away stays
	rows map[string]*Row
	read bool
}

// NewTracker returns a tracker without sessions. ttl is the usual lifetime of a
// session after a change; one that goes away while it is watched stays for keep.
func NewTracker(ttl, keep time.Duration) *Tracker {
	return &Tracker{ttl: ttl, keep: keep, rows: map[string]*Row{}}
}

// Rows returns the sessions by run id. They must not be changed; they are valid
// until the next Apply or Tick.
func (t *Tracker) Rows() map[string]*Row { return t.rows }

// Apply takes over what was read at now. The first reading is where the watch
// begins: it makes no events.
func (t *Tracker) Apply(d sqlite.Delta, now time.Time) []Event {
	var events []Event
	for _, s := range d.Put {
		row := &Row{Session: s, Changed: now, Seen: true}
		kind := Advanced
		switch old, known := t.rows[s.RunID]; {
		case s.Expired(now):
			continue // Tick tells of it if it was known
		case !t.read:
			row.Changed, row.Seen = s.ExpiresAt.Add(-t.ttl), false
			if row.Changed.After(now) {
				row.Changed = time.Time{} // its lifetime is another one
			}
		case !known || old.Fate != Present:
			kind = Started
		case s.Stopped():
			kind = Stopped
		}
		t.rows[s.RunID] = row
		if t.read {
			events = append(events, Event{kind, now, *row})
		}
	}
	for _, id := range d.Removed {
		row, known := t.rows[id]
		if !known || row.Fate != Present {
			continue
		}
		fate := Removed
		switch {
		case row.Expired(now):
			fate = Expired
		case row.Status != review.Active:
			fate = Finished
		}
		events = append(events, t.goes(row, fate, now))
	}
	t.read = true
	events = append(events, t.Tick(now)...)
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(a.Row.ExpiresAt.Compare(b.Row.ExpiresAt), cmp.Compare(a.Row.RunID, b.Row.RunID))
	})
	return events
}

// Tick lets time pass: sessions expire, and those that went away are forgotten.
func (t *Tracker) Tick(now time.Time) []Event {
	var events []Event
	for id, row := range t.rows {
		switch {
		case row.Fate == Present && row.Expired(now):
			events = append(events, t.goes(row, Expired, now))
		case row.Fate != Present && !now.Before(row.GoneAt.Add(t.keep)):
			delete(t.rows, id)
		}
	}
	return events
}

func (t *Tracker) goes(row *Row, fate Fate, now time.Time) Event {
	row.Fate, row.GoneAt, row.Changed, row.Seen = fate, now, now, true
	return Event{Gone, now, *row}
}

// Counts are the sessions that are there, by what they wait for.
type Counts struct {
	Active, Awaiting, Stopped int
}

// Limited returns how many count against the limit of sessions.
func (c Counts) Limited() int { return c.Active + c.Awaiting }

// Total returns how many there are.
func (c Counts) Total() int { return c.Active + c.Awaiting + c.Stopped }

// Counts counts the sessions that are there.
func (t *Tracker) Counts() (c Counts) {
	for _, row := range t.rows {
		switch {
		case row.Fate != Present:
		case row.Status == review.Active:
			c.Active++
		case row.Status == review.Awaiting:
			c.Awaiting++
		default:
			c.Stopped++
		}
	}
	return c
}
