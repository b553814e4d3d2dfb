package sessions

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
)

var update = flag.Bool("update", false, "write the golden screens anew")

const ttl = 30 * time.Minute

// noon is when the tests look at the dashboard.
var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// desk is a dashboard with a clock that tests move and a store that they play.
type desk struct {
	*Model
	t      testing.TB
	now    time.Time
	copied []string
}

func newDesk(t testing.TB, lang locales.Lang, w, h int) *desk {
	d := &desk{t: t, now: noon}
	d.Model = New(Options{
		Lang: lang, Colors: termenv.Ascii,
		StorePath: "/home/ada/.qa-orchestrator/sessions.sqlite3", Configured: true, Home: "/home/ada",
		PolicyPath: "/home/ada/.qa-orchestrator/model-policy.json", ReviewsDir: "/home/ada/.mcp-devils-advocate",
		TTL: ttl, MaxSessions: 100,
		Now: func() time.Time { return d.now }, Location: time.UTC,
		Copy: func(text string) { d.copied = append(d.copied, text) },
	})
	t.Cleanup(d.Close)
	d.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// reads plays a reading of the store.
func (d *desk) reads(delta sqlite.Delta) {
	d.Update(storeMsg{watch.Update{Delta: delta, Read: true}})
}

// fails plays a store that can't be read.
func (d *desk) fails(reason sqlite.Reason) {
	d.Update(storeMsg{watch.Update{Err: &sqlite.Unusable{Reason: reason, Path: d.o.StorePath, Err: errors.New("hidden")}}})
}

// passes lets time go by.
func (d *desk) passes(by time.Duration) {
	d.now = d.now.Add(by)
	d.Update(tickMsg{})
}

// press plays keys: names as the terminal library has them, other text letter by letter. Commands
// that do not wait are carried out.
func (d *desk) press(keys ...string) {
	for _, k := range keys {
		msg, known := named[k]
		if !known {
			msg = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
		}
		m, cmd := d.Model.Update(msg)
		d.Model = m.(*Model)
		if cmd != nil && (k == "y" || k == "н") {
			if batch, ok := cmd().(tea.BatchMsg); ok {
				batch[0]() // the second one ticks
			}
		}
	}
}

var named = map[string]tea.KeyMsg{
	"up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc},
	"tab": {Type: tea.KeyTab}, "shift+tab": {Type: tea.KeyShiftTab}, "pgup": {Type: tea.KeyPgUp}, "pgdown": {Type: tea.KeyPgDown},
	"home": {Type: tea.KeyHome}, "end": {Type: tea.KeyEnd}, "backspace": {Type: tea.KeyBackspace},
}

// screen returns the frame without colours.
func (d *desk) screen() string { return ansi.Strip(d.View()) }

func runID(n int) string { return fmt.Sprintf("qar-%08x%024x", 0x3f2a91c0+n*0x01234567, n) }

func assign(s policy.Stage) (policy.Assignment, error) {
	return policy.Default().Assign(s, catalog.Builtin()), nil
}

// session plays a review from its start: ago before noon it took its last step.
func session(t testing.TB, n int, task catalog.TaskType, ago time.Duration, reports ...review.Report) review.Session {
	t.Helper()
	at := noon.Add(-ago)
	s, err := review.Start(runID(n), task, assign, at, ttl)
	for _, r := range reports {
		if err == nil {
			r.Step = s.Step
			if r.Status == "" {
				r.Status = review.Completed
			}
			if s.Step == review.PrimaryReview && r.Status == review.Completed {
				r.CompletedProfile = s.Current()
			}
			s, err = s.Advance(r, assign, at, ttl)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func bundle(b catalog.Bundle) review.Report { return review.Report{Bundle: b} }

func signals(names ...review.Signal) review.Report {
	set := review.NewSignals(names...)
	return review.Report{Signals: &set}
}

var next review.Report

// sample is a session in every state.
func sample(t testing.TB) []review.Session {
	return []review.Session{
		session(t, 1, catalog.QAPlanning, 5*time.Second),
		session(t, 2, catalog.OrdinaryReview, 40*time.Second, bundle(catalog.OrdinaryMR), next),
		session(t, 3, catalog.WidgetReview, 4*time.Minute, bundle(catalog.Widget), next, next, next),
		session(t, 4, catalog.OtherTask, 9*time.Minute, bundle(catalog.Security), next, next,
			signals(review.HighRiskDomain, review.EvidenceUncertain, review.CrossSystemScope, review.HighBlastRadius)),
		session(t, 5, catalog.AutotestImplementation, 12*time.Minute, review.Report{Profile: catalog.RubyReviewer}, signals()),
		session(t, 6, catalog.EpicAnalysis, 21*time.Minute, bundle(catalog.Requirements), next, signals(review.NonReproducible), next),
		session(t, 7, catalog.RequirementsAnalysis, 26*time.Minute, bundle(catalog.Requirements), review.Report{Status: review.Partial}),
		session(t, 8, catalog.OrdinaryReview, 28*time.Minute+30*time.Second, review.Report{Status: review.Blocked}),
		session(t, 9, catalog.OrdinaryReview, 2*time.Minute, review.Report{Profile: catalog.CodeReviewer}, signals(), next),
	}
}

// lived returns a dashboard with a session in every state, one of them gone.
func lived(t testing.TB, lang locales.Lang, w, h int) *desk {
	d := newDesk(t, lang, w, h)
	d.now = noon.Add(-10 * time.Second)
	d.reads(sqlite.Delta{Put: sample(t)[1:]})
	d.now = noon.Add(-5 * time.Second)
	d.reads(sqlite.Delta{Put: sample(t)[:1]})
	d.reads(sqlite.Delta{Removed: []string{runID(9)}})
	d.Update(policyMsg{watch.PolicyState{Policy: policy.Default(), Usable: true, Models: catalog.Builtin()}})
	d.now = noon
	d.Update(tickMsg{})
	d.press("home")
	return d
}

// scene makes a dashboard in a state that deserves a look.
type scene func(t testing.TB, lang locales.Lang, w, h int) *desk

// then goes on from a scene with keys.
func (s scene) then(keys ...string) scene {
	return s.with(func(_ testing.TB, d *desk) { d.press(keys...) })
}

// with goes on from a scene.
func (s scene) with(next func(testing.TB, *desk)) scene {
	return func(t testing.TB, lang locales.Lang, w, h int) *desk {
		d := s(t, lang, w, h)
		next(t, d)
		return d
	}
}

var (
	fresh scene = newDesk
	live  scene = lived
	memos scene = reviewed
)

// failing is a dashboard whose store can't be read.
func failing(reason sqlite.Reason) scene {
	return fresh.with(func(_ testing.TB, d *desk) { d.fails(reason) })
}

// scenes are every view and every state that deserves a look.
var scenes = map[string]struct {
	sizes []string
	make  scene
}{
	"list":              {all, live},
	"detail":            {all, live.then("down", "down", "enter")},
	"detail-escalated":  {roomy, live.then("s", "s", "s", "/", string(catalog.Security), "enter", "enter")},
	"detail-waiting":    {roomy, live.then("f", "f", "enter")},
	"detail-stopped":    {roomy, live.then("f", "f", "f", "enter")},
	"detail-gone":       {roomy, live.then("f", "f", "f", "f", "enter")},
	"policy":            {all, live.then("2")},
	"policy-changes":    {roomy, live.then("2").with(policyChanges)},
	"catalogue":         {all, live.then("3")},
	"catalogue-profile": {all, live.then("3", "down", "down", "enter")},
	"catalogue-bundle":  {roomy, live.then("3", "end", "up", "enter")},
	"catalogue-search":  {roomy, live.then("3", "/", "r", "u", "b", "y")},
	"catalogue-nothing": {roomy, live.then("3", "/", "zzz", "enter")},
	"reviews":           {all, memos},
	"reviews-memo":      {all, memos.then("enter")},
	"reviews-actions": {roomy, memos.then("enter").with(func(_ testing.TB, d *desk) {
		d.screen()
		d.press("end")
	})},
	"reviews-active": {roomy, memos.then("down", "enter")},
	"reviews-filter": {roomy, memos.then("/", "п", "р", "е", "м")},
	"reviews-none": {roomy, live.then("4").with(func(_ testing.TB, d *desk) {
		d.Update(reviewsMsg{})
	})},
	"reviews-reading": {roomy, live.then("4")},
	"reviews-broken": {roomy, live.then("4").with(func(_ testing.TB, d *desk) {
		d.Update(reviewsMsg{watch.ReviewsState{
			Err: &advocate.Error{Code: advocate.FolderTrouble, File: "/home/ada/.mcp-devils-advocate", Cause: fs.ErrPermission},
		}})
	})},
	"help":   {all, live.then("?")},
	"filter": {roomy, live.then("/", "r", "e", "v")},
	"paused": {roomy, live.then("p").with(func(_ testing.TB, d *desk) { d.passes(time.Minute) })},
	"copied": {roomy, live.then("y")},

	"reading":  {roomy, fresh},
	"none":     {roomy, fresh.with(func(_ testing.TB, d *desk) { d.reads(sqlite.Delta{}) })},
	"no-match": {roomy, live.then("/", "zzz", "enter")},
	"off": {roomy, fresh.with(func(_ testing.TB, d *desk) {
		d.o.Configured = false
		d.fails(sqlite.Missing)
	})},
	"missing":   {roomy, failing(sqlite.Missing)},
	"foreign":   {roomy, failing(sqlite.ForeignSchema)},
	"garbage":   {roomy, failing(sqlite.NotSQLite)},
	"damaged":   {roomy, failing(sqlite.Damaged)},
	"denied":    {roomy, failing(sqlite.Denied)},
	"newer":     {roomy, failing(sqlite.NewerSchema)},
	"folder":    {roomy, failing(sqlite.IsFolder)},
	"symlink":   {roomy, failing(sqlite.IsSymlink)},
	"read-only": {roomy, failing(sqlite.ReadOnly)},
	"hot":       {roomy, failing(sqlite.HotJournal)},
	"bad-rows": {roomy, fresh.with(func(t testing.TB, d *desk) {
		d.reads(sqlite.Delta{Put: sample(t)[:2], Bad: 3})
	})},
	"busy": {roomy, live.with(func(_ testing.TB, d *desk) {
		d.fails(sqlite.Busy)
		d.passes(3 * time.Second)
	})},
	"vanished": {roomy, fresh.with(func(_ testing.TB, d *desk) {
		d.reads(sqlite.Delta{})
		d.fails(sqlite.Missing)
	})},
}

// policyChanges plays a policy that is replaced, and then broken.
func policyChanges(_ testing.TB, d *desk) {
	p := policy.Default()
	p.Provider = catalog.Anthropic
	for _, s := range policy.Stages() {
		p.SetStage(s, policy.Choice{Model: "claude-opus-5", Reasoning: catalog.ReasoningHigh})
	}
	p.Deep.Model = "claude-next-1"
	state := watch.PolicyState{Policy: p, Usable: true, Configured: true, Models: catalog.Builtin()}
	d.Update(policyMsg{state})
	d.now = d.now.Add(time.Minute)
	_, state.Err = policy.Parse([]byte("{\n  \"provider\": \"acme\"\n}"), catalog.Builtin())
	d.Update(policyMsg{state})
}

var (
	all   = []string{"160x50", "120x40", "80x24", "50x20", "40x10", "20x5"}
	roomy = []string{"120x40", "80x24", "40x10"}
)

func size(t testing.TB, s string) (w, h int) {
	if _, err := fmt.Sscanf(s, "%dx%d", &w, &h); err != nil {
		t.Fatal(err)
	}
	return w, h
}

// TestScreens compares every view and state with its golden screens, and holds all of them to what
// a screen must be.
func TestScreens(t *testing.T) {
	t.Parallel()
	for name, scene := range scenes {
		for _, lang := range locales.Langs() {
			t.Run(name+"/"+lang.String(), func(t *testing.T) {
				t.Parallel()
				var b strings.Builder
				for _, s := range scene.sizes {
					w, h := size(t, s)
					screen := scene.make(t, lang, w, h).screen()
					checkFrame(t, screen, w, h)
					fmt.Fprintf(&b, "== %s\n", s)
					for line := range strings.SplitSeq(screen, "\n") {
						b.WriteString(strings.TrimRight(line, " ") + "\n")
					}
				}
				compare(t, filepath.Join("testdata", "screens", name+"."+lang.String()+".txt"), b.String())
			})
		}
	}
}

// checkFrame holds a frame to its size: as many lines as the screen, none wider, nothing that
// steers a terminal.
func checkFrame(t *testing.T, screen string, w, h int) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) != h && w >= leastWidth && h >= leastHeight || len(lines) > h {
		t.Errorf("%dx%d: %d lines", w, h, len(lines))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > w {
			t.Errorf("%dx%d: line %d is %d cells wide: %q", w, h, i+1, n, line)
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) }) {
			t.Errorf("%dx%d: line %d has control characters: %q", w, h, i+1, line)
		}
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	a, b := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s, line %d:\n  want %q\n  got  %q\n(-update writes the screens anew)\n%s", path, i+1, a[i], b[i], got)
		}
	}
	t.Fatalf("%s: %d lines, want %d", path, len(b), len(a))
}

// Whatever the colours are, the text is the same; without colours there is nothing but text.
func TestColoursCarryNoMeaning(t *testing.T) {
	t.Parallel()
	for name, scene := range scenes {
		d := scene.make(t, locales.En, 120, 40)
		plain := d.View()
		if strings.Contains(plain, "\x1b") && !d.editing {
			t.Errorf("%s: escape sequences without colours", name)
		}
		seen := map[string]bool{}
		for _, look := range []struct {
			colors      termenv.Profile
			dark, known bool
		}{
			{termenv.TrueColor, true, true},
			{termenv.TrueColor, false, true},
			{termenv.TrueColor, false, false},
			{termenv.ANSI256, true, true},
			{termenv.ANSI, true, true},
			{termenv.ANSI, false, true},
		} {
			d.o.Colors, d.o.Dark, d.o.Known = look.colors, look.dark, look.known
			d.look()
			d.outOfDate = true
			frame := d.View()
			if ansi.Strip(frame) != ansi.Strip(plain) {
				t.Errorf("%s: another text with %+v", name, look)
			}
			if seen[frame] {
				t.Errorf("%s: %+v looks like another theme", name, look)
			}
			seen[frame] = true
		}
	}
}
