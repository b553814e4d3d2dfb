package advocate

import (
	"bytes"
	"encoding/json"
)

// Object is a JSON object whose members keep their order.
type Object[V any] []Member[V]

// Member is one member of an Object.
type Member[V any] struct {
	Name  string
	Value V
}

// MarshalJSON writes the members in order.
func (o Object[V]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(m.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// indented writes a value as JSON for people, with a newline at the end.
func indented(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.String(), err
}
