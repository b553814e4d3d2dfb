package advocate

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Item is one item of a phase; only the fields of its phase are set.
type Item struct {
	// Index is the position of the item that this one answers, from 0. In a verdict and among targets
	// it is the item's own position.
	Index         *int   `json:"index,omitzero"`
	Horizon       string `json:"horizon,omitzero"`
	Stance        string `json:"stance,omitzero"`
	Text          string `json:"text,omitzero"`
	Category      string `json:"category,omitzero"`
	Severity      int    `json:"severity,omitzero"`
	Likelihood    int    `json:"likelihood,omitzero"`
	Impact        int    `json:"impact,omitzero"`
	LoadBearing   *bool  `json:"load_bearing,omitzero"`
	Evidence      string `json:"evidence,omitzero"`
	Verdict       string `json:"verdict,omitzero"`
	Justification string `json:"justification,omitzero"`
	Action        string `json:"action,omitzero"`
	ResidualRisk  string `json:"residual_risk,omitzero"`
	Test          string `json:"test,omitzero"`

	// extra holds the members of a stored item that this edition doesn't know.
	extra []byte
}

// bears tells whether the assumption is load-bearing.
func (i Item) bears() bool { return i.LoadBearing != nil && *i.LoadBearing }

// at returns the item with its own position as the index.
func (i Item) at(position int) Item {
	i.Index = &position
	return i
}

// target is the position of the answered item, or -1.
func (i Item) target() int {
	if i.Index == nil {
		return -1
	}
	return *i.Index
}

// str points to the text or choice of that name.
func (i *Item) str(name string) *string {
	switch name {
	case "horizon":
		return &i.Horizon
	case "stance":
		return &i.Stance
	case "text":
		return &i.Text
	case "category":
		return &i.Category
	case "evidence":
		return &i.Evidence
	case "verdict":
		return &i.Verdict
	case "justification":
		return &i.Justification
	case "action":
		return &i.Action
	case "residual_risk":
		return &i.ResidualRisk
	case "test":
		return &i.Test
	}
	panic("advocate: no such text: " + name)
}

// num points to the scale of that name.
func (i *Item) num(name string) *int {
	switch name {
	case "severity":
		return &i.Severity
	case "likelihood":
		return &i.Likelihood
	case "impact":
		return &i.Impact
	}
	panic("advocate: no such scale: " + name)
}

// DecodeItems reads the JSON of a submission's items. An array of items that was encoded as a JSON
// string once more is decoded first. Numbers keep their spelling (json.Number), so that 3 and 3.0 stay
// different. Anything but an array is an Error of code ItemsNotList.
func DecodeItems(raw []byte) ([]any, error) {
	v, err := decodeNumbers(raw)
	if text, ok := v.(string); ok && err == nil {
		v, err = decodeNumbers([]byte(text))
	}
	items, ok := v.([]any)
	if err != nil || !ok {
		return nil, &Error{Code: ItemsNotList}
	}
	return items, nil
}

func decodeNumbers(raw []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, &json.SyntaxError{Offset: d.InputOffset()}
	}
	return v, nil
}

// integer reads a JSON integer: digits without point or exponent.
func integer(v any) (int, bool) {
	switch n := v.(type) {
	case json.Number:
		i, err := strconv.ParseInt(n.String(), 10, 64)
		if err != nil || i > math.MaxInt32 || i < math.MinInt32 {
			return 0, false
		}
		return int(i), true
	case int:
		return n, true
	}
	return 0, false
}

// wholeNumber tells whether the value is a JSON integer of any size.
func wholeNumber(v any) bool {
	n, ok := v.(json.Number)
	return ok && !strings.ContainsAny(n.String(), ".eE")
}

// readItem checks the fields of a raw item and returns it with what is wrong with it. pending tells
// whether a position waits for an answer in this submission, and why not.
func (s spec) readItem(raw any, pending func(int) targetState) (Item, []Problem) {
	object, ok := raw.(map[string]any)
	if !ok {
		return Item{}, []Problem{{Kind: NotAnObject}}
	}
	var item Item
	var problems []Problem
	for _, f := range s.fields {
		v, given := object[f.name]
		fault := Problem{Field: f.name, Kind: Missing}
		if given && v != nil {
			fault = f.read(&item, v, pending)
		}
		if fault.Kind != 0 {
			fault.want = f
			problems = append(problems, fault)
		}
	}
	return item, problems
}

// read puts the value into the item; the problem has no kind when the value is right.
func (f field) read(item *Item, v any, pending func(int) targetState) Problem {
	p := Problem{Field: f.name}
	switch f.kind {
	case textKind:
		text, ok := v.(string)
		if !ok {
			p.Kind = WrongType
			return p
		}
		text = strings.TrimSpace(text)
		if n := utf8.RuneCountInString(text); n < f.min {
			p.Kind, p.Have = TooShort, n
			return p
		}
		*item.str(f.name) = text
	case choiceKind:
		choice, ok := v.(string)
		if !ok {
			p.Kind = WrongType
			return p
		}
		if !slices.Contains(f.choices, choice) {
			p.Kind = NotAChoice
			return p
		}
		*item.str(f.name) = choice
	case scaleKind:
		n, ok := integer(v)
		if !ok && !wholeNumber(v) {
			p.Kind = WrongType
			return p
		}
		if !ok || n < 1 || n > MaxScale {
			p.Kind = OutOfRange
			return p
		}
		*item.num(f.name) = n
	case boolKind:
		b, ok := v.(bool)
		if !ok {
			p.Kind = WrongType
			return p
		}
		item.LoadBearing = &b
	case indexKind:
		n, ok := integer(v)
		if !ok && !wholeNumber(v) {
			p.Kind = WrongType
			return p
		}
		state := noTarget
		if ok {
			state = pending(n)
		}
		if state != pendingTarget {
			p.Kind = state.kind()
			return p
		}
		item.Index = &n
	}
	return p
}

// targetState is what a position is to a submission that names it.
type targetState int

const (
	pendingTarget  targetState = iota
	noTarget                   // there is no such item
	needsNoAnswer              // the item needs no answer
	answeredBefore             // a saved item answers it
	answeredInCall             // an earlier item of the same submission answers it
)

func (s targetState) kind() ProblemKind {
	switch s {
	case needsNoAnswer:
		return IndexNeedsNone
	case answeredBefore:
		return IndexAnswered
	case answeredInCall:
		return IndexTwice
	}
	return IndexUnknown
}
