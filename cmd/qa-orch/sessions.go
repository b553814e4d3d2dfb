package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/terms"
	"github.com/qa-orch/qa-orch/tui/fold"
	"github.com/qa-orch/qa-orch/tui/screen"
	"github.com/qa-orch/qa-orch/tui/sessions"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type sessionsOptions struct {
	*App
	Store string // of --store
	JSON  bool
	Plain bool
	Mouse bool
}

// newSessions makes "qa-orch sessions".
func newSessions(a *App) *cobra.Command {
	return newSessionsWith(&sessionsOptions{App: a}, runSessions)
}

func newSessionsWith(o *sessionsOptions, run func(context.Context, *sessionsOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		GroupID: groupLook,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.JSON && o.Plain {
				return misused(locales.M("sessions.cli.one-format"), cmd.CommandPath())
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.PersistentFlags().StringVar(&o.Store, "store", "", "")
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	cmd.Flags().BoolVar(&o.Plain, "plain", false, "")
	cmd.Flags().BoolVar(&o.Mouse, "mouse", false, "")
	cmd.AddCommand(newSessionsShow(o), newSessionsWatch(o))
	return cmd
}

// storePath returns the store that the command looks at, and whether somebody asked for it.
func (o *sessionsOptions) storePath(s settings.Settings) (path string, configured bool) {
	switch {
	case o.Store != "":
		return settings.Path(o.Store, o.Getenv), true
	case s.StorePath != "":
		return s.StorePath, true
	}
	return s.DefaultStorePath(), false
}

func runSessions(ctx context.Context, o *sessionsOptions) error {
	if o.JSON || o.Plain || !o.fullScreen() {
		return printSessions(ctx, o)
	}
	view, err := o.dashboard()
	if err != nil {
		return err
	}
	terminal := screen.New(os.Stdin, os.Stdout)
	view.Copy = terminal.Copy
	model := sessions.New(view)
	defer model.Close()
	_, interrupted, err := terminal.Run(ctx, model, o.Mouse)
	if interrupted {
		return quiet(exitInterrupted)
	}
	return err
}

// fullScreen reports whether a person sits at a terminal that can show more than lines of text.
func (a *App) fullScreen() bool { return a.InTTY && a.OutTTY && a.Getenv("TERM") != "dumb" }

// dashboard gathers what the dashboard shows.
func (o *sessionsOptions) dashboard() (sessions.Options, error) {
	s, err := o.settings()
	if err != nil {
		return sessions.Options{}, err
	}
	v := sessions.Options{
		Lang: o.Lang(), Colors: theme.Colors(o.Getenv, true),
		PolicyPath: s.PolicyPath, ModelsPath: s.ModelsPath, Home: o.Getenv("HOME"),
		TTL: s.TTL, MaxSessions: s.MaxSessions,
		Now: o.Now, Location: time.Local,
	}
	v.StorePath, v.Configured = o.storePath(s)
	// Without a home folder there is nothing to show; who asks for the reviews is told elsewhere.
	v.ReviewsDir, _ = settings.AdvocateDir("", o.Getenv)
	v.Dark, v.Known = o.background()
	return v, nil
}

// background finds out about the terminal's background, asking it if nothing else tells.
func (a *App) background() (dark, known bool) {
	if dark, known = theme.Background(a.mode, a.Getenv); known {
		return dark, known
	}
	return theme.Ask(os.Stdin, os.Stdout, a.Getenv, 150*time.Millisecond)
}

// storeJSON says in what state the store is.
type storeJSON struct {
	Path    string `json:"path"`
	State   string `json:"state"`   // "ok", "off", "missing", or why it can't be used
	Message string `json:"message"` // in English; empty when State is "ok"
}

// countsJSON counts sessions by what they wait for.
type countsJSON struct {
	Active   int `json:"active"`
	Awaiting int `json:"awaiting_host_outcome"`
	Stopped  int `json:"stopped"`
}

// sessionsJSON is what "sessions --json" prints.
type sessionsJSON struct {
	At          string        `json:"at"`
	Store       storeJSON     `json:"store"`
	MaxSessions int           `json:"max_sessions"`
	Counts      countsJSON    `json:"counts"`
	BadRows     int           `json:"bad_rows"`
	Sessions    []sessionJSON `json:"sessions"`
}

// sessionJSON is a session for programs: the fields of the contract and those of more.
type sessionJSON struct {
	row *watch.Row
	now time.Time
}

type moreJSON struct {
	ShortID     string  `json:"short_id"`
	SecondsLeft int     `json:"seconds_left"`
	ChangedAt   *string `json:"changed_at"` // null where it is not known
}

// MarshalJSON writes the session's own fields first.
func (s sessionJSON) MarshalJSON() ([]byte, error) {
	own, err := json.Marshal(s.row.Session)
	if err != nil {
		return nil, err
	}
	more := moreJSON{ShortID: sessions.ShortID(s.row.RunID), SecondsLeft: max(int(s.row.ExpiresAt.Sub(s.now)/time.Second), 0)}
	if !s.row.Changed.IsZero() {
		at := review.FormatTime(s.row.Changed)
		more.ChangedAt = &at
	}
	rest, err := json.Marshal(more)
	if err != nil {
		return nil, err
	}
	own[len(own)-1] = ','
	return append(own, rest[1:]...), nil
}

// snapshot is a store as it is now.
type snapshot struct {
	now     time.Time
	path    string
	tracker *watch.Tracker
	bad     int
	limit   int
	off     bool  // no store is asked for, and there is none
	err     error // why it can't be read; nil when it can, is off or is not there yet
	missing bool
}

// rows returns the sessions, those with the latest change first.
func (s *snapshot) rows() []*watch.Row {
	var rows []*watch.Row
	for _, r := range s.tracker.Rows() {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b *watch.Row) int {
		if c := b.ExpiresAt.Compare(a.ExpiresAt); c != 0 {
			return c
		}
		return strings.Compare(a.RunID, b.RunID)
	})
	return rows
}

func (s *snapshot) storeJSON() storeJSON {
	en := locales.New(locales.En)
	switch {
	case s.off:
		return storeJSON{s.path, "off", en.T("sessions.empty.off")}
	case s.missing:
		return storeJSON{s.path, string(sqlite.Missing), en.T("sessions.empty.missing")}
	case s.err != nil:
		problem, remedy := explain.Store(en, s.err)
		state := string(sqlite.Failed)
		var u *sqlite.Unusable
		if errors.As(s.err, &u) {
			state = string(u.Reason)
		}
		return storeJSON{s.path, state, strings.TrimSpace(problem + ". " + remedy)}
	}
	return storeJSON{s.path, "ok", ""}
}

// take reads the store once.
func (o *sessionsOptions) take(ctx context.Context) (*snapshot, error) {
	env, err := o.settings()
	if err != nil {
		return nil, err
	}
	path, configured := o.storePath(env)
	feed := watch.NewFeed(path)
	defer func() { _ = feed.Close() }()
	s := &snapshot{now: o.Now(), path: path, tracker: watch.NewTracker(env.TTL, 0), limit: env.MaxSessions}
	u, err := feed.Next(ctx, 0)
	if err != nil {
		return nil, err
	}
	switch {
	case sqlite.Is(u.Err, sqlite.Missing):
		s.missing, s.off = configured, !configured
	case u.Err != nil:
		s.err = u.Err
	default:
		s.bad = u.Bad
		s.tracker.Apply(u.Delta, s.now)
	}
	return s, nil
}

// unusable is the error of a store that can't be read.
func (s *snapshot) unusable(a *App) error {
	if s.err == nil {
		return nil
	}
	problem, remedy := explain.Store(a.Printer, s.err)
	return failed(locales.M("sessions.cli.unusable", locales.Vars{"Path": s.path, "Problem": problem, "Remedy": remedy}), s.err)
}

func printSessions(ctx context.Context, o *sessionsOptions) error {
	s, err := o.take(ctx)
	if err != nil {
		return err
	}
	c := s.tracker.Counts()
	if o.JSON {
		out := sessionsJSON{
			At: review.FormatTime(s.now), Store: s.storeJSON(), MaxSessions: s.limit,
			Counts: countsJSON{c.Active, c.Awaiting, c.Stopped}, BadRows: s.bad, Sessions: []sessionJSON{},
		}
		for _, r := range s.rows() {
			out.Sessions = append(out.Sessions, sessionJSON{r, s.now})
		}
		if err := printJSON(o.App, out); err != nil {
			return err
		}
		return s.unusable(o.App)
	}
	if s.err != nil {
		return s.unusable(o.App)
	}
	o.printPlain(s, c)
	return nil
}

func (o *sessionsOptions) printPlain(s *snapshot, c watch.Counts) {
	t := o.Theme()
	o.Println(t.Paint(theme.Muted, locales.Inert(s.path)))
	switch {
	case s.off:
		o.Println(o.wrap(o.T("sessions.empty.off"), 0))
		o.Println(fold.Text(o.T("sessions.empty.off-why"), o.Columns()))
		lines := sessions.Switch(s.path)
		for i, where := range []string{o.T("sessions.empty.off-shell"), o.T("sessions.empty.off-client")} {
			o.Println(o.wrap(where, 0))
			o.Println("  " + t.Paint(theme.Command, locales.Inert(lines[i])))
		}
		return
	case s.missing:
		o.Println(o.wrap(o.T("sessions.empty.missing"), 0))
		return
	}
	o.Println(o.wrap(strings.Join([]string{
		o.N("sessions.count.active", c.Active), o.N("sessions.count.awaiting", c.Awaiting), o.N("sessions.count.stopped", c.Stopped),
		o.T("sessions.of-limit", locales.Vars{"Count": o.Count(c.Limited()), "Limit": o.Count(s.limit)}),
	}, " · "), 0))
	if s.bad > 0 {
		o.Println(t.Paint(theme.Attention, "! "+o.wrap(o.N("sessions.bad", s.bad), 2)))
	}
	if c.Total() == 0 {
		o.Println(o.wrap(o.T("sessions.empty.none"), 0))
		return
	}
	rows := [][]cell{o.plainTitles()}
	for _, r := range s.rows() {
		rows = append(rows, o.plainRow(r, s.now))
	}
	o.Println("")
	o.printTable(rows)
}

// cell is a field of a table.
type cell struct {
	role theme.Role
	text string
}

var plainColumns = locales.NewFamily("sessions.column.", "run", "status", "task", "route", "step", "model", "left", "changed")

func (o *sessionsOptions) plainTitles() []cell {
	var row []cell
	for _, word := range plainColumns.Words() {
		row = append(row, cell{theme.Muted, o.Word(plainColumns, word)})
	}
	return row
}

func (o *sessionsOptions) plainRow(r *watch.Row, now time.Time) []cell {
	model := "—"
	if r.Policy.Model != "" {
		model = locales.Inert(r.Policy.Model) + " · " + string(r.Policy.Reasoning)
	}
	return []cell{
		{theme.Accent, sessions.ShortID(r.RunID)},
		{theme.Status(string(r.Status)), terms.Status(o.Printer, r.Status)},
		{theme.Plain, terms.Task(o.Printer, r.Task)},
		{theme.Plain, sessions.Route(&r.Session)},
		{theme.Plain, sessions.Step(o.Printer, &r.Session)},
		{theme.Plain, model},
		{theme.Plain, sessions.Figure(o.Printer, r.ExpiresAt.Sub(now))},
		{theme.Muted, sessions.Age(o.Printer, now, r.Changed)},
	}
}

// printTable prints rows below their titles, the first row. On a terminal too narrow for that each
// row becomes a paragraph.
func (a *App) printTable(rows [][]cell) {
	const gap = 2
	widths, total := make([]int, len(rows[0])), -gap
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i].text))
		}
		total += widths[i] + gap
	}
	if columns, _ := a.Size(); a.OutTTY && columns > 0 && columns < total {
		for _, row := range rows[1:] {
			a.printParagraph(rows[0], row)
		}
		return
	}
	for _, row := range rows {
		var b strings.Builder
		for i, c := range row {
			b.WriteString(a.Theme().Paint(c.role, c.text))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(c.text)+gap))
			}
		}
		a.Println(b.String())
	}
}

// printParagraph prints a row of a table: its first two fields, and below them the others, each
// after its title.
func (a *App) printParagraph(titles, row []cell) {
	t := a.Theme()
	a.Println(fold.Text(t.Paint(row[0].role, row[0].text)+"  "+t.Paint(row[1].role, row[1].text), a.Columns()))
	var fields []string
	for i, c := range row[2:] {
		fields = append(fields, t.Paint(theme.Muted, titles[i+2].text+":")+" "+t.Paint(c.role, c.text))
	}
	a.Println(indent(fold.Text(strings.Join(fields, "; "), a.Columns()-2)))
}

// newSessionsShow makes "qa-orch sessions show".
func newSessionsShow(o *sessionsOptions) *cobra.Command {
	show := &sessionsOptions{App: o.App}
	cmd := &cobra.Command{
		Use:  "show",
		Args: exactArgs(1, locales.M("help.sessions.show.args")),
		RunE: func(cmd *cobra.Command, args []string) error {
			show.Store = o.Store
			return runSessionsShow(cmd.Context(), show, args[0])
		},
	}
	cmd.Flags().BoolVar(&show.JSON, "json", false, "")
	return cmd
}

func runSessionsShow(ctx context.Context, o *sessionsOptions, which string) error {
	s, err := o.take(ctx)
	if err != nil {
		return err
	}
	if s.err != nil {
		return s.unusable(o.App)
	}
	if s.off {
		return failed(locales.M("sessions.cli.off", locales.Vars{"Variable": settings.StorePathVar}), nil)
	}
	var found []*watch.Row
	for _, r := range s.rows() {
		if strings.HasPrefix(r.RunID, which) || strings.HasPrefix(strings.TrimPrefix(r.RunID, "qar-"), which) {
			found = append(found, r)
		}
	}
	switch {
	case which == "" || len(found) == 0:
		return failed(locales.M("sessions.cli.unknown"), nil)
	case len(found) > 1:
		return failed(locales.MN("sessions.cli.ambiguous", len(found)), nil)
	}
	if o.JSON {
		return printJSON(o.App, sessionJSON{found[0], s.now})
	}
	env, err := o.settings()
	if err != nil {
		return err
	}
	dark, known := theme.Background(o.mode, o.Getenv)
	for _, line := range sessions.Detail(sessions.Options{
		Lang: o.Lang(), Colors: theme.Colors(o.Getenv, o.OutTTY), Dark: dark, Known: known,
		TTL: env.TTL, Now: func() time.Time { return s.now }, Location: time.Local,
	}, found[0], o.Columns()) {
		o.Println(strings.TrimRight(line, " "))
	}
	return nil
}

// newSessionsWatch makes "qa-orch sessions watch".
func newSessionsWatch(o *sessionsOptions) *cobra.Command {
	w := &sessionsOptions{App: o.App}
	cmd := &cobra.Command{
		Use: "watch",
		RunE: func(cmd *cobra.Command, _ []string) error {
			w.Store = o.Store
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runSessionsWatch(ctx, w)
		},
	}
	cmd.Flags().BoolVar(&w.JSON, "json", false, "")
	return cmd
}

// eventJSON is a line of "sessions watch --json".
type eventJSON struct {
	Event   watch.Kind  `json:"event"` // started, advanced, stopped, gone
	At      string      `json:"at"`
	Fate    *watch.Fate `json:"fate"` // of gone: finished, expired, removed; else null
	Session sessionJSON `json:"session"`
}

// runSessionsWatch prints a line for each change until it is interrupted.
func runSessionsWatch(ctx context.Context, o *sessionsOptions) error {
	env, err := o.settings()
	if err != nil {
		return err
	}
	path, _ := o.storePath(env)
	feed := watch.NewFeed(path)
	defer func() { _ = feed.Close() }()
	tracker := watch.NewTracker(env.TTL, 0)
	reason := ""
	for {
		u, err := feed.Next(ctx, time.Second)
		if err != nil {
			return err
		}
		now := o.Now()
		events := tracker.Tick(now)
		if u.Read {
			events = append(events, tracker.Apply(u.Delta, now)...)
		}
		for _, e := range events {
			if err := o.printEvent(e, now); err != nil {
				return err
			}
		}
		// What is wrong with the store is said once, beside the stream.
		problem := reason
		switch {
		case u.Read:
			problem = ""
		case u.Err != nil:
			problem, _ = explain.Store(o.Printer, u.Err)
		}
		if problem != reason && problem != "" {
			o.complain(locales.M("sessions.cli.waiting", locales.Vars{"Path": path, "Problem": problem}))
		}
		reason = problem
	}
}

func (o *sessionsOptions) printEvent(e watch.Event, now time.Time) error {
	if !o.JSON {
		return o.printChange(e)
	}
	line := eventJSON{Event: e.Kind, At: review.FormatTime(e.At), Session: sessionJSON{&e.Row, now}}
	if e.Kind == watch.Gone {
		line.Fate = &e.Row.Fate
	}
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.Out, string(data))
	return err
}

var eventWords = locales.NewFamily("sessions.event.", "started", "advanced", "stopped", "gone")

func (o *sessionsOptions) printChange(e watch.Event) error {
	word := o.Word(eventWords, string(e.Kind))
	if e.Kind == watch.Gone {
		word = sessions.Status(o.Printer, &e.Row)
	}
	_, err := fmt.Fprintln(o.Out, strings.Join([]string{
		o.Clock(e.At.Local()), sessions.ShortID(e.Row.RunID), word, terms.Task(o.Printer, e.Row.Task),
		sessions.Route(&e.Row.Session), sessions.Step(o.Printer, &e.Row.Session),
	}, "  "))
	return err
}
