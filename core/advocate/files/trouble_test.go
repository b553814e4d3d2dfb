package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
)

// Whatever is in the way of a review, an error says so, and the reviews that are there stay what they are.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for name, lay := range map[string]func(t *testing.T, dir string) (dirNow string){
		"a file where the folder should be": func(t *testing.T, dir string) string {
			put(t, filepath.Join(dir, "file"), "")
			return filepath.Join(dir, "file", "reviews")
		},
		"a file where the locks should be": func(t *testing.T, dir string) string {
			if err := os.RemoveAll(filepath.Join(dir, ".locks")); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, ".locks"), "")
			return dir
		},
		"folders where locks should be": func(t *testing.T, dir string) string {
			for i := range 64 {
				path := filepath.Join(dir, ".locks", string([]byte{byte('0' + i/10), byte('0' + i%10)}))
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				put(t, filepath.Join(path, "in the way"), "")
			}
			return dir
		},
		"folders where reviews are written": func(t *testing.T, dir string) string {
			for i := range 64 {
				put(t, filepath.Join(dir, ".saving-"+string([]byte{byte('0' + i/10), byte('0' + i%10)})+".tmp", "in the way"), "")
			}
			return dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			create(t, files.New(dir), "rev-aaaa", noon)
			was := read(t, filepath.Join(dir, "rev-aaaa.json"))
			f := files.New(lay(t, dir))
			if err := f.Create(review(t, "rev-bbbb", noon)); codeOf(err) != advocate.FolderTrouble {
				t.Errorf("create: %v", err)
			}
			if err := f.Update("rev-aaaa", setHorizon("one year")); codeOf(err) != advocate.FolderTrouble && f.Dir() == dir {
				t.Errorf("update: %v", err)
			}
			if now := read(t, filepath.Join(dir, "rev-aaaa.json")); now != was {
				t.Errorf("the review is another one: %q", now)
			}
			if _, err := os.Lstat(filepath.Join(dir, "rev-bbbb.json")); err == nil {
				t.Error("the other review is there")
			}
		})
	}
}

// A review can't grow beyond what would be read again.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	f := files.New(t.TempDir())
	create(t, f, "rev-aaaa", noon)
	path := filepath.Join(f.Dir(), "rev-aaaa.json")
	was := read(t, path)
	err := f.Update("rev-aaaa", func(r *advocate.Review) error {
		r.Context = strings.Repeat("x", files.MaxBytes)
		return nil
	})
	var e *advocate.Error
	if !errors.As(err, &e) || e.Code != advocate.TooLarge || e.Have <= files.MaxBytes || e.Need != files.MaxBytes {
		t.Errorf("update: %v", err)
	}
	if !strings.Contains(e.Error(), "submit shorter texts") {
		t.Errorf("it says %q", e)
	}
	if now := read(t, path); now != was {
		t.Error("the review was changed")
	}
	if err := os.Truncate(path, files.MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	_, err = f.Load("rev-aaaa")
	var fault *advocate.Fault
	if !errors.As(err, &fault) || fault.Code != advocate.FaultTooLarge || codeOf(err) != advocate.DamagedReview {
		t.Errorf("load: %v", err)
	}
	if reviews, skipped, err := f.List(); len(reviews) > 0 || len(skipped) != 1 || err != nil {
		t.Errorf("list: %d reviews, %v, %v", len(reviews), skipped, err)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
