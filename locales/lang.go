package locales

import (
	"errors"
	"strings"

	"golang.org/x/text/language"
)

// Lang is a language that the program speaks to people.
type Lang uint8

// The languages. English is the zero value, and what everything falls back to.
const (
	En Lang = iota
	Ru
)

// Langs returns all languages, English first.
func Langs() []Lang { return []Lang{En, Ru} }

// String returns the two-letter code, "en" or "ru".
func (l Lang) String() string {
	if l == Ru {
		return "ru"
	}
	return "en"
}

// tag is the language for a library's rules.
func (l Lang) tag() language.Tag {
	if l == Ru {
		return language.Russian
	}
	return language.English
}

// ErrUnknownLang says that an explicitly asked for language is not one of Langs.
var ErrUnknownLang = errors.New("unknown language, use en or ru")

// Variable is the program's own variable for the language.
const Variable = "QA_ORCH_LANG"

// environment names the variables that choose the language, the strongest first.
var environment = [...]string{Variable, "LC_ALL", "LC_MESSAGES", "LANG"}

// Detect chooses the language: flag (the value of --lang) if it is not empty, else the first
// variable of QA_ORCH_LANG, LC_ALL, LC_MESSAGES and LANG that is not empty, else English.
// A variable with a value of another language means English. A flag with such a value is
// ErrUnknownLang; the returned language is then the one the environment asks for, fit to say so.
func Detect(flag string, getenv func(string) string) (Lang, error) {
	lang := En
	for _, name := range environment {
		if value := strings.TrimSpace(getenv(name)); value != "" {
			lang, _ = Parse(value)
			break
		}
	}
	if flag == "" {
		return lang, nil
	}
	if asked, ok := Parse(flag); ok {
		return asked, nil
	}
	return lang, ErrUnknownLang
}

// Parse reads a locale name as systems write them: "ru", "ru-RU", "ru_RU.UTF-8", "ru_RU@euro",
// "C.UTF-8", "POSIX", or a colon-separated list of them, of which the first known one counts.
// It reports En and false when no part names a language that the program speaks.
func Parse(value string) (Lang, bool) {
	for _, part := range strings.Split(value, ":") {
		part, _, _ = strings.Cut(part, "@")
		part, _, _ = strings.Cut(part, ".")
		base, _, _ := strings.Cut(strings.ReplaceAll(part, "_", "-"), "-")
		switch strings.ToLower(strings.TrimSpace(base)) {
		case "ru", "rus", "russian":
			return Ru, true
		case "en", "eng", "english", "c", "posix":
			return En, true
		}
	}
	return En, false
}
