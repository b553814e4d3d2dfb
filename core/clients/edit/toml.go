package edit

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlEditor edits TOML whose entries are tables of their own:
// [container.name] and what is below it.
type tomlEditor struct{}

// statement is a top-level expression: a header or a key with its value. A
// comment on its line belongs to it.
type statement struct {
	header     bool
	path       []string // of the table or of the key, from the root
	table      []string // in which a key stands
	start, end int      // whole lines
	inline     bool     // the value is an inline table
}

func (tomlEditor) parse(data []byte) ([]statement, error) {
	var p unstable.Parser
	p.Reset(data)
	var out []statement
	var table []string
	for p.NextExpression() {
		n := p.Expression()
		var keys []string
		first, last := -1, 0
		for it := n.Key(); it.Next(); {
			k := it.Node()
			keys = append(keys, string(k.Data))
			if first < 0 {
				first = int(k.Raw.Offset)
			}
			last = int(k.Raw.Offset + k.Raw.Length)
		}
		s := statement{start: lineStart(data, first)}
		if n.Kind == unstable.KeyValue {
			last = int(n.Raw.Offset + n.Raw.Length)
			s.path, s.table = append(append([]string{}, table...), keys...), table
			s.inline = n.Value().Kind == unstable.InlineTable
		} else {
			table, s.path, s.header = keys, keys, true
		}
		s.end = lineEnds(data, last)
		out = append(out, s)
	}
	if err := p.Error(); err != nil {
		return nil, &Error{Code: NotValid, Format: TOML, Line: tomlLine(data, err)}
	}
	return out, nil
}

func tomlLine(data []byte, err error) int {
	var perr *unstable.ParserError
	if !errors.As(err, &perr) {
		return 0
	}
	offset := cap(data) - cap(perr.Highlight)
	if offset < 0 || offset > len(data) {
		return 0
	}
	return 1 + bytes.Count(data[:offset], []byte("\n"))
}

func (tomlEditor) decode(data []byte) (map[string]any, error) {
	out := map[string]any{}
	if err := toml.Unmarshal(data, &out); err != nil {
		line := 0
		var derr *toml.DecodeError
		if errors.As(err, &derr) {
			line, _ = derr.Position()
		}
		return nil, &Error{Code: NotValid, Format: TOML, Line: line}
	}
	return out, nil
}

func (e tomlEditor) get(data []byte, p Path) (Object, bool, error) {
	doc, err := e.decode(data)
	if err != nil {
		return nil, false, err
	}
	return lookup(doc, p, TOML)
}

// lookup returns an entry of a decoded document.
func lookup(doc map[string]any, p Path, f Format) (Object, bool, error) {
	value, ok := doc[p.Container]
	if !ok || value == nil {
		return nil, false, nil
	}
	container, ok := value.(map[string]any)
	if !ok {
		return nil, false, &Error{Code: Shape, Format: f, Key: p.Container}
	}
	entry, ok := container[p.Name]
	if !ok {
		return nil, false, nil
	}
	members, ok := entry.(map[string]any)
	if !ok {
		return Object{}, true, nil
	}
	return objectOf(members), true, nil
}

func objectOf(members map[string]any) Object {
	out := Object{}
	for key, value := range members {
		switch v := value.(type) {
		case map[string]any:
			value = objectOf(v)
		case int64:
			value = int(v)
		case uint64: // of YAML
			if v <= math.MaxInt {
				value = int(v)
			}
		case []any:
			list := []string{}
			for _, el := range v {
				if s, ok := el.(string); ok {
					list = append(list, s)
				}
			}
			if len(list) == len(v) {
				value = list
			}
		}
		out = append(out, Member{key, value})
	}
	return out
}

// below reports whether path leads to the entry or into it.
func (p Path) below(path []string) bool {
	return len(path) >= 2 && path[0] == p.Container && path[1] == p.Name
}

// section is a part of an entry: whole lines with no statement of others between.
type section struct {
	start, end int
	header     bool     // it is a table of its own, not a key
	table      []string // in which the key stands
}

// sections returns the parts that make up the entry, in order.
func (e tomlEditor) sections(data []byte, p Path) (list []section, err error) {
	all, err := e.parse(data)
	if err != nil {
		return nil, err
	}
	within := false
	for _, s := range all {
		if len(s.path) == 1 && s.path[0] == p.Container && s.inline {
			return nil, &Error{Code: Shape, Format: TOML, Key: p.Container, Line: 1 + bytes.Count(data[:s.start], []byte("\n"))}
		}
		switch {
		case s.header:
			if within = p.below(s.path); within {
				list = append(list, section{start: s.start, end: s.end, header: true})
			}
		case within:
			list[len(list)-1].end = s.end
		case p.below(s.path):
			list = append(list, section{start: s.start, end: s.end, table: s.table})
		}
	}
	return list, nil
}

func (e tomlEditor) set(data []byte, p Path, v Object, eol string) ([]byte, error) {
	list, err := e.sections(data, p)
	if err != nil {
		return nil, err
	}
	return replaceSections(data, list, tomlTable([]string{p.Container, p.Name}, v, eol), eol), nil
}

// replaceSections puts block, whole lines, in the place of the entry's parts, or
// at the end where the first of them is no table.
func replaceSections(data []byte, list []section, block, eol string) []byte {
	for i := len(list) - 1; i > 0; i-- {
		data = cutSection(data, list[i])
	}
	if len(list) > 0 && list[0].header {
		end := min(list[0].end, len(data))
		if !bytes.HasSuffix(data[:end], []byte("\n")) {
			block = strings.TrimSuffix(block, eol)
		}
		return splice(data, list[0].start, end, block)
	}
	if len(list) > 0 {
		data = cutSection(data, list[0])
	}
	return appendBlock(data, block, eol)
}

// appendBlock puts block at the end, after a blank line. A file whose last line
// has no end keeps that, so that taking the block out again gives the same bytes.
func appendBlock(data []byte, block, eol string) []byte {
	switch {
	case len(data) == 0:
		return []byte(block)
	case bytes.HasSuffix(data, []byte("\n")):
		return append(bytes.Clone(data), eol+block...)
	}
	return append(bytes.Clone(data), eol+eol+strings.TrimSuffix(block, eol)...)
}

// restore puts the tables of the old entry where the new one is, and its keys
// into the table in which they stood.
func (e tomlEditor) restore(data, from []byte, p Path, eol string) ([]byte, error) {
	old, err := e.sections(from, p)
	if err != nil {
		return nil, err
	}
	now, err := e.sections(data, p)
	if err != nil {
		return nil, err
	}
	if len(old) == 0 || len(now) == 0 {
		return nil, absent(TOML, p)
	}
	var tables string
	for i, s := range old {
		if !s.header {
			continue
		}
		if tables != "" {
			gap := string(from[old[i-1].end:s.start])
			if !old[i-1].header || strings.TrimSpace(gap) != "" {
				gap = eol // what stood between is not of the entry
			}
			tables += withEnds(gap, eol)
		}
		tables += wholeLines(from[s.start:s.end], eol)
	}
	if tables != "" {
		data = replaceSections(data, now, tables, eol)
	} else {
		for i := len(now) - 1; i >= 0; i-- {
			data = cutSection(data, now[i])
		}
	}
	for i := len(old) - 1; i >= 0; i-- {
		if s := old[i]; !s.header {
			if data, err = e.insertKey(data, s.table, wholeLines(from[s.start:s.end], eol), eol); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}

// insertKey puts lines right under the header of a table, and at the end with a
// header of their own if there is none.
func (e tomlEditor) insertKey(data []byte, table []string, lines, eol string) ([]byte, error) {
	all, err := e.parse(data)
	if err != nil {
		return nil, err
	}
	if len(table) == 0 { // the keys before the first header
		at := 0
		for _, s := range all {
			if s.header {
				break
			}
			at = s.end
		}
		if at > 0 && data[at-1] != '\n' {
			lines = eol + strings.TrimSuffix(lines, eol)
		}
		return splice(data, at, at, lines), nil
	}
	for _, s := range all {
		if s.header && slices.Equal(s.path, table) {
			if data[s.end-1] != '\n' {
				lines = eol + strings.TrimSuffix(lines, eol)
			}
			return splice(data, s.end, s.end, lines), nil
		}
	}
	return appendBlock(data, tomlTable(table, nil, eol)+lines, eol), nil
}

// wholeLines returns text with line ends of one kind, the last line's included.
func wholeLines(text []byte, eol string) string {
	s := withEnds(string(text), eol)
	if !strings.HasSuffix(s, eol) {
		s += eol
	}
	return s
}

// cutSection takes lines out. With a table goes the blank line before it.
func cutSection(data []byte, s section) []byte {
	from, to := s.start, min(s.end, len(data))
	if s.header {
		steps := 1
		if !bytes.HasSuffix(data[:to], []byte("\n")) {
			steps = 2 // the last line had no end before either
		}
		for range steps {
			before := data[:from]
			trimmed := bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r"))
			if steps == 1 && len(trimmed) > 0 && trimmed[len(trimmed)-1] != '\n' {
				break // the line before is not blank
			}
			from = len(trimmed)
		}
	}
	return splice(data, from, to, "")
}

func (e tomlEditor) remove(data []byte, p Path, _ bool, _ string) ([]byte, error) {
	if _, err := e.decode(data); err != nil {
		return nil, err
	}
	list, err := e.sections(data, p)
	if err != nil {
		if _, found, gerr := e.get(data, p); gerr == nil && !found {
			return data, nil
		}
		return nil, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		data = cutSection(data, list[i])
	}
	return data, nil
}

// tomlTable spells a table and its sub-tables.
func tomlTable(path []string, v Object, eol string) string {
	keys := make([]string, len(path))
	for i, k := range path {
		keys[i] = tomlKey(k)
	}
	var b strings.Builder
	b.WriteString("[" + strings.Join(keys, ".") + "]" + eol)
	for _, m := range v {
		if _, ok := m.Value.(Object); !ok {
			b.WriteString(tomlKey(m.Key) + " = " + scalar(m.Value, tomlString, " ") + eol)
		}
	}
	for _, m := range v {
		if sub, ok := m.Value.(Object); ok && len(sub) > 0 {
			b.WriteString(eol + tomlTable(append(append([]string{}, path...), m.Key), sub, eol))
		}
	}
	return b.String()
}

func tomlKey(k string) string {
	const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if k != "" && strings.Trim(k, bare) == "" {
		return k
	}
	return tomlString(k)
}

func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u` + strings.ToUpper(strconv.FormatInt(0x10000+int64(r), 16)[1:]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
