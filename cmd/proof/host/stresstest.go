package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	core "github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/play"
	"github.com/qa-orch/qa-orch/server/advocate"
)

// StressTest is a review of the devil's advocate.
type StressTest struct {
	script *play.Script
	rng    *rand.Rand
	manage Manners

	id      string
	mode    core.Mode
	phase   core.Phase
	items   map[core.Phase]int // that were acknowledged
	queue   []map[string]any   // for the phase, not yet acknowledged
	ended   bool               // complete: the verdict is due
	verdict []byte
	over    bool
	due     *Call
}

// NewStressTest returns a review that has not been started. rng decides how.
func NewStressTest(m Manners, rng *rand.Rand) (*StressTest, error) {
	script, err := play.In(locales.En)
	return &StressTest{script: script, rng: rng, manage: m, items: map[core.Phase]int{}}, err
}

// ID implements Play.
func (s *StressTest) ID() string { return s.id }

// Over implements Play.
func (s *StressTest) Over() bool { return s.over }

// Look implements Play.
func (s *StressTest) Look() Call { return Call{advocate.GetTool, s.named()} }

func (s *StressTest) named() map[string]any { return map[string]any{"review_id": s.id} }

// Next implements Play.
func (s *StressTest) Next() Call {
	if s.due == nil {
		c := s.next()
		s.due = &c
	}
	return *s.due
}

func (s *StressTest) next() Call {
	percent := func(n int) bool { return s.rng.IntN(100) < n }
	switch {
	case s.id == "":
		s.mode = pick(s.rng, core.Modes())
		return Call{advocate.StartTool, map[string]any{"claim": s.script.Claim, "mode": string(s.mode), "context": s.script.Context}}
	case percent(s.manage.Look):
		return s.Look()
	case s.ended && s.verdict == nil:
		return Call{advocate.VerdictTool, s.named()}
	case s.ended:
		return Call{advocate.ExportTool, s.named()}
	case percent(s.manage.Stop):
		args := s.named()
		args["reason"] = "the claim was withdrawn"
		return Call{advocate.AbandonTool, args}
	}
	args := s.named()
	args["items"] = s.queue[:1+s.rng.IntN(len(s.queue))]
	return Call{advocate.SubmitTool, args}
}

// standing is what answers say about where a review stands.
type standing struct {
	ReviewID     string      `json:"review_id"`
	Status       string      `json:"status"`
	Accepted     int         `json:"accepted"`
	Phase        *core.Phase `json:"phase"`
	Instructions *due        `json:"instructions"`
	NextPhase    *due        `json:"next_phase"`

	ItemsPerPhase map[core.Phase]int `json:"items_per_phase"`
}

type due struct {
	Phase   core.Phase              `json:"phase"`
	Targets []struct{ Index int64 } `json:"targets"`
}

// enter takes up a phase: what the script has for it, in phases that answer
// earlier items only for those that are to be answered.
func (s *StressTest) enter(d *due) error {
	if d == nil {
		return fmt.Errorf("review %s has no instructions", s.id)
	}
	s.phase, s.queue = d.Phase, slices.Clone(s.script.Of(d.Phase).Items)
	if d.Phase.Answers() != "" {
		s.queue = slices.DeleteFunc(s.queue, func(item map[string]any) bool {
			return !slices.ContainsFunc(d.Targets, func(t struct{ Index int64 }) bool { return item["index"] == t.Index })
		})
	} else {
		s.queue = s.queue[min(s.items[d.Phase], len(s.queue)):]
	}
	if len(s.queue) == 0 {
		return fmt.Errorf("the script has nothing for phase %s", d.Phase)
	}
	return nil
}

// Take implements Play.
func (s *StressTest) Take(answer fleet.Result) error {
	c := s.Next()
	if err := refusal(c, answer); err != nil {
		return err
	}
	s.due = nil
	if c.Tool == advocate.VerdictTool {
		s.verdict = answer.Structured
		return nil
	}
	if c.Tool == advocate.ExportTool {
		s.over = true
		return nil
	}
	var st standing
	if err := read(answer, &st); err != nil {
		return err
	}
	switch c.Tool {
	case advocate.StartTool:
		s.id = st.ReviewID
		return s.enter(st.Instructions)
	case advocate.GetTool:
		return s.same(st)
	case advocate.AbandonTool:
		s.over = true
		return nil
	}
	sent := len(c.Arguments["items"].([]map[string]any))
	if st.Accepted != sent {
		return fmt.Errorf("%d of %d items were accepted", st.Accepted, sent)
	}
	s.items[s.phase] += sent
	s.queue = s.queue[sent:]
	switch st.Status {
	case "complete":
		s.ended = true
	case "phase_complete":
		return s.enter(st.NextPhase)
	}
	return nil
}

// same holds a standing to what was acknowledged.
func (s *StressTest) same(st standing) error {
	for phase, n := range st.ItemsPerPhase {
		if n != s.items[phase] {
			return fmt.Errorf("review %s has %d items in %s, acknowledged were %d", s.id, n, phase, s.items[phase])
		}
	}
	if want := map[bool]string{true: string(core.Complete), false: string(core.Active)}[s.ended]; st.Status != want {
		return fmt.Errorf("review %s is %s and was %s", s.id, st.Status, want)
	}
	return nil
}

// Find implements Play.
func (s *StressTest) Find(answer fleet.Result, underWay bool) error {
	c := s.Next()
	s.due = nil
	if answer.IsError {
		return fmt.Errorf("review %s was acknowledged, now %w: %s", s.id, ErrRefused, answer.Text)
	}
	var st standing
	if err := read(answer, &st); err != nil {
		return err
	}
	if underWay && c.Tool == advocate.AbandonTool && st.Status == string(core.Abandoned) {
		s.over = true
		return nil
	}
	if underWay && c.Tool == advocate.SubmitTool {
		// All of the items or none.
		if sent := len(c.Arguments["items"].([]map[string]any)); st.ItemsPerPhase[s.phase] == s.items[s.phase]+sent {
			s.items[s.phase] += sent
			s.queue = s.queue[sent:]
			s.ended = st.Status == string(core.Complete)
		}
	}
	if err := s.same(st); err != nil || s.ended {
		return err
	}
	if st.Phase == nil {
		return fmt.Errorf("review %s is active in no phase", s.id)
	}
	return s.enter(st.Instructions)
}

// SameVerdict holds a later verdict to the acknowledged one, if there was one.
func (s *StressTest) SameVerdict(answer fleet.Result) error {
	if s.verdict != nil && !bytes.Equal(s.verdict, answer.Structured) {
		return fmt.Errorf("the verdict was %s and is %s", s.verdict, answer.Structured)
	}
	return nil
}

// Verdict returns the verdict that was acknowledged, nil if none was.
func (s *StressTest) Verdict() json.RawMessage { return s.verdict }
