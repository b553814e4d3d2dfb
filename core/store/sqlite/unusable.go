package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"

	"github.com/qa-orch/qa-orch/core/regular"
)

// Reason says why a store file can't be used.
type Reason string

// The reasons.
const (
	IsFolder      Reason = "is_folder"      // the path is a folder
	IsSymlink     Reason = "is_symlink"     // the path or a side file is a symbolic link
	NotRegular    Reason = "not_regular"    // a device, pipe or socket
	SecondName    Reason = "second_name"    // the file or a side file has another name, a hard link
	NoFolder      Reason = "no_folder"      // the path leads through a file
	NotSQLite     Reason = "not_sqlite"     // no SQLite database
	Damaged       Reason = "damaged"        // a SQLite database with broken or missing parts
	NewerSchema   Reason = "newer_schema"   // made by a later version of this tool
	ForeignSchema Reason = "foreign_schema" // a SQLite database of something else
	Denied        Reason = "denied"         // no permission to read or write it
	ReadOnly      Reason = "read_only"      // the file or its folder can't be written
	Busy          Reason = "busy"           // another program kept it locked
	DiskFull      Reason = "disk_full"
	Missing       Reason = "missing" // there is no such file (read-only opening)
	BadRow        Reason = "bad_row" // this session's row can't be read
	HotJournal    Reason = "hot_journal"
	Failed        Reason = "failed" // anything else that the system reported
)

// Unusable is the error of a store that can't be used, as a whole or for one
// row. Nothing in the file was changed.
type Unusable struct {
	Reason Reason
	Path   string
	Err    error // what the driver or the system said; nil where Reason says it all
}

// Error describes the problem in English, without the path.
func (u *Unusable) Error() string {
	text := map[Reason]string{
		IsFolder:      "the path is a folder, not a file",
		IsSymlink:     "the path or one of its side files is a symbolic link",
		NotRegular:    "the path is not a regular file",
		SecondName:    "the file or one of its side files has a second name (a hard link)",
		NoFolder:      "a part of the path is a file, not a folder",
		NotSQLite:     "the file is not a SQLite database",
		Damaged:       "the database is damaged",
		NewerSchema:   "the database was written by a later version",
		ForeignSchema: "the database belongs to something else",
		Denied:        "permission denied",
		ReadOnly:      "the file or its folder is read-only",
		Busy:          "another program keeps the database locked",
		DiskFull:      "the disk is full",
		Missing:       "there is no such file",
		BadRow:        "the stored row of this session cannot be read",
		HotJournal:    "an interrupted write has to be completed first",
		Failed:        "the database could not be used",
	}[u.Reason]
	if u.Reason == Failed && u.Err != nil {
		return fmt.Sprintf("%s: %v", text, u.Err)
	}
	return text
}

// Unwrap returns what the driver or the system said.
func (u *Unusable) Unwrap() error { return u.Err }

// SQLite's primary result codes, as far as they mean something to a person.
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

func resultCode(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool {
	c := resultCode(err)
	return c == codeBusy || c == codeLocked
}

// unusable gives err a reason.
func unusable(path string, err error) error {
	var u *Unusable
	if err == nil || errors.As(err, &u) {
		return err
	}
	u = &Unusable{Reason: Failed, Path: path, Err: err}
	switch resultCode(err) {
	case codeBusy, codeLocked:
		u.Reason = Busy
	case codeReadOnly:
		u.Reason = ReadOnly
	case codeCorrupt:
		u.Reason = Damaged
	case codeFull:
		u.Reason = DiskFull
	case codeNotADB:
		u.Reason = NotSQLite
	case codeCantOpen:
		u.Reason = Denied
	}
	switch {
	case errors.Is(err, regular.ErrLink):
		u.Reason = IsSymlink
	case errors.Is(err, regular.ErrNotRegular):
		u.Reason = NotRegular
	case errors.Is(err, fs.ErrPermission):
		u.Reason = Denied
	case errors.Is(err, syscall.ENOTDIR):
		u.Reason = NoFolder
	case errors.Is(err, fs.ErrNotExist):
		u.Reason = Missing
	case isReadOnlyFS(err):
		u.Reason = ReadOnly
	case isNoSpace(err):
		u.Reason = DiskFull
	}
	return u
}
