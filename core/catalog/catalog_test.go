package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each table here is copied from the contract, not from the code.

func TestTaskTypes(t *testing.T) {
	t.Parallel()
	want := []struct{ task, bundles string }{
		{"ordinary_review", "[ordinary_mr]"},
		{"widget_review", "[widget widget_js]"},
		{"epic_analysis", "[requirements]"},
		{"requirements_analysis", "[requirements]"},
		{"qa_planning", "[requirements]"},
		{"autotest_implementation", "[autotest ordinary_mr]"},
		{"other", "[]"},
	}
	if len(TaskTypes()) != len(want) {
		t.Fatalf("%v", TaskTypes())
	}
	for i, w := range want {
		task := TaskTypes()[i]
		if string(task) != w.task || !task.Valid() {
			t.Errorf("%d is %s, want %s", i, task, w.task)
		}
		if got := fmt.Sprint(task.Recommended()); got != w.bundles || task.Recommended() == nil {
			t.Errorf("%s recommends %s, want %s", task, got, w.bundles)
		}
	}
	for _, bad := range []TaskType{"", "Other", "other "} {
		if bad.Valid() || bad.Recommended() == nil || len(bad.Recommended()) != 0 {
			t.Errorf("%q passes", bad)
		}
	}
}

func TestBundles(t *testing.T) {
	t.Parallel()
	want := []struct{ bundle, profiles string }{
		{"ordinary_mr", "[code_explorer code_reviewer pr_test_analyzer]"},
		{"widget", "[code_explorer react_reviewer typescript_reviewer pr_test_analyzer]"},
		{"widget_js", "[code_explorer code_reviewer react_reviewer pr_test_analyzer]"},
		{"ruby_backend", "[code_explorer ruby_reviewer pr_test_analyzer]"},
		{"python_backend", "[code_explorer python_reviewer pr_test_analyzer]"},
		{"mobile", "[code_explorer mobile_reviewer pr_test_analyzer]"},
		{"security", "[code_explorer security_reviewer silent_failure_hunter]"},
		{"autotest", "[code_reviewer pr_test_analyzer typescript_reviewer]"},
		{"requirements", "[code_explorer code_reviewer]"},
	}
	if len(Bundles()) != len(want) {
		t.Fatalf("%v", Bundles())
	}
	for i, w := range want {
		if b := Bundles()[i]; string(b) != w.bundle || !b.Valid() || fmt.Sprint(b.Profiles()) != w.profiles {
			t.Errorf("%d is %s with %v, want %s with %s", i, b, b.Profiles(), w.bundle, w.profiles)
		}
	}
	if bad := Bundle("Widget"); bad.Valid() || bad.Profiles() != nil {
		t.Error("an unknown bundle passes")
	}
}

func TestProfilesAndChecklists(t *testing.T) {
	t.Parallel()
	full := "[Scope Finding Candidates Coverage Gaps Unverified]"
	sections := map[Kind]string{
		"evidence": "[Scope Evidence Map Unverified]", "test_analysis": "[Scope Coverage Gaps Unverified]",
		"implementation": full, "specialist": full,
	}
	want := []struct {
		profile, name string
		kind          Kind
		focus         []string // what the focus must cover
	}{
		{"pr_test_analyzer", "Test Analyzer", "test_analysis", []string{"happy path", "negative", "edge", "integration", "assertion", "gaps only"}},
		{"code_reviewer", "Code Reviewer", "implementation", []string{"changed surface", "failure modes", "contracts", "evidence map", "not repeat"}},
		{"security_reviewer", "Security Reviewer", "specialist", []string{
			"authentication", "authorization", "input validation", "secrets", "data exposure", "dependencies", "payment", "webhook", "privacy", "access control",
		}},
		{"silent_failure_hunter", "Silent Failure Hunter", "specialist", []string{"swallowed", "fallback", "propagation", "timeout", "rollback", "logs"}},
		{"code_explorer", "Faraday — Evidence Investigator", "evidence", []string{
			"execution path", "callers", "dependencies", "data flow", "boundaries", "never diagnose",
		}},
		{"typescript_reviewer", "TypeScript Reviewer", "specialist", []string{"types", "async", "error contracts", "narrowing", "unsafe casts"}},
		{"react_reviewer", "React Reviewer", "specialist", []string{"state", "rendering branch", "effects", "screen-reader", "user sees"}},
		{"ruby_reviewer", "Ruby Reviewer", "specialist", []string{
			"nil", "truthiness", "mutators", "block contracts", "rescue", "ensure", "ActiveRecord", "Sequel", "Sidekiq", "No style", "test framework",
		}},
		{"python_reviewer", "Python Reviewer", "specialist", []string{
			"None", "truthiness", "exceptions", "cancellation", "clean-up", "mutable defaults", "validation", "serialization", "MCP", "tool schemas", "error mapping",
		}},
		{"mobile_reviewer", "Mobile Reviewer", "specialist", []string{
			"lifecycle", "navigation", "deep links", "permissions", "native bridges", "background", "parity", "Never infer device behaviour from unit tests",
		}},
	}
	if len(Profiles()) != len(want) {
		t.Fatalf("%v", Profiles())
	}
	signals := map[string]bool{}
	for i, w := range want {
		p := Profiles()[i]
		c, ok := p.Checklist()
		if !ok || !p.Valid() || string(p) != w.profile || c.Profile != p || c.DisplayName != w.name || c.Kind != w.kind {
			t.Errorf("%d is %s: %+v, want %+v", i, p, c, w)
		}
		if fmt.Sprint(p.Route()) != "["+w.profile+"]" {
			t.Errorf("%s is routed to %v", p, p.Route())
		}
		if got := fmt.Sprint(c.RequiredSections); got != sections[w.kind] {
			t.Errorf("%s requires %s, want %s", p, got, sections[w.kind])
		}
		for _, topic := range w.focus {
			if !strings.Contains(strings.ToLower(c.Focus), strings.ToLower(topic)) {
				t.Errorf("the focus of %s does not cover %q: %s", p, topic, c.Focus)
			}
		}
		if n := len(c.EscalationSignals); n < 2 || n > 3 {
			t.Errorf("%s has %d escalation signals", p, n)
		}
		for _, s := range c.EscalationSignals {
			if signals[s] || !strings.HasSuffix(s, ".") {
				t.Errorf("%s: signal not of its own, or no sentence: %s", p, s)
			}
			signals[s] = true
		}
		all := strings.Join(c.Constraints, "\n")
		for _, topic := range []string{"evidence", "E1, E2", "F-01, F-02", "coverage gaps", "severity", "priority", "root cause", "release or merge readiness", "no external writes"} {
			if !strings.Contains(all, topic) {
				t.Errorf("the constraints do not say %q", topic)
			}
		}
	}
	bad := Profile("Code_Reviewer")
	if _, ok := bad.Checklist(); ok || bad.Valid() || bad.Route() != nil {
		t.Error("an unknown profile passes")
	}
}

const (
	fiveWords = "[low medium high xhigh max]"
	sixWords  = "[none low medium high xhigh max]"
)

func TestBuiltinModels(t *testing.T) {
	t.Parallel()
	want := []struct {
		provider, id string
		menu         bool
		words        string
	}{
		{"openai", "gpt-6-astra", true, fiveWords},
		{"openai", "gpt-6.1-sol", true, fiveWords},
		{"openai", "gpt-6-sol", true, sixWords},
		{"openai", "gpt-6-luna", true, sixWords},
		{"openai", "gpt-5.6-sol", true, sixWords},
		{"openai", "gpt-5.6-terra", true, sixWords},
		{"openai", "gpt-5.6-luna", true, sixWords},
		{"openai", "gpt-4.1", true, "[none]"},
		{"openai", "gpt-5.5", false, "[none low medium high xhigh]"},
		{"openai", "gpt-5.4", false, "[none low medium high xhigh]"},
		{"openai", "gpt-5.4-mini", false, "[none low medium high xhigh]"},
		{"openai", "gpt-5.4-nano", false, "[none low medium high xhigh]"},
		{"anthropic", "claude-fable-5-1", true, fiveWords},
		{"anthropic", "claude-opus-5-5", true, fiveWords},
		{"anthropic", "claude-opus-5", true, fiveWords},
		{"anthropic", "claude-sonnet-5", true, fiveWords},
		{"anthropic", "claude-haiku-4-5-20251001", true, "[none]"},
		{"anthropic", "claude-opus-4-8", false, fiveWords},
		{"anthropic", "claude-opus-4-7", false, fiveWords},
		{"anthropic", "claude-opus-4-6", false, "[low medium high max]"},
		{"anthropic", "claude-sonnet-4-6", false, "[low medium high max]"},
	}
	m := Builtin()
	if len(m.All()) != len(want) {
		t.Fatalf("%d models, want %d", len(m.All()), len(want))
	}
	menus := map[Provider][]string{}
	for i, w := range want {
		e := m.All()[i]
		if string(e.Provider) != w.provider || e.ID != w.id || e.Menu != w.menu || fmt.Sprint(e.Reasoning) != w.words || e.User {
			t.Errorf("%d is %+v, want %+v", i, e, w)
		}
		if e.Label["en"] == "" || e.Label["ru"] == "" {
			t.Errorf("%s has no label", e.ID)
		}
		words, verified := m.ReasoningFor(e.Provider, e.ID)
		if fmt.Sprint(words) != w.words || !verified {
			t.Errorf("%s takes %v, verified %v", e.ID, words, verified)
		}
		if w.menu {
			menus[e.Provider] = append(menus[e.Provider], w.id)
		}
	}
	for _, p := range Providers() {
		var got []string
		for _, e := range m.Menu(p) {
			got = append(got, e.ID)
		}
		if !slices.Equal(got, menus[p]) {
			t.Errorf("the menu of %s is %v", p, got)
		}
	}
	if got := m.Reviewed; !got.Equal(time.Date(2026, 9, 28, 0, 0, 0, 0, time.UTC)) || m.Source == "" {
		t.Errorf("reviewed %v, source %q", got, m.Source)
	}
}

func TestUnknownModels(t *testing.T) {
	t.Parallel()
	m := Builtin()
	for _, tc := range []struct {
		provider Provider
		id       string
		words    string
	}{
		{OpenAI, "gpt-9", "[none minimal low medium high xhigh max]"},
		{Anthropic, "claude-9", sixWords},
		{OpenAI, "house-model", "[none minimal low medium high xhigh max]"},
		{Anthropic, "house-model", sixWords},
		{Anthropic, "gpt-6-sol", sixWords}, // known, but not under this provider
		{OpenAI, "GPT-6-sol", "[none minimal low medium high xhigh max]"},
	} {
		if words, verified := m.ReasoningFor(tc.provider, tc.id); fmt.Sprint(words) != tc.words || verified {
			t.Errorf("%s under %s: %v, verified %v", tc.id, tc.provider, words, verified)
		}
	}
	for id, owner := range map[string]Provider{
		"gpt-6-sol": OpenAI, "gpt-": OpenAI, "gpt-x": OpenAI, "chatgpt-x": OpenAI, "o1": OpenAI, "o3-mini": OpenAI, "o4": OpenAI, "o5x": OpenAI, "o6": OpenAI,
		"claude-opus-5": Anthropic, "claude-x": Anthropic, "anthropic.claude-x": Anthropic,
		"o2": "", "o7": "", "gpt": "", "claude": "", "anthropic": "", "my-gpt-6": "", "house-model": "", "": "",
	} {
		if got, ok := m.Owner(id); got != owner || ok != (owner != "") {
			t.Errorf("%q belongs to %q, want %q", id, got, owner)
		}
	}
	if _, ok := m.Lookup("gpt-6"); ok {
		t.Error("a prefix of an id is found")
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	if got := fmt.Sprint(ReasoningWords()); got != "[none minimal low medium high xhigh max]" {
		t.Error(got)
	}
	if got := fmt.Sprint(Providers()); got != "[openai anthropic]" {
		t.Error(got)
	}
	for _, id := range []string{"a", "0", "A.b_c-D", strings.Repeat("x", 128)} {
		if !ValidModelID(id) {
			t.Errorf("%q is refused", id)
		}
	}
	for _, id := range []string{"", "-a", ".a", "_a", "a b", "a/b", "a:b", "é", "a\n", "\na", strings.Repeat("x", 129)} {
		if ValidModelID(id) {
			t.Errorf("%q passes", id)
		}
	}
}

const house = `[[model]]
id = "house-1"
provider = "openai"
reasoning = ["max", "low", "low"]
label = { en = "ours", ru = "наша" }

[[model]]
id = "gpt-6-sol"
provider = "anthropic"
menu = false
reasoning = ["none"]
`

func TestUserModels(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain": house, "byte-order mark": "\ufeff" + house, "CRLF": strings.ReplaceAll(house, "\n", "\r\n"),
		"with source and date": "source = \"here\"\nreviewed = 2026-01-01\n" + house,
	} {
		user, err := ParseUserModels([]byte(text))
		if err != nil || len(user) != 2 {
			t.Errorf("%s: %v, %v", name, user, err)
			continue
		}
		before := len(Builtin().All())
		m := Builtin().With(user)
		added, ok := m.Lookup("house-1")
		if !ok || !added.Menu || !added.User || fmt.Sprint(added.Reasoning) != "[low max]" || added.Label["ru"] != "наша" {
			t.Errorf("%s: %+v", name, added)
		}
		replaced, _ := m.Lookup("gpt-6-sol")
		if replaced.Provider != Anthropic || replaced.Menu || !replaced.User {
			t.Errorf("%s: %+v", name, replaced)
		}
		if owner, _ := m.Owner("gpt-6-sol"); owner != Anthropic {
			t.Errorf("%s: the user's word on gpt-6-sol does not count", name)
		}
		if m.All()[2].ID != "gpt-6-sol" || m.All()[before].ID != "house-1" || m.Reviewed != Builtin().Reviewed || m.Source != Builtin().Source {
			t.Errorf("%s: order or review date lost", name)
		}
		if b, _ := Builtin().Lookup("gpt-6-sol"); b.Provider != OpenAI || len(Builtin().All()) != before {
			t.Fatal("the built-in catalogue was changed")
		}
	}
	if none, err := ParseUserModels([]byte("# nothing yet\n")); err != nil || len(none) != 0 || Builtin().With(none) != Builtin() {
		t.Errorf("%v, %v", none, err)
	}
}

func TestBrokenUserModels(t *testing.T) {
	t.Parallel()
	const secret = "sk-canary"
	entry := func(lines ...string) string { return "# a comment\n\n[[model]]\n" + strings.Join(lines, "\n") + "\n" }
	id, provider, reasoning := `id = "x"`, `provider = "openai"`, `reasoning = ["low"]`
	for name, tc := range map[string]struct {
		text  string
		code  string
		line  int
		field string
	}{
		"no id":             {entry(provider, reasoning), ProblemMissing, 3, "id"},
		"bad id":            {entry(`id = "`+secret+` x"`, provider, reasoning), ProblemValue, 3, "id"},
		"no provider":       {entry(id, reasoning), ProblemMissing, 3, "provider"},
		"bad provider":      {entry(id, `provider = "`+secret+`"`, reasoning), ProblemValue, 3, "provider"},
		"no reasoning":      {entry(id, provider), ProblemMissing, 3, "reasoning"},
		"empty reasoning":   {entry(id, provider, `reasoning = []`), ProblemMissing, 3, "reasoning"},
		"bad reasoning":     {entry(id, provider, `reasoning = ["low", "`+secret+`"]`), ProblemValue, 3, "reasoning"},
		"bad label":         {entry(id, provider, reasoning, `label = { "`+secret+`" = "x" }`), ProblemUnknown, 3, "label"},
		"twice":             {house + house, ProblemDuplicate, 12, "id"},
		"unknown key":       {entry(id, provider, reasoning, secret+` = 1`), ProblemUnknown, 7, ""},
		"unknown table":     {house + "[" + secret + "]\nx = 1\n", ProblemUnknown, 12, ""},
		"number for id":     {entry(`id = 5`, provider, reasoning), ProblemSyntax, 4, "id"},
		"text for menu":     {entry(id, provider, reasoning, `menu = "`+secret+`"`), ProblemSyntax, 7, "menu"},
		"text for reasons":  {entry(id, provider, `reasoning = "`+secret+`"`), ProblemSyntax, 6, "reasoning"},
		"no TOML":           {secret, ProblemSyntax, 1, ""},
		"unclosed string":   {entry(`id = "` + secret), ProblemSyntax, 4, ""},
		"text for label":    {entry(id, provider, reasoning, `label = 5`), ProblemSyntax, 7, "label"},
		"number in a label": {entry(id, provider, reasoning, `label = { en = 5 }`), ProblemSyntax, 7, ""},
		"table for a model": {"model = [5]\n", ProblemSyntax, 1, "model"},
		"key twice":         {entry(id, id, provider, reasoning), ProblemSyntax, 5, ""},
		"JSON":              {`{"model": []}`, ProblemSyntax, 1, ""},
		"model is no list":  {"model = 5\n", ProblemSyntax, 1, "model"},
		"a single [model]":  {"[model]\nid = \"x\"\n", ProblemMissing, 0, "provider"},
		"a NUL":             {house + "\x00", ProblemSyntax, 12, ""},
		"UTF-16":            {"\xff\xfe[\x00[\x00", ProblemSyntax, 1, ""},
		"a bad byte":        {"# \xff\n" + house, ProblemSyntax, 1, ""},
		"a bad byte inside": {entry(`id = "` + secret + "\xff\""), ProblemSyntax, 4, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseUserModels([]byte(tc.text))
			var p *FileProblem
			if !errors.As(err, &p) || got != nil {
				t.Fatalf("got %v, %v", got, err)
			}
			if p.Code != tc.code || tc.line > 0 && p.Line != tc.line || p.Field != tc.field && tc.code != ProblemSyntax {
				t.Errorf("got %+v, want %s at line %d, field %q", p, tc.code, tc.line, tc.field)
			}
			if text := err.Error(); strings.Contains(text, secret) || !strings.Contains(text, "models file") ||
				p.Line > 0 && !strings.Contains(text, fmt.Sprintf("line %d", p.Line)) {
				t.Errorf("says %q", text)
			}
		})
	}
}

// FuzzParseUserModels: any bytes are refused with a problem, or are models that
// the catalogue can hold.
func FuzzParseUserModels(f *testing.F) {
	for _, s := range []string{house, "", "[[model]]", "model = [{id='x',provider='openai',reasoning=['low']}]", "[[model]]\n[model.label]\nen='x'", "\ufeff", "a.b.c=1", "[[[", "x = 1979-05-27T07:32:00Z"} {
		f.Add([]byte(s))
	}
	f.Add(builtinTOML)
	const canary = "sk-CANARY-7f3a"
	f.Fuzz(func(t *testing.T, data []byte) {
		models, err := ParseUserModels(bytes.ReplaceAll(data, []byte("@"), []byte(canary)))
		if err != nil {
			var p *FileProblem
			if !errors.As(err, &p) || p.Line < 0 || p.Entry < 0 || p.Error() == "" || strings.Contains(p.Error(), canary) {
				t.Fatalf("odd error %v", err)
			}
			return
		}
		m := Builtin().With(models)
		for _, e := range models {
			if got, ok := m.Lookup(e.ID); !ok || !ValidModelID(e.ID) || !got.Provider.Valid() || len(got.Reasoning) == 0 {
				t.Fatalf("%+v", got)
			}
		}
	})
}
