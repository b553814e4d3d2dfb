package main

import (
	"bufio"
	"context"
	"io"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/clients"
	"github.com/qa-orch/qa-orch/core/clients/ledger"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// genericClient is the client that gets text to paste.
const genericClient = "generic"

type connectOptions struct {
	*App
	Client   string
	Advocate bool
	Scope    string
	Store    bool
	NoStore  bool
	DryRun   bool
	Yes      bool
	List     bool
	JSON     bool

	// CommandPath returns the path that is registered.
	CommandPath func() (string, error)
}

// newConnect makes "qa-orch connect".
func newConnect(a *App) *cobra.Command {
	return newConnectWith(&connectOptions{App: a, Scope: string(clients.User), CommandPath: commandPath}, runConnect)
}

// clientIDs returns the words for clients, and more.
func clientIDs(more ...string) []string {
	var ids []string
	for _, c := range clients.All() {
		ids = append(ids, c.ID)
	}
	return append(ids, more...)
}

func newConnectWith(o *connectOptions, run func(context.Context, *connectOptions) error) *cobra.Command {
	ids := clientIDs(genericClient)
	cmd := &cobra.Command{
		Use:       "connect",
		GroupID:   groupSetup,
		Args:      atMostArgs(1),
		ValidArgs: ids,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := word(cmd, args, ids, &o.Client); err != nil {
				return err
			}
			switch {
			case o.Store && o.NoStore:
				return misused(locales.M("connect.one-store"), cmd.CommandPath())
			case o.Advocate && (o.Store || o.NoStore):
				return misused(locales.M("connect.advocate-store"), cmd.CommandPath())
			case o.JSON && !o.List:
				return misused(locales.M("connect.json-list"), cmd.CommandPath())
			}
			return run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Advocate, "advocate", false, "")
	flags.Var(oneOf(&o.Scope, string(clients.User), string(clients.Project)), "scope", "")
	flags.BoolVar(&o.Store, "store", false, "")
	flags.BoolVar(&o.NoStore, "no-store", false, "")
	flags.BoolVar(&o.DryRun, "dry-run", false, "")
	flags.BoolVar(&o.Yes, "yes", false, "")
	flags.BoolVar(&o.List, "list", false, "")
	flags.BoolVar(&o.JSON, "json", false, "")
	return cmd
}

// asker asks the person at the terminal.
type asker struct {
	*App
	lines *bufio.Reader
}

// yes asks a question and reports whether the answer is yes; no answer is no.
func (a *asker) yes(question string) bool {
	if a.lines == nil {
		a.lines = bufio.NewReader(a.In)
	}
	_, _ = io.WriteString(a.Out, a.wrap(question, 0)+" ")
	line, _ := a.lines.ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes" || answer != "" && slices.Contains(strings.Fields(a.T("connect.yes-words")), answer)
}

func runConnect(ctx context.Context, o *connectOptions) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	s, err := o.settings()
	if err != nil {
		return err
	}
	if o.List {
		return o.list(ctx, s)
	}
	command, err := o.CommandPath()
	if err != nil {
		return failed(locales.M("connect.path", locales.Vars{"Problem": explain.Command(o.Printer, err)}), err)
	}
	entry, err := o.entry(s, command, o.Advocate, !o.NoStore)
	if err != nil {
		return err
	}
	name := clients.ReviewName
	if o.Advocate {
		name = clients.AdvocateName
	}
	if o.Client == genericClient {
		asJSON, asTOML := clients.Paste(name, entry)
		o.Println(o.Theme().Paint(theme.Muted, "# JSON"))
		o.Println(string(inertJSON([]byte(asJSON))))
		o.Println(o.Theme().Paint(theme.Muted, "# TOML"))
		o.Println(string(inertTOML([]byte(strings.TrimSuffix(asTOML, "\n")))))
		return nil
	}
	registry := o.registry(s)
	chosen, err := o.choose(registry.System)
	if err != nil {
		return err
	}
	if !o.Yes && !o.DryRun && (!o.InTTY || !o.OutTTY) {
		return misused(locales.M("connect.needs-yes"), program+" connect")
	}
	c := &connecting{connectOptions: o, registry: registry, name: name, entry: entry, asker: asker{App: o.App}}
	for i, client := range chosen {
		if i > 0 {
			o.Println("")
		}
		if err := c.one(ctx, client); err != nil {
			return err
		}
	}
	if c.connected && !o.DryRun {
		o.Println("")
		o.Println(o.wrap(o.T("connect.next", locales.Vars{"Rules": o.typed(commandLine("rules", "--install")), "List": o.typed(commandLine("connect", "--list"))}), 0))
	}
	if c.failed {
		return quiet(exitFailed)
	}
	return nil
}

// choose returns the client that was named, else those that are installed.
func (o *connectOptions) choose(sys clients.System) ([]*clients.Client, error) {
	scope := clients.Scope(o.Scope)
	if o.Client != "" {
		client := clients.Find(o.Client)
		if client.Path(sys, scope) == "" {
			return nil, misused(locales.M("connect.no-project", locales.Vars{"Client": client.Name}), program+" connect")
		}
		return []*clients.Client{client}, nil
	}
	var out []*clients.Client
	seen := map[string]bool{}
	for _, c := range clients.All() {
		if path := c.Path(sys, scope); path != "" && !seen[path] && c.Installed(sys) {
			seen[path] = true
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, failed(locales.M("connect.none-found", locales.Vars{"Command": commandLine("connect", genericClient)}), nil)
	}
	return out, nil
}

// connecting is a run of connect.
type connecting struct {
	*connectOptions
	registry  clients.Registry
	name      string
	entry     clients.Entry
	asker     asker
	connected bool
	failed    bool
}

var scopeNames = locales.NewFamily("connect.scope.", "user", "project")

// heading names a client's list of servers.
func (a *App) heading(client *clients.Client, scope clients.Scope, path string) {
	a.Println(a.wrap(a.Theme().Paint(theme.Title, client.Name)+" ("+a.Word(scopeNames, string(scope))+"): "+locales.Inert(path), 0))
}

// one connects one client. What goes wrong is said at once, so that it does not
// keep the others waiting.
func (c *connecting) one(ctx context.Context, client *clients.Client) error {
	scope := clients.Scope(c.Scope)
	plan, err := c.registry.Plan(client, scope, c.name, c.entry)
	if err != nil {
		c.failed = true
		c.complain(locales.M("connect.refused", locales.Vars{"Path": client.Path(c.registry.System, scope), "Problem": explain.Edit(c.Printer, err)}))
		return nil
	}
	c.heading(client, scope, plan.Path)
	if !plan.Changes() {
		c.Println("  " + c.wrap(c.T("connect.already", locales.Vars{"Name": c.name}), 2))
		if !c.DryRun {
			c.verify(ctx, plan)
		}
		return nil
	}
	if plan.Own != nil {
		c.Println("  " + c.wrap(c.T("connect.own", locales.Vars{"Command": c.typed(locales.Inert(shellLine(plan.Own)))}), 2))
	}
	c.printDiff(plan.Before, plan.After, shownOf(plan))
	if c.DryRun {
		return nil
	}
	if !c.Yes && !c.asker.yes(c.T("connect.ask", locales.Vars{"Client": client.Name})) {
		c.Println("  " + c.T("connect.skipped"))
		return ctx.Err()
	}
	res, err := c.registry.Connect(ctx, plan)
	if err != nil {
		c.failed = true
		c.complain(locales.M("connect.refused", locales.Vars{"Path": plan.Path, "Problem": explain.Edit(c.Printer, err)}))
		return ctx.Err()
	}
	c.connected = true
	if res.Backup != "" {
		c.Println("  " + c.wrap(c.T("connect.backup", locales.Vars{"Path": res.Backup}), 2))
	}
	if plan.Own != nil && !res.Own {
		c.Println("  " + c.wrap(c.T("connect.own-not"), 2))
	}
	c.verify(ctx, plan)
	return ctx.Err()
}

// verify starts what the client's list says now.
func (c *connecting) verify(ctx context.Context, plan *clients.Plan) {
	found := clients.Found{Client: plan.Client, Scope: plan.Scope, Name: plan.Name, Path: plan.Path}
	data, err := ledger.Peek(plan.Path)
	if err == nil {
		var there bool
		if found.Entry, there, err = plan.Client.Lookup(data, plan.Name); err == nil && !there {
			err = ledger.ErrChanged
		}
	}
	found.Err = err
	state := reach(ctx, found, "")
	role := theme.Good
	if !state.works() {
		role, c.failed = theme.Bad, true
	}
	c.Println("  " + c.Theme().Paint(role, c.wrap(state.state(c.Printer), 2)))
}

// shellLine writes a command for a person to read.
func shellLine(argv []string) string {
	words := []string{filepath.Base(argv[0])}
	for _, w := range argv[1:] {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`{}()<>|&;*?#~") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		words = append(words, w)
	}
	return strings.Join(words, " ")
}

// list says where we are registered and whether that works.
func (o *connectOptions) list(ctx context.Context, s settings.Settings) error {
	all, err := o.contacts(ctx, s)
	if err != nil {
		return err
	}
	if o.Client != "" {
		all = slices.DeleteFunc(all, func(c contact) bool { return c.Client.ID != o.Client })
	}
	broken := slices.ContainsFunc(all, func(c contact) bool { return !c.works() && !c.Untried })
	if o.JSON {
		views := []contactJSON{}
		for _, c := range all {
			views = append(views, c.view())
		}
		if err := printJSON(o.App, views); err != nil {
			return err
		}
	} else {
		for _, c := range all {
			o.heading(c.Client, c.Scope, c.Path)
			role := theme.Good
			switch {
			case c.Untried:
				role = theme.Attention
			case !c.works():
				role = theme.Bad
			}
			text := c.state(o.Printer)
			if c.Name != "" {
				text = c.Name + ": " + text
			}
			o.Println("  " + o.Theme().Paint(role, o.wrap(text, 2)))
		}
		if len(all) == 0 {
			o.Println(o.wrap(o.T("connect.nowhere", locales.Vars{"Command": o.typed(commandLine("connect"))}), 0))
		}
	}
	if broken {
		return quiet(exitFailed)
	}
	return nil
}

type disconnectOptions struct {
	*App
	Client   string
	Advocate bool
	Scope    string
	Yes      bool
}

// newDisconnect makes "qa-orch disconnect".
func newDisconnect(a *App) *cobra.Command {
	o := &disconnectOptions{App: a}
	ids := clientIDs()
	cmd := &cobra.Command{
		Use:       "disconnect",
		GroupID:   groupSetup,
		Args:      exactArgs(1, locales.M("help.disconnect.args")),
		ValidArgs: ids,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := word(cmd, args, ids, &o.Client); err != nil {
				return err
			}
			return runDisconnect(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Advocate, "advocate", false, "")
	cmd.Flags().Var(oneOf(&o.Scope, string(clients.User), string(clients.Project)), "scope", "")
	cmd.Flags().BoolVar(&o.Yes, "yes", false, "")
	return cmd
}

func runDisconnect(ctx context.Context, o *disconnectOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	client, name := clients.Find(o.Client), clients.ReviewName
	if o.Advocate {
		name = clients.AdvocateName
	}
	registry := o.registry(s)
	ask := asker{App: o.App}
	found := false
	for _, scope := range client.Scopes() {
		if o.Scope != "" && o.Scope != string(scope) {
			continue
		}
		path := client.Path(registry.System, scope)
		refused := func(err error) error {
			return failed(locales.M("connect.refused", locales.Vars{"Path": path, "Problem": explain.Edit(o.Printer, err)}), err)
		}
		there, err := registry.Has(client, scope, name)
		if err != nil {
			return refused(err)
		}
		if !there {
			if err := registry.Settle(ctx, client, scope); err != nil {
				return refused(err)
			}
			continue
		}
		found = true
		if !o.Yes && (!o.InTTY || !o.OutTTY) {
			return misused(locales.M("connect.needs-yes"), program+" disconnect")
		}
		o.heading(client, scope, path)
		if !o.Yes && !ask.yes(o.T("connect.ask-out", locales.Vars{"Name": name})) {
			o.Println("  " + o.T("connect.skipped"))
			continue
		}
		res, err := registry.Disconnect(ctx, client, scope, name)
		if err != nil {
			return refused(err)
		}
		text := o.T("connect.out")
		if res.Exact {
			text = o.T("connect.out-exact")
		}
		o.Println("  " + o.Theme().Paint(theme.Good, o.wrap(text, 2)))
		switch {
		case res.Back:
			o.Println("  " + o.wrap(o.T("connect.out-back", locales.Vars{"Name": name}), 2))
		case res.Lost:
			o.Println("  " + o.Theme().Paint(theme.Bad, o.wrap(o.T("connect.out-lost", locales.Vars{"Name": name, "Path": res.Backup}), 2)))
		}
	}
	if !found {
		o.Println(o.wrap(o.T("connect.not-there", locales.Vars{"Name": name, "Client": client.Name}), 0))
	}
	return nil
}
