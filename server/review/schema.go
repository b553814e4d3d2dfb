package review

import (
	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/server/tool"
)

func text(name, description string) tool.Property {
	return tool.Property{Name: name, Required: true, Schema: tool.Schema{Type: "string", Description: description}}
}

func list(name string, words []string, description string) tool.Property {
	items := &tool.Schema{Type: "string", Enum: words}
	return tool.Property{Name: name, Schema: tool.Schema{Type: "array", Items: items, Description: description}}
}

func nullable(p tool.Property) tool.Property {
	p.Nullable, p.Required = true, false
	return p
}

func yes(name, description string) tool.Property {
	return tool.Property{Name: name, Schema: tool.Schema{Type: "boolean", Const: true, Description: description}}
}

func boundaryFields() []tool.Property {
	return []tool.Property{
		yes("read_only", "Always true: nothing outside the session's own state is ever written."),
		yes("host_owns_decisions", "Always true: severity, readiness and outcome are the host's to decide."),
	}
}

func checklistSchema() tool.Schema {
	words := func(name, description string) tool.Property {
		p := list(name, nil, description)
		p.Required = true
		return p
	}
	return tool.Schema{Type: "object", Properties: append([]tool.Property{
		enum("profile", true, tool.Strings(catalog.Profiles()), "The profile."),
		text("display_name", "Its name for people."),
		text("focus", "What to look at, and what not."),
		words("required_sections", "Sections that the profile's answer must have, in this order."),
		words("constraints", "Rules that hold for every profile."),
		words("escalation_signals", "Conditions to weigh against the evidence; none is a trigger by itself."),
	}, boundaryFields()...)}
}

// sessionSchema fits every state of a session.
func sessionSchema() tool.Schema {
	profiles, bundles := tool.Strings(catalog.Profiles()), tool.Strings(catalog.Bundles())
	id := runID("Identifies the session in every later call.")
	expires := text("expires_at", "When the session ends unless it is moved on: RFC 3339, UTC.")
	expires.Format = "date-time"
	policy := nullable(tool.Property{Name: "model_policy", Schema: tool.Schema{
		Type: "object", Description: "Model and reasoning for the step that is due; null when none is.",
		Properties: []tool.Property{
			enum("provider", true, tool.Strings(catalog.Providers()), "Vendor of the model."),
			text("model", "Exact model id."),
			enum("reasoning", true, tool.Strings(catalog.ReasoningWords()), "How much to reason; none means: switch it off or leave the parameter out."),
			{Name: "reasoning_capabilities_verified", Required: true, Schema: tool.Schema{
				Type: "boolean", Description: "Whether the catalogue knows for certain that the model takes this word.",
			}},
		},
	}})
	zero := 0
	deep := nullable(tool.Property{Name: "deep_assessment", Schema: tool.Schema{
		Type: "object", Description: "Whether a deep review is due, by fixed rules from the risk signals; null before the last profile is done.",
		Properties: []tool.Property{
			{Name: "should_escalate", Required: true, Schema: tool.Schema{Type: "boolean"}},
			list("triggered_rules", tool.Strings(review.Rules()), "Rules that matched, in order."),
			list("reason_codes", tool.Strings(review.Reasons()), "Why, in order."),
			{Name: "complexity_signal_count", Required: true, Schema: tool.Schema{Type: "integer", Minimum: &zero}},
		},
	}})
	return tool.Schema{Type: "object", Properties: append([]tool.Property{
		id,
		enum("task_type", true, tool.Strings(catalog.TaskTypes()), "What the review was started for."),
		enum("status", true, tool.Strings(review.Statuses()), "Where the session stands as a whole."),
		enum("current_step", true, tool.Strings(review.Steps()), "The step that is due or, after an early stop, the one it stopped at."),
		list("allowed_profiles", profiles, "Profiles that triage may choose."),
		list("allowed_bundles", bundles, "Bundles that triage may choose."),
		list("recommended_bundles", bundles, "Shortlist for the task type; narrows nothing."),
		nullable(enum("selected_bundle", false, bundles, "The chosen bundle; null with a single profile or before triage.")),
		nullable(enum("selected_profile", false, profiles, "The chosen profile; with a bundle its first one; null before triage.")),
		list("review_profiles", profiles, "Profiles of the chosen route, in order."),
		nullable(enum("current_profile", false, profiles, "The profile under review; null when none is.")),
		list("completed_profiles", profiles, "Profiles that are done, in order."),
		deep,
		nullable(enum("deep_reason_code", false, tool.Strings(review.Reasons()), "The first reason for the deep review; null when there is none.")),
		policy,
		text("next_action", "What to do now, in one sentence."),
	}, append(boundaryFields(), expires)...)}
}

func listSchema() tool.Schema {
	profiles, bundles := tool.Strings(catalog.Profiles()), tool.Strings(catalog.Bundles())
	item := &tool.Schema{Type: "object", Properties: []tool.Property{
		runID("Identifies the session."),
		enum("task_type", true, tool.Strings(catalog.TaskTypes()), "What the review was started for."),
		enum("status", true, tool.Strings(review.Statuses()), "Where it stands as a whole."),
		enum("current_step", true, tool.Strings(review.Steps()), "The step that is due."),
		nullable(enum("selected_bundle", false, bundles, "The chosen bundle.")),
		nullable(enum("selected_profile", false, profiles, "The chosen profile.")),
		nullable(enum("current_profile", false, profiles, "The profile under review.")),
		text("expires_at", "RFC 3339, UTC."),
	}}
	return tool.Schema{Type: "object", Properties: append([]tool.Property{
		{Name: "sessions", Required: true, Schema: tool.Schema{Type: "array", Items: item, Description: "Newest expiry first."}},
	}, boundaryFields()...)}
}

func policySchema() tool.Schema {
	return tool.Schema{Type: "object", Properties: policyFields()}
}
