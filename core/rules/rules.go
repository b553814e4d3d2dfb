// Package rules holds the instructions that tell a host when and how to use our
// servers, and puts them into the files that clients take instructions from,
// between two markers. They are for models, and so in English.
package rules

import (
	"bytes"
	_ "embed"
	"strings"
	"unicode/utf8"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
)

//go:embed rules.md
var source string

// The markers. What is between them is ours, and nothing else is.
const (
	Begin = "<!-- qa-orch:begin (made by qa-orch rules; changes between these markers are lost) -->"
	End   = "<!-- qa-orch:end -->"

	beginPrefix = "<!-- qa-orch:begin"
)

// support says what evidence makes a risk signal true.
var support = map[review.Signal]string{
	review.HighRiskDomain:          "the change touches authentication, authorization, payment, personal data, data loss or migration, or another domain that the project names as critical",
	review.EvidenceUncertain:       "a conclusion rests on something that you could not read, run or confirm",
	review.CrossSystemScope:        "the behaviour depends on more than one repository, service or deployable",
	review.MultiplePlausibleCauses: "two or more explanations fit the evidence equally well",
	review.EvidenceConflict:        "two pieces of evidence contradict each other and you could not resolve it",
	review.NonReproducible:         "the behaviour in question could not be reproduced, or only now and then",
	review.HighBlastRadius:         "a mistake would reach many users, tenants, jobs or callers at once",
}

// Text returns the instructions as Markdown, without markers.
func Text() string {
	var bundles, profiles, signals strings.Builder
	for _, b := range catalog.Bundles() {
		names := make([]string, 0, len(b.Profiles()))
		for _, p := range b.Profiles() {
			names = append(names, "`"+string(p)+"`")
		}
		bundles.WriteString("- `" + string(b) + "`: " + strings.Join(names, ", ") + "\n")
	}
	for i, p := range catalog.Profiles() {
		if i > 0 {
			profiles.WriteString(", ")
		}
		profiles.WriteString("`" + string(p) + "`")
	}
	for _, s := range review.SignalNames() {
		signals.WriteString("- `" + string(s) + "`: " + support[s] + "\n")
	}
	return strings.NewReplacer(
		"{{bundles}}\n", bundles.String(), "{{profiles}}", profiles.String(), "{{signals}}\n", signals.String(),
	).Replace(source)
}

// Block returns the instructions between their markers, without a line end after
// the last one.
func Block() string { return Begin + "\n" + Text() + End }

// Code is a reason why a file is not changed.
type Code string

// The reasons.
const (
	NotText Code = "not_text" // not UTF-8
	Markers Code = "markers"  // the markers do not pair up
)

// Error says why a file is not changed.
type Error struct{ Code Code }

// Error describes the problem in English.
func (e *Error) Error() string {
	if e.Code == NotText {
		return "the file is not UTF-8 text"
	}
	return "the markers of qa-orch do not pair up"
}

// find returns where the block is, to being behind the end marker; from is -1 if
// there is none.
func find(data []byte) (from, to int, err error) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return 0, 0, &Error{NotText}
	}
	begins, ends := bytes.Count(data, []byte(beginPrefix)), bytes.Count(data, []byte(End))
	if begins == 0 && ends == 0 {
		return -1, -1, nil
	}
	from, to = bytes.Index(data, []byte(beginPrefix)), bytes.Index(data, []byte(End))
	if begins != 1 || ends != 1 || to < from {
		return 0, 0, &Error{Markers}
	}
	return from, to + len(End), nil
}

// Has reports whether the instructions are in data.
func Has(data []byte) (bool, error) {
	from, _, err := find(data)
	return from >= 0, err
}

func lineEnd(data []byte) string {
	if crlf := bytes.Count(data, []byte("\r\n")); crlf > 0 && 2*crlf >= bytes.Count(data, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}

// Install returns data with the instructions: in the place of those that are
// there, else at the end. A file of nothing begins with front.
func Install(data []byte, front string) ([]byte, error) {
	from, to, err := find(data)
	if err != nil {
		return nil, err
	}
	eol := lineEnd(data)
	block := strings.ReplaceAll(Block(), "\n", eol)
	switch {
	case from >= 0:
		return concat(data[:from], block, data[to:]), nil
	case len(data) == 0:
		return []byte(front + block + eol), nil
	case bytes.HasSuffix(data, []byte("\n")):
		return concat(data, eol+block+eol, nil), nil
	}
	// A last line without an end keeps that, so that Remove gives the same bytes.
	return concat(data, eol+eol+block, nil), nil
}

// Remove returns data without the instructions and the blank line before them.
// With nothing but front left it returns nothing.
func Remove(data []byte, front string) ([]byte, error) {
	from, to, err := find(data)
	if err != nil || from < 0 {
		return data, err
	}
	// As the block ends its lines, so did Install those that it added. A carriage
	// return alone belongs to the line before.
	added := []byte(lineEnd(data[from:to]))
	steps := 2
	for _, eol := range []string{"\r\n", "\n"} {
		if bytes.HasPrefix(data[to:], []byte(eol)) {
			to += len(eol)
			steps = 1
			break
		}
	}
	head := data[:from]
	for range steps {
		shorter := bytes.TrimSuffix(head, added)
		if steps == 1 && len(shorter) > 0 && shorter[len(shorter)-1] != '\n' {
			break // the line before is not blank
		}
		head = shorter
	}
	out := concat(head, "", data[to:])
	if front != "" && strings.TrimSpace(string(out)) == strings.TrimSpace(front) {
		return nil, nil
	}
	return out, nil
}

func concat(a []byte, b string, c []byte) []byte {
	out := append([]byte{}, a...)
	out = append(out, b...)
	return append(out, c...)
}
