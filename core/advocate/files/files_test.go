package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func review(t *testing.T, id string, at time.Time) *advocate.Review {
	t.Helper()
	r, err := advocate.New(id, "The portal may go out on Friday", advocate.Premortem, "", at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func create(t *testing.T, f *files.Folder, id string, at time.Time) {
	t.Helper()
	if err := f.Create(review(t, id, at)); err != nil {
		t.Fatal(err)
	}
}

// names lists a folder, dot files too.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var n []string
	for _, e := range entries {
		n = append(n, e.Name())
	}
	return n
}

func codeOf(err error) advocate.Code {
	var e *advocate.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func setHorizon(horizon string) func(*advocate.Review) error {
	return func(r *advocate.Review) error {
		_, err := r.Submit([]any{map[string]any{"horizon": horizon}}, noon)
		return err
	}
}

func TestMissingFolderIsMadeByTheFirstWriteOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	f := files.New(dir)
	if reviews, skipped, err := f.List(); len(reviews)+len(skipped) > 0 || err != nil {
		t.Errorf("list: %v, %v, %v", reviews, skipped, err)
	}
	if _, err := f.Load("rev-aaaa"); codeOf(err) != advocate.UnknownReview {
		t.Errorf("load: %v", err)
	}
	if err := f.Update("rev-aaaa", setHorizon("one year")); codeOf(err) != advocate.UnknownReview {
		t.Errorf("update: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	create(t, f, "rev-aaaa", noon)
	if runtime.GOOS == "windows" {
		return // permissions are others there
	}
	for name, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "rev-aaaa.json"): 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

func TestCreateLoadUpdate(t *testing.T) {
	t.Parallel()
	f := files.New(t.TempDir())
	create(t, f, "rev-aaaa", noon)
	if err := f.Create(review(t, "rev-aaaa", noon)); !errors.Is(err, files.ErrExists) {
		t.Errorf("the second of one id: %v", err)
	}
	if err := f.Update("rev-aaaa", setHorizon("one year")); err != nil {
		t.Fatal(err)
	}
	r, err := f.Load("rev-aaaa")
	if err != nil || r.Horizon() != "one year" || r.Phase() != advocate.FailureCauses {
		t.Errorf("%+v, %v", r, err)
	}
	before, _ := os.ReadFile(filepath.Join(f.Dir(), "rev-aaaa.json"))
	no := errors.New("no")
	if err := f.Update("rev-aaaa", func(r *advocate.Review) error { r.Context = "changed"; return no }); !errors.Is(err, no) {
		t.Errorf("refused update: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(f.Dir(), "rev-aaaa.json")); string(after) != string(before) {
		t.Error("a refused update was saved")
	}
}

func TestIDsAreNoPaths(t *testing.T) {
	t.Parallel()
	f := files.New(filepath.Join(t.TempDir(), "reviews"))
	create(t, f, "rev-aaaa", noon)
	if err := os.WriteFile(filepath.Join(f.Dir(), "..", "rev-out1.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "../rev-out1", "../../etc/passwd", "rev-AAAA", "rev-aaaa.json", "rev-aaaa\n", "rev-aaa", "rev-aaaaa", "rev-a/aa", "rev-äaaa"} {
		if _, err := f.Load(id); codeOf(err) != advocate.UnknownReview {
			t.Errorf("load %q: %v", id, err)
		}
		if err := f.Update(id, setHorizon("one year")); codeOf(err) != advocate.UnknownReview {
			t.Errorf("update %q: %v", id, err)
		}
		if err := f.Create(review(t, id, noon)); err == nil {
			t.Errorf("created %q", id)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	f := files.New(t.TempDir())
	for i, id := range []string{"rev-bbbb", "rev-cccc", "rev-aaaa"} {
		create(t, f, id, noon.Add(time.Duration(i)))
	}
	create(t, f, "rev-zzzz", noon.Add(-time.Hour))
	bad := map[string]string{
		"rev-dam1.json": "{", "rev-dam2.json": "", "rev-aaab.json": mustRead(t, f, "rev-aaaa"), "notes.json": "{}",
	}
	for name, content := range bad {
		if err := os.WriteFile(filepath.Join(f.Dir(), name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"readme.txt", ".rev-aaaa.tmp", ".hidden.json", "rev-aaaa.json.bak"} { // not looked at
		if err := os.WriteFile(filepath.Join(f.Dir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(f.Dir(), "rev-dir1.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	reviews, skipped, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range reviews {
		ids = append(ids, r.ID)
	}
	if want := []string{"rev-aaaa", "rev-cccc", "rev-bbbb", "rev-zzzz"}; !slices.Equal(ids, want) {
		t.Errorf("reviews %v, want %v", ids, want)
	}
	var why []string
	for _, s := range skipped {
		why = append(why, s.File+": "+s.Why)
	}
	want := []string{
		"notes.json: the name is no review id", "rev-aaab.json: its id is not its name",
		"rev-dam1.json: no valid JSON at byte 1", "rev-dam2.json: no valid JSON at byte 0", "rev-dir1.json: it is no regular file",
	}
	if !slices.Equal(why, want) {
		t.Errorf("skipped:\n%s\nwant:\n%s", strings.Join(why, "\n"), strings.Join(want, "\n"))
	}
	// and they are left as they are
	for name, content := range bad {
		if data, err := os.ReadFile(filepath.Join(f.Dir(), name)); err != nil || string(data) != content {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
	if err := f.Update("rev-dam1", setHorizon("one year")); codeOf(err) != advocate.DamagedReview || !strings.Contains(err.Error(), "rev-dam1.json") {
		t.Errorf("update of a damaged file: %v", err)
	}
	if err := f.Create(review(t, "rev-dam1", noon)); !errors.Is(err, files.ErrExists) {
		t.Errorf("creation over a damaged file: %v", err)
	}
}

func mustRead(t *testing.T, f *files.Folder, id string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(f.Dir(), id+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	f := files.New(t.TempDir())
	create(t, f, "rev-aaaa", noon)
	outside := filepath.Join(t.TempDir(), "outside.json")
	content := strings.Replace(mustRead(t, f, "rev-aaaa"), "rev-aaaa", "rev-link", 1)
	if err := os.WriteFile(outside, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(f.Dir(), "rev-link.json")
	if err := os.Symlink(outside, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink(filepath.Join(f.Dir(), "nowhere"), filepath.Join(f.Dir(), "rev-dead.json")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"rev-link", "rev-dead"} {
		if _, err := f.Load(id); codeOf(err) != advocate.DamagedReview || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("load %s: %v", id, err)
		}
		if err := f.Update(id, setHorizon("one year")); codeOf(err) != advocate.DamagedReview {
			t.Errorf("update %s: %v", id, err)
		}
		if err := f.Create(review(t, id, noon)); !errors.Is(err, files.ErrExists) {
			t.Errorf("create %s: %v", id, err)
		}
	}
	if _, skipped, err := f.List(); err != nil || len(skipped) != 2 || !strings.Contains(skipped[0].Why, "symbolic link") {
		t.Errorf("skipped %v, %v", skipped, err)
	}
	if data, _ := os.ReadFile(outside); string(data) != content {
		t.Error("what the link names was changed")
	}
}

// Locks and half-written files must neither be listed nor pile up.
func TestNothingPilesUp(t *testing.T) {
	t.Parallel()
	f := files.New(t.TempDir())
	for i := range 64 { // as many as crashes can leave, however many there are
		if err := os.WriteFile(filepath.Join(f.Dir(), fmt.Sprintf(".saving-%02d.tmp", i)), []byte("left by a crash"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		create(t, f, fmt.Sprintf("rev-%04d", i), noon)
	}
	left := 0
	for _, name := range names(t, f.Dir()) {
		if name != ".locks" && !strings.HasSuffix(name, ".json") {
			left++
		}
	}
	if left > 16 { // two hundred reviews share nearly all the locks among them
		t.Errorf("%d unfinished files are left", left)
	}
	if n := len(names(t, filepath.Join(f.Dir(), ".locks"))); n > 64 {
		t.Errorf("%d lock files", n)
	}
	if _, skipped, err := f.List(); err != nil || len(skipped) > 0 {
		t.Errorf("skipped %v, %v", skipped, err)
	}
}

// Goroutines of one process exclude each other like processes do.
func TestUpdatesOfOneProcess(t *testing.T) {
	t.Parallel()
	f := files.New(t.TempDir())
	create(t, f, "rev-aaaa", noon)
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for j := range 5 {
				if err := f.Update("rev-aaaa", func(r *advocate.Review) error {
					r.Context += fmt.Sprintf(" %d/%d", i, j)
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	r, err := f.Load("rev-aaaa")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(r.Context)); n != 20 {
		t.Errorf("%d of 20 updates are there: %s", n, r.Context)
	}
}
