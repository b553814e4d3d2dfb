// Package edit changes one entry of a configuration file and nothing else:
// comments, unknown keys, order, indentation, byte-order mark, line ends and
// trailing commas stay as they are, byte for byte. It works on bytes and touches
// no file.
package edit

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Format is a kind of configuration file.
type Format string

// The formats.
const (
	JSON Format = "json" // with comments and trailing commas, which stay
	TOML Format = "toml"
	YAML Format = "yaml"
)

// Path leads to an entry: the table of servers, and the server's name in it.
type Path struct{ Container, Name string }

// Member is a named value of an object. A value is a string, a bool, an int, a
// []string, an Object, or Raw.
type Member struct {
	Key   string
	Value any
}

// Object is a list of members in order.
type Object []Member

// Raw is a value in the format's own spelling.
type Raw string

// Code is a reason why a file is not edited.
type Code string

// The reasons.
const (
	NotText  Code = "not_text"  // not UTF-8, or UTF-16, or with NUL bytes
	NotValid Code = "not_valid" // does not parse
	Shape    Code = "shape"     // parses, but what holds the entry is no table, is there twice, or is written in a way that can't be edited
)

// Error says why a file can't be edited. It holds nothing of the file.
type Error struct {
	Code   Code
	Format Format
	Line   int    // 1-based, 0 if not known
	Key    string // what has the wrong shape
}

// Error describes the problem in English.
func (e *Error) Error() string {
	where := ""
	if e.Line > 0 {
		where = fmt.Sprintf(" (line %d)", e.Line)
	}
	switch e.Code {
	case NotText:
		return "the file is not UTF-8 text"
	case Shape:
		return fmt.Sprintf("%s is not written as a table of entries that can be edited%s", e.Key, where)
	}
	return fmt.Sprintf("the file is not valid %s%s", strings.ToUpper(string(e.Format)), where)
}

// editor is what a format must be able to do. Data is text without a byte-order
// mark; set and remove return the text changed.
type editor interface {
	get(data []byte, p Path) (Object, bool, error)
	set(data []byte, p Path, v Object, eol string) ([]byte, error)
	remove(data []byte, p Path, container bool, eol string) ([]byte, error)
	restore(data, from []byte, p Path, eol string) ([]byte, error)
	decode(data []byte) (map[string]any, error)
}

func (f Format) editor() editor {
	switch f {
	case TOML:
		return tomlEditor{}
	case YAML:
		return yamlEditor{}
	}
	return jsonEditor{}
}

var bom = []byte("\xef\xbb\xbf")

// split checks that data is text and takes its byte-order mark off.
func (f Format) split(data []byte) (mark, text []byte, err error) {
	if rest, ok := bytes.CutPrefix(data, bom); ok {
		mark, data = bom, rest
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, nil, &Error{Code: NotText, Format: f}
	}
	return mark, data, nil
}

// lineEnd returns the line end that text uses most.
func lineEnd(text []byte) string {
	if crlf := bytes.Count(text, []byte("\r\n")); crlf > 0 && 2*crlf >= bytes.Count(text, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}

// Get returns the entry at p: the members that are strings, booleans, lists of
// strings or objects of those; others as Raw where the format allows it.
func (f Format) Get(data []byte, p Path) (Object, bool, error) {
	_, text, err := f.split(data)
	if err != nil {
		return nil, false, err
	}
	return guard(f, func() (Object, bool, error) { return f.editor().get(text, p) })
}

// HasTable reports whether data has a table for entries, be it empty.
func (f Format) HasTable(data []byte, container string) (bool, error) {
	_, text, err := f.split(data)
	if err != nil {
		return false, err
	}
	doc, _, err := guard(f, func() (map[string]any, bool, error) {
		doc, err := f.editor().decode(text)
		return doc, true, err
	})
	_, has := doc[container]
	return has, err
}

// Set returns data with v as the entry at p, where an entry may be already. An
// entry that says the same already leaves data as it is. In JSON, members of the
// entry that v does not name are kept.
func (f Format) Set(data []byte, p Path, v Object) ([]byte, error) {
	return f.change(data, p, func(e editor, text []byte, eol string) ([]byte, error) {
		old, found, err := e.get(text, p)
		if err != nil || found && says(old, v) && len(old) == len(v) {
			return text, err
		}
		return e.set(text, p, v, eol)
	}, func(e editor, out []byte) (bool, error) {
		got, found, err := e.get(out, p)
		return found && says(got, v), err
	})
}

// Remove returns data without the entry at p. With container, what held the
// entry goes too if nothing is left in it.
func (f Format) Remove(data []byte, p Path, container bool) ([]byte, error) {
	return f.change(data, p, func(e editor, text []byte, eol string) ([]byte, error) {
		return e.remove(text, p, container, eol)
	}, func(e editor, out []byte) (bool, error) {
		_, found, err := e.get(out, p)
		return !found, err
	})
}

// Restore returns data with the entry at p as it is written in from, in place of
// the one that data has. Both must have one.
func (f Format) Restore(data, from []byte, p Path) ([]byte, error) {
	_, source, err := f.split(from)
	if err != nil {
		return nil, err
	}
	return f.change(data, p, func(e editor, text []byte, eol string) ([]byte, error) {
		return e.restore(text, source, p, eol)
	}, func(e editor, out []byte) (bool, error) {
		before, err := e.decode(source)
		if err != nil {
			return false, err
		}
		after, err := e.decode(out)
		return fmt.Sprintf("%#v", entryOf(before, p)) == fmt.Sprintf("%#v", entryOf(after, p)), err
	})
}

// entryOf returns the entry at p of a decoded document.
func entryOf(doc map[string]any, p Path) any {
	container, _ := doc[p.Container].(map[string]any)
	return container[p.Name]
}

// change carries out an edit and holds it to its promise: what comes out parses,
// says of the entry what it should, and says the same of everything else.
func (f Format) change(data []byte, p Path, do func(editor, []byte, string) ([]byte, error), holds func(editor, []byte) (bool, error)) ([]byte, error) {
	mark, text, err := f.split(data)
	if err != nil {
		return nil, err
	}
	e := f.editor()
	out, _, err := guard(f, func() ([]byte, bool, error) {
		before, err := e.decode(text)
		if err != nil {
			return nil, false, err
		}
		out, err := do(e, text, lineEnd(text))
		if err != nil {
			return nil, false, err
		}
		if ok, err := holds(e, out); err != nil || !ok {
			return nil, false, &Error{Code: Shape, Format: f, Key: p.Container}
		}
		after, err := e.decode(out)
		if err != nil || !sameBut(before, after, p) {
			return nil, false, &Error{Code: Shape, Format: f, Key: p.Container}
		}
		return out, true, nil
	})
	if err != nil {
		return nil, err
	}
	return append(bytes.Clone(mark), out...), nil
}

// guard turns a panic of a parser, which no file may cause, into a refusal.
func guard[T any](f Format, do func() (T, bool, error)) (out T, ok bool, err error) {
	defer func() {
		if recover() != nil {
			err = &Error{Code: NotValid, Format: f}
		}
	}()
	return do()
}

// scalar spells a value that is no object. Lists are in brackets, with the gap
// after their commas.
func scalar(v any, quote func(string) string, gap string) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case Raw:
		return string(v)
	case []string:
		words := make([]string, len(v))
		for i, w := range v {
			words[i] = quote(w)
		}
		return "[" + strings.Join(words, ","+gap) + "]"
	}
	panic("not a value of an entry")
}

// says reports whether got has every member of want with its value.
func says(got, want Object) bool {
	for _, m := range want {
		if v, ok := got.Lookup(m.Key); !ok || !reflect.DeepEqual(plain(v), plain(m.Value)) {
			return false
		}
	}
	return true
}

// plain makes an empty list and a nil one, and objects in any order, the same.
func plain(v any) any {
	switch v := v.(type) {
	case Object:
		out := map[string]any{}
		for _, m := range v {
			out[m.Key] = plain(m.Value)
		}
		return out
	case []string:
		return strings.Join(v, "\x00")
	}
	return v
}

// Lookup returns the value of a member.
func (o Object) Lookup(key string) (any, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// sameBut reports whether two documents say the same of everything but the entry
// at p. The spelled-out form is compared because NaN is not equal to itself.
func sameBut(a, b map[string]any, p Path) bool {
	return fmt.Sprintf("%#v", without(a, p)) == fmt.Sprintf("%#v", without(b, p))
}

func without(doc map[string]any, p Path) map[string]any {
	out := map[string]any{}
	for key, value := range doc {
		if container, ok := value.(map[string]any); ok && key == p.Container {
			rest := map[string]any{}
			for name, entry := range container {
				if name != p.Name {
					rest[name] = entry
				}
			}
			if len(rest) == 0 {
				continue
			}
			value = rest
		}
		out[key] = value
	}
	// An empty container and none are the same.
	if value, ok := out[p.Container]; ok && value == nil {
		delete(out, p.Container)
	}
	return out
}

// absent says that there is no entry to be put back, or none to put it in place of.
func absent(f Format, p Path) error { return &Error{Code: Shape, Format: f, Key: p.Name} }

// withEnds returns text with all its line ends made eol.
func withEnds(text, eol string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", eol)
}

// splice returns data with [from, to) replaced.
func splice(data []byte, from, to int, with string) []byte {
	out := make([]byte, 0, len(data)+len(with))
	out = append(out, data[:from]...)
	out = append(out, with...)
	return append(out, data[to:]...)
}

// lineStart returns where the line of offset at begins.
func lineStart(data []byte, at int) int { return bytes.LastIndexByte(data[:at], '\n') + 1 }

// lineEnds returns the offset behind the line of offset at, its line end
// included.
func lineEnds(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
}

// indentAt returns the white space with which the line of offset at begins.
func indentAt(data []byte, at int) string {
	start := lineStart(data, at)
	end := start
	for end < len(data) && (data[end] == ' ' || data[end] == '\t') {
		end++
	}
	return string(data[start:end])
}
