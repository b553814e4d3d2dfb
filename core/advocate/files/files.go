// Package files keeps reviews in a folder, one JSON file each. Several processes may use the folder at
// once: files are replaced as a whole and every change is made under the review's lock.
package files

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/core/regular"
)

const (
	suffix  = ".json"
	lockDir = ".locks"
	// lockFiles is how many lock files serve all reviews: one for each would pile up, and one can't be
	// deleted while another process may be opening it.
	lockFiles = 64
	// MaxBytes is the largest size of a review file.
	MaxBytes = 32 << 20
)

var validID = regexp.MustCompile(`^rev-[a-z0-9]{4}$`)

// ErrExists is returned by Create when a review of that id exists.
var ErrExists = errors.New("a review of this id exists")

// Folder is a folder of review files. It may be missing; the first Create makes it. Its methods may
// be called by several goroutines.
type Folder struct {
	dir string
}

// New returns the folder at that path. It touches no files.
func New(dir string) *Folder { return &Folder{dir: dir} }

// Dir is the path of the folder.
func (f *Folder) Dir() string { return f.dir }

func (f *Folder) path(id string) string { return filepath.Join(f.dir, id+suffix) }

// Create saves a new review. It returns ErrExists when the id is taken, whoever else asks for it at
// the same moment.
func (f *Folder) Create(r *advocate.Review) error {
	if !validID.MatchString(r.ID) {
		return fmt.Errorf("%q is no review id", r.ID)
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return trouble(f.dir, err)
	}
	unlock, err := f.lock(r.ID)
	if err != nil {
		return err
	}
	defer unlock()
	switch _, err := os.Lstat(f.path(r.ID)); {
	case err == nil:
		return ErrExists
	case !errors.Is(err, fs.ErrNotExist):
		return trouble(f.path(r.ID), err)
	}
	return f.save(r)
}

// Load reads a review. The Error is of code UnknownReview when there is none, DamagedReview when its
// file is none.
func (f *Folder) Load(id string) (*advocate.Review, error) {
	if !validID.MatchString(id) {
		return nil, &advocate.Error{Code: advocate.UnknownReview}
	}
	r, err := read(f.path(id), id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &advocate.Error{Code: advocate.UnknownReview}
	case err != nil:
		return nil, &advocate.Error{Code: advocate.DamagedReview, Review: id, File: f.path(id), Cause: err}
	}
	return r, nil
}

// Update changes a review under its lock and saves it, unless change returns an error.
func (f *Folder) Update(id string, change func(*advocate.Review) error) error {
	if !validID.MatchString(id) {
		return &advocate.Error{Code: advocate.UnknownReview}
	}
	if _, err := os.Lstat(f.path(id)); errors.Is(err, fs.ErrNotExist) {
		return &advocate.Error{Code: advocate.UnknownReview} // before the lock makes files where no review is
	}
	unlock, err := f.lock(id)
	if err != nil {
		return err
	}
	defer unlock()
	r, err := f.Load(id)
	if err != nil {
		return err
	}
	if err := change(r); err != nil {
		return err
	}
	return f.save(r)
}

// Skipped is a file of the folder that is no valid review.
type Skipped struct {
	File  string `json:"file"` // its name
	Why   string `json:"why"`  // in English
	Fault error  `json:"-"`    // an *advocate.Fault
}

// List reads every review, newest first, and names the files that are none. Only names that end in
// .json and don't begin with a dot are looked at.
func (f *Folder) List() ([]*advocate.Review, []Skipped, error) {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, trouble(f.dir, err)
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return !strings.HasSuffix(e.Name(), suffix) || strings.HasPrefix(e.Name(), ".")
	})
	reviews := make([]*advocate.Review, len(entries))
	faults := make([]error, len(entries))
	var wait sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), 8) {
		wait.Go(func() {
			for i := range next {
				name := entries[i].Name()
				if id := strings.TrimSuffix(name, suffix); validID.MatchString(id) {
					reviews[i], faults[i] = read(filepath.Join(f.dir, name), id)
				} else {
					faults[i] = &advocate.Fault{Code: advocate.FaultName}
				}
			}
		})
	}
	for i := range entries {
		next <- i
	}
	close(next)
	wait.Wait()

	var skipped []Skipped
	for i, fault := range faults {
		if fault != nil && !errors.Is(fault, fs.ErrNotExist) { // one that went away meanwhile is none
			skipped = append(skipped, Skipped{File: entries[i].Name(), Why: fault.Error(), Fault: fault})
		}
	}
	reviews = slices.DeleteFunc(reviews, func(r *advocate.Review) bool { return r == nil })
	slices.SortFunc(reviews, func(a, b *advocate.Review) int {
		if a.Newer(b) {
			return -1
		}
		return 1
	})
	return reviews, skipped, nil
}

// read reads one review file. It follows no link and reads nothing but a regular file.
func read(path, id string) (*advocate.Review, error) {
	file, err := regular.OpenHere(path)
	switch {
	case errors.Is(err, regular.ErrLink):
		return nil, &advocate.Fault{Code: advocate.FaultLink}
	case errors.Is(err, regular.ErrNotRegular):
		return nil, &advocate.Fault{Code: advocate.FaultIrregular}
	case err != nil:
		return nil, plain(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, plain(err)
	case info.Size() > MaxBytes:
		return nil, &advocate.Fault{Code: advocate.FaultTooLarge, Number: MaxBytes}
	}
	// A review file is replaced, never changed, so its size stays what it is.
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, plain(err)
	}
	r, err := advocate.UnmarshalFile(data)
	if err != nil {
		return nil, err
	}
	if r.ID != id {
		return nil, &advocate.Fault{Code: advocate.FaultOtherID}
	}
	return r, nil
}

// save replaces the review's file as a whole: written beside it, brought to the disk, renamed. The
// lock must be held. The file beside is named after the lock, which makes the fixed name safe: a crash
// leaves no more than that one, which the next save under that lock removes, so that however many
// crashes leave no more than there are locks.
func (f *Folder) save(r *advocate.Review) (err error) {
	data, err := r.MarshalFile()
	if err != nil {
		return err
	}
	if len(data) > MaxBytes {
		return &advocate.Error{Code: advocate.TooLarge, Review: r.ID, Have: len(data), Need: MaxBytes}
	}
	beside := f.beside(r.ID)
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return trouble(beside, err)
	}
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- in the person's folder, its name made of a checked id
	if err != nil {
		return trouble(beside, err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(beside)
		}
	}()
	if _, err := file.Write(data); err != nil {
		return trouble(beside, err)
	}
	if err := file.Sync(); err != nil {
		return trouble(beside, err)
	}
	if err := file.Close(); err != nil {
		return trouble(beside, err)
	}
	if err := rename(beside, f.path(r.ID)); err != nil {
		return trouble(f.path(r.ID), err)
	}
	atomicfile.SyncDir(f.dir)
	return nil
}

// rename puts a file in another's place. On Windows that fails while somebody reads the other one, which
// takes no time; so it is tried again for a while.
func rename(from, to string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || wait > 500*time.Millisecond {
			return err
		}
		time.Sleep(wait)
	}
}

// slot is the number of the lock that a review shares with others.
func slot(id string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return h.Sum32() % lockFiles
}

// beside is where a review's file is written before it is renamed.
func (f *Folder) beside(id string) string {
	return filepath.Join(f.dir, fmt.Sprintf(".saving-%02d.tmp", slot(id)))
}

// lock takes the lock of a review, waiting for whoever has it.
func (f *Folder) lock(id string) (unlock func(), err error) {
	dir := filepath.Join(f.dir, lockDir)
	if err := regular.Folder(dir); err != nil {
		return nil, trouble(dir, err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%02d", slot(id)))
	l, err := regular.NewLock(path)
	if err != nil {
		return nil, trouble(path, err)
	}
	if err := l.Lock(); err != nil {
		return nil, trouble(l.Path(), err)
	}
	return func() { _ = l.Close() }, nil
}

func trouble(path string, err error) error {
	return &advocate.Error{Code: advocate.FolderTrouble, File: path, Cause: err}
}

// plain makes an error of the file system a fault. The path is dropped: the message that it goes into
// names the file.
func plain(err error) error {
	var fault *advocate.Fault
	if errors.As(err, &fault) {
		return err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &advocate.Fault{Code: advocate.FaultUnreadable, Cause: err}
}
