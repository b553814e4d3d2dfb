package model

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// TestProcessesInOrder plays histories over server processes: one call after the
// other, each between two mishaps, or within one.
func TestProcessesInOrder(t *testing.T) {
	t.Parallel()
	c := &counts{}
	tell(t, "one call after the other, server processes", c)
	openYard(t)
	few := 2
	failing := false
	rounds(t, 1, func() {
		rapid.Check(t, func(rt *rapid.T) {
			if !long() && few == 0 && !failing {
				return // rapid would have more than there is time for
			}
			passed := false
			defer func() { failing = failing || !passed }()
			processesInOrder(rt, c)
			passed = true
			few--
		})
	})
}

func processesInOrder(t *rapid.T, c *counts) {
	c.Histories.Add(1)
	o := &order{T: t, counts: c, now: noon}
	o.temper = drawTemper(o)
	l := limits{ttl, pick(o, []int{1, 2, 3, 5, 100}, "most sessions")}
	wall := oneIn(o, 2, "the system's clock")
	servers := 1 + o.n(3, "servers")
	name := clocked
	if wall {
		name = program
	}
	h := newHouse(t, l, slices.Repeat([]string{name}, servers), long() && oneIn(o, 3, "small disk"))
	defer h.close()
	first := drawPolicy(o)
	h.putPolicy(first)
	o.worlds = []*world{newWorld(first, slices.Repeat([]limits{l}, servers)...)}
	for i := range servers {
		h.start(i)
	}

	// What is amiss now: for one server, for all.
	full := make([]func(), servers)
	var amiss func()
	mend := func() {
		for i, undo := range full {
			if undo != nil {
				undo()
				full[i] = nil
			}
		}
		if amiss != nil {
			amiss()
			amiss = nil
		}
	}
	defer mend()
	mishap := func(i int) bool { return full[i] != nil || amiss != nil }

	// tick sets the clock of the model to what the system's may have been.
	tick := func(begin time.Time, expiry instant, ok bool) {
		if !wall {
			return
		}
		o.now = at(begin)
		if now := expiry - ttl; ok && o.now <= now && now <= at(time.Now()) {
			o.now = now
		}
	}
	do := func(i int, call call) {
		t.Helper()
		begin := time.Now()
		a, err := byServer(context.Background(), h.running[i], call)
		if err != nil {
			t.Fatalf("server %d: %s: %v\n%s", i, call, err, h.running[i].Stderr())
		}
		expiry, ok := a.expiry()
		tick(begin, expiry, ok)
		o.call(i, call, a, runOf(a), mishap(i))
	}
	restart := func(i int) {
		full[i] = nil // with the process
		h.start(i)
		for _, w := range o.worlds {
			w.restart(i)
		}
	}

	someCall := func(t *rapid.T) {
		o.T = t
		do(o.n(servers, "server"), o.draw(true))
	}
	actions := map[string]func(*rapid.T){
		"call 1": someCall, "call 2": someCall, "call 3": someCall, "call 4": someCall,
		"call 5": someCall, "call 6": someCall, "call 7": someCall, "call 8": someCall,
		"policy": func(t *rapid.T) {
			o.T = t
			c.Swaps.Add(1)
			p := drawPolicy(o)
			h.putPolicy(p)
			for _, w := range o.worlds {
				w.swap(p)
			}
		},
		"close": func(t *rapid.T) {
			o.T = t
			c.Restarts.Add(1)
			i := o.n(servers, "server")
			if err := h.running[i].Close(20 * time.Second); err != nil {
				t.Fatal(err)
			}
			restart(i)
		},
		"kill": func(t *rapid.T) {
			o.T = t
			c.Kills.Add(1)
			i := o.n(servers, "server")
			h.running[i].Kill()
			restart(i)
		},
		"kill in a call": func(t *rapid.T) {
			o.T = t
			i := o.n(servers, "server")
			call := o.draw(false)
			after := time.Duration(o.n(4000, "µs")) * time.Microsecond
			if mishap(0) || mishap(servers-1) || mishap(i) {
				return // nobody could say what became of it
			}
			c.Kills.Add(1)
			type result struct {
				answer
				error
			}
			came := make(chan result, 1)
			begin := time.Now()
			go func() {
				a, err := byServer(context.Background(), h.running[i], call)
				came <- result{a, err}
			}()
			time.Sleep(after)
			h.running[i].Kill()
			r := <-came
			switch {
			case r.error == nil:
				expiry, ok := r.expiry()
				tick(begin, expiry, ok)
				o.call(i, call, r.answer, runOf(r.answer), false)
				restart(i)
				return
			case !errors.Is(r.error, fleet.ErrGone):
				t.Fatalf("server %d: %s: %v", i, call, r.error)
			}
			h.start(i)
			list, err := byServer(context.Background(), h.running[i], callList)
			if err != nil {
				t.Fatal(err)
			}
			newID := ""
			for _, row := range list.List {
				switch seen := slices.ContainsFunc(o.known, func(s session) bool { return s.ID == row.RunID }); {
				case !seen && newID != "":
					t.Fatalf("two sessions that nobody started: %s", list)
				case !seen:
					newID = row.RunID
				case row.RunID != call.Run:
					continue
				}
				expiry, ok := answer{List: []listed{row}}.expiry()
				tick(begin, expiry, ok)
			}
			o.unanswered(i, call, newID)
			for _, w := range o.worlds {
				w.restart(i)
			}
			o.call(i, callList, list, "", false)
		},
		"lock": func(t *rapid.T) {
			o.T = t
			i, call := o.n(servers, "server"), o.draw(true)
			held := time.Duration(o.n(30, "ms")) * time.Millisecond
			if long() && oneIn(o, 12, "for long") {
				held = time.Duration(1+o.n(10, "seconds")) * time.Second
			}
			if amiss != nil {
				return
			}
			free := h.lock()
			if free == nil {
				return
			}
			c.Locks.Add(1)
			unlocked := make(chan struct{})
			go func() {
				time.Sleep(held)
				free()
				close(unlocked)
			}()
			begin := time.Now()
			a, err := byServer(context.Background(), h.running[i], call)
			took := time.Since(begin)
			<-unlocked
			if err != nil {
				t.Fatalf("server %d: %s: %v", i, call, err)
			}
			expiry, ok := a.expiry()
			tick(begin, expiry, ok)
			o.call(i, call, a, runOf(a), mishap(i) || took > patience)
		},
	}
	if !wall {
		actions["clock"] = func(t *rapid.T) {
			o.T = t
			c.ClockSteps.Add(1)
			o.now += drawStep(o, true)
			h.setClock(o.now)
		}
	}
	if canFillDisk {
		actions["disk full"] = func(t *rapid.T) {
			o.T = t
			i, size := o.n(servers, "server"), pick(o, []int64{0, 4096, 32768, 50000, 100000}, "bytes")
			if full[i] == nil {
				c.Full.Add(1)
				full[i] = h.fillFor(h.running[i], size)
			}
		}
	}
	if h.small {
		actions["small disk full"] = func(t *rapid.T) {
			o.T = t
			if spare := pick(o, []int{0, 1, 2, 8}, "pages"); amiss == nil {
				c.Full.Add(1)
				amiss = h.fill(spare)
			}
		}
	}
	if yard.obeys {
		actions["deny"] = func(t *rapid.T) {
			o.T = t
			if readable := oneIn(o, 2, "readable"); amiss == nil {
				c.Denied.Add(1)
				amiss = h.deny(readable)
			}
		}
	}
	actions["mend 1"] = func(*rapid.T) { mend() }
	actions["mend 2"] = actions["mend 1"]
	t.Repeat(actions)

	o.T = t
	mend()
	for i := range servers {
		o.look(i, do)
	}
	for _, s := range h.running {
		if err := s.Close(20 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	h.whole()
}

// patience is how long a call waits at least for a stranger to let go of the
// store: less than it does, for the machine may have other things to do.
const patience = 4 * time.Second

var callList = call{Tool: "list"}

// TestProcessesAtOnce lets several clients at several server processes at the same
// time, which are killed in the midst of it.
func TestProcessesAtOnce(t *testing.T) {
	t.Parallel()
	c := &counts{}
	tell(t, "clients at the same time, server processes", c)
	openYard(t)
	wall := false
	rounds(t, 2, func() {
		wall = !wall
		processesAtOnce(t, c, newSeed(), wall)
	})
}

func processesAtOnce(t *testing.T, c *counts, seed uint64, wall bool) {
	d := newDice(seed, 0)
	servers := 2 + d.n(2, "servers")
	name := clocked
	if wall {
		name = program
	}
	l := limits{ttl, pick(d, []int{2, 4, 100, 100}, "most sessions")}
	place := newHouse(t, l, slices.Repeat([]string{name}, servers), long() && oneIn(d, 3, "small disk"))
	defer place.close()
	first := drawPolicy(d)
	place.putPolicy(first)
	h := newHistory(c, l, noon, first)
	temper := drawTemper(d)
	h.crowded, h.wall = l.Max < 100, wall
	h.aging = !h.crowded && !wall

	var mu sync.Mutex // guards place.running and numbers
	numbers := make([]int, servers)
	launch := func(i int) {
		h.born(place.process) // before it is: it can't have seen anything earlier
		s, err := place.launch(name)
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		place.running[i], numbers[i] = s, place.process
		place.process++
	}
	for i := range servers {
		launch(i)
	}
	if t.Failed() {
		return
	}
	at := func(i int) (*fleet.Server, int) {
		mu.Lock()
		defer mu.Unlock()
		return place.running[i], numbers[i]
	}
	do := func(client, i int, call call) (gone bool) {
		s, number := at(i)
		r := record{Client: client, Server: number, Call: call, Begin: h.now()}
		var err error
		r.Answer, err = byServer(context.Background(), s, call)
		if gone = errors.Is(err, fleet.ErrGone); gone {
			s.Kill() // waits until it can't do anything any more
			r.Unanswered = true
		}
		r.End = h.now()
		if err != nil && !gone {
			t.Errorf("%s: %v", call, err)
			return gone
		}
		h.add(r)
		return gone
	}

	var clients, mishaps sync.WaitGroup
	calls := 25
	if long() {
		calls = 100
	}
	for client := range 3 + d.n(4, "clients") {
		clients.Go(func() {
			d := newDice(seed, 1+client)
			for range calls {
				i := d.n(servers, "server")
				if do(client, i, temper.draw(d, h.sessions(), true)) {
					time.Sleep(20 * time.Millisecond) // until there may be another
				}
			}
		})
	}
	over := make(chan struct{})
	mishaps.Go(func() {
		for now := noon; ; {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(d.n(60, "ms")) * time.Millisecond):
			}
			while := time.Duration(d.n(100, "ms")) * time.Millisecond
			switch d.n(8, "mishap") {
			case 0, 1:
				c.Kills.Add(1)
				i := d.n(servers, "server")
				s, _ := at(i)
				s.Kill()
				launch(i)
			case 2:
				if !wall {
					c.ClockSteps.Add(1)
					now += drawStep(d, h.aging)
					change(h, &h.clocks, now, func() { place.setClock(now) })
				}
			case 3:
				c.Swaps.Add(1)
				p := drawPolicy(d)
				change(h, &h.policies, p, func() { place.putPolicy(p) })
			case 4:
				if long() && oneIn(d, 8, "for long") {
					while = time.Duration(d.n(10_000, "ms")) * time.Millisecond
				}
				if free := place.lock(); free != nil {
					c.Locks.Add(1)
					freed := h.mishap(everybody, patience)
					time.Sleep(while)
					free()
					freed()
				}
			case 5:
				if i := d.n(servers, "server"); canFillDisk {
					c.Full.Add(1)
					s, number := at(i)
					mended := h.mishap(number, 0)
					undo := place.fillFor(s, pick(d, []int64{0, 4096, 32768, 50000, 100000}, "bytes"))
					time.Sleep(while)
					undo()
					mended()
				}
			case 6:
				if place.small {
					c.Full.Add(1)
					mended := h.mishap(everybody, 0)
					undo := place.fill(d.n(8, "pages"))
					time.Sleep(while)
					undo()
					mended()
				}
			case 7:
				if yard.obeys {
					c.Denied.Add(1)
					mended := h.mishap(everybody, 0)
					undo := place.deny(oneIn(d, 2, "readable"))
					if oneIn(d, 2, "kill") {
						c.Kills.Add(1)
						i := d.n(servers, "server")
						s, _ := at(i)
						s.Kill()
						launch(i)
					}
					time.Sleep(while)
					undo()
					mended()
				}
			}
		}
	})
	clients.Wait()
	close(over)
	mishaps.Wait()
	for i := range servers {
		do(0, i, callList)
		for _, s := range h.known {
			do(0, i, call{Tool: "get", Run: s.ID})
		}
	}
	for i := range servers {
		s, _ := at(i)
		if err := s.Close(20 * time.Second); err != nil {
			t.Error(err)
		}
		if strings.Contains(s.Stderr(), "DATA RACE") || strings.Contains(s.Stderr(), "panic:") {
			t.Error(s.Stderr())
		}
	}
	place.whole()
	h.judge(t)
	if t.Failed() {
		t.Logf("draw it again with -rapid.seed=%d", seed)
	}
}
