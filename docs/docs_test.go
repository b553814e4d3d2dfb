// Package docs has no code, only tests that hold the documents to the program:
// generated parts are what the program says today, links lead somewhere, and
// the picture of the packages is that of the real imports.
//
//	go test ./docs -update    # writes the generated parts anew
package docs

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/cmd/proof/bench"
	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/core/clients"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	advocateserver "github.com/qa-orch/qa-orch/server/advocate"
	"github.com/qa-orch/qa-orch/server/review"
)

var update = flag.Bool("update", false, "write the generated parts of the documents anew")

// generated checks what stands between <!-- generated: NAME --> and <!-- end --> in a document.
func generated(t *testing.T, doc, name, want string) {
	t.Helper()
	data, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	open, end := "<!-- generated: "+name+" -->\n", "<!-- end -->"
	from := strings.Index(text, open)
	if from < 0 {
		t.Fatalf("%s has no part %q", doc, name)
	}
	from += len(open)
	to := strings.Index(text[from:], end)
	if to < 0 {
		t.Fatalf("%s: the part %q has no end", doc, name)
	}
	to += from
	want = "\n" + strings.TrimSpace(want) + "\n\n"
	if text[from:to] == want {
		return
	}
	if *update {
		if err := os.WriteFile(doc, []byte(text[:from]+want+text[to:]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s: the part %q is out of date: go test ./docs -update", doc, name)
}

// The tools.

type schema struct {
	Type        oneOrMore         `json:"type"`
	Description string            `json:"description"`
	Enum        []any             `json:"enum"`
	AnyOf       []schema          `json:"anyOf"`
	OneOf       []schema          `json:"oneOf"`
	Items       *schema           `json:"items"`
	Pattern     string            `json:"pattern"`
	Required    []string          `json:"required"`
	Properties  orderedProperties `json:"properties"`
}

// oneOrMore is a type or a list of types.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

// orderedProperties keeps the order in which a schema lists its properties.
type orderedProperties []property

type property struct {
	name string
	schema
}

func (o *orderedProperties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		p := property{name: name.(string)}
		if err := dec.Decode(&p.schema); err != nil {
			return err
		}
		*o = append(*o, p)
	}
	return nil
}

// writer writes the tables of one server. What was said in full once is referred to.
type writer struct {
	strings.Builder
	words   map[string]string // long lists of words, and the property that has them first
	results map[string]string // result tables, and the tool that has them first
}

// kind says in short what the value of a property must be.
func (w *writer) kind(name string, s schema) string {
	union := slices.Concat(s.AnyOf, s.OneOf)
	switch {
	case len(union) > 0:
		var kinds []string
		for _, u := range union {
			kinds = append(kinds, w.kind(name, u))
		}
		return strings.Join(kinds, " or ")
	case len(s.Enum) > 0:
		return w.list(name, s.Enum)
	case slices.Contains(s.Type, "array") && s.Items != nil:
		return strings.Replace(strings.Join(s.Type, " or "), "array", "list of "+w.kind(name, *s.Items), 1)
	}
	return strings.Join(s.Type, " or ")
}

func (w *writer) list(name string, enum []any) string {
	var words []string
	null := ""
	for _, word := range enum {
		if word == nil {
			null = " or null"
			continue
		}
		words = append(words, fmt.Sprintf("`%v`", word))
	}
	list := strings.Join(words, ", ")
	first, said := w.words[list]
	switch {
	case len(words) < 6:
	case said:
		return "those of `" + first + "`" + null
	default:
		w.words[list] = name
	}
	return list + null
}

func (w *writer) table(s schema, required string) {
	fmt.Fprintf(w, "\n| %s | | |\n|---|---|---|\n", required)
	w.rows("", s)
}

func (w *writer) rows(prefix string, s schema) {
	for _, p := range s.Properties {
		mark := ""
		if slices.Contains(s.Required, p.name) {
			mark = " *"
		}
		fmt.Fprintf(w, "| `%s%s`%s | %s | %s |\n", prefix, p.name, mark, w.kind(p.name, p.schema), strings.ReplaceAll(p.Description, "|", `\|`))
		w.rows(prefix+p.name+".", p.schema)
	}
}

// toolsText describes the tools as tools/list gives them.
func toolsText(t *testing.T, s *mcpserver.MCPServer, skip []string) (text string, names []string) {
	t.Helper()
	data, err := json.Marshal(s.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name, Title, Description string
				InputSchema              schema
				OutputSchema             json.RawMessage
				Annotations              struct {
					ReadOnly    bool `json:"readOnlyHint"`
					Destructive bool `json:"destructiveHint"`
					Idempotent  bool `json:"idempotentHint"`
				}
			}
		}
	}
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	b := &writer{words: map[string]string{}, results: map[string]string{}}
	for _, tool := range list.Result.Tools {
		if slices.Contains(skip, tool.Name) {
			continue
		}
		names = append(names, tool.Name)
		fmt.Fprintf(b, "### `%s`\n\n**%s.** %s\n\n", tool.Name, tool.Title, tool.Description)
		hints := []string{"writes"}
		if tool.Annotations.ReadOnly {
			hints = []string{"read-only"}
		}
		if tool.Annotations.Destructive {
			hints = append(hints, "destructive")
		}
		if tool.Annotations.Idempotent {
			hints = append(hints, "idempotent")
		}
		fmt.Fprintf(b, "Annotations: %s.\n", strings.Join(hints, ", "))
		if len(tool.InputSchema.Properties) > 0 {
			b.table(tool.InputSchema, "argument (* required)")
		}
		var result schema
		if err := json.Unmarshal(tool.OutputSchema, &result); err != nil {
			t.Fatal(err)
		}
		key := string(tool.OutputSchema)
		if first, said := b.results[key]; said {
			fmt.Fprintf(b, "\nResult: the same as of `%s`.\n\n", first)
			continue
		}
		b.results[key] = tool.Name
		b.table(result, "result (* always there)")
		b.WriteString("\n")
	}
	return b.String(), names
}

func reviewServer(t *testing.T, tools settings.Tools) *mcpserver.MCPServer {
	t.Helper()
	nowhere := filepath.Join(t.TempDir(), "none")
	o := orchestrator.New(store.NewMemory(), policy.NewSource(nowhere, nowhere, nil), orchestrator.Limits{TTL: time.Minute, MaxSessions: 1})
	s, err := review.New(o, review.Options{Tools: tools, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return s.MCP
}

func TestTools(t *testing.T) {
	core, names := toolsText(t, reviewServer(t, settings.CoreTools), nil)
	generated(t, "tools.md", "orchestrator", core)
	more, _ := toolsText(t, reviewServer(t, settings.ExtendedTools), names)
	generated(t, "tools.md", "extended", more)
	s, err := advocateserver.New(desk.New(t.TempDir()), "test")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := toolsText(t, s, nil)
	generated(t, "tools.md", "advocate", text)
}

// The errors.

// constants returns the string constants of a type that a package declares, in order.
func constants(t *testing.T, folder, typeName string) []string {
	t.Helper()
	var values []string
	paths, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(folder), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != typeName {
				return true
			}
			for _, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						values = append(values, s)
					}
				}
			}
			return true
		})
	}
	if len(values) == 0 {
		t.Fatalf("%s declares no constants of type %s", folder, typeName)
	}
	return values
}

// Every phrase of the orchestrator has a place in the troubleshooting, and every place there a phrase.
func TestEveryPhraseIsExplained(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	phrases := append(constants(t, "core/review", "Code"), orchestrator.ErrStore.Error(), orchestrator.ErrPolicy.Error())
	var explained []string
	for _, m := range regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(string(data), -1) {
		explained = append(explained, m[1])
	}
	slices.Sort(phrases)
	slices.Sort(explained)
	if !slices.Equal(phrases, explained) {
		t.Errorf("phrases   %q\nexplained %q", phrases, explained)
	}
}

func TestTroubleshootingTables(t *testing.T) {
	en := locales.New(locales.En)
	var b strings.Builder
	b.WriteString("| what is said | what to do |\n|---|---|\n")
	for _, reason := range constants(t, "core/store/sqlite", "Reason") {
		problem, remedy := explain.Store(en, &sqlite.Unusable{Reason: sqlite.Reason(reason)})
		fmt.Fprintf(&b, "| %s | %s |\n", problem, remedy)
	}
	generated(t, "troubleshooting.md", "store", b.String())

	b.Reset()
	for _, code := range constants(t, "core/policy", "Code") {
		fmt.Fprintf(&b, "- %s\n", explain.Policy(en, policy.Problem{
			Code: policy.Code(code), Owner: "anthropic", Err: errors.New("…"),
		}))
	}
	generated(t, "troubleshooting.md", "policy", b.String())

	b.Reset()
	for _, code := range constants(t, "core/advocate", "Code") {
		if code == string(advocate.Rejected) {
			continue // has a list of its own
		}
		e := &advocate.Error{
			Code: advocate.Code(code), Review: "rev-ab12", Phase: "rebuttals", Have: 2, Need: 10,
			File: "rev-ab12.json", Cause: errors.New("…"),
		}
		fmt.Fprintf(&b, "- %s\n", e.Error())
	}
	generated(t, "troubleshooting.md", "advocate", b.String())
}

// The clients.

func TestClients(t *testing.T) {
	on := func(goos string) clients.System {
		return clients.System{
			OS: goos, Home: "~", Dir: ".",
			Getenv: func(name string) string {
				if name == "APPDATA" {
					return "%APPDATA%"
				}
				return ""
			},
			LookPath: func(string) (string, error) { return "", fs.ErrNotExist },
		}
	}
	linux := on("linux")
	code := func(path string) string {
		if path == "" {
			return "–"
		}
		return "`" + strings.TrimPrefix(path, "./") + "`"
	}
	rules := func(list ...*clients.Rules) string {
		var paths []string
		for _, r := range list {
			if r != nil {
				paths = append(paths, code(r.Path(linux)))
			}
		}
		return cmp.Or(strings.Join(paths, ", "), "–")
	}
	var b, others strings.Builder
	b.WriteString("| client | `connect` word | file of the user | file of the project | instructions |\n|---|---|---|---|---|\n")
	others.WriteString("| client | macOS | Windows |\n|---|---|---|\n")
	for _, c := range clients.All() {
		path := func(s clients.System, scope clients.Scope) string {
			if !slices.Contains(c.Scopes(), scope) {
				return ""
			}
			return c.Path(s, scope)
		}
		user := path(linux, clients.User)
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", c.Name, c.ID, code(user), code(path(linux, clients.Project)), rules(c.ProjectRules, c.UserRules))
		mac, windows := path(on("darwin"), clients.User), path(on("windows"), clients.User)
		if strings.ReplaceAll(windows, `\`, "/") == user {
			windows = ""
		}
		if mac == user {
			mac = ""
		}
		if mac+windows != "" {
			fmt.Fprintf(&others, "| %s | %s | %s |\n", c.Name, cmp.Or(strings.TrimSuffix(code(mac), "–"), "as on Linux"), cmp.Or(strings.TrimSuffix(code(windows), "–"), "as on Linux"))
		}
	}
	generated(t, "clients.md", "clients", b.String())
	generated(t, "clients.md", "other systems", others.String())
}

// The benchmarks.

// Figures change from machine to machine; what the page has to have does not.
func TestBenchmarks(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), bench.Begin)
	part, after, ok2 := strings.Cut(rest, bench.End)
	if !ok || !ok2 {
		t.Fatal("benchmarks.md has no generated part")
	}
	if !strings.Contains(before, bench.Command+" ") {
		t.Errorf("benchmarks.md does not say %q", bench.Command)
	}
	if !strings.Contains(after, "\n## What was tried\n") {
		t.Error("benchmarks.md does not say what was tried")
	}
	if !regexp.MustCompile(`(?m)^Measured on \d+ \w+ \d{4} from commit .+, with go1\.\S+ on \w+/\w+, \d+ cores?.*\. It took [\dms]+\.$`).MatchString(part) {
		t.Error("benchmarks.md does not say where and when it was measured")
	}
	var titles, want []string
	for _, m := range regexp.MustCompile("(?m)^## (.+)$").FindAllStringSubmatch(part, -1) {
		titles = append(titles, m[1])
	}
	for _, s := range bench.Sections() {
		want = append(want, s.Title)
	}
	if !slices.Equal(titles, want) {
		t.Errorf("benchmarks.md has %q, want %q", titles, want)
	}
	for title, section := range sections(part) {
		if !strings.Contains(section, "|---|") || !strings.Contains(section, "**") {
			t.Errorf("benchmarks.md: %s has no table of ratios", title)
		}
	}
}

// sections cuts a text at its headings of the second level.
func sections(text string) map[string]string {
	all := map[string]string{}
	for _, s := range strings.Split(text, "\n## ")[1:] {
		title, body, _ := strings.Cut(s, "\n")
		all[title] = body
	}
	return all
}

// The packages.

const module = "github.com/qa-orch/qa-orch/"

// imports returns, for each package of the module that is no test, what it imports.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string]map[string]bool{}
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "build" || d.Name() == "dist"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", filepath.Dir(p))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if all[pkg] == nil {
			all[pkg] = map[string]bool{}
		}
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			all[pkg][name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string][]string{}
	for pkg, set := range all {
		lists[pkg] = slices.Sorted(maps.Keys(set))
	}
	return lists
}

// top returns the first folder of a package.
func top(pkg string) string {
	first, _, _ := strings.Cut(pkg, "/")
	return first
}

// mayImport says which folders of the module each folder may import.
var mayImport = map[string][]string{
	"core":    {"core"},
	"locales": {"locales", "core"},
	"server":  {"server", "core"},
	"tui":     {"tui", "locales", "core"},
	"cmd":     {"cmd", "tui", "server", "locales", "core"},
	"docs":    {},
}

// foreign are the libraries that belong to one folder: protocol and terminal.
var foreign = map[string][]string{
	"github.com/mark3labs/mcp-go":        {"server", "cmd"}, // the demo and the doctor are clients
	"github.com/charmbracelet/bubbletea": {"tui"},
	"github.com/charmbracelet/huh":       {"tui"},
	"github.com/charmbracelet/lipgloss":  {"tui"},
	"github.com/spf13/cobra":             {"cmd"},
	"modernc.org/sqlite":                 {"core"},
	"github.com/nicksnyder/go-i18n":      {"locales"},
}

func TestPackagesImportInwardOnly(t *testing.T) {
	t.Parallel()
	all := imports(t)
	if len(all) < 20 {
		t.Fatalf("only %d packages: the scan is broken", len(all))
	}
	for _, problem := range outward(all) {
		t.Error(problem)
	}
}

func outward(all map[string][]string) []string {
	var problems []string
	for _, pkg := range slices.Sorted(maps.Keys(all)) {
		allowed, known := mayImport[top(pkg)]
		if !known {
			problems = append(problems, pkg+" is in a folder that the rules do not know")
		}
		for _, i := range all[pkg] {
			if inner, ok := strings.CutPrefix(i, module); ok && !slices.Contains(allowed, top(inner)) {
				problems = append(problems, pkg+" imports "+inner)
			}
			for library, owners := range foreign {
				if (i == library || strings.HasPrefix(i, library+"/")) && !slices.Contains(owners, top(pkg)) {
					problems = append(problems, pkg+" imports "+i)
				}
			}
		}
	}
	return problems
}

// The rules themselves: each mistake is found, and nothing else.
func TestTheRulesFindMistakes(t *testing.T) {
	t.Parallel()
	got := outward(map[string][]string{
		"core/a":    {"fmt", module + "core/b", module + "locales", "github.com/mark3labs/mcp-go/mcp"},
		"tui/b":     {module + "server/review", "github.com/charmbracelet/lipgloss"},
		"cmd/c":     {module + "core/a", module + "tui/b", "github.com/spf13/cobra"},
		"elsewhere": {},
	})
	want := []string{
		"core/a imports locales", "core/a imports github.com/mark3labs/mcp-go/mcp",
		"elsewhere is in a folder that the rules do not know", "tui/b imports server/review",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// diagram draws the packages in Mermaid. Within core it has the real imports,
// without those that follow from others; between the other folders one arrow each.
func diagram(all map[string][]string) string {
	inner := map[string][]string{} // imports within the module
	for pkg, list := range all {
		if !slices.Contains([]string{"cmd", "tui", "server", "locales", "core"}, top(pkg)) || strings.HasSuffix(pkg, "test") {
			continue
		}
		inner[pkg] = nil
		for _, i := range list {
			if name, ok := strings.CutPrefix(i, module); ok {
				inner[pkg] = append(inner[pkg], name)
			}
		}
	}
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		return slices.ContainsFunc(inner[from], func(next string) bool { return next == to || reaches(next, to) })
	}
	id := func(pkg string) string { return strings.NewReplacer("/", "_", "-", "_").Replace(pkg) }
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	folders := map[string]map[string]bool{}
	for _, folder := range []string{"cmd", "tui", "server", "locales", "core"} {
		fmt.Fprintf(&b, "  subgraph folder_%s [%s]\n", folder, folder)
		for _, pkg := range slices.Sorted(maps.Keys(inner)) {
			if top(pkg) != folder {
				continue
			}
			fmt.Fprintf(&b, "    %s[\"%s\"]\n", id(pkg), strings.TrimPrefix(pkg, folder+"/"))
			for _, i := range inner[pkg] {
				if folders[folder] == nil {
					folders[folder] = map[string]bool{}
				}
				folders[folder][top(i)] = true
			}
		}
		b.WriteString("  end\n")
	}
	for _, folder := range []string{"cmd", "tui", "server", "locales"} {
		for _, to := range slices.Sorted(maps.Keys(folders[folder])) {
			if to != folder {
				fmt.Fprintf(&b, "  folder_%s --> folder_%s\n", folder, to)
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(inner)) {
		if top(pkg) != "core" {
			continue
		}
		for _, i := range inner[pkg] {
			if !slices.ContainsFunc(inner[pkg], func(other string) bool { return other != i && reaches(other, i) }) {
				fmt.Fprintf(&b, "  %s --> %s\n", id(pkg), id(i))
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

func TestPictureOfThePackages(t *testing.T) {
	generated(t, "architecture.md", "packages", diagram(imports(t)))
}

// The links.

var link = regexp.MustCompile(`!?\[[^\]]*\]\(([^)\s]+)\)|<img[^>]+src="([^"]+)"`)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	var docs []string
	for _, pattern := range []string{"*.md", "../*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, found...)
	}
	for _, doc := range docs {
		data, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			target := m[1] + m[2]
			if strings.Contains(target, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			other := doc
			if file != "" {
				other = filepath.Join(filepath.Dir(doc), filepath.FromSlash(file))
			}
			content, err := os.ReadFile(other)
			if err != nil {
				if info, e := os.Stat(other); e != nil || !info.IsDir() {
					t.Errorf("%s: %s: %v", doc, target, err)
				}
				continue
			}
			if anchor != "" && !slices.Contains(anchors(string(content)), anchor) {
				t.Errorf("%s: %s has no heading for #%s", doc, other, anchor)
			}
		}
	}
}

var (
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the anchors that GitHub gives the headings of a document.
func anchors(text string) []string {
	var all []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

// Every page is reached from the README, and the pictures of both languages are used.
func TestNothingIsForgotten(t *testing.T) {
	t.Parallel()
	read := func(p string) string {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, readme := range []string{"../README.md", "../README.ru.md"} {
		text := read(readme)
		for _, page := range pages {
			if !strings.Contains(text, "(docs/"+page+")") {
				t.Errorf("%s does not lead to %s", readme, page)
			}
		}
	}
	pictures, err := filepath.Glob("pictures/*.svg")
	if err != nil || len(pictures) == 0 {
		t.Fatalf("pictures %v, %v", pictures, err)
	}
	for _, p := range pictures {
		readme := "../README.md"
		if strings.HasSuffix(p, ".ru.svg") {
			readme = "../README.ru.md"
		}
		if !strings.Contains(read(readme), "docs/"+filepath.ToSlash(p)) {
			t.Errorf("%s does not show %s", readme, p)
		}
	}
}
