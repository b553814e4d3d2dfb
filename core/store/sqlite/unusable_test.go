package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/store/storetest"
)

const schema = `
	CREATE TABLE session_store_metadata (schema_version INTEGER NOT NULL);
	CREATE TABLE sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL);
	INSERT INTO session_store_metadata (schema_version) VALUES (1);`

// raw opens the file as any SQLite tool would.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=rwc&_busy_timeout=5000"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func execute(t testing.TB, path string, statements ...string) {
	t.Helper()
	db := raw(t, path)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// leaveWAL runs the statements in WAL mode and puts the file and its -wal at
// path as a killed process would have left them.
func leaveWAL(t testing.TB, path string, statements ...string) {
	t.Helper()
	work := filepath.Join(t.TempDir(), "w")
	db := raw(t, work)
	defer db.Close()
	for _, s := range append([]string{`PRAGMA journal_mode = WAL`, `PRAGMA wal_autocheckpoint = 0`}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(work + suffix)
		must(t, err)
		must(t, os.WriteFile(path+suffix, data, 0o600))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// snapshot is every file below dir with its mode and bytes. The content of a
// -shm file is left out: it is an index that readers share, no data.
func snapshot(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		out[name] = info.Mode().String()
		if info.Mode().IsRegular() && !strings.HasSuffix(name, "-shm") {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[name] += " " + info.ModTime().String() + " " + string(data)
		}
		return nil
	}))
	return out
}

func wantUntouched(t testing.TB, dir string, before map[string]string) {
	t.Helper()
	after := snapshot(t, dir)
	if !maps.Equal(before, after) {
		for _, name := range slices.Sorted(maps.Keys(after)) {
			if before[name] != after[name] {
				t.Errorf("%s was touched: %.70q, was %.70q", name, after[name], before[name])
			}
		}
		t.Errorf("files before %v, after %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

func wantReason(t testing.TB, err error, want sqlite.Reason) {
	t.Helper()
	var u *sqlite.Unusable
	if !errors.As(err, &u) {
		t.Errorf("got %v, want %s", err, want)
		return
	}
	if u.Reason != want {
		t.Errorf("got reason %s (%v), want %s", u.Reason, u.Err, want)
	}
	if u.Error() == "" || u.Path == "" {
		t.Errorf("says nothing: %+v", u)
	}
}

func skipWithoutSymlinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs Unix files")
	}
}

func TestUnusable(t *testing.T) {
	t.Parallel()
	good := func(t *testing.T, path string) []byte {
		execute(t, path, schema, fmt.Sprintf(`INSERT INTO sessions VALUES ('x', '%s')`, strings.Repeat("y", 20000)))
		data, err := os.ReadFile(path)
		must(t, err)
		return data
	}
	cut := func(n int) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			data := good(t, path)
			must(t, os.WriteFile(path, data[:(len(data)+n)%len(data)], 0o600))
		}
	}
	link := func(suffix string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			skipWithoutSymlinks(t)
			good(t, path)
			target := filepath.Join(filepath.Dir(path), "elsewhere"+suffix)
			must(t, os.WriteFile(target, []byte("precious"), 0o600))
			if suffix == "" {
				must(t, os.Rename(path, target))
			}
			must(t, os.Symlink(target, path+suffix))
		}
	}
	for name, tc := range map[string]struct {
		want sqlite.Reason
		make func(*testing.T, string)
	}{
		"folder":           {sqlite.IsFolder, func(t *testing.T, p string) { must(t, os.Mkdir(p, 0o700)) }},
		"folder as a file": {sqlite.NoFolder, func(t *testing.T, p string) { must(t, os.WriteFile(filepath.Dir(p)+"/f", nil, 0o600)) }},
		"garbage":          {sqlite.NotSQLite, func(t *testing.T, p string) { must(t, os.WriteFile(p, bytes.Repeat([]byte("garbage!"), 900), 0o644)) }},
		"short garbage":    {sqlite.NotSQLite, func(t *testing.T, p string) { must(t, os.WriteFile(p, []byte("{}"), 0o600)) }},
		"zeros":            {sqlite.NotSQLite, func(t *testing.T, p string) { must(t, os.WriteFile(p, make([]byte, 8192), 0o600)) }},
		"magic only":       {sqlite.Damaged, cut(16)},
		"half a header":    {sqlite.Damaged, cut(99)},
		"header only":      {sqlite.Damaged, cut(100)},
		"a page":           {sqlite.Damaged, cut(4096)},
		"half a page":      {sqlite.Damaged, cut(6000)},
		"but a page":       {sqlite.Damaged, cut(-4096)},
		"scrambled": {sqlite.Damaged, func(t *testing.T, p string) {
			data := good(t, p)
			for i := 100; i < 4096; i++ {
				data[i] = 0xa5
			}
			must(t, os.WriteFile(p, data, 0o600))
		}},
		"symlink":             {sqlite.IsSymlink, link("")},
		"symlinked -wal":      {sqlite.IsSymlink, link("-wal")},
		"symlinked -shm":      {sqlite.IsSymlink, link("-shm")},
		"symlinked -journal":  {sqlite.IsSymlink, link("-journal")},
		"dangling symlink":    {sqlite.IsSymlink, func(t *testing.T, p string) { skipWithoutSymlinks(t); must(t, os.Symlink(p+"-nowhere", p)) }},
		"symlinked side only": {sqlite.IsSymlink, func(t *testing.T, p string) { skipWithoutSymlinks(t); must(t, os.Symlink("elsewhere", p+"-wal")) }},
		"folder as -wal":      {sqlite.IsFolder, func(t *testing.T, p string) { good(t, p); must(t, os.Mkdir(p+"-wal", 0o700)) }},
		"socket": {sqlite.NotRegular, func(t *testing.T, p string) {
			skipWithoutSymlinks(t)
			// The path of a socket is limited to about a hundred bytes.
			dir, err := os.MkdirTemp("", "q")
			must(t, err)
			l, err := net.Listen("unix", filepath.Join(dir, "s"))
			must(t, err)
			t.Cleanup(func() { l.Close(); os.RemoveAll(dir) })
			must(t, os.Rename(filepath.Join(dir, "s"), p))
		}},
		"newer schema": {sqlite.NewerSchema, func(t *testing.T, p string) {
			execute(t, p, schema, `UPDATE session_store_metadata SET schema_version = 2`)
		}},
		"newer schema, WAL": {sqlite.NewerSchema, func(t *testing.T, p string) {
			execute(t, p, `PRAGMA journal_mode = WAL`, schema, `UPDATE session_store_metadata SET schema_version = 2`)
		}},
		"newer schema, -wal": {sqlite.NewerSchema, func(t *testing.T, p string) {
			leaveWAL(t, p, schema, `UPDATE session_store_metadata SET schema_version = 2`)
		}},
		"older schema": {sqlite.ForeignSchema, func(t *testing.T, p string) {
			execute(t, p, schema, `UPDATE session_store_metadata SET schema_version = 0`)
		}},
		"two versions": {sqlite.ForeignSchema, func(t *testing.T, p string) { execute(t, p, schema, `INSERT INTO session_store_metadata VALUES (1)`) }},
		"no version":   {sqlite.ForeignSchema, func(t *testing.T, p string) { execute(t, p, schema, `DELETE FROM session_store_metadata`) }},
		"textual version": {sqlite.ForeignSchema, func(t *testing.T, p string) {
			execute(t, p, schema, `UPDATE session_store_metadata SET schema_version = 'one'`)
		}},
		"foreign":        {sqlite.ForeignSchema, func(t *testing.T, p string) { execute(t, p, `CREATE TABLE bookmarks (url TEXT)`) }},
		"foreign, -wal":  {sqlite.ForeignSchema, func(t *testing.T, p string) { leaveWAL(t, p, `CREATE TABLE bookmarks (url TEXT)`) }},
		"table missing":  {sqlite.ForeignSchema, func(t *testing.T, p string) { execute(t, p, schema, `DROP TABLE sessions`) }},
		"column missing": {sqlite.ForeignSchema, func(t *testing.T, p string) { execute(t, p, schema, `ALTER TABLE sessions DROP COLUMN payload`) }},
		"column added":   {sqlite.ForeignSchema, func(t *testing.T, p string) { execute(t, p, schema, `ALTER TABLE sessions ADD COLUMN note`) }},
		"views": {sqlite.ForeignSchema, func(t *testing.T, p string) {
			execute(t, p, `CREATE TABLE t (run_id, payload, schema_version)`,
				`CREATE VIEW sessions AS SELECT run_id, payload FROM t`, `CREATE VIEW session_store_metadata AS SELECT schema_version FROM t`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "store.sqlite3")
			tc.make(t, path)
			if name == "folder as a file" {
				path = filepath.Join(dir, "f", "store.sqlite3")
			}
			before := snapshot(t, dir)
			s := sqlite.New(path, nil)
			defer s.Close()
			ctx := context.Background()
			wantReason(t, s.Open(ctx), tc.want)
			wantReason(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 9), tc.want)
			_, err := s.Get(ctx, storetest.ID(1))
			wantReason(t, err, tc.want)
			_, err = s.Update(ctx, storetest.ID(1), storetest.Choose(catalog.RubyReviewer, 0))
			wantReason(t, err, tc.want)
			_, err = s.List(ctx, storetest.T0)
			wantReason(t, err, tc.want)
			wantUntouched(t, dir, before)
			if in, err := sqlite.Inspect(ctx, path); err == nil {
				t.Error("Inspect opens it")
				in.Close()
			} else if name != "folder as a file" && !strings.HasPrefix(name, "symlinked side") {
				wantReason(t, err, tc.want)
			}
			wantUntouched(t, dir, before)
		})
	}
}

func TestMendedStoreWorksWithoutARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	must(t, os.WriteFile(path, []byte("garbage"), 0o600))
	s := open(t, path)
	ctx := context.Background()
	wantReason(t, s.Open(ctx), sqlite.NotSQLite)
	must(t, os.Remove(path))
	must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 1))
}

func TestLockedByAStranger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	s := open(t, path)
	ctx := context.Background()
	must(t, s.Create(ctx, storetest.New(1, 0), storetest.T0, 1))
	db := raw(t, path)
	defer db.Close()
	if _, err := db.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Update(ctx, storetest.ID(1), storetest.Choose(catalog.RubyReviewer, 0))
		done <- err
	}()
	// Reading is not held up by a writer, whoever it is.
	got, err := s.Get(ctx, storetest.ID(1))
	if err != nil || got != storetest.New(1, 0) {
		t.Fatalf("%+v, %v", got, err)
	}
	wantReason(t, <-done, sqlite.Busy)
	if _, err := db.Exec(`ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(ctx, storetest.ID(1), storetest.Choose(catalog.RubyReviewer, 0)); err != nil {
		t.Fatal(err)
	}
}

func TestUnusableTexts(t *testing.T) {
	t.Parallel()
	cause := errors.New("what the system said")
	seen := map[string]bool{}
	for _, r := range []sqlite.Reason{
		sqlite.IsFolder, sqlite.IsSymlink, sqlite.NotRegular, sqlite.NotSQLite, sqlite.Damaged, sqlite.NewerSchema,
		sqlite.ForeignSchema, sqlite.Denied, sqlite.ReadOnly, sqlite.Busy, sqlite.DiskFull, sqlite.Missing, sqlite.BadRow,
		sqlite.HotJournal, sqlite.NoFolder, sqlite.Failed,
	} {
		u := &sqlite.Unusable{Reason: r, Path: "/secret/path", Err: cause}
		text := u.Error()
		if text == "" || strings.Contains(text, "secret") || seen[text] || !errors.Is(u, cause) {
			t.Errorf("%s: %q", r, text)
		}
		if strings.Contains(text, cause.Error()) != (r == sqlite.Failed) {
			t.Errorf("%s: %q", r, text)
		}
		seen[text] = true
	}
}
