package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// This file is the contract for what is around a session: lifetime, capacity, the
// store, several servers over it, and what each takes for the policy.

// limits are what a server was started with.
type limits struct {
	TTL instant
	Max int
}

// world is everything that a set of servers over one store knows.
type world struct {
	file    map[string]session // unfinished sessions, by their ids
	broken  map[string]bool    // of which, those whose row can't be read now
	servers []server
	policy  *policyFile // as it is on the disk now
}

// server is what one server process knows beyond the file.
type server struct {
	limits
	kept map[string]session // finalized there
	// held are the policies that it may take for the last valid one: more than one
	// where it may or may not have looked at the file in between. nil among them
	// means that it may never have had one.
	held []*policyFile
}

func newWorld(policy *policyFile, all ...limits) *world {
	w := &world{file: map[string]session{}, broken: map[string]bool{}, policy: policy}
	for _, l := range all {
		w.servers = append(w.servers, server{limits: l})
	}
	for i := range w.servers {
		w.restart(i)
	}
	return w
}

func (w *world) clone() *world {
	c := &world{maps.Clone(w.file), maps.Clone(w.broken), slices.Clone(w.servers), w.policy}
	for i := range c.servers {
		c.servers[i].kept = maps.Clone(c.servers[i].kept)
		c.servers[i].held = slices.Clone(c.servers[i].held)
	}
	return c
}

func (w *world) equal(v *world) bool {
	return maps.Equal(w.file, v.file) && maps.Equal(w.broken, v.broken) && w.policy == v.policy &&
		slices.EqualFunc(w.servers, v.servers, func(a, b server) bool {
			return a.limits == b.limits && maps.Equal(a.kept, b.kept) && slices.Equal(a.held, b.held)
		})
}

// restart ends server i, be it by a kill, and starts it anew.
func (w *world) restart(i int) {
	w.servers[i].kept = map[string]session{}
	w.servers[i].held = []*policyFile{nil}
	w.mayLook(i)
}

// mayLook says that server i may by itself have looked at the policy.
func (w *world) mayLook(i int) {
	s := &w.servers[i]
	if w.policy.valid && !slices.Contains(s.held, w.policy) {
		s.held = append(s.held, w.policy)
	}
}

// swap replaces the policy file.
func (w *world) swap(p *policyFile) {
	w.policy = p
	for i := range w.servers {
		w.mayLook(i)
	}
}

// look is a server's look at the policy for a transition: what it can find.
func (w *world) look(i int) []*policyFile {
	if w.policy.valid {
		return []*policyFile{w.policy}
	}
	return w.servers[i].held
}

// call is one call of a tool.
type call struct {
	Tool    string `json:"tool"` // start, advance, finish, get, list
	Task    string `json:"task,omitempty"`
	Run     string `json:"run,omitempty"`
	Report  report `json:"report,omitzero"`
	Outcome string `json:"outcome,omitempty"`
	Odd     int    `json:"odd,omitempty"`    // how the arguments are written
	Broken  string `json:"broken,omitempty"` // instead of the arguments: JSON that the schema refuses
}

// answer is what came back.
type answer struct {
	Refusal string          `json:"refusal,omitempty"` // the whole text
	State   json.RawMessage `json:"state,omitempty"`
	List    []listed        `json:"list,omitempty"`
}

// outcome is one way in which a call may go.
type outcome struct {
	refusals []string // with one of these, or
	state    *session // with this, or
	list     []listed // with these
	next     *world
}

// differs says how the answer differs from o; "" when it does not.
func (o *outcome) differs(a answer) string {
	switch {
	case o.refusals != nil:
		for _, phrase := range o.refusals {
			if phraseOf(a.Refusal) == phrase {
				return ""
			}
		}
		return fmt.Sprintf("\n got %s\nwant %q", a, o.refusals)
	case a.Refusal != "":
		return fmt.Sprintf("\n got %s\nwant success", a)
	case o.state != nil:
		return o.state.differs(a.State)
	}
	got, _ := json.Marshal(a.List)
	want, _ := json.Marshal(o.list)
	if string(got) != string(want) {
		return fmt.Sprintf("\n got %s\nwant %s", got, want)
	}
	return ""
}

func (a answer) String() string {
	text, _ := json.Marshal(a)
	return string(text)
}

// phraseOf cuts a refusal after the stable phrase.
func phraseOf(refusal string) string {
	for i := range len(refusal) {
		if refusal[i] == ':' {
			return refusal[:i]
		}
	}
	return refusal
}

// ways are the ways in which a call of server i at now may go. newID is the id
// that a start that succeeds gives.
func (w *world) ways(i int, c call, now instant, newID string) []outcome {
	refuse := func(phrases ...string) []outcome { return []outcome{{refusals: phrases, next: w}} }
	if c.Broken != "" {
		return refuse(invalid)
	}
	switch c.Tool {
	case "start":
		return w.start(i, c, now, newID)
	case "list":
		return []outcome{{list: w.list(i, now), next: w}}
	}
	s, ok := w.servers[i].kept[c.Run]
	if !ok {
		if w.broken[c.Run] {
			return refuse(noStore)
		}
		if s, ok = w.file[c.Run]; !ok {
			return refuse(unknownRun)
		}
	}
	switch c.Tool {
	case "get":
		if s.expired(now) {
			return refuse(expiredSession)
		}
		return []outcome{{state: &s, next: w}}
	case "finish":
		next, refusals := s.finish(c.Outcome, now, w.servers[i].TTL)
		if refusals != nil {
			return refuse(refusals...)
		}
		v := w.clone()
		delete(v.file, c.Run)
		v.servers[i].kept[c.Run] = next
		return []outcome{{state: &next, next: v}}
	}
	var all []outcome
	for _, p := range w.look(i) {
		looked := false
		next, refusals := s.advance(c.Report, now, w.servers[i].TTL, func(stage string) (assignment, bool) {
			looked = true
			return p.assign(stage)
		})
		v := w.clone()
		if looked {
			v.servers[i].held = []*policyFile{p}
		}
		o := outcome{refusals: refusals, next: v}
		if refusals == nil {
			v.file[c.Run] = next
			o.state = &next
		}
		all = append(all, o)
		if !looked {
			break
		}
	}
	return all
}

// start is section 6.
func (w *world) start(i int, c call, now instant, newID string) (all []outcome) {
	for _, p := range w.look(i) {
		v := w.clone()
		me := &v.servers[i]
		me.held = []*policyFile{p}
		policy, ok := p.assign("triage")
		if !ok {
			all = append(all, outcome{refusals: []string{noPolicy}, next: v})
			continue
		}
		active := 0
		for id, s := range v.file {
			switch {
			case v.broken[id]:
			case s.expired(now):
				delete(v.file, id)
			case s.active():
				active++
			}
		}
		maps.DeleteFunc(me.kept, func(_ string, s session) bool { return s.expired(now) })
		if active >= me.Max {
			all = append(all, outcome{refusals: []string{sessionLimit}, next: v})
			continue
		}
		for len(v.file)-len(v.broken)+len(me.kept) >= me.Max {
			v.evict(i)
		}
		s := session{ID: newID, Task: c.Task, Status: "active", Step: "triage", Policy: policy, Expires: now + me.TTL}
		v.file[newID] = s
		all = append(all, outcome{state: &s, next: v})
	}
	return all
}

// evict removes the oldest stopped or finalized session that server i knows.
func (w *world) evict(i int) {
	var oldest *session
	consider := func(s session) {
		if !s.active() && !w.broken[s.ID] && (oldest == nil || s.older(*oldest)) {
			oldest = &s
		}
	}
	for _, s := range w.file {
		consider(s)
	}
	for _, s := range w.servers[i].kept {
		consider(s)
	}
	delete(w.file, oldest.ID)
	delete(w.servers[i].kept, oldest.ID)
}

// list is what server i lists at now.
func (w *world) list(i int, now instant) []listed {
	var all []session
	for id, s := range w.file {
		if !w.broken[id] {
			all = append(all, s)
		}
	}
	all = append(all, slices.Collect(maps.Values(w.servers[i].kept))...)
	all = slices.DeleteFunc(all, func(s session) bool { return s.expired(now) })
	slices.SortFunc(all, func(a, b session) int {
		if b.older(a) {
			return -1
		}
		return 1
	})
	rows := make([]listed, len(all))
	for n, s := range all {
		rows[n] = s.listed()
	}
	return rows
}
