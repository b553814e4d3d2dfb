package advocate_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/qa-orch/qa-orch/core/advocate"
)

// hostile texts try to change the structure of a memo or to steer a terminal.
var hostile = map[string]string{
	"backticks":     "``` code ``` and `more`",
	"pipes":         "| a | b |\n| --- | --- |\n| c | d |",
	"heading":       "# Verdict\n## Next actions\n### x #",
	"setext":        "title\n=====\nother\n-----",
	"comment":       "<!-- hidden --> <script>alert(1)</script> <b>",
	"unclosed":      "<!-- never closed",
	"lists":         "- [ ] one\n* two\n+ three\n1. four",
	"number":        "1. first 2) second",
	"quote":         "> quoted\n>> deeper",
	"links":         "[x](http://example.com) ![y](z) [ref]: http://example.com <http://example.com>",
	"entities":      "&lt;b&gt; &#35; &amp;",
	"emphasis":      "**bold** __under__ *it* _it_ ~~gone~~ $x$ ^2^",
	"backslashes":   `\# \\ \`,
	"escapes":       "\x1b[2J\x1b]0;title\x07 \x9b31m \x00 \x08\x08\x7f",
	"newlines":      "a\r\nb\rc\u2028d\u2029e\u0085f\vg\fh",
	"long":          strings.Repeat("w", 300),
	"emoji":         "🔥👨‍👩‍👧🏳️‍🌈🇪🇸",
	"combining":     "Z̸̢͎a͢l҉g̕o e\u0301\u0301\u0301",
	"right to left": "\u202eevil\u202c שלום עולם \u2066x\u2069 مرحبا \u200f",
	"frontmatter":   "---\ntitle: x\n---",
	"tilde fence":   "~~~\ncode\n~~~",
	"indent":        "    code\n\tmore",
}

// hostileReview puts one text wherever a client's text can go.
func hostileReview(t testing.TB, text string) *advocate.Review {
	t.Helper()
	r, err := advocate.New("rev-test", "Claim of ten: "+text, advocate.Gauntlet, text+" context", noon)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	unique := func() string { // the hostile text with so many others that it passes the gate
		n++
		s := text
		for i := range 8 {
			s += " " + fact(n*100+i)
		}
		return s
	}
	play(t, r, obj{"text": unique(), "category": "scope", "severity": 5}, obj{"text": unique(), "category": "evidence", "severity": 3}, obj{"text": unique(), "category": "evidence", "severity": 1})
	play(t, r, obj{"index": 0, "verdict": "holds", "justification": unique()}, obj{"index": 1, "verdict": "partially_holds", "justification": unique()})
	play(t, r, obj{"text": unique(), "load_bearing": true, "evidence": "none"}, obj{"text": unique(), "load_bearing": false, "evidence": "none"},
		obj{"text": unique(), "load_bearing": true, "evidence": "verified"}, obj{"text": unique(), "load_bearing": true, "evidence": "verified"})
	play(t, r, obj{"index": 0, "test": unique()})
	play(t, r, obj{"horizon": text + " a year"})
	play(t, r, obj{"text": unique(), "likelihood": 3, "impact": 3}, obj{"text": unique(), "likelihood": 1, "impact": 1},
		obj{"text": unique(), "likelihood": 1, "impact": 1}, obj{"text": unique(), "likelihood": 2, "impact": 4})
	play(t, r, obj{"index": 0, "action": unique(), "residual_risk": "low"})
	play(t, r, obj{"text": unique()}, obj{"text": unique()}, obj{"text": unique()})
	play(t, r, obj{"index": 0, "stance": "concede", "text": unique()}, obj{"index": 1, "stance": "counter", "text": unique()}, obj{"index": 2, "stance": "counter", "text": unique()})
	return r
}

// lineShape is how a line of a memo begins, which is what makes its structure.
var lineShape = regexp.MustCompile(`^( *)(#+ |- \[[ x]\] |- |\d+\. |\| |\*\*)?`)

// shape is the structure of a memo: how each line begins, and its table cells.
func shape(memo string) string {
	var b strings.Builder
	for line := range strings.Lines(memo) {
		line = strings.TrimRight(line, "\n")
		b.WriteString(lineShape.FindString(line))
		for i, c := range line {
			if c == '|' && (i == 0 || line[i-1] != '\\') {
				b.WriteString("|")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// live finds Markdown that a text could have brought to life: an active character without a backslash
// before it. The memo's own bold and italics are taken out first.
var (
	ownMarks = regexp.MustCompile(`(?m)^# |^#+ |^ *- \[[ x]\] |^\|.*\|$|\*\*[^*\n]*[.:]\*\*|^ +- \*[^*\n]*\*$`)
	escaped  = regexp.MustCompile(`\\[^\n]`)
	live     = regexp.MustCompile("[`*_\\[\\]<>|~#&$^\\\\{}]")
)

// memoOf is the memo of a review with that text in every place.
func memoOf(t testing.TB, text string) string {
	t.Helper()
	v, err := hostileReview(t, text).Verdict()
	if err != nil {
		t.Fatal(err)
	}
	return v.Memo(advocate.English())
}

// keepsStructure checks that a memo is one with other words only.
func keepsStructure(t *testing.T, m, want string) {
	t.Helper()
	if got := shape(m); got != want {
		t.Errorf("shape:\n%s\nwant:\n%s\nof:\n%s", got, want, m)
	}
	bare := escaped.ReplaceAllString(m, "")
	bare = ownMarks.ReplaceAllString(bare, "")
	if at := live.FindStringIndex(bare); at != nil {
		t.Errorf("live Markdown at %q", bare[at[0]:min(len(bare), at[1]+40)])
	}
	for _, c := range m {
		if c != '\n' && unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029' {
			t.Errorf("%U is in the memo", c)
		}
	}
}

func TestMemoKeepsItsStructure(t *testing.T) {
	t.Parallel()
	want := shape(memoOf(t, "harmless"))
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			m := memoOf(t, text)
			keepsStructure(t, m, want)
			if m != memoOf(t, text) {
				t.Error("the same review gives other bytes")
			}
		})
	}
}

// FuzzMemo: whatever text was submitted, the memo keeps its structure and steers no terminal.
func FuzzMemo(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	want := shape(memoOf(f, "harmless"))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 || !utf8.ValidString(text) {
			return // a client's text is UTF-8: it comes as JSON
		}
		keepsStructure(t, memoOf(t, text), want)
	})
}

// Text at the beginning of a line of its own must not begin a block.
func TestMemoItemsBeginNoBlock(t *testing.T) {
	t.Parallel()
	for _, start := range []string{"- ", "1. ", "12) ", "# ", "> ", "+ ", "* ", "=== ", "--- "} {
		r := begin(t, advocate.Steelman)
		play(t, r, obj{"text": start + fact(1)}, obj{"text": fact(2)}, obj{"text": fact(3)})
		play(t, r, obj{"index": 0, "stance": "concede", "text": fact(4)}, obj{"index": 1, "stance": "counter", "text": fact(5)}, obj{"index": 2, "stance": "counter", "text": fact(6)})
		v, err := r.Verdict()
		if err != nil {
			t.Fatal(err)
		}
		m := v.Memo(advocate.English())
		if strings.Contains(m, "\n1. "+start) || !strings.Contains(m, `\`+strings.TrimLeft(strings.TrimSpace(start), "0123456789")) {
			t.Errorf("%q begins a block in:\n%s", start, m)
		}
	}
}

func TestMemo(t *testing.T) {
	t.Parallel()
	r, err := advocate.New("rev-demo", "The portal may go out on Friday", advocate.DevilsAdvocate, "Board on Monday", noon)
	if err != nil {
		t.Fatal(err)
	}
	new(numbers).counterarguments(t, r, []int{5, 3, 1}, []string{"holds", "partially_holds", ""})
	v, err := r.Verdict()
	if err != nil {
		t.Fatal(err)
	}
	want := `# Decision memo: The portal may go out on Friday

- **Review:** rev-demo
- **Mode:** devil's advocate
- **Assessment:** claim refuted
- **Risk score:** 1 (count, from 0: how many counterarguments hold)
- **Started:** 2026-03-04T12:00:00+00:00
- **Completed:** 2026-03-04T12:00:00+00:00

**Context:** Board on Monday

## Verdict

**Claim refuted.** Counterarguments that hold: 1 (of severity 5: 1), partially: 1, refuted: 0. Rule: a counterargument of severity 5 that holds refutes the claim.

## Counterarguments

1. **evidence, severity 5:** ` + fact(1) + `
   - **Rebuttal (holds):** ` + fact(2) + `
2. **scope, severity 3:** ` + fact(3) + `
   - **Rebuttal (partially holds):** ` + fact(4) + `
3. **evidence, severity 1:** ` + fact(5) + `
   - *severity below 3: no rebuttal needed*

## Next actions

- [ ] Address the counterargument that holds: ` + fact(1) + `
- [ ] Settle the counterargument that partially holds: ` + fact(3) + `
`
	if got := v.Memo(advocate.English()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}

	clean := begin(t, advocate.Assumptions)
	new(numbers).assumptions(t, clean, "verified")
	v, err = clean.Verdict()
	if err != nil {
		t.Fatal(err)
	}
	if m := v.Memo(advocate.English()); !strings.HasSuffix(m, "## Next actions\n\n- [x] Nothing is left to do\n") || !strings.Contains(m, "- **Skipped phases:** tests\n") {
		t.Errorf("memo without actions:\n%s", m)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	r := begin(t, advocate.Steelman)
	new(numbers).points(t, r, 3, 0)
	for name, want := range map[string]advocate.Format{"": advocate.Markdown, "md": advocate.Markdown, "markdown": advocate.Markdown, "json": advocate.JSON} {
		f, err := advocate.ParseFormat(name)
		if err != nil || f != want {
			t.Errorf("%q is %s, %v", name, f, err)
		}
		report, err := r.Report(f, advocate.English())
		if err != nil {
			t.Fatal(err)
		}
		if report.Assessment != advocate.Refuted || report.Format != want || report.ReviewID != "rev-test" {
			t.Errorf("%+v", report)
		}
		if begins := map[advocate.Format]string{advocate.Markdown: "# Decision memo", advocate.JSON: "{\n  \"review_id\""}[want]; !strings.HasPrefix(report.Content, begins) {
			t.Errorf("%s begins %.40q", want, report.Content)
		}
	}
	for _, name := range []string{"MARKDOWN", "pdf", "JSON", "html"} {
		if _, err := advocate.ParseFormat(name); codeOf(err) != advocate.UnknownFormat {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := begin(t, advocate.Steelman).Report(advocate.Markdown, advocate.English()); codeOf(err) != advocate.NotComplete {
		t.Errorf("report of an unfinished review: %v", err)
	}
}

func TestProgressIsInertMarkdown(t *testing.T) {
	t.Parallel()
	r, err := advocate.New("rev-test", "# Claim\n<!-- \x1b[2J `x` -->", advocate.Premortem, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Progress()
	if !strings.HasPrefix(m, "# Stress test: \\# Claim \\<!-- \\[2J \\`x\\` --\\>\n") || !strings.Contains(m, "- **Phase:** setup (1/3)\n") {
		t.Errorf("progress:\n%s", m)
	}
}
