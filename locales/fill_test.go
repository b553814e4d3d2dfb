package locales

import (
	"errors"
	"strings"
	"testing"
	"text/template"
)

func TestFill(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"":                             "",
		"nothing":                      "nothing",
		"{{.A}}":                       "a",
		"{{.A}}{{.B}}, {{.A}}!":        "a7, a!",
		"} {.A} {x} }} {{.B}}":         "} {.A} {x} }} 7",
		"ends with an error: {{.Err}}": "ends with an error: bad",
	} {
		text, err := cut(message)
		if err != nil {
			t.Errorf("%q: %v", message, err)
			continue
		}
		data := Vars{"A": "a", "B": 7, "Err": errors.New("bad")}
		if got, ok := text.fill(data); !ok || got != want {
			t.Errorf("%q: got %q, %v", message, got, ok)
		}
	}
	for _, message := range []string{"{{", "{{.A", "{{.A}", "{{A}}", "{{ .A }}", "{{.}}", "{{.A.B}}", "{{.A | print}}", "{{if .A}}x{{end}}", "{{/* */}}", "{{.A}} {{"} {
		if _, err := cut(message); err == nil {
			t.Errorf("%q is taken for a message", message)
		}
	}
	text, err := cut("x {{.A}}")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := text.fill(Vars{"B": 1}); ok || got != "" {
		t.Errorf("a variable that is not given: %q", got)
	}
}

// Whatever is taken for a message says what the template package makes of it.
func FuzzFill(f *testing.F) {
	for _, seed := range []string{"", "{{.A}}", "a {{.A}} b {{.B}} c", "{{", "}}{{.A}}", "{{.A}}{{.A}}", "{{.A | print}}"} {
		f.Add(seed, "x")
	}
	f.Fuzz(func(t *testing.T, message, value string) {
		text, err := cut(message)
		if err != nil {
			return
		}
		data := Vars{}
		for _, name := range text.variables {
			data[name] = value
		}
		got, ok := text.fill(data)
		if !ok {
			t.Fatalf("%q does not take %q", message, data)
		}
		tmpl, err := template.New("").Parse(message)
		if err != nil {
			t.Fatalf("%q is no template: %v", message, err)
		}
		var want strings.Builder
		if err := tmpl.Execute(&want, map[string]any(data)); err != nil || want.String() != got {
			t.Fatalf("%q says %q, the template %q, %v", message, got, want.String(), err)
		}
	})
}
