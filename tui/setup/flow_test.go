package setup

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
)

var models = catalog.Builtin()

func flowOf(current Current, given Given) *Flow {
	return NewFlow(locales.New(locales.En), models, current, given, false)
}

func configured(p policy.Policy) Current {
	return Current{Path: "policy.json", Configured: true, Policy: p}
}

// selected returns the preselected answer.
func selected(f *Flow) string {
	options, i := f.Options()
	if options == nil {
		return ""
	}
	return options[i].Value
}

func values(f *Flow) (out []string) {
	options, _ := f.Options()
	for _, o := range options {
		out = append(out, o.Value)
	}
	return out
}

// accept takes what is preselected until the screen is of a kind.
func accept(t *testing.T, f *Flow, until Kind) {
	t.Helper()
	for n := 0; f.Screen().Kind != until; n++ {
		if f.End() != Running || n > 20 {
			t.Fatalf("never asked for %v", until)
		}
		f.Choose(selected(f))
	}
}

func TestAcceptingEverythingKeepsTheCurrentPolicy(t *testing.T) {
	t.Parallel()
	current := policy.Recommended(catalog.Anthropic, models)
	current.Deep = policy.Choice{Model: "claude-opus-4-6", Reasoning: "low"} // known, not in the menu
	current.Triage = policy.Choice{Model: "something-else", Reasoning: "xhigh"}
	f := flowOf(configured(current), Given{})
	accept(t, f, AskWay)
	if selected(f) != wayCurrent {
		t.Errorf("preselected: %s", selected(f))
	}
	f.Choose(wayStages)
	for n := 4; f.Screen().Kind != Confirm; n++ {
		if step, total := f.Step(); step != n || total != 12 {
			t.Errorf("step %d of %d, want %d of 12", step, total, n)
		}
		f.Choose(selected(f))
	}
	if f.Policy() != current || !f.Unchanged() {
		t.Errorf("became %+v", f.Policy())
	}
	if f.Choose(answerSave); f.End() != Kept {
		t.Errorf("ended as %v", f.End())
	}
}

func TestEveryScreenGoesBackAndKeepsItsAnswer(t *testing.T) {
	t.Parallel()
	f := flowOf(Current{Policy: policy.Default()}, Given{})
	var screens []Screen
	var answers []string
	for f.Screen().Kind != Confirm {
		answer := selected(f)
		switch f.Screen().Kind {
		case AskProvider:
			answer = "anthropic"
		case AskWay:
			answer = wayStages
		case AskModel:
			answer = otherModel
		case AskID:
			answer = "claude-x-" + string(f.Screen().Stage)
		case AskReasoning:
			answer = "low"
		}
		screens, answers = append(screens, f.Screen()), append(answers, answer)
		f.Choose(answer)
	}
	if len(screens) != 15 {
		t.Errorf("%d screens", len(screens))
	}
	before := f.Policy()
	for i := len(screens) - 1; i >= 0; i-- {
		if !f.Back() || f.Screen() != screens[i] {
			t.Fatalf("back leads to %v, want %v", f.Screen(), screens[i])
		}
		got := f.Typed()
		if f.Screen().Kind != AskID {
			got = selected(f)
		}
		if got != answers[i] {
			t.Errorf("%v: %q, want %q", screens[i], got, answers[i])
		}
	}
	if f.Back() {
		t.Error("there is something before the first question")
	}
	for i := range screens {
		f.Choose(answers[i])
	}
	if f.Policy() != before || f.Screen().Kind != Confirm {
		t.Errorf("the same answers give %+v", f.Policy())
	}
}

func TestChangingTheProviderAndBackLosesNothing(t *testing.T) {
	t.Parallel()
	f := flowOf(configured(policy.Default()), Given{})
	f.Choose("en")
	f.Choose("openai")
	f.Choose(wayStages)
	f.Choose("gpt-4.1")
	f.Choose("none")
	for f.Screen().Kind != AskProvider {
		f.Back()
	}
	f.Choose("anthropic")
	if got := values(f); slices.Contains(got, wayCurrent) {
		t.Errorf("the current policy is offered for another provider: %v", got)
	}
	f.Choose(wayStages)
	if got := selected(f); got != "claude-sonnet-5" {
		t.Errorf("preselected for anthropic: %s", got)
	}
	for f.Screen().Kind != AskProvider {
		f.Back()
	}
	f.Choose("openai")
	f.Choose(wayStages)
	if got := selected(f); got != "gpt-4.1" {
		t.Errorf("forgot the model: %s", got)
	}
}

func TestReasoningFollowsTheModel(t *testing.T) {
	t.Parallel()
	f := flowOf(Current{Policy: policy.Default()}, Given{})
	f.Choose("en")
	f.Choose("anthropic")
	f.Choose(wayStages)
	f.Choose("claude-haiku-4-5-20251001")
	if got := values(f); !slices.Equal(got, []string{"none"}) {
		t.Errorf("offered: %v", got)
	}
	f.Back()
	f.Choose(otherModel)
	for id, ok := range map[string]bool{"": false, "gpt-x": false, "a b": false, "модель": false, "claude-x": true, "x": true, "claude-opus-4-6": true} {
		if _, got := f.IDHint(id); got != ok {
			t.Errorf("%q: accepted %v", id, got)
		}
	}
	f.Choose("claude-opus-4-6")
	if got := values(f); !slices.Equal(got, []string{"low", "medium", "high", "max"}) {
		t.Errorf("offered: %v", got)
	}
	f.Back()
	f.Choose("claude-x")
	if got := values(f); !slices.Equal(got, []string{"none", "low", "medium", "high", "xhigh", "max"}) {
		t.Errorf("offered for an unknown id: %v", got)
	}
}

func TestGiven(t *testing.T) {
	t.Parallel()
	stages := policy.Stages()
	all := func(id string) map[policy.Stage]string {
		m := map[policy.Stage]string{}
		for _, s := range stages {
			m[s] = id
		}
		return m
	}
	mine := policy.Default()
	mine.Deep.Reasoning = "low"

	g := Given{Provider: catalog.OpenAI, Models: all("gpt-6-astra"), Reasoning: map[policy.Stage]catalog.Reasoning{policy.Triage: "medium"}}
	p := g.Policy(configured(mine), models)
	want := policy.Policy{
		Provider: catalog.OpenAI,
		Triage:   policy.Choice{Model: "gpt-6-astra", Reasoning: "medium"}, Primary: policy.Choice{Model: "gpt-6-astra", Reasoning: "medium"},
		Deep: policy.Choice{Model: "gpt-6-astra", Reasoning: "low"}, Synthesis: policy.Choice{Model: "gpt-6-astra", Reasoning: "medium"},
	}
	if !g.Complete() || p != want {
		t.Errorf("keeps the compatible words: got %+v", p)
	}
	// Words that no longer fit give way to the default, and that to the nearest.
	mine.Deep.Reasoning = "none"
	if p := g.Policy(configured(mine), models); p.Deep.Reasoning != "high" {
		t.Errorf("got %s", p.Deep.Reasoning)
	}
	g = Given{Provider: catalog.OpenAI, Models: all("gpt-4.1")}
	if p := g.Policy(Current{Problem: errors.New("broken")}, models); p.Triage.Reasoning != "none" || len(policy.Validate(p, models)) > 0 {
		t.Errorf("got %+v", p)
	}

	// A model tells its provider; only what is missing is asked.
	g = Given{Models: map[policy.Stage]string{policy.Triage: "claude-x", policy.Primary: "m", policy.Deep: "m", policy.Synthesis: "m"}}
	f := flowOf(Current{Policy: policy.Default()}, g)
	f.Choose("en")
	if f.Screen().Kind != Confirm || f.Policy().Provider != catalog.Anthropic {
		t.Errorf("asked: %v, provider %s", f.Screen(), f.Policy().Provider)
	}
	// A word that the chosen model does not take is asked for after all.
	g = Given{Provider: catalog.OpenAI, Reasoning: map[policy.Stage]catalog.Reasoning{policy.Triage: "max", policy.Primary: "xhigh"}}
	f = flowOf(Current{Policy: policy.Default()}, g)
	f.Choose("en")
	f.Choose("gpt-4.1")
	if f.Screen() != (Screen{AskReasoning, policy.Triage}) {
		t.Errorf("asked: %v", f.Screen())
	}
	f.Choose("none")
	f.Choose("gpt-6-sol")
	if f.Screen() != (Screen{AskModel, policy.Deep}) || f.Policy().Primary.Reasoning != "xhigh" {
		t.Errorf("asked: %v, %+v", f.Screen(), f.Policy().Primary)
	}
}

func TestAFailedSaveCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	f := flowOf(Current{Policy: policy.Default()}, Given{})
	accept(t, f, Confirm)
	f.Choose(answerSave)
	f.Failed(errors.New("no"))
	if f.End() != Running || f.Trouble() == "" || f.Screen().Kind != Confirm {
		t.Errorf("end %v, trouble %q", f.End(), f.Trouble())
	}
	f.Back()
	f.Choose(selected(f))
	if f.Trouble() != "" {
		t.Error("old trouble is still told")
	}
	if f.Choose(answerSave); f.End() != Done {
		t.Errorf("ended as %v", f.End())
	}
}

func TestUserModelsAreOffered(t *testing.T) {
	t.Parallel()
	m := models.With([]catalog.Model{
		{ID: "gpt-new", Provider: catalog.OpenAI, Menu: true, Reasoning: []catalog.Reasoning{"low", "high"}, Label: map[string]string{"ru": "новая"}},
		{ID: "gpt-6-sol", Provider: catalog.OpenAI, Reasoning: []catalog.Reasoning{"low"}},
	})
	f := NewFlow(locales.New(locales.En), m, Current{Policy: policy.Default()}, Given{}, false)
	f.Choose("en")
	f.Choose("openai")
	f.Choose(wayStages)
	options, _ := f.Options()
	i := slices.IndexFunc(options, func(o Option) bool { return o.Value == "gpt-new" })
	if i < 0 || options[i].Note != "новая" {
		t.Errorf("offered: %+v", options)
	}
	if slices.ContainsFunc(options, func(o Option) bool { return o.Value == "gpt-6-sol" }) {
		t.Error("a model that the user took out of the menu is offered")
	}
	f.Choose("gpt-new")
	if got := values(f); !slices.Equal(got, []string{"low", "high"}) || selected(f) != "high" {
		t.Errorf("offered: %v, preselected %s", got, selected(f))
	}
}

// Whatever is given and answered, the steps are counted one by one and their number stands, but for
// the quick way, which leads to the last step.
func TestStepsAreCountedOneByOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	all := models.All()
	for range 1000 {
		var given Given
		if r.IntN(3) > 0 {
			given = Given{Models: map[policy.Stage]string{}, Reasoning: map[policy.Stage]catalog.Reasoning{}}
			if r.IntN(2) == 0 {
				given.Provider = catalog.Providers()[r.IntN(2)]
			}
			for _, s := range policy.Stages() {
				if r.IntN(4) == 0 {
					given.Models[s] = all[r.IntN(len(all))].ID
				}
				if words := catalog.ReasoningWords(); r.IntN(3) == 0 {
					given.Reasoning[s] = words[r.IntN(len(words))]
				}
			}
		}
		current := Current{Policy: policy.Default()}
		if r.IntN(2) == 0 {
			current = configured(policy.Recommended(catalog.Providers()[r.IntN(2)], models))
		}
		f := flowOf(current, given)
		for f.Screen().Kind != Confirm {
			before, total := f.Step()
			from, answer := f.Screen(), "my-own"
			if options, _ := f.Options(); options != nil {
				answer = options[r.IntN(len(options))].Value
			}
			if f.Choose(answer); f.End() != Running {
				break
			}
			step, of := f.Step()
			more := f.Screen().Kind == AskID || f.Screen().Kind == AskReasoning // may belong to the step before
			quick := f.Screen().Kind == Confirm && f.way != wayStages
			if !quick && (of != total || step != before+1 && (step != before || !more)) {
				t.Fatalf("%+v: %q at %v leads from step %d of %d to step %d of %d (%v)", given, answer, from, before, total, step, of, f.Screen())
			}
		}
	}
}
