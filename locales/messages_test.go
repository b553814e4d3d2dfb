package locales

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/pelletier/go-toml/v2"
)

// message is a message of one language as its file has it.
type message struct {
	file  string
	forms map[string]string // CLDR plural form to text; "other" alone when the message has no plural
	vars  []string          // sorted; a plural message always has Count
}

func (m message) plural() bool { return len(m.forms) > 1 }

// forms are the plural forms that CLDR gives a language's whole and fractional numbers.
var forms = map[Lang][]string{
	En: {"one", "other"},
	Ru: {"one", "few", "many", "other"},
}

// readMessages parses the files of a language, each message once.
func readMessages(t testing.TB, lang Lang) map[string]message {
	t.Helper()
	paths, err := fs.Glob(files, "messages/*."+lang.String()+".toml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no message files for %v (%v)", lang, err)
	}
	all := map[string]message{}
	for _, p := range paths {
		data, err := fs.ReadFile(files, p)
		if err != nil {
			t.Fatal(err)
		}
		file, err := i18n.ParseMessageFileBytes(data, p, map[string]i18n.UnmarshalFunc{"toml": toml.Unmarshal})
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		for _, m := range file.Messages {
			if earlier, ok := all[m.ID]; ok {
				t.Errorf("%s: %s is in %s already", p, m.ID, earlier.file)
			}
			one := message{file: path.Base(p), forms: map[string]string{}}
			for form, text := range map[string]string{
				"zero": m.Zero, "one": m.One, "two": m.Two, "few": m.Few, "many": m.Many, "other": m.Other,
			} {
				if text != "" {
					one.forms[form] = text
				}
			}
			if area, _, _ := strings.Cut(path.Base(p), "."); !strings.HasPrefix(m.ID, area+".") {
				t.Errorf("%s: %s is not found there, its id must begin with %s", p, m.ID, area)
			}
			if len(one.forms) == 0 {
				t.Errorf("%s: %s says nothing", p, m.ID)
			}
			vars := map[string]bool{}
			for form, text := range one.forms {
				of, err := variables(text)
				if err != nil {
					t.Errorf("%s: %s (%s): %v", p, m.ID, form, err)
				}
				for _, v := range of {
					vars[v] = true
				}
			}
			if one.plural() {
				vars["Count"] = true
			}
			one.vars = slices.Sorted(maps.Keys(vars))
			all[m.ID] = one
		}
	}
	return all
}

// variables returns the names of the variables in a message's text.
func variables(message string) ([]string, error) {
	t, err := cut(message)
	return t.variables, err
}

var idShape = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)+$`)

func TestBothLanguagesSayTheSame(t *testing.T) {
	t.Parallel()
	en, ru := readMessages(t, En), readMessages(t, Ru)
	for id, e := range en {
		r, ok := ru[id]
		if !ok {
			t.Errorf("%s (%s) is missing in Russian", id, e.file)
			continue
		}
		if !idShape.MatchString(id) {
			t.Errorf("%s (%s) is not a dotted lower-case id", id, e.file)
		}
		if !slices.Equal(e.vars, r.vars) {
			t.Errorf("%s: variables differ, English %v, Russian %v", id, e.vars, r.vars)
		}
		if e.plural() != r.plural() {
			t.Errorf("%s: has plural forms in one language only", id)
		}
		if area := strings.TrimSuffix(e.file, ".en.toml"); area != strings.TrimSuffix(r.file, ".ru.toml") {
			t.Errorf("%s: is in %s and in %s", id, e.file, r.file)
		}
	}
	for id, r := range ru {
		if _, ok := en[id]; !ok {
			t.Errorf("%s (%s) is missing in English", id, r.file)
		}
	}
}

func TestPluralMessagesAreComplete(t *testing.T) {
	t.Parallel()
	for _, lang := range Langs() {
		for id, m := range readMessages(t, lang) {
			if !m.plural() {
				if m.forms["other"] == "" {
					t.Errorf("%v %s: has a single plural form", lang, id)
				}
				continue
			}
			if got := slices.Sorted(maps.Keys(m.forms)); !slices.Equal(got, slices.Sorted(slices.Values(forms[lang]))) {
				t.Errorf("%v %s: has the forms %v, needs %v", lang, id, got, forms[lang])
			}
			for form, text := range m.forms {
				vars, _ := variables(text)
				want := m.vars
				// English "one" is the number 1 alone, so that it need not be shown. Russian
				// "one" is 21 as well.
				if lang == En && form == "one" && !slices.Contains(vars, "Count") {
					want = slices.DeleteFunc(slices.Clone(want), func(v string) bool { return v == "Count" })
				}
				slices.Sort(vars)
				if !slices.Equal(slices.Compact(vars), want) {
					t.Errorf("%v %s: the form %q has the variables %v, needs %v", lang, id, form, vars, want)
				}
			}
		}
	}
}

// TestRussianIsRussian holds that no message was left untranslated: a Russian text with two English
// words in a row, or that repeats an English text of words, is a leftover. Names of commands, flags,
// variables and files are no words here, nor is anything in quotation marks or backquotes.
func TestRussianIsRussian(t *testing.T) {
	t.Parallel()
	en := readMessages(t, En)
	for id, m := range readMessages(t, Ru) {
		for form, text := range m.forms {
			if strings.HasSuffix(id, ".examples") {
				text = commandLine.ReplaceAllString(text, "")
			}
			if found := englishWords(text); len(found) > 1 {
				t.Errorf("%s (%s): English words in a Russian text: %q", id, form, found)
			}
			if words := englishWords(en[id].forms[form]); len(words) > 0 && text == en[id].forms[form] && !isName(text) {
				t.Errorf("%s (%s): the Russian text is the English one: %q", id, form, text)
			}
		}
	}
	for id, m := range en {
		for form, text := range m.forms {
			if strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) }) && !strings.HasPrefix(id, "lang.") {
				t.Errorf("%s (%s): Cyrillic in an English text: %q", id, form, text)
			}
		}
	}
}

// isName reports whether text is one word that is the same in any language.
func isName(text string) bool { return !strings.ContainsAny(text, " \n") }

var (
	notProse = regexp.MustCompile("(?s)qa-orch( [a-z]+)*|\\{\\{.*?\\}\\}|`[^`]*`|\"[^\"]*\"|«[^»]*»|\\S*[_/\\\\.=-]\\S+|(?m:^ {2,}.*$)")
	// commandLine is a line of examples that is no comment.
	commandLine = regexp.MustCompile(`(?m)^[^#].*$`)

	word    = regexp.MustCompile(`[\p{L}]+`)
	english = regexp.MustCompile(`^[a-z]{2,}$|^[A-Z][a-z]+$`)
)

// englishWords returns the longest run of English words in a row, with nothing but space between.
func englishWords(text string) []string {
	var longest, run []string
	text = notProse.ReplaceAllString(text, " 0я0 ")
	end := 0
	for _, at := range word.FindAllStringIndex(text, -1) {
		w, between := text[at[0]:at[1]], text[end:at[0]]
		end = at[1]
		if strings.TrimSpace(between) != "" || !english.MatchString(w) {
			run = nil
		}
		if !english.MatchString(w) {
			continue
		}
		if run = append(run, w); len(run) > len(longest) {
			longest = slices.Clone(run)
		}
	}
	return longest
}

func TestEnglishWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"Проверка прошла":                  0,
		"Сервер MCP запущен":               0,
		"Файл `a b c` и «some words» есть": 0,
		"Запустите qa-orch doctor сейчас":  0,
		"Это some leftover текст":          2,
		"Оболочка bash, zsh или fish":      1,
		"Done":                             1,
	} {
		if got := englishWords(text); len(got) != want {
			t.Errorf("%q: found %q, want %d words", text, got, want)
		}
	}
}
