package advocate

import "time"

// timeLayout is how times are written: UTC, to the second, in the form that the earlier edition reads.
const timeLayout = "2006-01-02T15:04:05-07:00"

// Stamp writes a time as results and files have it.
func Stamp(t time.Time) string { return t.UTC().Format(timeLayout) }

// Started is the answer to the start of a review.
type Started struct {
	ReviewID     string        `json:"review_id"`
	Claim        string        `json:"claim"`
	Mode         Mode          `json:"mode"`
	Status       Status        `json:"status"`
	Phases       []Phase       `json:"phases"`
	Instructions *Instructions `json:"instructions"`
}

// Started describes a review that was just begun.
func (r *Review) Started() *Started {
	return &Started{
		ReviewID: r.ID, Claim: r.Claim, Mode: r.Mode, Status: r.Status,
		Phases: r.Mode.Phases(), Instructions: r.Instructions(),
	}
}

// Standing is where a review stands. Phase and Step are nil, and Missing and Instructions absent,
// unless it is active.
type Standing struct {
	ReviewID      string        `json:"review_id"`
	Claim         string        `json:"claim"`
	Mode          Mode          `json:"mode"`
	Context       string        `json:"context"`
	Status        Status        `json:"status"`
	Phase         *Phase        `json:"phase"`
	Step          *string       `json:"step"`
	ItemsPerPhase Object[int]   `json:"items_per_phase"`
	SkippedPhases []Phase       `json:"skipped_phases"`
	AbandonReason string        `json:"abandon_reason,omitzero"`
	CreatedAt     string        `json:"created_at"`
	UpdatedAt     string        `json:"updated_at"`
	Missing       []Requirement `json:"missing,omitzero"`
	Instructions  *Instructions `json:"instructions,omitzero"`
}

// Standing tells where the review stands.
func (r *Review) Standing() *Standing {
	s := &Standing{
		ReviewID: r.ID, Claim: r.Claim, Mode: r.Mode, Context: r.Context, Status: r.Status,
		SkippedPhases: nonNil(r.Skipped), AbandonReason: r.AbandonReason,
		CreatedAt: Stamp(r.Created), UpdatedAt: Stamp(r.Updated),
	}
	for _, p := range r.Mode.Phases() {
		s.ItemsPerPhase = append(s.ItemsPerPhase, Member[int]{string(p), len(r.items[p])})
	}
	if p := r.Phase(); p != "" {
		step := r.Step()
		s.Phase, s.Step = &p, &step
		s.Missing, s.Instructions = r.Missing(), r.Instructions()
	}
	return s
}

// rowClaim is how many characters of a claim a row shows.
const rowClaim = 70

// Row is one line of a list of reviews.
type Row struct {
	ReviewID   string     `json:"review_id"`
	Claim      string     `json:"claim"` // cut to 70 characters
	Cut        bool       `json:"-"`     // the claim is longer
	Mode       Mode       `json:"mode"`
	Status     Status     `json:"status"`
	Phase      *Phase     `json:"phase"` // nil unless active
	Step       *string    `json:"step"`  // nil unless active
	Assessment Assessment `json:"assessment,omitzero"`
	CreatedAt  string     `json:"created_at"`
	UpdatedAt  string     `json:"updated_at"`
}

// Row sums the review up in one line.
func (r *Review) Row() Row {
	row := Row{
		ReviewID: r.ID, Claim: r.Claim, Mode: r.Mode, Status: r.Status,
		CreatedAt: Stamp(r.Created), UpdatedAt: Stamp(r.Updated),
	}
	if runes := []rune(r.Claim); len(runes) > rowClaim {
		row.Claim, row.Cut = string(runes[:rowClaim]), true
	}
	if p := r.Phase(); p != "" {
		step := r.Step()
		row.Phase, row.Step = &p, &step
	}
	if r.Status == Complete {
		row.Assessment = r.outcome().Assessment
	}
	return row
}

// Newer tells whether the review began after the other one, and orders those of one moment by id.
func (r *Review) Newer(o *Review) bool {
	if !r.Created.Equal(o.Created) {
		return r.Created.After(o.Created)
	}
	return r.ID > o.ID
}
