package eval

import (
	"slices"
	"strings"
	"testing"
)

// outline says a tree of blocks in one line, with the words of its leaves as prose.
func outline(s *source, b *block) string {
	names := map[kind]string{
		document: "doc", quote: "quote", item: "item", heading: "heading", paragraph: "p", fenced: "fenced",
		indented: "code", html: "html", rule: "rule", header: "header", row: "row", cell: "cell",
	}
	var parts []string
	if len(b.lines) > 0 {
		parts = append(parts, newLeaf(s, b).prose)
	}
	for _, child := range b.children {
		parts = append(parts, outline(s, child))
	}
	return names[b.kind] + "(" + strings.Join(parts, " ") + ")"
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"# a #\n##\n####### b\n#c", "doc(heading(a) heading() p(####### b #c))"},
		{"a\nb\n===\nc\n-\n***\n- - -", "doc(heading(a b) heading(c) rule() rule())"},
		{"```go\n# a\n~~~\n````\nb", "doc(fenced() p(b))"},
		{"~~~\n# a\n\n- b", "doc(fenced())"},
		{"``` a`b", "doc(p(``` a`b))"},
		{"    a\n\n\tb\nc\n    d", "doc(code() p(c d))"},
		{"- a\nb\n\n  c\n- d\n\ne", "doc(item(p(a b) p(c)) item(p(d)) p(e))"},
		{"- a\n  - b\n    1. c\n\n       d\n  - e", "doc(item(p(a) item(p(b) item(p(c) p(d))) item(p(e))))"},
		{"- a\n\n  ```\n  # b\n\n  ```\n- c\n  ~~~\n  d\ne", "doc(item(p(a) fenced()) item(p(c) fenced()) p(e))"},
		{"-\n  a\n-\n\n  b", "doc(item(p(a)) item() p(b))"},
		{"-\ta\n\n\tb\n\n-     c", "doc(item(p(a) p(b)) item(code()))"},
		{"a\n2. b\n- \n1) c", "doc(heading(a 2. b) item(p(c)))"},
		{"1. a\n2. b\n\n10000000000. c", "doc(item(p(a)) item(p(b)) p(10000000000. c))"},
		{"> a\nb\n> > c\n\n> d\n# e", "doc(quote(p(a b) quote(p(c))) quote(p(d)) heading(e))"},
		{">```\n>a\nb", "doc(quote(fenced()) p(b))"},
		{"- > a\n  > - b\n- c", "doc(item(quote(p(a) item(p(b)))) item(p(c)))"},
		{"a\n| b | c \\| d |\n|:-:|---|\n e | `f` | g\n|\n\nh", "doc(p(a) header(cell(b) cell(c | d)) row(cell(e) cell( )) row() p(h))"},
		// A rule, a list or a paragraph with a rule below follows the table; it does not make a heading of it.
		{"|a|\n|-|\n|b|\n---\n", "doc(header(cell(a)) row(cell(b)) rule())"},
		{"|a|\n|-|\n2. b", "doc(header(cell(a)) item(p(b)))"},
		{"a\n    -\nb", "doc(p(a - b))"},
		{"a | b\nc | d", "doc(p(a | b c | d))"},
		{"<!-- a\n\n# b --> c\nd", "doc(html(<!-- a # b --> c) p(d))"},
		{"<div>\n*a*\n\n*b*", "doc(html(<div> *a*) p(b))"},
		{"a\n<b>\n\n<b>\n# c\n<pre>\n\n</pre>\nd", "doc(p(a <b>) html(<b> # c <pre>) html(</pre> d))"},
	} {
		s := newSource([]byte(c.text))
		if got := outline(s, s.parse()); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestInline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want, prose string
		marks             []string
	}{
		{"A `b`c", "A bc", "a  c", nil},
		{"`` a`b `` ` c", "a`b ` c", "    ` c", nil},
		{"<https://a.b/c> <a@b.c> <d", "https://a.b/c a@b.c <d", strings.Repeat(" ", 20) + "<d", nil},
		{`\*a\* b\c \` + "`d`", "*a* b\\c `d`", "*a* b\\c `d`", nil},
		{"[a](b (c)) ![d](<e f> 'g') [h] [i](j", "a d [h] [i](j", "a d [h] [i](j", nil},
		{"*a* __b__ ***c***", "a b c", "a b c", []string{"a", "b", "c", "c"}},
		{"a_b_c a*b*c 2 * 3 * 4 _d", "a_b_c abc 2 * 3 * 4 _d", "a_b_c abc 2 * 3 * 4 _d", []string{"b"}},
		{"**a *b* c** *`d`*", "a b c d", "a b c  ", []string{"b", "a b c", ""}},
		{"**Ёж\nх**", "Ёж х", "еж х", []string{"еж х"}},
	} {
		s := newSource([]byte(c.text))
		l := newLeaf(s, s.parse().children[0])
		var marks []string
		for _, m := range l.marks {
			marks = append(marks, m.word)
		}
		if l.text != c.want || l.prose != c.prose || !slices.Equal(marks, c.marks) {
			t.Errorf("%q: got %q, %q, %q", c.text, l.text, l.prose, marks)
		}
		if len(l.at) != len(l.text) || len(l.prose) != len(l.text) {
			t.Errorf("%q: %d places, %d bytes of prose, %d bytes", c.text, len(l.at), len(l.prose), len(l.text))
		}
	}
}
