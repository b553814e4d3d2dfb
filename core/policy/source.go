package policy

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/qa-orch/qa-orch/core/atomicfile"
	"github.com/qa-orch/qa-orch/core/catalog"
)

// settled is how old a file's last change must be before an unchanged stat is
// taken as unchanged content: file systems stamp in steps, and two writes
// within one step look alike.
const settled = 2 * time.Second

// Source gives a running server the policy as it is on disk now. It keeps the
// last valid one while the file is invalid. It is safe for concurrent use.
type Source struct {
	policyPath string
	modelsPath string
	warn       func(error)

	mu      sync.Mutex
	policy  fileState
	models  fileState
	catalog *catalog.Models
	current Policy
	err     error // why there is no current policy; nil when there is one
	loaded  bool
}

// NewSource watches the policy file and the user's models file, neither of
// which need exist. It reads nothing yet. warn, if not nil, is called once for
// each change that makes a file unusable, with an *Invalid for the policy or
// what LoadModels returns for the models.
func NewSource(policyPath, modelsPath string, warn func(error)) *Source {
	if warn == nil {
		warn = func(error) {}
	}
	return &Source{policyPath: policyPath, modelsPath: modelsPath, warn: warn}
}

// Current returns the policy and the catalogue that count now. The error is an
// *Invalid: the file is unusable and this Source never saw a valid one.
func (s *Source) Current() (Policy, *catalog.Models, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := !s.loaded
	if s.models.refresh(s.modelsPath) || s.catalog == nil {
		changed = true
		s.loadModels()
	}
	if s.policy.refresh(s.policyPath) || changed {
		s.loadPolicy()
	}
	s.loaded = true
	return s.current, s.catalog, s.err
}

// Assign returns the assignment of stage st under the current policy.
func (s *Source) Assign(st Stage) (Assignment, error) {
	p, m, err := s.Current()
	if err != nil {
		return Assignment{}, err
	}
	return p.Assign(st, m), nil
}

func (s *Source) loadModels() {
	s.catalog = catalog.Builtin()
	switch f := &s.models; {
	case errors.Is(f.err, fs.ErrNotExist):
	case f.err != nil:
		s.warn(f.err)
	default:
		user, err := catalog.ParseUserModels(f.data)
		if err != nil {
			s.warn(err)
			return
		}
		s.catalog = s.catalog.With(user)
	}
}

func (s *Source) loadPolicy() {
	var p Policy
	var err error
	switch f := &s.policy; {
	case errors.Is(f.err, fs.ErrNotExist):
		p = Default()
	case f.err != nil:
		err = invalid(Problem{Code: CodeIO, Err: f.err})
	default:
		p, err = Parse(f.data, s.catalog)
	}
	if err == nil {
		s.current, s.err = p, nil
		return
	}
	s.warn(err)
	if !s.loaded || s.err != nil { // no valid one to keep
		s.err = err
	}
}

// fileState is what was last read from a file, and the stat it had then.
type fileState struct {
	read bool
	info fs.FileInfo // nil when the file was not there
	at   time.Time   // when info was taken
	data []byte
	err  error
}

// refresh reads the file again unless it surely is as it was, and reports
// whether its content or its error changed.
func (f *fileState) refresh(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	if f.read && f.sameAs(info) {
		return false
	}
	first := !f.read
	f.read, f.info, f.at = true, info, time.Now()
	data, err := atomicfile.Read(path, maxFile)
	if !first && bytes.Equal(data, f.data) && sameError(err, f.err) {
		return false
	}
	f.data, f.err = data, err
	return true
}

func (f *fileState) sameAs(info fs.FileInfo) bool {
	if info == nil || f.info == nil {
		return info == nil && f.info == nil && errors.Is(f.err, fs.ErrNotExist)
	}
	return os.SameFile(info, f.info) && info.Size() == f.info.Size() && info.Mode() == f.info.Mode() &&
		info.ModTime().Equal(f.info.ModTime()) && f.at.Sub(info.ModTime()) > settled && f.err == nil
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Error() == b.Error()
}
