//go:build unix

package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/qa-orch/qa-orch/core/advocate/files"
)

// poison is text that steers a terminal in every way at hand: it would set the clipboard and the title,
// ring, clear, turn the direction of writing, hide and go back on the line.
const poison = "\x1b]52;c;UE9JU09O\x07\x1b]0;x\x1b\\\x1b]8;;http://x\x07\u009b2J\u009d0;x\u009c\u202e\u2066\u200b\ufeff\r\x08\x7f\U000e0041"

// poisonName is poison for the name of a file.
var poisonName = strings.ReplaceAll(poison, "/", "")

// harmless checks that nothing of what was written steers a terminal.
func harmless(t *testing.T, what, written string) {
	t.Helper()
	for i, r := range written {
		if r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != unicode.ReplacementChar {
			continue
		}
		t.Errorf("%s: %U reaches the terminal in %.200q", what, r, written[max(i-100, 0):])
		return
	}
}

// tame checks a full screen, which steers the terminal itself: that nothing of poison does.
func tame(t *testing.T, what, written string) {
	t.Helper()
	for _, part := range []string{"\x1b]52", "\x1b]0;", "\x1b]8;", "\u009b", "\u009d", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\x08", "\x7f"} {
		if i := strings.Index(written, part); i >= 0 {
			t.Errorf("%s: %q reaches the terminal in %.200q", what, part, written[max(i-100, 0):])
			return
		}
	}
}

func init() { programs["poisoner"] = poisoner }

// poisoner is a server that answers with poison: with a version and tools, or with an error.
func poisoner() {
	fmt.Fprintln(os.Stderr, poison)
	fails := len(os.Args) > 1 && os.Args[1] == "fails"
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch {
		case fails:
			answer["error"] = map[string]any{"code": -32603, "message": poison + strings.Repeat("long ", 5000)}
		case m.Method == "initialize":
			answer["result"] = map[string]any{
				"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": poison, "version": poison + strings.Repeat("9", 5000)},
			}
		default:
			answer["result"] = map[string]any{"tools": []any{map[string]any{
				"name": poison, "inputSchema": map[string]any{"type": "object"},
			}}}
		}
		_ = json.NewEncoder(os.Stdout).Encode(answer)
	}
}

// poisoned makes somebody with poison in every place that the program reads: the names of folders and
// files, the policy, the models, the sessions, the reviews, the clients' lists, what servers answer.
func poisoned(t *testing.T, lang string) *person {
	t.Helper()
	p := newPerson(t, filepath.Join(t.TempDir(), poisonName), "QA_ORCH_LANG="+lang, "LANG=en_US."+poison, "LC_CTYPE=x."+poison)
	jsonOf := func(v any) string {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	p.put(filepath.Join(p.home, ".qa-orchestrator", "models.toml"),
		"[[model]]\nid = \"mine\"\nprovider = \"openai\"\nreasoning = [\"low\"]\nlabel = {en = "+tomlOf(poison)+", ru = "+tomlOf(poison)+"}\n", 0o600)

	s := p.peer("serve", "--store", p.store())
	id := s.must("start_qa_orchestration", map[string]any{"task_type": "other"}).str("run_id")
	s.end()
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(p.store()))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`INSERT INTO sessions SELECT 'qar-00000000000000000000000000000001', replace(replace(payload, '` + id + `', 'qar-00000000000000000000000000000001'), 'gpt-6-luna', 'POISON') FROM sessions`,
		`INSERT INTO sessions SELECT 'POISON', payload FROM sessions LIMIT 1`,
		`INSERT INTO sessions VALUES ('qar-00000000000000000000000000000002', '{"status":"POISON","run_id":"POISON"}')`,
		`INSERT INTO sessions VALUES ('qar-00000000000000000000000000000003', 'POISON')`,
	} {
		if _, err := db.Exec(strings.ReplaceAll(statement, "POISON", poison)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	reviews := filepath.Join(p.home, ".mcp-devils-advocate")
	if err := files.New(reviews).Create(completeReview(t, "Ship "+poison+" it "+strings.Repeat("very long ", 2000)+poison)); err != nil {
		t.Fatal(err)
	}
	p.put(filepath.Join(reviews, "rev-"+poisonName+".json"), poison, 0o600)
	p.put(filepath.Join(reviews, "rev-bad1.json"), `{"id":`+jsonOf(poison)+`,"mode":`+jsonOf(poison)+`}`, 0o600)

	server := func(command string, args ...string) map[string]any {
		return map[string]any{"command": command, "args": args, "env": map[string]any{"X": poison, poison: "x"}}
	}
	poisonerPath := lookPath(t, "poisoner")
	list := func(dir string, ours map[string]any) {
		p.put(filepath.Join(p.home, dir), jsonOf(map[string]any{poison: poison, "mcpServers": map[string]any{
			"qa-orch": ours, "qa-orch-advocate": server(poison, poison), poison: server(poison, poison),
		}}), 0o600)
	}
	list(".cursor/mcp.json", server(poisonerPath))
	list(".gemini/settings.json", server(poisonerPath, "fails"))
	list(".junie/mcp/mcp.json", server("/gone/"+poison))
	list(".lmstudio/mcp.json", server("relative"+poison, poison))
	p.put(filepath.Join(p.project, ".mcp.json"), jsonOf(map[string]any{"mcpServers": map[string]any{"qa-orch": server(poison, poison)}}), 0o600)
	p.put(filepath.Join(p.home, ".codex", "config.toml"), "# "+poison[:4]+"\n[mcp_servers."+tomlOf(poison)+"]\ncommand = "+tomlOf(poison)+"\n", 0o600)
	p.put(filepath.Join(p.home, ".config", "zed", "settings.json"), `{ // `+strings.ReplaceAll(poison, "\r", "")+"\n\"a\": 1 }", 0o600)
	p.put(filepath.Join(p.project, "answer"+poisonName+".md"), "## "+poison+"\n\n# Candidates\n\n- "+poison+"\n", 0o600)
	return p
}

// tomlOf spells a string in TOML.
func tomlOf(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\U%08x`, r)
	}
	return `"` + b.String() + `"`
}

// What comes from outside never steers the terminal of whoever looks at it, whatever it is and wherever
// it shows up.
func TestNothingSteersTheTerminal(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ru"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			p := poisoned(t, lang)
			written := 0 // how often poison was shown, made inert
			check := func(what string, s said) {
				t.Helper()
				harmless(t, what+", output", s.out)
				harmless(t, what+", errors", s.err)
				written += strings.Count(s.out+s.err, `\x1b]52`) + strings.Count(s.out+s.err, `\u001b]52`)
				if s.code < 0 || strings.Contains(s.err, "goroutine ") {
					t.Errorf("%s: exit code %d\n%s", what, s.code, s.err)
				}
				for line := range strings.Lines(s.out + s.err) {
					if len(line) > 30_000 && !strings.Contains(what, "json") && !strings.Contains(what, "rev-demo") && !strings.Contains(what, "__complete") {
						t.Errorf("%s: a line of %d bytes: %.80q…", what, len(line), line)
					}
				}
			}
			run := func(args ...string) {
				t.Helper()
				check(fmt.Sprintf("%.80q", args), p.run(args...))
			}
			memo, answer := filepath.Join(p.home, "memo.md"), filepath.Join(p.project, "answer"+poisonName+".md")
			for _, args := range [][]string{
				{"config", "show"},
				{"reload"},
				{"reload", "--json"},
				{"config", "show", "--json"},
				{"sessions"},
				{"sessions", "--plain"},
				{"sessions", "--json"},
				{"sessions", "show", "qar-00000000000000000000000000000001"},
				{"sessions", "show", "qar-00000000000000000000000000000001", "--json"},
				{"sessions", "show", poison},
				{"advocate", "list"},
				{"advocate", "list", "--json"},
				{"advocate", "show", "rev-demo"},
				{"advocate", "show", "rev-demo", "--json"},
				{"advocate", "show", "rev-bad1"},
				{"advocate", "show", poison},
				{"advocate", "report", "rev-demo"},
				{"advocate", "report", "rev-demo", "--format", "json"},
				{"advocate", "report", "rev-demo", "-o", memo},
				{"advocate", "report", "rev-demo", "-o", memo},
				{"connect", "--list"},
				{"connect", "--list", "--json"},
				{"connect", "generic"},
				{"connect", "generic", "--advocate"},
				{"connect", "cursor", "--dry-run"},
				{"connect", "codex", "--dry-run"},
				{"connect", "zed", "--dry-run"},
				{"connect", "claude-code", "--scope", "project", "--dry-run"},
				{"connect", "gemini", "--yes"},
				{"connect", "zed", "--yes"},
				{"disconnect", "zed", "--yes"},
				{"disconnect", "junie", "--yes"},
				{"disconnect", "junie"},
				{"rules", "--install"},
				{"rules", "--remove"},
				{"doctor"},
				{"doctor", "--json"},
				{"eval", "check", "code-reviewer", answer},
				{"eval", "check", "code-reviewer", poison},
				{"eval", "show", poison},
				{"profiles", poison},
				{"docs", "man", filepath.Join(p.home, poisonName)},
				{"docs", "man", memo},
				{poison},
				{"--" + poison},
				{"--lang", poison, "version"},
				{"serve", "--tools", poison},
				{"setup", "--triage-model", poison},
				{"connect", poison},
				{"__complete", "setup", "--triage-model", ""},
				{"__complete", "advocate", "show", ""},
				{"__complete", poison},
				{"version"},
				append(append([]string{}, setupFlags...), "--dry-run"), setupFlags,
			} {
				run(args...)
			}
			for what, policy := range map[string]string{
				"a value": `{"provider":"` + inJSON(poison) + `"}`, "a key": `{"` + inJSON(poison) + `":1}`, "no JSON": poison,
				"a model": `{"provider":"openai","triage_model":"` + inJSON(poison) + `"}`,
			} {
				p.put(p.policy(), policy, 0o600)
				for _, args := range [][]string{{"config", "show"}, {"reload"}, {"doctor"}} {
					check(what+" in the policy, "+args[0], p.run(args...))
				}
				s := p.peer("serve", "--store", filepath.Join(p.home, poisonName, poisonName))
				s.call("start_qa_orchestration", map[string]any{"task_type": poison})
				s.end()
				harmless(t, what+" in the policy, a server's errors", s.stderr.String())
			}
			for _, variable := range []string{
				"QA_ORCHESTRATOR_TOOLS", "QA_ORCHESTRATOR_ORCHESTRATION_TTL_SECONDS", "QA_ORCHESTRATOR_ORCHESTRATION_MAX_SESSIONS",
				"QA_ORCHESTRATOR_DATA_DIR", "QA_ORCHESTRATOR_MODEL_POLICY_PATH", "QA_ORCHESTRATOR_SESSION_STORE_PATH", "DEVILS_ADVOCATE_DIR",
				"QA_ORCH_LANG", "LC_ALL", "TERM", "COLORTERM", "COLORFGBG", "NO_COLOR", "HOME", "PATH", "TMPDIR",
			} {
				if lang != "en" {
					continue // what is put in is the same
				}
				for _, args := range [][]string{{"sessions", "--plain"}, {"connect", "generic"}, {"advocate", "list"}} {
					check(variable+" "+args[0], p.runWith([]string{variable + "=" + poison}, args...))
				}
			}
			if written < 100 {
				t.Errorf("poison was shown %d times: it does not get where this test thinks", written)
			}
		})
	}
}

// inJSON spells a string in JSON, without its quotes.
func inJSON(s string) string {
	data, _ := json.Marshal(s)
	return string(data[1 : len(data)-1])
}

// The same on terminals: screens steer them, what they show does not.
func TestNothingSteersTheTerminalFromAScreen(t *testing.T) {
	t.Parallel()
	p := poisoned(t, "en")
	env := append(append([]string{}, p.env...), "TERM=xterm-256color")
	for _, c := range []struct {
		args []string
		sees string
		keys []string
	}{
		{nil, "setup", []string{keyCtrlC}},
		{[]string{"sessions"}, "active", []string{keyEnter, keyEsc, "/" + "x" + keyEsc, "\t", "\t", keyEnter, keyCtrlC}},
		{[]string{"setup"}, "English", []string{keyEnter, keyEnter, keyEnd, keyEnter, keyCtrlC}},
		{[]string{"setup", "--accessible"}, "English", []string{keyCtrlC}},
		{[]string{"advocate"}, "Ship", nil},
		{[]string{"advocate", "show", "rev-demo"}, "Verdict", nil},
		{[]string{"connect", "gemini"}, "[y/N]", []string{"n\r"}},
		{[]string{"doctor"}, "Clients", nil},
		{[]string{"config", "show"}, "gpt", nil},
		{[]string{"connect", "--list"}, "Junie", nil},
	} {
		s := sitDown(t, onTerminal{columns: 100, rows: 40, env: env, mute: true}, c.args...)
		s.see(c.sees)
		for _, key := range c.keys {
			s.press(key)
		}
		<-s.ended
		tame(t, fmt.Sprint(c.args), s.written())
	}
}
