package edit

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// yamlEditor edits YAML in block style. Positions are taken as lines: the
// library counts columns in characters and lines in any line end.
type yamlEditor struct{}

var yamlLine = regexp.MustCompile(`\[(\d+):\d+\]`)

func yamlInvalid(err error) error {
	line := 0
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	return &Error{Code: NotValid, Format: YAML, Line: line}
}

// parse returns the top-level mapping, nil if the document is empty.
func (yamlEditor) parse(data []byte) (*ast.MappingNode, error) {
	unix := bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if bytes.IndexByte(unix, '\r') >= 0 { // a line end of old that lines here don't follow
		return nil, &Error{Code: Shape, Format: YAML, Key: `\r`}
	}
	file, err := parser.ParseBytes(unix, 0)
	if err != nil {
		return nil, yamlInvalid(err)
	}
	var root ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType && doc.Body.GetToken().Value == "" {
			continue
		}
		if root != nil {
			return nil, &Error{Code: Shape, Format: YAML, Key: "---"}
		}
		root = doc.Body
	}
	if root == nil {
		return nil, nil
	}
	m, ok := root.(*ast.MappingNode)
	if !ok || m.IsFlowStyle {
		return nil, &Error{Code: Shape, Format: YAML, Key: "{}"}
	}
	return m, nil
}

func (yamlEditor) decode(data []byte) (map[string]any, error) {
	out := map[string]any{}
	if err := yaml.Unmarshal(data, &out); err != nil {
		return nil, yamlInvalid(err)
	}
	return out, nil
}

func (e yamlEditor) get(data []byte, p Path) (Object, bool, error) {
	if _, err := e.parse(data); err != nil {
		return nil, false, err
	}
	doc, err := e.decode(data)
	if err != nil {
		return nil, false, err
	}
	return lookup(doc, p, YAML)
}

// lines are the lines of a text with their ends.
func lines(data []byte) []string { return strings.SplitAfter(string(data), "\n") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// blank reports whether a line has nothing or a comment alone.
func blank(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || t[0] == '#'
}

// child returns the 0-based line of a key of a block mapping and its value; -1
// if it is not there.
func child(m *ast.MappingNode, key string, text []string) (int, ast.Node, error) {
	for _, v := range m.Values {
		tk := v.Key.GetToken()
		if tk.Value != key {
			continue
		}
		line := tk.Position.Line - 1
		if line < 0 || line >= len(text) || v.Key.Type() != ast.StringType ||
			!strings.HasPrefix(strings.TrimLeft(text[line], " "), strings.TrimSpace(tk.Origin)) {
			return -1, nil, &Error{Code: Shape, Format: YAML, Key: key, Line: line + 1}
		}
		return line, v.Value, nil
	}
	return -1, nil, nil
}

// place is where an entry is, or where it would go.
type place struct {
	container int // line of the container's key, -1 if there is none
	empty     bool
	flow      bool // the container is {}
	indent    int  // of the entries
	from, to  int  // lines of the entry; from is -1 if there is none
}

func (e yamlEditor) find(data []byte, p Path) (pl place, text []string, err error) {
	text = lines(data)
	pl = place{container: -1, from: -1}
	root, err := e.parse(data)
	if err != nil || root == nil {
		return pl, text, err
	}
	var value ast.Node
	if pl.container, value, err = child(root, p.Container, text); err != nil || pl.container < 0 {
		return pl, text, err
	}
	outer := indentOf(text[pl.container])
	pl.indent = outer + 2
	wrong := &Error{Code: Shape, Format: YAML, Key: p.Container, Line: pl.container + 1}
	switch v := value.(type) {
	case *ast.NullNode:
		pl.empty = true
		_, after, _ := strings.Cut(text[pl.container], ":")
		if v.GetToken().Type != token.ImplicitNullType || !blank(after) {
			return pl, text, wrong
		}
	case *ast.MappingNode:
		if len(v.Values) == 0 {
			pl.empty, pl.flow = true, true
			if v.GetToken().Position.Line-1 != pl.container {
				return pl, text, wrong
			}
			return pl, text, nil
		}
		if v.IsFlowStyle {
			return pl, text, wrong
		}
		first := v.Values[0].Key.GetToken().Position.Line - 1
		if first <= pl.container || first >= len(text) {
			return pl, text, wrong
		}
		pl.indent = indentOf(text[first])
		if pl.from, _, err = child(v, p.Name, text); err != nil || pl.from < 0 {
			return pl, text, err
		}
		pl.to = pl.from + 1
		for i := pl.from + 1; i < len(text); i++ {
			if blank(text[i]) && !(indentOf(text[i]) > pl.indent && strings.TrimSpace(text[i]) != "") {
				continue
			}
			if indentOf(text[i]) <= pl.indent {
				break
			}
			pl.to = i + 1
		}
	default:
		return pl, text, wrong
	}
	return pl, text, nil
}

func (e yamlEditor) set(data []byte, p Path, v Object, eol string) ([]byte, error) {
	pl, text, err := e.find(data, p)
	if err != nil {
		return nil, err
	}
	join := func(from, to int, with string) []byte {
		return []byte(strings.Join(text[:from], "") + with + strings.Join(text[to:], ""))
	}
	if pl.container < 0 {
		block := yamlObject(Object{{p.Container, Object{{p.Name, v}}}}, 0, eol)
		rest := bytes.TrimRight(data, " \t\r\n")
		if bytes.HasSuffix(rest, []byte("...")) {
			return nil, &Error{Code: Shape, Format: YAML, Key: "..."}
		}
		if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
			return append(bytes.Clone(data), eol+strings.TrimSuffix(block, eol)...), nil
		}
		return append(bytes.Clone(data), block...), nil
	}
	block := yamlObject(Object{{p.Name, v}}, pl.indent, eol)
	if pl.from >= 0 {
		if !strings.HasSuffix(text[pl.to-1], "\n") {
			block = strings.TrimSuffix(block, eol)
		}
		return join(pl.from, pl.to, block), nil
	}
	// Right under the container's key: that place is known without judging which
	// of the comments that follow the entries belong to them.
	line := text[pl.container]
	if pl.flow {
		at := strings.LastIndex(line, "{}")
		if at < 0 {
			return nil, &Error{Code: Shape, Format: YAML, Key: p.Container, Line: pl.container + 1}
		}
		line = strings.TrimRight(line[:at], " ") + line[at+2:]
	}
	if !strings.HasSuffix(line, "\n") {
		return join(pl.container, pl.container+1, line+eol+strings.TrimSuffix(block, eol)), nil
	}
	return join(pl.container, pl.container+1, line+block), nil
}

func (e yamlEditor) remove(data []byte, p Path, container bool, _ string) ([]byte, error) {
	pl, text, err := e.find(data, p)
	if err != nil {
		if _, found, gerr := e.get(data, p); gerr == nil && !found {
			return data, nil
		}
		return nil, err
	}
	if pl.from >= 0 {
		last := !strings.HasSuffix(text[pl.to-1], "\n")
		text = append(append([]string{}, text[:pl.from]...), text[pl.to:]...)
		if last { // the line before becomes the last one, which had no end
			text[pl.from-1] = strings.TrimRight(text[pl.from-1], "\r\n")
		}
		data = []byte(strings.Join(text, ""))
		if pl, text, err = e.find(data, p); err != nil {
			return nil, err
		}
	}
	if pl.container < 0 || !pl.empty {
		return data, nil
	}
	line := text[pl.container]
	if container {
		last := !strings.HasSuffix(line, "\n")
		text = append(append([]string{}, text[:pl.container]...), text[pl.container+1:]...)
		if last && pl.container > 0 {
			text[pl.container-1] = strings.TrimRight(text[pl.container-1], "\r\n")
		}
	} else if key := strings.Index(line, ":"); !pl.flow && key >= 0 {
		// A mapping without entries is written as one, or it would be a null.
		text[pl.container] = line[:key+1] + " {}" + line[key+1:]
	}
	return []byte(strings.Join(text, "")), nil
}

func (e yamlEditor) restore(data, from []byte, p Path, eol string) ([]byte, error) {
	old, source, err := e.find(from, p)
	if err != nil {
		return nil, err
	}
	now, text, err := e.find(data, p)
	if err != nil {
		return nil, err
	}
	if old.from < 0 || now.from < 0 {
		return nil, absent(YAML, p)
	}
	block := withEnds(strings.Join(indented(source[old.from:old.to], now.indent-old.indent), ""), eol)
	block = strings.TrimSuffix(block, eol)
	if strings.HasSuffix(text[now.to-1], "\n") {
		block += eol
	}
	return []byte(strings.Join(text[:now.from], "") + block + strings.Join(text[now.to:], "")), nil
}

// indented returns lines moved by so many columns, to the left as far as they go.
func indented(text []string, by int) []string {
	out := make([]string, len(text))
	for i, line := range text {
		switch {
		case strings.TrimSpace(line) == "":
		case by > 0:
			line = strings.Repeat(" ", by) + line
		default:
			line = line[min(-by, indentOf(line)):]
		}
		out[i] = line
	}
	return out
}

// yamlObject spells members, each on lines indented by indent.
func yamlObject(v Object, indent int, eol string) string {
	pad := strings.Repeat(" ", indent)
	var b strings.Builder
	for _, m := range v {
		b.WriteString(pad + yamlString(m.Key) + ":")
		switch value := m.Value.(type) {
		case Object:
			if len(value) == 0 {
				b.WriteString(" {}" + eol)
				continue
			}
			b.WriteString(eol + yamlObject(value, indent+2, eol))
		case []string:
			if len(value) == 0 {
				b.WriteString(" []" + eol)
				continue
			}
			b.WriteString(eol)
			for _, s := range value {
				b.WriteString(pad + "- " + yamlString(s) + eol)
			}
		default:
			b.WriteString(" " + scalar(value, yamlString, "") + eol)
		}
	}
	return b.String()
}

var yamlPlain = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9/._-]*$`)

// yamlString spells a string: plain where it can be nothing else, else in double
// quotes, whose escapes are those of JSON.
func yamlString(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
	default:
		if yamlPlain.MatchString(s) {
			return s
		}
	}
	return jsonString(s)
}
