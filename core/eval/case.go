// Package eval holds a small pack of synthetic review cases, one or two for
// each profile, and checks the structure of answers to them: sections,
// candidates, evidence references and words that a profile may not use. It
// judges no content, asks no model and keeps nothing.
package eval

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/qa-orch/qa-orch/core/catalog"
)

//go:embed cases/*.toml
var files embed.FS

// Case is what a host gets to review as one profile: made up, complete, small.
// Its words go to a model, so they are English.
type Case struct {
	ID       string          `toml:"-"`
	Profile  catalog.Profile `toml:"profile"`
	Scope    string          `toml:"scope"`
	Evidence []Evidence      `toml:"evidence"`
}

// Evidence is one numbered piece of a case.
type Evidence struct {
	Ref  string `toml:"-"`    // E1, E2, … in the order of the file
	Kind string `toml:"kind"` // what it is: a diff, a log, …
	Text string `toml:"text"`
}

// IDs returns the ids of the pack, sorted, without reading the cases.
func IDs() []string {
	entries, _ := files.ReadDir("cases")
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = strings.TrimSuffix(entry.Name(), ".toml")
	}
	return ids
}

// Cases returns the pack, sorted by id. The slice is shared and must not be changed.
var Cases = sync.OnceValue(func() []Case {
	var cases []Case
	for _, id := range IDs() {
		data, _ := files.ReadFile("cases/" + id + ".toml")
		c, err := parse(id, string(data))
		if err != nil {
			panic(err) // embedded: a broken pack does not pass the tests
		}
		cases = append(cases, c)
	}
	return cases
})

// Find returns the case with the id; ok is false when there is none.
func Find(id string) (c Case, ok bool) {
	i := slices.IndexFunc(Cases(), func(c Case) bool { return c.ID == id })
	if i < 0 {
		return Case{}, false
	}
	return Cases()[i], true
}

func parse(id, data string) (Case, error) {
	c := Case{ID: id}
	if err := toml.NewDecoder(strings.NewReader(data)).DisallowUnknownFields().Decode(&c); err != nil {
		return Case{}, fmt.Errorf("case %s: %w", id, err)
	}
	c.Scope = strings.TrimSpace(c.Scope)
	for i := range c.Evidence {
		e := &c.Evidence[i]
		e.Ref = fmt.Sprintf("E%d", i+1)
		e.Text = strings.Trim(e.Text, "\n")
	}
	switch {
	case !c.Profile.Valid():
		return Case{}, fmt.Errorf("case %s: unknown profile", id)
	case c.Scope == "" || len(c.Evidence) == 0:
		return Case{}, fmt.Errorf("case %s: scope or evidence is missing", id)
	}
	return c, nil
}

// Prompt returns the case as Markdown for a host: the profile's task, the
// scope, the evidence and the form of the answer. It says nothing about what a
// good answer finds.
func (c Case) Prompt() string {
	list, _ := c.Profile.Checklist()
	var b strings.Builder
	fmt.Fprintf(&b, "# Review as %s\n\n%s\n\n", list.DisplayName, list.Focus)
	fmt.Fprintf(&b, "## What is under review\n\n%s\n\n## Evidence\n\n", c.Scope)
	for _, e := range c.Evidence {
		fence := fenceFor(e.Text)
		fmt.Fprintf(&b, "### %s: %s\n\n%s\n%s\n%s\n\n", e.Ref, e.Kind, fence, e.Text, fence)
	}
	b.WriteString("## Your answer\n\nMarkdown with exactly these headings of the second level, in English and in this order:\n\n")
	for _, s := range list.RequiredSections {
		fmt.Fprintf(&b, "    ## %s\n", s)
	}
	b.WriteString("\n")
	for _, constraint := range list.Constraints {
		fmt.Fprintf(&b, "- %s\n", constraint)
	}
	switch result, _ := resultSection(list.Kind); result {
	case sectionCandidates:
		fmt.Fprintf(&b, "- Begin each candidate under %s with its number: `- F-01: …`.\n", result)
	default:
		fmt.Fprintf(&b, "- Make each entry under %s a list item that cites its evidence.\n", result)
	}
	b.WriteString("- Write `None.` under a heading that has nothing to say. Leave none of them empty or out, add no other of that level.\n")
	return b.String()
}

// fenceFor returns a code fence that text cannot close.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
