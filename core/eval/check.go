package eval

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/qa-orch/qa-orch/core/catalog"
)

// Limit is the most bytes an answer may have.
const Limit = 64 << 10

// Code says what kind of problem an answer has.
type Code string

// The problems that Check finds.
const (
	TooLarge          Code = "too_large"           // more than Limit bytes; nothing else is checked
	Encoding          Code = "encoding"            // not UTF-8; nothing else is checked
	Empty             Code = "empty"               // no text at all; nothing else is checked
	Fenced            Code = "fenced"              // the whole answer stands in a code block; nothing else is checked
	MissingSection    Code = "missing_section"     // Section is not there
	MisplacedSection  Code = "misplaced_section"   // Section stands after one that must follow it
	DuplicateSection  Code = "duplicate_section"   // Section is there already
	ForeignSection    Code = "foreign_section"     // Section belongs to other profiles
	UnexpectedSection Code = "unexpected_section"  // a heading of the sections' level that is no section
	EmptySection      Code = "empty_section"       // Section has no text
	NoCandidates      Code = "no_candidates"       // Section has text, but no candidate and no "None."
	Unnumbered        Code = "unnumbered"          // an entry of Section without a number
	CandidateFormat   Code = "candidate_format"    // a number that is not written as F-01
	CandidateNumber   Code = "candidate_number"    // Candidate should be Expected
	CandidateNowhere  Code = "candidate_elsewhere" // Candidate is used in Section but not defined under Finding Candidates
	Uncited           Code = "uncited"             // Candidate, or else an entry of Section, cites no evidence of the case
	UnknownEvidence   Code = "unknown_evidence"    // Evidence is none of the case's
	CyrillicEvidence  Code = "cyrillic_evidence"   // an evidence reference with a Cyrillic letter
	SeverityWord      Code = "severity_word"       // Word rates severity or priority
	VerdictWord       Code = "verdict_word"        // Word gives a verdict or speaks of readiness
)

// Codes returns every code.
func Codes() []Code {
	return []Code{
		TooLarge, Encoding, Empty, Fenced, MissingSection, MisplacedSection, DuplicateSection, ForeignSection,
		UnexpectedSection, EmptySection, NoCandidates, Unnumbered, CandidateFormat, CandidateNumber, CandidateNowhere,
		Uncited, UnknownEvidence, CyrillicEvidence, SeverityWord, VerdictWord,
	}
}

// Problem is something wrong with an answer's structure. Which fields are set
// goes by its Code.
type Problem struct {
	Line      int    `json:"line"` // from 1
	Code      Code   `json:"code"`
	Section   string `json:"section,omitempty"`
	Candidate string `json:"candidate,omitempty"`
	Expected  string `json:"expected,omitempty"`
	Evidence  string `json:"evidence,omitempty"`
	Word      string `json:"word,omitempty"` // in lower case
}

// The section names that checks treat by name.
const (
	sectionCandidates = "Finding Candidates"
	sectionGaps       = "Coverage Gaps"
	sectionMap        = "Evidence Map"
)

// resultSection returns the section that holds what a profile of the kind is
// for, and whether its entries are numbered candidates.
func resultSection(kind catalog.Kind) (name string, numbered bool) {
	switch kind {
	case catalog.Evidence:
		return sectionMap, false
	case catalog.TestAnalysis:
		return sectionGaps, false
	default:
		return sectionCandidates, true
	}
}

// knownSections are the sections of all kinds of profile.
var knownSections = sync.OnceValue(func() []string {
	var names []string
	for _, p := range catalog.Profiles() {
		list, _ := p.Checklist()
		for _, s := range list.RequiredSections {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		}
	}
	return names
})

// Check returns what is wrong with the structure of an answer to the case, in
// the order of its lines; none means that the structure is sound. It says
// nothing about whether the answer is right.
func (c Case) Check(answer []byte) []Problem {
	if len(answer) > Limit {
		return []Problem{{Line: 1, Code: TooLarge}}
	}
	answer = clean(answer)
	if i := firstInvalid(answer); i >= 0 {
		return []Problem{{Line: newSource(answer).line(i), Code: Encoding}}
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return []Problem{{Line: 1, Code: Empty}}
	}
	s := newSource(norm.NFC.Bytes(answer))
	doc := s.parse()
	if len(doc.children) == 1 && doc.children[0].kind == fenced {
		return []Problem{{Line: 1, Code: Fenced}}
	}
	list, _ := c.Profile.Checklist()
	k := &checker{source: s, refs: map[string]bool{}}
	for _, e := range c.Evidence {
		k.refs[e.Ref] = true
	}
	sections := k.split(doc, list.RequiredSections)
	result, numbered := resultSection(list.Kind)
	known := map[string]bool{}
	for _, sec := range sections {
		switch {
		case sec.name != result:
		case numbered:
			k.candidates(sec, known)
		default:
			k.entries(sec)
		}
	}
	if numbered {
		for _, sec := range sections {
			if sec.name != result {
				k.strays(sec, known)
			}
		}
	}
	for _, l := range leaves(s, doc) {
		k.references(l)
		k.words(l)
	}
	slices.SortStableFunc(k.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return k.problems
}

// firstInvalid returns where the first byte is that is not UTF-8, -1 if all is.
func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

type checker struct {
	*source
	refs     map[string]bool
	problems []Problem
}

func (k *checker) report(p Problem) { k.problems = append(k.problems, p) }

// section is a required section that the answer has, with the blocks under it.
type section struct {
	name   string
	line   int
	blocks []*block
}

var ordinal = lazy(`^\d+[.)] *`)

// sectionName returns the section that a heading names, empty if none.
func sectionName(heading string) string {
	heading = strings.TrimRight(ordinal().ReplaceAllString(strings.TrimSpace(heading), ""), ": ")
	for _, name := range knownSections() {
		if strings.EqualFold(heading, name) {
			return name
		}
	}
	return ""
}

// split finds the sections and reports what is wrong with them as such. Of a
// section that is there twice it returns the first.
func (k *checker) split(doc *block, required []string) []*section {
	var found []*section
	level, furthest := 0, -1
	var body *section
	for _, n := range doc.children {
		if n.kind != heading {
			if body != nil {
				body.blocks = append(body.blocks, n)
			}
			continue
		}
		l := newLeaf(k.source, n)
		name, line := sectionName(l.text), l.line(k.source)
		if level == 0 && name != "" {
			level = n.level
		}
		switch {
		case level == 0: // a title
			continue
		case n.level > level:
			if body != nil {
				body.blocks = append(body.blocks, n)
			}
			continue
		}
		// The text under a heading that is no required section is checked for words alone.
		body = nil
		i := slices.Index(required, name)
		switch {
		case name == "" || n.level < level:
			k.report(Problem{Line: line, Code: UnexpectedSection})
			continue
		case i < 0:
			k.report(Problem{Line: line, Code: ForeignSection, Section: name})
			continue
		case slices.ContainsFunc(found, func(s *section) bool { return s.name == name }):
			k.report(Problem{Line: line, Code: DuplicateSection, Section: name})
			continue
		case i < furthest:
			k.report(Problem{Line: line, Code: MisplacedSection, Section: name, Expected: required[furthest]})
		}
		furthest = max(furthest, i)
		body = &section{name: name, line: line}
		found = append(found, body)
	}
	for i, name := range required {
		if slices.ContainsFunc(found, func(s *section) bool { return s.name == name }) {
			continue
		}
		// Where it belongs: before the next section that is there, else at the end.
		line := k.lines()
		for _, s := range found {
			if slices.Index(required, s.name) > i {
				line = min(line, s.line)
			}
		}
		k.report(Problem{Line: line, Code: MissingSection, Section: name})
	}
	for _, s := range found {
		if len(s.blocks) == 0 {
			k.report(Problem{Line: s.line, Code: EmptySection, Section: s.name})
		}
	}
	return found
}

var (
	none = lazy(`^(?:(?:none|nothing)(?: (?:was )?(?:found|identified)| to report)?(?:$|[.,;:—–-])` +
		`|no (?:finding |coverage |possible )?(?:candidates?|findings?|gaps?|defects?|entries)(?:$|[^\p{L}])` +
		`|(?:нет|ничего|ничего не (?:найдено|обнаружено|выявлено)|отсутствуют)(?:$|[.,;:—–-])` +
		`|(?:нет|не (?:найдено|обнаружено|выявлено)) (?:кандидатов|находок|дефектов|пробелов|замечаний|записей)` +
		`|(?:кандидатов|находок|дефектов|пробелов|замечаний|записей) (?:нет|не (?:найдено|обнаружено|выявлено)))`)
	// marker is anything that is meant as a candidate's number.
	marker = lazy(`^[\[(]?((?:[FfФф]) ?[-–—‑_.]? ?0*(\d{1,9}))(?:$|[^\p{L}\p{N}])`)
	proper = lazy(`^F-(0[1-9]|[1-9]\d+)$`)
	// reference is an evidence reference; the letter may be the Cyrillic one that looks the same.
	reference = lazy(`(?:^|[^\p{L}\p{N}_])([EЕ]\d{1,9})(?:$|[^\p{L}\p{N}_])`)
)

// entry is a piece of a section that can stand for itself: a list item, a
// table row, a paragraph, or what is under a heading.
type entry struct {
	leaves []*leaf
	item   bool // a list item or a table row
}

// pieces returns what the section consists of, in order: list items and table
// rows of the outermost level, other blocks as they are.
func (k *checker) pieces(sec *section) []entry {
	var all []entry
	add := func(b *block, item bool) {
		if ls := leaves(k.source, b); len(ls) > 0 {
			all = append(all, entry{ls, item})
		}
	}
	for _, b := range sec.blocks {
		if b.kind != header {
			add(b, b.kind == item || b.kind == row)
		}
	}
	return all
}

// saysNone reports whether the section consists of one statement that there is nothing.
func saysNone(pieces []entry) bool {
	return len(pieces) == 1 && none().MatchString(pieces[0].leaves[0].prose)
}

// cites reports whether the leaves name evidence of the case.
func (k *checker) cites(ls []*leaf) bool {
	return slices.ContainsFunc(ls, func(l *leaf) bool {
		return slices.ContainsFunc(find(reference, l.text), func(h hit) bool { return k.refs[latin(h.word)] })
	})
}

// latin returns an evidence reference with the Latin letter.
func latin(ref string) string { return strings.Replace(ref, "Е", "E", 1) }

// candidates checks the section of numbered candidates and adds them to known.
func (k *checker) candidates(sec *section, known map[string]bool) {
	pieces := k.pieces(sec)
	if len(pieces) == 0 || saysNone(pieces) {
		return
	}
	type candidate struct {
		name   string
		line   int
		item   bool
		leaves []*leaf
	}
	var all []*candidate
	var loose []int // lines of list items before the first candidate
	for _, p := range pieces {
		first := p.leaves[0]
		line := first.line(k.source)
		m := marker().FindStringSubmatch(first.text)
		switch {
		case m != nil:
			n, _ := strconv.Atoi(m[2]) // at most nine digits
			name := fmt.Sprintf("F-%02d", n)
			if !proper().MatchString(m[1]) {
				k.report(Problem{Line: line, Code: CandidateFormat, Expected: fmt.Sprintf("F-%02d", len(all)+1)})
			} else if want := fmt.Sprintf("F-%02d", len(all)+1); name != want {
				k.report(Problem{Line: line, Code: CandidateNumber, Candidate: name, Expected: want})
			}
			known[name] = true
			all = append(all, &candidate{name, line, p.item, p.leaves})
		case len(all) == 0:
			if p.item {
				loose = append(loose, line)
			}
		default:
			last := all[len(all)-1]
			if p.item && last.item {
				k.report(Problem{Line: line, Code: Unnumbered, Section: sec.name})
				continue
			}
			last.leaves = append(last.leaves, p.leaves...)
		}
	}
	if len(all) == 0 {
		k.report(Problem{Line: sec.line, Code: NoCandidates, Section: sec.name})
		return
	}
	for _, line := range loose {
		k.report(Problem{Line: line, Code: Unnumbered, Section: sec.name})
	}
	for _, c := range all {
		if !k.cites(c.leaves) {
			k.report(Problem{Line: c.line, Code: Uncited, Section: sec.name, Candidate: c.name})
		}
	}
}

// entries checks a section whose entries cite evidence without numbers of
// their own. Where it has lists or tables, its paragraphs are introductions.
func (k *checker) entries(sec *section) {
	pieces := k.pieces(sec)
	if saysNone(pieces) {
		return
	}
	items := slices.ContainsFunc(pieces, func(p entry) bool { return p.item })
	for _, p := range pieces {
		first := p.leaves[0]
		if p.item == items && first.block.kind != heading && !k.cites(p.leaves) {
			k.report(Problem{Line: first.line(k.source), Code: Uncited, Section: sec.name})
		}
	}
}

// strays reports candidates outside their section that are not defined in it.
func (k *checker) strays(sec *section, known map[string]bool) {
	for _, p := range k.pieces(sec) {
		first := p.leaves[0]
		m := marker().FindStringSubmatch(first.text)
		if m != nil && proper().MatchString(m[1]) && !known[m[1]] {
			k.report(Problem{Line: first.line(k.source), Code: CandidateNowhere, Section: sec.name, Candidate: m[1]})
		}
	}
}

// references reports evidence references that the case does not have.
func (k *checker) references(l *leaf) {
	for _, h := range find(reference, l.text) {
		ref := latin(h.word)
		switch {
		case ref != h.word:
			k.report(Problem{Line: l.lineAt(k.source, h.at), Code: CyrillicEvidence, Expected: ref})
		case !k.refs[ref]:
			k.report(Problem{Line: l.lineAt(k.source, h.at), Code: UnknownEvidence, Evidence: ref})
		}
	}
}

// words reports forbidden words in prose.
func (k *checker) words(l *leaf) {
	report := func(code Code, h hit) {
		k.report(Problem{Line: l.lineAt(k.source, h.at), Code: code, Word: strings.TrimRight(h.word, ":. ")})
	}
	for _, h := range find(severityWords, l.prose) {
		report(SeverityWord, h)
	}
	for _, h := range find(verdictWords, l.prose) {
		report(VerdictWord, h)
	}
	for _, h := range find(rated, l.prose) {
		report(SeverityWord, h)
	}
	marks := l.marks
	switch label, _, colon := strings.Cut(l.prose, ":"); {
	case colon:
		marks = append(slices.Clone(marks), hit{0, label})
	case l.block.kind == cell:
		marks = append(slices.Clone(marks), hit{0, strings.TrimSpace(l.prose)})
	}
	for i, m := range marks {
		same := slices.ContainsFunc(marks[:i], func(o hit) bool { return o.at == m.at })
		if ratings().MatchString(m.word) && !same {
			report(SeverityWord, m)
		}
	}
}
