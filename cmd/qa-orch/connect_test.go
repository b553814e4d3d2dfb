package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/locales"
)

// Tests live among temporary files, so in a test process only folders that the
// test names count as such.
func init() {
	temporaryFolders = func() []string { return filepath.SplitList(os.Getenv("TEST_TEMPORARY")) }
}

func TestDiffShowsOnlyWhatIsOurs(t *testing.T) {
	t.Parallel()
	const from = "  from line "
	for _, c := range []struct{ name, before, after, want string }{
		{"new file", "", "a\nb\n", from + "1 on:\n  + a\n  + b\n"},
		{"lines", "a\nSECRET\nb\n", "a\nSECRET\na\nb a\nb\n", from + "3 on:\n  + a\n  + b a\n"},
		{"a comma", "{\n  \"S\": {\"T\": \"sk-1\"}\n}\n", "{\n  \"S\": {\"T\": \"sk-1\"},\n  \"a\": 2\n}\n", from + "2 on:\n  -   \"…\": {\"…\": \"…\"}\n  +   \"…\": {\"…\": \"…\"},\n  +   \"a\": …\n"},
		{"a comment", "x = 1 # my sk-1, secret\n", "x = 1 # my sk-1, secret\na b\n", from + "2 on:\n  + a b\n"},
		{"one word in part ours", "a-sk-1\n", "\n", from + "1 on:\n  - …\n"},
		{"ours gone", "a \"sk-1\" \"sk 1\" b\n", "a b\n", from + "1 on:\n  - a \"…\" \"…\" b\n  + a b\n"},
		{
			"one line",
			`{"x":"SECRET` + strings.Repeat("s", 40) + `","y":"` + strings.Repeat("-", 30) + `"}`,
			`{"x":"SECRET` + strings.Repeat("s", 40) + `","y":"` + strings.Repeat("-", 30) + `","a":1}`,
			from + "1 on:\n  - …\"}\n  + …\",\"a\":…}\n",
		},
		{"endless", strings.Repeat("a", 3000) + "\n", "b\n", from + "1 on:\n  - …\n  + b\n"},
		{"controls", "", "b\x1b[2J a\n", from + "1 on:\n  + …[… a\n"},
	} {
		app, out, _ := fakeApp(locales.En)
		app.printDiff([]byte(c.before), []byte(c.after), shown{"a": true, "b": true})
		if out.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, out, c.want)
		}
	}
	app, out, _ := fakeApp(locales.En)
	app.printDiff(nil, []byte("\x1b[2J\n"), shown{"\x1b": true, "2J": true})
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("%q", out)
	}
}

func TestAskerTakesOnlyAYes(t *testing.T) {
	t.Parallel()
	for lang, answers := range map[locales.Lang]map[string]bool{
		locales.En: {"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "д\n": false, " y \r\n": true},
		locales.Ru: {"д\n": true, "Да\n": true, "y\n": true, "н\n": false, "нет\n": false, "": false},
	} {
		for answer, want := range answers {
			app, _, _ := fakeApp(lang)
			app.In = bytes.NewBufferString(answer)
			if got := (&asker{App: app}).yes("?"); got != want {
				t.Errorf("%v: %q is taken for %v", lang, answer, got)
			}
		}
	}
}
