package crash

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// A few trials of the commands and servers that write in different ways. The
// program of the package makes many more of all of them.
func TestAFewTrials(t *testing.T) {
	t.Parallel()
	w, clean, err := makeWorkshop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(clean)
	var list []command
	for _, c := range commands() {
		if slices.Contains([]string{"setup over a broken policy", "report into a new file", "rules, into a file", "disconnect one of two servers"}, c.name) {
			list = append(list, c)
		}
	}
	rows, err := trials(t.Context(), w, list, fleets(), Options{Trials: 12, Steps: 4, Seed: uint64(time.Now().UnixNano())})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(list)+len(fleets()) || len(list) != 4 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		t.Log(r.What, r.Tried)
		for _, f := range r.Found {
			t.Errorf("%s: %s", r.What, f)
		}
	}
}

// What is careless is found, and what is careful is not.
func TestCarelessProgramsAreFound(t *testing.T) {
	t.Parallel()
	if !canTrace {
		t.Skip("kills between two system calls are for Linux on amd64")
	}
	w := &workshop{folder: t.TempDir()}
	var err error
	if w.program, err = fleet.Build(t.Context(), w.folder, "cmd/proof/crash/testdata/careless", false); err != nil {
		t.Fatal(err)
	}
	for way, want := range map[string]string{
		"in place":  "is neither old",
		"temporary": "run again it leads to something else",
		"lock":      "project/file.lock is neither old",
		"careful":   "",
	} {
		tally, err := w.all(t.Context(), command{name: way, files: map[string]string{project + "/file": "old\n"}, args: []string{way, "file"}}, Options{Steps: 100}, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := strings.Join(tally.found, "\n")
		if !strings.Contains(found, want) || (found == "") != (want == "") || tally.kills != tally.trials {
			t.Errorf("%s: %d kills in %d trials, found %q, want %q", way, tally.kills, tally.trials, found, want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"a": true, "b": false}
	for _, c := range []struct {
		ids     []string
		unknown int
		found   int
	}{
		{[]string{"a"}, 0, 0},
		{[]string{"a", "b"}, 0, 0},
		{[]string{"a", "c"}, 1, 0},
		{[]string{"a", "c"}, 0, 1},
		{[]string{"b"}, 0, 1},
	} {
		if found := compare(c.ids, known, c.unknown); len(found) != c.found {
			t.Errorf("%v with %d unknown: found %q", c.ids, c.unknown, found)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	was := tree{
		"a":      {mode: fs.ModeDir | 0o700},
		"a/file": {mode: 0o600, content: "x"},
		"link":   {mode: fs.ModeSymlink, content: "a/file"},
	}
	if err := was.restore(home); err != nil {
		t.Skip(err) // no links here
	}
	now, err := treeOf(home)
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) bool { return false }
	if d := now.differences(was, none); len(d) > 0 {
		t.Errorf("restored it differs: %q", d)
	}
	before := look(home)
	if err := os.WriteFile(filepath.Join(home, "a", ".file.tmp-1"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if look(home) == before {
		t.Error("a new file is not seen")
	}
	if now, err = treeOf(home); err != nil {
		t.Fatal(err)
	}
	left := map[string]int{}
	if found := now.either(was, was, none, left); len(found) > 0 || left["unfinished files"] != 1 {
		t.Errorf("found %q, left %v", found, left)
	}
	is := tree{"a": was["a"], "link": was["link"], "a/file": {mode: 0o600, content: "y"}}
	if found := now.either(is, is, none, left); len(found) != 1 {
		t.Errorf("found %q", found)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const one = `{"id":2,"result":{"structuredContent":{"run_id":"qar-1"}}}` + "\n"
	ids, err := answers(`{"id":1,"result":{}}` + "\n" + one + one[:20])
	if err != nil || len(ids) != 1 || ids[0] != "qar-1" {
		t.Errorf("%q %v", ids, err)
	}
	if _, err := answers(`{"id":2,"result":{"isError":true}}` + "\n"); err == nil {
		t.Error("a refusal is no error")
	}
}

// A command that does not end, or whose children don't, is noticed.
func TestEndlessCommands(t *testing.T) {
	t.Parallel()
	sleep := "/bin/sleep"
	if _, err := os.Stat(sleep); err != nil {
		t.Skip("no " + sleep)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	home := t.TempDir()
	if _, err := run(ctx, invocation{path: sleep, args: []string{"1000"}, dir: home, home: home, output: filepath.Join(t.TempDir(), "output")}, killer{}); err == nil {
		t.Error("it ended")
	}
}
