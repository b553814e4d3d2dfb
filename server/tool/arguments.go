package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Arguments are the checked arguments of a call. Optional ones that were left
// out, or sent as null, are not there.
type Arguments map[string]any

// String returns the string argument, "" where it was left out.
func (a Arguments) String(name string) string {
	s, _ := a[name].(string)
	return s
}

// Object returns the object argument; ok is false where it was left out.
func (a Arguments) Object(name string) (object map[string]any, ok bool) {
	object, ok = a[name].(map[string]any)
	return object, ok
}

// List returns the array argument, nil where it was left out.
func (a Arguments) List(name string) []any {
	l, _ := a[name].([]any)
	return l
}

// Checker checks the raw arguments of calls against a schema.
type Checker struct {
	schema Schema
	// nameUnknown lets messages repeat the name of an argument that the schema
	// does not have. Where a name may be a secret sent by mistake it stays out.
	nameUnknown bool
	compiled    func() (*jsonschema.Schema, error)
}

// NewChecker returns a checker for an object schema. Compiling is left to the
// first call, so that a server starts without it.
func NewChecker(s Schema, nameUnknown bool) *Checker {
	return &Checker{schema: s, nameUnknown: nameUnknown, compiled: sync.OnceValues(func() (*jsonschema.Schema, error) {
		return Compile(enforced(s))
	})}
}

// enforced is the schema without what tools judge themselves.
func enforced(s Schema) Schema {
	s.Properties = slices.Clone(s.Properties)
	for i := range s.Properties {
		if s.Properties[i].Judged {
			s.Properties[i].Items = nil
		}
	}
	return s
}

// Compile compiles a schema; an error means that it is no JSON Schema.
func Compile(s Schema) (*jsonschema.Schema, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("tool.json")
}

// Problems is the error of arguments that can't be used: one sentence each,
// naming the argument and what is allowed, never what was sent.
type Problems []string

// Error joins the sentences.
func (p Problems) Error() string { return strings.Join(p, "; ") }

// Check decodes raw and checks it. Missing arguments, null and {} are the same.
// An object or array that arrives JSON-encoded in a string is decoded first.
// The error is a Problems.
func (c *Checker) Check(raw json.RawMessage) (Arguments, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok {
		if v, err = decodeText(s); err != nil {
			return nil, Problems{"the arguments must be a JSON object"}
		}
	}
	if v == nil {
		v = map[string]any{}
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, Problems{"the arguments must be a JSON object"}
	}
	if err := c.normalize(args); err != nil {
		return nil, err
	}
	schema, err := c.compiled()
	if err != nil {
		return nil, err
	}
	err = schema.Validate(args)
	if err == nil {
		return args, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, err
	}
	var found []problem
	c.collect(invalid, &found)
	return nil, c.describe(found)
}

// decode reads one JSON value, strictly: duplicate names, invalid UTF-8 and
// anything after the value are refused. Numbers stay as they were written.
func decode(raw []byte) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	// Half a surrogate pair, which JavaScript leaves where it cuts a text, becomes U+FFFD.
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true))
	_, err := dec.ReadValue()
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return nil, Problems{"an argument stands twice; send each once"}
	case err != nil, !utf8.Valid(raw):
		return nil, Problems{"the arguments must be one JSON object in valid UTF-8"}
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, Problems{"the arguments must be one JSON object"}
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(raw))
}

// decodeText reads the JSON in a string. An empty one holds none: it was sent,
// so it does not count as left out.
func decodeText(s string) (any, error) {
	if strings.TrimSpace(s) == "" {
		return nil, Problems{"an empty string is not JSON"}
	}
	return decode([]byte(s))
}

// normalize takes nulls out, and decodes strings where the schema wants an
// object or an array.
func (c *Checker) normalize(args map[string]any) error {
	for name, v := range args {
		p := c.schema.property(name)
		if p == nil {
			continue // refused by the schema
		}
		if text, ok := v.(string); ok && (p.Type == "object" || p.Type == "array") {
			decoded, err := decodeText(text)
			if err != nil {
				return Problems{fmt.Sprintf("%s: must be %s", name, wanted(&p.Schema))}
			}
			args[name], v = decoded, decoded
		}
		if v == nil {
			delete(args, name)
			continue
		}
		if object, ok := v.(map[string]any); ok && p.Type == "object" {
			for key, member := range object {
				if member == nil && p.property(key) != nil {
					delete(object, key)
				}
			}
		}
	}
	return nil
}

// problem is one finding of the validator.
type problem struct {
	path []string // of the value at fault
	kind jsonschema.ErrorKind
}

func (c *Checker) collect(e *jsonschema.ValidationError, out *[]problem) {
	if len(e.Causes) == 0 {
		*out = append(*out, problem{e.InstanceLocation, e.ErrorKind})
	}
	for _, cause := range e.Causes {
		c.collect(cause, out)
	}
}

// describe words the findings in the order of the schema.
func (c *Checker) describe(found []problem) Problems {
	slices.SortStableFunc(found, func(a, b problem) int { return c.rank(a) - c.rank(b) })
	var out Problems
	for _, f := range found {
		for _, text := range c.word(f) {
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	return out
}

func (c *Checker) rank(p problem) int {
	if len(p.path) == 0 {
		return len(c.schema.Properties)
	}
	return slices.Index(c.schema.names(), p.path[0])
}

func (c *Checker) word(f problem) []string {
	at, where := c.locate(f.path)
	prefix := ""
	if where != "" {
		prefix = where + ": "
	}
	switch k := f.kind.(type) {
	case *kind.Required:
		var out []string
		for _, name := range k.Missing {
			full := name
			if where != "" {
				full = where + "." + name
			}
			out = append(out, fmt.Sprintf("%s: required, %s", full, wanted(&at.property(name).Schema)))
		}
		return out
	case *kind.AdditionalProperties:
		allowed := "it takes no arguments"
		if names := at.names(); len(names) > 0 {
			allowed = "allowed: " + strings.Join(names, ", ")
		}
		if c.nameUnknown {
			return []string{fmt.Sprintf("%sunknown argument %s; %s", prefix, quoteAll(k.Properties), allowed)}
		}
		return []string{fmt.Sprintf("%sunknown argument (its name is not repeated here); %s", prefix, allowed)}
	default:
		return []string{prefix + "must be " + wanted(at)}
	}
}

// locate follows a path into the schema. The name that it returns is made of
// the schema's own words and indexes only.
func (c *Checker) locate(path []string) (*Schema, string) {
	at, where := &c.schema, ""
	for _, step := range path {
		switch {
		case at.Type == "array" && at.Items != nil:
			at, where = at.Items, fmt.Sprintf("%s[%s]", where, step)
		default:
			p := at.property(step)
			if p == nil {
				return at, where
			}
			at = &p.Schema
			if where != "" {
				where += "."
			}
			where += step
		}
	}
	return at, where
}

// wanted says what a schema allows.
func wanted(s *Schema) string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + strings.Join(s.Enum, ", ")
	case s.Pattern != "":
		return "a string that matches " + s.Pattern
	case s.Type == "boolean":
		return "true or false"
	case s.Type == "object" && len(s.Properties) > 0:
		return "an object with " + strings.Join(s.names(), ", ")
	case s.Type == "array":
		if s.Items != nil && s.Items.Type == "object" {
			return "an array of objects"
		}
		return "an array"
	case s.Type == "object", s.Type == "integer":
		return "an " + s.Type
	default:
		return "a " + s.Type
	}
}

// maxName bounds how much of an unknown name a message repeats, in bytes.
const maxName = 64

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		if len(n) > maxName {
			n = n[:maxName] + "…"
		}
		out[i] = fmt.Sprintf("%q", n)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
