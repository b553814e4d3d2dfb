package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
)

func TestReviewsFeed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "reviews")
	f := NewReviewsFeed(dir)
	next := func() ReviewsState {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s, err := f.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := next(); len(s.Reviews) != 0 || s.Err != nil {
		t.Fatalf("a folder that is not there: %+v", s)
	}
	folder := files.New(dir)
	r, err := advocate.New("rev-aaaa", "The portal may go out on Friday", advocate.Premortem, "", time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Create(r); err != nil {
		t.Fatal(err)
	}
	if s := next(); len(s.Reviews) != 1 || s.Reviews[0].Phase() != advocate.Setup {
		t.Fatalf("after the start: %+v", s)
	}
	if err := folder.Update("rev-aaaa", func(r *advocate.Review) error {
		_, err := r.Submit([]any{map[string]any{"horizon": "one year"}}, time.Unix(1, 0))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if s := next(); len(s.Reviews) != 1 || s.Reviews[0].Phase() != advocate.FailureCauses {
		t.Fatalf("after a submission: %+v", s)
	}
	if err := os.WriteFile(filepath.Join(dir, "rev-hurt.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := next(); len(s.Reviews) != 1 || len(s.Skipped) != 1 {
		t.Fatalf("with a damaged file: %+v", s)
	}
	f.Refresh()
	if s := next(); len(s.Reviews) != 1 {
		t.Fatalf("asked for: %+v", s)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var e *advocate.Error
	for s := next(); ; s = next() { // the folder may be seen empty in between
		if errors.As(s.Err, &e) {
			break
		}
	}
	if e.Code != advocate.FolderTrouble {
		t.Errorf("a file instead of the folder: %v", e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
