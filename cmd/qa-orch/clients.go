package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/qa-orch/qa-orch/core/clients"
	"github.com/qa-orch/qa-orch/core/clients/ledger"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
)

// temporaryFolders are where no client may look for the program. A variable for
// tests, which live there.
var temporaryFolders = func() []string { return clients.TemporaryFolders(runtime.GOOS, os.Getenv) }

// commandPath returns the path by which clients are to start this program.
func commandPath() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, _ := os.Getwd()
	return clients.Started{
		Executable: path, Arg0: os.Args[0], Dir: dir, LookPath: exec.LookPath, Temporary: temporaryFolders(),
	}.StablePath()
}

// ownLimit bounds how long a client's own command may take.
const ownLimit = 30 * time.Second

// registry returns the clients of this computer.
func (a *App) registry(s settings.Settings) clients.Registry {
	dir, _ := os.Getwd()
	return clients.Registry{
		System: clients.System{
			OS: runtime.GOOS, Home: settings.Path("~", a.Getenv), Dir: dir, Getenv: a.Getenv, LookPath: exec.LookPath,
		},
		Ledger: ledger.Ledger{Dir: filepath.Join(s.DataDir, "connections")},
		Run: func(ctx context.Context, argv []string) error {
			ctx, cancel := context.WithTimeout(ctx, ownLimit)
			defer cancel()
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) // #nosec G204 -- a client's own command, shown to the person first; no shell
			cmd.WaitDelay = time.Second
			return cmd.Run() // without input, so that it can't ask
		},
	}
}

// entry returns how clients are to start a server: with the settings of the
// environment that is now, which a client may not pass on.
func (a *App) entry(s settings.Settings, command string, advocate, store bool) (clients.Entry, error) {
	e := clients.Entry{Command: command, Args: []string{"serve"}}
	add := func(name, value string) { e.Env = append(e.Env, clients.Variable{Name: name, Value: value}) }
	if advocate {
		e.Args = []string{"advocate", "serve"}
		dir, problem := settings.AdvocateDir("", a.Getenv)
		if problem != nil {
			return e, misused(locales.M("error.environment", locales.Vars{"Problem": explain.Setting(a.Printer, problem)}), "")
		}
		add(settings.AdvocateDirVar, dir)
		return e, nil
	}
	add(settings.DataDirVar, s.DataDir)
	if store {
		path := s.StorePath
		if path == "" {
			path = s.DefaultStorePath()
		}
		add(settings.StorePathVar, path)
	}
	if a.Getenv(settings.PolicyPathVar) != "" {
		add(settings.PolicyPathVar, s.PolicyPath)
	}
	for _, name := range []string{settings.TTLVar, settings.MaxSessionsVar, settings.ToolsVar} {
		if value := a.Getenv(name); value != "" {
			add(name, value)
		}
	}
	return e, nil
}

// contact is what came of starting what a client starts.
type contact struct {
	clients.Found
	Alive   bool // the path leads to a program
	Server  string
	Version string
	Tools   []string
	Err     error // why it did not answer
	Untried bool  // it was not started: who wrote the entry is not known
}

// works reports whether the client's server starts and answers.
func (c contact) works() bool { return c.Found.Err == nil && c.Alive && c.Err == nil && !c.Untried }

// ours reports whether an entry starts this program in a way that connect
// writes. A project's file may come with the project, from anybody; whatever else
// stands there is not started because somebody looks at it.
func ours(e clients.Entry) bool {
	self, err := os.Executable()
	if err != nil || !filepath.IsAbs(e.Command) {
		return false
	}
	a, err := os.Stat(self)
	if err != nil {
		return false
	}
	b, err := os.Stat(e.Command)
	if err != nil || !os.SameFile(a, b) {
		return false
	}
	if !slices.Equal(e.Args, []string{"serve"}) && !slices.Equal(e.Args, []string{"advocate", "serve"}) {
		return false
	}
	return !slices.ContainsFunc(e.Env, func(v clients.Variable) bool {
		return len(withoutOurs([]string{v.Name + "="})) > 0
	})
}

// contactLimit bounds how long a server may take to list its tools; a healthy
// one takes some 30 ms.
const contactLimit = 10 * time.Second

// longestVersion is how much is shown of what a server says is its version.
const longestVersion = 64

// reach starts the command of a registration as a client does, without the
// variables of ours that are set here, and lists the tools. With a folder, the
// server keeps its files there and not where the registration says.
func reach(ctx context.Context, found clients.Found, folder string) contact {
	c := contact{Found: found}
	if found.Err != nil {
		return c
	}
	info, err := os.Stat(found.Entry.Command)
	switch {
	case found.Entry.Command == "":
		c.Err = fs.ErrNotExist
		return c
	case filepath.Base(found.Entry.Command) == found.Entry.Command: // found on the client's PATH
		_, err = exec.LookPath(found.Entry.Command)
	case err == nil && (info.IsDir() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0):
		err = fs.ErrPermission
	}
	if err != nil {
		c.Err = err
		return c
	}
	c.Alive = true
	env := withoutOurs(os.Environ())
	for _, v := range found.Entry.Env {
		env = append(env, v.Name+"="+v.Value)
	}
	if folder != "" {
		env = append(env, settings.DataDirVar+"="+folder, settings.AdvocateDirVar+"="+folder, settings.StorePathVar+"=", settings.PolicyPathVar+"=")
	}
	ctx, cancel := context.WithTimeout(ctx, contactLimit)
	defer cancel()
	server, hello, err := startChild(ctx, found.Entry.Command, found.Entry.Args, env, "qa-orch-connect", nil)
	if err != nil {
		c.Err = err
		return c
	}
	defer server.stop()
	c.Server, c.Version = hello.ServerInfo.Name, locales.Shorten(hello.ServerInfo.Version, longestVersion)
	list, err := server.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		c.Err = err
		return c
	}
	for _, tool := range list.Tools {
		c.Tools = append(c.Tools, tool.Name)
	}
	if len(c.Tools) == 0 {
		c.Err = errors.ErrUnsupported
	}
	return c
}

// contacts tries every registration with every client. It changes nothing of the
// person's.
func (a *App) contacts(ctx context.Context, s settings.Settings) ([]contact, error) {
	found := a.registry(s).Find()
	if len(found) == 0 {
		return nil, nil
	}
	folder, err := os.MkdirTemp("", "qa-orch-contact-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	var out []contact
	for _, f := range found {
		if f.Err == nil && f.Scope == clients.Project && !ours(f.Entry) {
			out = append(out, contact{Found: f, Untried: true})
			continue
		}
		out = append(out, reach(ctx, f, folder))
	}
	return out, ctx.Err()
}

// contactJSON is a contact for programs.
type contactJSON struct {
	Client    string        `json:"client"`
	Scope     clients.Scope `json:"scope"`
	Server    string        `json:"server,omitempty"`
	File      string        `json:"file"`
	Command   string        `json:"command,omitempty"`
	Tried     bool          `json:"tried"`
	PathAlive bool          `json:"path_alive"`
	Answers   bool          `json:"answers"`
	Version   string        `json:"version,omitempty"`
	Tools     int           `json:"tools"`
	Problem   string        `json:"problem,omitempty"`
}

func (c contact) view() contactJSON {
	v := contactJSON{
		Client: c.Client.ID, Scope: c.Scope, Server: c.Name, File: c.Path, Command: c.Entry.Command,
		Tried: c.Found.Err == nil && !c.Untried, PathAlive: c.Alive, Answers: c.works(), Version: c.Version, Tools: len(c.Tools),
	}
	if !c.works() {
		v.Problem = c.problem(locales.New(locales.En))
	}
	return v
}

// problem says why a client's server does not work.
func (c contact) problem(p *locales.Printer) string {
	switch {
	case c.Found.Err != nil:
		return explain.Edit(p, c.Found.Err)
	case c.Untried:
		return p.T("connect.untried", locales.Vars{"Command": c.Entry.Command})
	case !c.Alive:
		return p.T("connect.dead-path", locales.Vars{"Path": c.Entry.Command, "Cause": p.Cause(c.Err)})
	case errors.Is(c.Err, context.DeadlineExceeded):
		return p.T("connect.silent")
	case errors.Is(c.Err, errors.ErrUnsupported):
		return p.T("connect.no-tools")
	case c.Err != nil:
		if cause := p.KnownCause(c.Err); cause != "" {
			return p.T("connect.no-answer", locales.Vars{"Cause": cause})
		}
		// The rest is what that program said, which may be anything, secrets of its environment included.
		return p.T("connect.no-server")
	}
	return ""
}

// state says how a client's server does.
func (c contact) state(p *locales.Printer) string {
	if !c.works() {
		return c.problem(p)
	}
	return p.N("connect.answers", len(c.Tools), locales.Vars{"Version": c.Version})
}
