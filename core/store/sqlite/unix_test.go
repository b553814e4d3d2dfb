//go:build unix

package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

// taskVar makes the test binary carry out one of unixTasks under other
// circumstances: another umask, user or limit.
const taskVar = "QA_ORCH_TEST_TASK"

const pathVar = "QA_ORCH_TEST_PATH"

func init() {
	task := unixTasks[os.Getenv(taskVar)]
	if task == nil {
		return
	}
	if err := task(os.Getenv(pathVar)); err != nil {
		var u *sqlite.Unusable
		if errors.As(err, &u) {
			os.Stdout.WriteString(string(u.Reason))
			os.Exit(0)
		}
		os.Stdout.WriteString(err.Error())
	}
	os.Exit(0)
}

var unixTasks = map[string]func(path string) error{
	"umask0":  func(path string) error { syscall.Umask(0); return createIn(path) },
	"umask77": func(path string) error { syscall.Umask(0o777); return createIn(path) },
	"create":  createIn,
	"inspect": func(path string) error {
		in, err := sqlite.Inspect(context.Background(), path)
		if err != nil {
			return err
		}
		rows, err := in.Rows(context.Background(), storetest.T0)
		if err == nil {
			err = errors.New(strconv.Itoa(len(rows.Sessions)) + " rows")
		}
		return errors.Join(err, in.Close())
	},
	"diskfull": fillUp,
	"mended":   mendPermissions,
}

// createIn leaves the store open when it returns, so that the side files stay.
func createIn(path string) error {
	return sqlite.New(path, nil).Create(context.Background(), storetest.New(50, 0), storetest.T0, 99)
}

// run carries out a task in a process of its own, as nobody when asked to and
// when this process may.
func run(t *testing.T, task, path string, asNobody bool) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	if asNobody && os.Geteuid() == 0 {
		dir, err := os.MkdirTemp("", "qa-orch-test")
		must(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		must(t, os.Chmod(dir, 0o755))
		// A link, not a copy: what was just written can't be run while another
		// test happens to be starting a process.
		cmd = exec.Command(filepath.Join(dir, "self"))
		if err := os.Link(self, cmd.Path); err != nil {
			t.Skipf("the test binary can't be handed to another user: %v", err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	cmd.Env = append(os.Environ(), taskVar+"="+task, pathVar+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	must(t, err)
	return string(out)
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	must(t, err)
	if info.Mode().Perm() != want {
		t.Errorf("%s has mode %o, want %o", filepath.Base(path), info.Mode().Perm(), want)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "s")
	if out := run(t, "umask0", path, false); out != "" {
		t.Fatal(out)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		wantMode(t, d, 0o700)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} { // the process ended without closing
		wantMode(t, path+suffix, 0o600)
	}
	// Looser ones are tightened; the folder's mode is its owner's business.
	must(t, os.Chmod(dir, 0o755))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		must(t, os.Chmod(path+suffix, 0o666))
	}
	s := open(t, path)
	must(t, s.Open(context.Background()))
	wantMode(t, dir, 0o755)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		wantMode(t, path+suffix, 0o600)
	}
}

// TestModesUnderAHarshUmask: a umask that takes even the owner's rights does not
// matter to root, and nobody else can be blamed on us: it is an error, not a crash.
func TestModesUnderAHarshUmask(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	run(t, "umask77", path, false)
	info, err := os.Lstat(path)
	must(t, err)
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %o", info.Mode().Perm())
	}
}

// unprivileged prepares a folder with a store, owned by who will use it.
func unprivileged(t *testing.T, statements ...string) (dir, path string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "qa-orch-test") // t.TempDir's parents are closed to others
	must(t, err)
	t.Cleanup(func() { os.Chmod(dir, 0o700); os.RemoveAll(dir) })
	path = filepath.Join(dir, "s")
	execute(t, path, statements...)
	must(t, os.Chmod(path, 0o600))
	if os.Geteuid() == 0 {
		must(t, os.Chown(dir, 65534, 65534))
		must(t, os.Chown(path, 65534, 65534))
	}
	return dir, path
}

func TestWithoutPermission(t *testing.T) {
	t.Parallel()
	row := insert(t, storetest.New(1, 0))
	for name, tc := range map[string]struct {
		setup   []string
		protect func(t *testing.T, dir, path string)
		create  string
		inspect string
	}{
		"a read-only folder, Python's file": {
			[]string{schema, row}, func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0o555)) }, "read_only", "1 rows",
		},
		"a read-only folder, WAL": {
			[]string{`PRAGMA journal_mode = WAL`, schema, row}, func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0o555)) }, "read_only", "1 rows",
		},
		"a read-only file": {
			[]string{schema, row}, func(t *testing.T, _, path string) { must(t, os.Chmod(path, 0o400)) }, "read_only", "1 rows",
		},
		"an unreadable file": {
			[]string{schema, row}, func(t *testing.T, _, path string) { must(t, os.Chmod(path, 0)) }, "denied", "denied",
		},
		"a closed folder": {
			[]string{schema, row}, func(t *testing.T, dir, _ string) { must(t, os.Chmod(dir, 0)) }, "denied", "denied",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, path := unprivileged(t, tc.setup...)
			tc.protect(t, dir, path)
			before := snapshotAsRoot(t, dir)
			if got := run(t, "create", path, true); got != tc.create {
				t.Errorf("create: %q, want %q", got, tc.create)
			}
			if got := run(t, "inspect", path, true); got != tc.inspect {
				t.Errorf("inspect: %q, want %q", got, tc.inspect)
			}
			if os.Geteuid() == 0 {
				wantUntouched(t, dir, before)
			}
		})
	}
}

// TestCopyNeedsRoom: a -wal that has to be read from a copy can't be when there
// is nowhere to put one. That is told, nothing is touched, and a server works all the same.
func TestCopyNeedsRoom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	leaveWAL(t, path, schema)
	before := snapshot(t, dir)
	t.Setenv("TMPDIR", filepath.Join(dir, "nowhere"))
	_, err := sqlite.Inspect(context.Background(), path)
	wantReason(t, err, sqlite.Failed)
	wantUntouched(t, dir, before)
	must(t, open(t, path).Create(context.Background(), storetest.New(1, 0), storetest.T0, 9)) // which needs no copy
}

func snapshotAsRoot(t *testing.T, dir string) map[string]string {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	return snapshot(t, dir)
}

// TestNewFileInAReadOnlyFolder: nothing is made, and the reason is told.
func TestNewFileInAReadOnlyFolder(t *testing.T) {
	t.Parallel()
	dir, path := unprivileged(t, schema)
	must(t, os.Chmod(dir, 0o555))
	for _, p := range []string{path + "-new", filepath.Join(dir, "sub", "s")} {
		if got := run(t, "create", p, true); got != "denied" {
			t.Errorf("got %q", got)
		}
	}
}

// fillUp writes until the file may not grow any more, then checks that what was
// acknowledged is there and that the store works again with more room.
func fillUp(path string) error {
	ctx := context.Background()
	limit := syscall.Rlimit{Cur: 200_000, Max: 1 << 30}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	s := sqlite.New(path, nil)
	n := 0
	var failed error
	for ; failed == nil && n < 2000; n++ {
		failed = s.Create(ctx, storetest.New(n+1, 0), storetest.T0, 100_000)
	}
	var u *sqlite.Unusable
	if !errors.As(failed, &u) || u.Reason != sqlite.Failed && u.Reason != sqlite.DiskFull {
		return errors.Join(errors.New("no failure of the store"), failed)
	}
	for i := 1; i < n; i++ {
		if got, err := s.Get(ctx, storetest.ID(i)); err != nil || got != storetest.New(i, 0) {
			return errors.Join(errors.New("an acknowledged session is lost: "+strconv.Itoa(i)), err)
		}
	}
	if _, err := s.Get(ctx, storetest.ID(n)); !errors.Is(err, store.ErrNotFound) {
		return errors.Join(errors.New("a refused session is there"), err)
	}
	limit.Cur = 1 << 30
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for i := range 3 {
		if err := s.Create(ctx, storetest.New(n+i, 0), storetest.T0, 100_000); err != nil {
			return err
		}
	}
	got, err := s.Update(ctx, storetest.ID(1), storetest.Choose(catalog.RubyReviewer, 0))
	if err != nil || got.Step != review.PrimaryReview {
		return errors.Join(errors.New("not mended"), err)
	}
	return s.Close()
}

func TestDiskFull(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	if out := run(t, "diskfull", path, false); out != "" {
		t.Fatal(out)
	}
	must(t, inspect(t, path).Integrity(context.Background()))
}

// mendPermissions opens a file that can only be read, lets it be written, and
// expects that the very next call does.
func mendPermissions(path string) error {
	ctx := context.Background()
	if err := os.Chmod(path, 0o400); err != nil {
		return err
	}
	s := sqlite.New(path, nil)
	if _, err := s.Get(ctx, storetest.ID(50)); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	if _, err := s.Update(ctx, storetest.ID(50), storetest.Choose(catalog.RubyReviewer, 0)); err != nil {
		return err
	}
	return s.Close()
}

func TestMendedPermissions(t *testing.T) {
	t.Parallel()
	_, path := unprivileged(t, schema)
	if out := run(t, "create", path, true); out != "" {
		t.Fatal(out)
	}
	if out := run(t, "mended", path, true); out != "" {
		t.Fatal(out)
	}
}

// TestPayloadIsTheWire: what is stored is what hosts see.
func TestPayloadIsTheWire(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path)
	must(t, s.Create(context.Background(), storetest.New(1, 0), storetest.T0, 9))
	must(t, s.Close())
	db := raw(t, path)
	defer db.Close()
	var text []byte
	must(t, db.QueryRow(`SELECT payload FROM sessions`).Scan(&text))
	want, err := json.Marshal(storetest.New(1, 0))
	must(t, err)
	if !bytes.Equal(text, want) {
		t.Errorf("stored %s", text)
	}
}
