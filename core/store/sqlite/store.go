// Package sqlite keeps unfinished sessions in one SQLite file that several
// processes share. Every transition is one transaction over the stored row and
// is durable when it returns.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
)

// SchemaVersion is the version of the file's layout that this package reads and writes.
const SchemaVersion = 1

// busyTimeout is how long a call waits for other processes to let go of the file.
const busyTimeout = 5 * time.Second

// Store is a store.Store over one file. It opens the file on the first call,
// and again after the file was replaced or failed, so that a mended file works
// without a restart.
type Store struct {
	path string
	warn func(error)

	retained *store.Memory // sessions that this process finalized: the file has no row of them

	mu sync.Mutex // guards what follows and serializes this process's changes, of the file and of retained
	db *handle
}

var _ store.Store = (*Store)(nil)

// New returns a store over the file at path, which need not exist. Nothing is
// opened yet. warn, if not nil, is told of rows that can't be read, as *BadRows.
func New(path string, warn func(error)) *Store {
	if warn == nil {
		warn = func(error) {}
	}
	return &Store{path: path, warn: warn, retained: store.NewMemory()}
}

// BadRows says that some rows of the file can't be read. They stay as they are.
type BadRows struct {
	Count int
}

// Error describes the rows in English.
func (b *BadRows) Error() string {
	return "rows of the session store cannot be read; they were left in place"
}

// handle is an open file.
type handle struct {
	info  fs.FileInfo // of the file that was opened
	wal   fs.FileInfo // of its -wal
	write *sql.DB     // one connection, for transitions
	read  *sql.DB     // one connection, so that reading never waits for a writer

	conn                                       *sql.Conn // write's connection
	beginTx, commitTx, rollbackTx              *sql.Stmt // on conn, as are these
	selectRow, updateRow, deleteRow, insertRow *sql.Stmt
	spanRows, expiredRows                      *sql.Stmt
	readRow                                    *sql.Stmt // on read

	// How many rows are active and how many are stopped, as of the file's data
	// version; that is -1 before the first count and changes when another
	// process commits. Until they are audited the counts are by the index alone
	// and include rows that can't be read.
	version int64
	active  int
	stopped int
	audited bool
}

func (h *handle) close() {
	// The statements first: SQLite keeps a closed connection alive, and its
	// transaction open, for as long as it has a statement.
	for _, stmt := range []*sql.Stmt{h.beginTx, h.commitTx, h.rollbackTx, h.selectRow, h.updateRow, h.deleteRow, h.insertRow, h.spanRows, h.expiredRows} {
		if stmt != nil {
			_ = stmt.Close()
		}
	}
	if h.conn != nil {
		_ = h.conn.Close()
	}
	_ = h.write.Close()
	_ = h.read.Close()
}

// The two expressions of the index. A row whose payload is no JSON gives NULL
// instead of an error, so that it stops nobody. Instants are compared by their
// first 19 characters, to the second: what follows may be written differently.
const (
	statusExpr = `CASE WHEN json_valid(payload) THEN json_extract(payload, '$.status') END`
	expiryExpr = `CASE WHEN json_valid(payload) THEN substr(json_extract(payload, '$.expires_at'), 1, 19) END`
)

const secondLayout = "2006-01-02T15:04:05"

// Open opens the file now, if it isn't open. The error is an *Unusable.
func (s *Store) Open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.handle(ctx)
	return err
}

// handle returns the open file, opening it where it isn't or is no longer the
// one at the path. s.mu is held.
func (s *Store) handle(ctx context.Context) (*handle, error) {
	if s.db != nil {
		info, err := os.Lstat(s.path)
		if err == nil && os.SameFile(info, s.db.info) {
			return s.db, nil
		}
		old := s.db
		s.drop()
		if err == nil {
			old.removeStaleWAL(s.path)
		}
	}
	deadline := time.Now().Add(busyTimeout)
	for {
		h, err := open(ctx, s.path)
		if err == nil {
			s.db = h
			s.reportBadRows(ctx)
			return h, nil
		}
		// Processes that create or convert one file at the same time can get BUSY
		// at once, whatever the timeout is.
		if !isBusy(err) || time.Now().After(deadline) || ctx.Err() != nil {
			return nil, unusable(s.path, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// removeStaleWAL removes the side files of a database that another file has
// taken the place of: SQLite would play them into the new one. Side files that
// came with the new file, or that another process has made for it, are others
// than this handle's and stay.
func (h *handle) removeStaleWAL(path string) {
	info, err := os.Lstat(path + "-wal")
	if err == nil && h.wal != nil && os.SameFile(info, h.wal) {
		_ = os.Remove(path + "-wal")
		_ = os.Remove(path + "-shm")
	}
}

func (s *Store) drop() {
	if s.db != nil {
		s.db.close()
		s.db = nil
	}
}

func dsn(path, busyMillis string) string {
	q := url.Values{}
	q.Set("mode", "rw")
	q.Set("_busy_timeout", busyMillis)
	q.Set("_txlock", "immediate")
	q.Set("_synchronous", "FULL")
	q.Add("_pragma", "fullfsync(1)")
	q.Add("_pragma", "checkpoint_fullfsync(1)")
	return uri(path, q)
}

func open(ctx context.Context, path string) (_ *handle, err error) {
	if err := create(path); err != nil {
		return nil, err
	}
	info, header, err := checkFile(path)
	if err != nil {
		return nil, err
	}
	if err := refuseUnrecovered(ctx, path, header); err != nil {
		return nil, err
	}
	h := &handle{info: info, version: -1}
	if h.write, err = sql.Open("sqlite", dsn(path, "0")); err != nil {
		return nil, err
	}
	if h.read, err = sql.Open("sqlite", dsn(path, "5000")+"&_query_only=1"); err != nil {
		_ = h.write.Close()
		return nil, err
	}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	for _, db := range []*sql.DB{h.write, h.read} {
		db.SetMaxOpenConns(1)
		db.SetMaxIdleConns(1)
	}
	if err := connect(ctx, h.write, path); err != nil {
		return nil, err
	}
	if err := checkOpened(ctx, h.write, path, info); err != nil {
		return nil, err
	}
	// The schema is looked at before anything is written: a file that isn't ours
	// keeps its bytes.
	empty, err := checkSchema(ctx, h.write, path)
	if err != nil {
		return nil, err
	}
	if err := tighten(path); err != nil {
		return nil, err
	}
	if err := useWAL(ctx, h.write, path); err != nil {
		return nil, err
	}
	if err := h.prepareSchema(ctx, path, empty); err != nil {
		return nil, err
	}
	if err := tighten(path); err != nil {
		return nil, err
	}
	if h.wal, err = os.Lstat(path + "-wal"); err != nil {
		return nil, err
	}
	if h.conn, err = h.write.Conn(ctx); err != nil {
		return nil, err
	}
	for stmt, query := range map[**sql.Stmt]string{
		&h.beginTx:    `BEGIN IMMEDIATE`,
		&h.commitTx:   `COMMIT`,
		&h.rollbackTx: `ROLLBACK`,
		&h.selectRow:  `SELECT payload FROM sessions WHERE run_id = ?`,
		&h.updateRow:  `UPDATE sessions SET payload = ? WHERE run_id = ?`,
		&h.deleteRow:  `DELETE FROM sessions WHERE run_id = ?`,
		&h.insertRow:  `INSERT INTO sessions (run_id, payload) VALUES (?, ?)`,
		// Each on its own: SQLite goes to the end of the table for one of the two only.
		&h.spanRows:    `SELECT coalesce((SELECT max(rowid) FROM sessions) - (SELECT min(rowid) FROM sessions) + 1, 0)`,
		&h.expiredRows: `SELECT run_id, payload FROM sessions WHERE ` + statusExpr + ` = ? AND ` + expiryExpr + ` <= ?`,
	} {
		if *stmt, err = h.conn.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// refuseUnrecovered refuses a database that isn't ours before a connection that
// may write takes over its -wal: closing that would move the -wal into the file.
func refuseUnrecovered(ctx context.Context, path string, header []byte) error {
	if !exists(path + "-wal") {
		return nil
	}
	r, err := openReadOnly(ctx, path, header)
	if Is(err, NotRegular) {
		return err
	}
	if err != nil {
		return nil // no room for a copy, say: that must not keep a good store shut
	}
	defer r.Close()
	var u *Unusable
	if _, err := checkSchema(ctx, r.db, path); errors.As(err, &u) {
		return u
	}
	return nil // whatever else is wrong, opening it for writing tells better
}

func useWAL(ctx context.Context, db *sql.DB, path string) error {
	var mode string
	if err := db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return err
	}
	var level int
	if err := db.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&level); err != nil {
		return err
	}
	const full = 2
	if mode != "wal" || level != full {
		return &Unusable{Reason: ReadOnly, Path: path}
	}
	return nil
}

type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// checkSchema reads which tables the file has. It is empty when it has none;
// otherwise they must be ours, in our version.
func checkSchema(ctx context.Context, db querier, path string) (empty bool, err error) {
	var tables, ours int
	err = db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(type = 'table' AND name IN ('session_store_metadata', 'sessions')), 0)
		FROM sqlite_master WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\'`).Scan(&tables, &ours)
	if err != nil {
		return false, err
	}
	if tables == 0 {
		return true, nil
	}
	foreign := &Unusable{Reason: ForeignSchema, Path: path}
	if ours != 2 {
		return false, foreign
	}
	for table, want := range map[string]string{
		"session_store_metadata": "schema_version",
		"sessions":               "run_id,payload",
	} {
		var columns string
		err := db.QueryRowContext(ctx, `SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info(?) ORDER BY cid)`, table).Scan(&columns)
		if err != nil {
			return false, err
		}
		if columns != want {
			return false, foreign
		}
	}
	var rows int
	var stored any
	err = db.QueryRowContext(ctx, `SELECT count(*), max(schema_version) FROM session_store_metadata`).Scan(&rows, &stored)
	if err != nil {
		return false, err
	}
	switch version, ok := stored.(int64); {
	case ok && version > SchemaVersion:
		return false, &Unusable{Reason: NewerSchema, Path: path}
	case !ok || version != SchemaVersion || rows != 1:
		return false, foreign
	}
	return false, nil
}

// prepareSchema creates the tables in an empty file and the index where it is
// missing.
func (h *handle) prepareSchema(ctx context.Context, path string, empty bool) error {
	if !empty {
		if indexed, err := hasIndex(ctx, h.write); err != nil || indexed {
			return err
		}
	}
	// Where another process writes this gives BUSY; opening is tried again then.
	tx, err := h.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if empty {
		// Another process may have been faster.
		if empty, err = checkSchema(ctx, tx, path); err != nil {
			return err
		}
	}
	if empty {
		_, err = tx.ExecContext(ctx, `
			CREATE TABLE session_store_metadata (schema_version INTEGER NOT NULL);
			CREATE TABLE sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL);
			INSERT INTO session_store_metadata (schema_version) VALUES (1)`)
		if err != nil {
			return err
		}
	}
	if indexed, err := hasIndex(ctx, tx); err != nil || indexed {
		return err
	}
	if _, err := tx.ExecContext(ctx, `CREATE INDEX sessions_by_status ON sessions (`+statusExpr+`, `+expiryExpr+`, run_id)`); err != nil {
		return err
	}
	return tx.Commit()
}

func hasIndex(ctx context.Context, db querier) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = 'sessions_by_status'`).Scan(&n)
	return n > 0, err
}

// reportBadRows tells of rows that are no session even at a glance. s.mu is held.
func (s *Store) reportBadRows(ctx context.Context) {
	var n int
	err := s.db.conn.QueryRowContext(ctx, `SELECT count(*) FROM sessions WHERE `+statusExpr+` IS NULL`).Scan(&n)
	if err == nil && n > 0 {
		s.warn(&BadRows{Count: n})
	}
}

// begin begins an immediate transaction and waits for other processes to end
// theirs. SQLite's own waiting sleeps for up to 100 ms at a time, and a process
// with much to write could keep another out for as long as it liked.
func (h *handle) begin(ctx context.Context) error {
	const longest = 4 * time.Millisecond
	deadline := time.Now().Add(busyTimeout)
	for wait := 100 * time.Microsecond; ; wait = min(2*wait, longest) {
		_, err := h.beginTx.ExecContext(ctx)
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(wait/2 + rand.N(wait)) // #nosec G404 -- how long to wait is no secret
	}
}

// transaction runs f in one immediate transaction. When f returns an error the
// transaction is rolled back, unless keep says that what was done so far stays;
// committed tells which it was. f may be run a second time. s.mu is held.
func (s *Store) transaction(ctx context.Context, f func(context.Context, *handle) (keep bool, err error)) (committed bool, err error) {
	// A transition that has begun is carried through: a cancelled request must
	// not leave the host guessing.
	ctx = context.WithoutCancel(ctx)
	before := s.db
	committed, err = s.attempt(ctx, f)
	var u *Unusable
	if before != nil && s.db == nil && errors.As(err, &u) && u.Reason == ReadOnly {
		// SQLite opens for reading what it can't write, and a connection stays
		// that way when the file can be written again.
		committed, err = s.attempt(ctx, f)
	}
	return committed, err
}

func (s *Store) attempt(ctx context.Context, f func(context.Context, *handle) (keep bool, err error)) (committed bool, err error) {
	h, err := s.handle(ctx)
	if err != nil {
		return false, err
	}
	if err := h.begin(ctx); err != nil {
		if !isBusy(err) {
			s.drop()
		}
		return false, unusable(s.path, err)
	}
	ended := false
	defer func() {
		if !ended {
			s.drop() // whatever state the connection is in, it is not used again
		}
	}()
	active, stopped, audited := h.active, h.stopped, h.audited
	keep, ferr := f(ctx, h)
	if ferr != nil && !keep {
		_, err := h.rollbackTx.ExecContext(ctx)
		h.active, h.stopped, h.audited = active, stopped, audited
		ended = err == nil && resultCode(ferr) == 0
		return false, ferr
	}
	if _, err := h.commitTx.ExecContext(ctx); err != nil {
		return false, unusable(s.path, err)
	}
	ended = true
	return true, ferr
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, session review.Session, now time.Time, limit int) error {
	payload, err := session.MarshalJSON()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var leaving leaving
	committed, err := s.transaction(ctx, func(ctx context.Context, h *handle) (bool, error) {
		leaving = leavingFrom(s.retained)
		if err := h.purge(ctx, now); err != nil {
			return false, unusable(s.path, err)
		}
		for leaving.more && leaving.next.Expired(now) {
			leaving.add()
		}
		if err := h.makeRoom(ctx, &leaving, limit); err != nil {
			if errors.Is(err, store.ErrFull) {
				return true, err // what has expired is gone all the same
			}
			return false, unusable(s.path, err)
		}
		if _, err := h.insertRow.ExecContext(ctx, session.RunID, string(payload)); err != nil {
			return false, unusable(s.path, err)
		}
		h.active++
		return true, nil
	})
	if committed {
		for _, runID := range leaving.runIDs {
			s.retained.Remove(runID)
		}
	}
	return err
}

// leaving are the retained sessions that a start drops: those that expire first.
// They stay until it is committed, for a start that fails changes nothing.
type leaving struct {
	retained *store.Memory
	runIDs   []string
	next     review.Session // the one that would be dropped next, if there are more
	more     bool
}

func leavingFrom(retained *store.Memory) leaving {
	l := leaving{retained: retained}
	l.next, l.more = retained.NextIdle(review.Session{})
	return l
}

// add drops the next one.
func (l *leaving) add() {
	l.runIDs = append(l.runIDs, l.next.RunID)
	l.next, l.more = l.retained.NextIdle(l.next)
}

// staying is how many are not dropped.
func (l *leaving) staying() int { return l.retained.Len() - len(l.runIDs) }

// makeRoom evicts sessions until one more fits. It returns store.ErrFull when
// too many are active.
func (h *handle) makeRoom(ctx context.Context, retained *leaving, limit int) error {
	// Mostly there is room to spare, and that can be told without counting.
	if most, ok := h.atMost(ctx); ok && most+int64(retained.staying()) < int64(limit) {
		return nil
	}
	if err := h.count(ctx); err != nil {
		return err
	}
	if h.active+h.stopped+retained.staying() >= limit {
		if err := h.audit(ctx); err != nil {
			return err
		}
	}
	if h.active >= limit {
		return store.ErrFull
	}
	return h.evict(ctx, retained, limit)
}

// atMost returns a number of rows that the file does not exceed: there can't be
// more than the rowids between the first and the last. It costs the same however
// many there are. ok is false when the file does not tell.
func (h *handle) atMost(ctx context.Context) (most int64, ok bool) {
	var span any // no integer where rowids lie further apart than one can say
	if h.spanRows.QueryRowContext(ctx).Scan(&span) != nil {
		return 0, false
	}
	most, ok = span.(int64)
	return most, ok && most >= 0
}

// count makes sure that the counts are those of the file as this transaction
// sees it. They are kept between calls and counted anew only after another
// process has written: counting looks at every row's index entry.
func (h *handle) count(ctx context.Context) error {
	var version int64
	if err := h.conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		return err
	}
	if version == h.version {
		return nil
	}
	err := h.conn.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM sessions WHERE `+statusExpr+` IN ('active', 'awaiting_host_outcome')),
		(SELECT count(*) FROM sessions WHERE `+statusExpr+` IN ('completed', 'partial', 'blocked'))`).Scan(&h.active, &h.stopped)
	if err == nil {
		h.version, h.audited = version, false
	}
	return err
}

// audit leaves the rows that can't be read out of the counts: they take nobody's
// place. It reads every row, and so is only called where room gets scarce, once
// until another process writes again; this one writes no such rows.
func (h *handle) audit(ctx context.Context) error {
	if h.audited {
		return nil
	}
	sessions, _, err := readRows(ctx, h.conn)
	if err != nil {
		return err
	}
	h.active, h.stopped, h.audited = 0, 0, true
	for i := range sessions {
		h.shift(&sessions[i], +1)
	}
	return nil
}

// purge deletes what has expired. Rows that can't be read stay.
func (h *handle) purge(ctx context.Context, now time.Time) error {
	var expired []review.Session
	for _, status := range review.Statuses() {
		rows, err := h.expiredRows.QueryContext(ctx, string(status), now.UTC().Format(secondLayout))
		if err != nil {
			return err
		}
		for rows.Next() {
			var runID, payload any
			if err := rows.Scan(&runID, &payload); err != nil {
				_ = rows.Close()
				return err
			}
			var session review.Session
			if decode(runID, payload, &session) == nil && session.Expired(now) {
				expired = append(expired, session)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	for i := range expired {
		if err := h.remove(ctx, &expired[i]); err != nil {
			return err
		}
	}
	return nil
}

func (h *handle) remove(ctx context.Context, session *review.Session) error {
	if _, err := h.deleteRow.ExecContext(ctx, session.RunID); err != nil {
		return err
	}
	h.shift(session, -1)
	return nil
}

func (h *handle) shift(session *review.Session, by int) {
	if session.CountsAsActive() {
		h.active += by
	} else {
		h.stopped += by
	}
}

// evict makes room for one more session: the oldest goes first, be it a stopped
// row or a finalized session in this process's memory.
func (h *handle) evict(ctx context.Context, retained *leaving, limit int) error {
	for h.active+h.stopped+retained.staying()+1 > limit {
		var row review.Session
		found, err := h.oldestStopped(ctx, &row)
		if err != nil {
			return err
		}
		switch {
		case retained.more && (!found || before(&retained.next, &row)):
			retained.add()
		case found:
			if err := h.remove(ctx, &row); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

func before(a, b *review.Session) bool {
	if !a.ExpiresAt.Equal(b.ExpiresAt) {
		return a.ExpiresAt.Before(b.ExpiresAt)
	}
	return a.RunID < b.RunID
}

// oldestStopped finds the readable stopped row that expires first.
func (h *handle) oldestStopped(ctx context.Context, oldest *review.Session) (bool, error) {
	found := false
	for _, status := range review.Outcomes() {
		// The index orders by whole seconds: every row of the first second with a
		// readable one is looked at.
		rows, err := h.conn.QueryContext(ctx, `SELECT run_id, payload, `+expiryExpr+` FROM sessions WHERE `+statusExpr+` = ? ORDER BY `+expiryExpr+`, run_id`, string(status))
		if err != nil {
			return false, err
		}
		second, seen := "", false
		for rows.Next() {
			var runID, payload any
			var at sql.NullString
			if err := rows.Scan(&runID, &payload, &at); err != nil {
				_ = rows.Close()
				return false, err
			}
			if seen && at.String != second {
				break
			}
			var session review.Session
			if decode(runID, payload, &session) != nil {
				continue
			}
			second, seen = at.String, true
			if !found || before(&session, oldest) {
				*oldest, found = session, true
			}
		}
		_ = rows.Close()
		if err := rows.Err(); err != nil {
			return false, err
		}
	}
	return found, nil
}

// decode reads a row as the driver gives it: both columns must be text (a key of
// another type is never found by its id), and the payload the session that the
// key names.
func decode(runID, payload any, s *review.Session) error {
	id, ok := runID.(string)
	text, ok2 := payload.(string)
	if !ok || !ok2 {
		return review.ErrMalformed
	}
	if err := s.UnmarshalJSON([]byte(text)); err != nil {
		return err
	}
	if s.RunID != id {
		return review.ErrMalformed
	}
	return nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, runID string) (review.Session, error) {
	if session, err := s.retained.Get(ctx, runID); err == nil {
		return session, nil
	}
	s.mu.Lock()
	h, err := s.reader(ctx)
	s.mu.Unlock()
	if err != nil {
		return review.Session{}, err
	}
	session, err := s.row(h.readRow.QueryRowContext(ctx, runID), runID)
	if errors.Is(err, store.ErrNotFound) {
		// Finalizing it takes the row away first: whoever does that here has to
		// come to the end of it.
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.retained.Get(ctx, runID)
	}
	return session, err
}

// reader returns the open file with its reading connection ready. s.mu is held.
func (s *Store) reader(ctx context.Context) (*handle, error) {
	h, err := s.handle(ctx)
	if err != nil {
		return nil, err
	}
	if h.readRow == nil {
		if err := connect(ctx, h.read, s.path); err != nil {
			return nil, unusable(s.path, err)
		}
		if h.readRow, err = h.read.PrepareContext(ctx, `SELECT payload FROM sessions WHERE run_id = ?`); err != nil {
			return nil, unusable(s.path, err)
		}
	}
	return h, nil
}

func (s *Store) row(row *sql.Row, runID string) (review.Session, error) {
	var payload any
	switch err := row.Scan(&payload); {
	case errors.Is(err, sql.ErrNoRows):
		return review.Session{}, store.ErrNotFound
	case err != nil:
		return review.Session{}, unusable(s.path, err)
	}
	var session review.Session
	if err := decode(runID, payload, &session); err != nil {
		return review.Session{}, &Unusable{Reason: BadRow, Path: s.path, Err: err}
	}
	return session, nil
}

// Update implements store.Store. A session that change finalizes loses its row
// and stays in this process's memory.
func (s *Store) Update(ctx context.Context, runID string, change func(review.Session) (review.Session, error)) (review.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if session, err := s.retained.Get(ctx, runID); err == nil {
		return s.updateRetained(session, change)
	}
	var next review.Session
	_, err := s.transaction(ctx, func(ctx context.Context, h *handle) (bool, error) {
		old, err := s.row(h.selectRow.QueryRowContext(ctx, runID), runID)
		if err != nil {
			return false, err
		}
		if next, err = change(old); err != nil {
			return false, err
		}
		if next.Finalized {
			if err := h.remove(ctx, &old); err != nil {
				return false, unusable(s.path, err)
			}
			return true, nil
		}
		payload, err := next.MarshalJSON()
		if err != nil {
			return false, err
		}
		if _, err := h.updateRow.ExecContext(ctx, string(payload), runID); err != nil {
			return false, unusable(s.path, err)
		}
		h.shift(&old, -1)
		h.shift(&next, +1)
		return true, nil
	})
	if err != nil {
		return review.Session{}, err
	}
	if next.Finalized {
		s.retained.Put(next)
	}
	return next, nil
}

// updateRetained applies change to a finalized session: that can only be a
// repeated finish, which changes nothing, or an error.
func (s *Store) updateRetained(session review.Session, change func(review.Session) (review.Session, error)) (review.Session, error) {
	next, err := change(session)
	if err != nil {
		return review.Session{}, err
	}
	s.retained.Put(next)
	return next, nil
}

// List implements store.Store. Sessions that this process finalized are listed too;
// none is finalized while it reads, which would show it twice or not at all.
func (s *Store) List(ctx context.Context, now time.Time) ([]review.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	rows, bad, err := readRows(ctx, h.read)
	if err != nil {
		return nil, unusable(s.path, err)
	}
	if bad > 0 {
		s.warn(&BadRows{Count: bad})
	}
	kept, err := s.retained.List(ctx, now)
	if err != nil {
		return nil, err
	}
	return newestFirst(append(rows, kept...), now), nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
	return nil
}
