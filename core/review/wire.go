package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
)

// wire is the session as a host sees it and as the recovery store keeps it: all
// fields always there, in this order.
type wire struct {
	RunID              string             `json:"run_id"`
	Task               catalog.TaskType   `json:"task_type"`
	Status             Status             `json:"status"`
	Step               Step               `json:"current_step"`
	AllowedProfiles    []catalog.Profile  `json:"allowed_profiles"`
	AllowedBundles     []catalog.Bundle   `json:"allowed_bundles"`
	RecommendedBundles []catalog.Bundle   `json:"recommended_bundles"`
	Bundle             *catalog.Bundle    `json:"selected_bundle"`
	Profile            *catalog.Profile   `json:"selected_profile"`
	Route              []catalog.Profile  `json:"review_profiles"`
	Current            *catalog.Profile   `json:"current_profile"`
	Completed          []catalog.Profile  `json:"completed_profiles"`
	Deep               *Assessment        `json:"deep_assessment"`
	DeepReason         *Reason            `json:"deep_reason_code"`
	Policy             *policy.Assignment `json:"model_policy"`
	NextAction         string             `json:"next_action"`
	ReadOnly           bool               `json:"read_only"`
	HostOwnsDecisions  bool               `json:"host_owns_decisions"`
	ExpiresAt          string             `json:"expires_at"`
}

// stored is the part of wire that is read back.
type stored struct {
	RunID     string             `json:"run_id"`
	Task      catalog.TaskType   `json:"task_type"`
	Status    Status             `json:"status"`
	Step      Step               `json:"current_step"`
	Bundle    catalog.Bundle     `json:"selected_bundle"`
	Profile   catalog.Profile    `json:"selected_profile"`
	Route     []catalog.Profile  `json:"review_profiles"`
	Current   catalog.Profile    `json:"current_profile"`
	Completed []catalog.Profile  `json:"completed_profiles"`
	Deep      *Assessment        `json:"deep_assessment"`
	Policy    *policy.Assignment `json:"model_policy"`
	ExpiresAt string             `json:"expires_at"`
}

// timeLayout writes instants with all six digits, so that equal instants are
// equal text and text sorts as time does.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// FormatTime writes an instant as the wire does: RFC 3339, UTC, microseconds.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// MarshalJSON writes the whole session state, unset fields as null or [].
func (s Session) MarshalJSON() ([]byte, error) {
	w := wire{
		RunID: s.RunID, Task: s.Task, Status: s.Status, Step: s.Step,
		AllowedProfiles: catalog.Profiles(), AllowedBundles: catalog.Bundles(),
		RecommendedBundles: s.Task.Recommended(),
		Bundle:             optional(s.Bundle), Profile: optional(s.SelectedProfile()),
		Route: s.Route(), Current: optional(s.Current()), Completed: s.CompletedProfiles(),
		Deep: s.Deep, DeepReason: optional(s.DeepReason()),
		NextAction: s.NextAction(), ReadOnly: true, HostOwnsDecisions: true,
		ExpiresAt: FormatTime(s.ExpiresAt),
	}
	if w.Route == nil {
		w.Route, w.Completed = []catalog.Profile{}, []catalog.Profile{}
	}
	if s.Policy != (policy.Assignment{}) {
		w.Policy = &s.Policy
	}
	return json.Marshal(w)
}

func optional[T ~string](v T) *T {
	if v == "" {
		return nil
	}
	return &v
}

// ErrMalformed is wrapped by the errors of UnmarshalJSON. They say which field
// does not fit, never what it holds.
var ErrMalformed = errors.New("malformed session state")

// UnmarshalJSON reads a stored session and checks that it is one that this
// machine could have produced, so that a damaged row never becomes a state.
// Prose and lists that follow from the rest are not read: they are made anew.
func (s *Session) UnmarshalJSON(data []byte) error {
	var w stored
	// Names in other cases and names that stand twice are refused: the index of the
	// recovery store would read something else there.
	if err := jsonv2.Unmarshal(data, &w); err != nil {
		return fmt.Errorf("%w: not the JSON of a session", ErrMalformed)
	}
	bad := func(field string) error { return fmt.Errorf("%w: %s", ErrMalformed, field) }
	n := Session{
		RunID: w.RunID, Task: w.Task, Status: w.Status, Step: w.Step,
		Bundle: w.Bundle, Profile: w.Profile, Done: len(w.Completed), Deep: w.Deep,
	}
	if n.Bundle != "" {
		n.Profile = ""
	}
	var err error
	switch n.ExpiresAt, err = ParseTime(w.ExpiresAt); {
	case err != nil:
		return bad("expires_at")
	case !ValidRunID(n.RunID):
		return bad("run_id")
	case !n.Task.Valid():
		return bad("task_type")
	case !slices.Contains(Statuses(), n.Status):
		return bad("status")
	case !slices.Contains(Steps(), n.Step):
		return bad("current_step")
	case !reachable(n.Step, n.Status):
		return bad("status")
	case n.Bundle != "" && !n.Bundle.Valid():
		return bad("selected_bundle")
	case n.Profile != "" && !n.Profile.Valid():
		return bad("selected_profile")
	case w.Profile != n.SelectedProfile():
		return bad("selected_profile")
	case (n.Step == Triage) != (n.Bundle == "" && n.Profile == ""):
		return bad("selected_profile")
	case !slices.Equal(w.Route, n.Route()):
		return bad("review_profiles")
	case n.Done > len(n.Route()) || !slices.Equal(w.Completed, n.CompletedProfiles()):
		return bad("completed_profiles")
	case n.Step == PrimaryReview && n.Done >= len(n.Route()),
		n.Step != PrimaryReview && n.Done != len(n.Route()):
		return bad("completed_profiles")
	case w.Current != n.Current():
		return bad("current_profile")
	case (n.Deep != nil) != (n.Step == DeepReview || n.Step == Synthesis || n.Step == AwaitingOutcome):
		return bad("deep_assessment")
	}
	if n.Deep != nil {
		// The rules' own object: it is shared, and its lists are [] where the
		// stored ones may be null.
		if n.Deep = n.Deep.canonical(); n.Deep == nil {
			return bad("deep_assessment")
		}
	}
	switch {
	case n.Step == DeepReview && !n.Deep.Escalate:
		return bad("deep_assessment")
	}
	if w.Policy != nil {
		n.Policy = *w.Policy
	}
	working := n.Status == Active
	switch {
	case working != (w.Policy != nil):
		return bad("model_policy")
	case working && (!n.Policy.Provider.Valid() || !catalog.ValidModelID(n.Policy.Model) || !n.Policy.Reasoning.Valid()):
		return bad("model_policy")
	}
	n.Finalized = n.Step == AwaitingOutcome && n.Status.outcome()
	*s = n
	return nil
}

// reachable reports whether a session at step can have the status: a working
// step is active or was stopped early, the end awaits or has an outcome.
func reachable(step Step, status Status) bool {
	if step == AwaitingOutcome {
		return status == Awaiting || status.outcome()
	}
	return status == Active || status == Partial || status == Blocked
}

// canonical returns the assessment of the rules that equals a, nil when the
// rules can't give one.
func (a *Assessment) canonical() *Assessment {
	for _, b := range assessments {
		if a.Escalate == b.Escalate && a.ComplexitySignal == b.ComplexitySignal &&
			slices.Equal(a.Rules, b.Rules) && slices.Equal(a.Reasons, b.Reasons) {
			return b
		}
	}
	return nil
}

// ParseTime reads an instant as FormatTime and the earlier Python edition write
// it: RFC 3339 in UTC, with any number of fractional digits.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, err
	}
	if _, offset := t.Zone(); offset != 0 {
		return time.Time{}, errors.New("not in UTC")
	}
	// An hour of one digit passes too, and would not sort as the others do.
	if t.Format("2006-01-02T15:04:05") != text[:min(len(text), 19)] {
		return time.Time{}, errors.New("not RFC 3339")
	}
	return t.UTC().Truncate(time.Microsecond), nil
}

const runIDPrefix = "qar-"

// RunID forms a run id from 16 random bytes.
func RunID(random [16]byte) string { return fmt.Sprintf("%s%x", runIDPrefix, random) }

// RunIDPattern is the regular expression of a run id.
const RunIDPattern = `^qar-[0-9a-f]{32}$`

// ValidRunID reports whether id has the form of a run id.
func ValidRunID(id string) bool {
	hex, ok := strings.CutPrefix(id, runIDPrefix)
	if !ok || len(hex) != 32 {
		return false
	}
	for _, c := range []byte(hex) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
