package advocate

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// storedItem is an item as a review file holds it, with members of other editions.
type storedItem struct {
	Item  `json:",embed"`
	Extra jsontext.Value `json:",embed"`
}

// stored is a review as its file holds it. The phase is written for people; phase_index decides.
type stored struct {
	ID            string                 `json:"id"`
	Claim         string                 `json:"claim"`
	Mode          Mode                   `json:"mode"`
	Context       string                 `json:"context"`
	Status        Status                 `json:"status"`
	Phase         *Phase                 `json:"phase"`
	PhaseIndex    *int                   `json:"phase_index"`
	Phases        map[Phase][]storedItem `json:"phases"`
	SkippedPhases []Phase                `json:"skipped_phases"`
	Horizon       *string                `json:"horizon"`
	AbandonReason *string                `json:"abandon_reason"`
	CreatedAt     string                 `json:"created_at"`
	CreatedNS     *int64                 `json:"created_ns,omitzero"` // none where it would not fit
	UpdatedAt     *string                `json:"updated_at"`
	Extra         jsontext.Value         `json:",embed"`
}

// MarshalFile writes the review as the content of its file: indented JSON with a newline at the end.
func (r *Review) MarshalFile() ([]byte, error) {
	updated := Stamp(r.Updated)
	s := stored{
		ID: r.ID, Claim: r.Claim, Mode: r.Mode, Context: r.Context, Status: r.Status,
		PhaseIndex: &r.at, Phases: map[Phase][]storedItem{}, SkippedPhases: r.Skipped,
		CreatedAt: Stamp(r.Created), UpdatedAt: &updated, Extra: r.extra,
	}
	if ns := r.Created.UnixNano(); time.Unix(0, ns).Equal(r.Created) {
		s.CreatedNS = &ns
	}
	if p := r.Phase(); p != "" {
		s.Phase = &p
	}
	if h := r.Horizon(); h != "" {
		s.Horizon = &h
	}
	if r.AbandonReason != "" {
		s.AbandonReason = &r.AbandonReason
	}
	for _, p := range r.Mode.Phases() {
		items := make([]storedItem, 0, len(r.items[p]))
		for _, item := range r.items[p] {
			items = append(items, storedItem{Item: item, Extra: item.extra})
		}
		s.Phases[p] = items
	}
	data, err := json.Marshal(s, json.Deterministic(true), jsontext.WithIndent(" "))
	return append(data, '\n'), err
}

// UnmarshalFile reads the content of a review file, of this edition or the earlier one. The
// error, a *Fault, says why it is no valid review.
func UnmarshalFile(data []byte) (*Review, error) {
	var s stored
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, describeJSON(err)
	}
	r := &Review{
		ID: s.ID, Claim: s.Claim, Mode: s.Mode, Context: s.Context, Status: s.Status,
		Skipped: s.SkippedPhases, items: map[Phase][]Item{}, extra: s.Extra,
	}
	if s.AbandonReason != nil {
		r.AbandonReason = *s.AbandonReason
	}
	if err := r.readTimes(s); err != nil {
		return nil, err
	}
	if r.Claim == "" {
		return nil, &Fault{Code: FaultMissing, Field: "claim"}
	}
	if r.Mode.Phases() == nil {
		return nil, &Fault{Code: FaultUnknown, Field: "mode"}
	}
	if err := r.readPlace(s); err != nil {
		return nil, err
	}
	return r, r.readItems(s)
}

// describeJSON says where the JSON is wrong without repeating what is in it.
func describeJSON(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return &Fault{Code: FaultSyntax, Number: syntax.ByteOffset}
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		if semantic.JSONPointer == "" {
			return &Fault{Code: FaultNotObject}
		}
		return &Fault{Code: FaultType, Field: knownPlace(semantic.JSONPointer)}
	}
	return &Fault{Code: FaultSyntax}
}

// knownPlace is a place in a review file as far as names of ours lead to it: names
// that somebody else wrote are as much content of the file as its values are.
func knownPlace(p jsontext.Pointer) string {
	var known jsontext.Pointer
	for name := range p.Tokens() {
		_, err := strconv.ParseUint(name, 10, 32)
		_, isPhase := specs[Phase(name)]
		if err != nil && !isPhase && !slices.Contains(storedNames(), name) {
			break
		}
		known = known.AppendToken(name)
	}
	return string(known)
}

// storedNames are the names that review files have, but for those of phases.
var storedNames = sync.OnceValue(func() []string {
	var names []string
	for _, t := range []reflect.Type{reflect.TypeFor[stored](), reflect.TypeFor[Item]()} {
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
})

// readTimes takes the creation from created_ns, or from created_at where an old file has no more.
func (r *Review) readTimes(s stored) error {
	created, err := readTime(s.CreatedAt)
	if err != nil {
		return &Fault{Code: FaultTime, Field: "created_at"}
	}
	if s.CreatedNS != nil {
		created = time.Unix(0, *s.CreatedNS).UTC()
	}
	r.Created, r.Updated = created, created
	if s.UpdatedAt != nil {
		if r.Updated, err = readTime(*s.UpdatedAt); err != nil {
			return &Fault{Code: FaultTime, Field: "updated_at"}
		}
	}
	return nil
}

// readTime reads ISO 8601; a time without a zone is UTC.
func readTime(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05", s)
	}
	if t = t.UTC(); err == nil && (t.Year() < 0 || t.Year() > 9999) {
		err = errors.New("a year that can't be written") // its zone moved it there
	}
	return t, err
}

// readPlace takes the phase that an active review is in.
func (r *Review) readPlace(s stored) error {
	phases := r.Mode.Phases()
	switch r.Status {
	case Complete:
		r.at = len(phases)
		return nil
	case Active, Abandoned:
	default:
		return &Fault{Code: FaultUnknown, Field: "status"}
	}
	switch {
	case s.PhaseIndex != nil:
		r.at = *s.PhaseIndex
	case s.Phase != nil:
		r.at = slices.Index(phases, *s.Phase)
	}
	if r.at < 0 || r.at >= len(phases) {
		return &Fault{Code: FaultRange, Field: "phase_index"}
	}
	if s.Phase != nil && *s.Phase != "" && r.Status == Active && *s.Phase != phases[r.at] {
		return &Fault{Code: FaultContradict}
	}
	return nil
}

// readItems takes the items and checks that they are what the rules of the phases let be saved, as
// far as verdicts and memos rely on it.
func (r *Review) readItems(s stored) error {
	phases := r.Mode.Phases()
	for p := range s.Phases {
		if !slices.Contains(phases, p) {
			return &Fault{Code: FaultPhases, Field: "phases"}
		}
	}
	for _, p := range r.Skipped {
		if !slices.Contains(phases, p) {
			return &Fault{Code: FaultPhases, Field: "skipped_phases"}
		}
	}
	for _, p := range phases {
		answered := map[int]bool{}
		for n, item := range s.Phases[p] {
			item.Item.extra = item.Extra
			if name := r.fault(p, item.Item, answered); name != "" {
				return &Fault{Code: FaultItem, Phase: p, Number: int64(n), Field: name}
			}
			r.items[p] = append(r.items[p], item.Item)
		}
	}
	return nil
}

// fault names the first field of a stored item that can't be; answered collects the indexes.
func (r *Review) fault(p Phase, item Item, answered map[int]bool) string {
	for _, f := range specs[p].fields {
		ok := true
		switch f.kind {
		case textKind:
			ok = *item.str(f.name) != ""
		case choiceKind:
			ok = slices.Contains(f.choices, *item.str(f.name))
		case scaleKind:
			n := *item.num(f.name)
			ok = 1 <= n && n <= MaxScale
		case boolKind:
			ok = item.LoadBearing != nil
		case indexKind:
			i := item.target()
			ok = i >= 0 && i < len(r.items[p.Answers()]) && !answered[i]
			answered[i] = true
		}
		if !ok {
			return f.name
		}
	}
	return ""
}
