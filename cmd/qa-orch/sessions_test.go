package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/locales"
)

// noonStore makes a store whose sessions were changed at noon, when fakeApp looks at it: one at
// triage, one under primary review, one stopped.
func noonStore(t *testing.T) (path string, o *orchestrator.Orchestrator) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "s.sqlite3")
	st := sqlite.New(path, nil)
	t.Cleanup(func() { _ = st.Close() })
	n := byte(0)
	noon, _, _ := fakeApp(locales.En)
	o = orchestrator.New(st, policy.NewSource(filepath.Join(dir, "none.json"), filepath.Join(dir, "none.toml"), nil),
		orchestrator.Limits{TTL: 30 * time.Minute, MaxSessions: 100},
		orchestrator.WithClock(noon.Now),
		orchestrator.WithIDs(func() string { n++; return review.RunID([16]byte{0xab, n}) }))
	ctx := context.Background()
	for _, reports := range [][]review.Report{
		nil,
		{{Step: review.Triage, Status: review.Completed, Bundle: catalog.Widget}},
		{{Step: review.Triage, Status: review.Blocked}},
	} {
		s, err := o.Start(ctx, catalog.WidgetReview)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			if _, err := o.Advance(ctx, s.RunID, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	return path, o
}

// runWith runs the program in fakeApp's world with an environment.
func runWith(t *testing.T, lang locales.Lang, env map[string]string, args ...string) (code int, out, errs string) {
	t.Helper()
	app, o, e := fakeApp(lang, args...)
	app.Getenv = func(name string) string { return env[name] }
	return run(app), o.String(), e.String()
}

func TestSessionsJSON(t *testing.T) {
	t.Parallel()
	path, _ := noonStore(t)
	code, out, errs := runWith(t, locales.Ru, nil, "sessions", "--json", "--store", path)
	if code != exitOK || errs != "" {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	var got struct {
		At          string `json:"at"`
		Store       map[string]string
		MaxSessions int `json:"max_sessions"`
		Counts      map[string]int
		BadRows     int `json:"bad_rows"`
		Sessions    []map[string]any
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.At != "2026-12-01T12:00:00.000000Z" || got.MaxSessions != 100 || got.BadRows != 0 ||
		!reflect.DeepEqual(got.Store, map[string]string{"path": path, "state": "ok", "message": ""}) ||
		!reflect.DeepEqual(got.Counts, map[string]int{"active": 2, "awaiting_host_outcome": 0, "stopped": 1}) {
		t.Errorf("%+v", got)
	}
	if len(got.Sessions) != 3 {
		t.Fatalf("%d sessions", len(got.Sessions))
	}
	s := got.Sessions[1]
	for name, want := range map[string]any{
		"run_id": "qar-ab020000000000000000000000000000", "short_id": "ab020000", "current_step": "primary_review",
		"selected_bundle": "widget", "current_profile": "code_explorer", "seconds_left": 1800.0,
		"expires_at": "2026-12-01T12:30:00.000000Z", "changed_at": "2026-12-01T12:00:00.000000Z", "read_only": true,
	} {
		if s[name] != want {
			t.Errorf("%s is %v, want %v", name, s[name], want)
		}
	}
}

func TestSessionsPlain(t *testing.T) {
	t.Parallel()
	path, _ := noonStore(t)
	for lang, want := range map[locales.Lang][]string{
		locales.En: {"2 active · 0 awaiting the outcome · 1 stopped · 2 of 100", "ab010000  active", "widget review", "primary review 1/4", "30:00", "stopped: blocked"},
		locales.Ru: {"2 идут", "ab010000  идёт", "проверка виджета", "основная проверка 1/4", "30:00", "остановлена: заблокирована"},
	} {
		// Not a terminal is enough; the flag says the same.
		for _, args := range [][]string{{"sessions"}, {"sessions", "--plain"}} {
			code, out, errs := runWith(t, lang, map[string]string{"QA_ORCHESTRATOR_SESSION_STORE_PATH": path}, args...)
			if code != exitOK || errs != "" {
				t.Fatalf("%v: exit code %d, %s", lang, code, errs)
			}
			for _, text := range want {
				if !strings.Contains(out, text) {
					t.Errorf("%v: no %q in\n%s", lang, text, out)
				}
			}
		}
	}
}

// On a terminal no line is wider than it, and nothing is left out.
func TestSessionsPlainFitsTheTerminal(t *testing.T) {
	t.Parallel()
	path, _ := noonStore(t)
	for lang, want := range map[locales.Lang][]string{
		locales.En: {"ab020000  active", "task: widget review; route: widget; step: primary review 1/4 · Faraday — Evidence Investigator; model now: gpt-6-sol · medium; left: 30:00; age: 0s"},
		locales.Ru: {"ab020000  идёт", "задача: проверка виджета; маршрут: widget; шаг: основная проверка 1/4", "осталось: 30:00; когда: 0 с"},
	} {
		for _, columns := range []int{30, 50, 80, 200} {
			app, out, errs := fakeApp(lang, "sessions", "--plain")
			app.OutTTY = true
			app.Size = func() (int, int) { return columns, 24 }
			app.Getenv = func(name string) string {
				return map[string]string{"QA_ORCHESTRATOR_SESSION_STORE_PATH": path, "NO_COLOR": "1"}[name]
			}
			if code := run(app); code != exitOK {
				t.Fatalf("%v: exit code %d, %s", lang, code, errs)
			}
			_, table, _ := strings.Cut(out.String(), "\n\n") // the path above is left whole
			for line := range strings.SplitSeq(table, "\n") {
				if w := ansi.StringWidth(line); w > columns {
					t.Errorf("%v at %d columns: %d cells in %q", lang, columns, w, line)
				}
			}
			if columns == 200 {
				if lines := strings.Split(table, "\n"); len(lines) != 5 {
					t.Errorf("%v at %d columns: no table:\n%s", lang, columns, table)
				}
				continue
			}
			for _, text := range want {
				if !strings.Contains(strings.Join(strings.Fields(table), " "), strings.Join(strings.Fields(text), " ")) {
					t.Errorf("%v at %d columns: no %q in\n%s", lang, columns, text, table)
				}
			}
		}
	}
}

func TestSessionsShow(t *testing.T) {
	t.Parallel()
	path, _ := noonStore(t)
	for arg, want := range map[string]int{
		"qar-ab020000000000000000000000000000": exitOK,
		"ab02":                                 exitOK,
		"qar-ab02":                             exitOK,
		"ab":                                   exitFailed, // three of them
		"ff":                                   exitFailed,
		"":                                     exitFailed,
	} {
		code, out, errs := runWith(t, locales.En, nil, "sessions", "show", "--store", path, arg)
		if code != want {
			t.Errorf("show %q: exit code %d, want %d; %s", arg, code, want, errs)
		}
		if want == exitOK && (!strings.Contains(out, "qar-ab020000000000000000000000000000") || !strings.Contains(out, "▶ primary review 1/4")) {
			t.Errorf("show %q:\n%s", arg, out)
		}
		if want != exitOK && errs == "" {
			t.Errorf("show %q fails without a word", arg)
		}
	}
	code, out, _ := runWith(t, locales.Ru, nil, "sessions", "show", "--json", "--store", path, "ab03")
	var s map[string]any
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != exitOK || s["status"] != "blocked" {
		t.Errorf("exit code %d, %v: %s", code, err, out)
	}
}

func TestSessionsWithoutAUsableStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, []byte("no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := map[string]string{"QA_ORCHESTRATOR_DATA_DIR": dir}
	for name, c := range map[string]struct {
		args  []string
		state string
		code  int
		says  string
	}{
		"off":     {nil, "off", exitOK, "Recovery is off"},
		"missing": {[]string{"--store", filepath.Join(dir, "none")}, "missing", exitOK, "not there yet"},
		"garbage": {[]string{"--store", garbage}, "not_sqlite", exitFailed, "not a SQLite database"},
		"folder":  {[]string{"--store", dir}, "is_folder", exitFailed, "a folder, not a file"},
	} {
		code, out, _ := runWith(t, locales.En, home, append([]string{"sessions", "--json"}, c.args...)...)
		var got struct {
			Store    storeJSON `json:"store"`
			Sessions []any     `json:"sessions"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		if code != c.code || got.Store.State != c.state || got.Store.Message == "" || got.Sessions == nil {
			t.Errorf("%s: exit code %d, %+v", name, code, got)
		}
		code, out, errs := runWith(t, locales.En, home, append([]string{"sessions"}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.says) {
			t.Errorf("%s: exit code %d, %s%s", name, code, out, errs)
		}
	}
	if code, _, errs := runWith(t, locales.En, nil, "sessions", "--json", "--plain"); code != exitUsage || !strings.Contains(errs, "--plain") {
		t.Errorf("both forms: exit code %d, %s", code, errs)
	}
}

// lines is an output that a test can wait for.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSuffix(l.buf.String(), "\n"), "\n")
}

func TestSessionsWatch(t *testing.T) {
	t.Parallel()
	path, o := noonStore(t)
	app, _, _ := fakeApp(locales.En)
	out := &lines{}
	app.Out = out
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runSessionsWatch(ctx, &sessionsOptions{App: app, Store: path, JSON: true}) }()

	var s review.Session
	// The watch begins at some moment; only what comes after it makes lines.
	for end := time.Now().Add(10 * time.Second); out.all()[0] == ""; {
		if time.Now().After(end) {
			t.Fatal("nothing is said of a new session")
		}
		var err error
		if s, err = o.Start(context.Background(), catalog.OtherTask); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond)
	}
	waitFor := func(event, fate string) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			for _, line := range out.all() {
				var e struct {
					Event   string
					At      string
					Fate    *string
					Session struct {
						RunID string `json:"run_id"`
					}
				}
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatalf("%v: %q", err, line)
				}
				if e.Event == event && e.Session.RunID == s.RunID && (e.Fate == nil) == (fate == "") && (e.Fate == nil || *e.Fate == fate) {
					return
				}
			}
			if time.Now().After(end) {
				t.Fatalf("no %s: %q", event, out.all())
			}
		}
	}
	waitFor("started", "")
	if _, err := o.Advance(context.Background(), s.RunID, review.Report{Step: review.Triage, Status: review.Completed, Profile: catalog.CodeReviewer}); err != nil {
		t.Fatal(err)
	}
	waitFor("advanced", "")
	if _, err := o.Advance(context.Background(), s.RunID, review.Report{Step: review.PrimaryReview, Status: review.Partial}); err != nil {
		t.Fatal(err)
	}
	waitFor("stopped", "")
	if _, err := o.Finish(context.Background(), s.RunID, review.Partial); err != nil {
		t.Fatal(err)
	}
	waitFor("gone", "finished")
	cancel()
	if err := <-ended; app.report(err) != exitInterrupted {
		t.Errorf("it ends with %v", err)
	}
}

// The document of the JSON names every field, and no other.
func TestSessionsDocumentNamesEveryField(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../docs/sessions.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(string(data), -1) {
		for name := range strings.SplitSeq(m[1], ".") {
			documented[name] = true
		}
	}
	fields := map[string]bool{}
	for _, v := range []any{sessionsJSON{}, storeJSON{}, countsJSON{}, moreJSON{}, eventJSON{}} {
		for f := range reflect.TypeOf(v).Fields() {
			fields[f.Tag.Get("json")] = true
		}
	}
	own, err := json.Marshal(review.Session{})
	if err != nil {
		t.Fatal(err)
	}
	var contract map[string]any
	if err := json.Unmarshal(own, &contract); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if !documented[name] && contract[name] == nil {
			t.Errorf("docs/sessions.md does not name %s", name)
		}
	}
	for name := range documented {
		if !fields[name] {
			t.Errorf("docs/sessions.md names %s, which does not exist", name)
		}
	}
}
