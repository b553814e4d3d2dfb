package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play"
	server "github.com/qa-orch/qa-orch/server/advocate"
)

// wholeStressTest takes a claim through a review of the mode: lazy attempts are refused and save
// nothing, real ones lead to a verdict and a memo.
func wholeStressTest(t *testing.T, mode advocate.Mode, script *play.Script, call func(string, map[string]any) answer) {
	t.Helper()
	must := func(name string, args map[string]any) answer {
		t.Helper()
		a := call(name, args)
		if a.refusal != "" {
			t.Fatalf("%s, %s: %s", mode, name, a.refusal)
		}
		return a
	}
	a := must(server.StartTool, map[string]any{"claim": script.Claim, "mode": string(mode), "context": script.Context})
	id, phases := a.str("review_id"), 0
	in, _ := a.state["instructions"].(map[string]any)
	for in != nil {
		phases++
		phase := script.Of(advocate.Phase(in["phase"].(string)))
		if len(phase.Lazy) > 0 {
			if a := call(server.SubmitTool, map[string]any{"review_id": id, "items": phase.Lazy}); !strings.Contains(a.refusal, "nothing was saved") {
				t.Errorf("%s, %s: the lazy attempt gave %q", mode, phase.Name, a.refusal)
			}
		}
		a = must(server.SubmitTool, map[string]any{"review_id": id, "items": phase.Items})
		if a.state["accepted"] != float64(len(phase.Items)) && fmt.Sprint(a.state["accepted"]) != fmt.Sprint(len(phase.Items)) {
			t.Errorf("%s, %s: accepted %v of %d", mode, phase.Name, a.state["accepted"], len(phase.Items))
		}
		in, _ = a.state["next_phase"].(map[string]any)
	}
	if a.str("status") != "complete" || phases != len(mode.Phases()) {
		t.Errorf("%s: after %d phases %v", mode, phases, a.state)
	}
	if v := must(server.VerdictTool, map[string]any{"review_id": id}); v.str("assessment") == "" {
		t.Errorf("%s: verdict %v", mode, v.state)
	}
	if r := must(server.ExportTool, map[string]any{"review_id": id}); !strings.HasPrefix(r.str("content"), "# Decision memo: ") {
		t.Errorf("%s: memo %q", mode, r.str("content"))
	}
	if g := must(server.GetTool, map[string]any{"review_id": id}); g.str("status") != "complete" {
		t.Errorf("%s: standing %v", mode, g.state)
	}
	gone := must(server.StartTool, map[string]any{"claim": script.Claim, "mode": string(mode)}).str("review_id")
	must(server.AbandonTool, map[string]any{"review_id": gone, "reason": "one is enough"})
	must(server.ListTool, map[string]any{})
}

func TestOfficialSDKStressTestsInEveryMode(t *testing.T) {
	t.Parallel()
	session, call := otherClient(t, bareEnv(t.TempDir()), "advocate", "serve", "--data-dir", filepath.Join(t.TempDir(), "reviews"))
	script, err := play.In(locales.En)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range advocate.Modes() {
		wholeStressTest(t, mode, script, call)
	}
	if r, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "reviews://"}); err != nil || !json.Valid([]byte(r.Contents[0].Text)) {
		t.Errorf("reviews://: %v, %v", r, err)
	}
	if r, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "stress_test", Arguments: map[string]string{"claim": script.Claim}}); err != nil || len(r.Messages) != 1 {
		t.Errorf("prompt: %v, %v", r, err)
	}
	ref := &sdk.CompleteReference{Type: "ref/prompt", Name: "stress_test"}
	if r, err := session.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: "mode", Value: "g"}}); err != nil || len(r.Completion.Values) != 1 {
		t.Errorf("completion: %v, %v", r, err)
	}
}

// The other client says everything in Russian.
func TestOwnLibrarysClientStressTestsInEveryMode(t *testing.T) {
	t.Parallel()
	_, call := ownClient(t, "advocate", "serve")
	script, err := play.In(locales.Ru)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range advocate.Modes() {
		wholeStressTest(t, mode, script, call)
	}
}

// A megabyte in one submission: a single text is kept whole, items that no person could weigh are
// refused in a short sentence, and the server goes on.
func TestHugeSubmissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := startPeer(t, bareEnv(dir), "advocate", "serve", "--data-dir", dir)
	id := p.call(server.StartTool, map[string]any{"claim": "Release 4.2 is ready to ship", "mode": "assumptions"}).str("review_id")

	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "invoice%d replica%d ", i, i*7)
	}
	item := map[string]any{"text": text.String(), "load_bearing": true, "evidence": "none"}
	if a := p.call(server.SubmitTool, map[string]any{"review_id": id, "items": []any{item}}); a.refusal != "" || a.str("status") != "in_progress" {
		t.Errorf("one text of a megabyte: %.300s%v", a.refusal, a.state)
	}

	var many []any
	for i := range 17_000 {
		many = append(many, map[string]any{"text": fmt.Sprintf("ledger%d outage%d tenant%d", i, i, i), "load_bearing": true, "evidence": "none"})
	}
	a := p.call(server.SubmitTool, map[string]any{"review_id": id, "items": many})
	if !strings.Contains(a.refusal, "nothing was saved") || !strings.Contains(a.refusal, "at most 1000") || len(a.refusal) > 300 {
		t.Errorf("17,000 items: %.300q", a.refusal)
	}
	if a := p.call(server.GetTool, map[string]any{"review_id": id}); a.str("status") != "active" {
		t.Errorf("afterwards: %.300s", a.refusal)
	}
	if code := p.end(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	data, err := os.ReadFile(filepath.Join(dir, id+".json"))
	if err != nil || !bytes.Contains(data, []byte(strings.TrimSpace(text.String()))) {
		t.Errorf("the text is not kept whole: %v", err)
	}
}

// The documents show what the program prints.
func TestReadmeQuotesTheMemo(t *testing.T) {
	t.Parallel()
	for name, lang := range map[string]locales.Lang{"README.md": locales.En, "README.ru.md": locales.Ru} {
		app, out, errs := fakeApp(lang, "advocate", "demo", "--memo-only")
		if code := run(app); code != exitOK || errs.Len() > 0 {
			t.Fatal(code, errs)
		}
		data, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		if !strings.Contains(text, "```markdown\n"+out.String()+"```\n") {
			t.Errorf("%s does not quote what \"qa-orch advocate demo --memo-only\" prints:\n%s", name, out)
		}
	}
}

// The demo of both servers: one refusal by the gate, a verdict, nothing shared.
func TestDemoWithAdvocate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang string
		says []string
	}{
		{"en", []string{"→ finish_qa_orchestration", "item 0: 'text' is low on information", "claim needs revision", "The servers share nothing"}},
		{"ru", []string{"item 1: 'text' restates the claim", "утверждение нужно доработать", "Общего у серверов нет"}},
	} {
		cmd := exec.Command(programPath(t), "demo", "--with-advocate", "--lang", c.lang)
		cmd.Env = bareEnv(t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, says := range c.says {
			if !bytes.Contains(out, []byte(says)) {
				t.Errorf("%s: it does not say %q:\n%s", c.lang, says, out)
			}
		}
	}
	cmd := exec.Command(programPath(t), "demo", "--with-advocate", "--json")
	cmd.Env = bareEnv(t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]int{}
	for line := range bytes.Lines(out) {
		var v struct{ From string }
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		from[v.From]++
	}
	if from["advocate"] < 6 || from["server"] < 10 {
		t.Errorf("messages: %v", from)
	}
}
