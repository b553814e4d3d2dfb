package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkStart times whole runs of the program beside those of a minimal program that links the
// same libraries.
func BenchmarkStart(b *testing.B) {
	folder := b.TempDir()
	build := func(name, pkg string) string {
		path := filepath.Join(folder, name)
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return path
	}
	minimal, own := build("minimal", "./testdata/minimal"), build(program, ".")
	for _, c := range []struct{ name, path, args string }{
		{"minimal", minimal, ""},
		{"version", own, "version"},
		{"version_json", own, "version --json"},
		{"help", own, "--help"},
		{"help_ru", own, "--help --lang ru"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command(c.path, strings.Fields(c.args)...)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
