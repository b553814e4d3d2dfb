package calm

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTermIsDumbUntilRestored(t *testing.T) {
	if got := os.Getenv(name); got != "dumb" {
		t.Fatalf("after init TERM is %q", got)
	}
	wasBefore, hadBefore := was, had
	t.Cleanup(func() {
		was, had = wasBefore, hadBefore
		_ = os.Setenv(name, "dumb")
	})

	was, had = "xterm-256color", true
	Restore()
	if got := os.Getenv(name); got != "xterm-256color" {
		t.Errorf("a set TERM comes back as %q", got)
	}
	was, had = "", false
	Restore()
	if got, ok := os.LookupEnv(name); ok {
		t.Errorf("an unset TERM comes back as %q", got)
	}
}

// A single import from outside the standard library could put this package's init behind the
// terminal libraries'.
func TestOnlyTheStandardLibraryIsImported(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, p := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			if strings.Contains(imp.Path.Value, ".") {
				t.Errorf("%s imports %s", p, imp.Path.Value)
			}
		}
	}
}
