package locales

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

const importPath = "github.com/qa-orch/qa-orch/locales"

// helpPrefix begins the ids of help texts. The commands take them by their own names, so that a
// test beside the commands holds that none is missing or left over.
const helpPrefix = "help."

// use is a place in the source that says a message.
type use struct {
	id     string
	plural bool
	vars   []string
	at     string
}

// source is what the repository's Go files say about messages.
type source struct {
	uses     []use
	families map[string]Family // by package.variable
	problems []string
}

// readSource parses every Go file of the repository that is no test. root is its folder.
func readSource(t *testing.T, root string) source {
	t.Helper()
	src := source{families: map[string]Family{}}
	fset := token.NewFileSet()
	var parsed []*ast.File
	for _, p := range goFiles(t, root) {
		file, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if file.Name.Name == "locales" || slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool {
			return i.Path.Value == strconv.Quote(importPath)
		}) {
			parsed = append(parsed, file)
		}
	}
	for _, file := range parsed {
		src.addFamilies(file)
	}
	for _, file := range parsed {
		src.addUses(fset, file)
	}
	return src
}

func goFiles(t *testing.T, roots ...string) []string {
	t.Helper()
	var paths []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && p != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go"):
				paths = append(paths, p)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// calledName returns the name of what a call calls: "p.T" gives "T" and "p".
func calledName(call *ast.CallExpr) (name, of string) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name, ""
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
		return f.Sel.Name, of
	}
	return "", ""
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

func (s *source) addFamilies(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, value := range spec.Values {
			call, ok := value.(*ast.CallExpr)
			if !ok {
				continue
			}
			if name, _ := calledName(call); name != "NewFamily" {
				continue
			}
			var args []string
			for _, arg := range call.Args {
				word, ok := literal(arg)
				if !ok {
					s.problems = append(s.problems, spec.Names[i].Name+": a family's prefix and words must be literals")
				}
				args = append(args, word)
			}
			s.families[file.Name.Name+"."+spec.Names[i].Name] = NewFamily(args[0], args[1:]...)
		}
		return true
	})
}

func (s *source) addUses(fset *token.FileSet, file *ast.File) {
	own := file.Name.Name == "locales"
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, of := calledName(call)
		at := fset.Position(call.Pos()).String()
		switch name {
		case "M", "MN":
			if !own && of != "locales" {
				return true
			}
		case "T", "N", "Word":
			if of == "" && !isSelector(call) {
				return true
			}
		case "NewFamily":
			return true
		default:
			return true
		}
		if len(call.Args) == 0 {
			return true
		}
		ids := []string{}
		rest := call.Args[1:]
		if name == "Word" {
			f, ok := s.family(file, call.Args[0])
			if !ok {
				if !own {
					s.problems = append(s.problems, at+": the family must be a package variable made by NewFamily")
				}
				return true
			}
			for _, w := range f.words {
				ids = append(ids, f.prefix+w)
			}
			rest = call.Args[2:]
		} else {
			id, ok := literal(call.Args[0])
			if !ok {
				if !own {
					s.problems = append(s.problems, at+": the id must be a literal; for ids built at run time declare a Family")
				}
				return true
			}
			ids = append(ids, id)
		}
		plural := strings.HasSuffix(name, "N") && name != "T"
		if plural {
			rest = rest[1:]
		}
		var vars []string
		for _, arg := range rest {
			names, ok := varNames(arg)
			if !ok && !own {
				s.problems = append(s.problems, at+": the variables must be a literal locales.Vars{...}")
			}
			vars = append(vars, names...)
		}
		for _, id := range ids {
			s.uses = append(s.uses, use{id: id, plural: plural, vars: vars, at: at})
		}
		return true
	})
}

func isSelector(call *ast.CallExpr) bool {
	_, ok := call.Fun.(*ast.SelectorExpr)
	return ok
}

func (s *source) family(file *ast.File, e ast.Expr) (Family, bool) {
	key := ""
	switch x := e.(type) {
	case *ast.Ident:
		key = file.Name.Name + "." + x.Name
	case *ast.SelectorExpr:
		if pkg, ok := x.X.(*ast.Ident); ok {
			key = pkg.Name + "." + x.Sel.Name
		}
	}
	f, ok := s.families[key]
	return f, ok
}

func varNames(e ast.Expr) ([]string, bool) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return nil, false
	}
	var names []string
	for _, el := range lit.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			return nil, false
		}
		name, ok := literal(kv.Key)
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// check compares what the source says with the messages there are.
func (s source) check(messages map[string]message) []string {
	problems := slices.Clone(s.problems)
	used := map[string]bool{}
	for _, u := range s.uses {
		used[u.id] = true
		m, ok := messages[u.id]
		if !ok {
			problems = append(problems, fmt.Sprintf("%s: there is no message %s", u.at, u.id))
			continue
		}
		if m.plural() != u.plural {
			problems = append(problems, fmt.Sprintf("%s: %s has plural forms: %v; is said with a count: %v", u.at, u.id, m.plural(), u.plural))
		}
		for _, v := range m.vars {
			if !slices.Contains(u.vars, v) && (!u.plural || v != "Count") {
				problems = append(problems, fmt.Sprintf("%s: %s needs the variable %s", u.at, u.id, v))
			}
		}
	}
	for name, f := range s.families {
		for _, w := range f.words {
			if _, ok := messages[f.prefix+w]; !ok {
				problems = append(problems, fmt.Sprintf("%s: there is no message %s", name, f.prefix+w))
			}
		}
	}
	for id, m := range messages {
		if !used[id] && !strings.HasPrefix(id, helpPrefix) {
			problems = append(problems, fmt.Sprintf("%s: nothing says %s", m.file, id))
		}
	}
	slices.Sort(problems)
	return problems
}

func TestTheSourceAndTheMessagesAgree(t *testing.T) {
	t.Parallel()
	src := readSource(t, "..")
	if len(src.uses) == 0 {
		t.Fatal("no message is said anywhere: the scan is broken")
	}
	for _, problem := range src.check(readMessages(t, En)) {
		t.Error(problem)
	}
}

// hardCoded returns what a source file under cmd or tui says to people without locales: any
// literal in Cyrillic letters, any literal of two or more words, and any word of a printing call.
// Messages of panics are for programmers.
func hardCoded(fset *token.FileSet, file *ast.File) []string {
	var found []string
	report := func(n ast.Node, s string) {
		found = append(found, fmt.Sprintf("%s: %q belongs into locales", fset.Position(n.Pos()), s))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field: // field tags
			return false
		case *ast.CallExpr:
			name, _ := calledName(n)
			if name == "panic" {
				return false
			}
			if printing.MatchString(name) {
				for _, arg := range n.Args {
					if s, ok := literal(arg); ok && loneWord.MatchString(verb.ReplaceAllString(s, "")) && !allowed[s] {
						report(arg, s)
					}
				}
			}
		case *ast.BasicLit:
			s, ok := literal(n)
			if !ok || allowed[s] {
				return true
			}
			if sentence.MatchString(verb.ReplaceAllString(s, "X")) || strings.ContainsFunc(s, func(r rune) bool {
				return unicode.Is(unicode.Cyrillic, r)
			}) {
				report(n, s)
			}
		}
		return true
	})
	return found
}

var (
	printing = regexp.MustCompile(`^(Fp|P|Sp)rint(f|ln)?$|^Errorf$|^New$|^WriteString$`)
	verb     = regexp.MustCompile(`%[-+# 0]*[0-9*.]*[a-zA-Z]|\x1b\[[0-9;?]*[a-zA-Z]`)
	sentence = regexp.MustCompile(`[A-Za-z]{2,}[,.:;!?'"]* +['"(]?[A-Za-z]{2,}`)
	loneWord = regexp.MustCompile(`[A-Za-z]{4,}`)
	// allowed are the literals that look like words for people and are none.
	allowed = map[string]bool{
		"qa-orch": true, // the program's name, the same in every language
	}
)

func TestNothingIsHardCoded(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	// cmd/release writes what registries read, in English.
	for _, p := range goFiles(t, "../cmd/qa-orch", "../tui") {
		file, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range hardCoded(fset, file) {
			t.Error(problem)
		}
	}
}

// The scans themselves: each mistake in the sample is found, and nothing else.
func TestScansFindMistakes(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	const sample = `package sample

import "github.com/qa-orch/qa-orch/locales"

var colour = locales.NewFamily("colour.", "red", "blue")

func say(p *locales.Printer, id string, vars locales.Vars) {
	p.T("good.plain")
	p.T("good.vars", locales.Vars{"Name": id})
	p.N("good.plural", 3)
	p.Word(colour, id)
	p.T("missing.id")
	p.T("good.vars")
	p.T("good.plural")
	p.N("good.plain", 1)
	p.T(id)
	p.T("good.vars", vars)
	_ = locales.M("missing.later")
	fmt.Println("saved")
	fmt.Printf("%s: %d items\n", id, 3)
	x := "two words"
	y := "слово"
	panic("for a programmer only")
}
`
	file, err := parser.ParseFile(fset, "s.go", sample, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	src := source{families: map[string]Family{}}
	src.addFamilies(file)
	src.addUses(fset, file)
	got := src.check(map[string]message{
		"good.plain":  {forms: map[string]string{"other": "x"}},
		"good.vars":   {forms: map[string]string{"other": "x"}, vars: []string{"Name"}},
		"good.plural": {forms: map[string]string{"one": "x", "other": "x"}, vars: []string{"Count"}},
		"colour.red":  {forms: map[string]string{"other": "x"}},
		"left.over":   {file: "f", forms: map[string]string{"other": "x"}},
		"help.exempt": {forms: map[string]string{"other": "x"}},
	})
	got = append(got, hardCoded(fset, file)...)
	want := []string{
		"f: nothing says left.over",
		"s.go:11:2: there is no message colour.blue",
		"s.go:12:2: there is no message missing.id",
		"s.go:13:2: good.vars needs the variable Name",
		"s.go:14:2: good.plural has plural forms: true; is said with a count: false",
		"s.go:14:2: good.plural needs the variable Count",
		"s.go:15:2: good.plain has plural forms: false; is said with a count: true",
		"s.go:16:2: the id must be a literal; for ids built at run time declare a Family",
		"s.go:17:2: good.vars needs the variable Name",
		"s.go:17:2: the variables must be a literal locales.Vars{...}",
		"s.go:18:6: there is no message missing.later",
		"sample.colour: there is no message colour.blue",
		`s.go:19:14: "saved" belongs into locales`,
		`s.go:20:13: "%s: %d items\n" belongs into locales`,
		`s.go:21:7: "two words" belongs into locales`,
		`s.go:22:7: "слово" belongs into locales`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
