package clients

import (
	"os"
	"path/filepath"
	"strings"
)

// PathCode is a reason why a path is no command to be written into a client's
// list of servers.
type PathCode string

// The reasons.
const (
	GoRun     PathCode = "go_run"    // made by go run or go test
	Temporary PathCode = "temporary" // in a folder that is cleared
	Gone      PathCode = "gone"      // no file, or not one that can be run
)

// PathError says why a path would not last.
type PathError struct {
	Code PathCode
	Path string
}

// Error describes the problem in English.
func (e *PathError) Error() string {
	switch e.Code {
	case GoRun:
		return e.Path + " was made by go run and is gone soon"
	case Temporary:
		return e.Path + " is in a folder for temporary files"
	}
	return e.Path + " is no program"
}

// Started is how this process was started.
type Started struct {
	Executable string // as the system knows it; links may be resolved
	Arg0       string // as it was typed
	Dir        string // where
	// LookPath finds a program as the shell does.
	LookPath func(name string) (string, error)
	// Temporary are the folders that are cleared now and then.
	Temporary []string
}

// StablePath returns the absolute path by which a client should start this
// program: the one that a package manager keeps through upgrades, so a link
// rather than what it leads to.
func (s Started) StablePath() (string, error) {
	if strings.HasSuffix(s.Executable, " (deleted)") || !exists(s.Executable) {
		return "", &PathError{Gone, s.Executable}
	}
	path := s.Executable
	typed := s.Arg0
	if typed != "" && strings.ContainsAny(typed, `/`+string(filepath.Separator)) && !filepath.IsAbs(typed) {
		typed = filepath.Join(s.Dir, typed)
	}
	for _, candidate := range []string{found(s.LookPath, filepath.Base(s.Executable)), found(s.LookPath, s.Arg0), typed} {
		if candidate != "" && filepath.IsAbs(candidate) && sameFile(candidate, s.Executable) {
			path = filepath.Clean(candidate)
			break
		}
	}
	return path, s.lasting(path)
}

func found(look func(string) (string, error), name string) string {
	if name == "" || filepath.Base(name) != name {
		return ""
	}
	path, err := look(name)
	if err != nil {
		return ""
	}
	return path
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// lasting refuses a path that will be gone, or that leads to what will be.
func (s Started) lasting(path string) error {
	for _, p := range []string{path, resolved(path)} {
		for _, elem := range strings.Split(filepath.ToSlash(p), "/") {
			if strings.HasPrefix(elem, "go-build") {
				return &PathError{GoRun, path}
			}
			if elem == "_npx" || elem == "AppTranslocation" {
				return &PathError{Temporary, path}
			}
		}
		for _, dir := range s.Temporary {
			if dir != "" && (inside(p, dir) || inside(p, resolved(dir))) {
				return &PathError{Temporary, path}
			}
		}
	}
	return nil
}

func resolved(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// TemporaryFolders returns the folders of a system that are cleared now and then.
func TemporaryFolders(goos string, getenv func(string) string) []string {
	dirs := []string{os.TempDir(), getenv("GOTMPDIR"), getenv("XDG_RUNTIME_DIR")}
	if goos != "windows" {
		dirs = append(dirs, "/tmp", "/var/tmp", "/dev/shm")
	}
	return dirs
}
