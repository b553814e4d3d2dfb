package model

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// This file judges histories of calls that overlap. A library looks for an order
// of each session's calls that the contract allows: an order in which no call
// comes before one that had ended when it began.

// record is a call in a history.
type record struct {
	Client int    `json:"client"`
	Server int    `json:"server"` // which process: a restarted one is another
	Call   call   `json:"call"`
	Begin  int64  `json:"begin"` // nanoseconds since the history began
	End    int64  `json:"end"`
	Answer answer `json:"answer"`
	// Unanswered: the server was killed. The call was carried out before End or
	// never.
	Unanswered bool `json:"unanswered,omitempty"`

	// What else bears on it, added when the history is over.
	limits
	clocks   []instant     // what the clock may have shown
	policies []*policyFile // what the server may have taken for the policy; nil for none
	latest   instant       // the latest that the clock has shown by then
	mishap   bool          // the store may have been out of reach
	crowded  bool          // there may have been too many sessions for all of them
}

// span is what was so from one moment until another. At a change the two overlap.
type span[T any] struct {
	Begin, End int64
	Value      T
}

// spans are what was so, in time's order.
type spans[T any] []span[T]

// during returns what may have been so at some time between the two.
func (s spans[T]) during(begin, end int64) (values []T) {
	for _, p := range s {
		if p.Begin <= end && begin <= p.End {
			values = append(values, p.Value)
		}
	}
	return values
}

// history is what several clients did at the same time. Its methods may be called
// from several goroutines.
type history struct {
	counts  *counts
	from    time.Time
	limits  limits
	wall    bool // servers have the clock of the system
	crowded bool // may become so
	aging   bool // sessions may expire

	mu       sync.Mutex
	records  []record
	known    []session
	misses   map[string]int // how often a session was unknown
	clocks   spans[instant]
	policies spans[*policyFile]
	mishaps  spans[trouble]
	births   map[int]int64 // when each process was started
}

// trouble is why the store may be out of reach.
type trouble struct {
	Server int           // which process has it, or everybody
	After  time.Duration // a call that is in it for less has no excuse
}

// everybody has a trouble.
const everybody = -1

func newHistory(c *counts, l limits, clock instant, p *policyFile) *history {
	h := &history{counts: c, from: time.Now(), limits: l, births: map[int]int64{}, misses: map[string]int{}}
	h.clocks = spans[instant]{{0, math.MaxInt64, clock}}
	h.policies = spans[*policyFile]{{0, math.MaxInt64, p}}
	c.Histories.Add(1)
	return h
}

func (h *history) now() int64 { return int64(time.Since(h.from)) }

// change carries out do, which makes value what is so from now on.
func change[T any](h *history, s *spans[T], value T, do func()) {
	h.mu.Lock()
	*s = append(*s, span[T]{h.now(), math.MaxInt64, value})
	h.mu.Unlock()
	do()
	h.mu.Lock()
	defer h.mu.Unlock()
	(*s)[len(*s)-2].End = h.now()
}

// mishap notes that the store is out of reach for a server, or everybody,
// until the function that it returns is called. A call has to wait in it for so
// long before it is refused.
func (h *history) mishap(server int, after time.Duration) (over func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mishaps = append(h.mishaps, span[trouble]{h.now(), math.MaxInt64, trouble{server, after}})
	i := len(h.mishaps) - 1
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.mishaps[i].End = h.now()
	}
}

func (h *history) born(server int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.births[server] = h.now()
}

// sessions are those that clients know of and that they did not give up looking for.
func (h *history) sessions() []session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.known), func(s session) bool { return h.misses[s.ID] > 5 })
}

// add adds a record and remembers what it shows.
func (h *history) add(r record) {
	h.counts.Steps.Add(1)
	h.counts.tally(r.Answer)
	if r.Unanswered {
		h.counts.Unanswered.Add(1)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, r)
	if phraseOf(r.Answer.Refusal) == unknownRun {
		h.misses[r.Call.Run]++
	}
	if r.Answer.State != nil {
		h.see(r.Answer.State)
	}
	for _, row := range r.Answer.List { // also one whose start was never answered
		if !slices.ContainsFunc(h.known, func(k session) bool { return k.ID == row.RunID }) {
			h.known = append(h.known, session{ID: row.RunID, Task: row.Task, Step: row.Step, Status: row.Status})
		}
	}
}

// see remembers as much of a shown session as drawing the next call needs.
func (h *history) see(state json.RawMessage) {
	var v shown
	if json.Unmarshal(state, &v) != nil {
		return
	}
	s := session{ID: v.RunID, Task: v.Task, Status: v.Status, Step: v.Step, Done: len(v.Completed)}
	switch {
	case len(v.Route) > 1:
		s.Bundle = *v.Bundle
	case v.Profile != nil:
		s.Profile = *v.Profile
	}
	i := slices.IndexFunc(h.known, func(k session) bool { return k.ID == s.ID })
	if i < 0 {
		h.known = append(h.known, s)
	} else {
		h.known[i] = s
	}
}

// standing is one session as a whole store and its servers have it.
type standing struct {
	session
	There bool // its row is, or it is kept
	Kept  int  // by which server, once it is finalized
	Gone  bool // it was there
}

// unknownExpiry is that of a session whose last change was never answered, where
// the clock is the system's.
const unknownExpiry = instant(math.MaxInt64)

// unknownNow is the clock of such a change.
const unknownNow = instant(-1)

// step returns every standing that the record can lead to: none when it contradicts st.
func (st standing) step(r *record) (next []standing) {
	visible := st.There && (!st.Final || st.Kept == r.Server)
	phrase := phraseOf(r.Answer.Refusal)
	if r.mishap && phrase == noStore {
		return []standing{st}
	}
	add := func(n standing) {
		if !slices.Contains(next, n) {
			next = append(next, n)
		}
	}
	if r.Call.Tool == "start" {
		if r.Unanswered {
			add(st)
		}
		if st.There || st.Gone {
			return next
		}
		for _, now := range r.clocks {
			for _, p := range r.policies {
				if policy, ok := p.assign("triage"); ok {
					s := session{ID: st.ID, Task: r.Call.Task, Status: "active", Step: "triage", Policy: policy, Expires: later(now, r.TTL)}
					if r.Unanswered || s.differs(r.Answer.State) == "" {
						add(standing{session: s, There: true})
					}
				}
			}
		}
		return next
	}
	unseen := phrase == unknownRun || r.Call.Tool == "list" && r.Answer.List == nil
	if !visible {
		if r.Unanswered || unseen {
			add(st)
		}
		return next
	}
	// What stopped or came to its end may be evicted, what expired purged.
	if unseen && (!st.active() && r.crowded || st.expired(r.latest)) {
		add(standing{session: session{ID: st.ID}, Gone: true})
	}
	if seen, ok := r.Answer.expiry(); ok && st.Expires == unknownExpiry {
		st.Expires = seen
	}
	// to adds what a change at now leads to, if that is what was answered.
	to := func(s session, refusals []string, now instant) {
		n := standing{session: s, There: true, Kept: st.Kept}
		if s != st.session && now == unknownNow {
			n.Expires = unknownExpiry
		}
		if s.Final && !st.Final {
			n.Kept = r.Server
		}
		if r.Unanswered {
			add(st)
			add(n)
		} else if (&outcome{refusals: refusals, state: &s}).differs(r.Answer) == "" {
			add(n)
		}
	}
	for _, now := range r.clocks {
		switch r.Call.Tool {
		case "list":
			if expired := st.expired(now); unseen && expired || !expired && len(r.Answer.List) == 1 && same(st.listed(), r.Answer.List[0]) {
				add(st)
			}
		case "get":
			if st.expired(now) {
				to(st.session, []string{expiredSession}, now)
			} else {
				to(st.session, nil, now)
			}
		case "finish":
			s, refusals := st.finish(r.Call.Outcome, now, r.TTL)
			to(s, refusals, now)
		case "advance":
			for _, p := range r.policies {
				s, refusals := st.advance(r.Call.Report, now, r.TTL, p.assign)
				to(s, refusals, now)
			}
		}
	}
	return next
}

func later(now, ttl instant) instant {
	if now == unknownNow {
		return unknownExpiry
	}
	return now + ttl
}

func same(a, b listed) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// expiry is the expiry that an answer shows.
func (a answer) expiry() (instant, bool) {
	var v struct {
		ExpiresAt string `json:"expires_at"`
	}
	switch {
	case a.State != nil:
		if json.Unmarshal(a.State, &v) != nil {
			return 0, false
		}
	case len(a.List) == 1:
		v.ExpiresAt = a.List[0].ExpiresAt
	}
	t, err := time.Parse(time.RFC3339Nano, v.ExpiresAt)
	return at(t), err == nil
}

// checker is the contract of one session for the library.
var checker = func() porcupine.Model {
	n := porcupine.NondeterministicModel{
		Init: func() []any { return []any{standing{}} },
		Step: func(state, input, _ any) (next []any) {
			st, r := state.(standing), input.(*record)
			if st.ID == "" {
				st.ID = r.Call.Run
			}
			for _, n := range st.step(r) {
				next = append(next, n)
			}
			return next
		},
		DescribeOperation: func(input, _ any) string {
			r := input.(*record)
			return fmt.Sprintf("server %d: %s → %s", r.Server, r.Call, r.Answer)
		},
		DescribeState: func(state any) string { return fmt.Sprintf("%+v", state) },
	}
	return n.ToModel()
}()

// judge fails the test unless the contract allows the history.
func (h *history) judge(t *testing.T) {
	t.Helper()
	h.complete()
	problems := h.limit()
	perRun := map[string][]*record{}
	for i := range h.records {
		r := &h.records[i]
		switch {
		case r.Call.Broken != "":
			if !r.Unanswered && phraseOf(r.Answer.Refusal) != invalid {
				problems = append(problems, fmt.Sprintf("broken arguments: %+v", r))
			}
		case r.Call.Tool == "start":
			run := runOf(r.Answer)
			switch {
			case run != "":
				began := *r
				began.Call.Run = run
				perRun[run] = append(perRun[run], &began)
			case !r.Unanswered && !h.mayRefuse(r):
				problems = append(problems, fmt.Sprintf("a start was refused: %+v", r))
			}
		case r.Call.Tool == "list":
			problems = append(problems, h.project(r, perRun)...)
		default:
			perRun[r.Call.Run] = append(perRun[r.Call.Run], r)
		}
	}
	h.adopt(perRun)
	for run, records := range perRun {
		var operations []porcupine.Operation
		for _, r := range records {
			operations = append(operations, porcupine.Operation{ClientId: r.Client, Input: r, Call: r.Begin, Return: r.End})
		}
		switch result, info := porcupine.CheckOperationsVerbose(checker, operations, 20*time.Second); result {
		case porcupine.Unknown:
			h.counts.Undecided.Add(1)
		case porcupine.Illegal:
			problems = append(problems, fmt.Sprintf("no order of its calls explains what was answered about %s (picture: %s)", run, draw(info)))
		}
	}
	if len(problems) > 0 {
		t.Errorf("the history is in %s", h.save())
		for _, p := range problems {
			t.Error(p)
		}
	}
}

// complete adds to each record what bears on it.
func (h *history) complete() {
	slices.SortStableFunc(h.records, func(a, b record) int { return int(a.Begin - b.Begin) })
	// Since when each server surely has had a policy.
	held := map[int]int64{}
	for _, r := range h.records {
		if r.Answer.State != nil && (r.Call.Tool == "start" || r.Call.Tool == "advance" && r.Call.Report.Status == "completed" && r.Call.Report.Step != "synthesis") {
			if since, ok := held[r.Server]; !ok || r.End < since {
				held[r.Server] = r.End
			}
		}
	}
	for i := range h.records {
		r := &h.records[i]
		r.limits, r.crowded = h.limits, h.crowded
		if h.wall {
			r.clocks = h.wallClocks(r)
		} else {
			r.clocks = h.clocks.during(r.Begin, r.End)
			for _, c := range h.clocks.during(0, r.End) {
				r.latest = max(r.latest, c)
			}
		}
		broken := false
		for _, p := range h.policies.during(r.Begin, r.End) {
			if p.valid {
				r.policies = append(r.policies, p)
			} else {
				broken = true
			}
		}
		if broken {
			for _, p := range h.policies.during(h.births[r.Server], r.End) {
				if p.valid && !slices.Contains(r.policies, p) {
					r.policies = append(r.policies, p)
				}
			}
			if since, ok := held[r.Server]; !ok || r.Begin < since {
				r.policies = append(r.policies, nil)
			}
		}
		r.mishap = slices.ContainsFunc(h.mishaps, func(m span[trouble]) bool {
			return (m.Value.Server == everybody || m.Value.Server == r.Server) && min(r.End, m.End)-max(r.Begin, m.Begin) >= int64(m.Value.After)
		})
	}
}

// wallClocks is what the system's clock may have shown: what an answer implies,
// if the call was going on then.
func (h *history) wallClocks(r *record) []instant {
	if r.Unanswered {
		return []instant{unknownNow}
	}
	begin, end := at(h.from.Add(time.Duration(r.Begin))), at(h.from.Add(time.Duration(r.End)))
	if expiry, ok := r.Answer.expiry(); ok && begin <= expiry-r.TTL && expiry-r.TTL <= end {
		return []instant{expiry - r.TTL}
	}
	return []instant{begin}
}

// mayRefuse tells whether a start may have been refused as it was.
func (h *history) mayRefuse(r *record) bool {
	switch phraseOf(r.Answer.Refusal) {
	case noStore:
		return r.mishap
	case noPolicy:
		return slices.Contains(r.policies, nil)
	case sessionLimit:
		return true // judged by limit
	}
	return false
}

// project makes of a listing what it says of each session.
func (h *history) project(r *record, perRun map[string][]*record) (problems []string) {
	if r.Answer.Refusal != "" {
		if phraseOf(r.Answer.Refusal) != noStore || !r.mishap {
			problems = append(problems, fmt.Sprintf("a listing was refused: %+v", r))
		}
		return problems
	}
	if r.Unanswered {
		return nil
	}
	rows := map[string]listed{}
	for i, row := range r.Answer.List {
		if _, twice := rows[row.RunID]; twice {
			problems = append(problems, fmt.Sprintf("a session is listed twice: %+v", r))
		}
		rows[row.RunID] = row
		if i > 0 && row.ExpiresAt > r.Answer.List[i-1].ExpiresAt {
			problems = append(problems, fmt.Sprintf("a listing is not in order: %+v", r))
		}
	}
	for _, s := range h.known {
		said := *r
		said.Call.Run, said.Answer.List = s.ID, nil
		if row, ok := rows[s.ID]; ok {
			said.Answer.List = []listed{row}
		}
		perRun[s.ID] = append(perRun[s.ID], &said)
	}
	return problems
}

// adopt gives sessions that were only seen in listings a start that nobody
// answered.
func (h *history) adopt(perRun map[string][]*record) {
	for run, records := range perRun {
		i := slices.IndexFunc(h.known, func(s session) bool { return s.ID == run })
		if i < 0 || slices.ContainsFunc(records, func(r *record) bool { return r.Call.Tool == "start" }) {
			continue
		}
		for _, r := range h.records {
			if r.Call.Tool == "start" && r.Unanswered && r.Call.Task == h.known[i].Task {
				r.Call.Run = run
				perRun[run] = append(perRun[run], &r)
			}
		}
	}
}

// limit judges how many sessions were active at once. It takes part only where
// none expires.
func (h *history) limit() (problems []string) {
	if h.aging {
		return nil
	}
	type change struct {
		at int64
		by int
	}
	var surely, maybe []change
	started := map[string]*record{}
	for i := range h.records {
		r := &h.records[i]
		if r.Call.Tool != "start" || r.Call.Broken != "" {
			continue
		}
		if run := runOf(r.Answer); run != "" {
			started[run] = r
			surely = append(surely, change{r.End, +1})
			maybe = append(maybe, change{r.Begin, +1})
		} else if r.Unanswered {
			maybe = append(maybe, change{r.Begin, +1})
		}
	}
	ends, ended := map[string]int64{}, map[string]int64{} // at the earliest, at the latest
	for _, r := range h.records {
		run := r.Call.Run
		stops := r.Call.Tool == "finish" || r.Call.Tool == "advance" && r.Call.Report.Status != "completed"
		if !stops || started[run] == nil || r.Call.Broken != "" {
			continue
		}
		if r.Unanswered || r.Answer.State != nil {
			if at, ok := ends[run]; !ok || r.Begin < at {
				ends[run] = r.Begin
			}
		}
		if r.Answer.State != nil {
			if at, ok := ended[run]; !ok || r.End < at {
				ended[run] = r.End
			}
		}
	}
	for run, at := range ends {
		surely = append(surely, change{max(at, started[run].End), -1})
	}
	for _, at := range ended {
		maybe = append(maybe, change{at, -1})
	}
	// What ends at a moment counts as ended before what begins then, for surely;
	// the other way round for maybe.
	slices.SortFunc(surely, func(a, b change) int { return compare(a.at, b.at, a.by, b.by) })
	slices.SortFunc(maybe, func(a, b change) int { return compare(a.at, b.at, b.by, a.by) })
	n := 0
	for _, c := range surely {
		if n += c.by; n > h.limits.Max {
			problems = append(problems, fmt.Sprintf("%d sessions are active at %d, the limit is %d", n, c.at, h.limits.Max))
			break
		}
	}
	for _, r := range h.records {
		if r.Call.Tool != "start" || phraseOf(r.Answer.Refusal) != sessionLimit {
			continue
		}
		n, most := 0, 0
		for _, c := range maybe {
			if c.at > r.End {
				break
			}
			if c.at >= r.Begin {
				most = max(most, n)
			}
			n += c.by
		}
		if most = max(most, n); most < h.limits.Max {
			problems = append(problems, fmt.Sprintf("at most %d sessions are active, the limit is %d, and a start was refused: %+v", most, h.limits.Max, r))
		}
	}
	return problems
}

func compare(a, b int64, c, d int) int {
	if a != b {
		return int(a - b)
	}
	return c - d
}

// draw writes a picture of what the library tried to a file and returns its path.
func draw(info porcupine.LinearizationInfo) string {
	f, err := os.CreateTemp("", "history-*.html")
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if err := porcupine.Visualize(checker, info, f); err != nil {
		return err.Error()
	}
	return f.Name()
}

// save writes the history to a file and returns its path.
func (h *history) save() string {
	f, err := os.CreateTemp("", "history-*.json")
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	policies := make(spans[string], len(h.policies))
	for i, p := range h.policies {
		policies[i] = span[string]{p.Begin, p.End, p.Value.name}
	}
	for _, part := range []any{h.limits, h.clocks, policies, h.mishaps, h.births} {
		_ = json.NewEncoder(f).Encode(part)
	}
	for _, r := range h.records {
		_ = json.NewEncoder(f).Encode(r)
	}
	return f.Name()
}

// newDice returns dice of their own for one of several clients.
func newDice(seed uint64, client int) plainDice {
	return plainDice{rand.New(rand.NewPCG(seed, uint64(client)))}
}
