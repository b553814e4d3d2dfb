package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type profilesOptions struct {
	*App
	Name string
	JSON bool
}

// newProfiles makes "qa-orch profiles".
func newProfiles(a *App) *cobra.Command {
	o := &profilesOptions{App: a}
	return newProfilesWith(o, runProfiles)
}

func newProfilesWith(o *profilesOptions, run func(*profilesOptions) error) *cobra.Command {
	var names []string
	for _, p := range catalog.Profiles() {
		names = append(names, string(p))
	}
	cmd := &cobra.Command{
		Use:       "profiles",
		GroupID:   groupLook,
		Args:      atMostArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := word(cmd, args, names, &o.Name); err != nil {
				return err
			}
			return run(o)
		},
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	return cmd
}

// profileJSON is a profile for programs: what prepare_qa_orchestration returns, and its kind.
type profileJSON struct {
	Profile           catalog.Profile  `json:"profile"`
	DisplayName       string           `json:"display_name"`
	Kind              catalog.Kind     `json:"kind"`
	Focus             string           `json:"focus"`
	RequiredSections  []string         `json:"required_sections"`
	Constraints       []string         `json:"constraints"`
	EscalationSignals []string         `json:"escalation_signals"`
	Bundles           []catalog.Bundle `json:"bundles"`
}

type bundleJSON struct {
	Bundle   catalog.Bundle    `json:"bundle"`
	Profiles []catalog.Profile `json:"profiles"`
}

func profileOf(p catalog.Profile) profileJSON {
	c, _ := p.Checklist()
	j := profileJSON{p, c.DisplayName, c.Kind, c.Focus, c.RequiredSections, c.Constraints, c.EscalationSignals, []catalog.Bundle{}}
	for _, b := range catalog.Bundles() {
		for _, member := range b.Profiles() {
			if member == p {
				j.Bundles = append(j.Bundles, b)
			}
		}
	}
	return j
}

func runProfiles(o *profilesOptions) error {
	if o.Name != "" {
		if o.JSON {
			return printJSON(o.App, profileOf(catalog.Profile(o.Name)))
		}
		o.printProfile(profileOf(catalog.Profile(o.Name)))
		return nil
	}
	if o.JSON {
		all := struct {
			Profiles []profileJSON `json:"profiles"`
			Bundles  []bundleJSON  `json:"bundles"`
		}{}
		for _, p := range catalog.Profiles() {
			all.Profiles = append(all.Profiles, profileOf(p))
		}
		for _, b := range catalog.Bundles() {
			all.Bundles = append(all.Bundles, bundleJSON{b, b.Profiles()})
		}
		return printJSON(o.App, all)
	}
	t, width := o.Theme(), o.Columns()
	o.Println(t.Paint(theme.Title, o.T("profiles.title")))
	for _, p := range catalog.Profiles() {
		c, _ := p.Checklist()
		o.Println("")
		o.Println(t.Paint(theme.Command, string(p)) + "  " + terms.Profile(o.Printer, p) + " · " + t.Paint(theme.Muted, terms.Kind(o.Printer, c.Kind)))
		o.Println(indent(fold.Text(terms.Focus(o.Printer, p), width-2)))
	}
	o.Println("")
	o.Println(t.Paint(theme.Title, o.T("profiles.bundles")))
	for _, b := range catalog.Bundles() {
		o.Println("")
		o.Println(t.Paint(theme.Command, string(b)) + "  " + terms.Bundle(o.Printer, b))
		o.Println(indent(fold.Text(strings.Join(profileWords(b.Profiles()), " → "), width-2)))
	}
	o.Println("")
	o.Println(fold.Text(o.T("profiles.more", locales.Vars{"Command": program + " profiles " + string(catalog.CodeReviewer)}), width))
	return nil
}

func (o *profilesOptions) printProfile(p profileJSON) {
	t, width := o.Theme(), o.Columns()
	o.Println(t.Paint(theme.Title, terms.Profile(o.Printer, p.Profile)) + "  " + t.Paint(theme.Command, string(p.Profile)) + " · " + t.Paint(theme.Muted, terms.Kind(o.Printer, p.Kind)))
	o.Println(fold.Text(terms.Focus(o.Printer, p.Profile), width))
	field := func(title, value string) {
		o.Println("")
		o.Println(t.Paint(theme.Title, title))
		o.Println(indent(fold.Text(value, width-2)))
	}
	field(o.T("profiles.sections"), strings.Join(p.RequiredSections, ", "))
	if len(p.Bundles) > 0 {
		var names []string
		for _, b := range p.Bundles {
			names = append(names, string(b))
		}
		field(o.T("profiles.in-bundles"), strings.Join(names, ", "))
	}
	if o.Lang() == locales.En {
		field(o.T("profiles.host"), p.Focus)
		field(o.T("profiles.signals"), "- "+strings.Join(p.EscalationSignals, "\n- "))
		field(o.T("profiles.constraints"), "- "+strings.Join(p.Constraints, "\n- "))
		return
	}
	o.Println("")
	o.Println(fold.Text(o.T("profiles.english", locales.Vars{"Command": program + " profiles " + string(p.Profile) + " --json"}), width))
}

func profileWords(profiles []catalog.Profile) []string {
	out := make([]string, len(profiles))
	for i, p := range profiles {
		out[i] = string(p)
	}
	return out
}
