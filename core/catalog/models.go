package catalog

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// Provider is the vendor of a model.
type Provider string

// The providers.
const (
	OpenAI    Provider = "openai"
	Anthropic Provider = "anthropic"
)

// Reasoning is a word for how much a model should reason.
type Reasoning string

// The reasoning words, from least to most.
const (
	ReasoningNone    Reasoning = "none"
	ReasoningMinimal Reasoning = "minimal"
	ReasoningLow     Reasoning = "low"
	ReasoningMedium  Reasoning = "medium"
	ReasoningHigh    Reasoning = "high"
	ReasoningXHigh   Reasoning = "xhigh"
	ReasoningMax     Reasoning = "max"
)

var (
	providers = []Provider{OpenAI, Anthropic}

	reasoningWords = []Reasoning{
		ReasoningNone, ReasoningMinimal, ReasoningLow, ReasoningMedium, ReasoningHigh, ReasoningXHigh, ReasoningMax,
	}

	// What an id that the catalogue does not know may be given.
	unknownAnthropic = []Reasoning{
		ReasoningNone, ReasoningLow, ReasoningMedium, ReasoningHigh, ReasoningXHigh, ReasoningMax,
	}

	// Prefixes by which an unknown id still tells its vendor.
	vendorPrefixes = map[Provider][]string{
		Anthropic: {"claude-", "anthropic."},
		OpenAI:    {"gpt-", "chatgpt-", "o1", "o3", "o4", "o5", "o6"},
	}
)

// Providers returns every provider in listing order.
func Providers() []Provider { return providers }

// ReasoningWords returns every reasoning word, from least to most.
func ReasoningWords() []Reasoning { return reasoningWords }

// Valid reports whether p is one of Providers.
func (p Provider) Valid() bool { return slices.Contains(providers, p) }

// Valid reports whether r is one of ReasoningWords.
func (r Reasoning) Valid() bool { return slices.Contains(reasoningWords, r) }

// maxModelID is how long a model id may be, in bytes.
const maxModelID = 128

// ValidModelID reports whether id has the form of a model id: up to 128 letters,
// digits, dots, underscores and hyphens, the first a letter or digit. It need
// not be one that the catalogue knows. (As a regular expression this would cost
// every start of the program over half a millisecond.)
func ValidModelID(id string) bool {
	for i, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return id != "" && len(id) <= maxModelID
}

// Model is one entry of the catalogue.
type Model struct {
	ID        string
	Provider  Provider
	Menu      bool              // offered by setup, not only known
	Reasoning []Reasoning       // the words it takes, from least to most
	Label     map[string]string // what it is for, by language code
	User      bool              // comes from the user's models file
}

// Models is a catalogue of models: the built-in one, or that with a user's
// entries laid over it. It is immutable.
type Models struct {
	Source   string    // where the built-in entries come from
	Reviewed time.Time // the day they were last compared with their source

	list []Model
	byID map[string]int
}

//go:embed models.toml
var builtinTOML []byte

// Builtin returns the catalogue that the binary carries.
var Builtin = sync.OnceValue(func() *Models {
	var head struct {
		Source   string         `toml:"source"`
		Reviewed toml.LocalDate `toml:"reviewed"`
	}
	models, err := parseModels(builtinTOML, &head)
	if err != nil {
		panic("catalog: the embedded models.toml is broken: " + err.Error())
	}
	m := &Models{Source: head.Source, Reviewed: head.Reviewed.AsTime(time.UTC)}
	m.set(models)
	return m
})

func (m *Models) set(list []Model) {
	m.list = list
	m.byID = make(map[string]int, len(list))
	for i, e := range list {
		m.byID[e.ID] = i
	}
}

// With returns m with entries added, or replaced where the id is known already.
func (m *Models) With(entries []Model) *Models {
	if len(entries) == 0 {
		return m
	}
	list := slices.Clone(m.list)
	for _, e := range entries {
		if i, ok := m.byID[e.ID]; ok {
			list[i] = e
		} else {
			list = append(list, e)
		}
	}
	out := &Models{Source: m.Source, Reviewed: m.Reviewed}
	out.set(list)
	return out
}

// All returns every known model in catalogue order.
func (m *Models) All() []Model { return m.list }

// Menu returns the provider's models that setup offers, in catalogue order.
func (m *Models) Menu(p Provider) []Model {
	var out []Model
	for _, e := range m.list {
		if e.Menu && e.Provider == p {
			out = append(out, e)
		}
	}
	return out
}

// Lookup returns the entry of the exact id.
func (m *Models) Lookup(id string) (Model, bool) {
	i, ok := m.byID[id]
	if !ok {
		return Model{}, false
	}
	return m.list[i], true
}

// Owner returns the provider that id belongs to, as far as the catalogue or the
// id's prefix tells; ok is false where neither does.
func (m *Models) Owner(id string) (owner Provider, ok bool) {
	if e, found := m.Lookup(id); found {
		return e.Provider, true
	}
	for _, p := range providers {
		for _, prefix := range vendorPrefixes[p] {
			if strings.HasPrefix(id, prefix) {
				return p, true
			}
		}
	}
	return "", false
}

// ReasoningFor returns the reasoning words that id takes under provider p, from
// least to most. verified is true when the catalogue knows them for certain,
// which is only so for an exact known id under its own provider.
func (m *Models) ReasoningFor(p Provider, id string) (words []Reasoning, verified bool) {
	if e, ok := m.Lookup(id); ok && e.Provider == p {
		return e.Reasoning, true
	}
	if p == Anthropic {
		return unknownAnthropic, false
	}
	return reasoningWords, false
}

// FileProblem says why a models file can't be used. It never holds a value of the file.
type FileProblem struct {
	Code  string   // one of the Problem… constants
	Line  int      // 1-based; 0 when not known
	Entry int      // 1-based number of the [[model]], 0 when not about one
	Field string   // the key at fault, "" when the file as a whole is
	Allow []string // the words allowed there, if they are a short list
}

// What can be wrong with a models file.
const (
	ProblemSyntax    = "syntax"
	ProblemUnknown   = "unknown_key"
	ProblemMissing   = "missing"
	ProblemValue     = "value"
	ProblemDuplicate = "duplicate"
)

var problemTexts = map[string]string{
	ProblemSyntax:    "not valid TOML, or a value of the wrong type",
	ProblemUnknown:   "a key that a model does not have",
	ProblemMissing:   "this key is missing",
	ProblemValue:     "this value is not allowed",
	ProblemDuplicate: "this model stands twice",
}

// Error describes the problem in English, for logs and programs.
func (p *FileProblem) Error() string {
	var b strings.Builder
	b.WriteString("models file")
	if p.Line > 0 {
		fmt.Fprintf(&b, ", line %d", p.Line)
	}
	if p.Entry > 0 {
		fmt.Fprintf(&b, ", model %d", p.Entry)
	}
	if p.Field != "" {
		fmt.Fprintf(&b, ", %s", p.Field)
	}
	b.WriteString(": " + problemTexts[p.Code])
	if len(p.Allow) > 0 {
		fmt.Fprintf(&b, " (allowed: %s)", strings.Join(p.Allow, ", "))
	}
	return b.String()
}

type modelTOML struct {
	ID        *string           `toml:"id"`
	Provider  *string           `toml:"provider"`
	Menu      *bool             `toml:"menu"`
	Reasoning []string          `toml:"reasoning"`
	Label     map[string]string `toml:"label"`
}

// ParseUserModels reads a user's models file: [[model]] tables as in the
// built-in one. The error is a *FileProblem. Line ends may be CRLF and a
// byte-order mark is skipped.
func ParseUserModels(data []byte) ([]Model, error) {
	models, err := parseModels(data, nil)
	if err != nil {
		return nil, err
	}
	for i := range models {
		models[i].User = true
	}
	return models, nil
}

// parseModels reads the [[model]] tables, and the file's own source and review
// date into head where it is given.
func parseModels(data []byte, head any) ([]Model, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if head != nil {
		if err := toml.Unmarshal(data, head); err != nil {
			return nil, err
		}
	}
	var file struct {
		Source   any         `toml:"source"`
		Reviewed any         `toml:"reviewed"`
		Model    []modelTOML `toml:"model"`
	}
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, tomlProblem(err)
	}
	lines := entryLines(data)
	seen := make(map[string]bool, len(file.Model))
	models := make([]Model, 0, len(file.Model))
	for i, t := range file.Model {
		m, problem := t.model()
		if problem == nil && seen[m.ID] {
			problem = &FileProblem{Code: ProblemDuplicate, Field: "id"}
		}
		if problem != nil {
			problem.Entry = i + 1
			if i < len(lines) {
				problem.Line = lines[i]
			}
			return nil, problem
		}
		seen[m.ID] = true
		models = append(models, m)
	}
	return models, nil
}

func (t modelTOML) model() (Model, *FileProblem) {
	switch {
	case t.ID == nil:
		return Model{}, &FileProblem{Code: ProblemMissing, Field: "id"}
	case !ValidModelID(*t.ID):
		return Model{}, &FileProblem{Code: ProblemValue, Field: "id"}
	case t.Provider == nil:
		return Model{}, &FileProblem{Code: ProblemMissing, Field: "provider", Allow: words(providers)}
	case !Provider(*t.Provider).Valid():
		return Model{}, &FileProblem{Code: ProblemValue, Field: "provider", Allow: words(providers)}
	case len(t.Reasoning) == 0:
		return Model{}, &FileProblem{Code: ProblemMissing, Field: "reasoning", Allow: words(reasoningWords)}
	}
	m := Model{ID: *t.ID, Provider: Provider(*t.Provider), Menu: true, Label: t.Label}
	if t.Menu != nil {
		m.Menu = *t.Menu
	}
	for _, w := range t.Reasoning {
		if !Reasoning(w).Valid() {
			return Model{}, &FileProblem{Code: ProblemValue, Field: "reasoning", Allow: words(reasoningWords)}
		}
	}
	for _, w := range reasoningWords { // in order, each once, however they were written
		if slices.Contains(t.Reasoning, string(w)) {
			m.Reasoning = append(m.Reasoning, w)
		}
	}
	for lang := range t.Label {
		if lang != "en" && lang != "ru" {
			return Model{}, &FileProblem{Code: ProblemUnknown, Field: "label", Allow: []string{"en", "ru"}}
		}
	}
	return m, nil
}

func tomlProblem(err error) *FileProblem {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		return &FileProblem{Code: ProblemUnknown, Line: row, Allow: []string{"id", "provider", "menu", "reasoning", "label"}}
	}
	var dec *toml.DecodeError
	if errors.As(err, &dec) {
		row, _ := dec.Position()
		field := ""
		if key := dec.Key(); len(key) > 0 {
			field = knownField(key[len(key)-1])
		}
		return &FileProblem{Code: ProblemSyntax, Line: row, Field: field}
	}
	return &FileProblem{Code: ProblemSyntax}
}

// knownField lets only our own key names into a message.
func knownField(key string) string {
	switch key {
	case "id", "provider", "menu", "reasoning", "label", "model":
		return key
	}
	return ""
}

// entryLines finds the line of each [[model]] header.
func entryLines(data []byte) []int {
	var lines []int
	n := 0
	for line := range bytes.Lines(data) {
		n++
		header := bytes.ReplaceAll(bytes.TrimSpace(line), []byte(" "), nil)
		if bytes.HasPrefix(header, []byte("[[model]]")) {
			lines = append(lines, n)
		}
	}
	return lines
}

func words[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}
