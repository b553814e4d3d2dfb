package policy

import (
	"slices"

	"github.com/qa-orch/qa-orch/core/catalog"
)

// Recommended returns the policy that setup proposes for a provider: a quick
// model that thinks long for triage, a strong one for the stages that judge. A
// reasoning word that the catalogue m does not allow gives way to the nearest.
// The provider must be valid.
func Recommended(provider catalog.Provider, m *catalog.Models) Policy {
	p := Default()
	if provider == catalog.Anthropic {
		p.Provider = provider
		for _, s := range stages {
			p.at(s).Model = "claude-opus-5-5"
		}
		p.Triage.Model = "claude-sonnet-5"
	}
	for _, s := range stages {
		c := p.at(s)
		words, _ := m.ReasoningFor(provider, c.Model)
		c.Reasoning = Nearest(words, c.Reasoning)
	}
	return p
}

// Nearest returns want if it is one of words, else the word of them that is
// closest to it in strength, the weaker of two equally close. words must be in
// the order of catalog.ReasoningWords and not empty.
func Nearest(words []catalog.Reasoning, want catalog.Reasoning) catalog.Reasoning {
	all := catalog.ReasoningWords()
	strength := func(w catalog.Reasoning) int { return slices.Index(all, w) }
	best := words[0]
	for _, w := range words[1:] {
		if distance(strength(w), strength(want)) < distance(strength(best), strength(want)) {
			best = w
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }
