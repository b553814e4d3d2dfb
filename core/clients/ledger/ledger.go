// Package ledger changes files that belong to others so that it can be undone to
// the byte: it keeps what a file was before our first change, and knows whether
// anybody else has changed it since. Changes of one file wait for each other,
// and a reader sees the old bytes or the new ones.
package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/core/regular"
)

// Limit is the size in bytes above which a file is not touched.
const Limit = 16 << 20

// lockWait bounds how long a change waits for another one of the same file.
const lockWait = 30 * time.Second

// lockPoll is how often it looks.
const lockPoll = 10 * time.Millisecond

// ErrChanged is returned when somebody else wrote the file while a change of it
// was made. Nothing was written; the change can be made anew.
var ErrChanged = errors.New("the file was changed by another program meanwhile")

// ErrBusy is returned when another change of the same file does not end.
var ErrBusy = errors.New("another change of the same file is under way")

// Ledger keeps its notes in Dir: for each file a lock, and while something of
// ours is in it a note and one backup of what it was before.
type Ledger struct{ Dir string }

// note is what is known about a file that we changed.
type note struct {
	Path    string `json:"path"`
	Existed bool   `json:"existed"`
	// Exact says that the backup is what the file was before anything of ours
	// was in it.
	Exact bool `json:"exact"`
	// Table says that the table which holds our entries is ours too.
	Table    bool   `json:"table"`
	Original string `json:"original_sha256"`
	// Current is the file as we left it, Before as it was until then: the note is
	// written first, and this process may end before the file is.
	Current string   `json:"current_sha256"`
	Before  string   `json:"before_sha256,omitempty"`
	Folders []string `json:"folders"` // that we made, the outermost first
}

// File is a file under the lock of a ledger.
type File struct {
	Path    string
	Data    []byte // as it is now; nil if it does not exist
	Existed bool   // when it was opened

	ledger   Ledger
	target   string // behind links
	key      string
	opened   []byte
	isThere  bool
	lock     *flock.Flock
	note     note
	hasNote  bool
	prepared bool
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// file names the file at path, without looking into it.
func (l Ledger) file(path string) (*File, error) {
	target, err := regular.Resolve(path)
	if err != nil {
		return nil, err
	}
	if abs, err := filepath.Abs(target); err == nil {
		target = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(target)); err == nil {
		target = filepath.Join(dir, filepath.Base(target))
	}
	return &File{Path: path, ledger: l, target: target, key: sum([]byte(target))[:16]}, nil
}

// Open locks a file, which need not exist, and reads it.
func (l Ledger) Open(ctx context.Context, path string) (*File, error) {
	f, err := l.file(path)
	if err != nil {
		return nil, err
	}
	if err := regular.Folder(l.Dir); err != nil {
		return nil, err
	}
	if f.lock, err = regular.NewLock(filepath.Join(l.Dir, f.key+".lock")); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if ok, err := f.lock.TryLockContext(ctx, lockPoll); err != nil || !ok {
		if errors.Is(err, context.DeadlineExceeded) {
			err = ErrBusy
		}
		return nil, err
	}
	if err := f.Refresh(); err != nil {
		f.Close()
		return nil, err
	}
	f.opened, f.Existed = f.Data, f.isThere
	f.readNote()
	return f, nil
}

// Peek reads a file without locking or noting anything; nil if it does not exist.
func Peek(path string) ([]byte, error) {
	data, err := atomicfile.Read(path, Limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// Close lets go of the file.
func (f *File) Close() { _ = f.lock.Unlock() }

// Refresh reads the file again.
func (f *File) Refresh() error {
	data, err := atomicfile.Read(f.target, Limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Data, f.isThere = nil, false
		return nil
	case err != nil:
		return err
	}
	f.Data, f.isThere = data, true
	return nil
}

func (f *File) notePath() string { return filepath.Join(f.ledger.Dir, f.key+".json") }

func (f *File) backupPath() string {
	return filepath.Join(f.ledger.Dir, f.key+"-"+filepath.Base(f.target))
}

func (f *File) readNote() {
	data, err := atomicfile.Read(f.notePath(), Limit)
	if err != nil || json.Unmarshal(data, &f.note) != nil || f.note.Path != f.target {
		f.note = note{}
		return
	}
	f.hasNote = true
}

// untouched reports whether the file is as we left it.
func (f *File) untouched() bool {
	if !f.hasNote || !f.isThere {
		return false
	}
	now := sum(f.opened)
	return now == f.note.Current || now == f.note.Before
}

// TableIsOurs reports whether the table that holds our entries was made by us.
func (f *File) TableIsOurs() bool { return f.hasNote && f.note.Table }

// Prepare keeps what the file was when it was opened, before it is changed.
// pristine says that nothing of ours was in it, table that the table for our
// entries is not there yet. It returns where the backup is; empty if there was
// nothing to keep.
func (f *File) Prepare(pristine, table bool) (backup string, err error) {
	f.prepared = true
	if !f.untouched() {
		kept := f.hasNote && f.note.Table && !pristine
		f.note = note{
			Path: f.target, Existed: f.Existed, Exact: pristine, Table: table || kept, Original: sum(f.opened), Folders: f.note.Folders,
		}
		if f.Existed {
			if err := atomicfile.Replace(f.backupPath(), f.opened); err != nil {
				return "", err
			}
		} else {
			_ = os.Remove(f.backupPath())
		}
	}
	if !f.note.Existed {
		return "", nil
	}
	return f.backupPath(), nil
}

// Put makes the file what after says. mode is for a file that did not exist,
// less what the person's umask takes away, and decides who may look into folders
// that must be made for it.
func (f *File) Put(after []byte, mode fs.FileMode) error {
	if !f.prepared {
		panic("ledger: Put before Prepare")
	}
	if f.isThere {
		info, err := os.Stat(f.target)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	} else {
		for _, dir := range missingFolders(filepath.Dir(f.target)) {
			if !slices.Contains(f.note.Folders, dir) {
				f.note.Folders = append(f.note.Folders, dir)
			}
		}
	}
	// First the note: whatever of the rest is done, it can be taken back then.
	if err := f.writeNote(after); err != nil {
		return err
	}
	if !f.isThere {
		perm := fs.FileMode(0o700)
		if mode&0o044 != 0 {
			perm = 0o755
		}
		if err := os.MkdirAll(filepath.Dir(f.target), perm); err != nil {
			return err
		}
	}
	return f.write(after, mode)
}

// write replaces the file unless somebody else did so meanwhile.
func (f *File) write(after []byte, mode fs.FileMode) error {
	known, was := f.Data, f.isThere
	if err := f.Refresh(); err != nil {
		return err
	}
	if f.isThere != was || !bytes.Equal(f.Data, known) {
		return ErrChanged
	}
	if f.isThere && bytes.Equal(after, known) {
		return nil
	}
	put := atomicfile.Write // an existing file keeps its mode exactly
	if !f.isThere {
		put = atomicfile.WriteShared
	}
	if err := put(f.target, after, mode); err != nil {
		return err
	}
	f.Data, f.isThere = after, true
	return nil
}

// writeNote notes that the file becomes what after says.
func (f *File) writeNote(after []byte) error {
	f.note.Current, f.note.Before = sum(after), ""
	if f.isThere {
		f.note.Before = sum(f.Data)
	}
	data, err := json.MarshalIndent(f.note, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Replace(f.notePath(), append(data, '\n'))
}

// missingFolders returns dir and the folders above it that do not exist, the
// outermost first.
func missingFolders(dir string) []string {
	var out []string
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return out
		}
		out = append([]string{dir}, out...)
		parent := filepath.Dir(dir)
		if parent == dir {
			return out
		}
		dir = parent
	}
}

// Undo takes a change of ours back. after is the file without it, for the case
// that others changed the file; last says that nothing of ours is left in after
// then. Where nobody else changed the file and nothing of ours is left, it
// becomes what it was before, to the byte; if it did not exist, it goes, and so
// do folders made for it. exact reports whether that was so. empty says that
// after holds nothing: then a file that did not exist before goes too.
func (f *File) Undo(after []byte, last, empty bool) (exact bool, err error) {
	if !f.isThere {
		return true, f.forget()
	}
	info, err := os.Stat(f.target)
	if err != nil {
		return false, err
	}
	mode := info.Mode().Perm()
	if last && f.untouched() && f.note.Exact {
		if !f.note.Existed {
			return true, f.remove()
		}
		original, err := atomicfile.Read(f.backupPath(), Limit)
		if err == nil && sum(original) == f.note.Original {
			if err := f.write(original, mode); err != nil {
				return false, err
			}
			return true, f.forget()
		}
	}
	if last && empty && f.hasNote && f.note.Exact && !f.note.Existed {
		return false, f.remove()
	}
	if !last && f.untouched() {
		if err := f.writeNote(after); err != nil {
			return false, err
		}
	}
	if err := f.write(after, mode); err != nil || !last {
		return false, err
	}
	return false, f.forget()
}

// Settle ends an undoing of the file at path that was cut short, if there was
// one: nothing is kept of a file that has nothing of ours, as free tells, and
// folders made for one that is gone go too.
func (l Ledger) Settle(ctx context.Context, path string, free func(data []byte) (bool, error)) error {
	f, err := l.file(path)
	if err != nil {
		return err
	}
	kept := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	if !kept(f.notePath()) && !kept(f.backupPath()) {
		return nil // no lock, no folder
	}
	if f, err = l.Open(ctx, path); err != nil {
		return err
	}
	defer f.Close()
	if ok, err := free(f.Data); err != nil || !ok {
		return err
	}
	if !f.isThere && f.hasNote && !f.note.Existed {
		return f.remove()
	}
	return f.forget()
}

// remove deletes a file that we made, and the folders made for it.
func (f *File) remove() error {
	if err := os.Remove(f.target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	atomicfile.Sweep(f.target)
	for i := len(f.note.Folders) - 1; i >= 0; i-- {
		if isAbove(f.note.Folders[i], f.target) { // a damaged note could name anything
			_ = os.Remove(f.note.Folders[i]) // one that others use is not empty and stays
		}
	}
	return f.forget()
}

// isAbove reports whether folder is one that path lies in.
func isAbove(folder, path string) bool {
	return folder == filepath.Clean(folder) && strings.HasPrefix(path, folder+string(filepath.Separator))
}

// forget drops the note and the backup.
func (f *File) forget() error {
	for _, path := range []string{f.notePath(), f.backupPath()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		atomicfile.Sweep(path)
	}
	return nil
}
