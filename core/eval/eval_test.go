package eval

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
)

func TestThePackCoversEveryProfile(t *testing.T) {
	t.Parallel()
	covered := map[catalog.Profile]int{}
	for _, c := range Cases() {
		covered[c.Profile]++
		prompt := c.Prompt()
		list, _ := c.Profile.Checklist()
		for _, s := range list.RequiredSections {
			if !strings.Contains(prompt, "    ## "+s+"\n") {
				t.Errorf("%s: the prompt does not ask for %s", c.ID, s)
			}
		}
		for _, e := range c.Evidence {
			if !strings.Contains(prompt, "### "+e.Ref+": ") || !strings.Contains(prompt, e.Text) {
				t.Errorf("%s: the prompt lacks %s", c.ID, e.Ref)
			}
		}
	}
	for _, p := range catalog.Profiles() {
		if covered[p] == 0 {
			t.Errorf("no case for %s", p)
		}
	}
	if len(Cases()) != 13 {
		t.Errorf("%d cases", len(Cases()))
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	if c, ok := Find("page-cursor"); !ok || c.ID != "page-cursor" || len(c.Evidence) != 4 || c.Evidence[3].Ref != "E4" {
		t.Errorf("got %+v, %v", c, ok)
	}
	if _, ok := Find("none"); ok {
		t.Error("found a case that is not there")
	}
}

func TestBrokenCasesAreRefused(t *testing.T) {
	t.Parallel()
	const evidence = "\n[[evidence]]\nkind = 'a'\ntext = 'b'\n"
	for name, data := range map[string]string{
		"syntax":   "profile",
		"unknown":  "profile = 'code_reviewer'\nscope = 'x'\nverdict = 'y'" + evidence,
		"profile":  "profile = 'reviewer'\nscope = 'x'" + evidence,
		"scope":    "profile = 'code_reviewer'" + evidence,
		"evidence": "profile = 'code_reviewer'\nscope = 'x'",
	} {
		if _, err := parse(name, data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// An answer may quote its case: no case contains a word that answers may not.
func TestNoCaseUsesForbiddenWords(t *testing.T) {
	t.Parallel()
	for _, c := range Cases() {
		text := c.Scope
		for _, e := range c.Evidence {
			text += "\n\n" + e.Kind + "\n\n" + e.Text
		}
		s := newSource([]byte(text))
		k := &checker{source: s, refs: map[string]bool{}}
		for _, l := range leaves(s, s.parse()) {
			k.words(l)
		}
		if len(k.problems) > 0 {
			t.Errorf("%s: %v", c.ID, k.problems)
		}
	}
}

func goodAnswers(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/good/*.md")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]byte{}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		answers[strings.TrimSuffix(filepath.Base(p), ".md")] = data
	}
	return answers
}

func TestGoodAnswersAreSound(t *testing.T) {
	t.Parallel()
	answered := map[string]bool{}
	for name, answer := range goodAnswers(t) {
		id, _, _ := strings.Cut(name, ".")
		c, ok := Find(id)
		if !ok {
			t.Errorf("%s answers no case", name)
			continue
		}
		answered[id] = true
		for variant, data := range map[string][]byte{
			"as it is": answer,
			"Windows":  append([]byte("\uFEFF"), bytes.ReplaceAll(answer, []byte("\n"), []byte("\r\n"))...),
			"old Mac":  bytes.ReplaceAll(answer, []byte("\n"), []byte("\r")),
		} {
			if problems := c.Check(data); len(problems) > 0 {
				t.Errorf("%s (%s): %+v", name, variant, problems)
			}
		}
	}
	for _, c := range Cases() {
		if !answered[c.ID] {
			t.Errorf("no good answer to %s", c.ID)
		}
	}
}

// brief says a problem in one line.
func brief(p Problem) string {
	s := fmt.Sprintf("%d %s", p.Line, p.Code)
	for _, part := range []string{p.Section, p.Candidate, p.Expected, p.Evidence, p.Word} {
		if part != "" {
			s += " | " + part
		}
	}
	return s
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	good := goodAnswers(t)
	// full is an answer to page-cursor with a body for its candidates, from line 5.
	full := func(candidates string) string {
		return "## Scope\n\nThe list.\n\n## Finding Candidates\n\n" + candidates + "\n\n## Coverage Gaps\n\nNone.\n\n## Unverified\n\nNone.\n"
	}
	// said is an answer whose line 3 is text.
	said := func(text string) string {
		return "## Scope\n\n" + text + "\n\n## Finding Candidates\n\nNone.\n\n## Coverage Gaps\n\nNone.\n\n## Unverified\n\nNone.\n"
	}
	seen := map[Code]bool{}
	for _, c := range []struct {
		name, id, answer string
		want             []string
	}{
		{"nothing", "", " \n\t\n", []string{"1 empty"}},
		{"too large", "", strings.Repeat("a", Limit+1), []string{"1 too_large"}},
		{"not UTF-8", "", "## Scope\n\n\xff", []string{"3 encoding"}},
		{"fenced", "", "```markdown\n" + full("None.") + "```\n", []string{"1 fenced"}},
		{"no section", "", "Looks fine to me.\n", []string{
			"1 missing_section | Scope", "1 missing_section | Finding Candidates", "1 missing_section | Coverage Gaps", "1 missing_section | Unverified",
		}},
		{"one missing", "", "## Scope\n\nx\n\n## Finding Candidates\n\nNone.\n\n## Unverified\n\nx\n", []string{"9 missing_section | Coverage Gaps"}},
		{"last missing", "", "## Scope\n\nx\n\n## Finding Candidates\n\nNone.\n\n## Coverage Gaps\n\nx\n", []string{"11 missing_section | Unverified"}},
		{"wrong order", "", "## Scope\n\nx\n\n## Coverage Gaps\n\nx\n\n## Finding Candidates\n\nNone.\n\n## Unverified\n\nx\n", []string{
			"9 misplaced_section | Finding Candidates | Coverage Gaps",
		}},
		{"twice", "", full("None.") + "\n## Scope\n\nx\n", []string{"17 duplicate_section | Scope"}},
		{"empty", "", full(""), []string{"5 empty_section | Finding Candidates"}},
		{"a section of another profile", "", full("None.") + "\n## Evidence Map\n\nx\n", []string{"17 foreign_section | Evidence Map"}},
		{"findings on a map", "export-path", string(good["export-path.en"]) + "\n## Finding Candidates\n\nNone.\n", []string{"22 foreign_section | Finding Candidates"}},
		{"one more heading", "", full("None.") + "\n## Summary\n\nx\n", []string{"17 unexpected_section"}},
		{"a larger heading", "", full("None.") + "\n# Summary\n\nx\n", []string{"17 unexpected_section"}},
		{"tolerated headings", "", "# Review\n\nIntro.\n\n### 1. scope\n\nx\n\nfinding candidates\n---\n\nNone.\n", []string{
			"9 unexpected_section", "12 missing_section | Finding Candidates", "12 missing_section | Coverage Gaps", "12 missing_section | Unverified",
		}},
		{"numbered and closed headings", "", "## 1. Scope:\n\nx\n\n## **Finding Candidates** ##\n\nNone found.\n\nCOVERAGE GAPS\n---\n\nNo gaps.\n\n## 4) Unverified\n\nx\n", nil},
		{"no number", "", full("- a message comes twice (E1)"), []string{"5 no_candidates | Finding Candidates"}},
		{"a finding that begins with no", "", full("No check of the cursor (E1)."), []string{"5 no_candidates | Finding Candidates"}},
		{"second without number", "", full("- F-01: twice (E1)\n- once more (E2)"), []string{"8 unnumbered | Finding Candidates"}},
		{"first without number", "", full("Two things:\n\n- once more (E2)\n\n1. F-01: twice (E1)"), []string{"9 unnumbered | Finding Candidates"}},
		{"table row without number", "", full("| id | what |\n|---|---|\n| F-01 | twice, E1 |\n| | E2 |"), []string{"10 unnumbered | Finding Candidates"}},
		{"badly written numbers", "", full("- F1: a (E1)\n- f-02: b (E1)\n- F–03: c (E1)\n- F-004: d (E1)\n- Ф-05: e (E1)\n- F-06: f (E1)"), []string{
			"7 candidate_format | F-01", "8 candidate_format | F-02", "9 candidate_format | F-03", "10 candidate_format | F-04", "11 candidate_format | F-05",
		}},
		{"numbers out of order", "", full("- F-02: a (E1)\n- F-02: b (E1)\n- F-02: c (E1)"), []string{
			"7 candidate_number | F-02 | F-01", "9 candidate_number | F-02 | F-03",
		}},
		{"no evidence", "", full("- F-01: a\n- F-02: b (E2)\n\n  more\n- F-03: c, see F-02"), []string{
			"7 uncited | Finding Candidates | F-01", "11 uncited | Finding Candidates | F-03",
		}},
		{"evidence below a heading", "", full("### F-01 a\n\n- where: `E1`\n- why\n\n### F-02 b\n\nText."), []string{"12 uncited | Finding Candidates | F-02"}},
		{"foreign evidence", "", full("- F-01: a (E1, E5)\n- F-02: b (E99)"), []string{
			"7 unknown_evidence | E5", "8 uncited | Finding Candidates | F-02", "8 unknown_evidence | E99",
		}},
		{"Cyrillic evidence", "", full("- F-01: а (Е1)"), []string{"7 cyrillic_evidence | E1"}},
		{"no evidence reference at all", "", full("- F-01: a (E1) with an E2E test and MIME1"), nil},
		{"candidate elsewhere", "", "## Scope\n\nx\n\n## Finding Candidates\n\n- F-01: a (E1)\n\n## Coverage Gaps\n\n- F-01: no test\n- F-02: no test\n\n## Unverified\n\nx\n", []string{
			"12 candidate_elsewhere | Coverage Gaps | F-02",
		}},
		{"gap without evidence", "discount-tests", "## Scope\n\nx\n\n## Coverage Gaps\n\nThese:\n\n- limit (E1)\n- rounding\n\n## Unverified\n\nx\n", []string{"10 uncited | Coverage Gaps"}},
		{"map without evidence", "export-path", "## Scope\n\nx\n\n## Evidence Map\n\n### Path\n\nThe route leads to the handler.\n\nThe handler asks the client (E3).\n\n## Unverified\n\nx\n", []string{"9 uncited | Evidence Map"}},

		{"severity", "", said("The severity is high, priority P1."), []string{"3 severity_word | severity", "3 severity_word | priority", "3 severity_word | p1"}},
		{"line of a word", "", said("First line,\nsecond line with a Critical\nproblem."), []string{"4 severity_word | critical"}},
		{"labels", "", said("- [High] a\n- **Medium** b\n- low: c\n- (high) d\n\n| a | b |\n|---|---|\n| High | x |"), []string{
			"3 severity_word | high", "4 severity_word | medium", "5 severity_word | low", "6 severity_word | high", "10 severity_word | high",
		}},
		{"high as such", "", said("A high number of pages, low memory, the highest id."), nil},
		{"risk", "", said("This is a high risk."), []string{"3 severity_word | high risk"}},
		{"code", "", said("The column `severity` and the label `P1`.\n\n    verdict\n\n```\nLGTM\n```"), nil},
		{"verdict", "", said("Verdict: approved, LGTM; ready to merge and safe to ship."), []string{
			"3 verdict_word | verdict", "3 verdict_word | approved", "3 verdict_word | lgtm", "3 verdict_word | ready to merge", "3 verdict_word | safe to ship",
		}},
		{"more verdicts", "", said("This should not be merged. Don’t merge. It blocks the release. Not production-ready. I request changes."), []string{
			"3 verdict_word | this should not be merged", "3 verdict_word | don't merge", "3 verdict_word | blocks the release",
			"3 verdict_word | production-ready", "3 verdict_word | request changes",
		}},
		{"broken over lines", "", said("It is ready to\nmerge."), []string{"3 verdict_word | ready to merge"}},
		{"HTML", "", said("<p>\nverdict\n</p>"), []string{"4 verdict_word | verdict"}},
		{"words that only look so", "", said("The list is merged, the handle released, the request rejected; approximately, majority, criticism."), nil},
		{"Russian severity", "", said("Критичность высокая, приоритет P2; это критическая ошибка, блокер. Серьёзность: **высокая**."), []string{
			"3 severity_word | критичность", "3 severity_word | приоритет", "3 severity_word | p2", "3 severity_word | критическая ошибка",
			"3 severity_word | блокер", "3 severity_word | серьезность", "3 severity_word | высокая",
		}},
		{"Russian verdict", "", said("Вердикт: готово к слиянию. Выпускать нельзя. Изменение блокирует релиз. Одобряю."), []string{
			"3 verdict_word | вердикт", "3 verdict_word | готово к слиянию", "3 verdict_word | выпускать нельзя",
			"3 verdict_word | блокирует релиз", "3 verdict_word | одобряю",
		}},
		{"decomposed letters", "", said("Серье\u0308зность."), []string{"3 severity_word | серьезность"}},
		{"Russian that only looks so", "", said("Критическая секция, высокая нагрузка, готовый ответ, блокирующий вызов, срок."), nil},
	} {
		id := c.id
		if id == "" {
			id = "page-cursor"
		}
		theCase, _ := Find(id)
		problems := theCase.Check([]byte(c.answer))
		var got []string
		for _, p := range problems {
			seen[p.Code] = true
			got = append(got, brief(p))
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(c.want))
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, want)
		}
		if !slices.IsSortedFunc(problems, func(a, b Problem) int { return a.Line - b.Line }) {
			t.Errorf("%s: not in the order of lines", c.name)
		}
	}
	for _, code := range Codes() {
		if !seen[code] {
			t.Errorf("no bad answer shows %s", code)
		}
	}
}

// Deeply nested and otherwise unkind Markdown does not break the check.
func TestUnkindAnswers(t *testing.T) {
	t.Parallel()
	c, _ := Find("page-cursor")
	for _, piece := range []string{">", "- ", "[", "*a_", "`", "![", "<a ", "|", "| - ", "# ", "1. ", "E1 ", "F-01 ", "severity ", "\\", "&#", "\x00"} {
		c.Check([]byte(strings.Repeat(piece, 8<<10/len(piece))))
	}
}

func FuzzCheck(f *testing.F) {
	for _, answer := range goodAnswers(f) {
		f.Add(answer)
	}
	f.Add([]byte("## Scope\n\n> - F-01 **High**: verdict\n\n## Finding Candidates\n| F-01 |\n|-|\n<!-- E9 --> [x](E1) <https://E2>\n"))
	c, _ := Find("page-cursor")
	f.Fuzz(func(t *testing.T, answer []byte) {
		lines := bytes.Count(bytes.ReplaceAll(answer, []byte("\r\n"), []byte("\n")), []byte("\n")) + bytes.Count(answer, []byte("\r")) + 1
		problems := c.Check(answer)
		for _, p := range problems {
			if p.Line < 1 || p.Line > lines {
				t.Errorf("%+v: the answer has %d lines", p, lines)
			}
			if !slices.Contains(Codes(), p.Code) {
				t.Errorf("%+v: unknown code", p)
			}
		}
		if again := c.Check(answer); !slices.Equal(problems, again) {
			t.Errorf("checked twice: %v and %v", problems, again)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	c, _ := Find("page-cursor")
	answer := goodAnswers(b)["page-cursor.en"]
	for b.Loop() {
		if len(c.Check(answer)) > 0 {
			b.Fatal("not sound")
		}
	}
}
