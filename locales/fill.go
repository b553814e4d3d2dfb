package locales

import (
	"errors"
	"fmt"
	"strings"
)

// text is a message's text, cut at its variables: literals[0], variables[0], literals[1], and so on.
//
// Variables are all that messages have. The library would take any Go template; the template package
// finds methods by name when it runs, and so keeps the linker from leaving out whatever no one calls.
type text struct {
	literals  []string
	variables []string
}

const (
	openVariable  = "{{."
	closeVariable = "}}"
)

var errSyntax = errors.New("only variables like {{.Name}} may stand in braces")

// cut parses a message.
func cut(message string) (text, error) {
	var t text
	for {
		literal, rest, found := strings.Cut(message, "{{")
		t.literals = append(t.literals, literal)
		if !found {
			return t, nil
		}
		name, rest, closed := strings.Cut(rest, closeVariable)
		name, dotted := strings.CutPrefix(name, openVariable[2:])
		if !closed || !dotted || strings.Trim(name, letters) != "" || name == "" {
			return text{}, errSyntax
		}
		t.variables = append(t.variables, name)
		message = rest
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// fill puts the variables in. ok is false when one of them is not given.
func (t text) fill(data Vars) (s string, ok bool) {
	if len(t.variables) == 0 {
		return t.literals[0], true
	}
	var b strings.Builder
	for i, name := range t.variables {
		b.WriteString(t.literals[i])
		value, given := data[name]
		if !given {
			return "", false
		}
		_, _ = fmt.Fprint(&b, value)
	}
	b.WriteString(t.literals[len(t.variables)])
	return b.String(), true
}
