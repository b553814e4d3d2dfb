//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// open opens a file that is no link; a pipe does not block it.
func open(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, errLink
	}
	var p *fs.PathError
	if errors.As(err, &p) && p.Err == syscall.ENXIO { // a socket
		return nil, errIrregular
	}
	return file, err
}
