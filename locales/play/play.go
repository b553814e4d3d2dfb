// Package play holds what a client says in the performances of the devil's advocate: a claim, and
// for each phase the items that it submits.
package play

import (
	"embed"
	"encoding/json"

	"github.com/pelletier/go-toml/v2"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
)

//go:embed *.toml
var files embed.FS

// Script is a performance in one language.
type Script struct {
	Claim   string  `toml:"claim"`
	Context string  `toml:"context"`
	Phases  []Phase `toml:"phase"`
}

// Phase is what is submitted in one phase, as a submission's items.
type Phase struct {
	Name advocate.Phase `toml:"name"`
	// Lazy is an attempt that the quality gate refuses; empty in most phases.
	Lazy []map[string]any `toml:"lazy"`
	// Items complete the phase.
	Items []map[string]any `toml:"items"`
}

// In returns the script in a language.
func In(lang locales.Lang) (*Script, error) {
	data, err := files.ReadFile(lang.String() + ".toml")
	if err != nil {
		return nil, err
	}
	s := new(Script)
	return s, toml.Unmarshal(data, s)
}

// Of returns what is submitted in a phase.
func (s *Script) Of(name advocate.Phase) Phase {
	for _, p := range s.Phases {
		if p.Name == name {
			return p
		}
	}
	return Phase{}
}

// Submission turns items into what a review's Submit takes.
func Submission(items []map[string]any) ([]any, error) {
	data, err := json.Marshal(items)
	if err != nil {
		return nil, err
	}
	return advocate.DecodeItems(data)
}
