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

func TestDiffShowsNoMoreThanWhatChanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after, want string }{
		{"new file", "", "a\nb\n", "  from line 1 on:\n  + a\n  + b\n"},
		{"lines", "a\nSECRET\nb\n", "a\nSECRET\nx\ny\nb\n", "  from line 3 on:\n  + x\n  + y\n"},
		{"comma", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "  from line 2 on:\n  -   \"a\": 1\n  +   \"a\": 1,\n  +   \"b\": 2\n"},
		{
			"one line",
			`{"x":"SECRET` + strings.Repeat("s", 40) + `","y":"` + strings.Repeat("-", 30) + `"}`,
			`{"x":"SECRET` + strings.Repeat("s", 40) + `","y":"` + strings.Repeat("-", 30) + `","q":1}`,
			"  from line 1 on:\n  - …" + strings.Repeat("-", 23) + `"}` + "\n  + …" + strings.Repeat("-", 23) + `","q":1}` + "\n",
		},
		{"controls", "", "a\x1b[2J\n", "  from line 1 on:\n  + a" + locales.Inert("\x1b[2J") + "\n"},
	} {
		app, out, _ := fakeApp(locales.En)
		app.printDiff([]byte(c.before), []byte(c.after))
		if out.String() != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, out, c.want)
		}
		if strings.Contains(out.String(), "SECRET") {
			t.Errorf("%s tells a secret", c.name)
		}
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
