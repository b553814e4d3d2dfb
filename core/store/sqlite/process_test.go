package sqlite_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

// The tests in this file run real processes: the test binary again, which acts
// as a server with a line protocol over a store when this variable names one.
const childVar = "QA_ORCH_TEST_STORE"

const childLimitVar = "QA_ORCH_TEST_LIMIT"

// longVar asks for the long form of the tests that kill processes.
const longVar = "QA_ORCH_TEST_LONG"

func TestMain(m *testing.M) {
	switch path := os.Getenv(childVar); {
	case path == "":
		flag.Parse()
		if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
			f.Value.Set("15") // each one syncs a disk many times
		}
		os.Exit(m.Run())
	case os.Getenv(childLimitVar) == "":
		writeUntilKilled(path)
	default:
		serve(path)
	}
}

// call is one line to a child, answer one line back.
type call struct {
	Op      string
	ID      string
	Report  review.Report
	Outcome review.Status
}

type answer struct {
	Session *review.Session `json:",omitempty"`
	Listed  int
	Refused string
	Failed  string
}

func newOrchestrator(path string, limit int) *orchestrator.Orchestrator {
	nowhere := filepath.Join(filepath.Dir(path), "nowhere")
	return orchestrator.New(sqlite.New(path, nil), policy.NewSource(nowhere, nowhere, nil),
		orchestrator.Limits{TTL: time.Hour, MaxSessions: limit})
}

func serve(path string) {
	limit, _ := strconv.Atoi(os.Getenv(childLimitVar))
	o := newOrchestrator(path, limit)
	ctx := context.Background()
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var c call
		if in.Decode(&c) != nil {
			return
		}
		var s review.Session
		var list []review.Session
		var err error
		switch c.Op {
		case "start":
			s, err = o.Start(ctx, catalog.OrdinaryReview)
		case "advance":
			s, err = o.Advance(ctx, c.ID, c.Report)
		case "finish":
			s, err = o.Finish(ctx, c.ID, c.Outcome)
		case "get":
			s, err = o.Get(ctx, c.ID)
		case "list":
			list, err = o.List(ctx)
		}
		a := answer{Listed: len(list)}
		var refused *review.Error
		switch {
		case errors.As(err, &refused):
			a.Refused = refused.Error()
		case err != nil:
			a.Failed = err.Error()
		case c.Op != "list":
			a.Session = &s
		}
		out.Encode(a)
	}
}

// child is a running process.
type child struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  *json.Encoder
	out *json.Decoder
}

func spawn(t testing.TB, path string, env ...string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childVar+"="+path), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &child{cmd: cmd, in: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out))}
}

func (c *child) call(t testing.TB, q call) answer {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	var a answer
	if err := c.in.Encode(q); err != nil {
		t.Errorf("%s: %v", q.Op, err)
	} else if err := c.out.Decode(&a); err != nil {
		t.Errorf("%s: no answer: %v", q.Op, err)
	}
	if a.Failed != "" {
		t.Errorf("%s: %s", q.Op, a.Failed)
	}
	return a
}

func spawnAll(t testing.TB, path string, n, limit int) []*child {
	t.Helper()
	var all []*child
	for range n {
		all = append(all, spawn(t, path, childLimitVar+"="+strconv.Itoa(limit)))
	}
	return all
}

// each runs f for every child at once.
func each(all []*child, f func(i int, c *child)) {
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() { f(i, c) })
	}
	wg.Wait()
}

// walk is a whole review over a bundle of four, as reports.
func walk() []review.Report {
	set := review.NewSignals(review.HighRiskDomain, review.EvidenceUncertain)
	out := []review.Report{{Step: review.Triage, Status: review.Completed, Bundle: catalog.Widget}}
	for _, p := range catalog.Widget.Profiles() {
		out = append(out, review.Report{Step: review.PrimaryReview, Status: review.Completed, CompletedProfile: p})
	}
	out[len(out)-1].Signals = &set
	return append(out,
		review.Report{Step: review.DeepReview, Status: review.Completed},
		review.Report{Step: review.Synthesis, Status: review.Completed})
}

func TestEightProcessesShareOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder", "store.sqlite3")
	all := spawnAll(t, path, 8, 100)

	// All open the new file at once.
	sessions := make([]review.Session, len(all))
	each(all, func(i int, c *child) {
		if a := c.call(t, call{Op: "start"}); a.Session != nil {
			sessions[i] = *a.Session
		}
	})
	if t.Failed() {
		t.FailNow()
	}

	// Each session is carried on by whichever process comes, all at the same time.
	each(all, func(i int, _ *child) {
		random := rand.New(rand.NewPCG(uint64(i), 7))
		for n, r := range walk() {
			c := all[random.IntN(len(all))]
			a := c.call(t, call{Op: "advance", ID: sessions[i].RunID, Report: r})
			if a.Session == nil {
				t.Errorf("session %d, step %d (%s): %q", i, n, r.Step, a.Refused)
				return
			}
			got := all[random.IntN(len(all))].call(t, call{Op: "get", ID: sessions[i].RunID})
			if got.Session == nil || got.Session.Step != a.Session.Step || got.Session.Done != a.Session.Done {
				t.Errorf("session %d, step %d: another process sees %+v, acknowledged was %+v", i, n, got.Session, a.Session)
			}
		}
		c := all[random.IntN(len(all))]
		if a := c.call(t, call{Op: "finish", ID: sessions[i].RunID, Outcome: review.Completed}); a.Session == nil || !isFinal(a.Session) {
			t.Errorf("finish: %+v", a)
		}
		// Only the process that finalized it still knows it.
		for _, other := range all {
			a := other.call(t, call{Op: "get", ID: sessions[i].RunID})
			if (other == c) != (a.Session != nil) || other != c && a.Refused != string(review.CodeUnknownRun) {
				t.Errorf("after finish, asked process is the finalizing one: %v, answer %+v", other == c, a)
			}
		}
	})
	if in := inspect(t, path); in.Integrity(context.Background()) != nil {
		t.Error("the file is damaged")
	}
}

func isFinal(s *review.Session) bool {
	return s.Status == review.Completed && s.Step == review.AwaitingOutcome
}

func TestOneOfTwoIdenticalStepsWins(t *testing.T) {
	t.Parallel()
	all := spawnAll(t, filepath.Join(t.TempDir(), "s"), 8, 100)
	id := all[0].call(t, call{Op: "start"}).Session.RunID
	for n, r := range walk() {
		var mu sync.Mutex
		won := 0
		each(all, func(_ int, c *child) {
			a := c.call(t, call{Op: "advance", ID: id, Report: r})
			mu.Lock()
			defer mu.Unlock()
			switch a.Refused {
			case "":
				won++
			case string(review.CodeIllegal), string(review.CodeProfile), string(review.CodeSignalsMissing):
			default:
				t.Errorf("step %d: %q", n, a.Refused)
			}
		})
		if won != 1 {
			t.Fatalf("step %d (%s): %d processes won", n, r.Step, won)
		}
	}
}

func TestCapacityHoldsOverAllProcesses(t *testing.T) {
	t.Parallel()
	const limit = 10
	all := spawnAll(t, filepath.Join(t.TempDir(), "s"), 8, limit)
	for round := range 2 {
		var mu sync.Mutex
		var started []string
		each(all, func(_ int, c *child) {
			for range 4 {
				a := c.call(t, call{Op: "start"})
				mu.Lock()
				if a.Session != nil {
					started = append(started, a.Session.RunID)
				} else if a.Refused != string(review.CodeLimit) {
					t.Errorf("%+v", a)
				}
				mu.Unlock()
			}
		})
		if len(started) != limit {
			t.Fatalf("round %d: %d were started, the limit is %d", round, len(started), limit)
		}
		if got := all[round].call(t, call{Op: "list"}).Listed; got != limit {
			t.Fatalf("%d are listed", got)
		}
		for i, id := range started { // stopped ones make room again
			all[i%8].call(t, call{Op: "advance", ID: id, Report: review.Report{Step: review.Triage, Status: review.Partial}})
		}
	}
}

// writeUntilKilled starts and advances reviews as fast as it can and prints
// each acknowledged state.
func writeUntilKilled(path string) {
	o := newOrchestrator(path, 1_000_000)
	ctx := context.Background()
	out := json.NewEncoder(os.Stdout)
	for {
		s, err := o.Start(ctx, catalog.OrdinaryReview)
		for _, r := range walk() {
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			out.Encode(s)
			s, err = o.Advance(ctx, s.RunID, r)
		}
		out.Encode(s)
	}
}

// TestKilledAtRandomMoments: whatever was acknowledged is there afterwards, and
// the file is whole.
func TestKilledAtRandomMoments(t *testing.T) {
	t.Parallel()
	trials := 6
	if os.Getenv(longVar) != "" {
		trials = 200
	}
	path := filepath.Join(t.TempDir(), "s")
	total := 0
	for trial := range trials {
		// Two at a time: one killed must not harm the other either.
		acknowledged := make(chan map[string]review.Session, 2)
		var running []*child
		var atWork sync.WaitGroup
		for range 2 {
			c := spawn(t, path)
			running = append(running, c)
			atWork.Add(1)
			go func() {
				last := map[string]review.Session{}
				for {
					var s review.Session
					if c.out.Decode(&s) != nil {
						if len(last) == 0 {
							atWork.Done()
						}
						acknowledged <- last
						return
					}
					if len(last) == 0 {
						atWork.Done()
					}
					last[s.RunID] = s
				}
			}()
		}
		atWork.Wait()
		for _, c := range running {
			time.Sleep(time.Duration(rand.IntN(20_000)) * time.Microsecond)
			must(t, c.cmd.Process.Kill())
		}
		s := sqlite.New(path, nil)
		for range running {
			for id, want := range <-acknowledged {
				total++
				got, err := s.Get(context.Background(), id)
				if err != nil {
					t.Fatalf("trial %d: an acknowledged session is lost: %v", trial, err)
				}
				// One more step may have been committed and not yet printed.
				if progress(got) < progress(want) {
					t.Fatalf("trial %d: acknowledged %+v, there is %+v", trial, want, got)
				}
			}
		}
		must(t, s.Close())
		in, err := sqlite.Inspect(context.Background(), path)
		must(t, err)
		must(t, in.Integrity(context.Background()))
		rows, err := in.Rows(context.Background(), time.Now())
		must(t, err)
		if rows.Bad > 0 {
			t.Fatalf("trial %d: %d broken rows", trial, rows.Bad)
		}
		must(t, in.Close())
	}
	t.Logf("%d trials, %d acknowledged sessions", trials, total)
	if total == 0 {
		t.Fatal("nothing was ever acknowledged: the trials prove nothing")
	}
}

func progress(s review.Session) int {
	for i, step := range review.Steps() {
		if s.Step == step {
			return 100*i + s.Done
		}
	}
	return -1
}
