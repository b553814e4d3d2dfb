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
	first   []core.Session // what the store has before each run
	ids     int            // of sessions so far
	now     atomic.Int64   // milliseconds since T0
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

func newWhole(tb testing.TB) *whole {
	tb.Helper()
	ctx := context.Background()
	memory := store.NewMemory()
	w := &whole{witness: &witness{Store: memory, t: tb}}
	path := filepath.Join(tb.TempDir(), "model-policy.json")
	o := orchestrator.New(w.witness, policy.NewSource(path, filepath.Join(filepath.Dir(path), "models.toml"), nil),
		orchestrator.Limits{TTL: storetest.TTL, MaxSessions: 12},
		// Each call sees a later time: a refused one that renewed a lifetime would show.
		orchestrator.WithClock(func() time.Time { return storetest.T0.Add(time.Duration(w.now.Add(1)) * time.Millisecond) }),
		orchestrator.WithIDs(func() string { w.ids++; return storetest.ID(w.ids) }))
	for n, reports := range append(states, states[len(states)-1]) {
		if _, err := o.Start(ctx, catalog.OrdinaryReview); err != nil {
			tb.Fatal(err)
		}
		for _, r := range reports {
			if _, err := o.Advance(ctx, storetest.ID(n+1), r); err != nil {
				tb.Fatal(err)
			}
		}
	}
	if _, err := o.Finish(ctx, storetest.ID(len(states)+1), core.Blocked); err != nil {
		tb.Fatal(err)
	}
	// And one that is over.
	w.now.Store(-storetest.TTL.Milliseconds())
	if _, err := o.Start(ctx, catalog.OtherTask); err != nil {
		tb.Fatal(err)
	}
	var err error
	if w.first, err = memory.List(ctx, time.Time{}); err != nil {
		tb.Fatal(err)
	}
	if w.Server, err = review.New(o, review.Options{Tools: settings.ExtendedTools, Version: "test"}); err != nil {
		tb.Fatal(err)
	}
	w.schemas = stdiotest.SchemasOf(tb, w.MCP)
	return w
}

// reset makes the store and the clock what they were at first.
func (w *whole) reset(t testing.TB) {
	memory := store.NewMemory()
	for _, s := range w.first {
		memory.Put(s)
	}
	*w.witness = witness{Store: memory, t: t}
	w.ids = len(w.first)
	w.now.Store(time.Minute.Milliseconds())
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
	w := newWhole(f)
	f.Fuzz(func(t *testing.T, lines []byte) {
		if len(lines) > 16<<10 {
			return
		}
		w.reset(t)
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
	w := newWhole(f)
	tools := []string{
		review.PrepareTool, review.StartTool, review.AdvanceTool, review.GetTool, review.FinishTool, review.ListTool, review.PolicyTool,
	}
	f.Fuzz(func(t *testing.T, pick uint8, arguments []byte) {
		if len(arguments) > 16<<10 {
			return
		}
		w.reset(t)
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
