package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/core/regular"
)

// sideSuffixes name the files that SQLite keeps beside a database.
var sideSuffixes = []string{"-wal", "-shm", "-journal"}

var magic = []byte("SQLite format 3\x00")

// headerSize is the length of a database's header; the two bytes at walOffset
// are 2 in WAL mode.
const (
	headerSize = 100
	walOffset  = 18
)

// checkFile looks at the database and its side files without SQLite: all must
// be regular files, and the database empty or one by its header.
func checkFile(path string) (info fs.FileInfo, header []byte, err error) {
	info, err = os.Lstat(path)
	if err != nil {
		return nil, nil, unusable(path, err)
	}
	if reason := badMode(info); reason != "" {
		return nil, nil, &Unusable{Reason: reason, Path: path}
	}
	if err := checkSides(path); err != nil {
		return nil, nil, err
	}
	f, err := regular.OpenHere(path)
	if err != nil {
		return nil, nil, unusable(path, err)
	}
	defer func() { _ = f.Close() }()
	header = make([]byte, headerSize)
	n, err := io.ReadFull(f, header)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, unusable(path, err)
	}
	header = header[:n]
	switch {
	case n == 0:
		return info, nil, nil
	case !bytes.HasPrefix(header, magic):
		return nil, nil, &Unusable{Reason: NotSQLite, Path: path}
	case n < headerSize:
		return nil, nil, &Unusable{Reason: Damaged, Path: path}
	}
	return info, header, nil
}

// openLimit is how long SQLite may take to open a file: it waits for others'
// locks no longer than busyTimeout.
const openLimit = busyTimeout + time.Second

// connect makes db's connection now. A pipe that somebody has put in the file's
// place since checkFile keeps the opening waiting for ever; it is left behind then.
func connect(ctx context.Context, db *sql.DB, path string) error {
	done := make(chan error, 1)
	go func() { done <- db.PingContext(ctx) }()
	late := time.NewTimer(openLimit)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		return &Unusable{Reason: NotRegular, Path: path}
	}
}

// checkOpened refuses a database that SQLite has opened through a link: it
// follows one that somebody has put there since checkFile.
func checkOpened(ctx context.Context, db *sql.DB, path string, checked fs.FileInfo) error {
	var opened string
	if err := db.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&opened); err != nil {
		return err
	}
	info, err := os.Lstat(opened) // SQLite has resolved the links in the name
	if err != nil {
		return err
	}
	if os.SameFile(info, checked) {
		return nil
	}
	// Another file that was put in its place meanwhile is noticed by the next call.
	if now, err := os.Lstat(path); err == nil && os.SameFile(now, info) {
		return nil
	}
	return &Unusable{Reason: IsSymlink, Path: path}
}

// checkSides refuses side files that are no regular files.
func checkSides(path string) error {
	for _, suffix := range sideSuffixes {
		if side, err := os.Lstat(path + suffix); err == nil {
			if reason := badMode(side); reason != "" {
				return &Unusable{Reason: reason, Path: path + suffix}
			}
		}
	}
	return nil
}

func badMode(info fs.FileInfo) Reason {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return IsFolder
	case mode&fs.ModeSymlink != 0:
		return IsSymlink
	case !mode.IsRegular():
		return NotRegular
	case regular.Names(info) > 1:
		// What is written here would change under the other name too, and SQLite
		// keeps side files for one name only.
		return SecondName
	}
	return ""
}

// create makes the file with mode 0600, and a missing folder with 0700, unless
// it is there already.
func create(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	if err := checkSides(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return unusable(path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the person names the store; O_EXCL follows no link
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return unusable(path, err)
	}
	if err := f.Close(); err != nil {
		return unusable(path, err)
	}
	atomicfile.SyncDir(filepath.Dir(path)) // SQLite syncs only the content
	return nil
}

// tighten takes everybody else's permissions away from the file and its side files.
func tighten(path string) error {
	for _, name := range append([]string{path}, path+"-wal", path+"-shm", path+"-journal") {
		info, err := os.Lstat(name)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := regular.Chmod(name, info.Mode().Perm()&0o600); err != nil {
			return unusable(path, err)
		}
	}
	return nil
}

// uri names exactly the file at path, whatever characters it holds.
func uri(path string, query url.Values) string {
	p := filepath.ToSlash(path)
	if len(p) > 1 && p[1] == ':' { // a Windows drive
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: p, RawQuery: query.Encode()}).String()
}
