// Package load lets many hosts use many servers as fast as they can, and tells
// how fast that is, what the servers hold meanwhile, and whether they come to hold
// more and more.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
	"github.com/qa-orch/qa-orch/cmd/proof/host"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/server/advocate"
)

// Shape is how many servers there are, and how many hosts use each of them at the
// same time.
type Shape struct{ Servers, Hosts int }

func (s Shape) String() string { return fmt.Sprintf("%d×%d", s.Servers, s.Hosts) }

// ParseShape reads a shape as "4x8".
func ParseShape(text string) (s Shape, err error) {
	a, b, ok := strings.Cut(strings.ReplaceAll(text, "×", "x"), "x")
	if s.Servers, err = strconv.Atoi(a); err == nil {
		s.Hosts, err = strconv.Atoi(b)
	}
	if !ok || err != nil || s.Servers < 1 || s.Hosts < 1 {
		return Shape{}, fmt.Errorf("%q is no shape such as 4x8", text)
	}
	return s, nil
}

// Options steer a run.
type Options struct {
	// Kinds are what is loaded, of Kinds.
	Kinds  []string
	Shapes []Shape
	// For is how long each kind is loaded in each shape.
	For time.Duration
	// Program is the path of qa-orch; when it is empty, it is built as for a release.
	Program string
	// Seed decides which way each review goes.
	Seed uint64
	// Log gets a line about each. It may be nil.
	Log io.Writer
}

// kind is what is loaded.
type kind struct {
	name string
	args func(data string) []string
	env  func(data string) []string
	play func(*rand.Rand) (host.Play, error)
	// tidy, if not nil, is called with each review that is over.
	tidy func(data, id string)
	// extra, if not nil, is called by a host now and then.
	extra *host.Call
}

var manners = host.Manners{Look: 15, Prepare: 30, Stop: 3, Leave: 3}

func kinds() []kind {
	qa := func(rng *rand.Rand) (host.Play, error) { return host.NewReview(manners, rng), nil }
	return []kind{
		{
			name: "store", play: qa,
			args: func(string) []string { return []string{"serve"} },
			env: func(data string) []string {
				return []string{settings.StorePathVar + "=" + filepath.Join(data, "sessions.sqlite3")}
			},
		},
		{name: "memory", play: qa, args: func(string) []string { return []string{"serve"} }},
		{
			name: "advocate",
			args: func(data string) []string { return []string{"advocate", "serve", "--data-dir", data} },
			play: func(rng *rand.Rand) (host.Play, error) {
				return host.NewStressTest(host.Manners{Look: 15, Stop: 1}, rng)
			},
			// Reviews are kept for good. Somebody who clears them away keeps the
			// folder, and so the list of them, from growing with the run.
			tidy:  func(data, id string) { _ = os.Remove(filepath.Join(data, id+".json")) },
			extra: &host.Call{Tool: advocate.ListTool, Arguments: map[string]any{}},
		},
	}
}

// Kinds are the words for what can be loaded.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Run loads every kind in every shape.
func Run(ctx context.Context, o Options) ([]*Report, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	folder, err := os.MkdirTemp("", "load-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if o.Program == "" {
		if o.Program, err = fleet.Build(ctx, folder, "cmd/qa-orch", true); err != nil {
			return nil, err
		}
	}
	var reports []*Report
	for _, name := range o.Kinds {
		i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == name })
		if i < 0 {
			return reports, fmt.Errorf("there is nothing called %q to load, only %s", name, strings.Join(Kinds(), ", "))
		}
		for _, shape := range o.Shapes {
			r := &run{kind: kinds()[i], shape: shape, span: o.For, program: o.Program, home: filepath.Join(folder, fmt.Sprintf("%s-%v", name, shape))}
			report, err := r.run(ctx, o.Seed)
			if err != nil {
				return reports, fmt.Errorf("%s, %v: %w", name, shape, err)
			}
			reports = append(reports, report)
			_, _ = fmt.Fprintf(o.Log, "%6.1f s  %s: %s, %d found\n", report.Seconds, report.Name(), report.tried(), len(report.Found))
		}
	}
	return reports, nil
}

// run is one kind in one shape.
type run struct {
	kind
	shape   Shape
	span    time.Duration
	program string
	home    string

	servers []*fleet.Server
	dumps   []*dump

	mu      sync.Mutex
	times   map[string][]time.Duration // of the calls of each tool
	refused map[string]int             // by the phrase
	errors  []string
	failed  int
}

// lifetime is how long sessions live: short, so that a good part of them expires
// within the run and is purged.
func (r *run) lifetime() time.Duration {
	return min(max((r.span/12).Truncate(time.Second), time.Second), 5*time.Second)
}

// mostSessions is the limit of sessions. It is reached when hosts leave more
// reviews than expire; a refusal because of it is no error.
const mostSessions = 1000

func (r *run) data() string { return filepath.Join(r.home, "data") }

func (r *run) start(ctx context.Context) (*fleet.Server, *dump, error) {
	env := []string{
		settings.TTLVar + "=" + strconv.Itoa(int(r.lifetime().Seconds())), settings.MaxSessionsVar + "=" + strconv.Itoa(mostSessions),
		"GOTRACEBACK=all",
	}
	if r.env != nil {
		env = append(env, r.env(r.data())...)
	}
	d := &dump{}
	s, err := fleet.Start(ctx, r.program, r.args(r.data()), fleet.Env(r.home, env...), d.attach)
	return s, d, err
}

// run starts the servers, loads them, and asks them at the end what they hold.
func (r *run) run(ctx context.Context, seed uint64) (*Report, error) {
	r.times, r.refused = map[string][]time.Duration{}, map[string]int{}
	if err := os.MkdirAll(r.data(), 0o700); err != nil {
		return nil, err
	}
	before, err := r.used(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		for _, s := range r.servers {
			s.Kill()
		}
	}()
	for range r.shape.Servers {
		s, d, err := r.start(ctx)
		if err != nil {
			return nil, err
		}
		r.servers, r.dumps = append(r.servers, s), append(r.dumps, d)
	}
	began := time.Now()
	playing, stop := context.WithTimeout(ctx, r.span)
	defer stop()
	var hosts sync.WaitGroup
	for i, s := range r.servers {
		for j := range r.shape.Hosts {
			rng := rand.New(rand.NewPCG(seed, uint64(i)<<32|uint64(j)))
			hosts.Go(func() { r.host(playing, s, rng) })
		}
	}
	samples := r.sample(playing)
	hosts.Wait()
	took := time.Since(began)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	report := r.report(took, samples)
	report.Goroutines = Goroutines{Before: before.count}
	for i, s := range r.servers {
		if n, ok := r.dumps[i].of(s); ok && n > report.Goroutines.After {
			report.Goroutines.After, report.Goroutines.More = n, r.dumps[i].beyond(before)
		}
	}
	report.judge(r.shape.Servers)
	return report, nil
}

// used returns the goroutines of a server that as many hosts have used, for one
// review each.
func (r *run) used(ctx context.Context) (*dump, error) {
	s, d, err := r.start(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Kill()
	var hosts sync.WaitGroup
	for i := range r.shape.Hosts {
		hosts.Go(func() {
			p, err := r.play(rand.New(rand.NewPCG(1, uint64(i))))
			for err == nil && !p.Over() {
				c := p.Next()
				var answer fleet.Result
				if answer, err = s.Call(ctx, c.Tool, c.Arguments); err == nil {
					err = p.Take(answer)
				}
			}
			if err != nil {
				r.fail(err)
			}
		})
	}
	hosts.Wait()
	_, _ = d.of(s)
	return d, nil
}

// host takes one review after the other to its end until ctx ends.
func (r *run) host(ctx context.Context, s *fleet.Server, rng *rand.Rand) {
	mine := map[string][]time.Duration{}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for tool, times := range mine {
			r.times[tool] = append(r.times[tool], times...)
		}
	}()
	call := func(c host.Call) (fleet.Result, error) {
		began := time.Now()
		answer, err := s.Call(context.WithoutCancel(ctx), c.Tool, c.Arguments) // a call that has begun is waited for
		if err == nil {
			mine[c.Tool] = append(mine[c.Tool], time.Since(began))
		}
		return answer, err
	}
	for n := 1; ctx.Err() == nil; n++ {
		p, err := r.play(rng)
		if err != nil {
			r.fail(err)
			return
		}
		for !p.Over() && ctx.Err() == nil {
			answer, err := call(p.Next())
			if err != nil {
				r.fail(err)
				return
			}
			err = p.Take(answer)
			if phrase, _, ok := strings.Cut(answer.Text, ":"); errors.Is(err, host.ErrRefused) && ok && r.expected(phrase) {
				time.Sleep(time.Millisecond)
				break // this review is over; another one
			}
			if err != nil {
				r.fail(err)
				break
			}
		}
		if p.Over() && r.tidy != nil {
			r.tidy(r.data(), p.ID())
		}
		if r.extra != nil && n%20 == 0 {
			if _, err := call(*r.extra); err != nil {
				r.fail(err)
				return
			}
		}
	}
}

// expected counts a refusal that a busy store may give, and reports whether it
// is one.
func (r *run) expected(phrase string) bool {
	switch review.Code(phrase) {
	case review.CodeLimit, review.CodeExpired, review.CodeUnknownRun:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused[phrase]++
		return true
	}
	return false
}

func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed++
	if len(r.errors) < 5 {
		r.errors = append(r.errors, err.Error())
	}
}

// sample looks at the servers and their files about a hundred times until ctx
// ends, at most ten times a second.
func (r *run) sample(ctx context.Context) (samples []Sample) {
	began := time.Now()
	ticker := time.NewTicker(max(r.span/100, 100*time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return samples
		case <-ticker.C:
		}
		s := Sample{Seconds: time.Since(began).Seconds()}
		for _, server := range r.servers {
			if u, ok := fleet.UsageOf(server.Pid()); ok {
				s.RSS += u.RSS
				s.Descriptors += u.Descriptors
				s.Threads += u.Threads
			}
		}
		entries, _ := os.ReadDir(r.data())
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				s.Files++
				if strings.HasSuffix(e.Name(), "-wal") {
					s.WAL += info.Size()
				} else if !strings.HasSuffix(e.Name(), "-shm") {
					s.Bytes += info.Size()
				}
			}
		}
		samples = append(samples, s)
	}
}
