//go:build !unix

package regular

import (
	"io/fs"
	"os"
)

const (
	nonBlock = 0
	noFollow = 0
)

func wordOf(err error) error { return err }

// Ours reports whether a file belongs to the person who runs this process. That is not looked at
// here: making a link takes a privilege on these systems.
func Ours(fs.FileInfo) bool { return true }

// Names returns how many names a file has; here that is not told.
func Names(fs.FileInfo) uint64 { return 1 }

// Chmod changes the mode of the file at path.
func Chmod(path string, mode fs.FileMode) error { return os.Chmod(path, mode.Perm()) }
