package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/terms"
	server "github.com/qa-orch/qa-orch/server/review"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type demoOptions struct {
	*App
	Bundle  string
	Profile string
	Signals []string
	JSON    bool
	// WithAdvocate plays the devil's advocate too.
	WithAdvocate bool

	// Executable returns the binary that the demo starts as its server.
	Executable func() (string, error)
}

// newDemo makes "qa-orch demo".
func newDemo(a *App) *cobra.Command {
	o := &demoOptions{App: a, Executable: os.Executable}
	return newDemoWith(o, runDemo)
}

func newDemoWith(o *demoOptions, run func(context.Context, *demoOptions) error) *cobra.Command {
	var bundles, profiles, signals []string
	for _, b := range catalog.Bundles() {
		bundles = append(bundles, string(b))
	}
	for _, p := range catalog.Profiles() {
		profiles = append(profiles, string(p))
	}
	for _, s := range review.SignalNames() {
		signals = append(signals, string(s))
	}
	cmd := &cobra.Command{
		Use:     "demo",
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Bundle != "" && o.Profile != "" {
				return misused(locales.M("demo.one-route"), cmd.CommandPath())
			}
			for _, s := range o.Signals {
				if !slices.Contains(signals, s) {
					return misused(locales.M("error.flag-choice", locales.Vars{"Flag": "--signals", "Choices": o.Or(signals)}), cmd.CommandPath())
				}
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().Var(oneOf(&o.Bundle, bundles...), "bundle", "")
	cmd.Flags().Var(oneOf(&o.Profile, profiles...), "profile", "")
	cmd.Flags().StringSliceVar(&o.Signals, "signals", []string{string(review.HighRiskDomain), string(review.EvidenceUncertain)}, "")
	cmd.Flags().BoolVar(&o.WithAdvocate, "with-advocate", false, "")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	_ = cmd.RegisterFlagCompletionFunc("signals", cobra.FixedCompletions(signals, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// runDemo plays a host that takes a whole review through the real server, kills
// the server half-way and goes on where it was.
func runDemo(ctx context.Context, o *demoOptions) error {
	folder, err := os.MkdirTemp("", "qa-orch-demo-")
	if err != nil {
		return failed(locales.M("demo.failed", locales.Vars{"Cause": o.Cause(err)}), err)
	}
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d := &demo{demoOptions: o, folder: folder}
	defer d.stop()
	if err := d.play(ctx); err != nil {
		var known *cliError
		if errors.As(err, &known) {
			return err
		}
		return failed(locales.M("demo.failed", locales.Vars{"Cause": o.Cause(err)}), err)
	}
	return nil
}

// demo is one performance.
type demo struct {
	*demoOptions
	folder string

	child *child
	mu    sync.Mutex // of the output, in JSON mode
}

// state is what the demo reads of a session.
type state struct {
	RunID    string            `json:"run_id"`
	Status   review.Status     `json:"status"`
	Step     review.Step       `json:"current_step"`
	Current  catalog.Profile   `json:"current_profile"`
	Route    []catalog.Profile `json:"review_profiles"`
	Done     []catalog.Profile `json:"completed_profiles"`
	Deep     *assessment       `json:"deep_assessment"`
	Expires  string            `json:"expires_at"`
	Assigned *struct {
		Model     string            `json:"model"`
		Reasoning catalog.Reasoning `json:"reasoning"`
	} `json:"model_policy"`
}

type assessment struct {
	Escalate bool            `json:"should_escalate"`
	Rules    []review.Rule   `json:"triggered_rules"`
	Reasons  []review.Reason `json:"reason_codes"`
}

func (d *demo) play(ctx context.Context) error {
	task, route := catalog.OrdinaryReview, map[string]any{"selected_bundle": string(catalog.OrdinaryMR)}
	switch {
	case d.Profile != "":
		route = map[string]any{"selected_profile": d.Profile}
	case d.Bundle != "":
		route = map[string]any{"selected_bundle": d.Bundle}
		for _, t := range catalog.TaskTypes() {
			if slices.Contains(t.Recommended(), catalog.Bundle(d.Bundle)) {
				task = t
				break
			}
		}
	}
	d.heading(d.T("demo.start"))
	if err := d.start(ctx); err != nil {
		return err
	}
	tools, err := d.child.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	d.print(d.N("demo.tools", len(tools.Tools)))

	d.heading(d.T("demo.triage"))
	s, err := d.call(ctx, server.StartTool, args{"task_type": string(task)})
	if err != nil {
		return err
	}
	report := args{"run_id": s.RunID, "completed_step": string(review.Triage), "status": string(review.Completed)}
	for name, value := range route {
		report[name] = value
	}
	if s, err = d.call(ctx, server.AdvanceTool, report); err != nil {
		return err
	}

	d.heading(d.T("demo.crash"))
	if s, err = d.crash(ctx, s); err != nil {
		return err
	}

	d.heading(d.T("demo.illegal"))
	if err := d.refused(ctx, server.AdvanceTool, args{
		"run_id": s.RunID, "completed_step": string(review.Synthesis), "status": string(review.Completed),
	}); err != nil {
		return err
	}

	d.heading(d.T("demo.primary"))
	for s.Step == review.PrimaryReview {
		if _, err := d.call(ctx, server.PrepareTool, args{"agent_profile": string(s.Current)}); err != nil {
			return err
		}
		done := args{
			"run_id": s.RunID, "completed_step": string(review.PrimaryReview), "status": string(review.Completed),
			"completed_profile": string(s.Current),
		}
		if len(s.Done)+1 == len(s.Route) {
			signals := map[string]any{}
			for _, name := range d.Signals {
				signals[name] = true
			}
			done["risk_signals"] = signals
		}
		if s, err = d.call(ctx, server.AdvanceTool, done); err != nil {
			return err
		}
	}

	d.heading(d.T("demo.rest"))
	d.assessed(s.Deep)
	for s.Status == review.Active {
		if s, err = d.call(ctx, server.AdvanceTool, args{
			"run_id": s.RunID, "completed_step": string(s.Step), "status": string(review.Completed),
		}); err != nil {
			return err
		}
	}
	if d.WithAdvocate {
		if err := d.stressTest(ctx, tools.Tools); err != nil {
			return err
		}
	}
	if s, err = d.call(ctx, server.FinishTool, args{"run_id": s.RunID, "outcome": string(review.Completed)}); err != nil {
		return err
	}
	d.print(d.T("demo.done"))
	d.print(d.T("demo.next", locales.Vars{"Command": program + " --help"}))
	return nil
}

// crash kills the server, starts another and looks whether the session is still there.
func (d *demo) crash(ctx context.Context, before state) (state, error) {
	if err := d.child.process.Process.Kill(); err != nil {
		return state{}, err
	}
	d.stop()
	d.event("server_killed")
	d.print(d.T("demo.killed"))
	if err := d.start(ctx); err != nil {
		return state{}, err
	}
	d.event("server_started")
	after, err := d.call(ctx, server.GetTool, args{"run_id": before.RunID})
	if err != nil {
		return state{}, err
	}
	if after.Step != before.Step || after.Current != before.Current || after.Expires != before.Expires {
		return state{}, failed(locales.M("demo.lost"), nil)
	}
	d.print(d.T("demo.kept"))
	return after, nil
}

// start runs the server as a child and connects to it.
func (d *demo) start(ctx context.Context) error {
	path, err := d.Executable()
	if err != nil {
		return err
	}
	store := settings.StorePathVar + "=" + filepath.Join(d.folder, "sessions.sqlite3")
	d.child, err = startServer(ctx, path, []string{"serve"}, d.folder, demoClient, []string{store}, d.tap("host", "server"))
	return err
}

// demoClient is the name under which the demo connects.
const demoClient = "qa-orch-demo"

// tap prints, in JSON mode, what goes to a server and what comes from it.
func (d *demo) tap(to, from string) func(io.Reader, io.WriteCloser) (io.Reader, io.WriteCloser) {
	if !d.JSON {
		return nil
	}
	return func(in io.Reader, out io.WriteCloser) (io.Reader, io.WriteCloser) {
		return d.spyOnReads(from, in), spy{out, d, to}
	}
}

// stop lets go of the server.
func (d *demo) stop() {
	if d.child != nil {
		d.child.stop()
		d.child = nil
	}
}

type args map[string]any

// call calls a tool that is expected to succeed and prints the exchange.
func (d *demo) call(ctx context.Context, name string, a args) (state, error) {
	result, err := d.exchange(ctx, name, a)
	if err != nil {
		return state{}, err
	}
	if result.IsError {
		return state{}, errors.New(resultText(result))
	}
	var s state
	if err := json.Unmarshal([]byte(resultText(result)), &s); err != nil {
		return state{}, err
	}
	d.answer(name, s)
	return s, nil
}

// refused calls a tool that is expected to refuse.
func (d *demo) refused(ctx context.Context, name string, a args) error {
	result, err := d.exchange(ctx, name, a)
	if err != nil {
		return err
	}
	phrase, _, _ := strings.Cut(resultText(result), ":")
	if !result.IsError || phrase != string(review.CodeIllegal) {
		return failed(locales.M("demo.not-refused"), nil)
	}
	d.print("  " + d.Theme().Paint(theme.Bad, d.T("demo.refusal", locales.Vars{"Phrase": phrase})))
	return nil
}

func (d *demo) exchange(ctx context.Context, name string, a args) (*mcp.CallToolResult, error) {
	var words []string
	for _, key := range []string{"task_type", "agent_profile", "completed_step", "status", "selected_bundle", "selected_profile", "completed_profile", "risk_signals", "outcome"} {
		switch v := a[key].(type) {
		case string:
			words = append(words, key+"="+v)
		case map[string]any:
			words = append(words, key+"={"+strings.Join(d.Signals, ", ")+"}")
		}
	}
	d.print(strings.Join(append([]string{d.Theme().Paint(theme.Command, "→ "+name)}, words...), " "))
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = name, map[string]any(a)
	return d.child.client.CallTool(ctx, req)
}

// answer prints where the session stands now.
func (d *demo) answer(tool string, s state) {
	if tool == server.PrepareTool {
		d.print("  " + d.Theme().Paint(theme.Muted, d.T("demo.checklist")))
		return
	}
	t := d.Theme()
	text := t.Paint(theme.Status(string(s.Status)), terms.Status(d.Printer, s.Status))
	if s.Status == review.Active {
		text += " · " + terms.Step(d.Printer, s.Step)
	}
	if s.Current != "" {
		text += fmt.Sprintf(" %d/%d · %s", len(s.Done)+1, len(s.Route), terms.Profile(d.Printer, s.Current))
	}
	if tool == server.StartTool {
		text += " · " + t.Paint(theme.Muted, locales.Inert(s.RunID))
	}
	d.print("  " + text)
	if a := s.Assigned; a != nil {
		d.print("  " + d.T("demo.model", locales.Vars{
			"Model":     locales.Styled(t.Paint(theme.Model, locales.Inert(a.Model))),
			"Reasoning": locales.Styled(t.Paint(theme.Reasoning(string(a.Reasoning)), locales.Inert(string(a.Reasoning)))),
		}))
	}
}

// assessed says why a deep review follows, or that none does.
func (d *demo) assessed(a *assessment) {
	if a == nil || !a.Escalate {
		d.print(d.T("demo.not-escalated"))
		return
	}
	for _, r := range a.Rules {
		d.print(d.T("demo.rule", locales.Vars{"Rule": string(r), "Meaning": terms.Rule(d.Printer, r)}))
	}
	var reasons []string
	for _, r := range a.Reasons {
		reasons = append(reasons, terms.Reason(d.Printer, r))
	}
	d.print(d.T("demo.reasons", locales.Vars{"Reasons": strings.Join(reasons, ", ")}))
}

func (d *demo) heading(text string) {
	if !d.JSON {
		d.Println("")
		d.Println(fold.Text(d.Theme().Paint(theme.Title, text), d.Columns()))
	}
}

func (d *demo) print(text string) {
	if !d.JSON {
		d.Println(indent(fold.Text(text, d.Columns()-2)))
	}
}

// The JSON form of the demo is one object a line: each message as it went over
// the pipe, and what the demo did to the server.

func (d *demo) line(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Println(string(data))
}

func (d *demo) event(name string) {
	if d.JSON {
		d.line(map[string]string{"event": name})
	}
}

func (d *demo) message(from string, raw []byte) {
	if raw = bytes.TrimSpace(raw); json.Valid(raw) {
		d.line(struct {
			From    string          `json:"from"`
			Message json.RawMessage `json:"message"`
		}{from, raw})
	}
}

// spy prints what the host writes; the client writes whole lines.
type spy struct {
	io.WriteCloser
	d    *demo
	from string
}

func (s spy) Write(p []byte) (int, error) {
	s.d.message(s.from, p)
	return s.WriteCloser.Write(p)
}

// spyOnReads prints what the server writes before the client sees it.
func (d *demo) spyOnReads(name string, from io.Reader) io.Reader {
	r, w := io.Pipe()
	go func() {
		lines := bufio.NewReader(from)
		for {
			line, err := lines.ReadBytes('\n')
			d.message(name, line)
			if _, werr := w.Write(line); werr != nil || err != nil {
				w.CloseWithError(err)
				return
			}
		}
	}()
	return r
}

func resultText(r *mcp.CallToolResult) string {
	if len(r.Content) == 0 {
		return ""
	}
	text, _ := r.Content[0].(mcp.TextContent)
	return text.Text
}
