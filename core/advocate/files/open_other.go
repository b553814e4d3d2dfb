//go:build !unix

package files

import (
	"io/fs"
	"os"
)

// open opens a file that is no link.
func open(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !info.Mode().IsRegular():
		return nil, errIrregular
	}
	return os.Open(path)
}
