package advocate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	core "github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play"
	"github.com/qa-orch/qa-orch/server/advocate"
	"github.com/qa-orch/qa-orch/server/stdio/stdiotest"
)

// phrases begin every refusal of a tool; %s is a review's id.
var phrases = []string{
	"invalid arguments: ", "the claim has ", "unknown mode: ", "no review with this review_id: ", "items must be ", "items is empty: ",
	"nothing was saved: ", "review rev-", "reason is required: ", "unknown format: ",
}

// damaged is the content of a file in the folder that is no review.
const damaged = `{"id": "rev-bad0", "claim": ` + `"` + stdiotest.Canary

// whole is a server over a folder with a review in every kind of state: rev-aaa0
// and on, and one damaged file, rev-bad0.
type whole struct {
	server  *mcpserver.MCPServer
	schemas stdiotest.Schemas
	dir     string
	first   map[string]string // the folder as it is before each run
	ids     int
}

// stages says which reviews there are: a mode, and how many phases of it are done
// with how many items of the next one.
var stages = []struct {
	mode        core.Mode
	done, items int
}{
	{core.DevilsAdvocate, 0, 0},
	{core.DevilsAdvocate, 0, 2},
	{core.DevilsAdvocate, 1, 0},
	{core.DevilsAdvocate, 2, 0}, // complete
	{core.Premortem, 0, 0},
	{core.Premortem, 2, 1},
	{core.Assumptions, 0, 3},
	{core.Assumptions, 1, 0},
	{core.Steelman, 1, 0},
	{core.Gauntlet, 9, 0}, // complete
}

func newWhole(tb testing.TB) *whole {
	tb.Helper()
	w := &whole{dir: filepath.Join(tb.TempDir(), "reviews")}
	d := desk.New(w.dir)
	clock := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	d.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	made := 0
	d.NewID = func() string { made++; return fmt.Sprintf("rev-aaa%d", made-1) }
	script, err := play.In(locales.En)
	if err != nil {
		tb.Fatal(err)
	}
	submit := func(id string, items []map[string]any) {
		tb.Helper()
		list, err := play.Submission(items)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := d.Submit(id, list); err != nil {
			tb.Fatal(err)
		}
	}
	for _, s := range stages {
		started, err := d.StartReview(script.Claim, s.mode, script.Context)
		if err != nil {
			tb.Fatal(err)
		}
		for i, p := range s.mode.Phases() {
			switch items := script.Of(p).Items; {
			case i < s.done:
				submit(started.ReviewID, items)
			case i == s.done && s.items > 0:
				submit(started.ReviewID, items[:s.items])
			}
		}
	}
	if _, err := d.Abandon("rev-aaa4", "The claim was withdrawn."); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "rev-bad0.json"), []byte(damaged), 0o600); err != nil {
		tb.Fatal(err)
	}
	d.NewID = func() string { w.ids++; return fmt.Sprintf("rev-n%03d", w.ids%1000) }
	if w.server, err = advocate.New(d, "test"); err != nil {
		tb.Fatal(err)
	}
	w.first = w.files(tb)
	w.schemas = stdiotest.SchemasOf(tb, w.server)
	return w
}

// files returns what stands in the folder, lock files aside.
func (w *whole) files(t testing.TB) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// reset makes the folder what it was at first.
func (w *whole) reset(t testing.TB) {
	t.Helper()
	w.ids = 0
	now := w.files(t)
	for name := range now {
		if _, ok := w.first[name]; !ok {
			if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, data := range w.first {
		if now[name] != data {
			if err := os.WriteFile(filepath.Join(w.dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// check holds an answer to what is true of every one.
func (w *whole) check(t testing.TB, tool string, a *stdiotest.Answer) {
	t.Helper()
	if a.Error != nil && a.Leaks() {
		t.Errorf("the error repeats what was sent: %s", a.Line)
	}
	if tool == "" || a.Error != nil {
		return
	}
	_, refusal := w.schemas.Result(t, tool, a.Result)
	if refusal == "" {
		return
	}
	known := strings.HasPrefix(refusal, "review file ") && strings.Contains(refusal, "rev-bad0.json is damaged")
	for _, p := range phrases {
		known = known || strings.HasPrefix(refusal, p)
	}
	if !known {
		t.Errorf("%s: no refusal that a host knows: %q", tool, refusal)
	}
	// Only the names of arguments are repeated, and only up to a length.
	if named := strings.Contains(refusal, "unknown argument"); a.Leaks() && !named || len(refusal) > 2000 && !named && !strings.HasPrefix(refusal, "nothing was saved: ") {
		t.Errorf("%s: the refusal repeats what was sent: %.3000s", tool, refusal)
	}
}

// changed checks what a call did to the folder, which was as before says, and
// returns what it is now.
func (w *whole) changed(t testing.TB, tool string, a *stdiotest.Answer, before map[string]string) map[string]string {
	t.Helper()
	after := w.files(t)
	var news, changes []string
	for name, data := range after {
		if old, ok := before[name]; !ok {
			news = append(news, name)
		} else if old != data {
			changes = append(changes, name)
		}
	}
	gone := len(before) - (len(after) - len(news))
	ok := len(news)+len(changes)+gone == 0
	switch {
	case a.Refused():
	case tool == advocate.StartTool:
		ok = len(news) == 1 && len(changes)+gone == 0
	case tool == advocate.SubmitTool, tool == advocate.AbandonTool:
		ok = len(changes) == 1 && len(news)+gone == 0 && strings.Contains(a.Line, strings.TrimSuffix(changes[0], ".json"))
	}
	if !ok {
		t.Errorf("%s made %q, changed %q, removed %d, and answers %s", tool, news, changes, gone, a.Line)
	}
	return after
}

// sound checks that the folder has the reviews that it should have, and none is damaged.
func (w *whole) sound(t testing.TB) {
	t.Helper()
	list, err := desk.New(w.dir).List()
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Skipped) != 1 || list.Skipped[0].File != "rev-bad0.json" || strings.Contains(list.Skipped[0].Why, stdiotest.Canary) {
		t.Errorf("skipped: %+v", list.Skipped)
	}
	if list.Count < len(stages) {
		t.Errorf("only %d reviews are left", list.Count)
	}
}

// FuzzLines sends lines through the whole server: transport, library, tools, the
// engine, files.
func FuzzLines(f *testing.F) {
	w := newWhole(f)
	f.Fuzz(func(t *testing.T, lines []byte) {
		if len(lines) > 32<<10 {
			return
		}
		w.reset(t)
		known := w.first       // the folder as of the last call's answer; calls come one after the other
		var unsure atomic.Bool // whether all calls' answers are known to be such
		stdiotest.Exchange(t, w.server, stdiotest.Plant(lines), func(a *stdiotest.Answer) {
			tool := a.Request.Tool()
			w.check(t, tool, a)
			switch {
			case a.Shared:
				unsure.Store(true)
			case tool == "" || unsure.Load():
			case a.Error != nil && a.Error.Code == mcp.REQUEST_INTERRUPTED: // carried out before, maybe
				known = w.files(t)
			default:
				known = w.changed(t, tool, a, known)
			}
		})
		w.sound(t)
	})
}

// FuzzArguments calls one tool with any arguments.
func FuzzArguments(f *testing.F) {
	w := newWhole(f)
	tools := []string{
		advocate.StartTool, advocate.SubmitTool, advocate.VerdictTool, advocate.ExportTool, advocate.GetTool, advocate.ListTool, advocate.AbandonTool,
	}
	f.Fuzz(func(t *testing.T, pick uint8, arguments []byte) {
		if len(arguments) > 32<<10 {
			return
		}
		w.reset(t)
		tool := tools[int(pick)%len(tools)]
		answers := stdiotest.Exchange(t, w.server, stdiotest.Call("1", tool, stdiotest.Plant(arguments)), nil)
		a := &answers[0]
		if a.Error != nil {
			t.Fatalf("%s: an error that a model does not see: %s", tool, a.Line)
		}
		w.check(t, tool, a)
		w.changed(t, tool, a, w.first)
		w.sound(t)
	})
}
