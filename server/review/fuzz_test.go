package review_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	core "github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/storetest"
	"github.com/qa-orch/qa-orch/server/review"
	"github.com/qa-orch/qa-orch/server/stdio/stdiotest"
)

// phrases begin every refusal of a tool (section 7 of the contract).
var phrases = []string{
	"unknown run_id", "expired session", "terminal session", "illegal transition", "session limit",
	"conflicting final outcome", "outcome is not ready", "invalid arguments",
	"completed profile does not match current profile",
	"risk_signals are required for the final primary-review profile",
	"risk signals must be sent with the final primary-review profile",
}

// witness is a store that counts what is changed in it.
type witness struct {
	store.Store
	t       testing.TB
	changes int
}

func (w *witness) Create(ctx context.Context, s core.Session, now time.Time, limit int) error {
	err := w.Store.Create(ctx, s, now, limit)
	if err == nil {
		w.changes++
	}
	return err
}

func (w *witness) Update(ctx context.Context, runID string, change func(core.Session) (core.Session, error)) (core.Session, error) {
	before, _ := w.Store.Get(ctx, runID)
	next, err := w.Store.Update(ctx, runID, change)
	after, _ := w.Store.Get(ctx, runID)
	if err != nil && after != before {
		w.t.Errorf("a refused change left its mark: %+v was %+v", after, before)
	}
	if after != before {
		w.changes++
	}
	return next, err
}

// whole is a server over a store with a session in every kind of state, run ids
// storetest.ID(1) to storetest.ID(9).
type whole struct {
	*review.Server
	witness *witness
	schemas stdiotest.Schemas
}

// states are the reports that lead to the sessions' states.
var states = func() [][]core.Report {
	triage := core.Report{Step: core.Triage, Status: core.Completed, Bundle: catalog.Security}
	single := core.Report{Step: core.Triage, Status: core.Completed, Profile: catalog.RubyReviewer}
	done := func(p catalog.Profile) core.Report {
		return core.Report{Step: core.PrimaryReview, Status: core.Completed, CompletedProfile: p}
	}
	last := func(names ...core.Signal) core.Report {
		r, set := done(catalog.RubyReviewer), core.NewSignals(names...)
		r.Signals = &set
		return r
	}
	synthesis := core.Report{Step: core.Synthesis, Status: core.Completed}
	return [][]core.Report{
		{},
		{triage},
		{triage, done(catalog.CodeExplorer), done(catalog.SecurityReviewer)}, // the last one is due
		{single, last(core.CrossSystemScope, core.NonReproducible)},
		{single, last()},
		{single, last(), synthesis},
		{triage, {Step: core.PrimaryReview, Status: core.Blocked}},
	}
}()

func newWhole(t testing.TB) *whole {
	t.Helper()
	ctx := context.Background()
	now := storetest.T0
	id := 0
	w := &witness{Store: store.NewMemory(), t: t}
	path := filepath.Join(t.TempDir(), "model-policy.json")
	o := orchestrator.New(w, policy.NewSource(path, filepath.Join(filepath.Dir(path), "models.toml"), nil),
		orchestrator.Limits{TTL: storetest.TTL, MaxSessions: 12},
		// Each call sees a later time: a refused one that renewed a lifetime would show.
		orchestrator.WithClock(func() time.Time { now = now.Add(time.Millisecond); return now }),
		orchestrator.WithIDs(func() string { id++; return storetest.ID(id) }))
	for n, reports := range append(states, states[len(states)-1]) {
		if _, err := o.Start(ctx, catalog.OrdinaryReview); err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			if _, err := o.Advance(ctx, storetest.ID(n+1), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := o.Finish(ctx, storetest.ID(len(states)+1), core.Blocked); err != nil {
		t.Fatal(err)
	}
	// And one that is over.
	now = now.Add(-storetest.TTL)
	if _, err := o.Start(ctx, catalog.OtherTask); err != nil {
		t.Fatal(err)
	}
	now = now.Add(storetest.TTL)
	s, err := review.New(o, review.Options{Tools: settings.ExtendedTools, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	w.changes = 0
	return &whole{Server: s, witness: w}
}

// check holds an answer to what is true of every one; tool is what it answers.
func (w *whole) check(t testing.TB, tool string, a *stdiotest.Answer) {
	t.Helper()
	if a.Leaks() {
		t.Errorf("the answer repeats what was sent: %s", a.Line)
	}
	if tool == "" || a.Error != nil {
		return
	}
	if _, refusal := w.schemas.Result(t, tool, a.Result); refusal != "" {
		phrase, advice, _ := strings.Cut(refusal, ": ")
		if !slices.Contains(phrases, phrase) || len(advice) < 20 {
			t.Errorf("%s: no refusal that a host knows: %q", tool, refusal)
		}
	}
}

// changed checks what a call did to the sessions, of which known counts what
// happened before it.
func (w *whole) changed(t testing.TB, tool string, a *stdiotest.Answer, known int) {
	t.Helper()
	writes := tool == review.StartTool || tool == review.AdvanceTool || tool == review.FinishTool
	if n := w.witness.changes - known; n > 1 || n == 1 && (a.Refused() || !writes) {
		t.Errorf("%s changed %d sessions and answers %s", tool, n, a.Line)
	}
}

// free checks that nothing of what clients sent stands in any session.
func (w *whole) free(t testing.TB) {
	t.Helper()
	list, err := w.witness.List(context.Background(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(list)
	if err != nil || bytes.Contains(data, []byte(stdiotest.Canary)) {
		t.Errorf("a session keeps what was sent: %s, %v", data, err)
	}
}

// FuzzLines sends lines through the whole server: transport, library, tools,
// orchestrator, store.
func FuzzLines(f *testing.F) {
	schemas := stdiotest.SchemasOf(f, newWhole(f).MCP)
	f.Fuzz(func(t *testing.T, lines []byte) {
		if len(lines) > 16<<10 {
			return
		}
		w := newWhole(t)
		w.schemas = schemas
		known := 0             // changes, as of the last call's answer; calls come one after the other
		var unsure atomic.Bool // whether all calls' answers are known to be such
		stdiotest.Exchange(t, w.MCP, stdiotest.Plant(lines), func(a *stdiotest.Answer) {
			tool := a.Request.Tool()
			w.check(t, tool, a)
			switch {
			case a.Shared:
				unsure.Store(true)
			case tool == "" || unsure.Load():
			case a.Error != nil && a.Error.Code == mcp.REQUEST_INTERRUPTED: // carried out before, maybe
				known = w.witness.changes
			default:
				w.changed(t, tool, a, known)
				known = w.witness.changes
			}
		})
		w.free(t)
	})
}

// FuzzArguments calls one tool with any arguments.
func FuzzArguments(f *testing.F) {
	schemas := stdiotest.SchemasOf(f, newWhole(f).MCP)
	tools := []string{
		review.PrepareTool, review.StartTool, review.AdvanceTool, review.GetTool, review.FinishTool, review.ListTool, review.PolicyTool,
	}
	f.Fuzz(func(t *testing.T, pick uint8, arguments []byte) {
		if len(arguments) > 16<<10 {
			return
		}
		w := newWhole(t)
		w.schemas = schemas
		tool := tools[int(pick)%len(tools)]
		answers := stdiotest.Exchange(t, w.MCP, stdiotest.Call("1", tool, stdiotest.Plant(arguments)), nil)
		a := &answers[0]
		if a.Error != nil {
			t.Fatalf("%s: an error that a model does not see: %s", tool, a.Line)
		}
		w.check(t, tool, a)
		w.changed(t, tool, a, 0)
		w.free(t)
	})
}
