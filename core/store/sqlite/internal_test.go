package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"testing"
)

func TestReasonOfSystemErrors(t *testing.T) {
	t.Parallel()
	path := func(err error) error { return &fs.PathError{Op: "open", Path: "/x", Err: err} }
	for want, err := range map[Reason]error{
		Denied: path(fs.ErrPermission), Missing: path(fs.ErrNotExist), Failed: errors.New("odd"),
	} {
		var u *Unusable
		if got := unusable("/x", err); !errors.As(got, &u) || u.Reason != want || !errors.Is(got, err) {
			t.Errorf("%v: %+v, want %s", err, u, want)
		}
	}
	inner := &Unusable{Reason: BadRow}
	if got := unusable("/x", fmt.Errorf("around: %w", inner)); !errors.Is(got, inner) {
		t.Errorf("a reason that was known is lost: %v", got)
	}
	if unusable("/x", nil) != nil {
		t.Error("nil is a failure")
	}
}

func TestWindowsPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		`C:/a b/#.db`: "file:/C:/a%20b/%23.db?mode=ro", "/x?y": "file:/x%3Fy?mode=ro",
	} {
		if got := uri(path, url.Values{"mode": {"ro"}}); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
