// Package tool declares MCP tools: a schema written once, arguments checked
// against it in words that a model can act on, and results and errors in the
// shape that hosts expect. Both servers of the binary are made of it.
package tool

import (
	"bytes"
	"encoding/json"
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
	var b bytes.Buffer
	b.WriteByte('{')
	field := func(name string, v any) error {
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(name)
		b.WriteString(`":`)
		b.Write(data)
		return nil
	}
	var err error
	add := func(when bool, name string, v any) {
		if when && err == nil {
			err = field(name, v)
		}
	}
	if s.Nullable {
		add(true, "type", []string{s.Type, "null"})
	} else {
		add(s.Type != "", "type", s.Type)
	}
	add(s.Description != "", "description", s.Description)
	add(s.Const != nil, "const", s.Const)
	if s.Enum != nil {
		words := make([]any, 0, len(s.Enum)+1)
		for _, w := range s.Enum {
			words = append(words, w)
		}
		if s.Nullable {
			words = append(words, nil)
		}
		add(true, "enum", words)
	}
	add(s.Pattern != "", "pattern", s.Pattern)
	add(s.Format != "", "format", s.Format)
	add(s.Minimum != nil, "minimum", s.Minimum)
	add(s.Items != nil, "items", s.Items)
	if s.Type == "object" {
		add(true, "properties", properties(s.Properties))
		required := []string{}
		for _, p := range s.Properties {
			if p.Required {
				required = append(required, p.Name)
			}
		}
		add(len(required) > 0, "required", required)
		add(!s.Open, "additionalProperties", false)
	}
	b.WriteByte('}')
	return b.Bytes(), err
}

// properties is an object whose keys keep their order.
type properties []Property

// MarshalJSON writes the members in order.
func (ps properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(p.Name)
		if err != nil {
			return nil, err
		}
		data, err := p.Schema.MarshalJSON()
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
