package eval

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdown reads CommonMark. Tables are read here (see cells): the library's
// extension for them would cost every start of the program more than the
// library itself.
var markdown = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// source is an answer's Markdown with its line numbers.
type source struct {
	data   []byte
	starts []int // where each line begins
}

func newSource(data []byte) *source {
	s := &source{data: data, starts: []int{0}}
	for i, c := range data {
		if c == '\n' && i+1 < len(data) {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// line returns the number of the line that holds the byte, from 1.
func (s *source) line(at int) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > at })
}

func (s *source) lines() int { return len(s.starts) }

func (s *source) parse() ast.Node {
	return markdown().Parse(text.NewReader(s.data), parser.WithContext(parser.NewContext()))
}

// leaf is a block with words of its own: a paragraph, a heading, a table cell.
type leaf struct {
	node  ast.Node
	text  string // blanks collapsed, code and addresses included
	prose string // text in lower case with ё as е; blanks in place of code and addresses
	at    []int  // for each byte of text, its place in the source
	marks []hit  // emphasised parts, in lower case
	cell  bool   // of a table
}

// lineAt returns the line of a byte of the leaf's text.
func (l *leaf) lineAt(s *source, i int) int {
	if len(l.at) == 0 {
		return s.line(max(l.node.Pos(), 0))
	}
	return s.line(l.at[min(i, len(l.at)-1)])
}

// line returns the line on which the leaf begins.
func (l *leaf) line(s *source) int { return l.lineAt(s, 0) }

// leaves returns the leaves under a block, itself included, in reading order.
func leaves(s *source, block ast.Node) []*leaf {
	var all []*leaf
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.Kind() {
		case ast.KindCodeBlock, ast.KindFencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case ast.KindParagraph, ast.KindTextBlock, ast.KindHeading, ast.KindHTMLBlock:
			if l := newLeaf(s, n); isTable(s, n) {
				all = append(all, cells(s, l)...)
			} else if strings.TrimSpace(l.text) != "" {
				all = append(all, l)
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return all
}

// builder gathers a leaf's text.
type builder struct {
	text, prose []byte
	at          []int
}

func (b *builder) add(segment []byte, offset int, code bool) {
	for i, r := range string(segment) {
		if unicode.IsSpace(r) {
			r = ' '
			if len(b.text) == 0 || b.text[len(b.text)-1] == ' ' {
				continue
			}
		}
		if r == '’' {
			r = '\''
		}
		from := len(b.text)
		b.text = append(b.text, string(r)...)
		for range len(b.text) - from {
			b.at = append(b.at, offset+i)
		}
		b.prose = append(b.prose, lower(r, len(b.text)-from, code)...)
	}
}

// lower returns r as prose has it, in exactly size bytes.
func lower(r rune, size int, code bool) string {
	low := unicode.ToLower(r)
	switch {
	case code:
		low = ' '
	case low == 'ё':
		low = 'е'
	}
	s := string(low)
	if len(s) > size {
		return string(r)
	}
	return s + strings.Repeat(" ", size-len(s))
}

func newLeaf(s *source, block ast.Node) *leaf {
	var b builder
	l := &leaf{node: block}
	if block.Kind() == ast.KindHTMLBlock {
		html := block.(*ast.HTMLBlock)
		for i := range html.Lines().Len() {
			segment := html.Lines().At(i)
			b.add(segment.Value(s.data), segment.Start, false)
		}
		if html.HasClosure() {
			b.add(html.ClosureLine.Value(s.data), html.ClosureLine.Start, false)
		}
	}
	code := 0
	var emphasis []int
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.CodeSpan:
			if entering {
				code++
			} else {
				code--
			}
		case *ast.Emphasis:
			if entering {
				emphasis = append(emphasis, len(b.text))
			} else {
				from := emphasis[len(emphasis)-1]
				emphasis = emphasis[:len(emphasis)-1]
				l.marks = append(l.marks, hit{from, strings.TrimSpace(string(b.prose[from:]))})
			}
		case *ast.Text:
			if entering {
				b.add(n.Segment.Value(s.data), n.Segment.Start, code > 0)
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.add([]byte(" "), n.Segment.Stop, false)
				}
			}
		case *ast.AutoLink:
			if entering {
				label := n.Label(s.data)
				b.add(label, max(n.Pos(), 0), true)
			}
		case *ast.RawHTML:
			if entering {
				for i := range n.Segments.Len() {
					segment := n.Segments.At(i)
					b.add(segment.Value(s.data), segment.Start, false)
				}
			}
		}
		return ast.WalkContinue, nil
	})
	l.text, l.prose, l.at = string(b.text), string(b.prose), b.at
	return l
}

// delimiter is the second line of a table.
var delimiter = lazy(`^ *\|?( *:?-+:? *\|)+( *:?-+:? *)?$`)

// isTable reports whether the block, a paragraph in CommonMark, is a table.
func isTable(s *source, block ast.Node) bool {
	if block.Kind() == ast.KindHeading || block.Kind() == ast.KindHTMLBlock || block.Lines().Len() < 2 {
		return false
	}
	line := func(i int) string {
		segment := block.Lines().At(i)
		return strings.TrimRight(string(segment.Value(s.data)), "\n ")
	}
	return strings.Contains(line(0), "|") && delimiter().MatchString(line(1))
}

// cells returns the cells of a table that have text, without those of its
// delimiter line.
func cells(s *source, table *leaf) []*leaf {
	var all []*leaf
	second := table.line(s) + 1
	add := func(from, to int) {
		for from < to && table.text[from] == ' ' {
			from++
		}
		for from < to && table.text[to-1] == ' ' {
			to--
		}
		if from == to || table.lineAt(s, from) == second {
			return
		}
		c := &leaf{node: table.node, text: table.text[from:to], prose: table.prose[from:to], at: table.at[from:to], cell: true}
		for _, m := range table.marks {
			if m.at >= from && m.at < to {
				c.marks = append(c.marks, hit{m.at - from, m.word})
			}
		}
		all = append(all, c)
	}
	from := 0
	for i := range len(table.text) {
		bar := table.text[i] == '|' && (i == 0 || table.text[i-1] != '\\')
		if newLine := i > from && table.lineAt(s, i) != table.lineAt(s, from); bar || newLine {
			add(from, i)
			from = i
			if bar {
				from++
			}
		}
	}
	add(from, len(table.text))
	return all
}

// clean returns the answer as the checks want it: no byte order mark, line ends
// as \n. The number of lines stays the same.
func clean(answer []byte) []byte {
	answer = bytes.TrimPrefix(answer, []byte("\uFEFF"))
	answer = bytes.ReplaceAll(answer, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(answer, []byte("\r"), []byte("\n"))
}
