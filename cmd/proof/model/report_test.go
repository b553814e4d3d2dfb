package model

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// duration asks for the long form: each test goes on for as long.
var duration = flag.Duration("proof.duration", 0, "go on for so long in each test, instead of a few histories")

// newSeed returns a seed for a history: rapid's, if one was given.
func newSeed() uint64 {
	if seed := flag.Lookup("rapid.seed").Value.(flag.Getter).Get().(uint64); seed != 0 {
		return seed
	}
	return rand.Uint64()
}

// long reports whether the long form was asked for.
func long() bool { return *duration > 0 }

// rounds calls round a few times or, in the long form, until its time is up. It
// stops early when the test has failed.
func rounds(t *testing.T, few int, round func()) {
	end := time.Now().Add(*duration)
	for n := 0; !t.Failed() && (n < few || long() && time.Now().Before(end)); n++ {
		round()
	}
}

// reportTo names a file that gets a line of JSON about each test.
const reportTo = "QA_ORCH_PROOF_REPORT"

// counts is what a test has tried so far. Its fields may be changed from several goroutines.
type counts struct {
	Histories, Steps, Restarts, Kills, Unanswered, ClockSteps, Swaps, Locks, Full, Denied, Scribbles, Undecided atomic.Int64

	mu   sync.Mutex
	seen map[string]int // answers, by the refusal's phrase or the step shown
}

// tally counts an answer.
func (c *counts) tally(a answer) {
	what := phraseOf(a.Refusal)
	if a.State != nil {
		var v shown
		_ = json.Unmarshal(a.State, &v)
		what = v.Step + ", " + v.Status
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[what]++
}

// occurred tells whether an answer was a refusal with that phrase or a session at
// that step.
func (c *counts) occurred(what string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[what] > 0 || c.seen[what+", active"] > 0
}

// refused is how many calls were refused.
func (c *counts) refused() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, phrase := range phrases {
		n += c.seen[phrase]
	}
	return n
}

// phrases are all refusals.
var phrases = []string{
	unknownRun, expiredSession, terminal, illegal, sessionLimit, conflicting, notReady, invalid,
	wrongProfile, signalsMissing, signalsEarly, noStore, noPolicy,
}

func (c *counts) String() string {
	text := fmt.Sprintf("%d histories, %d calls, %d refused", c.Histories.Load(), c.Steps.Load(), c.refused())
	for _, part := range []struct {
		n    *atomic.Int64
		what string
	}{
		{&c.Unanswered, "unanswered"},
		{&c.Restarts, "restarts"},
		{&c.Kills, "kills"},
		{&c.ClockSteps, "clock steps"},
		{&c.Swaps, "policy swaps"},
		{&c.Locks, "locks by a stranger"},
		{&c.Full, "times the disk was full"},
		{&c.Denied, "times the folder was read-only or closed"},
		{&c.Scribbles, "rows damaged"},
		{&c.Undecided, "sessions undecided by the checker"},
	} {
		if n := part.n.Load(); n > 0 {
			text += fmt.Sprintf(", %d %s", n, part.what)
		}
	}
	return text
}

// tell says at the end of the test what it tried and found.
func tell(t *testing.T, what string, c *counts) {
	t.Cleanup(func() {
		if t.Skipped() {
			return
		}
		// Long histories in which something never occurred prove nothing about it.
		for _, what := range append(slices.Clone(phrases), workingSteps...) {
			if long() && c.Steps.Load() > 20_000 && !c.occurred(what) {
				t.Errorf("no answer was ever %q", what)
			}
		}
		found := "nothing"
		if t.Failed() {
			found = "a history that the contract does not allow: see the output of " + t.Name()
		}
		line, err := json.Marshal(struct {
			What  string `json:"what"`
			Tried string `json:"tried"`
			Found string `json:"found"`
		}{"model: " + what, c.String(), found})
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s", line)
		t.Logf("answers: %v", c.seen)
		path := os.Getenv(reportTo)
		if path == "" {
			return
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		if _, err := f.Write(append(line, '\n')); err != nil {
			t.Error(err)
		}
	})
}
