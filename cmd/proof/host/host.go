// Package host plays hosts: it knows which call of a tool is due in a review, and
// whether what a server says of a review later agrees with what it acknowledged.
package host

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// Play is the host's side of one review, call by call. It is not safe for
// concurrent use.
type Play interface {
	// ID is the review's, empty before it was started.
	ID() string
	// Over reports whether there is nothing more to do.
	Over() bool
	// Next returns the call that is due. It is the same until Take or Find.
	Next() Call
	// Take takes the answer to Next's call. An error means that the answer is
	// not what it should be.
	Take(fleet.Result) error
	// Look returns the call that says where the review stands.
	Look() Call
	// Find takes the answer to Look's call after a crash, when Next's call may
	// have been carried out or not, if it was under way, and goes on from there.
	// An error means that something that was acknowledged is not so.
	Find(answer fleet.Result, underWay bool) error
}

// Call is a call of a tool.
type Call struct {
	Tool      string
	Arguments map[string]any
}

// ErrRefused is wrapped by the errors of refusals.
var ErrRefused = errors.New("refused")

// refusal makes an error of an answer that is a refusal.
func refusal(c Call, r fleet.Result) error {
	if r.IsError {
		return fmt.Errorf("%s was %w: %s", c.Tool, ErrRefused, r.Text)
	}
	return nil
}

// read reads the structured content of an answer.
func read(r fleet.Result, v any) error {
	if err := json.Unmarshal(r.Structured, v); err != nil {
		return fmt.Errorf("%w in %s", err, r.Structured)
	}
	return nil
}
