package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/qa-orch/qa-orch/core/regular"
	"github.com/qa-orch/qa-orch/core/review"
)

// Inspector reads a store that it never changes, whether a server writes to it
// meanwhile or none runs. It is not safe for concurrent use.
type Inspector struct {
	path string
	*reading
	info fs.FileInfo // of the file that was opened

	version int64 // data version of the last Changed; -1 before the first
	stamp   stamp // while nobody writes: what the files looked like when opened
}

// Inspect opens the file at path for reading. The error is an *Unusable.
// Nothing is created beside the database and no byte of it is changed.
func Inspect(ctx context.Context, path string) (*Inspector, error) {
	in := &Inspector{path: path}
	if err := in.open(ctx); err != nil {
		return nil, unusable(path, err)
	}
	return in, nil
}

func (in *Inspector) open(ctx context.Context) error {
	info, header, err := checkFile(in.path)
	if err != nil {
		return err
	}
	if !exists(in.path+"-wal") && !isWAL(header) && hotJournal(in.path) {
		return &Unusable{Reason: HotJournal, Path: in.path}
	}
	seen := stampOf(in.path)
	r, err := openReadOnly(ctx, in.path, header)
	if err != nil {
		return err
	}
	if _, err := checkSchema(ctx, r.db, in.path); err != nil {
		_ = r.Close()
		return err
	}
	in.reading, in.info, in.stamp, in.version = r, info, seen, -1
	return nil
}

// reading is a database opened so that nothing on disk changes.
type reading struct {
	db    *sql.DB
	still bool   // nobody writes to what db reads: a writer has to be noticed from outside
	copy  string // folder of the copy that db reads, "" when it reads the file itself
}

// openReadOnly opens the database without recovery and without making side files.
//
//   - With -wal and -shm a server runs or was killed: SQLite reads beside it and
//     is told to leave the shared index alone.
//   - In WAL mode with nothing in the -wal, or none, all is in the file itself,
//     which is read as a plain file. SQLite would otherwise create side files, or
//     try for ten seconds to make sense of a -wal that was cut off at its header.
//   - A -wal without -shm was left by a copy or a restart of the machine. SQLite
//     can't read that without making a -shm, so a copy is read.
//   - In any other mode there are no side files.
func openReadOnly(ctx context.Context, path string, header []byte) (*reading, error) {
	q := url.Values{}
	q.Set("_busy_timeout", "1000")
	q.Set("_query_only", "1")
	q.Set("mode", "ro")
	r := &reading{}
	switch frames := hasFrames(path); {
	case frames && !exists(path+"-shm"):
		folder, err := copyOf(path)
		if err != nil {
			return nil, &Unusable{Reason: Failed, Path: path, Err: fmt.Errorf("copying it to read it: %w", err)}
		}
		r.still, r.copy, path = true, folder, filepath.Join(folder, copyName)
		q.Set("mode", "rw")
	case frames:
		q.Set("readonly_shm", "1")
	case isWAL(header):
		r.still = true
		q.Set("immutable", "1")
	}
	var err error
	if r.db, err = sql.Open("sqlite", uri(path, q)); err != nil {
		r.removeCopy()
		return nil, err
	}
	r.db.SetMaxOpenConns(1)
	if err := connect(ctx, r.db, path); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// Close lets go of the file.
func (r *reading) Close() error {
	err := r.db.Close()
	r.removeCopy()
	return err
}

func (r *reading) removeCopy() {
	if r.copy != "" {
		_ = os.RemoveAll(r.copy)
	}
}

const copyName = "store"

// copyOf copies the database and its -wal into a new private folder.
func copyOf(path string) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "qa-orch-"); err != nil {
		return "", err
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(filepath.Join(folder, copyName+suffix), path+suffix); err != nil {
			_ = os.RemoveAll(folder)
			return "", err
		}
	}
	return folder, nil
}

func copyFile(to, from string) error {
	in, err := regular.OpenHere(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- in a folder that was just made for it
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// hasFrames reports whether the -wal holds more than its own header.
func hasFrames(path string) bool {
	const headerSize = 32
	f, err := regular.OpenHere(path + "-wal")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil || info.Size() <= headerSize {
		return false
	}
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil {
		return false
	}
	return binary.BigEndian.Uint32(magic[:])&^1 == 0x377f0682
}

func isWAL(header []byte) bool { return len(header) > walOffset && header[walOffset] == 2 }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// stamp is what a database and its side files look like from outside.
type stamp struct {
	size, walSize       int64
	modified, walChange time.Time
	shm                 bool
}

func stampOf(path string) stamp {
	st := stamp{size: -1, walSize: -1, shm: exists(path + "-shm")}
	if info, err := os.Lstat(path); err == nil {
		st.size, st.modified = info.Size(), info.ModTime()
	}
	if info, err := os.Lstat(path + "-wal"); err == nil {
		st.walSize, st.walChange = info.Size(), info.ModTime()
	}
	return st
}

// hotJournal reports whether a rollback journal waits to be played back, which
// only a writer can do. A journal that SQLite is done with is empty or zeroed.
func hotJournal(path string) bool {
	f, err := regular.OpenHere(path + "-journal")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
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
	if err := in.follow(ctx); err != nil {
		return Rows{}, err
	}
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
// on the first. It costs well under a millisecond.
func (in *Inspector) Changed(ctx context.Context) (bool, error) {
	if err := in.follow(ctx); err != nil {
		return true, err
	}
	if in.still {
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

// follow opens the file again where it was replaced, where a server has started
// or gone, and where a file that nobody was writing to has changed.
func (in *Inspector) follow(ctx context.Context) error {
	info, err := os.Lstat(in.path)
	if err != nil {
		return unusable(in.path, err)
	}
	now := stampOf(in.path)
	if os.SameFile(info, in.info) && (now.walSize >= 0) == (in.stamp.walSize >= 0) && (!in.still || now == in.stamp) {
		return nil
	}
	_ = in.reading.Close()
	in.info = nil // until it opens again no file is the one that was opened
	return unusable(in.path, in.open(ctx))
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
