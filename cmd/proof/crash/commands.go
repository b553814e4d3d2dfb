package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play"
)

// command is a command of qa-orch that is killed in a home of its own.
type command struct {
	name string
	// files are what the home holds, by path, before anything of ours is run; a
	// path that ends in a slash is a folder, and "-> x" the text of a link to x.
	files map[string]string
	// before are commands that are run, to their end, before this one.
	before [][]string
	args   []string
	input  string
	// terminal runs it on a terminal where somebody presses Enter all the time.
	terminal bool
	// undo takes it back, to the byte.
	undo []string
	// once tells that the command refuses to do its work a second time.
	once bool
	// looks tells that the command is to change nothing.
	looks bool
}

// Paths in a home.
const (
	dataFolder = ".qa-orchestrator"
	policyFile = dataFolder + "/model-policy.json"
	storeFile  = dataFolder + "/sessions.sqlite3"
	reviews    = ".mcp-devils-advocate"
	project    = "project" // the folder that commands are run in
	reviewFile = reviews + "/rev-kept.json"
)

const (
	policyText  = `{"provider":"anthropic","triage_model":"claude-opus-5","primary_model":"claude-opus-5","deep_model":"claude-opus-5","synthesis_model":"claude-opus-5"}` + "\n"
	brokenText  = `{"provider":"anthropic", "my_notes": ["keep", "these"]` + "\n"
	codexText   = "# mine\nmodel = \"x\" # and why\n\n[mcp_servers.other]\ncommand = \"other\"\n"
	jsonText    = "{\r\n  \"theme\": \"dark\",\r\n  \"mcpServers\": {\r\n    \"other\": {\"command\": \"other\", \"env\": {\"TOKEN\": \"t\"}}\r\n  }\r\n}\r\n"
	jsoncText   = "{\n  // mine\n  \"mcp\": {\n    \"other\": {\"type\": \"local\", \"command\": [\"other\"]}, // last\n  },\n}\n"
	yamlText    = "# mine\nGOOSE_MODEL: x\nextensions:\n  other:\n    type: stdio\n    cmd: other\n"
	projectText = "# Rules of the project\n\nBe kind.\n"
)

// handshake is what a host says first.
const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"proof","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func toolCalls(n int, tool, arguments string) string {
	var b strings.Builder
	b.WriteString(handshake)
	for i := range n {
		fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s}}`+"\n", i+2, tool, arguments)
	}
	return b.String()
}

var setupFlags = []string{
	"setup", "--provider", "openai", "--triage-model", "gpt-6-luna", "--primary-model", "gpt-6-sol", "--deep-model", "gpt-6-sol", "--synthesis-model", "gpt-6-sol",
}

// commands are all that write something, each over what may be there before.
func commands() []command {
	list := []command{
		{name: "setup, for the first time", args: setupFlags},
		{name: "setup over a policy", files: map[string]string{policyFile: policyText}, args: setupFlags},
		{name: "setup over a broken policy", files: map[string]string{policyFile: brokenText}, args: setupFlags},
		{
			name:  "setup through a link",
			files: map[string]string{"dotfiles/policy": policyText, policyFile: "-> ../dotfiles/policy"}, args: setupFlags,
		},
		{name: "setup on a screen", files: map[string]string{policyFile: brokenText}, args: []string{"setup"}, terminal: true},
		{name: "setup line by line", args: []string{"setup", "--accessible"}, terminal: true},
		{name: "rules, into a file", files: map[string]string{project + "/AGENTS.md": projectText}, args: words("rules codex --install"), undo: words("rules codex --remove")},
		{name: "rules, for several clients", files: map[string]string{".codex/": "", ".cursor/": "", ".claude/": "", project + "/CLAUDE.md": projectText}, args: words("rules --install"), undo: words("rules --remove")},
		{name: "rules, taken out", files: map[string]string{".codex/": "", project + "/AGENTS.md": projectText, ".cursor/": ""}, before: [][]string{words("rules --install")}, args: words("rules --remove")},
		{name: "report into a new file", args: words("advocate report rev-kept -o out/memo.md"), once: true},
		{name: "report over a file", files: map[string]string{project + "/memo.json": "{}\n"}, args: words("advocate report rev-kept --format json -o memo.json --force")},
		{name: "manual pages", files: map[string]string{project + "/man/qa-orch.1": "old\n"}, args: words("docs man man")},
		{name: "demo", args: words("demo --with-advocate"), looks: true},
		{name: "doctor", files: map[string]string{policyFile: policyText}, before: [][]string{words("connect codex --yes")}, args: words("doctor"), looks: true},
		{name: "serve, its first start", args: []string{"serve", "--store", "~/" + storeFile}, input: toolCalls(3, "start_qa_orchestration", `{"task_type":"other"}`)},
		{name: "advocate serve, its first start", args: words("advocate serve"), input: toolCalls(3, "start_review", `{"claim":"Release 4.2 is ready","mode":"premortem"}`)},
	}
	for _, c := range []struct{ id, path, text string }{
		{"codex", ".codex/config.toml", codexText},
		{"claude-code", ".claude.json", jsonText},
		{"opencode", ".config/opencode/opencode.jsonc", jsoncText},
		{"goose", ".config/goose/config.yaml", yamlText},
	} {
		connect, disconnect := []string{"connect", c.id, "--yes"}, []string{"disconnect", c.id, "--yes"}
		theirs := map[string]string{c.path: c.text}
		list = append(list,
			command{name: "connect " + c.id, args: connect, undo: disconnect},
			command{name: "connect " + c.id + ", into a file", files: theirs, args: connect, undo: disconnect},
			command{name: "disconnect " + c.id, files: theirs, before: [][]string{connect}, args: disconnect},
		)
	}
	return append(list,
		command{name: "connect cursor in a project", args: words("connect cursor --scope project --yes"), undo: words("disconnect cursor --yes")},
		command{name: "connect to all", files: map[string]string{".codex/config.toml": codexText, ".gemini/": "", ".config/goose/config.yaml": yamlText}, args: words("connect --yes")},
		command{
			name: "connect another server", files: map[string]string{".codex/config.toml": codexText}, before: [][]string{words("connect codex --yes")},
			args: words("connect codex --advocate --yes"), undo: words("disconnect codex --advocate --yes"),
		},
		command{
			name: "disconnect one of two servers", files: map[string]string{".codex/config.toml": codexText},
			before: [][]string{words("connect codex --yes"), words("connect codex --advocate --yes")},
			args:   words("disconnect codex --yes"), undo: words("disconnect codex --advocate --yes"),
		},
		command{name: "disconnect cursor, whose file was ours", before: [][]string{words("connect cursor --yes")}, args: words("disconnect cursor --yes")},
	)
}

func words(line string) []string { return strings.Fields(line) }

// lay makes the home as it is before any command.
func (c command) lay(home string) error {
	files := map[string]string{project + "/": "", tempFolder + "/": "", "programs/": ""}
	if strings.Contains(strings.Join(c.args, " "), "rev-kept") {
		text, err := finishedReview()
		if err != nil {
			return err
		}
		files[reviewFile] = text
	}
	for path, text := range c.files {
		files[path] = text
	}
	t := tree{}
	for path, text := range files {
		for dir := strings.TrimSuffix(path, "/"); dir != "."; {
			if dir = parent(dir); dir != "." {
				t[dir] = entry{mode: fs.ModeDir | 0o700}
			}
		}
		link, isLink := strings.CutPrefix(text, "-> ")
		switch {
		case strings.HasSuffix(path, "/"):
			t[strings.TrimSuffix(path, "/")] = entry{mode: fs.ModeDir | 0o700}
		case isLink:
			t[path] = entry{mode: fs.ModeSymlink, content: link}
		default:
			t[path] = entry{mode: 0o600, content: text}
		}
	}
	return t.restore(home)
}

func parent(path string) string {
	if i := strings.LastIndex(path, "/"); i > 0 {
		return path[:i]
	}
	return "."
}

// finishedReview is the file of a complete review.
func finishedReview() (string, error) {
	folder, err := os.MkdirTemp("", "review-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	script, err := play.In(locales.En)
	if err != nil {
		return "", err
	}
	d := desk.New(folder)
	started, err := d.StartReview(script.Claim, advocate.DevilsAdvocate, script.Context)
	if err != nil {
		return "", err
	}
	for _, phase := range advocate.DevilsAdvocate.Phases() {
		items, err := play.Submission(script.Of(phase).Items)
		if err != nil {
			return "", err
		}
		if _, err := d.Submit(started.ReviewID, items); err != nil {
			return "", err
		}
	}
	data, err := os.ReadFile(filepath.Join(folder, started.ReviewID+".json"))
	return strings.ReplaceAll(string(data), started.ReviewID, "rev-kept"), err
}

// varies tells of files that are other ones in each run, however undisturbed:
// stores and reviews. checkVarying looks after them.
func varies(name string) bool {
	return strings.HasPrefix(name, dataFolder+"/sessions.sqlite3") || strings.HasPrefix(name, reviews+"/") && name != reviewFile ||
		name == dataFolder || name == reviews // made for them, at one moment or another
}

// checkVarying holds stores and reviews in a home to being whole, and to having
// what a server has acknowledged.
func checkVarying(ctx context.Context, home string, acknowledged []string) (found []string) {
	there := map[string]bool{}
	store := filepath.Join(home, filepath.FromSlash(storeFile))
	if _, err := os.Stat(store); !gone(err) {
		sessions, problems := checkStore(ctx, store)
		found = append(found, problems...)
		for _, s := range sessions {
			there[s.RunID] = true
		}
	}
	rows, problems := checkReviews(filepath.Join(home, reviews))
	found = append(found, problems...)
	for _, r := range rows {
		there[r.ReviewID] = true
	}
	for _, id := range acknowledged {
		if !there[id] {
			found = append(found, id+" was acknowledged and is gone")
		}
	}
	return found
}

// checkStore holds a store to being whole and private, and returns what is in it.
func checkStore(ctx context.Context, path string) (sessions []review.Session, found []string) {
	found = append(found, private(filepath.Dir(path))...)
	in, err := sqlite.Inspect(ctx, path)
	if unusable := (*sqlite.Unusable)(nil); errors.As(err, &unusable) && unusable.Reason == sqlite.HotJournal {
		// It was killed while it made the file. Looking changes nothing, and so can't
		// see what only the next server takes back.
		next := sqlite.New(path, nil)
		if err := next.Open(ctx); err != nil {
			return nil, append(found, err.Error())
		}
		if err := next.Close(); err != nil {
			return nil, append(found, err.Error())
		}
		in, err = sqlite.Inspect(ctx, path)
	}
	if err != nil {
		return nil, append(found, err.Error())
	}
	defer in.Close()
	if err := in.Integrity(ctx); err != nil {
		found = append(found, err.Error())
	}
	rows, err := in.Rows(ctx, time.Now())
	if err != nil {
		found = append(found, err.Error())
	} else if rows.Bad > 0 {
		found = append(found, fmt.Sprintf("%d rows of the store can't be read", rows.Bad))
	}
	return rows.Sessions, found
}

// checkReviews holds the files of reviews to being whole and private, and returns
// what they are.
func checkReviews(folder string) (rows []advocate.Row, found []string) {
	if _, err := os.Stat(folder); gone(err) {
		return nil, nil
	}
	found = append(found, private(folder)...)
	list, err := desk.New(folder).List()
	if err != nil {
		return nil, append(found, err.Error())
	}
	for _, s := range list.Skipped {
		found = append(found, fmt.Sprintf("review %s can't be read: %s", s.File, s.Why))
	}
	return list.Reviews, found
}

// private lists what is in a folder of ours that others may look into.
func private(folder string) (found []string) {
	if runtime.GOOS == "windows" {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			found = append(found, fmt.Sprintf("others may look into %s (%v)", path, info.Mode()))
		}
		return nil
	})
	return found
}

// answers counts the answers in what a server wrote, and returns the ids of what
// it says that it has started. A last line that was cut off is none.
func answers(output string) (ids []string, err error) {
	for line := range strings.Lines(output) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		var r struct {
			Result struct {
				Structured struct {
					RunID    string `json:"run_id"`
					ReviewID string `json:"review_id"`
				} `json:"structuredContent"`
				IsError bool
			}
			Error *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("%w in %q", err, line)
		}
		if r.Error != nil || r.Result.IsError {
			return nil, errors.New(strings.TrimSpace(line))
		}
		if id := r.Result.Structured.RunID + r.Result.Structured.ReviewID; id != "" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
