package policy

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/regular"
)

// maxFile bounds a policy or models file, in bytes. Real ones are under 2 KiB.
const maxFile = 1 << 20

// Load reads the policy file at path. Where there is none it returns the default
// and configured = false. The error is an *Invalid.
func Load(path string, m *catalog.Models) (p Policy, configured bool, err error) {
	data, err := atomicfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), false, nil
	}
	if err != nil {
		return Policy{}, true, invalid(Problem{Code: CodeIO, Err: err})
	}
	p, err = Parse(data, m)
	return p, true, err
}

// Save writes p to path: atomically, with mode 0600, through a symlink. A file
// there that is no valid policy is first copied to a backup beside it, whose
// name is returned; one that can't even be read makes Save fail and stays.
func Save(path string, p Policy, m *catalog.Models) (backup string, err error) {
	if problems := Validate(p, m); len(problems) > 0 {
		return "", invalid(problems...)
	}
	old, err := atomicfile.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	default:
		if _, err := Parse(old, m); err != nil && len(bytes.TrimSpace(old)) > 0 {
			if backup, err = atomicfile.Backup(path, old); err != nil {
				return "", err
			}
		}
	}
	return backup, atomicfile.Write(path, p.Encode(), 0o600)
}

// LoadModels returns the built-in catalogue with the user's models file at path
// laid over it. Without such a file it is the built-in one. When the file is
// broken the built-in catalogue is returned together with the error, a
// *catalog.FileProblem or what the operating system said.
func LoadModels(path string) (*catalog.Models, error) {
	builtin := catalog.Builtin()
	data, err := atomicfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return builtin, nil
	}
	if err != nil {
		return builtin, err
	}
	user, err := catalog.ParseUserModels(data)
	if err != nil {
		return builtin, err
	}
	return builtin.With(user), nil
}

// ioReason words an operating-system error without the path, which the
// messages around it name where that helps.
func ioReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, regular.ErrNotRegular):
		return "it is not a regular file"
	case errors.Is(err, regular.ErrForeignLink):
		return "it is a symbolic link that belongs to another user"
	case errors.Is(err, atomicfile.ErrTooLarge):
		return "it is over 1 MiB"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	if err == nil {
		return "unknown error"
	}
	return err.Error()
}
