package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/qa-orch/qa-orch/core/clients/edit"
	"github.com/qa-orch/qa-orch/core/clients/ledger"
)

func fakeSystem(goos, home string, env map[string]string) System {
	return System{
		OS: goos, Home: home, Dir: home + "/work",
		Getenv:   func(name string) string { return env[name] },
		LookPath: func(string) (string, error) { return "", exec.ErrNotFound },
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	const home, win = "/none/home", `C:\None\Home`
	env := map[string]string{"CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/d", "XDG_CONFIG_HOME": "/x", "APPDATA": `D:\Roaming`}
	for _, c := range []struct {
		client, os string
		env        map[string]string
		user       string
		project    string
	}{
		{"codex", "linux", nil, "/none/home/.codex/config.toml", "/none/home/work/.codex/config.toml"},
		{"codex", "darwin", env, "/c/config.toml", "/none/home/work/.codex/config.toml"},
		{"codex", "windows", nil, win + `\.codex\config.toml`, win + `\work\.codex\config.toml`},
		{"claude-code", "linux", nil, "/none/home/.claude.json", "/none/home/work/.mcp.json"},
		{"claude-code", "linux", env, "/d/.claude.json", "/none/home/work/.mcp.json"},
		{"claude-desktop", "linux", nil, "/none/home/.config/Claude/claude_desktop_config.json", ""},
		{"claude-desktop", "darwin", nil, "/none/home/Library/Application Support/Claude/claude_desktop_config.json", ""},
		{"claude-desktop", "windows", env, `D:\Roaming\Claude\claude_desktop_config.json`, ""},
		{"cursor", "linux", nil, "/none/home/.cursor/mcp.json", "/none/home/work/.cursor/mcp.json"},
		{"vscode", "linux", env, "/x/Code/User/mcp.json", "/none/home/work/.vscode/mcp.json"},
		{"vscode", "darwin", nil, "/none/home/Library/Application Support/Code/User/mcp.json", "/none/home/work/.vscode/mcp.json"},
		{"vscode", "windows", nil, win + `\AppData\Roaming\Code\User\mcp.json`, win + `\work\.vscode\mcp.json`},
		{"gemini", "linux", nil, "/none/home/.gemini/settings.json", "/none/home/work/.gemini/settings.json"},
		{"zed", "linux", nil, "/none/home/.config/zed/settings.json", ""},
		{"zed", "windows", env, `D:\Roaming\Zed\settings.json`, ""},
		{"windsurf", "linux", nil, "/none/home/.config/devin/mcp_config.json", ""},
		{"junie", "darwin", nil, "/none/home/.junie/mcp/mcp.json", "/none/home/work/.junie/mcp/mcp.json"},
		{"cline", "linux", nil, "/none/home/.cline/data/settings/cline_mcp_settings.json", ""},
		{"opencode", "linux", nil, "/none/home/.config/opencode/opencode.jsonc", "/none/home/work/opencode.json"},
		{"copilot", "linux", nil, "/none/home/.copilot/mcp-config.json", "/none/home/work/.mcp.json"},
		{"goose", "linux", nil, "/none/home/.config/goose/config.yaml", ""},
		{"goose", "windows", env, `D:\Roaming\Block\goose\config\config.yaml`, ""},
		{"amp", "linux", nil, "/none/home/.config/amp/settings.json", ""},
		{"lmstudio", "windows", nil, win + `\.lmstudio\mcp.json`, ""},
	} {
		h := home
		if c.os == "windows" {
			h = win
		}
		s := fakeSystem(c.os, h, c.env)
		if got := Find(c.client).Path(s, User); got != c.user {
			t.Errorf("%s on %s: %s, want %s", c.client, c.os, got, c.user)
		}
		if got := Find(c.client).Path(s, Project); got != c.project {
			t.Errorf("%s on %s, project: %s, want %s", c.client, c.os, got, c.project)
		}
	}
}

func TestThePlaceThatExistsIsTaken(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := fakeSystem(runtime.GOOS, home, nil)
	write(t, filepath.Join(home, ".config/opencode/opencode.json"), "{}")
	if got := Find("opencode").Path(s, User); filepath.Base(got) != "opencode.json" {
		t.Errorf("opencode: %s", got)
	}
	s.LookPath = func(name string) (string, error) { return "/bin/" + name, nil }
	if Find("opencode").OwnCommand(s, User, "n", sample) == nil {
		t.Error("opencode: its own command is not used")
	}
	write(t, filepath.Join(home, ".config/opencode/opencode.jsonc"), "{}")
	if Find("opencode").OwnCommand(s, User, "n", sample) != nil {
		t.Error("opencode: its own command may choose the other list")
	}
	write(t, filepath.Join(home, ".codeium/windsurf/other"), "")
	if got := Find("windsurf").Path(s, User); !strings.Contains(got, "codeium") {
		t.Errorf("windsurf: %s", got)
	}
}

func TestDetection(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := fakeSystem("linux", home, nil)
	for _, c := range All() {
		if c.Installed(s) {
			t.Errorf("%s is there in an empty home", c.ID)
		}
		mine := s
		mine.LookPath = func(name string) (string, error) {
			if slices.Contains(c.programs, name) {
				return "/bin/" + name, nil
			}
			return "", exec.ErrNotFound
		}
		if c.programs != nil && !c.Installed(mine) {
			t.Errorf("%s is not found by its program", c.ID)
		}
		if c.signs == nil {
			t.Errorf("%s leaves no signs", c.ID)
			continue
		}
		h := t.TempDir()
		mine = fakeSystem("linux", h, nil)
		for _, sign := range c.signs(mine) {
			mkdir(t, sign)
		}
		if !c.Installed(mine) {
			t.Errorf("%s is not found by its folder", c.ID)
		}
	}
}

var sample = Entry{
	Command: `/opt/qa "x"/qa-orch`, Args: []string{"serve"},
	Env: []Variable{{"QA_ORCHESTRATOR_DATA_DIR", "/home/me/.qa"}, {"QA_ORCHESTRATOR_SESSION_STORE_PATH", `C:\Имя\s.sqlite3`}},
}

func TestShapes(t *testing.T) {
	t.Parallel()
	small := Entry{Command: "/q", Args: []string{"serve"}, Env: []Variable{{"A", "b"}}}
	const env = "\n      \"env\": {\n        \"A\": \"b\"\n      }"
	for id, want := range map[string]string{
		"cursor":      `{"mcpServers":{"n":{"command":"/q","args":["serve"],"env":{"A":"b"}}}}`,
		"claude-code": `{"mcpServers":{"n":{"type":"stdio","command":"/q","args":["serve"],"env":{"A":"b"}}}}`,
		"vscode":      `{"servers":{"n":{"type":"stdio","command":"/q","args":["serve"],"env":{"A":"b"}}}}`,
		"zed":         `{"context_servers":{"n":{"command":"/q","args":["serve"],"env":{"A":"b"}}}}`,
		"opencode":    `{"mcp":{"n":{"type":"local","command":["/q","serve"],"environment":{"A":"b"},"enabled":true}}}`,
		"copilot":     `{"mcpServers":{"n":{"type":"local","command":"/q","args":["serve"],"env":{"A":"b"},"tools":["*"]}}}`,
		"amp":         `{"amp.mcpServers":{"n":{"command":"/q","args":["serve"],"env":{"A":"b"}}}}`,
	} {
		c := Find(id)
		got, err := edit.JSON.Set(nil, c.Entry("n"), c.Object(User, "n", small))
		flat := strings.NewReplacer("\n", "", "  ", "", "\": ", "\":", ", ", ",").Replace(string(got))
		if err != nil || flat != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", id, err, flat, want)
		}
	}
	goose := Find("goose")
	got, err := edit.YAML.Set(nil, goose.Entry("x"), goose.Object(User, "x", small))
	if want := "extensions:\n  x:\n    enabled: true\n    type: stdio\n    name: x\n    cmd: /q\n    args:\n    - serve\n    envs:\n      A: b\n    timeout: 300\n"; err != nil || string(got) != want {
		t.Errorf("goose: %v\n%s", err, got)
	}
	j, toml := Paste("n", small)
	if !strings.Contains(j, env) || !strings.Contains(toml, "[mcp_servers.n]\ncommand = \"/q\"\nargs = [\"serve\"]\n\n[mcp_servers.n.env]\nA = \"b\"\n") {
		t.Errorf("to paste:\n%s\n%s", j, toml)
	}
}

func TestEntriesAreReadBack(t *testing.T) {
	t.Parallel()
	for _, c := range All() {
		for _, scope := range c.Scopes() {
			data, err := c.Format.Set(nil, c.Entry(ReviewName), c.Object(scope, ReviewName, sample))
			if err != nil {
				t.Fatalf("%s: %v", c.ID, err)
			}
			got, found, err := c.Lookup(data, ReviewName)
			if err != nil || !found || !got.Same(sample) {
				t.Errorf("%s: %+v %v %v\n%s", c.ID, got, found, err, data)
			}
		}
	}
}

// nasty returns files of the client's format, with its own name for the table.
func nasty(t *testing.T, c *Client) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("edit/testdata/" + string(c.Format) + "/*")
	if err != nil || len(names) == 0 {
		t.Fatal("no files", err)
	}
	out := map[string][]byte{"(none)": nil}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = append([]byte{}, bytes.ReplaceAll(data, []byte(`"mcpServers"`), []byte(`"`+c.container+`"`))...)
	}
	return out
}

func registry(t *testing.T) Registry {
	t.Helper()
	home := t.TempDir()
	return Registry{System: fakeSystem(runtime.GOOS, home, nil), Ledger: ledger.Ledger{Dir: filepath.Join(home, "data", "connections")}}
}

func connect(t *testing.T, r Registry, c *Client, scope Scope, name string, e Entry) Result {
	t.Helper()
	p, err := r.Plan(c, scope, name, e)
	if err != nil {
		t.Fatalf("%s: plan: %v", c.ID, err)
	}
	res, err := r.Connect(context.Background(), p)
	if err != nil {
		t.Fatalf("%s: connect: %v", c.ID, err)
	}
	if data := read(t, p.Path); !bytes.Equal(data, p.After) && r.Run == nil {
		t.Errorf("%s: written is not what was planned\n%s\n%s", c.ID, data, p.After)
	}
	return res
}

// Connecting and disconnecting, with either server last, gives every file back to
// the byte, and a file that was not there goes with its folders.
func TestDisconnectRestoresTheBytes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, c := range All() {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			r := registry(t)
			for _, scope := range c.Scopes() {
				path := c.Path(r.System, scope)
				for name, data := range nasty(t, c) {
					// One client of each format goes through all files.
					if !slices.Contains([]string{"codex", "cursor", "goose"}, c.ID) && !slices.Contains([]string{"(none)", "comments.jsonc", "bom-crlf-tabs.json"}, name) {
						continue
					}
					_ = os.Remove(path)
					if data != nil {
						writeBytes(t, path, data)
					}
					res := connect(t, r, c, scope, ReviewName, sample)
					if !res.Changed || (res.Backup != "") != (data != nil) {
						t.Errorf("%s: %+v", name, res)
					}
					connect(t, r, c, scope, AdvocateName, Entry{Command: "/q", Args: []string{"advocate", "serve"}})
					changed := sample
					changed.Command = "/opt/new/qa-orch"
					connect(t, r, c, scope, ReviewName, changed)
					if again := connect(t, r, c, scope, ReviewName, changed); again.Changed {
						t.Errorf("%s: connecting again changed something", name)
					}
					order := []string{ReviewName, AdvocateName}
					if len(name)%2 == 0 {
						slices.Reverse(order)
					}
					for i, n := range order {
						res, err := r.Disconnect(ctx, c, scope, n)
						if err != nil || !res.Changed || res.Exact != (i == 1) {
							t.Errorf("%s: disconnect %s: %+v %v", name, n, res, err)
						}
					}
					if data == nil {
						if exists(path) {
							t.Errorf("%s: the file is still there", name)
						}
						continue
					}
					if got := read(t, path); !bytes.Equal(got, data) {
						t.Errorf("%s:\n%q\nwant\n%q", name, got, data)
					}
					if res, err := r.Disconnect(ctx, c, scope, ReviewName); err != nil || res.Changed {
						t.Errorf("%s: disconnected twice: %+v %v", name, res, err)
					}
				}
				leftBehind(t, r)
				_ = os.Remove(path)
			}
		})
	}
}

func TestFoldersMadeForAFileGoWithIt(t *testing.T) {
	t.Parallel()
	r := registry(t)
	c := Find("junie")
	connect(t, r, c, User, ReviewName, sample)
	if _, err := r.Disconnect(context.Background(), c, User, ReviewName); err != nil {
		t.Fatal(err)
	}
	if exists(filepath.Join(r.System.Home, ".junie")) {
		t.Error("the folders are still there")
	}
}

func TestAfterOtherEditsOnlyOurEntryGoes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, start := range []string{"", "{\n  \"theme\": \"dark\" // mine\n}\n"} {
		r := registry(t)
		c := Find("gemini")
		path := c.Path(r.System, User)
		if start != "" {
			write(t, path, start)
		}
		connect(t, r, c, User, ReviewName, sample)
		edited, err := edit.JSON.Set(read(t, path), edit.Path{Container: "mcpServers", Name: "other"}, edit.Object{{Key: "command", Value: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		writeBytes(t, path, edited)
		res, err := r.Disconnect(ctx, c, User, ReviewName)
		if err != nil || res.Exact || !res.Changed {
			t.Errorf("%+v %v", res, err)
		}
		got := read(t, path)
		if bytes.Contains(got, []byte("qa-orch")) || !bytes.Contains(got, []byte(`"other"`)) || start != "" && !bytes.Contains(got, []byte(`"dark" // mine`)) && !bytes.Contains(got, []byte(`"dark", // mine`)) {
			t.Errorf("%s", got)
		}
		// A later connect starts from what is there now.
		connect(t, r, c, User, ReviewName, sample)
		if res, err := r.Disconnect(ctx, c, User, ReviewName); err != nil || !res.Exact || !bytes.Equal(read(t, path), got) {
			t.Errorf("%+v %v\n%s", res, err, read(t, path))
		}
	}
}

// byHand are lists with entries of our names that a person wrote, for one client
// of each format, and something that somebody else adds later.
var byHand = map[string][]struct{ text, add, added string }{
	"cursor": {
		{`{"mcpServers":{"a":{},"qa-orch":{"command":"/by/hand"}}}`, `{"a":{},`, `{"a":{},"o":{},`},
		{
			"{\n  // mine\n  \"mcpServers\": {\n    \"qa-orch\" : { \"command\": \"/by/hand\", /* why */ \"disabled\": true, } , // end\n    \"qa-orch-advocate\": null, // off\n  },\n}\n",
			"// mine", "// mine, and more",
		},
		{"\xef\xbb\xbf{\r\n\t\"mcpServers\": {\r\n\t\t\"qa-orch\": {\r\n\t\t\t\"command\": \"x\"\r\n\t\t}\r\n\t}\r\n}", "{\r\n\t\"m", "{\r\n\t\"o\": 1,\r\n\t\"m"},
	},
	"codex": {
		{
			"[mcp_servers.qa-orch] # mine\ncommand = '/by/hand' # why\ntool_timeout_sec = 1.50\n\n[mcp_servers.qa-orch.env]\nA = \"b\"\n\n[mcp_servers.qa-orch-advocate]\ncommand = \"y\"",
			"[mcp_servers.qa-orch]", "model = \"m\"\n\n[mcp_servers.qa-orch]",
		},
		{"\xef\xbb\xbfa = 1\r\n\r\n[mcp_servers.qa-orch]\r\ncommand = \"y\"\r\n", "a = 1\r\n", "a = 1\r\nb = 2\r\n"},
		{"z = 1\n[mcp_servers]\nqa-orch = {command = \"/by/hand\"} # why\nb.command = \"c\"\n", "z = 1", "z = 2"},
		{"[mcp_servers.b]\ncommand = \"x\"\n\n[mcp_servers.qa-orch.env]\nA = \"b\"\n\n[z]\nq = 1\n\n[mcp_servers.qa-orch]\ncommand = \"x\"\n", "q = 1", "q = 2"},
	},
	"goose": {
		{"z: 1\nextensions:\n    b: {}\n    # mine\n    qa-orch: # why\n        cmd: /by/hand\n        text: |\n          two\n\n          lines\n    c: {}\n", "z: 1", "z: 2"},
		{"z: 1\r\nextensions:\r\n  qa-orch-advocate: {cmd: y}\r\n  qa-orch:\r\n    cmd: x", "z: 1", "z: 2"},
	},
}

// each runs f for every list by hand, written in a home of its own.
func each(t *testing.T, f func(t *testing.T, r Registry, c *Client, path, text string, edit func())) {
	t.Helper()
	for id, files := range byHand {
		for i, x := range files {
			t.Run(fmt.Sprint(id, " ", i), func(t *testing.T) {
				t.Parallel()
				r, c := registry(t), Find(id)
				path := c.Path(r.System, User)
				write(t, path, x.text)
				f(t, r, c, path, x.text, func() {
					t.Helper()
					was := string(read(t, path))
					now := strings.Replace(was, x.add, x.added, 1)
					if was == now {
						t.Fatalf("%q is not in\n%s", x.add, was)
					}
					write(t, path, now)
				})
			})
		}
	}
}

func disconnect(t *testing.T, r Registry, c *Client, name string) Result {
	t.Helper()
	res, err := r.Disconnect(context.Background(), c, User, name)
	if err != nil {
		t.Fatalf("disconnect %s: %v", name, err)
	}
	return res
}

// says fails the test unless the entry of a name says the same in both lists.
func says(t *testing.T, c *Client, name string, got, want []byte) {
	t.Helper()
	a, inA, err := c.Format.Get(got, c.Entry(name))
	if err != nil {
		t.Error(err)
	}
	b, inB, _ := c.Format.Get(want, c.Entry(name))
	sorted := func(o edit.Object) edit.Object {
		slices.SortFunc(o, func(x, y edit.Member) int { return strings.Compare(x.Key, y.Key) })
		return o
	}
	if inA != inB || fmt.Sprint(sorted(a)) != fmt.Sprint(sorted(b)) {
		t.Errorf("%s is\n%v\nwant\n%v\nin\n%s", name, a, b, got)
	}
}

var other = Entry{Command: "/opt/other/qa-orch", Args: []string{"serve"}}

// An entry that was there before connect is there again after disconnect, to the
// byte, whichever server goes first and however often it was connected.
func TestAnEntryOfBeforeComesBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r Registry, c *Client, path, text string, _ func()) {
		for _, order := range [][]string{{ReviewName}, {ReviewName, AdvocateName}, {AdvocateName, ReviewName}} {
			if res := connect(t, r, c, User, ReviewName, sample); res.Backup == "" {
				t.Error("no backup")
			}
			connect(t, r, c, User, ReviewName, other) // a new version
			if len(order) > 1 {
				connect(t, r, c, User, AdvocateName, sample)
			}
			connect(t, r, c, User, ReviewName, sample)
			for i, name := range order {
				_, before, _ := c.Lookup([]byte(text), name)
				if res := disconnect(t, r, c, name); res.Exact != (i == len(order)-1) || res.Back != before || res.Lost {
					t.Errorf("%v: disconnect %s: %+v", order, name, res)
				}
				says(t, c, name, read(t, path), []byte(text))
			}
			if got := string(read(t, path)); got != text {
				t.Errorf("%v\n%q\nwant\n%q", order, got, text)
			}
			leftBehind(t, r)
		}
		// It is the person's own now, and goes when that is asked for.
		if res := disconnect(t, r, c, ReviewName); !res.Changed || res.Back {
			t.Errorf("%+v", res)
		}
		if _, found, err := c.Lookup(read(t, path), ReviewName); found || err != nil {
			t.Errorf("%v %v", found, err)
		}
	})
}

// After changes of others the entry of before comes back and their changes stay,
// also if we were connected again in between.
func TestAnEntryOfBeforeComesBackBesideChangesOfOthers(t *testing.T) {
	t.Parallel()
	for _, again := range []string{"", ReviewName, AdvocateName} {
		t.Run("again "+again, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, r Registry, c *Client, path, text string, edit func()) {
				connect(t, r, c, User, ReviewName, sample)
				edit()
				if again != "" {
					connect(t, r, c, User, again, other)
				}
				if again == AdvocateName {
					disconnect(t, r, c, AdvocateName)
				}
				if res := disconnect(t, r, c, ReviewName); res.Exact || !res.Back || res.Lost {
					t.Errorf("%+v", res)
				}
				got := read(t, path)
				write(t, path, text)
				edit()
				want := read(t, path)
				for _, name := range []string{ReviewName, AdvocateName} {
					says(t, c, name, got, want)
				}
				// Parts that were scattered over a file come back together.
				if !strings.Contains(text, "[z]") && !strings.Contains(text, "b.command") && !bytes.Equal(got, want) {
					t.Errorf("\n%q\nwant\n%q", got, want)
				}
				leftBehind(t, r)
			})
		})
	}
}

// What a person puts in place of our entry is the person's: a later connect
// keeps it for disconnect. What a client adds to ours is not.
func TestWhoseEntryItIs(t *testing.T) {
	t.Parallel()
	r, c := registry(t), Find("cursor")
	path := c.Path(r.System, User)
	const start = `{"mcpServers":{"qa-orch":{"command":"/first"}}}`
	write(t, path, start)
	connect(t, r, c, User, ReviewName, sample)
	write(t, path, strings.Replace(string(read(t, path)), `"args"`, `"trust":true,"args"`, 1))
	connect(t, r, c, User, ReviewName, other)
	if res := disconnect(t, r, c, ReviewName); !res.Back || string(read(t, path)) != start {
		t.Errorf("%+v\n%s", res, read(t, path))
	}
	connect(t, r, c, User, ReviewName, sample)
	const second = `{"mcpServers":{"qa-orch":{"command":"/second"}}}`
	write(t, path, second)
	connect(t, r, c, User, ReviewName, sample)
	if res := disconnect(t, r, c, ReviewName); !res.Exact || !res.Back || string(read(t, path)) != second {
		t.Errorf("%+v\n%s", res, read(t, path))
	}
	// Taken out by hand: there is nothing to undo, and nothing comes back later.
	connect(t, r, c, User, ReviewName, sample)
	write(t, path, `{"mcpServers":{"b":{}}}`)
	if res := disconnect(t, r, c, ReviewName); res.Changed {
		t.Errorf("%+v", res)
	}
	connect(t, r, c, User, ReviewName, sample)
	if res := disconnect(t, r, c, ReviewName); !res.Exact || res.Back || string(read(t, path)) != `{"mcpServers":{"b":{}}}` {
		t.Errorf("%+v\n%s", res, read(t, path))
	}
}

// An entry that a person wants out does not come back with the other server's.
func TestAnEntryByHandStaysOut(t *testing.T) {
	t.Parallel()
	for _, touched := range []bool{false, true} {
		each(t, func(t *testing.T, r Registry, c *Client, path, _ string, edit func()) {
			connect(t, r, c, User, AdvocateName, sample)
			if touched {
				edit()
			}
			if res := disconnect(t, r, c, ReviewName); !res.Changed || res.Back {
				t.Errorf("%+v", res)
			}
			before := read(t, path)
			disconnect(t, r, c, AdvocateName)
			got := read(t, path)
			if _, found, err := c.Lookup(got, ReviewName); found || err != nil {
				t.Errorf("%v %v\n%s", found, err, got)
			}
			if bytes.Equal(before, got) {
				t.Error("the other server is still there")
			}
			leftBehind(t, r)
		})
	}
}

// Where the entry of before leans on what is gone, it can't come back; a copy of
// the file with it is kept.
func TestAnEntryOfBeforeThatCantComeBack(t *testing.T) {
	t.Parallel()
	r, c := registry(t), Find("goose")
	path := c.Path(r.System, User)
	const start = "base: &base\n  timeout: 3\nextensions:\n  qa-orch:\n    <<: *base\n    cmd: x\n"
	write(t, path, start)
	connect(t, r, c, User, ReviewName, sample)
	write(t, path, strings.Replace(string(read(t, path)), "base: &base\n  timeout: 3\n", "", 1))
	// Connecting again would forget it.
	p, err := r.Plan(c, User, ReviewName, other)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *edit.Error
	if _, err := r.Connect(context.Background(), p); !errors.As(err, &refusal) {
		t.Errorf("%v", err)
	}
	res := disconnect(t, r, c, ReviewName)
	if res.Exact || res.Back || !res.Lost || string(read(t, res.Backup)) != start {
		t.Errorf("%+v", res)
	}
	if got := string(read(t, path)); strings.Contains(got, "qa-orch") {
		t.Errorf("%s", got)
	}
}

// A file that we made goes, though somebody else wrote it and we were connected
// again in between.
func TestAFileThatWeMadeGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []*Client{Find("cursor"), Find("codex"), Find("goose")} {
		r := registry(t)
		path := c.Path(r.System, User)
		connect(t, r, c, User, ReviewName, sample)
		writeBytes(t, path, append(read(t, path), '\n'))
		connect(t, r, c, User, AdvocateName, sample)
		disconnect(t, r, c, ReviewName)
		if res := disconnect(t, r, c, AdvocateName); res.Exact || exists(path) {
			t.Errorf("%s: %+v, exists: %v", c.ID, res, exists(path))
		}
		leftBehind(t, r)
	}
}

// leftBehind fails the test if the ledger has more than locks.
func leftBehind(t *testing.T, r Registry) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(r.Ledger.Dir, "*"))
	if left := slices.DeleteFunc(files, func(f string) bool { return filepath.Ext(f) == ".lock" }); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestBadFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []*Client{Find("gemini"), Find("codex"), Find("goose")} {
		names, _ := filepath.Glob("edit/testdata/" + string(c.Format) + "-bad/*")
		for _, name := range names {
			r := registry(t)
			path := c.Path(r.System, User)
			data := read(t, name)
			writeBytes(t, path, data)
			var refusal *edit.Error
			if _, err := r.Plan(c, User, ReviewName, sample); !errors.As(err, &refusal) {
				t.Errorf("%s: plan: %v", name, err)
			}
			if _, err := r.Connect(context.Background(), &Plan{Client: c, Scope: User, Name: ReviewName, Entry: sample, Path: path}); !errors.As(err, &refusal) {
				t.Errorf("%s: connect: %v", name, err)
			}
			if got := read(t, path); !bytes.Equal(got, data) {
				t.Errorf("%s was changed", name)
			}
		}
	}
}

func TestSymlinksAndModesStay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are a Unix notion")
	}
	r := registry(t)
	c := Find("codex")
	path := c.Path(r.System, User)
	real := filepath.Join(r.System.Home, "dotfiles", "codex.toml")
	write(t, real, "a = 1\n")
	mkdir(t, filepath.Dir(path))
	if err := errors.Join(os.Chmod(real, 0o640), os.Symlink("../dotfiles/codex.toml", path)); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is gone (%v)", err)
		}
		if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode %v (%v)", info.Mode(), err)
		}
	}
	connect(t, r, c, User, ReviewName, sample)
	check()
	if res, err := r.Disconnect(context.Background(), c, User, ReviewName); err != nil || !res.Exact {
		t.Errorf("%+v %v", res, err)
	}
	check()
	if got := read(t, real); string(got) != "a = 1\n" {
		t.Errorf("%q", got)
	}
}

func TestTenAtOnceLeaveAWholeFile(t *testing.T) {
	t.Parallel()
	r := registry(t)
	c := Find("cursor")
	path := c.Path(r.System, User)
	const start = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n"
	write(t, path, start)
	var wg sync.WaitGroup
	for i := range 10 {
		name := []string{ReviewName, AdvocateName}[i%2]
		wg.Go(func() {
			p, err := r.Plan(c, User, name, sample)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := r.Connect(context.Background(), p); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, name := range []string{ReviewName, AdvocateName} {
		if e, found, err := c.Lookup(read(t, path), name); !found || err != nil || !e.Same(sample) {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	for range 5 {
		for _, name := range []string{ReviewName, AdvocateName} {
			wg.Go(func() {
				if _, err := r.Disconnect(context.Background(), c, User, name); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if got := string(read(t, path)); got != start {
		t.Errorf("%s", got)
	}
}

func TestOwnCommands(t *testing.T) {
	t.Parallel()
	small := Entry{Command: "/q", Args: []string{"serve"}, Env: []Variable{{"A", "b c"}}}
	s := fakeSystem("linux", "/none", nil)
	s.LookPath = func(name string) (string, error) { return "/bin/" + name, nil }
	for id, want := range map[string]string{
		"codex":       "/bin/codex|mcp|add|n|--env|A=b c|--|/q|serve",
		"claude-code": "/bin/claude|mcp|add|-s|user|n|-e|A=b c|--|/q|serve",
		"gemini":      "/bin/gemini|mcp|add|-s|user|-e|A=b c|n|/q|--|serve",
		"copilot":     "/bin/copilot|mcp|add|n|--env|A=b c|--|/q|serve",
		"amp":         "/bin/amp|mcp|add|n|--env|A=b c|--|/q|serve",
		"opencode":    "/bin/opencode|mcp|add|n|--env|A=b c|--|/q|serve",
		"vscode":      `/bin/code|--add-mcp|{"name":"n","type":"stdio","command":"/q","args":["serve"],"env":{"A":"b c"}}`,
		"cursor":      "",
	} {
		if got := strings.Join(Find(id).OwnCommand(s, User, "n", small), "|"); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
	if Find("codex").OwnCommand(s, Project, "n", small) != nil || Find("codex").OwnCommand(fakeSystem("linux", "/none", nil), User, "n", small) != nil {
		t.Error("a command that can't be used")
	}
}

// A client's own command is trusted as far as its work can be checked.
func TestTheWorkOfAnOwnCommandIsChecked(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const plain = `{"numStartups":3,"mcpServers":{"a":{"command":"x"}}}`
	const withComments = "{\n  // mine\n  \"mcpServers\": {},\n}\n"
	good := func(c *Client, before []byte) []byte {
		out, err := c.Format.Set([]byte(strings.Replace(string(before), "3", "4", 1)), c.Entry(ReviewName), c.Object(User, ReviewName, sample))
		if err != nil {
			t.Error(err)
		}
		return out
	}
	for name, x := range map[string]struct {
		client, before string
		run            func(c *Client, before []byte) ([]byte, error)
		own            bool
		contains       []string
	}{
		"good":       {"claude-code", plain, func(c *Client, b []byte) ([]byte, error) { return good(c, b), nil }, true, []string{`"numStartups":4`}},
		"fails":      {"claude-code", plain, func(_ *Client, b []byte) ([]byte, error) { return b, errors.New("exit 1") }, false, []string{`"numStartups":3`}},
		"does less":  {"claude-code", plain, func(_ *Client, b []byte) ([]byte, error) { return b, nil }, false, []string{`"a":{"command":"x"}`}},
		"no file":    {"claude-code", "", func(c *Client, b []byte) ([]byte, error) { return good(c, b), nil }, true, nil},
		"eats notes": {"gemini", withComments, func(c *Client, _ []byte) ([]byte, error) { return good(c, nil), nil }, false, []string{"// mine", "},\n}"}},
		"breaks it":  {"gemini", withComments, func(*Client, []byte) ([]byte, error) { return []byte("{"), nil }, false, []string{"// mine"}},
	} {
		r := registry(t)
		c := Find(x.client)
		path := c.Path(r.System, User)
		if x.before != "" {
			write(t, path, x.before)
		}
		r.System.LookPath = func(n string) (string, error) { return "/bin/" + n, nil }
		r.Run = func(_ context.Context, argv []string) error {
			if argv[0] != "/bin/"+c.programs[0] {
				t.Errorf("%s: ran %v", name, argv)
			}
			before, _ := ledger.Peek(path)
			after, err := x.run(c, before)
			if after != nil {
				writeBytes(t, path, after)
			}
			return err
		}
		res := connect(t, r, c, User, ReviewName, sample)
		if res.Own != x.own {
			t.Errorf("%s: %+v", name, res)
		}
		got := read(t, path)
		if e, found, err := c.Lookup(got, ReviewName); err != nil || !found || !e.Same(sample) {
			t.Errorf("%s: %v %v\n%s", name, found, err, got)
		}
		for _, part := range x.contains {
			if !bytes.Contains(got, []byte(part)) {
				t.Errorf("%s: %q is gone\n%s", name, part, got)
			}
		}
		if res, err := r.Disconnect(ctx, c, User, ReviewName); err != nil || !res.Exact {
			t.Errorf("%s: %+v %v", name, res, err)
		}
		if x.before == "" {
			if exists(path) {
				t.Errorf("%s: the file is still there", name)
			}
		} else if got := string(read(t, path)); got != x.before {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	r := registry(t)
	if found := r.Find(); len(found) != 0 {
		t.Fatalf("%v", found)
	}
	connect(t, r, Find("zed"), User, AdvocateName, sample)
	connect(t, r, Find("claude-code"), Project, ReviewName, sample)
	write(t, Find("cursor").Path(r.System, User), "{")
	var got []string
	for _, f := range r.Find() {
		word := f.Name
		if f.Err != nil {
			word = "unreadable"
		}
		got = append(got, f.Client.ID+" "+string(f.Scope)+" "+word)
	}
	if want := []string{"claude-code project qa-orch", "cursor user unreadable", "zed user qa-orch-advocate"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestStablePath(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cellar := filepath.Join(home, "Cellar/qa-orch/1.0/bin/qa-orch")
	link := filepath.Join(home, "bin/qa-orch")
	write(t, cellar, "")
	mkdir(t, filepath.Dir(link))
	if err := os.Symlink("../Cellar/qa-orch/1.0/bin/qa-orch", link); err != nil {
		t.Fatal(err)
	}
	goRun := filepath.Join(home, "go-build12/b001/exe/qa-orch")
	write(t, goRun, "")
	temp := filepath.Join(home, "tmp/x/qa-orch")
	write(t, temp, "")
	into := filepath.Join(home, "bin/into")
	if err := os.Symlink(temp, into); err != nil {
		t.Fatal(err)
	}
	look := func(path string) func(string) (string, error) {
		return func(name string) (string, error) {
			if filepath.Base(path) == name {
				return path, nil
			}
			return "", exec.ErrNotFound
		}
	}
	for name, x := range map[string]struct {
		s    Started
		want string
		code PathCode
	}{
		"link on PATH":    {Started{Executable: cellar, Arg0: "qa-orch", LookPath: look(link)}, link, ""},
		"link typed":      {Started{Executable: cellar, Arg0: "./bin/qa-orch", Dir: home, LookPath: look("/none")}, link, ""},
		"another on PATH": {Started{Executable: cellar, Arg0: cellar, LookPath: look(goRun)}, cellar, ""},
		"nothing else":    {Started{Executable: cellar, Arg0: "", LookPath: look("/none")}, cellar, ""},
		"go run":          {Started{Executable: goRun, Arg0: goRun, LookPath: look("/none")}, "", GoRun},
		"temporary":       {Started{Executable: temp, Arg0: temp, LookPath: look("/none"), Temporary: []string{filepath.Join(home, "tmp")}}, "", Temporary},
		"link into it":    {Started{Executable: temp, Arg0: "into", LookPath: look(into), Temporary: []string{filepath.Join(home, "tmp")}}, "", Temporary},
		"deleted":         {Started{Executable: cellar + " (deleted)", LookPath: look("/none")}, "", Gone},
	} {
		got, err := x.s.StablePath()
		var problem *PathError
		errors.As(err, &problem)
		if x.code == "" && (err != nil || got != x.want) || x.code != "" && (problem == nil || problem.Code != x.code) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) { t.Helper(); writeBytes(t, path, []byte(text)) }

func writeBytes(t *testing.T, path string, data []byte) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
