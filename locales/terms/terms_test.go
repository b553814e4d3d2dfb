package terms

import (
	"slices"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/locales"
)

// A word that the core gains must get its text here, and one that it loses must go.
func TestFamiliesAreTheContractsWords(t *testing.T) {
	t.Parallel()
	kindsOf := []catalog.Kind{catalog.Evidence, catalog.TestAnalysis, catalog.Implementation, catalog.Specialist}
	for name, c := range map[string]struct{ have, want []string }{
		"steps":    {steps.Words(), strings(review.Steps())},
		"statuses": {statuses.Words(), strings(review.Statuses())},
		"tasks":    {tasks.Words(), strings(catalog.TaskTypes())},
		"bundles":  {bundles.Words(), strings(catalog.Bundles())},
		"profiles": {profiles.Words(), strings(catalog.Profiles())},
		"focus":    {focus.Words(), strings(catalog.Profiles())},
		"kinds":    {kinds.Words(), strings(kindsOf)},
		"rules":    {rules.Words(), strings(review.Rules())},
		"reasons":  {reasons.Words(), strings(review.Reasons())},
		"stages":   {stages.Words(), strings(policy.Stages())},
		"works":    {works.Words(), strings(policy.Stages())},
	} {
		if !slices.Equal(c.have, c.want) {
			t.Errorf("%s: have %v, want %v", name, c.have, c.want)
		}
	}
}

// Display names are part of the contract: English people see the same.
func TestEnglishProfileNamesAreTheContracts(t *testing.T) {
	t.Parallel()
	en := locales.New(locales.En)
	for _, p := range catalog.Profiles() {
		c, _ := p.Checklist()
		if got := Profile(en, p); got != c.DisplayName {
			t.Errorf("%s: %q, want %q", p, got, c.DisplayName)
		}
	}
}

func strings[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}
