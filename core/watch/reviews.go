package watch

import (
	"context"
	"os"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
)

// reviewsEvery is how often the folder of reviews is looked at. Looking at the
// names, sizes and times of thousands of files takes some ten milliseconds; the
// files themselves are read when one of these has changed.
const reviewsEvery = time.Second

// ReviewsState is the folder of the devil's advocate as it is on disk.
type ReviewsState struct {
	Reviews []*advocate.Review // newest first; not to be changed
	Skipped []files.Skipped    // files that are no valid review
	Err     error              // why the folder can't be read, an *advocate.Error; then the rest is empty
}

// ReviewsFeed follows the folder of the devil's advocate. Next is for one caller
// at a time.
type ReviewsFeed struct {
	folder  *files.Folder
	last    map[string]fileMark
	begun   bool
	failed  bool
	refresh chan struct{}
}

// fileMark tells whether a file has changed: files are replaced as a whole.
type fileMark struct {
	size int64
	at   time.Time
}

// NewReviewsFeed returns a feed of the folder, which need not exist.
func NewReviewsFeed(dir string) *ReviewsFeed {
	return &ReviewsFeed{folder: files.New(dir), refresh: make(chan struct{}, 1)}
}

// Refresh makes the call of Next that waits, or the next one, read everything
// again. It may be called from anywhere.
func (f *ReviewsFeed) Refresh() {
	select {
	case f.refresh <- struct{}{}:
	default:
	}
}

// Next returns the state: at once when first called, later when it has changed.
// The only error is that of ctx.
func (f *ReviewsFeed) Next(ctx context.Context) (ReviewsState, error) {
	all := !f.begun
	for {
		// The marks are taken before the files are read: what changes in between is read twice.
		if marks := f.marks(); all || f.failed || !sameMarks(marks, f.last) {
			var s ReviewsState
			s.Reviews, s.Skipped, s.Err = f.folder.List()
			repeated := f.failed && s.Err != nil && !all
			f.begun, f.failed, f.last = true, s.Err != nil, marks
			if !repeated {
				return s, ctx.Err()
			}
		}
		timer := time.NewTimer(reviewsEvery)
		select {
		case <-timer.C:
		case <-f.refresh:
			all = true
		case <-ctx.Done():
			timer.Stop()
			return ReviewsState{}, ctx.Err()
		}
		timer.Stop()
	}
}

// marks notes the folder's files as they are; nil when it can't be read or is not there.
func (f *ReviewsFeed) marks() map[string]fileMark {
	entries, err := os.ReadDir(f.folder.Dir())
	if err != nil {
		return nil
	}
	marks := make(map[string]fileMark, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !e.IsDir() {
			marks[e.Name()] = fileMark{info.Size(), info.ModTime()}
		}
	}
	return marks
}

func sameMarks(a, b map[string]fileMark) bool {
	if len(a) != len(b) {
		return false
	}
	for name, mark := range a {
		other, ok := b[name]
		if !ok || mark.size != other.size || !mark.at.Equal(other.at) {
			return false
		}
	}
	return true
}
