package watch

import (
	"context"
	"reflect"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
)

// policyEvery is how often the policy file is looked at. Reading it takes some
// ten microseconds.
const policyEvery = 500 * time.Millisecond

// PolicyState is the policy file as it is on disk.
type PolicyState struct {
	Policy     policy.Policy // the last valid one; zero when there never was one
	Usable     bool          // Policy is one
	Configured bool          // there is a file; otherwise Policy is the default
	Err        error         // why the file can't be used now, a *policy.Invalid
	Models     *catalog.Models
	ModelsErr  error // why the user's models file can't be used
}

// PolicyFeed follows the policy file. It is for one caller at a time.
type PolicyFeed struct {
	path, models string
	last         PolicyState
	begun        bool
}

// NewPolicyFeed returns a feed of the policy file and the user's models file,
// neither of which need exist.
func NewPolicyFeed(path, models string) *PolicyFeed {
	return &PolicyFeed{path: path, models: models}
}

// Next returns the state: at once when first called, later when it has changed.
// The only error is that of ctx.
func (f *PolicyFeed) Next(ctx context.Context) (PolicyState, error) {
	for {
		state := f.look()
		if !f.begun || !sameState(state, f.last) {
			f.begun, f.last = true, state
			return state, nil
		}
		timer := time.NewTimer(policyEvery)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return PolicyState{}, ctx.Err()
		}
	}
}

func (f *PolicyFeed) look() PolicyState {
	state := PolicyState{Policy: f.last.Policy, Usable: f.last.Usable}
	state.Models, state.ModelsErr = policy.LoadModels(f.models)
	p, configured, err := policy.Load(f.path, state.Models)
	state.Configured, state.Err = configured, err
	if err == nil {
		state.Policy, state.Usable = p, true
	}
	return state
}

func sameState(a, b PolicyState) bool {
	return a.Policy == b.Policy && a.Usable == b.Usable && a.Configured == b.Configured &&
		sameText(a.Err, b.Err) && sameText(a.ModelsErr, b.ModelsErr) &&
		reflect.DeepEqual(a.Models.All(), b.Models.All())
}

func sameText(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Error() == b.Error()
}
