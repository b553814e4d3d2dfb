// Package setup asks a person for a model policy: on a full screen (Wizard) or
// line by line (Prompt). Both ask the questions of one Flow and differ only in
// how they look.
package setup

import (
	"slices"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/locales"
)

// Current is the policy file as setup finds it.
type Current struct {
	Path       string
	Configured bool          // there is a file
	Problem    error         // why the file can't be used; nil when it can
	Policy     policy.Policy // what is in force; without a file the default, with an unusable one nothing
	ModelsErr  error         // why the user's models file can't be used
	ModelsPath string
}

// Usable reports whether Policy may be compared with and started from.
func (c Current) Usable() bool { return c.Problem == nil }

// Given is what the command line has answered already.
type Given struct {
	Provider  catalog.Provider
	Models    map[policy.Stage]string
	Reasoning map[policy.Stage]catalog.Reasoning
}

// Any reports whether anything is given.
func (g Given) Any() bool { return g.Provider != "" || len(g.Models) > 0 || len(g.Reasoning) > 0 }

// Complete reports whether nothing has to be asked.
func (g Given) Complete() bool { return g.Provider != "" && len(g.Models) == len(policy.Stages()) }

// Policy returns the policy that g, which must be complete, stands for. A stage
// without reasoning keeps the current word if its model takes it, else gets the
// stage's default or the nearest to it.
func (g Given) Policy(current Current, m *catalog.Models) policy.Policy {
	return g.over(policy.Policy{Provider: g.Provider}, current, m)
}

// over lays what is given over p.
func (g Given) over(p policy.Policy, current Current, m *catalog.Models) policy.Policy {
	for _, s := range policy.Stages() {
		c := p.Stage(s)
		if model, ok := g.Models[s]; ok {
			words, _ := m.ReasoningFor(p.Provider, model)
			want := s.DefaultReasoning()
			if current.Usable() && current.Configured && slices.Contains(words, current.Policy.Stage(s).Reasoning) {
				want = current.Policy.Stage(s).Reasoning
			}
			c = policy.Choice{Model: model, Reasoning: policy.Nearest(words, want)}
		}
		if r, ok := g.Reasoning[s]; ok {
			c.Reasoning = r
		}
		p.SetStage(s, c)
	}
	return p
}

// fits reports whether no given model belongs to another provider than p.
func (g Given) fits(p catalog.Provider, m *catalog.Models) bool {
	for _, model := range g.Models {
		if owner, ok := m.Owner(model); ok && owner != p {
			return false
		}
	}
	return true
}

// Kind is what a screen asks for.
type Kind uint8

// The kinds of screens, in the order in which they come.
const (
	AskLanguage  Kind = iota
	AskProvider       // whose models
	AskWay            // the recommended set, the current policy, or stage by stage
	AskModel          // a stage's model
	AskID             // a stage's model by its exact id
	AskReasoning      // a stage's reasoning
	Confirm           // the whole policy, before it is saved
)

// Screen is one question.
type Screen struct {
	Kind  Kind
	Stage policy.Stage // of AskModel, AskID and AskReasoning
}

// The answers that are no names of things.
const (
	wayRecommended = "recommended"
	wayCurrent     = "current"
	wayStages      = "stages"

	otherModel = "?" // no model id

	answerSave   = "save"
	answerChange = "change"
	answerLeave  = "leave"
)

// End is how a flow ended.
type End uint8

// The ends.
const (
	Running End = iota
	Left        // the person left; nothing is to be written
	Kept        // the current policy stays; nothing is to be written
	Done        // the policy is to be saved
)

// Flow is the conversation: which question is asked, what was answered so far.
// It does no input or output.
type Flow struct {
	*locales.Printer // changes with the answer to the first question
	Current          Current
	DryRun           bool
	models           *catalog.Models
	given            Given

	at    Screen
	trail []Screen // the screens before this one
	end   End

	provider catalog.Provider
	way      string
	drafts   map[catalog.Provider]*policy.Policy
	byHand   map[policy.Stage]bool   // the stage's model is typed
	typed    map[policy.Stage]string // what was typed as an id, valid or not
	problem  error                   // why saving failed
}

// NewFlow starts a conversation in the language of p about what is not given.
func NewFlow(p *locales.Printer, m *catalog.Models, current Current, given Given, dryRun bool) *Flow {
	f := &Flow{
		Printer: p, Current: current, DryRun: dryRun, models: m, given: given,
		drafts: map[catalog.Provider]*policy.Policy{},
		byHand: map[policy.Stage]bool{}, typed: map[policy.Stage]string{},
	}
	for _, provider := range catalog.Providers() {
		draft := policy.Recommended(provider, m)
		if f.currentFits(provider) {
			draft = current.Policy
		}
		draft = given.over(draft, current, m)
		f.drafts[provider] = &draft
	}
	f.provider = f.providers()[0]
	if current.Usable() && slices.Contains(f.providers(), current.Policy.Provider) {
		f.provider = current.Policy.Provider
	}
	f.way = f.ways()[0]
	return f
}

// currentFits reports whether the current policy is usable and of that provider.
func (f *Flow) currentFits(p catalog.Provider) bool {
	return f.Current.Usable() && f.Current.Policy.Provider == p
}

// providers returns the providers to choose from; at least one.
func (f *Flow) providers() []catalog.Provider {
	if f.given.Provider != "" {
		return []catalog.Provider{f.given.Provider}
	}
	var out []catalog.Provider
	for _, p := range catalog.Providers() {
		if f.given.fits(p, f.models) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return catalog.Providers()
	}
	return out
}

// ways returns how a policy can be chosen now, the likeliest first.
func (f *Flow) ways() []string {
	switch {
	case f.given.Any():
		return []string{wayStages}
	case f.currentFits(f.provider) && f.Current.Configured:
		return []string{wayCurrent, wayRecommended, wayStages}
	}
	return []string{wayRecommended, wayStages}
}

// screens returns the whole way through the questions as the answers stand now.
func (f *Flow) screens() []Screen {
	list := []Screen{{Kind: AskLanguage}}
	if len(f.providers()) > 1 {
		list = append(list, Screen{Kind: AskProvider})
	}
	if len(f.ways()) > 1 {
		list = append(list, Screen{Kind: AskWay})
	}
	if f.way == wayStages {
		for _, s := range policy.Stages() {
			if _, given := f.given.Models[s]; given {
				continue
			}
			list = append(list, Screen{AskModel, s})
			if f.byHand[s] {
				list = append(list, Screen{AskID, s})
			}
			if given, ok := f.given.Reasoning[s]; !ok || !slices.Contains(f.words(s), given) {
				list = append(list, Screen{AskReasoning, s})
			}
		}
	}
	return append(list, Screen{Kind: Confirm})
}

// Screen returns the question that is asked now.
func (f *Flow) Screen() Screen { return f.at }

// End returns how the flow ended, Running while it goes on.
func (f *Flow) End() End { return f.end }

// Step returns where the person is: the number of this step and of all. What is
// asked only because of an answer, an id or a word in the place of a given one
// that the model does not take, belongs to the step of the model. So no answer
// changes the numbers but one: until it is decided that the quick way is taken,
// the steps of the long one count.
func (f *Flow) Step() (step, total int) {
	list := f.screens()
	if f.at.Kind <= AskWay && f.way != wayStages {
		list = (&Flow{Current: f.Current, models: f.models, given: f.given, provider: f.provider, drafts: f.drafts, way: wayStages}).screens()
	}
	for _, s := range list {
		_, given := f.given.Reasoning[s.Stage]
		if s.Kind != AskID && (s.Kind != AskReasoning || !given) {
			total++
		}
		if s == f.at {
			step = total
		}
	}
	return step, total
}

// Progress says where the person is.
func (f *Flow) Progress() string {
	step, total := f.Step()
	if step == total {
		return f.T("setup.last-step")
	}
	return f.T("setup.step", locales.Vars{"Step": step, "Total": total})
}

// Policy returns the policy as the answers stand now.
func (f *Flow) Policy() policy.Policy {
	switch f.way {
	case wayRecommended:
		return policy.Recommended(f.provider, f.models)
	case wayCurrent:
		return f.Current.Policy
	}
	return *f.drafts[f.provider]
}

// Unchanged reports whether the policy on disk is the one that was chosen.
func (f *Flow) Unchanged() bool {
	return f.Current.Usable() && f.Current.Configured && f.Current.Policy == f.Policy()
}

// Models returns the catalogue.
func (f *Flow) Models() *catalog.Models { return f.models }

// Option is one of the answers to choose from.
type Option struct {
	Value string
	Name  string // the first column: an id, a word, a phrase
	Note  string // the second column; may be empty
	Mark  string // "current" or the like; may be empty
}

// Options returns the answers to the current question, none where text is
// asked for, and the index of the preselected one.
func (f *Flow) Options() (options []Option, selected int) {
	want := ""
	switch s := f.at; s.Kind {
	case AskLanguage:
		options, want = f.languages(), f.Lang().String()
	case AskProvider:
		options, want = f.providerOptions(), string(f.provider)
	case AskWay:
		options, want = f.wayOptions(), f.way
	case AskModel:
		options, want = f.modelOptions(s.Stage), f.draft().Stage(s.Stage).Model
		if f.byHand[s.Stage] {
			want = otherModel
		}
	case AskReasoning:
		options, want = f.reasoningOptions(s.Stage), string(f.draft().Stage(s.Stage).Reasoning)
	case Confirm:
		options, want = f.confirmOptions(), answerSave
	}
	for i, o := range options {
		if o.Value == want {
			selected = i
		}
	}
	return options, selected
}

func (f *Flow) draft() *policy.Policy { return f.drafts[f.provider] }

// Typed returns the text of the id that is being typed.
func (f *Flow) Typed() string { return f.typed[f.at.Stage] }

// Type keeps the text of the id that is being typed, whether or not it is valid.
func (f *Flow) Type(text string) { f.typed[f.at.Stage] = text }

// CheckID returns what is wrong with a typed id, nil if nothing is.
func (f *Flow) CheckID(id string) *policy.Problem {
	p := policy.Policy{Provider: f.provider}
	p.SetStage(f.at.Stage, policy.Choice{Model: id})
	for _, problem := range policy.Validate(p, f.models) {
		if problem.Field == f.at.Stage.ModelField() {
			return &problem
		}
	}
	return nil
}

// Choose answers the current question and goes on to the next. The answer must
// be one of Options, or an id that passes CheckID.
func (f *Flow) Choose(value string) {
	f.problem = nil
	switch s := f.at; s.Kind {
	case AskLanguage:
		if lang, ok := locales.Parse(value); ok {
			f.Printer = locales.New(lang)
		}
	case AskProvider:
		if p := catalog.Provider(value); p != f.provider {
			f.provider = p
			f.byHand = map[policy.Stage]bool{}
			f.way = f.ways()[0]
		}
	case AskWay:
		f.way = value
		if value == wayCurrent {
			f.end = Kept
			return
		}
	case AskModel:
		if f.byHand[s.Stage] = value == otherModel; !f.byHand[s.Stage] {
			f.setModel(s.Stage, value)
		}
	case AskID:
		f.typed[s.Stage] = value
		f.setModel(s.Stage, value)
	case AskReasoning:
		c := f.draft().Stage(s.Stage)
		c.Reasoning = catalog.Reasoning(value)
		f.draft().SetStage(s.Stage, c)
	case Confirm:
		switch value {
		case answerSave:
			f.end = Done
			if f.Unchanged() && !f.DryRun {
				f.end = Kept
			}
		case answerLeave:
			f.Leave()
		default:
			f.Back()
		}
		return
	}
	list := f.screens()
	next := list[slices.Index(list, f.at)+1]
	f.trail = append(f.trail, f.at)
	f.at = next
}

// setModel gives a stage another model, and the reasoning word of it that is
// nearest to what the stage had.
func (f *Flow) setModel(s policy.Stage, model string) {
	c := f.draft().Stage(s)
	c.Model = model
	f.draft().SetStage(s, c)
	if given, ok := f.given.Reasoning[s]; ok {
		c.Reasoning = given
	}
	c.Reasoning = policy.Nearest(f.words(s), c.Reasoning)
	f.draft().SetStage(s, c)
}

// words returns the reasoning words that the stage's model takes.
func (f *Flow) words(s policy.Stage) []catalog.Reasoning {
	words, _ := f.models.ReasoningFor(f.provider, f.draft().Stage(s).Model)
	return words
}

// Back returns to the question before, keeping all answers, and reports whether
// there is one.
func (f *Flow) Back() bool {
	if len(f.trail) == 0 {
		return false
	}
	f.problem = nil
	f.at = f.trail[len(f.trail)-1]
	f.trail = f.trail[:len(f.trail)-1]
	return true
}

// Leave ends the flow without a policy.
func (f *Flow) Leave() { f.end = Left }

// Failed takes the flow back to the last screen because the policy could not be
// saved.
func (f *Flow) Failed(err error) {
	f.end, f.problem = Running, err
}
