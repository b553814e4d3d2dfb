package advocate

import (
	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/server/tool"
)

// object is a result: it may gain fields that older clients do not know.
func object(properties ...tool.Property) tool.Schema {
	return tool.Schema{Type: "object", Properties: properties, Open: true}
}

func property(name string, required bool, s tool.Schema) tool.Property {
	return tool.Property{Name: name, Required: required, Schema: s}
}

func text(name string, required bool, description string) tool.Property {
	return property(name, required, tool.Schema{Type: "string", Description: description})
}

func word(name string, required bool, choices []string, description string) tool.Property {
	return property(name, required, tool.Schema{Type: "string", Enum: choices, Description: description})
}

func words(name, description string) tool.Property {
	return property(name, false, tool.Schema{Type: "array", Items: &tool.Schema{Type: "string"}, Description: description})
}

func items(name, description string) tool.Property {
	return property(name, false, tool.Schema{Type: "array", Items: &tool.Schema{Type: "object", Open: true}, Description: description})
}

func member(name string, required bool, description string) tool.Property {
	return property(name, required, tool.Schema{Type: "object", Open: true, Description: description})
}

func number(name, description string) tool.Property {
	return property(name, true, tool.Schema{Type: "integer", Description: description})
}

func optionalNumber(name, description string) tool.Property {
	p := number(name, description)
	p.Required = false
	return p
}

func nullable(p tool.Property) tool.Property {
	p.Nullable = true
	return p
}

func reviewID(description string) tool.Property { return text("review_id", true, description) }

func id() tool.Property { return reviewID("Identifies the review in every later call.") }

func mode() tool.Property {
	return word("mode", true, tool.Strings(advocate.Modes()), "How the claim is tested.")
}

func status() tool.Property {
	return word("status", true, []string{string(advocate.Active), string(advocate.Complete), string(advocate.Abandoned)}, "Where the review stands as a whole.")
}

func assessment() tool.Property {
	return word("assessment", true, []string{string(advocate.Refuted), string(advocate.NeedsRevision), string(advocate.Survives)}, "The verdict in words.")
}
