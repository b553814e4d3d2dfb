package clients

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What an undoing that was cut short left behind goes, once nothing of ours is in the list; before that
// nothing is forgotten.
func TestSettle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, text := range []string{"", "[mcp_servers.other]\ncommand = \"x\"\n"} {
		r, c := registry(t), Find("codex")
		path := c.Path(r.System, User)
		settle := func() {
			t.Helper()
			if err := r.Settle(ctx, c, User); err != nil {
				t.Fatal(err)
			}
		}
		has := func(want bool) {
			t.Helper()
			if got, err := r.Has(c, User, ReviewName); err != nil || got != want {
				t.Errorf("%q: it has the entry: %v %v, want %v", text, got, err, want)
			}
		}
		settle() // nothing was ever done
		has(false)
		if text != "" {
			write(t, path, text)
			has(false)
		}
		connect(t, r, c, User, ReviewName, sample)
		settle() // it is connected, so its note stays
		has(true)
		if text == "" { // the file went, and the note did not
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, path, text)
		}
		settle()
		has(false)
		leftBehind(t, r)
		if text == "" && exists(filepath.Dir(path)) {
			t.Error("the folder made for the file is still there")
		}
		if text != "" && string(read(t, path)) != text {
			t.Error("the list was changed")
		}
	}
}

// A list that can't be read is told as such, by everybody who looks into it, and stays as it is.
func TestUnreadableLists(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, c := registry(t), Find("codex")
	path := c.Path(r.System, User)
	connect(t, r, c, User, ReviewName, sample)
	const broken = "[mcp_servers\n"
	write(t, path, broken)
	if _, err := r.Plan(c, User, ReviewName, sample); err == nil {
		t.Error("it can be planned")
	}
	if _, err := r.Has(c, User, ReviewName); err == nil {
		t.Error("it can be looked up")
	}
	if _, err := r.Disconnect(ctx, c, User, ReviewName); err == nil {
		t.Error("it can be disconnected")
	}
	if err := r.Settle(ctx, c, User); err == nil {
		t.Error("it can be settled")
	}
	if found := r.Find(); len(found) != 1 || found[0].Err == nil || found[0].Path != path {
		t.Errorf("found: %+v", found)
	}
	if got := string(read(t, path)); got != broken {
		t.Errorf("it holds %q", got)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mkdir(t, path) // a folder, where the list should be
	if _, err := r.Plan(c, User, ReviewName, sample); err == nil {
		t.Error("a folder can be planned")
	}
	if _, err := r.Has(c, User, ReviewName); err == nil {
		t.Error("a folder can be looked up")
	}
	if _, err := r.Disconnect(ctx, c, User, ReviewName); err == nil {
		t.Error("a folder can be disconnected")
	}
	if found := r.Find(); len(found) != 1 || found[0].Err == nil {
		t.Errorf("found: %+v", found)
	}
}

// Without a place for its notes, connecting changes nothing.
func TestConnectNeedsItsLedger(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r, c := registry(t), Find("codex")
	path := c.Path(r.System, User)
	const text = "model = \"x\"\n"
	write(t, path, text)
	p, err := r.Plan(c, User, ReviewName, sample)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.System.Home, "data"), "a file where the folder should be")
	if _, err := r.Connect(ctx, p); err == nil {
		t.Error("it was connected")
	}
	if _, err := r.Disconnect(ctx, c, User, ReviewName); err == nil {
		t.Error("it was disconnected")
	}
	if got := string(read(t, path)); got != text {
		t.Errorf("it holds %q", got)
	}
}

// Where the instructions of each client are, for the person and for the project.
func TestPathsOfRules(t *testing.T) {
	t.Parallel()
	const home = "/none/home"
	env := map[string]string{"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d", "XDG_CONFIG_HOME": "/x", "APPDATA": `D:\Roaming`}
	for _, want := range []struct {
		client, os    string
		env           map[string]string
		user, project string
	}{
		{"codex", "linux", nil, home + "/.codex/AGENTS.md", home + "/work/AGENTS.md"},
		{"codex", "linux", env, "/c/AGENTS.md", home + "/work/AGENTS.md"},
		{"claude-code", "darwin", env, "/d/CLAUDE.md", home + "/work/CLAUDE.md"},
		{"gemini", "linux", env, home + "/.gemini/GEMINI.md", home + "/work/GEMINI.md"},
		{"zed", "linux", env, "/x/zed/AGENTS.md", home + "/work/AGENTS.md"},
		{"zed", "darwin", env, home + "/.config/zed/AGENTS.md", home + "/work/AGENTS.md"},
		{"opencode", "linux", env, "/x/opencode/AGENTS.md", home + "/work/AGENTS.md"},
	} {
		c, s := Find(want.client), fakeSystem(want.os, home, want.env)
		if c.UserRules == nil || c.ProjectRules == nil {
			t.Fatalf("%s has no rules", want.client)
		}
		if got := c.UserRules.Path(s); got != want.user {
			t.Errorf("%s on %s, user: %s, want %s", want.client, want.os, got, want.user)
		}
		if got := c.ProjectRules.Path(s); got != want.project {
			t.Errorf("%s on %s, project: %s, want %s", want.client, want.os, got, want.project)
		}
	}
}

// Folders that are cleared are those that the system names; a program there is refused by a sentence
// that names it.
func TestTemporaryFolders(t *testing.T) {
	t.Parallel()
	getenv := func(name string) string {
		return map[string]string{"GOTMPDIR": "/gotmp", "XDG_RUNTIME_DIR": "/run/user/7"}[name]
	}
	dirs := TemporaryFolders("linux", getenv)
	for _, want := range []string{os.TempDir(), "/gotmp", "/run/user/7", "/tmp", "/var/tmp", "/dev/shm"} {
		if !slices.Contains(dirs, want) {
			t.Errorf("%s is not among %q", want, dirs)
		}
	}
	if dirs := TemporaryFolders("windows", getenv); slices.Contains(dirs, "/dev/shm") {
		t.Errorf("windows: %q", dirs)
	}
	if runtime.GOOS != "windows" {
		npx := filepath.Join(t.TempDir(), "_npx", "7", "qa-orch")
		write(t, npx, "")
		_, err := Started{Executable: npx, LookPath: func(string) (string, error) { return "", os.ErrNotExist }}.StablePath()
		if problem, ok := err.(*PathError); !ok || problem.Code != Temporary {
			t.Errorf("npx: %v", err)
		}
	}
	for code, says := range map[PathCode]string{GoRun: "go run", Temporary: "temporary files", Gone: "no program"} {
		if text := (&PathError{code, "/a/b"}).Error(); !strings.Contains(text, says) || !strings.Contains(text, "/a/b") {
			t.Errorf("%s: %q", code, text)
		}
	}
}
