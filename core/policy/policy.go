// Package policy is the model policy: which model, with how much reasoning, each
// stage of a review gets. It reads, checks and writes the policy file and tells
// a running server when that file has changed.
package policy

import (
	"encoding/json"

	"github.com/qa-orch/qa-orch/core/catalog"
)

// Stage is a part of a review that gets its own model.
type Stage string

// The stages, in the order of a review.
const (
	Triage    Stage = "triage"
	Primary   Stage = "primary"
	Deep      Stage = "deep"
	Synthesis Stage = "synthesis"
)

var stages = []Stage{Triage, Primary, Deep, Synthesis}

// Stages returns every stage in the order of a review.
func Stages() []Stage { return stages }

// ModelField is the name of the stage's model in the policy file.
func (s Stage) ModelField() string { return string(s) + "_model" }

// ReasoningField is the name of the stage's reasoning in the policy file.
func (s Stage) ReasoningField() string { return string(s) + "_reasoning" }

// DefaultReasoning is what a missing reasoning field of the stage means.
func (s Stage) DefaultReasoning() catalog.Reasoning {
	switch s {
	case Triage:
		return catalog.ReasoningMax
	case Deep:
		return catalog.ReasoningHigh
	default:
		return catalog.ReasoningMedium
	}
}

// Choice is a model and how much it should reason.
type Choice struct {
	Model     string
	Reasoning catalog.Reasoning
}

// Policy is what new sessions get. The zero value is no valid policy.
type Policy struct {
	Provider  catalog.Provider
	Triage    Choice
	Primary   Choice
	Deep      Choice
	Synthesis Choice
}

// Default is the policy where there is no file.
func Default() Policy {
	p := Policy{Provider: catalog.OpenAI}
	for _, s := range stages {
		c := Choice{Model: "gpt-6-sol", Reasoning: s.DefaultReasoning()}
		if s == Triage {
			c.Model = "gpt-6-luna"
		}
		*p.at(s) = c
	}
	return p
}

func (p *Policy) at(s Stage) *Choice {
	switch s {
	case Triage:
		return &p.Triage
	case Primary:
		return &p.Primary
	case Deep:
		return &p.Deep
	case Synthesis:
		return &p.Synthesis
	}
	panic("policy: unknown stage " + string(s))
}

// Stage returns the choice for s.
func (p Policy) Stage(s Stage) Choice { return *p.at(s) }

// SetStage replaces the choice for s.
func (p *Policy) SetStage(s Stage, c Choice) { *p.at(s) = c }

// Assignment is what a session tells its host about the model of the step that
// is due. The zero value means that no stage is due.
type Assignment struct {
	Provider  catalog.Provider  `json:"provider"`
	Model     string            `json:"model"`
	Reasoning catalog.Reasoning `json:"reasoning"`
	// Verified is true when the catalogue knows the model's reasoning words for certain.
	Verified bool `json:"reasoning_capabilities_verified"`
}

// Assign returns the assignment of stage s under the catalogue m.
func (p Policy) Assign(s Stage, m *catalog.Models) Assignment {
	c := p.Stage(s)
	_, verified := m.ReasoningFor(p.Provider, c.Model)
	return Assignment{Provider: p.Provider, Model: c.Model, Reasoning: c.Reasoning, Verified: verified}
}

// fileShape has the policy file's keys in the file's order.
type fileShape struct {
	Provider           catalog.Provider  `json:"provider"`
	TriageModel        string            `json:"triage_model"`
	PrimaryModel       string            `json:"primary_model"`
	DeepModel          string            `json:"deep_model"`
	SynthesisModel     string            `json:"synthesis_model"`
	TriageReasoning    catalog.Reasoning `json:"triage_reasoning"`
	PrimaryReasoning   catalog.Reasoning `json:"primary_reasoning"`
	DeepReasoning      catalog.Reasoning `json:"deep_reasoning"`
	SynthesisReasoning catalog.Reasoning `json:"synthesis_reasoning"`
}

// MarshalJSON writes the policy with the keys of its file, in their order.
func (p Policy) MarshalJSON() ([]byte, error) {
	return json.Marshal(fileShape{
		Provider:    p.Provider,
		TriageModel: p.Triage.Model, PrimaryModel: p.Primary.Model,
		DeepModel: p.Deep.Model, SynthesisModel: p.Synthesis.Model,
		TriageReasoning: p.Triage.Reasoning, PrimaryReasoning: p.Primary.Reasoning,
		DeepReasoning: p.Deep.Reasoning, SynthesisReasoning: p.Synthesis.Reasoning,
	})
}

// Encode returns the bytes of the policy's file.
func (p Policy) Encode() []byte {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		panic("policy: " + err.Error()) // strings always marshal
	}
	return append(data, '\n')
}
