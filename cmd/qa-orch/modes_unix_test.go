//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// modesIn returns the modes of everything under a folder, by path.
func modesIn(t *testing.T, folder string) map[string]fs.FileMode {
	t.Helper()
	modes := map[string]fs.FileMode{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			modes[path] = info.Mode()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return modes
}

// Whatever the umask is: what is private can be read by nobody else, what a person had keeps its mode,
// and what is for everybody is as the umask says.
func TestModesOfEverything(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		umask        string
		file, folder fs.FileMode // of what is for everybody
	}{
		{"000", 0o644, 0o755},
		{"077", 0o600, 0o700},
	} {
		t.Run(c.umask, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := newPerson(t, dir, umaskVar+"="+c.umask)
			p.put(filepath.Join(p.home, ".config", "zed", "settings.json"), "{\n  // mine\n}\n", 0o640)
			p.put(filepath.Join(p.home, ".config", "goose", "config.yaml"), "extensions: {}\n", 0o604)
			p.put(filepath.Join(p.home, ".codex", "config.toml"), "model = \"x\" # mine\n", 0o664)
			p.put(filepath.Join(p.home, ".claude", "CLAUDE.md"), "# Mine\n", 0o660)
			p.put(filepath.Join(p.project, "AGENTS.md"), "# Ours\n", 0o666)
			before := modesIn(t, dir)

			public := func(path string) bool {
				return strings.HasPrefix(path, p.project+string(filepath.Separator))
			}
			made := map[string]bool{}
			p.day(func(what string) {
				for path, mode := range modesIn(t, dir) {
					file, folder := fs.FileMode(0o600), fs.FileMode(0o700)
					if public(path) {
						file, folder = c.file, c.folder
					}
					want := file
					if mode.IsDir() {
						want = folder
					}
					if old, known := before[path]; known {
						want = old.Perm()
					} else {
						made[path] = true
					}
					if mode.Perm() != want {
						t.Errorf("after %s: %s has mode %04o, not %04o", what, strings.TrimPrefix(path, dir), mode.Perm(), want)
					}
				}
			})
			// The test is of no use where these were not made.
			for _, pattern := range []string{
				"home/.qa-orchestrator", "home/.qa-orchestrator/model-policy.json", "home/.qa-orchestrator/model-policy.json.backup",
				"home/.qa-orchestrator/sessions.sqlite3", "home/.qa-orchestrator/sessions.sqlite3-wal", "home/.qa-orchestrator/sessions.sqlite3-shm",
				"home/.qa-orchestrator/connections", "home/.qa-orchestrator/connections/*.lock", "home/.qa-orchestrator/connections/*.json",
				"home/.qa-orchestrator/connections/*-settings.json", "home/.mcp-devils-advocate", "home/.mcp-devils-advocate/rev-*.json",
				"home/.mcp-devils-advocate/.locks", "home/.mcp-devils-advocate/.locks/*", "home/reports", "home/reports/memo.md",
				"home/.cursor/mcp.json", "project/.mcp.json", "project/man", "project/man/qa-orch.1",
			} {
				found := false
				for path := range made {
					if ok, _ := filepath.Match(filepath.Join(dir, filepath.FromSlash(pattern)), path); ok {
						found = true
					}
				}
				if !found {
					t.Errorf("no %s was made", pattern)
				}
			}
			if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) > 0 {
				t.Errorf("left among the temporary files: %v, %v", left, err)
			}
		})
	}
}
