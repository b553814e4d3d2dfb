package model

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
)

// The clock of histories with a clock of their own starts here and lives in
// sessions' lifetimes of ttl.
const (
	second = instant(1e6)
	minute = 60 * second
	ttl    = 30 * minute
	noon   = instant(1_790_000_000_000_000)
)

// drawStep draws how far the clock goes at once: within a second, up to an expiry,
// past it, back. Unless far, no session gets to its expiry in a whole history.
func drawStep(d dice, far bool) instant {
	steps := []instant{1, 2, 400_000, second, 3 * second, -1, -400_000, -second, -3 * second}
	if far && oneIn(d, 2, "far") {
		steps = []instant{7 * minute, 9 * minute, ttl - 1, ttl, ttl + 1, -9 * minute, -ttl}
	}
	return pick(d, steps, "by")
}

// TestInProcess plays histories over orchestrators with stores of their own on one
// file. It is not parallel: where it makes the disk look full, it does to all.
func TestInProcess(t *testing.T) {
	c := &counts{}
	tell(t, "one call after the other, in process", c)
	rounds(t, 1, func() { rapid.Check(t, func(rt *rapid.T) { inOrder(rt, c, false) }) })
}

// TestInMemory does the same over one server without a file.
func TestInMemory(t *testing.T) {
	t.Parallel()
	c := &counts{}
	tell(t, "one call after the other, in memory", c)
	rounds(t, 1, func() { rapid.Check(t, func(rt *rapid.T) { inOrder(rt, c, true) }) })
}

func inOrder(t *rapid.T, c *counts, memory bool) {
	c.Histories.Add(1)
	folder, err := os.MkdirTemp("", "model-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	o := &order{T: t, counts: c, now: noon}
	o.temper = drawTemper(o)
	path, policyPath := filepath.Join(folder, "sessions"), filepath.Join(folder, "policy")

	var all []limits
	servers := 1
	if !memory {
		servers = 1 + o.n(3, "servers")
	}
	most := pick(o, []int{1, 2, 3, 5, 100}, "most sessions")
	for range servers {
		l := limits{ttl, most}
		if oneIn(o, 6, "limits of its own") {
			l = limits{ttl / 2, most + 1}
		}
		all = append(all, l)
	}
	first := drawPolicy(o)
	putPolicy(t, policyPath, first, nil)
	o.worlds = []*world{newWorld(first, all...)}

	// The servers.
	stores, running := make([]store.Store, servers), make([]*orchestrator.Orchestrator, servers)
	var newID string
	start := func(i int) {
		stores[i] = store.NewMemory()
		if !memory {
			stores[i] = sqlite.New(path, nil)
		}
		running[i] = orchestrator.New(stores[i], policy.NewSource(policyPath, filepath.Join(folder, "models"), nil),
			orchestrator.Limits{TTL: time.Duration(all[i].TTL) * time.Microsecond, MaxSessions: all[i].Max},
			orchestrator.WithClock(func() time.Time { return o.now.time() }), orchestrator.WithIDs(func() string { return newID }))
	}
	for i := range servers {
		start(i)
	}
	defer func() {
		for _, s := range stores {
			_ = s.Close()
		}
	}()

	ids := 0
	full := int64(-1) // how long a file may get while the disk is full
	do := func(i int, c call) {
		t.Helper()
		if c.Tool == "start" {
			ids++
			newID = fmt.Sprintf("qar-%08x%024x", o.n(1<<8, "id"), ids) // in no order of time
		}
		if full >= 0 {
			limitFiles(0, full)
		}
		a, err := inProcess(context.Background(), running[i], c)
		if full >= 0 {
			limitFiles(0, -1)
		}
		if err != nil {
			t.Fatalf("server %d: %s: %v", i, c, err)
		}
		o.call(i, c, a, newID, full >= 0)
	}
	someCall := func(t *rapid.T) {
		o.T = t
		do(o.n(servers, "server"), o.draw(false))
	}
	actions := map[string]func(*rapid.T){
		"call 1": someCall, "call 2": someCall, "call 3": someCall, "call 4": someCall,
		"call 5": someCall, "call 6": someCall, "call 7": someCall, "call 8": someCall,
		"clock": func(t *rapid.T) {
			o.T = t
			c.ClockSteps.Add(1)
			o.now += drawStep(o, true)
		},
		"policy": func(t *rapid.T) {
			o.T = t
			c.Swaps.Add(1)
			p := drawPolicy(o)
			putPolicy(t, policyPath, p, nil)
			for _, w := range o.worlds {
				w.swap(p)
			}
		},
		"restart": func(t *rapid.T) {
			o.T = t
			c.Restarts.Add(1)
			i := o.n(servers, "server")
			if err := stores[i].Close(); err != nil {
				t.Fatal(err)
			}
			start(i)
			for _, w := range o.worlds {
				w.restart(i)
				if memory {
					clear(w.file)
				}
			}
		},
	}
	if !memory {
		s := &stranger{path: path}
		defer s.close()
		actions["lock"] = func(t *rapid.T) {
			o.T = t
			if !s.open() {
				return
			}
			c.Locks.Add(1)
			free := s.lockFor(t, time.Duration(1+o.n(8, "ms"))*time.Millisecond)
			someCall(t)
			<-free
		}
		actions["read on"] = func(t *rapid.T) {
			o.T = t
			if s.open() {
				s.readOn(t) // keeps the side files from being emptied
			}
		}
		actions["damage"] = func(t *rapid.T) {
			o.T = t
			if len(o.known) == 0 || !s.open() {
				return
			}
			run := pick(o, o.known, "session").ID
			if s.damage(t, run, pick(o, []string{"", "{}", "null", `{"status":"active"}`, "\x00"}, "text")) {
				c.Scribbles.Add(1)
				for _, w := range o.worlds {
					w.broken[run] = true
				}
			}
		}
		actions["mend"] = func(*rapid.T) {
			for _, run := range s.mend(t) {
				for _, w := range o.worlds {
					delete(w.broken, run)
				}
			}
		}
		if canFillDisk {
			actions["disk full"] = func(t *rapid.T) {
				o.T = t
				c.Full.Add(1)
				full = pick(o, []int64{0, 4096, 32768, 50000, 100000}, "bytes")
			}
			actions["disk free 1"] = func(*rapid.T) { full = -1 }
			actions["disk free 2"] = actions["disk free 1"]
		}
	}
	t.Repeat(actions)

	o.T = t
	full = -1
	for i := range servers {
		o.look(i, do)
	}
}

// TestAtOnceInProcess lets several clients at the same orchestrators at the same
// time.
func TestAtOnceInProcess(t *testing.T) {
	t.Parallel()
	c := &counts{}
	tell(t, "clients at the same time, in process", c)
	rounds(t, 3, func() { atOnce(t, c, newSeed()) })
}

func atOnce(t *testing.T, c *counts, seed uint64) {
	d := newDice(seed, 0)
	folder := t.TempDir()
	path, policyPath := filepath.Join(folder, "sessions"), filepath.Join(folder, "policy")
	servers := 1 + d.n(3, "servers")
	first := drawPolicy(d)
	putPolicy(t, policyPath, first, nil)
	h := newHistory(c, limits{ttl, pick(d, []int{2, 4, 100, 100}, "most sessions")}, noon, first)
	temper := drawTemper(d)
	h.crowded = h.limits.Max < 100
	h.aging = !h.crowded
	var clock atomic.Int64
	clock.Store(int64(noon))
	var running []*orchestrator.Orchestrator
	memory := servers == 1 && oneIn(d, 2, "memory")
	for i := range servers {
		var s store.Store = store.NewMemory()
		if !memory {
			s = sqlite.New(path, nil)
		}
		defer s.Close()
		running = append(running, orchestrator.New(s, policy.NewSource(policyPath, filepath.Join(folder, "models"), nil),
			orchestrator.Limits{TTL: time.Duration(h.limits.TTL) * time.Microsecond, MaxSessions: h.limits.Max},
			orchestrator.WithClock(func() time.Time { return instant(clock.Load()).time() })))
		h.born(i)
	}
	do := func(client, i int, call call) {
		r := record{Client: client, Server: i, Call: call, Begin: h.now()}
		var err error
		r.Answer, err = inProcess(t.Context(), running[i], call)
		r.End = h.now()
		if err != nil {
			t.Errorf("%s: %v", call, err)
			return
		}
		h.add(r)
	}

	var clients, mishaps sync.WaitGroup
	for client := range 3 + d.n(5, "clients") {
		clients.Go(func() {
			d := newDice(seed, 1+client)
			for range 40 {
				do(client, d.n(servers, "server"), temper.draw(d, h.sessions(), false))
			}
		})
	}
	over := make(chan struct{})
	mishaps.Go(func() {
		s := &stranger{path: path}
		defer s.close()
		for now := noon; ; {
			select {
			case <-over:
				return
			case <-time.After(time.Duration(d.n(10, "ms")) * time.Millisecond):
			}
			switch d.n(4, "mishap") {
			case 0:
				c.ClockSteps.Add(1)
				now += drawStep(d, h.aging)
				change(h, &h.clocks, now, func() { clock.Store(int64(now)) })
			case 1:
				c.Swaps.Add(1)
				p := drawPolicy(d)
				change(h, &h.policies, p, func() { putPolicy(t, policyPath, p, nil) })
			case 2:
				if !memory && s.open() {
					c.Locks.Add(1)
					<-s.lockFor(t, time.Duration(d.n(30, "ms"))*time.Millisecond)
				}
			}
		}
	})
	clients.Wait()
	close(over)
	mishaps.Wait()
	for i := range servers {
		do(0, i, call{Tool: "list"})
		for _, s := range h.known {
			do(0, i, call{Tool: "get", Run: s.ID})
		}
	}
	h.judge(t)
	if t.Failed() {
		t.Logf("draw it again with -rapid.seed=%d", seed)
	}
}
