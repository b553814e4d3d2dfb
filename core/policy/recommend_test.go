package policy

import (
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
)

func TestRecommendedIsValidAndOffered(t *testing.T) {
	t.Parallel()
	m := catalog.Builtin()
	for _, provider := range catalog.Providers() {
		p := Recommended(provider, m)
		if p.Provider != provider {
			t.Errorf("%s: recommends models of %s", provider, p.Provider)
		}
		for _, problem := range Validate(p, m) {
			t.Errorf("%s: %v", provider, problem)
		}
		for _, s := range Stages() {
			c := p.Stage(s)
			if e, ok := m.Lookup(c.Model); !ok || !e.Menu {
				t.Errorf("%s %s: %s is not offered by setup", provider, s, c.Model)
			}
			if c.Reasoning != s.DefaultReasoning() {
				t.Errorf("%s %s: %s reasoning, not the stage's default", provider, s, c.Reasoning)
			}
		}
	}
	if Recommended(catalog.OpenAI, m) != Default() {
		t.Error("the recommended policy of openai is not the default")
	}
}

func TestRecommendedFollowsTheUsersCatalogue(t *testing.T) {
	t.Parallel()
	m := catalog.Builtin().With([]catalog.Model{{
		ID: "gpt-6-luna", Provider: catalog.OpenAI, Reasoning: []catalog.Reasoning{catalog.ReasoningLow, catalog.ReasoningHigh},
	}})
	p := Recommended(catalog.OpenAI, m)
	if p.Triage.Reasoning != catalog.ReasoningHigh || len(Validate(p, m)) > 0 {
		t.Errorf("triage gets %q, problems %v", p.Triage.Reasoning, Validate(p, m))
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words []catalog.Reasoning
		want  catalog.Reasoning
		got   catalog.Reasoning
	}{
		{[]catalog.Reasoning{"none"}, "max", "none"},
		{[]catalog.Reasoning{"low", "medium", "high", "max"}, "xhigh", "high"},
		{[]catalog.Reasoning{"low", "medium", "high", "max"}, "none", "low"},
		{[]catalog.Reasoning{"none", "low", "medium", "high", "xhigh"}, "max", "xhigh"},
		{[]catalog.Reasoning{"none", "low", "max"}, "medium", "low"},
		{catalog.ReasoningWords(), "medium", "medium"},
	} {
		if got := Nearest(c.words, c.want); got != c.got {
			t.Errorf("%v nearest to %s: got %s, want %s", c.words, c.want, got, c.got)
		}
	}
}
