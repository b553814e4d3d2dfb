package locales

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Cause says why an operation of the system failed, without the path, which the caller names. What
// it does not know it passes on as the system words it, made inert.
func (p *Printer) Cause(err error) string {
	if known := p.KnownCause(err); known != "" {
		return known
	}
	return p.T("cause.unknown", Vars{"Detail": Shorten(innermost(err).Error(), longestDetail)})
}

// KnownCause is Cause for an error that may hold what another program said: empty unless the words are
// our own.
func (p *Printer) KnownCause(err error) string {
	for _, c := range append(causes(), systemCauses()...) {
		if errors.Is(err, c.err) {
			return c.message.In(p)
		}
	}
	return ""
}

// longestDetail is how much is repeated of what the system says.
const longestDetail = 300

type cause struct {
	err     error
	message Message
}

func causes() []cause {
	return []cause{
		{syscall.ENOSPC, M("cause.disk-full")},
		{syscall.EDQUOT, M("cause.quota")},
		{syscall.EROFS, M("cause.read-only")},
		{syscall.EISDIR, M("cause.is-folder")},
		{syscall.ENOTDIR, M("cause.no-folder")},
		{syscall.ENAMETOOLONG, M("cause.name-too-long")},
		{syscall.ELOOP, M("cause.link-loop")},
		{syscall.EPIPE, M("cause.closed")},
		{fs.ErrClosed, M("cause.closed")},
		{io.ErrClosedPipe, M("cause.closed")},
		{fs.ErrNotExist, M("cause.missing")},
		{fs.ErrExist, M("cause.exists")},
		{fs.ErrPermission, M("cause.denied")},
		{context.DeadlineExceeded, M("cause.timeout")},
		{os.ErrDeadlineExceeded, M("cause.timeout")},
		{context.Canceled, M("cause.cancelled")},
	}
}

// innermost returns what failed without the operation and path around it.
func innermost(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
