package advocate

import (
	"strconv"
	"strings"
	"unicode"
)

// Document is a text for people in blocks. It can be written as Markdown or drawn on a terminal.
type Document []Block

// Block is one block of a Document; which fields are set depends on its kind.
type Block struct {
	Kind  BlockKind
	Level int        // of a heading: 1 to 3
	Line  Line       // of a heading or paragraph
	List  []ListItem // of bullets, a numbered list or a checklist
	Rows  [][]string // of a table; the first is its head
}

// BlockKind is what a Block is.
type BlockKind int

// The kinds of block.
const (
	Heading BlockKind = iota + 1
	Paragraph
	Bullets
	Numbered
	Checklist
	Table
)

// ListItem is an item of a list, with a line under it unless that is empty.
type ListItem struct {
	Line, Under Line
	Done        bool // of a checklist: ticked
}

// Line is a text in pieces.
type Line []Piece

// Piece is a part of a line in one style.
type Piece struct {
	// Text stays on its line and steers no terminal; in Markdown it still has to be escaped when it was
	// submitted.
	Text      string
	Style     Style
	Submitted bool // by the client
	// Assessment is what the text says, where it is one.
	Assessment Assessment
}

// Style is how a Piece stands out.
type Style int

// The styles.
const (
	Regular Style = iota
	Strong
	Emphasis
)

func plain(text string) Piece     { return Piece{Text: text} }
func strong(text string) Piece    { return Piece{Text: text, Style: Strong} }
func emphasis(text string) Piece  { return Piece{Text: text, Style: Emphasis} }
func submitted(text string) Piece { return Piece{Text: Plain(text), Submitted: true} }

func heading(level int, pieces ...Piece) Block {
	return Block{Kind: Heading, Level: level, Line: pieces}
}

// Markdown writes the document, with a newline at the end.
func (d Document) Markdown() string {
	var b strings.Builder
	for i, block := range d {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch block.Kind {
		case Heading:
			b.WriteString(strings.Repeat("#", block.Level) + " " + block.Line.markdown() + "\n")
		case Paragraph:
			b.WriteString(block.Line.markdown() + "\n")
		case Table:
			for i, row := range block.Rows {
				b.WriteString("| " + strings.Join(row, " | ") + " |\n")
				if i == 0 {
					b.WriteString(strings.Repeat("| --- ", len(row)) + "|\n")
				}
			}
		}
		for i, item := range block.List {
			mark := "- "
			switch {
			case block.Kind == Numbered:
				mark = strconv.Itoa(i+1) + ". "
			case block.Kind == Checklist && item.Done:
				mark = "- [x] "
			case block.Kind == Checklist:
				mark = "- [ ] "
			}
			b.WriteString(mark + item.Line.markdown() + "\n")
			if len(item.Under) > 0 {
				b.WriteString(strings.Repeat(" ", len(mark)) + "- " + item.Under.markdown() + "\n")
			}
		}
	}
	return b.String()
}

func (l Line) markdown() string {
	var b strings.Builder
	for _, p := range l {
		text := p.Text
		if p.Submitted {
			text = escape(text)
		}
		mark := [...]string{Regular: "", Strong: "**", Emphasis: "*"}[p.Style]
		b.WriteString(mark + text + mark)
	}
	return b.String()
}

// Plain makes a submitted text safe for one line of any output: every kind of white space becomes a
// space, and what is invisible, steers a terminal or turns the direction of writing is dropped, except
// the joiners inside emoji and words.
func Plain(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	space := false
	for _, c := range text {
		switch {
		case unicode.IsSpace(c):
			space = true
			continue
		case c == '\u200c' || c == '\u200d':
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			continue
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(c)
	}
	return b.String()
}

// escape makes a text that Plain has gone over inert in Markdown.
func escape(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 8)
	start := true // nothing but digits so far, where a list number or a block could begin
	for i, c := range text {
		switch c {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '|', '~', '&', '#', '$', '^', '{', '}':
			b.WriteByte('\\')
		case '-', '+', '=':
			if i == 0 {
				b.WriteByte('\\')
			}
		case '.', ')':
			rest := text[i+1:]
			if start && i > 0 && (rest == "" || rest[0] == ' ') {
				b.WriteByte('\\')
			}
		}
		start = start && '0' <= c && c <= '9'
		b.WriteRune(c)
	}
	return b.String()
}
