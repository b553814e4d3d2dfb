package memo_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/memo"
	"github.com/qa-orch/qa-orch/locales/play/playtest"
)

// played returns the performance of a mode, complete.
func played(t *testing.T, lang locales.Lang, mode advocate.Mode) *advocate.Review {
	t.Helper()
	return playtest.Review(t, lang, "rev-play", "", mode, playtest.All, time.Unix(0, 0))
}

// A person and a client read the same English memo.
func TestEnglishIsTheServers(t *testing.T) {
	t.Parallel()
	labels := memo.Labels(locales.New(locales.En))
	for _, mode := range advocate.Modes() {
		r := played(t, locales.En, mode)
		got, want := r.Document(labels).Markdown(), r.Document(advocate.English()).Markdown()
		if got != want {
			t.Errorf("%s: for people it is\n%s\nand over MCP\n%s", mode, got, want)
		}
	}
}

// outcomes decide by every rule.
func outcomes() []advocate.Outcome {
	var all []advocate.Outcome
	for _, mode := range advocate.Modes() {
		for _, rule := range []advocate.Rule{
			advocate.RuleTwoHold, advocate.RuleSevereHolds, advocate.RuleOneHolds, advocate.RuleTwoPartial, advocate.RuleNoneHolds,
			advocate.RuleMeanRefutes, advocate.RuleMeanRevise, advocate.RuleHighResidual, advocate.RuleLowMean,
			advocate.RuleTwoUnsupported, advocate.RuleOneUnsupported, advocate.RuleTwoHalfSupported, advocate.RuleSupported,
			advocate.RuleAllConceded, advocate.RuleMostConceded, advocate.RuleMostCountered,
			advocate.RuleTwoLensesRefute, advocate.RuleOneLensRefutes, advocate.RuleTwoLensesRevise, advocate.RuleLensesSurvive,
		} {
			all = append(all, advocate.Outcome{
				Mode: mode, Rule: rule, Risk: 1234, Holds: 2, PartiallyHolds: 3, Refuted: 4, Sinking: 1, Causes: 5, HighResidual: 6,
				LoadBearing: 7, Unsupported: 8, HalfSupported: 9, Conceded: 10, Countered: 11, LensesRefute: 12, LensesRevise: 13,
			})
		}
	}
	return all
}

func TestReasons(t *testing.T) {
	t.Parallel()
	en, ru := locales.New(locales.En), locales.New(locales.Ru)
	for _, o := range outcomes() {
		if got, want := memo.Reason(en, o), o.Reason(); got != want {
			t.Errorf("%s, %s: %q, over MCP %q", o.Mode, o.Rule, got, want)
		}
		if got := memo.Reason(ru, o); hasLatin(got) || !strings.Contains(got, "Правило: ") {
			t.Errorf("%s, %s: %q", o.Mode, o.Rule, got)
		}
	}
	if got := memo.Reason(ru, advocate.Outcome{Mode: advocate.Premortem, Rule: advocate.RuleMeanRevise, Risk: 975, Causes: 4}); !strings.HasPrefix(got, "Вероятность × ущерб в среднем: 9,75, причин: 4") {
		t.Error(got)
	}
}

func hasLatin(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
}

// In a Russian memo nothing is English but what its client wrote.
func TestRussianMemoIsRussian(t *testing.T) {
	t.Parallel()
	l := memo.Labels(locales.New(locales.Ru))
	for _, mode := range advocate.Modes() {
		for _, block := range played(t, locales.Ru, mode).Document(l) {
			lines := []advocate.Line{block.Line}
			for _, item := range block.List {
				lines = append(lines, item.Line, item.Under)
			}
			for _, row := range block.Rows {
				for _, cell := range row {
					lines = append(lines, advocate.Line{{Text: cell}})
				}
			}
			for _, line := range lines {
				for _, piece := range line {
					own := strings.ReplaceAll(strings.ReplaceAll(piece.Text, "rev-play", ""), "1970-01-01T00:00:00", "")
					if !piece.Submitted && hasLatin(own) {
						t.Errorf("%s: %q", mode, piece.Text)
					}
				}
			}
		}
	}
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	ru := locales.New(locales.Ru)
	for have, want := range map[int]string{3: "ещё 1 пункт, всего не меньше 4", 2: "ещё 2 пункта, всего не меньше 4"} {
		if got := memo.Requirement(ru, advocate.Requirement{Kind: advocate.NeedItems, Have: have, Need: 4}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := memo.Requirement(ru, advocate.Requirement{Kind: advocate.NeedAnswer, Phase: advocate.FailureCauses, Index: 0}); got != "ответ на пункт 1 фазы «причины провала»" {
		t.Error(got)
	}
}
