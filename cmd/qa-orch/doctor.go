package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/muesli/termenv"
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/clients"
	"github.com/qa-orch/qa-orch/core/regular"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/locales/terms"
	server "github.com/qa-orch/qa-orch/server/review"
	"github.com/qa-orch/qa-orch/tui/theme"
)

type doctorOptions struct {
	*App
	JSON bool

	// Executable returns the binary that is examined and started as a server.
	Executable func() (string, error)
}

// newDoctor makes "qa-orch doctor".
func newDoctor(a *App) *cobra.Command {
	o := &doctorOptions{App: a, Executable: os.Executable}
	return newDoctorWith(o, runDoctor)
}

func newDoctorWith(o *doctorOptions, run func(context.Context, *doctorOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "doctor",
		GroupID: groupSetup,
		RunE:    func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o) },
	}
	cmd.Flags().BoolVar(&o.JSON, "json", false, "")
	return cmd
}

// The outcomes of a check.
const (
	checkPass = "pass"
	checkInfo = "info" // works, but worth knowing
	checkFail = "fail"
)

var (
	checkNames = locales.NewFamily("doctor.check.",
		"program", "environment", "data", "policy", "catalogue", "models", "store", "terminal", "server", "clients")
	outcomes = locales.NewFamily("doctor.outcome.", "pass", "info", "fail")
)

// finding is what a check came to: in the language of whoever reads it.
type finding struct {
	Check   string
	Outcome string
	Text    func(*locales.Printer) string
	Remedy  func(*locales.Printer) string // what to do; nil where there is nothing to do
	Data    any                           // for programs
}

// doctor collects findings.
type doctor struct {
	*doctorOptions
	findings []finding
}

type words = func(*locales.Printer) string

func (d *doctor) pass(check string, text words, data any) {
	d.findings = append(d.findings, finding{check, checkPass, text, nil, data})
}

func (d *doctor) info(check string, text, remedy words, data any) {
	d.findings = append(d.findings, finding{check, checkInfo, text, remedy, data})
}

func (d *doctor) fail(check string, text, remedy words, data any) {
	d.findings = append(d.findings, finding{check, checkFail, text, remedy, data})
}

// runDoctor checks everything that qa-orch needs. It creates and changes
// nothing of the person's.
func runDoctor(ctx context.Context, o *doctorOptions) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	d := &doctor{doctorOptions: o}
	s, problems := settings.Read(o.Getenv)
	path := d.program()
	d.environment(problems)
	if s.DataDir != "" {
		d.dataFolder(s)
	}
	if filepath.IsAbs(s.PolicyPath) {
		d.policy(s)
	}
	d.store(ctx, s)
	d.terminal()
	d.server(ctx, path)
	if s.DataDir != "" {
		d.clients(ctx, s)
	}
	if err := ctx.Err(); err != nil {
		return err
	}

	failures := 0
	for _, f := range d.findings {
		if f.Outcome == checkFail {
			failures++
		}
	}
	if err := d.print(failures); err != nil {
		return err
	}
	if failures > 0 {
		return quiet(exitFailed)
	}
	return nil
}

// program looks at the binary itself and returns its path.
func (d *doctor) program() string {
	b := thisBuild()
	path, err := d.Executable()
	if err != nil {
		d.fail("program", func(p *locales.Printer) string {
			return p.T("doctor.no-path", locales.Vars{"Cause": p.Cause(err)})
		}, nil, b)
		return ""
	}
	data := struct {
		build
		Path string `json:"path"`
	}{b, path}
	text := func(p *locales.Printer) string {
		return p.T("doctor.program", locales.Vars{"Version": b.Version, "Platform": b.OS + "/" + b.Arch, "Path": path})
	}
	if rel, err := filepath.Rel(os.TempDir(), path); err == nil && filepath.IsLocal(rel) {
		d.info("program", text, func(p *locales.Printer) string { return p.T("doctor.temporary") }, data)
	} else {
		d.pass("program", text, data)
	}
	return path
}

// environment names the variables that are set; their values are nobody's business.
func (d *doctor) environment(problems []*settings.Problem) {
	set := []string{}
	for _, name := range []string{
		settings.DataDirVar, settings.PolicyPathVar, settings.StorePathVar, settings.TTLVar, settings.MaxSessionsVar,
		settings.ToolsVar, locales.Variable,
	} {
		if d.Getenv(name) != "" {
			set = append(set, name)
		}
	}
	data := map[string]any{"set": set}
	for _, problem := range problems {
		d.fail("environment",
			func(p *locales.Printer) string { return explain.Setting(p, problem) },
			func(p *locales.Printer) string { return p.T("doctor.fix-variable") },
			map[string]any{"variable": problem.Variable, "code": problem.Code})
	}
	if d.strangeLang() {
		d.info("environment", func(p *locales.Printer) string { return p.T("doctor.lang", locales.Vars{"Variable": locales.Variable}) },
			func(p *locales.Printer) string { return p.T("doctor.fix-lang") }, map[string]any{"variable": locales.Variable})
	}
	switch {
	case len(problems) > 0:
	case len(set) == 0:
		d.pass("environment", func(p *locales.Printer) string { return p.T("doctor.no-variables") }, data)
	default:
		d.pass("environment", func(p *locales.Printer) string {
			return p.N("doctor.variables", len(set), locales.Vars{"Names": strings.Join(set, ", ")})
		}, data)
	}
}

// dataFolder looks at the folder of the policy and the store.
func (d *doctor) dataFolder(s settings.Settings) {
	data := map[string]any{"path": s.DataDir}
	at := func(text string, p *locales.Printer) string {
		return p.T("doctor.at", locales.Vars{"Path": s.DataDir, "Text": text})
	}
	info, err := os.Stat(s.DataDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.info("data", func(p *locales.Printer) string { return at(p.T("doctor.no-folder"), p) }, nil, data)
	case err != nil:
		d.fail("data", func(p *locales.Printer) string { return at(p.Cause(err), p) },
			func(p *locales.Printer) string { return p.T("doctor.fix-folder") }, data)
	case !info.IsDir():
		d.fail("data", func(p *locales.Printer) string { return at(p.T("doctor.not-folder"), p) },
			func(p *locales.Printer) string { return p.T("doctor.fix-folder") }, data)
	case !writable(s.DataDir):
		d.fail("data", func(p *locales.Printer) string { return at(p.T("doctor.not-writable"), p) },
			func(p *locales.Printer) string { return p.T("doctor.fix-writable") }, data)
	default:
		d.exposed("data", s.DataDir, info, "chmod 700", data, func(p *locales.Printer) string { return at(p.T("doctor.folder"), p) })
	}
}

// exposed passes what nobody else may read or change, and says so otherwise.
func (d *doctor) exposed(check, path string, info fs.FileInfo, command string, data map[string]any, good words) {
	mode := info.Mode().Perm()
	data["mode"] = fmt.Sprintf("%04o", mode)
	remedy := func(p *locales.Printer) string {
		return p.T("doctor.fix-mode", locales.Vars{"Command": command + " " + path})
	}
	switch {
	case !regular.Ours(info):
		d.info(check, func(p *locales.Printer) string {
			return p.T("doctor.others-own", locales.Vars{"Path": path})
		}, func(p *locales.Printer) string { return p.T("doctor.fix-owner") }, data)
	case runtime.GOOS != "windows" && mode&0o022 != 0:
		d.fail(check, func(p *locales.Printer) string {
			return p.T("doctor.others-write", locales.Vars{"Path": path, "Mode": data["mode"]})
		}, remedy, data)
	case runtime.GOOS != "windows" && mode&0o077 != 0:
		d.info(check, func(p *locales.Printer) string {
			return p.T("doctor.others-read", locales.Vars{"Path": path, "Mode": data["mode"]})
		}, remedy, data)
	default:
		d.pass(check, good, data)
	}
}

// stale is the age from which on a review of the catalogue is worth a note.
const stale = 180 * 24 * time.Hour

// policy looks at the policy, at the catalogue that it is checked against and at
// the user's part of that.
func (d *doctor) policy(s settings.Settings) {
	f := readPolicyFiles(s)
	setup := func(p *locales.Printer) string {
		return p.T("doctor.run", locales.Vars{"Command": program + " setup"})
	}
	view := f.view()
	data := map[string]any{"file": view}
	switch {
	case f.err != nil:
		d.fail("policy", func(p *locales.Printer) string {
			return p.T("doctor.at", locales.Vars{"Path": f.PolicyPath, "Text": explain.Problems(p, f.err)})
		}, func(p *locales.Printer) string {
			return p.T("doctor.fix-policy", locales.Vars{"Command": program + " setup"})
		}, data)
	case !f.configured:
		d.info("policy", func(p *locales.Printer) string {
			return p.T("doctor.default-policy", locales.Vars{"Path": f.PolicyPath})
		}, setup, data)
	default:
		good := func(p *locales.Printer) string {
			return p.T("doctor.policy", locales.Vars{"Path": f.PolicyPath, "Provider": string(f.policy.Provider)})
		}
		if info, err := os.Stat(f.PolicyPath); err == nil {
			d.exposed("policy", f.PolicyPath, info, "chmod 600", data, good)
		} else {
			d.pass("policy", good, data)
		}
	}
	if f.err == nil {
		for _, st := range f.unverified() {
			d.info("policy", func(p *locales.Printer) string {
				return p.T("doctor.unverified", locales.Vars{"Stage": terms.Stage(p, st), "Model": f.policy.Stage(st).Model})
			}, func(p *locales.Printer) string { return p.T("doctor.verify", locales.Vars{"Path": f.ModelsPath}) },
				map[string]any{"stage": st, "model": f.policy.Stage(st).Model, "reasoning_capabilities_verified": false})
		}
	}

	age := d.Now().Sub(f.models.Reviewed)
	days := int(age / (24 * time.Hour))
	text := func(p *locales.Printer) string {
		return p.N("doctor.catalogue", days, locales.Vars{"Date": p.Date(f.models.Reviewed), "Models": p.N("doctor.models-known", len(catalog.Builtin().All()))})
	}
	review := map[string]any{"reviewed": f.models.Reviewed.Format(time.DateOnly), "age_days": days, "source": f.models.Source}
	if age > stale {
		d.info("catalogue", text, func(p *locales.Printer) string { return p.T("doctor.old-catalogue") }, review)
	} else {
		d.pass("catalogue", text, review)
	}

	switch {
	case f.modelsErr != nil:
		d.fail("models", func(p *locales.Printer) string {
			return p.T("doctor.at", locales.Vars{"Path": f.ModelsPath, "Text": explain.Models(p, f.modelsErr)})
		}, func(p *locales.Printer) string { return p.T("doctor.fix-models") }, view.UserModels)
	case !f.hasModels:
		d.pass("models", func(p *locales.Printer) string { return p.T("doctor.no-models") }, view.UserModels)
	default:
		d.pass("models", func(p *locales.Printer) string {
			return p.T("doctor.at", locales.Vars{"Path": f.ModelsPath, "Text": p.N("doctor.models", len(view.UserModels.Models))})
		}, view.UserModels)
	}
}

// store looks into the recovery store, in use or left at its usual place.
func (d *doctor) store(ctx context.Context, s settings.Settings) {
	path := s.StorePath
	if path == "" {
		if s.DataDir == "" {
			return
		}
		path = s.DefaultStorePath()
	}
	data := map[string]any{"path": path, "configured": s.StorePath != ""}
	_, err := os.Lstat(path)
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case absent && s.StorePath == "":
		d.info("store", func(p *locales.Printer) string { return p.T("doctor.no-store") },
			func(p *locales.Printer) string {
				return p.T("doctor.use-store", locales.Vars{"Variable": settings.StorePathVar})
			}, data)
		return
	case absent:
		d.info("store", func(p *locales.Printer) string {
			return p.T("doctor.at", locales.Vars{"Path": path, "Text": p.T("doctor.new-store")})
		}, nil, data)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	in, err := sqlite.Inspect(ctx, path)
	if err != nil {
		d.unusable(path, err, data)
		return
	}
	defer in.Close()
	if err := in.Integrity(ctx); err != nil {
		d.unusable(path, err, data)
		return
	}
	now := d.Now()
	rows, err := in.Rows(ctx, now)
	if err != nil {
		d.unusable(path, err, data)
		return
	}
	counts := map[review.Status]int{}
	for _, session := range rows.Sessions {
		counts[session.Status]++
	}
	data["sessions"], data["bad_rows"] = counts, rows.Bad
	others := openers(path)
	data["open_in"] = others
	if info, err := os.Stat(path); err == nil {
		data["bytes"] = info.Size()
		d.exposed("store", path, info, "chmod 600", data, func(p *locales.Printer) string {
			return p.T("doctor.store", locales.Vars{"Path": path, "Size": p.Bytes(info.Size()), "Sessions": sessionCounts(p, counts)})
		})
	}
	if rows.Bad > 0 {
		d.fail("store", func(p *locales.Printer) string { return p.N("doctor.bad-rows", rows.Bad) },
			func(p *locales.Printer) string { return p.T("doctor.fix-rows") }, map[string]any{"bad_rows": rows.Bad})
	}
	if len(others) > 0 {
		d.info("store", func(p *locales.Printer) string {
			var list []string
			for _, o := range others {
				list = append(list, fmt.Sprintf("%s %d", locales.Inert(o.Name), o.PID))
			}
			return p.T("doctor.open-in", locales.Vars{"Processes": strings.Join(list, ", ")})
		}, nil, map[string]any{"open_in": others})
	}
}

func (d *doctor) unusable(path string, err error, data map[string]any) {
	var u *sqlite.Unusable
	if errors.As(err, &u) {
		data["reason"] = u.Reason
	}
	remedy := func(p *locales.Printer) string { _, r := explain.Store(p, err); return r }
	if u != nil && u.Reason == sqlite.Failed {
		remedy = nil // it says to run the doctor
	}
	d.fail("store", func(p *locales.Printer) string {
		problem, _ := explain.Store(p, err)
		return p.T("doctor.at", locales.Vars{"Path": path, "Text": problem})
	}, remedy, data)
}

// sessionCounts says how many sessions there are in which state.
func sessionCounts(p *locales.Printer, counts map[review.Status]int) string {
	total := 0
	var parts []string
	for _, status := range []review.Status{review.Active, review.Awaiting, review.Completed, review.Partial, review.Blocked} {
		if n := counts[status]; n > 0 {
			total += n
			parts = append(parts, terms.Status(p, status)+" "+p.Count(n))
		}
	}
	if total == 0 {
		return p.N("doctor.sessions", 0)
	}
	return p.N("doctor.sessions", total) + ": " + strings.Join(parts, ", ")
}

var profiles = map[termenv.Profile]string{
	termenv.Ascii: "none", termenv.ANSI: "16", termenv.ANSI256: "256", termenv.TrueColor: "true",
}

var colourNames = locales.NewFamily("doctor.colours.", "none", "16", "256", "true")

// terminal says what the terminal is taken for.
func (d *doctor) terminal() {
	if !d.OutTTY {
		d.info("terminal", func(p *locales.Printer) string { return p.T("doctor.no-terminal") }, nil, map[string]any{"terminal": false})
		return
	}
	width, height := d.Size()
	colours := profiles[theme.Colors(d.Getenv, true)]
	charset := encoding(d.Getenv)
	data := map[string]any{"terminal": true, "columns": width, "rows": height, "colours": colours, "encoding": charset}
	text := func(p *locales.Printer) string {
		return p.T("doctor.terminal", locales.Vars{
			"Size": fmt.Sprintf("%d×%d", width, height), "Colours": p.Word(colourNames, colours), "Encoding": charset,
		})
	}
	switch {
	case charset != utf8Name:
		d.info("terminal", text, func(p *locales.Printer) string { return p.T("doctor.not-utf8") }, data)
	case width < 50 || height < 20:
		d.info("terminal", text, func(p *locales.Printer) string { return p.T("doctor.small") }, data)
	default:
		d.pass("terminal", text, data)
	}
}

const utf8Name = "UTF-8"

// encoding returns the character set that the locale names. Where none is
// named, and on systems that know no other for text, it is UTF-8.
func encoding(getenv func(string) string) string {
	if runtime.GOOS == "windows" {
		return utf8Name
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		value := getenv(name)
		if value == "" {
			continue
		}
		_, charset, named := strings.Cut(value, ".")
		charset, _, _ = strings.Cut(charset, "@")
		if !named || strings.EqualFold(strings.ReplaceAll(charset, "-", ""), "utf8") {
			return utf8Name
		}
		return locales.Inert(charset)
	}
	return utf8Name
}

// clients starts what the clients start where we are registered.
func (d *doctor) clients(ctx context.Context, s settings.Settings) {
	all, err := d.contacts(ctx, s)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		d.fail("clients", func(p *locales.Printer) string { return p.Cause(err) }, nil, nil)
		return
	case len(all) == 0:
		d.info("clients", func(p *locales.Printer) string { return p.T("doctor.no-clients") },
			func(p *locales.Printer) string {
				return p.T("doctor.connect", locales.Vars{"Command": program + " connect"})
			}, nil)
	}
	for _, c := range all {
		text := func(p *locales.Printer) string {
			return p.T("doctor.client", locales.Vars{"Client": c.Client.Name, "Scope": p.Word(scopeNames, string(c.Scope)), "State": c.state(p)})
		}
		switch {
		case c.Found.Err != nil:
			d.fail("clients", text, func(p *locales.Printer) string {
				return p.T("doctor.fix-list", locales.Vars{"Path": c.Path})
			}, c.view())
		case c.Untried:
			d.info("clients", text, func(p *locales.Printer) string {
				return p.T("doctor.untried", locales.Vars{"Path": c.Path, "Command": c.again()})
			}, c.view())
		case !c.works():
			d.fail("clients", text, func(p *locales.Printer) string {
				return p.T("doctor.reconnect", locales.Vars{"Command": c.again()})
			}, c.view())
		case c.Version != thisBuild().Version:
			d.info("clients", text, func(p *locales.Printer) string {
				return p.T("doctor.other-version", locales.Vars{"Version": thisBuild().Version, "Command": c.again()})
			}, c.view())
		default:
			d.pass("clients", text, c.view())
		}
	}
}

// again is the command that registers the same anew.
func (c contact) again() string {
	words := []string{"connect", c.Client.ID}
	if c.Name == clients.AdvocateName {
		words = append(words, "--advocate")
	}
	if c.Scope == clients.Project {
		words = append(words, "--scope", string(c.Scope))
	}
	return commandLine(words...)
}

// selfTestLimit bounds the self-test; a healthy one takes some 30 ms.
const selfTestLimit = 10 * time.Second

// server starts the program as a server, as a client would, and talks to it.
func (d *doctor) server(ctx context.Context, path string) {
	if path == "" {
		return
	}
	remedy := func(p *locales.Printer) string { return p.T("doctor.fix-server") }
	bad := func(err error) {
		d.fail("server", func(p *locales.Printer) string {
			return p.T("doctor.server-failed", locales.Vars{"Cause": p.Cause(err)})
		}, remedy, nil)
	}
	folder, err := os.MkdirTemp("", "qa-orch-doctor-")
	if err != nil {
		bad(err)
		return
	}
	defer os.RemoveAll(folder)
	ctx, cancel := context.WithTimeout(ctx, selfTestLimit)
	defer cancel()

	began := time.Now()
	c, err := startServer(ctx, path, []string{"serve"}, folder, "qa-orch-doctor", nil, nil)
	if err != nil {
		bad(err)
		return
	}
	defer c.stop()
	initialized := time.Since(began)

	listed := time.Now()
	tools, err := c.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		bad(err)
		return
	}
	listing := time.Since(listed)
	if !slices.ContainsFunc(tools.Tools, func(t mcp.Tool) bool { return t.Name == server.PrepareTool }) {
		bad(errors.New(server.PrepareTool))
		return
	}
	called := time.Now()
	req := mcp.CallToolRequest{}
	req.Params.Name = server.PrepareTool
	req.Params.Arguments = map[string]any{"agent_profile": string(catalog.CodeReviewer)}
	result, err := c.client.CallTool(ctx, req)
	if err == nil && result.IsError {
		err = errors.New(resultText(result))
	}
	if err != nil {
		bad(err)
		return
	}
	calling := time.Since(called)
	d.pass("server", func(p *locales.Printer) string {
		return p.N("doctor.server", len(tools.Tools), locales.Vars{
			"Start": millis(p, initialized), "List": millis(p, listing), "Call": millis(p, calling),
		})
	}, map[string]any{
		"tools": len(tools.Tools), "initialize_ms": inMillis(initialized), "tools_list_ms": inMillis(listing), "prepare_ms": inMillis(calling),
	})
}

func inMillis(t time.Duration) float64 { return float64(t.Microseconds()) / 1000 }

func millis(p *locales.Printer, t time.Duration) string {
	return p.T("doctor.millis", locales.Vars{"Number": p.Decimal(inMillis(t), 1)})
}

// print prints the findings.
func (d *doctor) print(failures int) error {
	if d.JSON {
		return d.printJSON(failures)
	}
	t := d.Theme()
	roles := map[string]theme.Role{checkPass: theme.Good, checkInfo: theme.Attention, checkFail: theme.Bad}
	column := 0
	for _, word := range outcomes.Words() {
		column = max(column, ansi.StringWidth(d.Word(outcomes, word)))
	}
	for _, f := range d.findings {
		word := d.Word(outcomes, f.Outcome)
		left := t.Paint(roles[f.Outcome], word) + strings.Repeat(" ", column-ansi.StringWidth(word)+2)
		text := t.Paint(theme.Title, d.Word(checkNames, f.Check)) + ": " + f.Text(d.Printer)
		d.Println(left + d.wrap(text, column+2))
		if f.Remedy != nil {
			d.Println(strings.Repeat(" ", column+2) + "→ " + d.wrap(f.Remedy(d.Printer), column+4))
		}
	}
	d.Println("")
	if failures > 0 {
		d.Println(t.Paint(theme.Bad, d.N("doctor.failures", failures)))
	} else {
		d.Println(t.Paint(theme.Good, d.T("doctor.well")))
	}
	return nil
}

func (d *doctor) printJSON(failures int) error {
	type view struct {
		Check   string `json:"check"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Remedy  string `json:"remedy,omitempty"`
		Data    any    `json:"data,omitempty"`
	}
	en := locales.New(locales.En)
	views := []view{}
	for _, f := range d.findings {
		v := view{Check: f.Check, Status: f.Outcome, Message: f.Text(en), Data: f.Data}
		if f.Remedy != nil {
			v.Remedy = f.Remedy(en)
		}
		views = append(views, v)
	}
	return printJSON(d.App, struct {
		OK     bool   `json:"ok"`
		Checks []view `json:"checks"`
	}{failures == 0, views})
}
