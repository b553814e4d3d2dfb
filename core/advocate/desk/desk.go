// Package desk runs the devil's advocate: it joins the engine with the folder of reviews, a clock and
// a source of identifiers. Its methods are the seven tools.
package desk

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
)

// idTries is how many identifiers are tried before the folder counts as full.
const idTries = 1000

// Desk serves the reviews of one folder. It may be used by several goroutines, and several processes
// may have a Desk on one folder.
type Desk struct {
	// Folder keeps the reviews.
	Folder *files.Folder
	// Now is the clock.
	Now func() time.Time
	// NewID proposes an identifier; it is asked again when that is taken.
	NewID func() string
}

// New returns a Desk on the folder with the system's clock and random identifiers.
func New(dir string) *Desk {
	return &Desk{Folder: files.New(dir), Now: time.Now, NewID: RandomID}
}

// RandomID proposes a review's identifier: rev- and four of a-z and 0-9.
func RandomID() string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	id := []byte("rev-")
	for len(id) < 8 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		for _, c := range b {
			// 252 is the largest multiple of 36 in a byte; beyond it some letters would be likelier
			if c < 252 && len(id) < 8 {
				id = append(id, letters[int(c)%len(letters)])
			}
		}
	}
	return string(id)
}

// StartReview begins a review and saves it.
func (d *Desk) StartReview(claim string, mode advocate.Mode, context string) (*advocate.Started, error) {
	r, err := advocate.New("", claim, mode, context, d.Now())
	if err != nil {
		return nil, err
	}
	for range idTries {
		r.ID = d.NewID()
		err := d.Folder.Create(r)
		if errors.Is(err, files.ErrExists) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return r.Started(), nil
	}
	return nil, &advocate.Error{Code: advocate.NoFreeID}
}

// Submit checks and saves the items, as advocate.DecodeItems returns them.
func (d *Desk) Submit(id string, items []any) (*advocate.SubmitResult, error) {
	return change(d, id, func(r *advocate.Review, now time.Time) (*advocate.SubmitResult, error) { return r.Submit(items, now) })
}

// change carries out and saves a change of a review.
func change[T any](d *Desk, id string, do func(*advocate.Review, time.Time) (*T, error)) (*T, error) {
	var result *T
	err := d.Folder.Update(id, func(r *advocate.Review) (err error) {
		result, err = do(r, d.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// Verdict compiles the verdict of a complete review.
func (d *Desk) Verdict(id string) (*advocate.Verdict, error) {
	r, err := d.Folder.Load(id)
	if err != nil {
		return nil, err
	}
	return r.Verdict()
}

// Export writes the verdict of a complete review as a report; format is markdown, md, json or empty.
func (d *Desk) Export(id, format string, l advocate.Labels) (*advocate.Report, error) {
	f, err := advocate.ParseFormat(format)
	if err != nil {
		return nil, err
	}
	r, err := d.Folder.Load(id)
	if err != nil {
		return nil, err
	}
	return r.Report(f, l)
}

// Get tells where a review stands.
func (d *Desk) Get(id string) (*advocate.Standing, error) {
	r, err := d.Folder.Load(id)
	if err != nil {
		return nil, err
	}
	return r.Standing(), nil
}

// Listing is the reviews of a folder, newest first.
type Listing struct {
	Count   int             `json:"count"`
	Reviews []advocate.Row  `json:"reviews"`
	DataDir string          `json:"data_dir"`
	Skipped []files.Skipped `json:"skipped"`
}

// List sums up every review of the folder. A folder that doesn't exist is empty.
func (d *Desk) List() (*Listing, error) {
	reviews, skipped, err := d.Folder.List()
	if err != nil {
		return nil, err
	}
	l := &Listing{
		Count: len(reviews), Reviews: make([]advocate.Row, 0, len(reviews)),
		DataDir: d.Folder.Dir(), Skipped: append([]files.Skipped{}, skipped...),
	}
	for _, r := range reviews {
		l.Reviews = append(l.Reviews, r.Row())
	}
	return l, nil
}

// Abandon ends an unfinished review.
func (d *Desk) Abandon(id, reason string) (*advocate.Abandonment, error) {
	return change(d, id, func(r *advocate.Review, now time.Time) (*advocate.Abandonment, error) { return r.Abandon(reason, now) })
}

// Review reads the whole review, for those who show it themselves.
func (d *Desk) Review(id string) (*advocate.Review, error) { return d.Folder.Load(id) }
