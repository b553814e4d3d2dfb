package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/qa-orch/qa-orch/core/review"
)

// Inspector reads a store that it never changes, whether a server writes to it
// meanwhile or none runs. It is not safe for concurrent use.
type Inspector struct {
	path   string
	db     *sql.DB
	info   fs.FileInfo // of the file that was opened
	frozen bool        // opened as a file that nobody writes to

	version int64       // data version of the last Changed
	stamp   fs.FileInfo // while frozen: what the file looked like then
}

// Inspect opens the file at path for reading. The error is an *Unusable.
//
// Nothing is created and no byte of the database is changed: while a -wal file
// exists, a server runs or was killed, and the database is opened read-only
// beside it; without one nobody has it open in that mode, and it is read as a
// plain file, because SQLite would otherwise create side files.
func Inspect(ctx context.Context, path string) (*Inspector, error) {
	in := &Inspector{path: path}
	if err := in.open(ctx); err != nil {
		return nil, unusable(path, err)
	}
	return in, nil
}

func (in *Inspector) open(ctx context.Context) (err error) {
	info, header, err := checkFile(in.path)
	if err != nil {
		return err
	}
	q := url.Values{}
	q.Set("mode", "ro")
	q.Set("_busy_timeout", "1000")
	q.Set("_query_only", "1")
	wal := exists(in.path + "-wal")
	in.frozen = !wal && len(header) > walOffset && header[walOffset] == 2
	switch {
	case in.frozen:
		q.Set("immutable", "1")
	case !wal && hotJournal(in.path):
		return &Unusable{Reason: HotJournal, Path: in.path}
	}
	db, err := sql.Open("sqlite", uri(in.path, q))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			db.Close()
		}
	}()
	db.SetMaxOpenConns(1)
	if _, err := checkSchema(ctx, db, in.path); err != nil {
		return err
	}
	in.db, in.info, in.stamp, in.version = db, info, info, -1
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// hotJournal reports whether a rollback journal waits to be played back, which
// only a writer can do. A journal that SQLite is done with is empty or zeroed.
func hotJournal(path string) bool {
	f, err := os.Open(path + "-journal")
	if err != nil {
		return false
	}
	defer f.Close()
	var first [1]byte
	n, _ := f.Read(first[:])
	return n == 1 && first[0] != 0
}

// Rows is what a store holds.
type Rows struct {
	Sessions []review.Session // newest expiry first
	Bad      int              // rows that can't be read
}

// Rows reads the store: the sessions that have not expired at now. An empty
// file has none.
func (in *Inspector) Rows(ctx context.Context, now time.Time) (Rows, error) {
	empty, err := checkSchema(ctx, in.db, in.path)
	if err != nil {
		return Rows{}, unusable(in.path, err)
	}
	if empty {
		return Rows{}, nil
	}
	sessions, bad, err := readRows(ctx, in.db)
	if err != nil {
		return Rows{}, unusable(in.path, err)
	}
	return Rows{Sessions: newestFirst(sessions, now), Bad: bad}, nil
}

// Changed reports whether the store may have changed since the last call, true
// on the first. It reopens the file where it was replaced or where a server has
// started or gone since. It costs well under a millisecond.
func (in *Inspector) Changed(ctx context.Context) (bool, error) {
	info, err := os.Lstat(in.path)
	if err != nil {
		return true, unusable(in.path, err)
	}
	stale := !os.SameFile(info, in.info) || in.frozen && exists(in.path+"-wal") ||
		in.frozen && (info.Size() != in.stamp.Size() || !info.ModTime().Equal(in.stamp.ModTime()))
	if stale {
		in.db.Close()
		if err := in.open(ctx); err != nil {
			return true, unusable(in.path, err)
		}
	}
	if in.frozen {
		first := in.version == -1
		in.version = 0
		return first, nil
	}
	var version int64
	if err := in.db.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		return true, unusable(in.path, err)
	}
	changed := version != in.version
	in.version = version
	return changed, nil
}

// Integrity runs SQLite's own check over the whole file. A damaged file gives
// an *Unusable with Damaged.
func (in *Inspector) Integrity(ctx context.Context) error {
	var result string
	err := in.db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&result)
	if err != nil {
		return unusable(in.path, err)
	}
	if result != "ok" {
		return &Unusable{Reason: Damaged, Path: in.path, Err: errors.New(result)}
	}
	return nil
}

// Close lets go of the file.
func (in *Inspector) Close() error { return in.db.Close() }
