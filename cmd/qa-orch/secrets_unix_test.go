//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/clients"
)

func init() {
	programs["blabber"] = func() { // a server that tells its environment
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"%s %s\"}}\n", os.Getenv("OPENAI_API_KEY"), os.Getenv("MINE"))
		fmt.Println(os.Environ())
	}
}

// secretLists are clients' lists as people have them, with the secrets of other servers and one in our
// own entry, laid out so that a change of ours touches the lines that they are on.
var secretLists = map[string]map[string]string{
	"cursor": {
		"one line":       `{"mcpServers":{"other":{"command":"x","env":{"T":"CANARY"}}},"token":"CANARY"}`,
		"one line, ours": `{"mcpServers":{"other":{"command":"x","env":{"T":"CANARY"}},"qa-orch":{"command":"SELF","args":["serve","--token","CANARY"],"env":{"OPENAI_API_KEY":"CANARY"}}}}`,
		"before":         "{\n  \"mcpServers\": {\n    \"other\": {\"env\": {\"T\": \"CANARY\"}}\n  }\n}\n",
		"behind":         "{\n  \"mcpServers\": {}, \"token\": \"CANARY\" }\n",
		"a comment":      "{\n  \"mcpServers\": {\n    \"o\": {\"k\": \"CANARY\"} // CANARY\n  }\n}\n",
		"ours":           "{\n  \"mcpServers\": {\n    \"qa-orch\": {\"command\": \"BLABBER\", \"args\": [\"CANARY\"], \"env\": {\"MINE\": \"CANARY\", \"CANARY\": \"\"}},\n    \"o\": \"CANARY\"\n  }\n}\n",
		"no JSON":        "{\n  \"token\": \"CANARY\n",
	},
	"vscode": {"one line": `{"servers":{"o":{"type":"stdio","env":{"T":"CANARY"}}},"inputs":[{"password":"CANARY"}]}`},
	"codex": {
		"before":  "[mcp_servers.o]\ncommand = \"x\"\nenv = { T = \"CANARY\" }",
		"ours":    "[mcp_servers.qa-orch]\ncommand = \"BLABBER\"\nargs = [\"CANARY\"] # CANARY\n\n[mcp_servers.qa-orch.env]\nMINE = \"CANARY\"\n\n[mcp_servers.o.env]\nT = \"CANARY\"\n",
		"no TOML": "token = \"CANARY\n",
	},
	"goose": {
		"no lines": "extensions: {o: {cmd: x, envs: {T: CANARY}}}\n",
		"ours":     "extensions:\n  qa-orch: {type: stdio, cmd: BLABBER, args: [CANARY], envs: {MINE: CANARY}} # CANARY\n  o:\n    envs: {T: CANARY}\n",
		"before":   "extensions:\n  o:\n    envs:\n      T: CANARY",
		"no YAML":  "token: [CANARY\n",
	},
}

// No secret is printed: not those of the environment, not those in clients' lists, not those that
// somebody gives where something else is asked for. No file of ours holds one, except the backup of a
// client's list, which is private.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	p := newPerson(t, t.TempDir(), umaskVar+"=000",
		"OPENAI_API_KEY="+canary, "ANTHROPIC_API_KEY="+canary, "QA_ORCH_TOKEN="+canary, "QA_ORCHESTRATOR_KEY="+canary, "GITHUB_TOKEN="+canary, canary+"=1")
	silent := func(what string, s said) {
		t.Helper()
		for stream, text := range map[string]string{"output": s.out, "errors": s.err} {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s: %s tell a secret: %.200s", what, stream, text[max(0, i-100):])
			}
		}
	}
	run := func(args ...string) {
		t.Helper()
		silent(strings.Join(args, " "), p.run(args...))
	}
	p.must(setupFlags...)
	for _, args := range [][]string{
		{"doctor"},
		{"doctor", "--json"},
		{"config", "show"},
		{"reload"},
		{"version", "--json"},
		{"sessions", "--json"},
		{"help"},
		{"connect", "generic"},
		{"connect", "--list"},
		{"connect", "--list", "--json"},
		{"demo", "--with-advocate"},
		{"advocate", "list", "--json"},
		{"profiles"},
		{"completion", "zsh"},
		// Where something else is asked for.
		{canary},
		{"--" + canary},
		{"-" + canary},
		{"--lang", canary, "version"},
		{"serve", "--tools", canary},
		{"setup", "--triage-model", canary + "!"},
		{"setup", "--provider", canary},
		{"connect", canary},
		{"disconnect", canary},
		{"rules", canary},
		{"profiles", canary},
		{"sessions", "show", canary},
		{"advocate", "show", canary},
		{"advocate", "report", "rev-none", "--format", canary},
		{"eval", "show", canary},
		{"completion", canary},
		{"help", canary},
	} {
		run(args...)
	}
	for _, name := range []string{
		"QA_ORCHESTRATOR_TOOLS", "QA_ORCHESTRATOR_ORCHESTRATION_TTL_SECONDS", "QA_ORCHESTRATOR_ORCHESTRATION_MAX_SESSIONS", "QA_ORCH_LANG", "COLORFGBG", "LC_ALL",
	} {
		for _, args := range [][]string{{"doctor", "--json"}, {"serve"}, {"connect", "generic"}} {
			silent(name+", "+strings.Join(args, " "), p.runWith([]string{name + "=" + canary}, args...))
		}
	}
	for what, policy := range map[string]string{
		"a key": `{"` + canary + `":"x"}`, "a value": `{"provider":"` + canary + `"}`, "a model": `{"provider":"openai","triage_model":"!` + canary + `"}`, "no JSON": canary,
	} {
		p.put(p.policy(), policy, 0o600)
		p.put(filepath.Join(filepath.Dir(p.policy()), "models.toml"), "[[model]]\nid = \"!"+canary+"\"\n"+canary+" = 1\n", 0o600)
		for _, args := range [][]string{{"config", "show"}, {"reload"}, {"doctor"}, {"sessions"}} {
			silent(what+" of the policy, "+args[0], p.run(args...))
		}
		s := p.peer("serve", "--store", p.store())
		for _, tool := range []string{"start_qa_orchestration", "advance_qa_orchestration", canary} {
			a, err := s.tryCall(tool, map[string]any{"task_type": canary, canary: canary, "run_id": canary})
			silent(what+" of the policy, "+tool, said{out: a.raw, err: fmt.Sprint(err)})
			if err != nil && tool == canary { // an error of the protocol, which this client does not expect
				s.next++
			}
		}
		s.end()
		silent(what+" of the policy, a server's log", said{err: s.stderr.String()})
	}
	if err := os.RemoveAll(filepath.Dir(p.policy())); err != nil {
		t.Fatal(err)
	}

	system := clients.System{OS: "linux", Home: p.home, Dir: p.project, Getenv: func(string) string { return "" }}
	replace := strings.NewReplacer("CANARY", canary, "BLABBER", lookPath(t, "blabber"), "SELF", programPath(t))
	for client, lists := range secretLists {
		for what, text := range lists {
			what = client + ", " + what
			path := clients.Find(client).Path(system, clients.User)
			p.put(path, replace.Replace(text), 0o644)
			for _, args := range [][]string{{"--dry-run"}, {"--advocate", "--dry-run"}} {
				s := p.run(append([]string{"connect", client}, args...)...)
				silent(what+strings.Join(args, " "), s)
				if !strings.Contains(what, ", no ") && (s.code != exitOK || !strings.Contains(s.out, "+ ")) {
					t.Errorf("%s: exit code %d, and no change is shown:\n%s%s", what, s.code, s.out, s.err)
				}
			}
			looks := [][]string{{"connect", "--list"}}
			if strings.HasSuffix(what, "ours") {
				looks = append(looks, []string{"connect", "--list", "--json"}, []string{"doctor"}, []string{"doctor", "--json"})
			}
			for _, args := range append(looks, []string{"connect", client, "--yes"}) {
				silent(what+", "+strings.Join(args, " "), p.run(args...))
			}
			private(t, p, path)
			silent(what+", disconnect", p.run("disconnect", client, "--yes"))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Dir(p.policy())); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// private checks that of all files beside the client's list only private backups hold the canary.
func private(t *testing.T, p *person, list string) {
	t.Helper()
	for path, mode := range modesIn(t, filepath.Dir(p.home)) {
		if !mode.IsRegular() || path == list {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte(canary)) {
			continue
		}
		if ok, _ := filepath.Match(filepath.Join(p.home, ".qa-orchestrator", "connections", "*-"+filepath.Base(list)), path); !ok || mode.Perm() != fs.FileMode(0o600) {
			t.Errorf("%s (%v) holds a secret", path, mode)
		}
	}
	if info, err := os.Stat(list); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%s: the mode is not what the person chose: %v, %v", list, info, err)
	}
}
