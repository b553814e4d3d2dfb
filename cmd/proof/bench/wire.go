package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"time"
)

// wire is a server process that is spoken to in raw lines, with as little in
// between as can be: one request at a time.
type wire struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

const (
	helloLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"0"}}}` + "\n"
	readyLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
)

// spawn starts a server and returns before it says anything.
func (b *bench) spawn(env []string, path string, args ...string) (*wire, error) {
	w := &wire{cmd: exec.CommandContext(b.ctx, path, args...)}
	w.cmd.Env = env
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.in, w.out = in, bufio.NewReaderSize(out, 1<<18)
	return w, w.cmd.Start()
}

// serve starts a server and initializes it.
func (b *bench) serve(env []string, path string, args ...string) (*wire, error) {
	w, err := b.spawn(env, path, args...)
	if err != nil {
		return nil, err
	}
	if _, err := w.ask(helloLine); err != nil {
		return nil, err
	}
	_, err = io.WriteString(w.in, readyLine)
	return w, err
}

// ask sends a line and returns the answer, which is valid until the next call.
func (w *wire) ask(line string) ([]byte, error) {
	if _, err := io.WriteString(w.in, line); err != nil {
		return nil, err
	}
	for {
		answer, err := w.out.ReadSlice('\n')
		head := answer[:min(len(answer), 40)]
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", w.cmd.Path, err)
		case !bytes.Contains(head, []byte(`"id":1`)):
			continue // a notification
		case bytes.Contains(answer, []byte(`"error":{"code"`)), bytes.Contains(answer, []byte(`"isError":true`)):
			return nil, fmt.Errorf("%s refused %s: %s", w.cmd.Path, line, answer)
		}
		return answer, nil
	}
}

func callLine(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + "}}\n"
}

// call is a run of one tool call. The line is made before the time counts.
func (w *wire) call(tool, arguments string) run {
	line := callLine(tool, arguments)
	return timed(func() error {
		_, err := w.ask(line)
		return err
	})
}

// end closes the server's input and waits until it is gone.
func (w *wire) end() {
	_ = w.in.Close()
	_ = w.cmd.Wait()
}

// program is a run of a whole program.
func (b *bench) program(env []string, path string, args ...string) run {
	return func() (time.Duration, error) {
		cmd := exec.CommandContext(b.ctx, path, args...)
		cmd.Env = env
		began := time.Now()
		err := cmd.Run()
		return time.Since(began), err
	}
}

// toolsOf returns the tools of qa-orch as tools/list gives them.
func (w *wire) toolsOf() ([]referenceTool, error) {
	answer, err := w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n")
	if err != nil {
		return nil, err
	}
	var list struct {
		Result struct {
			Tools []struct {
				referenceTool
				Annotations struct {
					ReadOnlyHint bool `json:"readOnlyHint"`
				} `json:"annotations"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return nil, err
	}
	var tools []referenceTool
	for _, t := range list.Result.Tools {
		t.Writes = !t.Annotations.ReadOnlyHint
		tools = append(tools, t.referenceTool)
	}
	return tools, nil
}

// referenceTool is a tool as the reference servers read it.
type referenceTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Answer       json.RawMessage `json:"answer"`
	Writes       bool            `json:"writes"`
}

// The tools that a review calls.
const (
	prepareTool = "prepare_qa_orchestration"
	startTool   = "start_qa_orchestration"
	advanceTool = "advance_qa_orchestration"
	getTool     = "get_qa_orchestration"
	finishTool  = "finish_qa_orchestration"
)

// step is one call of a review; %s in its arguments is the run id.
type step struct{ tool, arguments string }

// theReview is a whole review with a bundle and a deep review, as a host calls it.
var theReview = []step{
	{startTool, `{"task_type":"other"}`},
	{prepareTool, `{"agent_profile":"code_reviewer"}`},
	{getTool, `{"run_id":"%s"}`},
	{advanceTool, `{"run_id":"%s","completed_step":"triage","status":"completed","selected_bundle":"ordinary_mr"}`},
	{advanceTool, `{"run_id":"%s","completed_step":"primary_review","status":"completed","completed_profile":"code_explorer"}`},
	{advanceTool, `{"run_id":"%s","completed_step":"primary_review","status":"completed","completed_profile":"code_reviewer"}`},
	{advanceTool, `{"run_id":"%s","completed_step":"primary_review","status":"completed","completed_profile":"pr_test_analyzer","risk_signals":{"high_risk_domain":true,"evidence_uncertain":true}}`},
	{advanceTool, `{"run_id":"%s","completed_step":"deep_review","status":"completed"}`},
	{advanceTool, `{"run_id":"%s","completed_step":"synthesis","status":"completed"}`},
	{finishTool, `{"run_id":"%s","outcome":"completed"}`},
}

func (s step) with(runID string) string {
	if s.tool == startTool || s.tool == prepareTool {
		return s.arguments
	}
	return fmt.Sprintf(s.arguments, runID)
}

var runIDField = regexp.MustCompile(`"run_id":"(qar-[0-9a-f]{32})"`)

func runIDOf(answer []byte) (string, error) {
	m := runIDField.FindSubmatch(answer)
	if m == nil {
		return "", fmt.Errorf("no run_id in %s", answer)
	}
	return string(m[1]), nil
}

// record takes one review through qa-orch and keeps its tools' schemas and
// answers for the reference servers, which then send as much as it does.
func (b *bench) record() error {
	_, env, err := b.home()
	if err != nil {
		return err
	}
	w, err := b.serve(env, b.own, "serve")
	if err != nil {
		return err
	}
	defer w.end()
	tools, err := w.toolsOf()
	if err != nil {
		return err
	}
	answers := map[string]json.RawMessage{}
	runID := ""
	for _, s := range theReview {
		answer, err := w.ask(callLine(s.tool, s.with(runID)))
		if err != nil {
			return err
		}
		if s.tool == startTool {
			if runID, err = runIDOf(answer); err != nil {
				return err
			}
		}
		var result struct {
			Result struct {
				StructuredContent json.RawMessage `json:"structuredContent"`
			} `json:"result"`
		}
		if err := json.Unmarshal(answer, &result); err != nil {
			return err
		}
		answers[s.tool] = result.Result.StructuredContent
	}
	b.answers = map[string]int{}
	for i := range tools {
		tools[i].Answer = answers[tools[i].Name]
		b.answers[tools[i].Name] = len(tools[i].Answer)
	}
	data, err := json.Marshal(tools)
	if err != nil {
		return err
	}
	b.tools = b.folder + "/tools.json"
	return os.WriteFile(b.tools, data, 0o600)
}
