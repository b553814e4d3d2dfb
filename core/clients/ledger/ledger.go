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
	"maps"
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
// ours is in it a note and one backup of what it is without that.
type Ledger struct{ Dir string }

// note is what is known about a file that we changed. It is written before the
// file is, and this process may end between the two: so it tells both what the
// file becomes and what it was until then.
type note struct {
	Path    string `json:"path"`
	Existed bool   `json:"existed"` // there was a file before, and so there is a backup
	// Exact says that the backup is what the file was before anything of ours
	// was in it, and not what it would be now that others changed it, too.
	Exact bool `json:"exact"`
	// Table says that the table which holds our entries is ours too.
	Table    bool     `json:"table"`
	Original string   `json:"original_sha256"` // of the backup
	Folders  []string `json:"folders"`         // that we made, the outermost first
	// Current is the file as we left it. Ours are the names under which something
	// of ours is in it, each with the mark by which we know it again.
	Current string            `json:"current_sha256"`
	Ours    map[string]string `json:"ours"`
	// The same as it was until then.
	Before     string            `json:"before_sha256,omitempty"`
	OursBefore map[string]string `json:"ours_before"`
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
	ours     map[string]string // what is in the file
	hasNote  bool
	original []byte // the backup
	whole    bool   // the backup is what the note says
	prepared bool
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// isSum reports whether text is what sum returns.
func isSum(text string) bool {
	h, err := hex.DecodeString(text)
	return err == nil && len(h) == sha256.Size
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

// backupPath has the content in its name: a new backup is written beside the old
// one, which goes once the note names the new one.
func (f *File) backupPath() string {
	return filepath.Join(f.ledger.Dir, f.backupPrefix()+f.note.Original[:8]+"-"+filepath.Base(f.target))
}

func (f *File) backupPrefix() string { return f.key + "-" }

// lostPath is where a backup stays that has what could not be put back.
func (f *File) lostPath() string {
	return filepath.Join(f.ledger.Dir, f.key+".before-"+filepath.Base(f.target))
}

func (f *File) readNote() {
	data, err := atomicfile.Read(f.notePath(), Limit)
	if err != nil || json.Unmarshal(data, &f.note) != nil || f.note.Path != f.target || !isSum(f.note.Original) {
		f.note = note{}
		return
	}
	f.hasNote, f.ours = true, f.note.Ours
	if f.is(f.note.Before) && !f.is(f.note.Current) || !f.isThere && f.note.Before == "" {
		f.ours = f.note.OursBefore // what the note tells of was not done
	}
	if !f.note.Existed {
		f.whole = true
		return
	}
	f.original, err = atomicfile.Read(f.backupPath(), Limit)
	f.whole = err == nil && sum(f.original) == f.note.Original
}

// is reports whether the file was of that sum when it was opened.
func (f *File) is(hash string) bool { return f.isThere && sum(f.opened) == hash }

// Untouched reports whether nobody else has changed the file since something of
// ours came in, and what it is without that is known.
func (f *File) Untouched() bool {
	return f.hasNote && f.whole && (f.is(f.note.Current) || f.is(f.note.Before) || f.note.Existed && f.is(f.note.Original))
}

// Original returns what the file is without anything of ours, as far as we know;
// nil if there is none then. It reports whether that is known.
func (f *File) Original() ([]byte, bool) { return f.original, f.hasNote && f.whole }

// Made reports whether the file did not exist before something of ours came in.
func (f *File) Made() bool { return f.hasNote && !f.note.Existed }

// TableIsOurs reports whether the table that holds our entries was made by us.
func (f *File) TableIsOurs() bool { return f.hasNote && f.note.Table }

// Ours returns the names under which something of ours is in the file, in order.
func (f *File) Ours() []string { return slices.Sorted(maps.Keys(f.ours)) }

// Holds reports whether something of ours is in the file under that name, and
// its mark.
func (f *File) Holds(name string) (mark string, ok bool) {
	mark, ok = f.ours[name]
	return mark, ok
}

// Keep notes what the file is without anything of ours; nil if there is no file
// then. ours are the names of what has to be taken out for that, table says that
// the table for our entries is not there yet. It counts from the next Announce or
// Put on.
func (f *File) Keep(original []byte, table bool, ours []string) error {
	f.prepared = true
	marks := map[string]string{}
	for _, name := range ours {
		marks[name] = f.ours[name]
	}
	f.original, f.whole, f.hasNote, f.ours = original, true, true, marks
	f.note = note{
		Path: f.target, Existed: original != nil, Exact: bytes.Equal(original, f.opened), Table: table,
		Original: sum(original), Folders: f.note.Folders, OursBefore: marks,
	}
	if original == nil {
		return nil
	}
	return atomicfile.Replace(f.backupPath(), original)
}

// Claim says that the file gets something of ours under a name: the note says so
// from the next Announce or Put on. It returns where the backup is; empty if there
// was nothing to keep. Unless the file is untouched, Keep comes first.
func (f *File) Claim(name, mark string) (backup string) {
	f.prepared = true
	f.note.OursBefore = f.ours
	f.ours = maps.Clone(f.ours)
	if f.ours == nil {
		f.ours = map[string]string{}
	}
	f.ours[name] = mark
	if !f.note.Existed {
		return ""
	}
	return f.backupPath()
}

// Announce notes what was claimed before another program writes it into the file.
// Put notes it by itself.
func (f *File) Announce() error { return f.writeNote("") }

// Put makes the file what after says. mode is for a file that did not exist,
// less what the person's umask takes away, and decides who may look into folders
// that must be made for it.
func (f *File) Put(after []byte, mode fs.FileMode) error {
	if !f.prepared {
		panic("ledger: Put before Keep or Claim")
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
	if err := f.writeNote(sum(after)); err != nil {
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

// writeNote notes that the file gets that sum, empty if it is not known yet, with
// what is ours now. The note's OursBefore is set already.
func (f *File) writeNote(current string) error {
	f.note.Current, f.note.Before, f.note.Ours = current, "", f.ours
	if f.isThere {
		f.note.Before = sum(f.Data)
	}
	if err := f.saveNote(); err != nil {
		return err
	}
	f.dropBackups(f.backupPath())
	return nil
}

func (f *File) saveNote() error {
	data, err := json.MarshalIndent(f.note, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Replace(f.notePath(), append(data, '\n'))
}

// backups returns the backups of the file.
func (f *File) backups() (paths []string) {
	list, _ := os.ReadDir(f.ledger.Dir)
	for _, e := range list {
		if strings.HasPrefix(e.Name(), f.backupPrefix()) {
			paths = append(paths, filepath.Join(f.ledger.Dir, e.Name()))
		}
	}
	return paths
}

// dropBackups removes the backups of the file but one.
func (f *File) dropBackups(but string) {
	for _, path := range f.backups() {
		if path != but {
			_ = os.Remove(path)
			atomicfile.Sweep(path)
		}
	}
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

// Rest is what a file is without something of ours, for the case that others
// changed it since.
type Rest struct {
	Data  []byte
	Last  bool // nothing of ours is left in Data
	Empty bool // Data holds nothing: a file that did not exist before goes
	Lost  bool // something of before is missing in Data, so the backup stays
}

// Undo takes what has a name out. Where nobody else changed the file and nothing
// of ours is left, it becomes what it was before, to the byte; if it did not
// exist, it goes, and so do folders made for it. exact reports whether that was
// so. backup is where a backup stays.
func (f *File) Undo(name string, rest Rest) (exact bool, backup string, err error) {
	if !f.isThere {
		return true, "", f.forget()
	}
	info, err := os.Stat(f.target)
	if err != nil {
		return false, "", err
	}
	mode := info.Mode().Perm()
	_, held := f.Holds(name)
	untouched := held && f.Untouched()
	switch {
	case rest.Last && held && f.Made() && (untouched || rest.Empty):
		return untouched && f.note.Exact, "", f.remove()
	case rest.Last && untouched:
		if err := f.write(f.original, mode); err != nil {
			return false, "", err
		}
		return f.note.Exact, "", f.forget()
	case rest.Last:
		if err := f.write(rest.Data, mode); err != nil {
			return false, "", err
		}
		if rest.Lost && f.whole && os.Rename(f.backupPath(), f.lostPath()) == nil {
			backup = f.lostPath()
		}
		return false, backup, f.forget()
	}
	f.note.OursBefore = f.ours
	f.ours = maps.Clone(f.ours)
	delete(f.ours, name)
	if untouched {
		if err := f.writeNote(sum(rest.Data)); err != nil {
			return false, "", err
		}
		return false, "", f.write(rest.Data, mode)
	}
	// The note keeps the sums of long ago: they tell that others changed the file.
	if err := f.write(rest.Data, mode); err != nil || !held {
		return false, "", err
	}
	f.note.Ours, f.note.OursBefore = f.ours, f.ours
	return false, "", f.saveNote()
}

// Settle ends an undoing of the file at path that was cut short, if there was
// one: nothing is kept of a file that has nothing of ours, as free tells, and
// folders made for one that is gone go too.
func (l Ledger) Settle(ctx context.Context, path string, free func(f *File) (bool, error)) error {
	f, err := l.file(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(f.notePath()); err != nil && len(f.backups()) == 0 {
		return nil // no lock, no folder
	}
	if f, err = l.Open(ctx, path); err != nil {
		return err
	}
	defer f.Close()
	if ok, err := free(f); err != nil || !ok {
		return err
	}
	if !f.isThere && f.Made() {
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
	f.Data, f.isThere = nil, false
	return f.forget()
}

// isAbove reports whether folder is one that path lies in.
func isAbove(folder, path string) bool {
	return folder == filepath.Clean(folder) && strings.HasPrefix(path, folder+string(filepath.Separator))
}

// forget drops the note and the backup.
func (f *File) forget() error {
	if err := os.Remove(f.notePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	atomicfile.Sweep(f.notePath())
	f.dropBackups("")
	return nil
}
