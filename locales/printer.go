// Package locales holds every word that a person reads, in Russian and English.
//
// The words live in messages, in one pair of files per area of the program: demo.en.toml and
// demo.ru.toml hold the ids that begin with "demo.". A large area may be split (help.demo.en.toml
// is a part of "help"). An area is parsed when the first of its messages is said, so that a command
// pays for its own words only. Variables are written {{.Name}}. Tests hold the two languages to the
// same ids, variables and plural forms, and the program's source to ids and variables that exist.
package locales

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"github.com/pelletier/go-toml/v2"
	"golang.org/x/text/feature/plural"
)

//go:embed messages/*.toml
var files embed.FS

const folder = "messages"

// Vars are the variables of a message by name. Whatever their type, they are made inert (see Inert)
// on their way in; Styled text is not. A Message is said in the printer's language.
type Vars map[string]any

// Styled is text for a variable that carries the program's own terminal styling. It must be built
// from inert parts.
type Styled string

// OneOf is a variable that lists alternatives in the language of the message: "a, b or c".
type OneOf []string

// Printer says messages in one language. It is safe for concurrent use.
type Printer struct {
	lang Lang
}

// New returns the printer of a language. It is cheap: message files are parsed when something of
// theirs is said for the first time in the process.
func New(lang Lang) *Printer { return &Printer{lang: lang} }

// Lang returns the printer's language.
func (p *Printer) Lang() Lang { return p.lang }

// T returns the message with the id. A message that does not exist, or lacks a variable, falls
// back to English and then to the id itself: people see something, and nothing crashes.
func (p *Printer) T(id string, vars ...Vars) string {
	return p.say(id, nil, p.values(vars))
}

// N returns the plural form of the message that goes with count, which the message may show as
// {{.Count}} (with digits grouped).
func (p *Printer) N(id string, count int, vars ...Vars) string {
	data := p.values(vars)
	data["Count"] = p.Count(count)
	return p.say(id, &count, data)
}

// Has reports whether the printer's language has a message with the id.
func (p *Printer) Has(id string) bool { return voices[p.lang].has(id) }

// IDs returns the ids of an area in the printer's language, sorted.
func (p *Printer) IDs(area string) []string { return voices[p.lang].idsOf(area) }

// First returns the first of the messages that exists in the printer's language, empty if none
// does. It is for the ids below "help.", which follow the names of the commands.
func (p *Printer) First(ids ...string) string {
	for _, id := range ids {
		if p.Has(id) {
			return p.T(id)
		}
	}
	return ""
}

func (p *Printer) say(id string, count *int, data Vars) string {
	if s, ok := voices[p.lang].localize(id, count, data); ok {
		return s
	}
	if p.lang != En {
		if s, ok := voices[En].localize(id, count, data); ok {
			return s
		}
	}
	return id
}

// values returns vars as the message templates take them.
func (p *Printer) values(vars []Vars) Vars {
	all := join(vars)
	for name, value := range all {
		switch v := value.(type) {
		case Styled:
			all[name] = string(v)
		case OneOf:
			all[name] = Inert(p.Or(v))
		case Message:
			all[name] = v.In(p)
		case string:
			all[name] = Inert(v)
		case error:
			all[name] = Inert(v.Error())
		case int, int64, float64, bool:
		default: // a list, or a kind of text with a type of its own
			all[name] = Inert(fmt.Sprint(v))
		}
	}
	return all
}

func join(vars []Vars) Vars {
	all := Vars{}
	for _, v := range vars {
		maps.Copy(all, v)
	}
	return all
}

// Message is a message to be said later, when the language is known: what an error carries.
type Message struct {
	id    string
	vars  Vars
	count *int
}

// M returns the message with the id, not yet said in any language.
func M(id string, vars ...Vars) Message { return Message{id: id, vars: join(vars)} }

// MN is M for a message with plural forms.
func MN(id string, count int, vars ...Vars) Message {
	return Message{id: id, vars: join(vars), count: &count}
}

// IsZero reports whether m is no message at all.
func (m Message) IsZero() bool { return m.id == "" }

// In says the message with p.
func (m Message) In(p *Printer) string {
	switch {
	case m.IsZero():
		return ""
	case m.count != nil:
		return p.N(m.id, *m.count, m.vars)
	}
	return p.T(m.id, m.vars)
}

// Family names messages whose ids are a prefix and a word that is known only when the program
// runs. Declaring the words, as literals, lets tests hold that each has its message.
type Family struct {
	prefix string
	words  []string
}

// NewFamily declares that each prefix+word is a message id.
func NewFamily(prefix string, words ...string) Family {
	return Family{prefix: prefix, words: words}
}

// Words returns the words of the family.
func (f Family) Words() []string { return f.words }

// Word returns the message of a family's word. For a word that is not of the family it returns the
// word itself, inert.
func (p *Printer) Word(f Family, word string, vars ...Vars) string {
	for _, w := range f.words {
		if w == word {
			return p.T(f.prefix+word, vars...)
		}
	}
	return Inert(word)
}

// voice is a language with as many of its areas as were needed so far.
type voice struct {
	lang Lang

	mu       sync.Mutex
	areas    map[string]bool // that are loaded
	messages map[string]*entry
}

// entry is a loaded message.
type entry struct {
	*i18n.Message
	texts map[plural.Form]text // those that were said so far
}

var voices = [...]*voice{En: {lang: En}, Ru: {lang: Ru}}

// load parses an area unless that is done already. The caller holds the lock.
func (v *voice) load(area string) {
	if v.areas[area] {
		return
	}
	if v.areas == nil {
		v.areas, v.messages = map[string]bool{}, map[string]*entry{}
	}
	v.areas[area] = true
	dir, _ := files.ReadDir(folder)
	for _, file := range dir {
		name := file.Name()
		if !strings.HasPrefix(name, area+".") || !strings.HasSuffix(name, "."+v.lang.String()+".toml") {
			continue
		}
		data, _ := files.ReadFile(folder + "/" + name)
		// A file that does not parse costs its own messages; a test holds that all do.
		parsed, err := i18n.ParseMessageFileBytes(data, name, map[string]i18n.UnmarshalFunc{"toml": toml.Unmarshal})
		if err != nil {
			continue
		}
		for _, m := range parsed.Messages {
			v.messages[m.ID] = &entry{Message: m}
		}
	}
}

// find returns the message with the id, nil if there is none. The caller holds the lock.
func (v *voice) find(id string) *entry {
	area, _, _ := strings.Cut(id, ".")
	v.load(area)
	return v.messages[id]
}

func (v *voice) has(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.find(id) != nil
}

func (v *voice) idsOf(area string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.load(area)
	var ids []string
	for id := range v.messages {
		if strings.HasPrefix(id, area+".") {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// localize says a message, with the plural form for count if that is not nil.
func (v *voice) localize(id string, count *int, data Vars) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.find(id)
	if m == nil {
		return "", false
	}
	form := plural.Other
	if count != nil {
		form = plural.Cardinal.MatchPlural(v.lang.tag(), max(*count, -*count), 0, 0, 0, 0)
	}
	t, ok := m.in(form)
	if !ok {
		return "", false
	}
	s, ok := t.fill(data)
	return strings.TrimSuffix(s, "\n"), ok
}

// in returns the text of a plural form. ok is false when the message does not have it.
func (m *entry) in(form plural.Form) (t text, ok bool) {
	if t, ok := m.texts[form]; ok {
		return t, true
	}
	written := map[plural.Form]string{
		plural.Zero: m.Zero, plural.One: m.One, plural.Two: m.Two, plural.Few: m.Few, plural.Many: m.Many, plural.Other: m.Other,
	}[form]
	t, err := cut(written)
	if written == "" || err != nil {
		return text{}, false
	}
	if m.texts == nil {
		m.texts = map[plural.Form]text{}
	}
	m.texts[form] = t
	return t, true
}
