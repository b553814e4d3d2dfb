package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	"github.com/qa-orch/qa-orch/cmd/proof/host"
	"github.com/qa-orch/qa-orch/core/settings"
)

// fleetSubject is several servers that share files, hosts that use them, and what
// is to be held true when servers are killed.
type fleetSubject struct {
	name string
	args func(data string) []string
	play func(*rand.Rand) (host.Play, error)
	// check looks at the files; known are the reviews that are not over, and
	// unknown is how many more may be there.
	check func(ctx context.Context, data string, known map[string]bool, unknown int) []string
}

const (
	servers = 3
	guests  = 4 // of each server
	// checkEvery is after how many kills everything is looked at; what a killed
	// server had to do with is looked at after each.
	checkEvery = 40
)

var manners = host.Manners{Look: 10, Prepare: 5, Stop: 3}

func fleets() []fleetSubject {
	return []fleetSubject{
		{
			name: "serve, several on one store",
			args: func(data string) []string {
				return []string{"serve", "--store", filepath.Join(data, "sessions.sqlite3")}
			},
			play: func(rng *rand.Rand) (host.Play, error) { return host.NewReview(manners, rng), nil },
			check: func(ctx context.Context, data string, known map[string]bool, unknown int) []string {
				sessions, found := checkStore(ctx, filepath.Join(data, "sessions.sqlite3"))
				var ids []string
				for _, s := range sessions {
					ids = append(ids, s.RunID)
				}
				return append(found, compare(ids, known, unknown)...)
			},
		},
		{
			name: "advocate serve, several on one folder",
			args: func(data string) []string { return []string{"advocate", "serve", "--data-dir", data} },
			play: func(rng *rand.Rand) (host.Play, error) { return host.NewStressTest(manners, rng) },
			check: func(_ context.Context, data string, known map[string]bool, unknown int) []string {
				rows, found := checkReviews(data)
				var ids []string
				for _, r := range rows {
					ids = append(ids, r.ReviewID)
				}
				return append(found, compare(ids, known, unknown)...)
			},
		},
	}
}

// compare holds the ids of a store to those that are known and not over: each of
// them is there, and of others no more than the number that is unknown.
func compare(ids []string, known map[string]bool, unknown int) (found []string) {
	others := 0
	for _, id := range ids {
		if _, ok := known[id]; !ok {
			others++
		}
	}
	if others > unknown {
		found = append(found, fmt.Sprintf("%d more than were started", others-unknown))
	}
	for id, there := range known {
		if there && !slices.Contains(ids, id) {
			found = append(found, id+" was acknowledged and is gone")
		}
	}
	return found
}

// guest is a host at one server: it takes one review after the other to its end.
type guest struct {
	rng      *rand.Rand
	play     host.Play
	underWay bool // the call that is due was sent and not answered
}

// siege is servers that get killed among hosts.
type siege struct {
	fleetSubject
	w    *workshop
	data string
	rng  *rand.Rand

	servers [servers]*fleet.Server
	guests  [servers][guests]*guest

	mu      sync.Mutex
	known   map[string]bool // ids, and whether the review must still be there
	unknown int             // starts that were not answered
	calls   int
	kills   int
	found   []string
}

func (s *siege) bad(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.found) < 20 {
		s.found = append(s.found, fmt.Sprintf(format, args...))
	}
}

func (s *siege) start(ctx context.Context) (*fleet.Server, error) {
	return fleet.Start(ctx, s.w.program, s.args(s.data), fleet.Env(s.w.home(), settings.MaxSessionsVar+"=1000000", settings.TTLVar+"=864000"), nil)
}

// besiege makes the trials of a fleet: in each servers are killed, once in five all
// of them, and what they had to do with is looked at through those that live.
func (w *workshop) besiege(ctx context.Context, f fleetSubject, seed uint64, trials int) (s *siege, err error) {
	s = &siege{fleetSubject: f, w: w, data: filepath.Join(w.home(), "data"), rng: randomOf(seed, f.name, 0), known: map[string]bool{}}
	if err := (tree{}).restore(w.home()); err != nil {
		return s, err
	}
	defer func() {
		for _, server := range s.servers {
			if server != nil {
				server.Kill()
			}
		}
	}()
	for i := range s.servers {
		if s.servers[i], err = s.start(ctx); err != nil {
			return s, err
		}
		for j := range s.guests[i] {
			s.guests[i][j] = &guest{rng: rand.New(rand.NewPCG(s.rng.Uint64(), s.rng.Uint64()))}
		}
	}
	for i := range trials {
		if err := s.trial(ctx, i); err != nil {
			return s, err
		}
		if len(s.found) > 0 {
			break // what follows would be about the same
		}
		if (i+1)%checkEvery == 0 || i+1 == trials {
			for _, problem := range f.check(ctx, s.data, s.known, s.unknown) {
				s.bad("after %d trials: %s", i+1, problem)
			}
		}
	}
	for i := range s.servers {
		if err := s.servers[i].Close(patience); err != nil {
			s.bad("%v", err)
		}
	}
	for _, problem := range f.check(ctx, s.data, s.known, s.unknown) {
		s.bad("at the end: %s", problem)
	}
	return s, nil
}

// trial lets the hosts go on, kills servers, and sees what is left.
func (s *siege) trial(ctx context.Context, i int) error {
	victims := map[int]bool{s.rng.IntN(servers): true}
	if s.rng.IntN(5) == 0 {
		for j := range servers {
			victims[j] = true
		}
	}
	after := time.Duration(s.rng.IntN(40_000)) * time.Microsecond
	change := 0
	if s.rng.IntN(2) == 0 {
		change = 1 + s.rng.IntN(20)
	}
	early := s.rng.IntN(4) == 0 // kill them once more while they start
	earlyAfter := time.Duration(s.rng.IntN(30_000)) * time.Microsecond

	stop := make(chan struct{})
	var playing sync.WaitGroup
	for j := range servers {
		for _, g := range s.guests[j] {
			playing.Go(func() { s.visit(ctx, s.servers[j], g, stop) })
		}
	}
	if change > 0 {
		enough := make(chan struct{})
		timer := time.AfterFunc(patience, func() { close(enough) })
		watch(s.data, change, enough)
		timer.Stop()
	} else {
		time.Sleep(after)
	}
	for j := range victims {
		_ = s.servers[j].Process().Kill()
		s.kills++
	}
	close(stop)
	playing.Wait()
	for j := range victims {
		s.servers[j].Kill() // waits
	}
	if early {
		s.kills++
		if err := s.startAndKill(ctx, earlyAfter); err != nil {
			return err
		}
	}
	var err error
	for j := range victims {
		if s.servers[j], err = s.start(ctx); err != nil {
			return fmt.Errorf("trial %d: after the kill a server does not start: %w", i, err)
		}
	}
	through := s.servers[s.rng.IntN(servers)]
	for j := range s.guests {
		for _, g := range s.guests[j] {
			if g.play == nil || g.play.Over() || !victims[j] {
				continue
			}
			c := g.play.Look()
			answer, err := through.Call(ctx, c.Tool, c.Arguments)
			if err != nil {
				return fmt.Errorf("trial %d: %w", i, err)
			}
			if err := g.play.Find(answer, g.underWay); err != nil {
				s.bad("trial %d, %d killed: %v", i, len(victims), err)
			}
			g.underWay = false
			s.note(g.play)
		}
	}
	return nil
}

// startAndKill starts a server and kills it soon, before it is used.
func (s *siege) startAndKill(ctx context.Context, after time.Duration) error {
	_, err := run(ctx, invocation{
		path: s.w.program, args: s.args(s.data), env: fleet.Env(s.w.home()), dir: s.w.home(), home: s.data,
		input: handshake, output: filepath.Join(s.w.folder, "output"),
	}, killer{after: after + 1})
	return err
}

// note keeps which reviews must be there.
func (s *siege) note(p host.Play) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.ID() != "" {
		s.known[p.ID()] = !p.Over()
	}
}

// visit plays at a server until stop is closed or the server is gone.
func (s *siege) visit(ctx context.Context, server *fleet.Server, g *guest, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		if g.play == nil || g.play.Over() {
			p, err := s.play(g.rng)
			if err != nil {
				s.bad("%v", err)
				return
			}
			g.play = p
		}
		c := g.play.Next()
		g.underWay = true
		answer, err := server.Call(ctx, c.Tool, c.Arguments)
		if errors.Is(err, fleet.ErrGone) {
			if g.play.ID() == "" { // it may have been started; nobody knows its id
				s.mu.Lock()
				s.unknown++
				s.mu.Unlock()
				g.play, g.underWay = nil, false
			}
			return
		}
		g.underWay = false
		if err == nil {
			err = g.play.Take(answer)
		}
		if err != nil {
			s.bad("%v", err)
			return
		}
		s.mu.Lock()
		s.calls++
		s.mu.Unlock()
		s.note(g.play)
	}
}

// mayStay is how many unfinished files kills may leave in a folder of reviews,
// however many there are.
const mayStay = 64

// leftIn counts what kills have left in a folder of reviews.
func leftIn(folder string) (n int) {
	_ = filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".tmp") {
			n++
		}
		return nil
	})
	return n
}
