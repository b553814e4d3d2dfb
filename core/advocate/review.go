package advocate

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/qa-orch/qa-orch/core/advocate/gate"
)

// Review is one stress test: what was claimed, what was submitted, where it stands. Its methods
// change it completely or, with an error, not at all. It must not be used by two goroutines at once.
type Review struct {
	ID      string
	Claim   string
	Mode    Mode
	Context string
	Status  Status
	// Skipped are the phases without anything to answer, in order.
	Skipped       []Phase
	AbandonReason string
	Created       time.Time
	// Updated is the time of the last change; of a complete review, when it was completed.
	Updated time.Time

	at    int // position of the current phase in Mode.Phases(), or their number when complete
	items map[Phase][]Item
	extra []byte // members of the stored review that this edition doesn't know
}

// New starts a review.
func New(id, claim string, mode Mode, context string, now time.Time) (*Review, error) {
	claim = strings.TrimSpace(claim)
	if n := utf8.RuneCountInString(claim); n < MinClaim {
		return nil, &Error{Code: ClaimTooShort, Have: n, Need: MinClaim}
	}
	if mode.Phases() == nil {
		return nil, &Error{Code: UnknownMode}
	}
	now = now.UTC()
	return &Review{
		ID: id, Claim: claim, Mode: mode, Context: strings.TrimSpace(context), Status: Active,
		Created: now, Updated: now, items: map[Phase][]Item{},
	}, nil
}

// Phase is the current phase of an active review, else empty.
func (r *Review) Phase() Phase {
	if r.Status != Active {
		return ""
	}
	return r.Mode.Phases()[r.at]
}

// Step is the place of the current phase among all of them, like 1/2; empty unless active.
func (r *Review) Step() string {
	if r.Status != Active {
		return ""
	}
	return fmt.Sprintf("%d/%d", r.at+1, len(r.Mode.Phases()))
}

// Items are the saved items of a phase. The slice must not be changed.
func (r *Review) Items(p Phase) []Item { return r.items[p] }

// Horizon is the time that a premortem looks back from; empty before it is set.
func (r *Review) Horizon() string {
	if setup := r.items[Setup]; len(setup) > 0 {
		return setup[0].Horizon
	}
	return ""
}

// asked are the positions of a phase's items that need an answer.
func (r *Review) asked(p Phase) []int {
	var asked []int
	for i, item := range r.items[p] {
		if specs[p].asks(item) {
			asked = append(asked, i)
		}
	}
	return asked
}

// pending are the positions that the items of phase p have yet to answer.
func (r *Review) pending(p Phase) []int {
	answers := r.answers(p)
	return slices.DeleteFunc(r.asked(p.Answers()), func(i int) bool { return answers[i] != nil })
}

// answers are the items of phase p by the position that they answer.
func (r *Review) answers(p Phase) map[int]*Item {
	answers := make(map[int]*Item, len(r.items[p]))
	for i := range r.items[p] {
		item := &r.items[p][i]
		answers[item.target()] = item
	}
	return answers
}

// Requirement is one thing that the current phase still needs.
type Requirement struct {
	// Kind is what is needed; Have and Need count it, except for an answer.
	Kind       RequirementKind
	Have, Need int
	// Phase and Index name the item to answer.
	Phase Phase
	Index int
}

// RequirementKind is what a Requirement is about.
type RequirementKind int

// The kinds of requirement.
const (
	NeedItems RequirementKind = iota + 1
	NeedCategories
	NeedAnswer
)

// String says it in English.
func (q Requirement) String() string {
	switch q.Kind {
	case NeedItems:
		return fmt.Sprintf("%d more of at least %d items", q.Need-q.Have, q.Need)
	case NeedCategories:
		return fmt.Sprintf("items of at least %d different categories, %d so far", q.Need, q.Have)
	}
	return fmt.Sprintf("an answer to item %d of phase %s", q.Index, q.Phase)
}

// inWords says it for people, with the words of phases for their names.
func (q Requirement) inWords() string { return strings.ReplaceAll(q.String(), "_", " ") }

// MarshalText gives the English sentence.
func (q Requirement) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// Missing lists what the current phase still needs; empty unless active.
func (r *Review) Missing() []Requirement {
	missing := []Requirement{}
	p := r.Phase()
	if p == "" {
		return missing
	}
	if answered := p.Answers(); answered != "" {
		for _, i := range r.pending(p) {
			missing = append(missing, Requirement{Kind: NeedAnswer, Phase: answered, Index: i})
		}
		return missing
	}
	if have, need := len(r.items[p]), specs[p].min; have < need {
		missing = append(missing, Requirement{Kind: NeedItems, Have: have, Need: need})
	}
	if p == Counterarguments {
		seen := map[string]bool{}
		for _, item := range r.items[p] {
			seen[item.Category] = true
		}
		if len(seen) < minCategories {
			missing = append(missing, Requirement{Kind: NeedCategories, Have: len(seen), Need: minCategories})
		}
	}
	return missing
}

// SubmitResult is what a submission that was saved led to. Status in_progress comes with Phase,
// InPhase and Missing, the others with CompletedPhase and Skipped, and phase_complete with NextPhase.
type SubmitResult struct {
	ReviewID       string        `json:"review_id"`
	Status         SubmitStatus  `json:"status"`
	Phase          Phase         `json:"phase,omitzero"`
	CompletedPhase Phase         `json:"completed_phase,omitzero"`
	Accepted       int           `json:"accepted"`
	InPhase        *int          `json:"items_in_phase,omitzero"`
	Missing        []Requirement `json:"missing,omitzero"`
	Skipped        []Phase       `json:"skipped_phases,omitzero"`
	NextPhase      *Instructions `json:"next_phase,omitzero"`
	Message        string        `json:"message,omitzero"`
}

// SubmitStatus is where a submission left the review.
type SubmitStatus string

// The outcomes of a submission.
const (
	InProgress     SubmitStatus = "in_progress"
	PhaseComplete  SubmitStatus = "phase_complete"
	ReviewComplete SubmitStatus = "complete"
)

// open returns an error unless the review is active.
func (r *Review) open() error {
	switch r.Status {
	case Complete:
		return &Error{Code: AlreadyComplete, Review: r.ID}
	case Abandoned:
		return &Error{Code: AlreadyAbandoned, Review: r.ID}
	}
	return nil
}

// Submit checks the raw items, as DecodeItems returns them, saves all of them or none, and moves on
// when the phase has enough. The Error of a refused submission lists every problem of every item.
func (r *Review) Submit(raw []any, now time.Time) (*SubmitResult, error) {
	if err := r.open(); err != nil {
		return nil, err
	}
	p := r.Phase()
	if len(raw) == 0 {
		return nil, &Error{Code: NoItems, Phase: p}
	}
	if p == Setup && len(raw) > 1 {
		return nil, &Error{Code: OneItemOnly, Phase: p, Have: len(raw)}
	}
	if n := len(r.items[p]) + len(raw); n > MaxItems {
		return nil, &Error{Code: TooManyItems, Phase: p, Have: n, Need: MaxItems}
	}
	items, problems := r.check(p, raw)
	if len(problems) > 0 {
		return nil, &Error{Code: Rejected, Review: r.ID, Phase: p, Items: len(raw), Problems: problems}
	}
	r.items[p] = append(r.items[p], items...)
	r.Updated = now.UTC()

	result := &SubmitResult{ReviewID: r.ID, Accepted: len(items)}
	if missing := r.Missing(); len(missing) > 0 {
		n := len(r.items[p])
		result.Status, result.Phase, result.InPhase, result.Missing = InProgress, p, &n, missing
		return result, nil
	}
	r.advance()
	result.CompletedPhase, result.Skipped = p, nonNil(r.Skipped)
	if r.Status == Complete {
		result.Status = ReviewComplete
		result.Message = "The review is complete: get_verdict returns the verdict, export_report the decision memo."
		return result, nil
	}
	result.Status = PhaseComplete
	result.NextPhase = r.Instructions()
	return result, nil
}

// advance goes to the next phase that has something to do.
func (r *Review) advance() {
	phases := r.Mode.Phases()
	for r.at++; r.at < len(phases); r.at++ {
		p := phases[r.at]
		if p.Answers() == "" || len(r.asked(p.Answers())) > 0 {
			return
		}
		r.Skipped = append(r.Skipped, p)
	}
	r.Status = Complete
}

// check reads the raw items and returns them with every problem: of the fields, and, where these are
// sound, of the quality gate.
func (r *Review) check(p Phase, raw []any) ([]Item, []Problem) {
	s := specs[p]
	taken := map[int]bool{}
	var state func(int) targetState
	if answered := p.Answers(); answered != "" {
		waiting := map[int]bool{}
		for _, i := range r.pending(p) {
			waiting[i] = true
		}
		state = func(i int) targetState {
			switch {
			case i < 0 || i >= len(r.items[answered]):
				return noTarget
			case taken[i]:
				return answeredInCall
			case waiting[i]:
				taken[i] = true
				return pendingTarget
			case specs[answered].asks(r.items[answered][i]):
				return answeredBefore
			}
			return needsNoAnswer
		}
	}
	var problems []Problem
	items := make([]Item, len(raw))
	sound := make([]bool, len(raw))
	faults := make([][]Problem, len(raw))
	for n, v := range raw {
		items[n], faults[n] = s.readItem(v, state)
		sound[n] = len(faults[n]) == 0
	}
	if s.text != "" {
		r.judge(p, items, sound, faults)
	}
	for n := range faults {
		for _, f := range faults[n] {
			f.Item = n
			problems = append(problems, f)
		}
	}
	return items, problems
}

// judge adds what the quality gate has against the sound items.
func (r *Review) judge(p Phase, items []Item, sound []bool, faults [][]Problem) {
	if !slices.Contains(sound, true) {
		return
	}
	s := specs[p]
	var reader gate.Reader
	claim := reader.Read(r.Claim)
	saved := len(r.items[p])
	earlier := make([]gate.Words, 0, saved+len(items))
	for i := range r.items[p] {
		earlier = append(earlier, reader.Read(*r.items[p][i].str(s.text)))
	}
	positions := make([]int, 0, len(items)) // of the items of this submission in earlier
	for n, item := range items {
		if !sound[n] {
			continue
		}
		words := reader.Read(*item.str(s.text))
		text := gate.Text{Words: words, MinWords: s.minWords, Earlier: earlier}
		if s.againstClaim(item) {
			text.Claim = &claim
		}
		if answered := s.answers; answered != "" {
			target := reader.Read(*r.items[answered][item.target()].str(specs[answered].text))
			text.Target = &target
		}
		if finding, refused := gate.Judge(text); refused {
			problem := Problem{Field: s.text, Kind: LowQuality, Finding: finding}
			if finding.Check == gate.NearDuplicate {
				if problem.TwinSaved = finding.Earlier < saved; problem.TwinSaved {
					problem.Twin = finding.Earlier
				} else {
					problem.Twin = positions[finding.Earlier-saved]
				}
			}
			faults[n] = []Problem{problem}
		}
		earlier, positions = append(earlier, words), append(positions, n)
	}
}

// Abandon ends an unfinished review. A reason is required.
func (r *Review) Abandon(reason string, now time.Time) (*Abandonment, error) {
	if err := r.open(); err != nil {
		return nil, err
	}
	reason = strings.TrimSpace(reason)
	if reason == "" {
		return nil, &Error{Code: ReasonMissing}
	}
	r.Status, r.AbandonReason, r.Updated = Abandoned, reason, now.UTC()
	return &Abandonment{ReviewID: r.ID, Status: r.Status, Reason: reason}, nil
}

// Abandonment confirms that a review was abandoned.
type Abandonment struct {
	ReviewID string `json:"review_id"`
	Status   Status `json:"status"`
	Reason   string `json:"reason"`
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return slices.Clone(s)
}
