package eval

import (
	"bytes"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// What models write is CommonMark with tables. This reads as much of it as the
// checks need: where blocks begin and which words are prose. A library would
// know the rest, but builds its tables at every start of the program.

// kind says what a block of Markdown is.
type kind int

const (
	document kind = iota
	quote
	item
	heading
	paragraph
	fenced
	indented
	html
	rule
	header // the first row of a table
	row
	cell
)

// span is a part of the source.
type span struct{ from, to int }

type block struct {
	kind     kind
	level    int    // of a heading; of an item the columns before its content
	from     int    // where it begins in the source
	lines    []span // words, without the marks of the blocks around them
	children []*block
}

// deepest is the most blocks that are read as standing in each other.
const deepest = 64

var (
	atx       = lazy(`^(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#+)?$`)
	underline = lazy(`^(?:=+|-+)$`)
	breakLine = lazy(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	fence     = lazy("^(?:(`{3,})[^`]*|(~{3,}).*)$")
	itemMark  = lazy(`^(?:[-+*]|(\d{1,9})[.)])(?:[ \t]|$)`)
	alignment = lazy(`^:?-+:?$`)

	// htmlBlocks are the beginnings and ends of HTML; without an end it goes on to a blank line.
	htmlBlocks = []struct{ begin, end func() *regexp.Regexp }{
		{lazy(`(?i)^<(?:script|pre|style|textarea)(?:[\s>]|$)`), lazy(`(?i)</(?:script|pre|style|textarea)>`)},
		{lazy(`^<!--`), lazy(`-->`)},
		{lazy(`^<\?`), lazy(`\?>`)},
		{lazy(`^<![A-Za-z]`), lazy(`>`)},
		{lazy(`^<!\[CDATA\[`), lazy(`\]\]>`)},
		{begin: lazy(`(?i)^</?(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt` +
			`|fieldset|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|ol|option|p` +
			`|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:\s|/?>|$)`)},
	}
	// tagLine is a line with one tag and nothing else; unlike the others it cannot end a paragraph.
	tagLine = lazy(`^<(?:/[A-Za-z][A-Za-z0-9-]*\s*|[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>` + "`" + `]+|'[^']*'|"[^"]*"))?)*\s*/?)>$`)
)

// cursor goes through a line. A tab reaches to the next multiple of four columns.
type cursor struct {
	data   []byte // the source up to the end of the line
	at     int
	column int
	spare  int // columns left of a tab before at
}

// indent returns the columns of blanks that follow, and what stands after them.
func (c *cursor) indent() (columns int, rest []byte) {
	columns = c.spare
	for i := c.at; i < len(c.data); i++ {
		switch c.data[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - (c.column+columns)%4
		default:
			return columns, c.data[i:]
		}
	}
	return columns, nil
}

// skip goes over columns of blanks.
func (c *cursor) skip(columns int) {
	for ; columns > 0; columns-- {
		switch {
		case c.spare > 0:
			c.spare--
		case c.at < len(c.data) && c.data[c.at] == ' ':
			c.at++
		case c.at < len(c.data) && c.data[c.at] == '\t':
			c.at++
			c.spare = 3 - c.column%4
		default:
			return
		}
		c.column++
	}
}

// mark goes over blanks and a mark of n bytes after them.
func (c *cursor) mark(n int) {
	columns, _ := c.indent()
	c.skip(columns)
	c.at += n
	c.column += n
}

// reader builds the tree of blocks line by line.
type reader struct {
	data   []byte
	open   []*block // the blocks that hold others and may go on, outermost first
	leaf   *block   // the block in the innermost of them that may go on
	second int      // which line of the leaf is the second of a table, 0 if none
	fence  []byte   // what began the leaf, if it is fenced
	end    func() *regexp.Regexp
}

func (s *source) parse() *block {
	doc := &block{kind: document}
	r := &reader{data: s.data, open: []*block{doc}}
	for i, from := range s.starts {
		end := len(s.data)
		if i+1 < len(s.starts) {
			end = s.starts[i+1]
		}
		r.read(cursor{data: s.data[:from+len(bytes.TrimRight(s.data[from:end], " \t\n"))], at: from})
	}
	r.cut(1)
	return doc
}

// cut ends the leaf and all open blocks but the outermost n.
func (r *reader) cut(n int) {
	if r.leaf != nil && r.leaf.kind == paragraph {
		parent := r.open[len(r.open)-1]
		parent.children = append(parent.children[:len(parent.children)-1], r.tables(r.leaf)...)
	}
	r.leaf = nil
	r.open = r.open[:n]
}

// add puts a block into the innermost of n open blocks.
func (r *reader) add(n int, b *block) *block {
	r.cut(n)
	r.open[n-1].children = append(r.open[n-1].children, b)
	return b
}

// push adds a block that holds others.
func (r *reader) push(n int, b *block) { r.add(n, b); r.open = append(r.open, b) }

// continues reports whether the line belongs to an open block, and goes over its mark.
func (r *reader) continues(b *block, c *cursor) bool {
	columns, rest := c.indent()
	switch {
	case b.kind == quote:
		if columns > 3 || len(rest) == 0 || rest[0] != '>' {
			return false
		}
		c.mark(1)
		c.skip(1)
		return true
	case len(rest) == 0:
		return len(b.children) > 0
	case columns >= b.level:
		c.skip(b.level)
		return true
	}
	return false
}

// verbatim reports whether the line belongs to the open code or HTML.
func (r *reader) verbatim(c cursor) bool {
	columns, rest := c.indent()
	switch r.leaf.kind {
	case fenced:
		if columns < 4 && len(rest) >= len(r.fence) && len(bytes.Trim(rest, string(r.fence[:1]))) == 0 {
			r.leaf = nil
		}
		return true
	case indented:
		return columns > 3 || len(rest) == 0
	case html:
		if len(rest) == 0 && r.end == nil {
			return false
		}
		r.html(c, rest)
		return true
	}
	return false
}

// html adds a line to the open HTML.
func (r *reader) html(c cursor, rest []byte) {
	r.leaf.lines = append(r.leaf.lines, span{len(c.data) - len(rest), len(c.data)})
	if r.end != nil && r.end().Match(rest) {
		r.leaf = nil
	}
}

// beginsHTML reports whether a line begins HTML, and sets how that ends.
func (r *reader) beginsHTML(line []byte, inParagraph bool) bool {
	if line[0] != '<' {
		return false
	}
	for _, h := range htmlBlocks {
		if h.begin().Match(line) {
			r.end = h.end
			return true
		}
	}
	r.end = nil
	return !inParagraph && tagLine().Match(line)
}

func (r *reader) read(c cursor) {
	n := 1 // how many open blocks the line belongs to
	for n < len(r.open) && r.continues(r.open[n], &c) {
		n++
	}
	all := n == len(r.open)
	if all && r.leaf != nil && r.verbatim(c) {
		return
	}
	for {
		columns, rest := c.indent()
		at := len(c.data) - len(rest)
		// A paragraph goes on even if the marks of the blocks around it are left out.
		goesOn := r.leaf != nil && r.leaf.kind == paragraph
		if len(rest) == 0 {
			r.cut(n)
			return
		}
		if columns > 3 {
			if goesOn {
				r.extend(span{at, len(c.data)})
			} else {
				r.leaf = r.add(n, &block{kind: indented, from: at})
			}
			return
		}
		if rest[0] == '>' && n < deepest {
			r.push(n, &block{kind: quote, from: at})
			n++
			c.mark(1)
			c.skip(1)
			continue
		}
		if m := atx().FindSubmatchIndex(rest); m != nil {
			b := r.add(n, &block{kind: heading, level: m[3], from: at})
			if m[4] >= 0 {
				b.lines = []span{{at + m[4], at + m[5]}}
			}
			return
		}
		if m := fence().FindSubmatch(rest); m != nil {
			r.leaf = r.add(n, &block{kind: fenced, from: at})
			r.fence = slices.Concat(m[1], m[2])
			return
		}
		if r.beginsHTML(rest, goesOn) {
			r.leaf = r.add(n, &block{kind: html, from: at})
			r.html(c, rest)
			return
		}
		if goesOn && all && underline().Match(rest) && r.second == 0 {
			r.leaf.kind, r.leaf.level = heading, 1
			if rest[0] == '-' {
				r.leaf.level = 2
			}
			r.leaf = nil
			return
		}
		if breakLine().Match(rest) {
			r.add(n, &block{kind: rule, from: at})
			return
		}
		if m := itemMark().FindSubmatch(rest); m != nil && n < deepest {
			width := len(bytes.TrimRight(m[0], " \t"))
			blank := len(rest) == width
			// In the middle of a paragraph only what can be no number in a sentence is a list.
			if !goesOn || !all || r.second > 0 || !blank && (m[1] == nil || string(m[1]) == "1") {
				c.mark(width)
				after, _ := c.indent()
				if after > 4 || blank {
					after = 1
				}
				c.skip(after)
				r.push(n, &block{kind: item, level: columns + width + after, from: at})
				n++
				continue
			}
		}
		if !goesOn {
			r.leaf, r.second = r.add(n, &block{kind: paragraph, from: at}), 0
		}
		r.extend(span{at, len(c.data)})
		return
	}
}

// extend adds a line to the open paragraph.
func (r *reader) extend(line span) {
	p := r.leaf
	p.lines = append(p.lines, line)
	if i := len(p.lines) - 1; i > 0 && r.second == 0 {
		under, isTable := r.cells(line), bytes.ContainsAny(r.data[line.from:line.to], "|:")
		if isTable && len(under) > 0 && len(r.cells(p.lines[i-1])) <= len(under) && !slices.ContainsFunc(under, func(c span) bool {
			return !alignment().Match(r.data[c.from:c.to])
		}) {
			r.second = i
		}
	}
}

// tables returns the paragraph, or the table that it is and the words before that.
func (r *reader) tables(p *block) []*block {
	i := r.second
	if i == 0 {
		return []*block{p}
	}
	columns := len(r.cells(p.lines[i]))
	rows := []*block{r.row(header, p.lines[i-1], columns)}
	for _, line := range p.lines[i+1:] {
		rows = append(rows, r.row(row, line, columns))
	}
	if p.lines = p.lines[:i-1]; len(p.lines) > 0 {
		rows = slices.Insert(rows, 0, p)
	}
	return rows
}

func (r *reader) row(kind kind, line span, columns int) *block {
	b := &block{kind: kind, from: line.from}
	cells := r.cells(line)
	for _, c := range cells[:min(len(cells), columns)] {
		b.children = append(b.children, &block{kind: cell, from: c.from, lines: []span{c}})
	}
	return b
}

// cells splits a line at its bars.
func (r *reader) cells(line span) []span {
	if r.data[line.from] == '|' {
		line.from++
	}
	var all []span
	from := line.from
	for i := line.from; i < line.to; i++ {
		switch r.data[i] {
		case '\\':
			i++
		case '|':
			all = append(all, r.trim(from, i))
			from = i + 1
		}
	}
	if from < line.to {
		all = append(all, r.trim(from, line.to))
	}
	return all
}

func (r *reader) trim(from, to int) span {
	for from < to && (r.data[from] == ' ' || r.data[from] == '\t') {
		from++
	}
	for from < to && (r.data[to-1] == ' ' || r.data[to-1] == '\t') {
		to--
	}
	return span{from, to}
}

// What a byte of a block's words is, once its marks are read.
const (
	word byte = iota
	code      // code or an address
	mark      // says how the rest is to be read, is no part of it
)

var (
	autolink = lazy(`^<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20<>]*|[\w.!#$%&'*+/=?^{|}~-]+@[A-Za-z0-9.-]+)>`)
	target   = lazy(`^\(\s*(?:<[^<>\n]*>|[^\s()<](?:[^\s()]|\([^\s()]*\))*)?(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)`)
)

// run is a row of * or _ that may begin or end emphasis.
type run struct {
	span          // what of it is not used yet
	size          int
	opens, closes bool
}

// inline tells what each byte of a block's words is, and which parts are emphasised.
func inline(text []byte) (roles []byte, emphasis []span) {
	roles = make([]byte, len(text))
	set := func(from, to int, role byte) {
		for i := from; i < to; i++ {
			roles[i] = role
		}
	}
	var brackets []int
	var runs []run
	unclosed := map[int]bool{} // lengths of backticks that do not come again
	for i := 0; i < len(text); {
		n := 1
		switch c := text[i]; c {
		case '\\':
			if i+1 < len(text) && (text[i+1] == '\n' || ascii(text[i+1])) {
				roles[i], n = mark, 2
			}
		case '`':
			n = same(text, i)
			end := -1
			if !unclosed[n] {
				end = closing(text, i+n, n)
			}
			if end >= 0 {
				set(i, end+n, mark)
				from, to := i+n, end
				// A blank at both ends is there for backticks next to it.
				if blank(text[from]) && blank(text[to-1]) && len(bytes.TrimSpace(text[from:to])) > 0 {
					from, to = from+1, to-1
				}
				set(from, to, code)
				n = end + n - i
			} else {
				unclosed[n] = true
			}
		case '<':
			if m := autolink().Find(text[i:]); m != nil {
				n = len(m)
				set(i, i+n, mark)
				set(i+1, i+n-1, code)
			}
		case '[':
			brackets = append(brackets, i)
		case ']':
			if len(brackets) == 0 {
				break
			}
			open := brackets[len(brackets)-1]
			brackets = brackets[:len(brackets)-1]
			if m := target().Find(text[i+1:]); m != nil {
				n += len(m)
				set(i, i+n, mark)
				roles[open] = mark
				if open > 0 && text[open-1] == '!' {
					roles[open-1] = mark
				}
			}
		case '*', '_':
			n = same(text, i)
			runs = append(runs, newRun(text, i, n))
		}
		i += n
	}
	return roles, emphasise(text, roles, runs)
}

func blank(c byte) bool { return c == ' ' || c == '\n' }

// same returns how often the byte at i stands there in a row.
func same(text []byte, i int) int {
	return len(text[i:]) - len(bytes.TrimLeft(text[i:], string(text[i:i+1])))
}

// closing returns where a row of exactly n backticks is, -1 if nowhere.
func closing(text []byte, from, n int) int {
	for i := from; i < len(text); i++ {
		if text[i] == '`' {
			m := same(text, i)
			if m == n {
				return i
			}
			i += m - 1
		}
	}
	return -1
}

func ascii(c byte) bool { return c < utf8.RuneSelf && punctuation(rune(c)) }

func punctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func newRun(text []byte, at, n int) run {
	before, size := utf8.DecodeLastRune(text[:at])
	if size == 0 {
		before = ' '
	}
	after, size := utf8.DecodeRune(text[at+n:])
	if size == 0 {
		after = ' '
	}
	left := !unicode.IsSpace(after) && (!punctuation(after) || unicode.IsSpace(before) || punctuation(before))
	right := !unicode.IsSpace(before) && (!punctuation(before) || unicode.IsSpace(after) || punctuation(after))
	r := run{span{at, at + n}, n, left, right}
	if text[at] == '_' {
		r.opens = left && (!right || punctuation(before))
		r.closes = right && (!left || punctuation(after))
	}
	return r
}

// emphasise pairs the runs as CommonMark does, and returns what is between them.
func emphasise(text, roles []byte, runs []run) (emphasis []span) {
	type sort struct {
		char  byte
		opens bool
		size  int
	}
	var openers []run
	bottom := map[sort]int{} // before this place no run is the other end of one of the sort
	for _, r := range runs {
		for r.closes && r.from < r.to {
			key := sort{text[r.from], r.opens, r.size % 3}
			i := len(openers) - 1
			for ; i >= 0 && openers[i].from >= bottom[key]; i-- {
				o := openers[i]
				if text[o.from] == key.char && (!o.closes && !r.opens || (o.size+r.size)%3 != 0 || o.size%3 == 0) {
					break
				}
			}
			if i < 0 || openers[i].from < bottom[key] {
				bottom[key] = r.from
				break
			}
			o := &openers[i]
			used := 1
			if o.to-o.from > 1 && r.to-r.from > 1 {
				used = 2
			}
			emphasis = append(emphasis, span{o.to, r.from})
			for k := range used {
				roles[o.to-1-k], roles[r.from+k] = mark, mark
			}
			o.to -= used
			r.from += used
			openers = openers[:i+1]
			if o.from == o.to {
				openers = openers[:i]
			}
		}
		if r.opens && r.from < r.to {
			openers = append(openers, r)
		}
	}
	return emphasis
}
