package model

import "strings"

// policyFile is something that can stand where the policy is read from.
type policyFile struct {
	name   string
	text   string // what is in the file; there is none when it is empty
	stages map[string]assignment
	valid  bool
}

// assign is policyOf for session.advance.
func (p *policyFile) assign(stage string) (assignment, bool) {
	if p == nil {
		return assignment{}, false
	}
	return p.stages[stage], true
}

func stages(triage, primary, deep, synthesis assignment) map[string]assignment {
	return map[string]assignment{"triage": triage, "primary": primary, "deep": deep, "synthesis": synthesis}
}

// drawPolicy draws one: a valid one, often.
func drawPolicy(d dice) *policyFile {
	const valid = 3
	if oneIn(d, 3, "broken") {
		return pick(d, policyFiles[valid:], "policy")
	}
	return pick(d, policyFiles[:valid], "policy")
}

// policyFiles are section 9 by example. The first is no file at all, the first three are
// valid.
var policyFiles = []*policyFile{
	{
		name: "none", valid: true,
		stages: stages(
			assignment{"openai", "gpt-6-luna", "max", true}, assignment{"openai", "gpt-6-sol", "medium", true},
			assignment{"openai", "gpt-6-sol", "high", true}, assignment{"openai", "gpt-6-sol", "medium", true}),
	},
	{
		name: "anthropic", valid: true,
		text: `{"provider": "anthropic",
			"triage_model": "claude-haiku-4-5-20251001", "primary_model": "claude-opus-5-5", "deep_model": "claude-fable-5-1", "synthesis_model": "my-own.model_1",
			"triage_reasoning": "none", "primary_reasoning": "low", "deep_reasoning": "xhigh", "synthesis_reasoning": "none"}`,
		stages: stages(
			assignment{"anthropic", "claude-haiku-4-5-20251001", "none", true}, assignment{"anthropic", "claude-opus-5-5", "low", true},
			assignment{"anthropic", "claude-fable-5-1", "xhigh", true}, assignment{"anthropic", "my-own.model_1", "none", false}),
	},
	{
		name: "openai, reasoning left out, byte-order mark and CRLF", valid: true,
		text: "\uFEFF" + strings.ReplaceAll(`{
			"provider": "openai",
			"triage_model": "gpt-6-astra", "primary_model": "gpt-5.4-mini", "deep_model": "local", "synthesis_model": "gpt-5.6-terra"
		}`, "\n", "\r\n"),
		stages: stages(
			assignment{"openai", "gpt-6-astra", "max", true}, assignment{"openai", "gpt-5.4-mini", "medium", true},
			assignment{"openai", "local", "high", false}, assignment{"openai", "gpt-5.6-terra", "medium", true}),
	},
	{name: "cut off", text: `{"provider": "openai", "triage_model": "gpt-6-`},
	{name: "a field twice", text: `{"provider": "openai", "provider": "openai", "triage_model": "gpt-6-sol", "primary_model": "gpt-6-sol", "deep_model": "gpt-6-sol", "synthesis_model": "gpt-6-sol"}`},
	{name: "a field too many", text: `{"provider": "openai", "triage_model": "gpt-6-sol", "primary_model": "gpt-6-sol", "deep_model": "gpt-6-sol", "synthesis_model": "gpt-6-sol", "api_key": "x"}`},
	{name: "the other provider's model", text: `{"provider": "anthropic", "triage_model": "gpt-6-sol", "primary_model": "claude-opus-5", "deep_model": "claude-opus-5", "synthesis_model": "claude-opus-5"}`},
	{name: "a word that the model does not take", text: `{"provider": "openai", "triage_model": "gpt-5.5", "primary_model": "gpt-6-sol", "deep_model": "gpt-6-sol", "synthesis_model": "gpt-6-sol"}`},
	{name: "a model missing", text: `{"provider": "openai", "triage_model": "gpt-6-sol", "primary_model": "gpt-6-sol", "deep_model": "gpt-6-sol"}`},
}
