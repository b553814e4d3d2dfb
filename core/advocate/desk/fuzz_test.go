package desk_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
)

const canary = "sk-CANARY-7f3a"

// FuzzFolder puts a file of any content where a review is expected, beside a good
// one, and does with it all that tools and commands do. The good one is never
// disturbed; a file that is no review is named as such by every way to it, without
// being repeated, and stays as it is; one that is a review can be shown, and comes
// back from its file as it went in, also after a submission. Each @ of the content
// stands for a secret.
func FuzzFolder(f *testing.F) {
	dir := f.TempDir()
	d := desk.New(dir)
	d.Now = func() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }
	d.NewID = func() string { return "rev-good" }
	if _, err := d.StartReview("Release 4.2 is ready to ship", advocate.Steelman, ""); err != nil {
		f.Fatal(err)
	}
	read := func(t testing.TB, id string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, id+".json"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := read(f, "rev-good")
	const id = "rev-aaaa"

	f.Fuzz(func(t *testing.T, content, items []byte) {
		if len(content)+len(items) > 64<<10 {
			return
		}
		content = bytes.ReplaceAll(content, []byte("@"), []byte(canary))
		if err := os.WriteFile(filepath.Join(dir, id+".json"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := d.List()
		if err != nil || list.Count+len(list.Skipped) != 2 {
			t.Fatalf("listed %+v, %v", list, err)
		}
		if !slices.ContainsFunc(list.Reviews, func(r advocate.Row) bool { return r.ReviewID == "rev-good" }) {
			t.Fatalf("the good one is not listed: %+v", list)
		}
		r, err := d.Review(id)
		if (err == nil) != (list.Count == 2) {
			t.Fatalf("the list has %d, and the review: %v", list.Count, err)
		}
		if err != nil {
			for name, call := range map[string]func() error{
				"get":     func() error { _, err := d.Get(id); return err },
				"verdict": func() error { _, err := d.Verdict(id); return err },
				"export":  func() error { _, err := d.Export(id, "", advocate.English()); return err },
				"submit":  func() error { _, err := d.Submit(id, []any{map[string]any{}}); return err },
				"abandon": func() error { _, err := d.Abandon(id, "why not"); return err },
			} {
				err := call()
				var e *advocate.Error
				if !errors.As(err, &e) || e.Code != advocate.DamagedReview || e.File == "" || strings.Contains(err.Error(), canary) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if why := list.Skipped[0].Why; why == "" || strings.Contains(why, canary) || !quiet(why) {
				t.Errorf("skipped because of %q", why)
			}
		} else {
			show(t, d, r)
			submit(t, d, r, content, items)
		}
		if err != nil && !bytes.Equal(read(t, id), content) {
			t.Error("a file that is no review was changed")
		}
		if !bytes.Equal(read(t, "rev-good"), good) {
			t.Fatal("the good review was changed")
		}
	})
}

// quiet reports whether a text steers no terminal.
func quiet(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029')
	})
}

// show looks at a review in every way that there is, twice.
func show(t *testing.T, d *desk.Desk, r *advocate.Review) {
	t.Helper()
	see := func() string {
		standing, err := d.Get(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(standing)
		if err != nil {
			t.Fatal(err)
		}
		out := string(data)
		for _, format := range []string{"", "json"} {
			report, err := d.Export(r.ID, format, advocate.English())
			if (err == nil) != (r.Status == advocate.Complete) {
				t.Fatalf("a review that is %s: %v", r.Status, err)
			}
			if err != nil {
				continue
			}
			out += report.Content
			if format == "" && !quiet(report.Content) {
				t.Errorf("the memo steers a terminal: %q", report.Content)
			}
			if format == "json" && !json.Valid([]byte(report.Content)) {
				t.Errorf("no JSON: %s", report.Content)
			}
		}
		if progress := r.Progress(); !quiet(progress) {
			t.Errorf("the progress steers a terminal: %q", progress)
		}
		return out
	}
	if first, second := see(), see(); first != second {
		t.Errorf("the same review gives other bytes:\n%s\n%s", first, second)
	}
}

// submit hands items in and abandons the review then. Where that is refused nothing
// is changed, else the review loads again as it was but for what was submitted.
func submit(t *testing.T, d *desk.Desk, r *advocate.Review, content, items []byte) {
	t.Helper()
	path := filepath.Join(d.Folder.Dir(), r.ID+".json")
	before, known := *r, content
	decoded, err := advocate.DecodeItems(items)
	if err == nil {
		_, err = d.Submit(r.ID, decoded)
		known = check(t, d, path, &before, known, err)
	}
	if r.Status != advocate.Active && err == nil && decoded != nil {
		t.Errorf("a review that is %s takes items", r.Status)
	}
	_, err = d.Abandon(r.ID, "it takes too long")
	check(t, d, path, &before, known, err)
}

// check looks at what a change did, given what was there before, and returns what is there now.
func check(t *testing.T, d *desk.Desk, path string, before *advocate.Review, known []byte, refused error) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if refused != nil {
		if !bytes.Equal(data, known) {
			t.Errorf("refused (%v), and yet the file was changed", refused)
		}
		return data
	}
	after, err := d.Review(before.ID)
	if err != nil {
		t.Fatalf("what was saved does not load: %v\n%s", err, data)
	}
	if after.Claim != before.Claim || after.Context != before.Context || after.Mode != before.Mode || !after.Created.Equal(before.Created) {
		t.Errorf("%+v became %+v", before, after)
	}
	return data
}
