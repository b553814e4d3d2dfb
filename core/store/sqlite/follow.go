package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
)

// Delta is what changed in a store between two readings.
type Delta struct {
	Put     []review.Session // new or changed, in no order; expired ones too
	Removed []string         // run ids whose rows are gone
	Bad     int              // rows that can't be read now
}

// Follower reads a store again and again, like Inspector without changing it,
// at a cost that follows what changed and not how much there is. It is not safe
// for concurrent use.
type Follower struct {
	in    *Inspector
	known memo

	info    fs.FileInfo // of the file that rows were read from
	indexed bool        // the file has the store's index
	rows    map[int64]row
	bad     int    // how many of them can't be read
	newest  string // latest expiry among rows, to the second

	scanned time.Time // when all index entries were last compared
	pending bool      // something changed since then
	unread  bool      // something changed and could not be read yet
	untold  Delta     // what a reading that failed had found by then
	mixed   bool      // writers with different lifetimes use the store
}

// row is what is known about one row of the file.
type row struct {
	key   string         // status and expiry to the second, as the index has them
	moved time.Time      // when a change was last read; zero for what was there first
	state review.Session // zero when the row can't be read
}

func (r row) bad() bool { return r.state.RunID == "" }

const (
	// overlap is how much of the newest rows is read again: a writer computes
	// the expiry before it waits for its turn.
	overlap = busyTimeout + time.Second
	// scanEvery bounds how often all index entries are compared while writers
	// with equal lifetimes work: their changes are always among the newest rows.
	scanEvery = 2 * time.Second
)

// Follow opens the file at path for reading. The error is an *Unusable.
func Follow(ctx context.Context, path string) (*Follower, error) {
	in, err := Inspect(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Follower{in: in, known: memo{}, rows: map[int64]row{}}, nil
}

// Close lets go of the file.
func (f *Follower) Close() error { return f.in.Close() }

// Poll returns what changed since the last call, everything on the first one.
// all compares every row even where the file looks unchanged. After an error,
// an *Unusable, the next call tells what changed since the last good one.
func (f *Follower) Poll(ctx context.Context, all bool) (Delta, error) {
	changed, err := f.in.Changed(ctx)
	if err != nil {
		return Delta{}, err
	}
	f.unread = f.unread || changed
	due := f.pending && time.Since(f.scanned) >= scanEvery
	if !f.unread && !due && !all {
		return Delta{Bad: f.bad}, nil
	}
	if err := f.refresh(ctx, due || all, &f.untold); err != nil {
		f.unread = true
		return Delta{}, unusable(f.in.path, err)
	}
	d := f.untold
	d.Bad = f.bad
	f.unread, f.untold = false, Delta{}
	return d, nil
}

func (f *Follower) refresh(ctx context.Context, scan bool, d *Delta) error {
	tx, err := f.in.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if f.info != f.in.info { // opened anew
		empty, err := checkSchema(ctx, tx, f.in.path)
		if err != nil {
			return err
		}
		var n int
		err = tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = 'sessions_by_status'`).Scan(&n)
		if err != nil {
			return err
		}
		if empty { // a server may be about to create the tables
			f.replace(map[int64]row{}, d)
			f.pending = false
			return nil
		}
		f.indexed = n > 0
	}
	if f.info != f.in.info || !f.indexed {
		return f.readAll(ctx, tx, d)
	}
	if err := f.readNewest(ctx, tx, d); err != nil {
		return err
	}
	var count int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sessions`).Scan(&count); err != nil {
		return err
	}
	if !scan && !f.mixed && count == len(f.rows) {
		f.pending = true // the entries are compared a little later
		return nil
	}
	return f.scan(ctx, tx, d)
}

// readAll reads every row.
func (f *Follower) readAll(ctx context.Context, tx *sql.Tx, d *Delta) error {
	rows := make(map[int64]row, len(f.rows))
	err := f.read(ctx, tx, func(id int64, r row) {
		r.moved = time.Time{}
		rows[id] = r
	}, `SELECT rowid, run_id, payload, '' FROM sessions`)
	if err != nil {
		return err
	}
	if f.info != f.in.info && f.indexed {
		// The keys come from the index: taking them from the payloads costs more.
		keys, err := f.keys(ctx, tx)
		if err != nil {
			return err
		}
		for id, r := range rows {
			r.key = keys[id]
			rows[id] = r
		}
	}
	f.replace(rows, d)
	f.info, f.scanned, f.pending = f.in.info, time.Now(), false
	return nil
}

// replace makes rows the known ones and says what that changes.
func (f *Follower) replace(rows map[int64]row, d *Delta) {
	old := make(map[string]review.Session, len(f.rows))
	for _, r := range f.rows {
		old[r.state.RunID] = r.state
	}
	f.rows, f.newest, f.bad = rows, "", 0
	for _, r := range rows {
		f.note(r)
		if r.bad() {
			f.bad++
			continue
		}
		if was, ok := old[r.state.RunID]; !ok || was != r.state {
			d.Put = append(d.Put, r.state)
		}
		delete(old, r.state.RunID)
	}
	delete(old, "")
	for id := range old {
		d.Removed = append(d.Removed, id)
	}
}

func (f *Follower) note(r row) {
	if _, expiry, ok := strings.Cut(r.key, " "); ok && expiry > f.newest {
		f.newest = expiry
	}
}

// set takes over a row that was read and says whether that changes something.
func (f *Follower) set(id int64, r row, d *Delta) (changed bool) {
	was, known := f.rows[id]
	switch {
	case !was.bad() && was.state == r.state:
		r.moved = was.moved
	case !r.bad():
		d.Put = append(d.Put, r.state)
		changed = true
	}
	if !was.bad() && was.state.RunID != r.state.RunID {
		d.Removed = append(d.Removed, was.state.RunID)
		changed = true
	}
	if known && was.bad() {
		f.bad--
	}
	if r.bad() {
		f.bad++
	}
	f.rows[id] = r
	f.note(r)
	return changed
}

// readNewest reads the rows that a writer with the usual lifetime can have
// touched since the last time.
func (f *Follower) readNewest(ctx context.Context, tx *sql.Tx, d *Delta) error {
	from := f.newest
	if t, err := time.Parse(secondLayout, from); err == nil {
		from = t.Add(-overlap).Format(secondLayout)
	}
	for _, status := range review.Statuses() {
		err := f.read(ctx, tx, func(id int64, r row) { f.set(id, r, d) },
			`SELECT rowid, run_id, payload, `+keyExpr+` FROM sessions WHERE `+statusExpr+` = ? AND `+expiryExpr+` >= ?`,
			string(status), from)
		if err != nil {
			return err
		}
	}
	return nil
}

// scan compares every index entry with what is known and reads what differs.
func (f *Follower) scan(ctx context.Context, tx *sql.Tx, d *Delta) error {
	keys, err := f.keys(ctx, tx)
	if err != nil {
		return err
	}
	for id, r := range f.rows {
		if _, there := keys[id]; !there {
			delete(f.rows, id)
			if r.bad() {
				f.bad--
			} else {
				d.Removed = append(d.Removed, r.state.RunID)
			}
		}
	}
	var stale []int64
	for id, key := range keys {
		// Two changes within one second can leave the same key.
		if r, ok := f.rows[id]; !ok || r.key != key || time.Since(r.moved) < overlap {
			stale = append(stale, id)
		}
	}
	for _, id := range stale {
		err := f.read(ctx, tx, func(id int64, r row) {
			if f.set(id, r, d) {
				f.mixed = true // readNewest should have seen it
			}
		}, `SELECT rowid, run_id, payload, `+keyExpr+` FROM sessions WHERE rowid = ?`, id)
		if err != nil {
			return err
		}
	}
	f.scanned, f.pending = time.Now(), false
	return nil
}

// keyExpr joins the two expressions of the index; it is empty for a row that
// is no session even at a glance.
const keyExpr = `coalesce((` + statusExpr + `) || ' ' || (` + expiryExpr + `), '')`

// keys returns the index entries by row. One long string is several times
// faster here than one row after the other.
func (f *Follower) keys(ctx context.Context, tx *sql.Tx) (map[int64]string, error) {
	var all []byte
	err := tx.QueryRowContext(ctx, `SELECT coalesce(group_concat(rowid || ' ' || `+keyExpr+`, char(10)), '')
		FROM sessions INDEXED BY sessions_by_status`).Scan(&all)
	if err != nil {
		return nil, err
	}
	text := string(all)
	keys := make(map[int64]string, len(f.rows))
	for line := range strings.SplitSeq(text, "\n") {
		id, key, _ := strings.Cut(line, " ")
		// A line that is none belongs to a row whose text holds a line break:
		// that is no session.
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			keys[n] = key
		}
	}
	return keys, nil
}

// read runs a query for rowid, run_id, payload and key.
func (f *Follower) read(ctx context.Context, tx *sql.Tx, each func(int64, row), query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	now := time.Now()
	for rows.Next() {
		var id int64
		var runID, payload any
		r := row{moved: now}
		if err := rows.Scan(&id, &runID, &payload, &r.key); err != nil {
			return err
		}
		if s, err := f.known.decode(runID, payload); err == nil {
			r.state = s
		}
		each(id, r)
	}
	return rows.Err()
}

// memo remembers states by their payload without run id and expiry. Thousands
// of sessions stand in a few hundred states, and reading one of these again is
// far cheaper than parsing it.
type memo map[string]review.Session

// memoLimit bounds what a file full of odd payloads can make a memo hold.
const memoLimit = 4096

// decode is the package's decode with a memory.
func (m memo) decode(runID, payload any) (s review.Session, err error) {
	id, _ := runID.(string)
	text, _ := payload.(string)
	shape, expiry, ok := shapeOf(id, text)
	if ok {
		if s, known := m[shape]; known {
			if t, err := review.ParseTime(expiry); err == nil {
				s.RunID, s.ExpiresAt = id, t
				return s, nil
			}
		}
	}
	if err := decode(runID, payload, &s); err != nil {
		return review.Session{}, err
	}
	if ok && len(m) < memoLimit {
		m[strings.Clone(shape)] = s
	}
	return s, nil
}

// shapeOf cuts the run id, which has to be the first value, and the expiry,
// which has to be the last one, out of a payload.
func shapeOf(runID, payload string) (shape, expiry string, ok bool) {
	if !review.ValidRunID(runID) {
		return "", "", false
	}
	head, rest, found := strings.Cut(payload, runID)
	if !found || len(head) > 32 || strings.ReplaceAll(head, " ", "") != `{"run_id":"` || strings.Contains(rest, `"run_id"`) {
		return "", "", false
	}
	const name = `"expires_at"`
	i := strings.LastIndex(rest, name)
	if i < 0 {
		return "", "", false
	}
	before, last, _ := strings.Cut(rest[i+len(name):], `"`)
	expiry, after, _ := strings.Cut(last, `"`)
	if strings.TrimSpace(before) != ":" || strings.TrimSpace(after) != "}" || !strings.HasSuffix(expiry, "Z") {
		return "", "", false
	}
	return rest[:i], expiry, true
}

// Is reports whether err is an *Unusable with that reason.
func Is(err error, reason Reason) bool {
	var u *Unusable
	return errors.As(err, &u) && u.Reason == reason
}
