package eval

import (
	"bytes"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// leaf is a block with words of its own: a paragraph, a heading, a table cell.
type leaf struct {
	block *block
	text  string // blanks collapsed, code and addresses included
	prose string // text in lower case with ё as е; blanks in place of code and addresses
	at    []int  // for each byte of text, its place in the source
	marks []hit  // emphasised parts, in lower case
}

// lineAt returns the line of a byte of the leaf's text.
func (l *leaf) lineAt(s *source, i int) int {
	if len(l.at) == 0 {
		return s.line(l.block.from)
	}
	return s.line(l.at[min(i, len(l.at)-1)])
}

// line returns the line on which the leaf begins.
func (l *leaf) line(s *source) int { return l.lineAt(s, 0) }

// leaves returns the leaves under a block, itself included, in reading order.
func leaves(s *source, b *block) []*leaf {
	var all []*leaf
	if len(b.lines) > 0 {
		if l := newLeaf(s, b); strings.TrimSpace(l.text) != "" {
			all = append(all, l)
		}
	}
	for _, child := range b.children {
		all = append(all, leaves(s, child)...)
	}
	return all
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

func newLeaf(s *source, b *block) *leaf {
	var raw []byte
	var places []int // for each byte of raw, its place in the source
	for i, line := range b.lines {
		if i > 0 {
			raw = append(raw, '\n')
			places = append(places, b.lines[i-1].to)
		}
		raw = append(raw, s.data[line.from:line.to]...)
		for at := line.from; at < line.to; at++ {
			places = append(places, at)
		}
	}
	roles := make([]byte, len(raw))
	var emphasis []span
	if b.kind != html {
		roles, emphasis = inline(raw)
	}
	l := &leaf{block: b}
	var text, prose []byte
	became := make([]int, len(raw)+1) // for each byte of raw, its place in text
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		from := len(text)
		for k := range size {
			became[i+k] = from
		}
		if unicode.IsSpace(r) {
			r = ' '
		}
		if r == '’' {
			r = '\''
		}
		if roles[i] != mark && (r != ' ' || from > 0 && text[from-1] != ' ') {
			text = utf8.AppendRune(text, r)
			prose = append(prose, lower(r, len(text)-from, roles[i] == code)...)
			for range len(text) - from {
				l.at = append(l.at, places[i])
			}
		}
		i += size
	}
	became[len(raw)] = len(text)
	l.text, l.prose = string(text), string(prose)
	for _, e := range emphasis {
		from, to := became[e.from], became[e.to]
		l.marks = append(l.marks, hit{from, strings.TrimSpace(l.prose[from:to])})
	}
	return l
}

// clean returns the answer as the checks want it: no byte order mark, line ends
// as \n. The number of lines stays the same.
func clean(answer []byte) []byte {
	answer = bytes.TrimPrefix(answer, []byte("\uFEFF"))
	answer = bytes.ReplaceAll(answer, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(answer, []byte("\r"), []byte("\n"))
}
