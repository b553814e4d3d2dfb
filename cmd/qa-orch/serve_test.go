package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/server/servertest"
)

var runIDs = regexp.MustCompile(`qar-[0-9a-f]{32}`)

// canary stands for a secret that gets where it does not belong.
const canary = "sk-CANARY-5b1f"

// peer is a server process and a client that speaks to it in raw lines, one
// request at a time.
type peer struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	next   int
}

// programPath is the binary under test: this test binary, which acts as the program.
func programPath(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// bareEnv is an environment with nothing of the person's in it.
func bareEnv(home string, extra ...string) []string {
	return append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GORACE=" + noRaceSleep, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, extra...)
}

func startPeer(t testing.TB, env []string, args ...string) *peer {
	t.Helper()
	return startPeerAs(t, programPath(t), env, args...)
}

// startPeerAs is startPeer for another program that becomes this one.
func startPeerAs(t testing.TB, path string, env []string, args ...string) *peer {
	t.Helper()
	p := &peer{t: t, cmd: exec.Command(path, args...), stderr: &bytes.Buffer{}}
	p.cmd.Env = env
	p.cmd.Stderr = p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<16)
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() })
	return p
}

// answer is what a call gave.
type answer struct {
	state   map[string]any // of a result
	refusal string         // of a tool error
	raw     string
}

func (a answer) str(name string) string { s, _ := a.state[name].(string); return s }

// tryCall calls a tool; an error means that the server is gone.
func (p *peer) tryCall(tool string, args map[string]any) (answer, error) {
	p.next++
	request, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": p.next, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		return answer{}, err
	}
	if _, err := p.in.Write(append(request, '\n')); err != nil {
		return answer{}, err
	}
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			return answer{}, err
		}
		var r struct {
			ID     int
			Method string
			Result struct {
				Content    []struct{ Text string }
				Structured map[string]any `json:"structuredContent"`
				IsError    bool
			}
			Error *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return answer{}, fmt.Errorf("%w in %q", err, line)
		}
		if r.Method != "" {
			continue // a notification
		}
		if r.ID != p.next || r.Error != nil || len(r.Result.Content) != 1 {
			return answer{}, fmt.Errorf("an answer to %d: %s", p.next, line)
		}
		a := answer{state: r.Result.Structured, raw: line}
		if r.Result.IsError {
			a.refusal = r.Result.Content[0].Text
		}
		return a, nil
	}
}

func (p *peer) call(tool string, args map[string]any) answer {
	p.t.Helper()
	a, err := p.tryCall(tool, args)
	if err != nil {
		p.t.Fatalf("%s: %v; stderr: %s", tool, err, p.stderr)
	}
	return a
}

// must calls a tool that has to succeed.
func (p *peer) must(tool string, args map[string]any) answer {
	p.t.Helper()
	a := p.call(tool, args)
	if a.refusal != "" {
		p.t.Fatalf("%s: %s", tool, a.refusal)
	}
	return a
}

// refused calls a tool that has to refuse with the phrase.
func (p *peer) refused(phrase, tool string, args map[string]any) string {
	p.t.Helper()
	a := p.call(tool, args)
	if !strings.HasPrefix(a.refusal, phrase+": ") {
		p.t.Errorf("%s: %q, want %q", tool, a.refusal, phrase)
	}
	return a.refusal
}

// end closes the input and returns the exit code.
func (p *peer) end() int {
	p.t.Helper()
	p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return 0
}

func (p *peer) kill() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() }

func storeEnv(path string) string { return "QA_ORCHESTRATOR_SESSION_STORE_PATH=" + path }

// report is the arguments that move session a on to its next step.
func report(a answer) map[string]any {
	args := map[string]any{"run_id": a.str("run_id"), "completed_step": a.str("current_step"), "status": "completed"}
	switch a.str("current_step") {
	case "triage":
		args["selected_bundle"] = "ordinary_mr"
	case "primary_review":
		args["completed_profile"] = a.str("current_profile")
		if len(a.state["completed_profiles"].([]any))+1 == len(a.state["review_profiles"].([]any)) {
			args["risk_signals"] = map[string]any{"evidence_conflict": true, "high_risk_domain": true}
		}
	}
	return args
}

// otherClient is a client that others wrote, connected to the program. Every
// result of its calls is checked against the tool's schema, by itself and by us.
func otherClient(t *testing.T, env []string, args ...string) (*sdk.ClientSession, func(string, map[string]any) answer) {
	t.Helper()
	cmd := exec.Command(programPath(t), args...)
	cmd.Env = env
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "0"}, nil)
	session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 7 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, tool := range tools.Tools {
		schemas[tool.Name] = servertest.Compile(t, tool.OutputSchema)
	}
	return session, func(name string, args map[string]any) answer {
		t.Helper()
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := r.Content[0].(*sdk.TextContent).Text
		if r.IsError {
			return answer{refusal: text}
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas[name].Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return answer{state: v.(map[string]any)}
	}
}

// ownClient is the client of the library that the server is built on, connected
// to the program.
func ownClient(t *testing.T, args ...string) (*mcpclient.Client, func(string, map[string]any) answer) {
	t.Helper()
	c, err := startServer(t.Context(), programPath(t), args, t.TempDir(), "test", []string{"GORACE=" + noRaceSleep}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	return c.client, func(name string, args map[string]any) answer {
		t.Helper()
		req := mcp.CallToolRequest{}
		req.Params.Name, req.Params.Arguments = name, args
		r, err := c.client.CallTool(t.Context(), req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text := resultText(r)
		if r.IsError {
			return answer{refusal: text}
		}
		a := answer{}
		if err := json.Unmarshal([]byte(text), &a.state); err != nil {
			t.Fatal(err)
		}
		return a
	}
}

func TestOfficialSDKRunsAWholeReview(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	session, call := otherClient(t, bareEnv(home, storeEnv(filepath.Join(home, "s.sqlite3"))), "serve", "--tools", "extended")
	if session.InitializeResult().Instructions == "" {
		t.Error("no instructions")
	}
	wholeReview(t, call)
	for _, uri := range []string{"qa://catalog", "qa://policy", "qa://sessions"} {
		if r, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil || len(r.Contents) != 1 || !json.Valid([]byte(r.Contents[0].Text)) {
			t.Errorf("%s: %v, %v", uri, r, err)
		}
	}
	if r, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "qa_review", Arguments: map[string]string{"task_type": "other"}}); err != nil || len(r.Messages) != 1 {
		t.Errorf("prompt: %v, %v", r, err)
	}
}

func TestOwnLibrarysClientRunsAWholeReview(t *testing.T) {
	t.Parallel()
	client, call := ownClient(t, "serve")
	tools, err := client.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil || len(tools.Tools) != 5 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	wholeReview(t, call)
}

// wholeReview takes a review through every step.
func wholeReview(t *testing.T, call func(string, map[string]any) answer) {
	t.Helper()
	must := func(name string, args map[string]any) answer {
		t.Helper()
		a := call(name, args)
		if a.refusal != "" {
			t.Fatalf("%s: %s", name, a.refusal)
		}
		return a
	}
	var steps []string
	a := must("start_qa_orchestration", map[string]any{"task_type": "ordinary_review"})
	id := a.str("run_id")
	for a.str("status") == "active" {
		steps = append(steps, a.str("current_step"))
		if p := a.str("current_profile"); p != "" {
			must("prepare_qa_orchestration", map[string]any{"agent_profile": p})
		}
		if r := call("finish_qa_orchestration", map[string]any{"run_id": id, "outcome": "completed"}); !strings.HasPrefix(r.refusal, "outcome is not ready: ") {
			t.Errorf("finished too early: %+v", r)
		}
		a = must("advance_qa_orchestration", report(a))
	}
	if got, want := fmt.Sprint(steps), "[triage primary_review primary_review primary_review deep_review synthesis]"; got != want {
		t.Errorf("steps %s, want %s", got, want)
	}
	a = must("finish_qa_orchestration", map[string]any{"run_id": id, "outcome": "completed"})
	if got := must("get_qa_orchestration", map[string]any{"run_id": id}); a.str("status") != "completed" || got.str("expires_at") != a.str("expires_at") {
		t.Errorf("finished as %v, then %v", a.state, got.state)
	}
}

func TestTwentyCallsThenEndOfInput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"serve"}, nil} { // bare: old client configurations
		p := startPeer(t, bareEnv(t.TempDir()), args...)
		var lines strings.Builder
		for i := range 20 {
			fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"start_qa_orchestration","arguments":{"task_type":"other"}}}`+"\n", i)
		}
		if _, err := io.WriteString(p.in, strings.TrimSuffix(lines.String(), "\n")); err != nil {
			t.Fatal(err)
		}
		p.in.Close()
		out, err := io.ReadAll(p.out)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(out, []byte(`"run_id"`)); n != 20 || bytes.Count(out, []byte("\n")) != 20 {
			t.Errorf("%q: %d results", args, n)
		}
		if code := p.end(); code != exitOK {
			t.Errorf("%q: exit code %d", args, code)
		}
		if p.stderr.Len() > 0 {
			t.Errorf("%q: stderr %q", args, p.stderr)
		}
	}
}

// TestNoCanary sends a secret everywhere and looks for it in everything that
// comes out or is written.
func TestNoCanary(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	data := filepath.Join(home, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "models.toml"), []byte("[[model]]\nid = \""+canary+"!\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	policyPath := filepath.Join(data, "model-policy.json")
	if err := os.WriteFile(policyPath, []byte(`{"provider":"`+canary+`","`+canary+`":"`+canary+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startPeer(t, bareEnv(home, "QA_ORCHESTRATOR_DATA_DIR="+data, storeEnv(filepath.Join(data, "s.sqlite3")), "SECRET="+canary), "serve", "--tools", "extended")
	lines := []string{
		canary, `{"` + canary, `["` + canary + `"]`,
		`{"jsonrpc":"2.0","id":1,"method":"` + canary + `"}`,
		`{"jsonrpc":"` + canary + `","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"` + canary + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"qa_review","arguments":{"task_type":"` + canary + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"qa://` + canary + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"qa://sessions/` + canary + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"` + canary + `"},"argument":{"name":"x","value":"` + canary + `"}}}`,
		`{"jsonrpc":"2.0","method":"` + canary + `","params":{"` + canary + `":1}}`,
		strings.Repeat(canary, 400_000),
	}
	for _, tool := range []string{
		"prepare_qa_orchestration", "start_qa_orchestration", "advance_qa_orchestration", "get_qa_orchestration",
		"finish_qa_orchestration", "list_qa_orchestrations", "get_qa_orchestration_model_policy", canary,
	} {
		for _, argument := range []string{"run_id", "task_type", "agent_profile", "completed_step", "status", "risk_signals", "outcome", canary} {
			for _, value := range []string{`"` + canary + `"`, `{"` + canary + `":true}`, `["` + canary + `"]`} {
				lines = append(lines, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{"`+argument+`":`+value+`}}}`)
			}
		}
	}
	go func() {
		for _, l := range lines {
			_, _ = io.WriteString(p.in, l+"\n")
		}
		// A good policy now, so that a session gets written.
		_ = os.Remove(policyPath)
		_, _ = io.WriteString(p.in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"start_qa_orchestration","arguments":{"task_type":"other"}}}`+"\n")
		p.in.Close()
	}()
	out, err := io.ReadAll(p.out)
	if err != nil {
		t.Fatal(err)
	}
	if code := p.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if bytes.Contains(out, []byte(canary)) || bytes.Contains(p.stderr.Bytes(), []byte(canary)) {
		for _, l := range append(bytes.Split(out, []byte("\n")), p.stderr.Bytes()) {
			if bytes.Contains(l, []byte(canary)) {
				t.Errorf("it came out in %.300s", l)
			}
		}
	}
	if !bytes.Contains(out, []byte(`"run_id"`)) {
		t.Errorf("no session was started: %.500s", out[max(0, len(out)-500):])
	}
	if p.stderr.Len() == 0 {
		t.Error("nobody was told of the broken files")
	}
	if err := os.Remove(filepath.Join(data, "models.toml")); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(canary)) {
			t.Errorf("it was written to %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSeveralServersOnOneStore lets servers take a session from one another.
func TestSeveralServersOnOneStore(t *testing.T) {
	t.Parallel()
	const servers, limit = 8, 10
	home := t.TempDir()
	env := bareEnv(home, storeEnv(filepath.Join(home, "s.sqlite3")), "QA_ORCHESTRATOR_ORCHESTRATION_MAX_SESSIONS="+strconv.Itoa(limit))
	peers := make([]*peer, servers)
	for i := range peers { // all at once on a file that is not there yet
		peers[i] = startPeer(t, env, "serve")
	}
	// Starts from all sides: exactly as many as may be active succeed.
	var mu sync.Mutex
	var ids []string
	full := 0
	each(peers, func(p *peer) {
		for range 4 {
			a := p.call("start_qa_orchestration", map[string]any{"task_type": "other"})
			mu.Lock()
			switch {
			case a.refusal == "":
				ids = append(ids, a.str("run_id"))
			case strings.HasPrefix(a.refusal, "session limit: "):
				full++
			default:
				t.Errorf("start: %s", a.refusal)
			}
			mu.Unlock()
		}
	})
	if len(ids) != limit || full != servers*4-limit {
		t.Errorf("%d sessions started and %d refused, the limit is %d", len(ids), full, limit)
	}
	// The same advance from all sides: exactly one wins, at every step.
	id := ids[0]
	for {
		a := peers[rand.IntN(servers)].must("get_qa_orchestration", map[string]any{"run_id": id})
		if a.str("status") != "active" {
			break
		}
		args, won := report(a), 0
		each(peers, func(p *peer) {
			r := p.call("advance_qa_orchestration", args)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case r.refusal == "":
				won++
			case !strings.HasPrefix(r.refusal, "illegal transition: ") && !strings.HasPrefix(r.refusal, "completed profile does not match"):
				t.Errorf("advance: %s", r.refusal)
			}
		})
		if won != 1 {
			t.Fatalf("%d of the advances of %s won", won, a.str("current_step"))
		}
	}
	// A finalized session is known only where it was finalized.
	peers[0].must("finish_qa_orchestration", map[string]any{"run_id": id, "outcome": "completed"})
	peers[0].must("finish_qa_orchestration", map[string]any{"run_id": id, "outcome": "completed"})
	peers[1].refused("unknown run_id", "finish_qa_orchestration", map[string]any{"run_id": id, "outcome": "completed"})
	// Many sessions, moved on by whoever comes: every update is there.
	each(peers, func(p *peer) {
		for _, id := range ids[1:] {
			if a := p.call("get_qa_orchestration", map[string]any{"run_id": id}); a.refusal == "" && a.str("status") == "active" {
				p.call("advance_qa_orchestration", report(a))
			}
		}
	})
	for _, id := range ids[1:] {
		a := peers[0].must("get_qa_orchestration", map[string]any{"run_id": id})
		if b := peers[servers-1].must("get_qa_orchestration", map[string]any{"run_id": id}); fmt.Sprint(a.state) != fmt.Sprint(b.state) {
			t.Errorf("two servers see different states:\n%v\n%v", a.state, b.state)
		}
	}
	for _, p := range peers {
		if code := p.end(); code != exitOK || p.stderr.Len() > 0 {
			t.Errorf("exit code %d, stderr %q", code, p.stderr)
		}
	}
}

func each(peers []*peer, f func(*peer)) {
	var wg sync.WaitGroup
	for _, p := range peers {
		wg.Go(func() { f(p) })
	}
	wg.Wait()
}

// TestStoreOfTheEarlierEdition opens a file as the Python edition writes it.
func TestStoreOfTheEarlierEdition(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "s.sqlite3")
	const id = "qar-0123456789abcdef0123456789abcdef"
	expires := time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.123456") + "+00:00"
	payload := `{"run_id": "` + id + `", "task_type": "ordinary_review", "status": "active", "current_step": "primary_review", ` +
		`"allowed_profiles": ["pr_test_analyzer", "code_reviewer", "security_reviewer", "silent_failure_hunter", "code_explorer", "typescript_reviewer", "react_reviewer", "ruby_reviewer", "python_reviewer", "mobile_reviewer"], ` +
		`"allowed_bundles": ["ordinary_mr", "widget", "widget_js", "ruby_backend", "python_backend", "mobile", "security", "autotest", "requirements"], ` +
		`"recommended_bundles": ["ordinary_mr"], "selected_bundle": "ordinary_mr", "selected_profile": "code_explorer", ` +
		`"review_profiles": ["code_explorer", "code_reviewer", "pr_test_analyzer"], "current_profile": "code_reviewer", "completed_profiles": ["code_explorer"], ` +
		`"deep_assessment": null, "deep_reason_code": null, ` +
		`"model_policy": {"provider": "openai", "model": "gpt-6-sol", "reasoning": "medium", "reasoning_capabilities_verified": true}, ` +
		`"next_action": "Review with code_reviewer \u2014 then advance.", "read_only": true, "host_owns_decisions": true, "expires_at": "` + expires + `"}`
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		`PRAGMA journal_mode = DELETE`,
		`CREATE TABLE session_store_metadata (schema_version INTEGER NOT NULL)`,
		`INSERT INTO session_store_metadata VALUES (1)`,
		`CREATE TABLE sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL)`,
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(`INSERT INTO sessions VALUES (?, ?)`, id, payload); err != nil {
		t.Fatal(err)
	}
	db.Close()
	p := startPeer(t, bareEnv(home, storeEnv(path)), "serve")
	a := p.must("get_qa_orchestration", map[string]any{"run_id": id})
	if a.str("current_profile") != "code_reviewer" {
		t.Fatalf("got %v", a.state)
	}
	for a.str("status") == "active" {
		a = p.must("advance_qa_orchestration", report(a))
	}
	p.must("finish_qa_orchestration", map[string]any{"run_id": id, "outcome": "completed"})
	p.end()
	if db, err = sql.Open("sqlite", path); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows, tables int
	if err := db.QueryRow(`SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM sqlite_master WHERE type = 'table')`).Scan(&rows, &tables); err != nil || rows != 0 || tables != 2 {
		t.Errorf("%d rows and %d tables are left, %v", rows, tables, err)
	}
}

// TestUnusableStores: session tools say why, prepare works, the file keeps its
// bytes, and the person reads one line in their language.
func TestUnusableStores(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T, path string){
		"folder": func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) },
		"garbage": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte("not a database at all, sorry"), 0o644))
		},
		"header only": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, append([]byte("SQLite format 3\x00"), make([]byte, 30)...), 0o644))
		},
		"symlink": func(t *testing.T, path string) {
			must(t, os.WriteFile(path+".target", nil, 0o600))
			if err := os.Symlink(path+".target", path); err != nil {
				t.Skip(err)
			}
		},
		"truncated": func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			must(t, err)
			_, err = db.Exec(`CREATE TABLE session_store_metadata (schema_version INTEGER NOT NULL); INSERT INTO session_store_metadata VALUES (1);
				CREATE TABLE sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL)`)
			must(t, err)
			must(t, db.Close())
			must(t, os.Truncate(path, 5000))
		},
		"newer": func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			must(t, err)
			defer db.Close()
			_, err = db.Exec(`CREATE TABLE session_store_metadata (schema_version INTEGER NOT NULL); INSERT INTO session_store_metadata VALUES (2);
				CREATE TABLE sessions (run_id TEXT PRIMARY KEY, payload TEXT NOT NULL)`)
			must(t, err)
		},
		"foreign": func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			must(t, err)
			defer db.Close()
			_, err = db.Exec(`CREATE TABLE notes (text TEXT)`)
			must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := filepath.Join(home, "s.sqlite3")
			prepare(t, path)
			before := filesOf(t, home)
			p := startPeer(t, bareEnv(home, storeEnv(path), "LANG=ru_RU.UTF-8"), "serve")
			p.must("prepare_qa_orchestration", map[string]any{"agent_profile": "code_reviewer"})
			for range 2 {
				p.refused("session store unavailable", "start_qa_orchestration", map[string]any{"task_type": "other"})
			}
			p.refused("session store unavailable", "get_qa_orchestration", map[string]any{"run_id": "qar-00000000000000000000000000000000"})
			if code := p.end(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
			if s := p.stderr.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, "хранилище сеансов") {
				t.Errorf("stderr %q", s)
			}
			if after := filesOf(t, home); fmt.Sprint(before) != fmt.Sprint(after) {
				t.Errorf("files changed: %v, then %v", before, after)
			}
		})
	}
}

// TestMendedStoreWorksWithoutARestart also shows that nothing degrades to memory.
func TestMendedStoreWorksWithoutARestart(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "s.sqlite3")
	must(t, os.Mkdir(path, 0o700))
	p := startPeer(t, bareEnv(home, storeEnv(path)), "serve")
	p.refused("session store unavailable", "start_qa_orchestration", map[string]any{"task_type": "other"})
	must(t, os.Remove(path))
	a := p.must("start_qa_orchestration", map[string]any{"task_type": "other"})
	p.kill()
	p = startPeer(t, bareEnv(home, storeEnv(path)), "serve")
	p.must("get_qa_orchestration", map[string]any{"run_id": a.str("run_id")})
}

func TestPolicyIsPickedUpWhileServing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "policy.json")
	must(t, os.WriteFile(path, []byte(`{"provider":"`+canary+`"}`), 0o600))
	p := startPeer(t, bareEnv(home, "QA_ORCHESTRATOR_MODEL_POLICY_PATH="+path), "serve")
	text := p.refused("model policy unavailable", "start_qa_orchestration", map[string]any{"task_type": "other"})
	if !strings.Contains(text, "provider") || !strings.Contains(text, "qa-orch setup") {
		t.Errorf("%q does not say how to mend it", text)
	}
	write := func(model string) {
		t.Helper()
		must(t, os.WriteFile(path, []byte(`{"provider":"anthropic","triage_model":"`+model+`","primary_model":"`+model+`","deep_model":"`+model+`","synthesis_model":"`+model+`"}`), 0o600))
	}
	model := func(a answer) any { return a.state["model_policy"].(map[string]any)["model"] }
	write("claude-opus-5")
	a := p.must("start_qa_orchestration", map[string]any{"task_type": "other"})
	if model(a) != "claude-opus-5" {
		t.Errorf("got %v", a.state["model_policy"])
	}
	write("claude-opus-4") // same length, same second; not in the catalogue
	if a = p.must("advance_qa_orchestration", report(a)); model(a) != "claude-opus-4" {
		t.Errorf("got %v", a.state["model_policy"])
	}
	must(t, os.WriteFile(path, []byte(`{`), 0o600))
	if a = p.must("advance_qa_orchestration", report(a)); model(a) != "claude-opus-4" {
		t.Errorf("an invalid file changed the policy: %v", a.state["model_policy"])
	}
	must(t, os.Remove(path))
	if a = p.must("advance_qa_orchestration", report(a)); model(a) != "gpt-6-sol" {
		t.Errorf("got %v", a.state["model_policy"])
	}
}

func TestBadEnvironmentStopsTheServer(t *testing.T) {
	t.Parallel()
	for variable, value := range map[string]string{
		"QA_ORCHESTRATOR_ORCHESTRATION_TTL_SECONDS":  canary,
		"QA_ORCHESTRATOR_ORCHESTRATION_MAX_SESSIONS": "0",
		"QA_ORCHESTRATOR_TOOLS":                      canary,
	} {
		p := startPeer(t, bareEnv(t.TempDir(), variable+"="+value), "serve")
		if code := p.end(); code != exitUsage {
			t.Errorf("%s: exit code %d", variable, code)
		}
		if s := p.stderr.String(); !strings.Contains(s, variable) || strings.Contains(s, canary) {
			t.Errorf("%s: stderr %q", variable, s)
		}
	}
}

// TestDemoIsTheSameEachTime compares two runs but for ids and times.
func TestDemoIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"demo"},
		{"demo", "--lang", "ru", "--bundle", "security", "--signals", ""},
		{"demo", "--profile", "mobile_reviewer"},
	} {
		temp := t.TempDir()
		run := func() string {
			cmd := exec.Command(programPath(t), args...)
			cmd.Env = bareEnv(temp, "TMPDIR="+temp, "TMP="+temp)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
			return runIDs.ReplaceAllString(string(out), "qar-ID")
		}
		if first, second := run(), run(); first != second {
			t.Errorf("%v: two runs differ:\n%s\n%s", args, first, second)
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("%v: left behind: %v, %v", args, left, err)
		}
	}
}

// TestDemoOfEveryRoute plays each bundle and profile to its end.
func TestDemoOfEveryRoute(t *testing.T) {
	t.Parallel()
	var routes [][]string
	for _, b := range catalog.Bundles() {
		routes = append(routes, []string{"--bundle", string(b)})
	}
	for _, p := range catalog.Profiles() {
		routes = append(routes, []string{"--profile", string(p), "--signals", ""})
	}
	for _, route := range routes {
		cmd := exec.Command(programPath(t), append([]string{"demo"}, route...)...)
		cmd.Env = bareEnv(t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("finish_qa_orchestration outcome=completed")) || bytes.Contains(out, []byte("deep_review")) != (route[0] == "--bundle") {
			t.Errorf("%v: %v\n%s", route, err, out)
		}
	}
}

func TestDemoAsJSON(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(programPath(t), "demo", "--json")
	cmd.Env = bareEnv(t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	hosts, servers, events := 0, 0, 0
	for line := range bytes.Lines(out) {
		var l struct {
			From, Event string
			Message     map[string]any
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		switch {
		case l.Event != "":
			events++
		case l.From == "host" && l.Message != nil:
			hosts++
		case l.From == "server" && l.Message != nil:
			servers++
		default:
			t.Errorf("an odd line: %s", line)
		}
	}
	if hosts < 15 || servers < 15 || events != 2 || !bytes.Contains(out, []byte("illegal transition")) {
		t.Errorf("%d lines of the host, %d of the server, %d events", hosts, servers, events)
	}
}

// filesOf is every file below folder with its content, mode and time.
func filesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			all[path] += info.ModTime().String() + string(data)
			return err
		}
		return nil
	})
	must(t, err)
	return all
}
