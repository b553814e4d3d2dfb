package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/eval"
	"github.com/qa-orch/qa-orch/locales"
)

// The pack and what people are told about it are kept in different places.
func TestEveryCaseAndProblemHasItsWords(t *testing.T) {
	t.Parallel()
	for _, family := range []locales.Family{caseTitles, caseGood, caseAvoid} {
		if words := family.Words(); !slices.Equal(words, eval.IDs()) {
			t.Errorf("the messages are for %q\nthe cases are %q", words, eval.IDs())
		}
	}
	words := answerProblems.Words()
	for _, code := range eval.Codes() {
		if !slices.Contains(words, string(code)) {
			t.Errorf("no words for %s", code)
		}
	}
	if len(words) != len(eval.Codes())+1 { // uncited_candidate is uncited with a candidate
		t.Errorf("%d messages for %d codes", len(words), len(eval.Codes()))
	}
}

// The points that a judge looks for name evidence that the case has.
func TestJudgesAreSentToEvidenceThatIsThere(t *testing.T) {
	t.Parallel()
	for _, lang := range locales.Langs() {
		p := locales.New(lang)
		for _, c := range eval.Cases() {
			good := p.Word(caseGood, c.ID)
			for word := range strings.FieldsFuncSeq(good, func(r rune) bool { return strings.ContainsRune("(), \n", r) }) {
				if !strings.HasPrefix(word, "E") || strings.Trim(word[1:], "0123456789") != "" {
					continue
				}
				if !slices.ContainsFunc(c.Evidence, func(e eval.Evidence) bool { return e.Ref == word }) {
					t.Errorf("%v: %s has no %s", lang, c.ID, word)
				}
			}
			if !strings.Contains(good, "(E") {
				t.Errorf("%v: %s names no evidence", lang, c.ID)
			}
		}
	}
}
