package model

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// order is a history whose calls come one after the other. Where the contract
// leaves open what a server did, worlds are all that may be.
type order struct {
	*rapid.T
	counts *counts
	temper temper
	worlds []*world
	known  []session // every session that was ever seen, as last seen
	now    instant
}

func (o *order) n(n int, what string) int { return rapid.IntRange(0, n-1).Draw(o.T, what) }

// call judges the answer a to the call c of server i. newID is the id that a start
// gives. Where mishap is true the store may have been out of reach.
func (o *order) call(i int, c call, a answer, newID string, mishap bool) {
	o.Helper()
	o.counts.Steps.Add(1)
	o.counts.tally(a)
	o.follow(fmt.Sprintf("server %d: %s: ", i, c), func(w *world) (next []*world, why string) {
		if mishap && phraseOf(a.Refusal) == noStore {
			v := w.clone()
			v.mayLook(i)
			next = append(next, v)
		}
		for _, way := range w.ways(i, c, o.now, newID) {
			if d := way.differs(a); d != "" {
				why = d
				continue
			}
			next = append(next, way.next)
			if way.state != nil {
				o.see(*way.state)
			}
		}
		return next, why
	})
}

// follow replaces each world by those that step leads to. That none is left fails
// the history.
func (o *order) follow(what string, step func(*world) (next []*world, why string)) {
	o.Helper()
	var worlds []*world
	var whys []string
	for _, w := range o.worlds {
		next, why := step(w)
		for _, v := range next {
			if !slices.ContainsFunc(worlds, v.equal) {
				worlds = append(worlds, v)
			}
		}
		whys = append(whys, why)
	}
	if len(worlds) == 0 {
		o.Fatalf("%s%s", what, strings.Join(whys, "\nor"))
	}
	o.worlds = worlds
}

// unanswered takes the call c of server i for one that may have been carried out
// or not. A start that was carried out gave newID; "" means that it gave none.
func (o *order) unanswered(i int, c call, newID string) {
	o.counts.Unanswered.Add(1)
	o.follow("", func(w *world) (next []*world, why string) {
		if c.Tool != "start" || newID == "" {
			next = append(next, w)
		}
		for _, way := range w.ways(i, c, o.now, newID) {
			switch {
			case c.Tool == "start" && newID == "" && way.state != nil:
				// It was not started: at most what was purged is gone.
			default:
				next = append(next, way.next)
			}
		}
		return next, "a start gave an id and can't have"
	})
}

func (o *order) see(s session) {
	i := slices.IndexFunc(o.known, func(k session) bool { return k.ID == s.ID })
	if i < 0 {
		o.known = append(o.known, s)
	} else {
		o.known[i] = s
	}
}

// draw draws a call about sessions that are there, mostly.
func (o *order) draw(wire bool) call {
	sessions := o.known
	if !oneIn(o, 8, "gone ones too") {
		w := o.worlds[0]
		sessions = slices.DeleteFunc(slices.Clone(sessions), func(s session) bool {
			_, there := w.file[s.ID]
			return !there && !slices.ContainsFunc(w.servers, func(v server) bool { _, kept := v.kept[s.ID]; return kept })
		})
	}
	return o.temper.draw(o, sessions, wire)
}

// look lists the sessions of server i and gets each that was ever seen.
func (o *order) look(i int, do func(i int, c call)) {
	do(i, call{Tool: "list"})
	for _, s := range o.known {
		do(i, call{Tool: "get", Run: s.ID})
	}
}
