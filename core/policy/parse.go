package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/qa-orch/qa-orch/core/catalog"
)

// Code is a kind of problem with a policy.
type Code string

// What can be wrong with a policy.
const (
	CodeEncoding    Code = "encoding"              // not UTF-8
	CodeEmpty       Code = "empty"                 // nothing in the file
	CodeSyntax      Code = "syntax"                // no JSON
	CodeNotObject   Code = "not_an_object"         // JSON, but no object
	CodeDuplicate   Code = "duplicate_key"         // a key stands twice
	CodeUnknownKey  Code = "unknown_key"           // a key that no policy has
	CodeMissing     Code = "missing"               // a required field is not there
	CodeType        Code = "not_a_string"          // a field of another type
	CodeProvider    Code = "unknown_provider"      // not one of the providers
	CodeModelID     Code = "bad_model_id"          // no well-formed model id
	CodeForeign     Code = "wrong_provider"        // a model of the other provider
	CodeReasoning   Code = "unknown_reasoning"     // not one of the reasoning words
	CodeUnsupported Code = "unsupported_reasoning" // a word that this model does not take
	CodeIO          Code = "unreadable"            // the file could not be read at all
)

// Problem is one thing that is wrong with a policy. It never holds a value from
// the file: that could be a secret pasted into the wrong place.
type Problem struct {
	Code    Code
	Field   string   // the policy field at fault; "" when the file as a whole is
	Line    int      // 1-based line of the file; 0 when not known
	Allowed []string // what may stand there, where that is a list
	// Defaulted is true when the field was left out and its default is what does not fit.
	Defaulted bool
	// Owner is, for CodeForeign, the provider that the model belongs to.
	Owner catalog.Provider
	// Err is, for CodeIO, what the operating system said.
	Err error
}

// Error describes the problem in English.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Field != "" {
		fmt.Fprintf(&b, "%s: ", p.Field)
	}
	b.WriteString(p.reason())
	if len(p.Allowed) > 0 {
		fmt.Fprintf(&b, "; allowed: %s", strings.Join(p.Allowed, ", "))
	}
	return b.String()
}

func (p Problem) reason() string {
	switch p.Code {
	case CodeEncoding:
		return "the file is not UTF-8; save it as UTF-8"
	case CodeEmpty:
		return "the file is empty"
	case CodeSyntax:
		return "this is not valid JSON (comments and trailing commas are not allowed)"
	case CodeNotObject:
		return "the file must hold one JSON object"
	case CodeDuplicate:
		return "this key stands twice"
	case CodeUnknownKey:
		return "a key that a policy does not have"
	case CodeMissing:
		return "this field is missing"
	case CodeType:
		return "the value must be a string"
	case CodeProvider:
		return "unknown provider"
	case CodeModelID:
		return "not a model id: 1 to 128 letters, digits, dots, underscores and hyphens, starting with a letter or digit"
	case CodeForeign:
		return fmt.Sprintf("this model belongs to %s; change the provider or the model", p.Owner)
	case CodeReasoning:
		return "unknown reasoning word"
	case CodeUnsupported:
		if p.Defaulted {
			return "the field is left out and its default does not fit this model; write one that does"
		}
		return "the model does not take this reasoning word"
	case CodeIO:
		return "the file cannot be read: " + ioReason(p.Err)
	}
	return string(p.Code)
}

// Invalid is the error of a policy that can't be used: every problem found.
type Invalid struct {
	Problems []Problem
}

// Error lists the problems in English.
func (e *Invalid) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.Error()
	}
	return strings.Join(parts, "; ")
}

func invalid(p ...Problem) error { return &Invalid{Problems: p} }

// fields are the keys of a policy file in the file's order.
var fields = func() []string {
	list := []string{"provider"}
	for _, s := range stages {
		list = append(list, s.ModelField())
	}
	for _, s := range stages {
		list = append(list, s.ReasoningField())
	}
	return list
}()

// Parse reads a policy file's bytes and checks them against the catalogue. The
// error is an *Invalid that lists every problem. A UTF-8 byte-order mark and
// CRLF are read; duplicate and unknown keys are refused.
func Parse(data []byte, m *catalog.Models) (Policy, error) {
	values, problems := decode(data)
	if values == nil {
		return Policy{}, invalid(problems...)
	}
	var p Policy
	p.Provider = catalog.Provider(values["provider"].text)
	for _, s := range stages {
		c := Choice{Model: values[s.ModelField()].text, Reasoning: catalog.Reasoning(values[s.ReasoningField()].text)}
		if _, given := values[s.ReasoningField()]; !given {
			c.Reasoning = s.DefaultReasoning()
		}
		p.SetStage(s, c)
	}
	for _, q := range Validate(p, m) {
		v, given := values[q.Field]
		switch {
		case given && !v.ok:
			continue // already reported: of another type
		case given:
			q.Line = v.line
		case q.Code == CodeUnsupported || q.Code == CodeReasoning:
			q.Defaulted = true
		default:
			q = Problem{Code: CodeMissing, Field: q.Field, Allowed: q.Allowed}
		}
		problems = append(problems, q)
	}
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b Problem) int { return fieldOrder(a.Field) - fieldOrder(b.Field) })
		return Policy{}, invalid(problems...)
	}
	return p, nil
}

func fieldOrder(name string) int {
	if i := slices.Index(fields, name); i >= 0 {
		return i
	}
	return len(fields)
}

// Validate checks a policy against the catalogue and returns what is wrong with
// it, in the order of the file's fields; nil when nothing is.
func Validate(p Policy, m *catalog.Models) []Problem {
	var out []Problem
	known := p.Provider.Valid()
	if !known {
		out = append(out, Problem{Code: CodeProvider, Field: "provider", Allowed: words(catalog.Providers())})
	}
	var reasoning []Problem
	for _, s := range stages {
		c := p.Stage(s)
		modelOK := false
		switch owner, owned := m.Owner(c.Model); {
		case !catalog.ValidModelID(c.Model):
			out = append(out, Problem{Code: CodeModelID, Field: s.ModelField()})
		case known && owned && owner != p.Provider:
			out = append(out, Problem{Code: CodeForeign, Field: s.ModelField(), Owner: owner})
		default:
			modelOK = known
		}
		allowed := catalog.ReasoningWords()
		if modelOK {
			allowed, _ = m.ReasoningFor(p.Provider, c.Model)
		}
		if slices.Contains(allowed, c.Reasoning) {
			continue
		}
		q := Problem{Code: CodeUnsupported, Field: s.ReasoningField(), Allowed: words(allowed)}
		if !c.Reasoning.Valid() {
			q.Code = CodeReasoning
		}
		reasoning = append(reasoning, q)
	}
	return append(out, reasoning...)
}

type value struct {
	text string
	line int
	ok   bool // it was a string
}

// decode reads the JSON object. values is nil when the file could not be read
// to its end; problems then says why.
func decode(data []byte) (values map[string]value, problems []Problem) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")),
		bytes.IndexByte(data, 0) >= 0, !utf8.Valid(data):
		return nil, []Problem{{Code: CodeEncoding}}
	case len(bytes.TrimSpace(data)) == 0:
		return nil, []Problem{{Code: CodeEmpty}}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	line := func() int { return 1 + bytes.Count(data[:min(int(dec.InputOffset()), len(data))], []byte("\n")) }
	syntax := func(err error) []Problem {
		at := dec.InputOffset()
		var syn *jsontext.SyntacticError
		if errors.As(err, &syn) {
			at = syn.ByteOffset
		}
		return []Problem{{Code: CodeSyntax, Line: 1 + bytes.Count(data[:min(int(at), len(data))], []byte("\n"))}}
	}
	tok, err := dec.ReadToken()
	switch {
	case err != nil:
		return nil, syntax(err)
	case tok.Kind() != '{':
		return nil, []Problem{{Code: CodeNotObject, Line: line()}}
	}
	values = make(map[string]value)
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, syntax(err)
		}
		key, at := name.String(), line()
		v := value{line: at, ok: dec.PeekKind() == '"'}
		if v.ok {
			tok, err := dec.ReadToken()
			if err != nil {
				return nil, syntax(err)
			}
			v.text = tok.String()
		} else if err := dec.SkipValue(); err != nil {
			return nil, syntax(err)
		}
		_, twice := values[key]
		switch {
		case !slices.Contains(fields, key):
			problems = append(problems, Problem{Code: CodeUnknownKey, Line: at, Allowed: fields})
		case twice:
			problems = append(problems, Problem{Code: CodeDuplicate, Field: key, Line: at})
		case !v.ok:
			problems = append(problems, Problem{Code: CodeType, Field: key, Line: at})
			values[key] = v
		default:
			values[key] = v
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, syntax(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, syntax(err)
	}
	return values, problems
}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}
