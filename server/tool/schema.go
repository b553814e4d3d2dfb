// Package tool declares MCP tools: a schema written once, arguments checked
// against it in words that a model can act on, and results and errors in the
// shape that hosts expect. Both servers of the binary are made of it.
package tool

import (
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
)

// Schema is the part of JSON Schema that tools here need. Input schemas keep to
// single types, without references or unions: some clients choke on those.
type Schema struct {
	Type        string   // "object", "array", "string", "boolean", "integer", "number"; "" in OneOf
	Nullable    bool     // null is allowed too; only for results
	Description string   //
	Enum        []string // of a string
	Pattern     string   // of a string, as a regular expression
	Format      string   // of a string: an annotation for readers
	Const       any      // the only value; nil when there is none
	Minimum     *int     // of an integer
	Items       *Schema  // of an array
	Properties  []Property
	Open        bool // of an object: further properties are allowed
	// Judged means that the tool checks the items of this array itself, to report
	// on each; the schema that is published still describes them.
	Judged bool
}

// Property is a named member of an object.
type Property struct {
	Name     string
	Required bool
	Schema
}

// Strings turns named string values into the words of an enum.
func Strings[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// property returns the named property, nil if there is none.
func (s *Schema) property(name string) *Property {
	for i := range s.Properties {
		if s.Properties[i].Name == name {
			return &s.Properties[i]
		}
	}
	return nil
}

// names returns the property names in order.
func (s *Schema) names() []string {
	out := make([]string, len(s.Properties))
	for i, p := range s.Properties {
		out[i] = p.Name
	}
	return out
}

// MarshalJSON writes the schema with its keys in a fixed order.
func (s Schema) MarshalJSON() ([]byte, error) {
	w := writer{b: make([]byte, 0, 1<<12)}
	w.schema(&s)
	return w.b, w.err
}

// writer writes schemas into one buffer: a server starts with all of its schemas
// written, and encoding/json would read each part again at every level.
type writer struct {
	b   []byte
	err error
}

func (w *writer) schema(s *Schema) {
	w.b = append(w.b, '{')
	switch {
	case s.Nullable:
		w.key("type")
		w.b = append(w.b, '[')
		w.text(s.Type)
		w.b = append(w.b, `,"null"]`...)
	case s.Type != "":
		w.key("type")
		w.text(s.Type)
	}
	if s.Description != "" {
		w.key("description")
		w.text(s.Description)
	}
	if s.Const != nil {
		w.key("const")
		w.any(s.Const)
	}
	if s.Enum != nil {
		w.key("enum")
		w.words(s.Enum, s.Nullable)
	}
	if s.Pattern != "" {
		w.key("pattern")
		w.text(s.Pattern)
	}
	if s.Format != "" {
		w.key("format")
		w.text(s.Format)
	}
	if s.Minimum != nil {
		w.key("minimum")
		w.any(*s.Minimum)
	}
	if s.Items != nil {
		w.key("items")
		w.schema(s.Items)
	}
	if s.Type == "object" {
		w.object(s)
	}
	w.b = append(w.b, '}')
}

// object writes what only schemas of objects have.
func (w *writer) object(s *Schema) {
	w.key("properties")
	w.b = append(w.b, '{')
	var required []string
	for i := range s.Properties {
		p := &s.Properties[i]
		w.key(p.Name)
		w.schema(&p.Schema)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	w.b = append(w.b, '}')
	if required != nil {
		w.key("required")
		w.words(required, false)
	}
	if !s.Open {
		w.key("additionalProperties")
		w.any(false)
	}
}

// key begins a member of an object.
func (w *writer) key(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.text(name)
	w.b = append(w.b, ':')
}

func (w *writer) words(words []string, null bool) {
	w.b = append(w.b, '[')
	for i, word := range words {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.text(word)
	}
	if null {
		if len(words) > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, `null`...)
	}
	w.b = append(w.b, ']')
}

func (w *writer) text(s string) {
	b, err := jsontext.AppendQuote(w.b, s)
	if err != nil {
		w.err = err // not UTF-8
		return
	}
	w.b = b
}

func (w *writer) any(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		w.err = err
		return
	}
	w.b = append(w.b, data...)
}
