package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzNote puts any note and any backup where the ledger keeps its own, and makes
// and undoes a change then. Unless the note says that we left the file as it is,
// the file comes back to the byte; files and folders that are not the change's own
// stay whatever the note says. In the note, @ stands for the folder that all of
// this is in.
func FuzzNote(f *testing.F) {
	dir := f.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	l := Ledger{filepath.Join(dir, "notes")}
	home := filepath.Join(dir, "home")
	path := filepath.Join(home, "made", "list.json")
	// What has nothing to do with it: an empty folder and a file.
	bystanders := []string{filepath.Join(dir, "empty"), filepath.Join(dir, "file"), filepath.Join(home, "empty")}

	f.Fuzz(func(t *testing.T, note, backup, before []byte, existed, pristine, table bool) {
		if len(note)+len(backup)+len(before) > 64<<10 {
			return
		}
		for _, old := range []string{l.Dir, home} {
			if err := os.RemoveAll(old); err != nil {
				t.Fatal(err)
			}
		}
		for _, made := range []string{l.Dir, filepath.Dir(path), bystanders[0], bystanders[2]} {
			if err := os.MkdirAll(made, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		put(t, bystanders[1], "kept")
		if existed {
			put(t, path, string(before))
		}
		open := func() *File {
			file, err := l.Open(context.Background(), path)
			if err != nil {
				t.Fatal(err)
			}
			return file
		}
		file := open()
		key := file.key
		file.Close()
		inJSON, _ := json.Marshal(dir)
		note = bytes.ReplaceAll(note, []byte("@"), bytes.Trim(inJSON, `"`))
		put(t, filepath.Join(l.Dir, key+".json"), string(note))
		put(t, filepath.Join(l.Dir, key+"-"+sum(backup)[:8]+"-list.json"), string(backup))

		file = open()
		left, noted := file.Untouched(), file.note.Original // so the note says
		original := file.Data
		if !pristine {
			original = []byte("without us")
		}
		if !left {
			if err := file.Keep(original, table, nil); err != nil {
				t.Fatal(err)
			}
		}
		file.Claim("us", "mark")
		if err := file.Put([]byte("ours"), 0o600); err != nil {
			t.Fatal(err)
		}
		file.Close()
		want(t, path, "ours")
		file = open()
		exact, kept, err := file.Undo("us", Rest{Data: []byte("the rest"), Last: true})
		if err != nil || kept != "" {
			t.Fatal(kept, err)
		}
		file.Close()

		now, err := os.ReadFile(path)
		switch {
		case left: // then the note counts
			if is := string(now); err == nil && is != "the rest" && (!bytes.Equal(now, backup) || sum(backup) != noted) {
				t.Errorf("it became %q", is)
			}
		case exact != (pristine || existed && bytes.Equal(original, before)):
			t.Errorf("exact is %v, and nothing of ours was in the file: %v", exact, pristine)
		case original != nil:
			want(t, path, string(original))
		case !errors.Is(err, fs.ErrNotExist):
			t.Errorf("there was no file and now there is %q, %v", now, err)
		}
		for _, b := range bystanders {
			if _, err := os.Stat(b); err != nil {
				t.Errorf("%s is gone", b)
			}
		}
		left2, err := filepath.Glob(filepath.Join(l.Dir, "*"))
		if err != nil || len(left2) != 1 || !strings.HasSuffix(left2[0], ".lock") {
			t.Errorf("left in the ledger: %q, %v", left2, err)
		}
	})
}
