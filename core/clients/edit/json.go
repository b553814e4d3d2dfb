package edit

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonEditor edits JSON with comments and trailing commas.
type jsonEditor struct{}

const jsonSpace = " \t\r\n"

var jsonLine = regexp.MustCompile(`line (\d+)`)

// parse returns the top-level object; nil for a text of nothing but white space.
func (jsonEditor) parse(data []byte) (*hujson.Value, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	v, err := hujson.Parse(data)
	if err != nil {
		line := 0
		if m := jsonLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		return nil, &Error{Code: NotValid, Format: JSON, Line: line}
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return nil, &Error{Code: Shape, Format: JSON, Key: "{}"}
	}
	return &v, nil
}

// member returns the index of the member with the name, -1 if there is none. One
// that is there twice is refused: readers disagree about which one counts.
func member(v *hujson.Value, name string) (int, error) {
	found := -1
	for i, m := range v.Value.(*hujson.Object).Members {
		if m.Name.Value.(hujson.Literal).String() == name {
			if found >= 0 {
				return -1, &Error{Code: Shape, Format: JSON, Key: name}
			}
			found = i
		}
	}
	return found, nil
}

// find returns the container and the index of the entry in it; a nil container
// if there is none, -1 if the entry is not there.
func (jsonEditor) find(root *hujson.Value, p Path) (container *hujson.Value, entry int, err error) {
	i, err := member(root, p.Container)
	if err != nil || i < 0 {
		return nil, -1, err
	}
	container = &root.Value.(*hujson.Object).Members[i].Value
	if _, ok := container.Value.(*hujson.Object); !ok {
		return nil, -1, &Error{Code: Shape, Format: JSON, Key: p.Container}
	}
	entry, err = member(container, p.Name)
	return container, entry, err
}

func (e jsonEditor) get(data []byte, p Path) (Object, bool, error) {
	root, err := e.parse(data)
	if err != nil || root == nil {
		return nil, false, err
	}
	container, i, err := e.find(root, p)
	if err != nil || container == nil || i < 0 {
		return nil, false, err
	}
	entry := container.Value.(*hujson.Object).Members[i].Value
	if _, ok := entry.Value.(*hujson.Object); !ok {
		return Object{}, true, nil
	}
	return jsonObject(data, &entry), true, nil
}

func jsonObject(data []byte, v *hujson.Value) Object {
	out := Object{}
	for _, m := range v.Value.(*hujson.Object).Members {
		out = append(out, Member{m.Name.Value.(hujson.Literal).String(), jsonValue(data, &m.Value)})
	}
	return out
}

func jsonValue(data []byte, v *hujson.Value) any {
	switch x := v.Value.(type) {
	case hujson.Literal:
		switch x.Kind() {
		case '"':
			return x.String()
		case 't', 'f':
			return x.Bool()
		case '0':
			if n, err := strconv.Atoi(string(x)); err == nil && strconv.Itoa(n) == string(x) {
				return n
			}
		}
	case *hujson.Array:
		list := []string{}
		for _, el := range x.Elements {
			lit, ok := el.Value.(hujson.Literal)
			if !ok || lit.Kind() != '"' {
				return Raw(data[v.StartOffset:v.EndOffset])
			}
			list = append(list, lit.String())
		}
		return list
	case *hujson.Object:
		return jsonObject(data, v)
	}
	return Raw(data[v.StartOffset:v.EndOffset])
}

func (e jsonEditor) decode(data []byte) (map[string]any, error) {
	root, err := e.parse(data)
	if err != nil || root == nil {
		return map[string]any{}, err
	}
	std := root.Clone()
	std.Standardize()
	dec := json.NewDecoder(bytes.NewReader(std.Pack()))
	dec.UseNumber()
	out := map[string]any{}
	if dec.Decode(&out) != nil {
		return nil, &Error{Code: NotValid, Format: JSON}
	}
	return out, nil
}

// jsonStyle is how a document is laid out.
type jsonStyle struct {
	eol  string
	unit string // one step of indentation
	flat bool   // all on one line
	gap  string // after a colon and a comma on one line
}

func styleOf(data []byte, root *hujson.Value, eol string) jsonStyle {
	s := jsonStyle{eol: eol, unit: "  ", gap: " "}
	if root == nil {
		return s
	}
	obj := root.Value.(*hujson.Object)
	body := data[root.StartOffset:root.EndOffset]
	if len(obj.Members) == 0 {
		return s
	}
	if !bytes.ContainsRune(body, '\n') {
		s.flat = true
		if !bytes.Contains(body, []byte(": ")) && !bytes.Contains(body, []byte(", ")) {
			s.gap = ""
		}
		return s
	}
	first := obj.Members[0].Name.StartOffset
	outer := indentAt(data, root.StartOffset)
	if inner := indentAt(data, first); lineStart(data, first) > root.StartOffset && len(inner) > len(outer) && strings.HasPrefix(inner, outer) {
		s.unit = inner[len(outer):]
	}
	return s
}

// render spells a value whose line is indented by indent.
func (s jsonStyle) render(v any, indent string) string {
	object, ok := v.(Object)
	if !ok {
		return scalar(v, jsonString, s.gap)
	}
	if len(object) == 0 {
		return "{}"
	}
	parts := make([]string, len(object))
	inner := indent + s.unit
	for i, m := range object {
		parts[i] = jsonString(m.Key) + ":" + s.gap + s.render(m.Value, inner)
	}
	if s.flat {
		return "{" + strings.Join(parts, ","+s.gap) + "}"
	}
	return "{" + s.eol + inner + strings.Join(parts, ","+s.eol+inner) + s.eol + indent + "}"
}

func jsonString(s string) string { return string(hujson.String(s)) }

func (e jsonEditor) set(data []byte, p Path, v Object, eol string) ([]byte, error) {
	root, err := e.parse(data)
	if err != nil {
		return nil, err
	}
	s := styleOf(data, root, eol)
	if root == nil {
		return append(bytes.Clone(data), s.render(Object{{p.Container, Object{{p.Name, v}}}}, "")+eol...), nil
	}
	container, i, err := e.find(root, p)
	if err != nil {
		return nil, err
	}
	if container == nil {
		return s.add(data, root, p.Container, Object{{p.Name, v}}), nil
	}
	if i < 0 {
		return s.add(data, container, p.Name, v), nil
	}
	entry := container.Value.(*hujson.Object).Members[i]
	if _, ok := entry.Value.Value.(*hujson.Object); ok {
		old := jsonObject(data, &entry.Value)
		if says(old, v) {
			return data, nil
		}
		v = overlay(old, v)
	}
	s.flat = s.flat || !bytes.ContainsRune(data[container.StartOffset:container.EndOffset], '\n')
	return splice(data, entry.Value.StartOffset, entry.Value.EndOffset, s.render(v, indentAt(data, entry.Name.StartOffset))), nil
}

// overlay returns v with those members of old that it does not name: a person's
// own settings of the entry.
func overlay(old, v Object) Object {
	out := append(Object{}, v...)
	for _, m := range old {
		if _, ok := v.Lookup(m.Key); !ok && m.Key != "env" && m.Key != "environment" {
			out = append(out, m)
		}
	}
	return out
}

// add appends a member to an object.
func (s jsonStyle) add(data []byte, obj *hujson.Value, name string, v any) []byte {
	o := obj.Value.(*hujson.Object)
	closing := obj.EndOffset - 1
	tail := len(o.AfterExtra) // white space and comments before the brace
	at := closing - tail + len(bytes.TrimRight(o.AfterExtra, jsonSpace))
	member := func(indent string) string {
		return string(hujson.String(name)) + ":" + s.gap + s.render(v, indent)
	}
	if len(o.Members) == 0 {
		if s.flat {
			return splice(data, at, at, member(""))
		}
		outer := indentAt(data, obj.StartOffset)
		text := s.eol + outer + s.unit + member(outer+s.unit)
		if !bytes.ContainsRune(data[at:closing], '\n') {
			return splice(data, closing, closing, text+s.eol+outer)
		}
		return splice(data, at, at, text)
	}
	last := o.Members[len(o.Members)-1]
	first := o.Members[0].Name.StartOffset
	// An object whose members share the line of its brace stays on one line,
	// unless a line comment ends it.
	flat := !bytes.ContainsRune(data[obj.StartOffset:closing], '\n')
	s.flat = s.flat || flat
	var lead, indent string
	if flat {
		lead = s.gap
	} else {
		indent = indentAt(data, first)
		lead = s.eol + indent
	}
	text := lead + member(indent)
	if last.Value.AfterExtra != nil { // a trailing comma, which stays the way of the file
		return splice(data, at, at, text+",")
	}
	out := splice(data, at, at, text)
	return splice(out, last.Value.EndOffset, last.Value.EndOffset, ",")
}

func (e jsonEditor) remove(data []byte, p Path, container bool, _ string) ([]byte, error) {
	root, err := e.parse(data)
	if err != nil || root == nil {
		return data, err
	}
	c, i, err := e.find(root, p)
	if err != nil || c == nil {
		return data, err
	}
	if i >= 0 {
		data = drop(data, c, i)
		if root, err = e.parse(data); err != nil {
			return nil, err
		}
		if c, _, err = e.find(root, p); err != nil {
			return nil, err
		}
	}
	o := c.Value.(*hujson.Object)
	if container && len(o.Members) == 0 && len(bytes.Trim(o.AfterExtra, jsonSpace)) == 0 {
		at, _ := member(root, p.Container)
		data = drop(data, root, at)
	}
	return data, nil
}

// value returns the entry's value.
func (e jsonEditor) value(data []byte, p Path) (*hujson.Value, error) {
	root, err := e.parse(data)
	if err != nil || root == nil {
		return nil, err
	}
	container, i, err := e.find(root, p)
	if err != nil || container == nil || i < 0 {
		return nil, err
	}
	return &container.Value.(*hujson.Object).Members[i].Value, nil
}

func (e jsonEditor) restore(data, from []byte, p Path, eol string) ([]byte, error) {
	old, err := e.value(from, p)
	if err != nil {
		return nil, err
	}
	now, err := e.value(data, p)
	if err != nil {
		return nil, err
	}
	if old == nil || now == nil {
		return nil, absent(JSON, p)
	}
	return splice(data, now.StartOffset, now.EndOffset, withEnds(string(from[old.StartOffset:old.EndOffset]), eol)), nil
}

// drop takes member i out of an object, and the white space before it.
func drop(data []byte, obj *hujson.Value, i int) []byte {
	o := obj.Value.(*hujson.Object)
	m := o.Members[i]
	before := m.Name.StartOffset - len(m.Name.BeforeExtra) + len(bytes.TrimRight(m.Name.BeforeExtra, jsonSpace))
	if before > m.Name.StartOffset-len(m.Name.BeforeExtra) {
		before = m.Name.StartOffset // a comment there may need its line end
		for before > 0 && (data[before-1] == ' ' || data[before-1] == '\t') {
			before--
		}
		if before > 0 && data[before-1] == '\n' && lineEnds(data, m.Value.EndOffset) > m.Value.EndOffset {
			before = m.Name.StartOffset - len(m.Name.BeforeExtra) + len(bytes.TrimRight(m.Name.BeforeExtra, jsonSpace))
		}
	}
	isLast := i == len(o.Members)-1
	trailing := m.Value.AfterExtra != nil
	end := m.Value.EndOffset
	switch {
	case !isLast || trailing:
		comma := end + len(m.Value.AfterExtra)
		if len(bytes.Trim(m.Value.AfterExtra, jsonSpace)) > 0 {
			data = splice(data, comma, comma+1, "") // a comment before the comma stays
			data = splice(data, before, end, "")
		} else {
			data = splice(data, before, comma+1, "")
		}
	case i > 0:
		data = splice(data, before, end, "")
		prev := o.Members[i-1].Value
		comma := prev.EndOffset + len(prev.AfterExtra)
		data = splice(data, comma, comma+1, "")
	default:
		data = splice(data, before, end, "")
	}
	if len(o.Members) > 1 {
		return data
	}
	// Nothing is left between the braces but white space: they close up.
	open := obj.StartOffset + 1
	rest := data[open:]
	if n := len(rest) - len(bytes.TrimLeft(rest, jsonSpace)); rest[n] == '}' {
		return splice(data, open, open+n, "")
	}
	return data
}
