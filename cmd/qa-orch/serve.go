package main

import (
	"context"
	"fmt"
	"os/signal"
	"sync"
	"syscall"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"github.com/spf13/cobra"

	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/explain"
	"github.com/qa-orch/qa-orch/server/review"
	"github.com/qa-orch/qa-orch/server/stdio"
)

type serveOptions struct {
	*App
	Tools    string
	Store    string
	StoreSet bool // --store was given, be it empty
}

// closeLimit bounds how long a server whose client is gone waits for its files:
// with the transport's own limit it is gone within two seconds.
const closeLimit = 300 * time.Millisecond

// newServe makes "qa-orch serve".
func newServe(a *App) *cobra.Command {
	o := &serveOptions{App: a}
	return newServeWith(o, runServe)
}

func newServeWith(o *serveOptions, run func(context.Context, *serveOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "serve",
		GroupID: groupServe,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.StoreSet = cmd.Flags().Changed("store")
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().Var(oneOf(&o.Tools, string(settings.CoreTools), string(settings.ExtendedTools)), "tools", "")
	cmd.Flags().StringVar(&o.Store, "store", "", "")
	return cmd
}

// runServe serves the QA orchestrator until the client is gone or a signal comes.
func runServe(ctx context.Context, o *serveOptions) error {
	s, err := o.settings()
	if err != nil {
		return err
	}
	if o.Tools != "" {
		s.Tools = settings.Tools(o.Tools)
	}
	if o.StoreSet {
		s.StorePath = ""
		if o.Store != "" {
			s.StorePath = settings.Path(o.Store, o.Getenv)
		}
	}
	w := &warnings{App: o.App}
	source := policy.NewSource(s.PolicyPath, s.ModelsPath, func(err error) { w.policy(s, err) })
	var sessions store.Store = store.NewMemory()
	warmUp := func() { _, _, _ = source.Current() }
	if s.StorePath != "" {
		db := sqlite.New(s.StorePath, func(error) { w.badRows(s) })
		sessions = db
		warmUp = func() {
			_, _, _ = source.Current()
			if err := db.Open(ctx); err != nil {
				w.store(s, err)
			}
		}
	}
	var warming sync.WaitGroup
	server, err := review.New(orchestrator.New(sessions, source, orchestrator.Limits{TTL: s.TTL, MaxSessions: s.MaxSessions}), review.Options{
		Tools:   s.Tools,
		Version: thisBuild().Version,
		// What is wrong with the files is said once the client is connected, so
		// that looking at them delays no start.
		Connected: sync.OnceFunc(func() { warming.Go(warmUp) }),
	})
	if err != nil {
		return err
	}
	w.log = server.Warn
	return o.serveMCP(ctx, server.MCP, func() {
		warming.Wait() // a short connection gets its warnings too
		_ = sessions.Close()
	})
}

// serveMCP gives standard input and output to an MCP server until its client is
// gone or a signal comes. Then it calls finish, if that is not nil, and waits
// for it no longer than closeLimit: what is acknowledged is durable without it.
func (a *App) serveMCP(ctx context.Context, s *mcpserver.MCPServer, finish func()) error {
	if a.InTTY { // a person started it by hand: it would look hung
		_, _ = fmt.Fprintln(a.Err, a.T("serve.waiting", locales.Vars{"Command": program + " connect"}))
	}
	in, out, err := stdio.Claim()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err = stdio.Serve(ctx, s, in, out)
	if finish == nil {
		return err
	}
	finished := make(chan struct{})
	go func() {
		finish()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(closeLimit):
	}
	return err
}

// settings reads the environment; what is wrong with it is a usage error.
func (a *App) settings() (settings.Settings, error) {
	s, problems := settings.Read(a.Getenv)
	if len(problems) == 0 {
		return s, nil
	}
	for _, p := range problems[1:] {
		a.complain(locales.M("error.environment", locales.Vars{"Problem": explain.Setting(a.Printer, p)}))
	}
	return s, misused(locales.M("error.environment", locales.Vars{"Problem": explain.Setting(a.Printer, problems[0])}), "")
}

// warnings tells people on stderr, in their language, and the client in its
// log, in English, what a running server can't use.
type warnings struct {
	*App
	log func(text string)
	mu  sync.Mutex
}

func (w *warnings) say(message func(p *locales.Printer) locales.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complain(message(w.Printer))
	if w.log != nil {
		en := locales.New(locales.En)
		w.log(message(en).In(en))
	}
}

func (w *warnings) policy(s settings.Settings, err error) {
	w.say(func(p *locales.Printer) locales.Message {
		if isModelsProblem(err) {
			return locales.M("serve.models", locales.Vars{"Path": s.ModelsPath, "Problem": explain.Models(p, err)})
		}
		return locales.M("serve.policy", locales.Vars{"Path": s.PolicyPath, "Problem": explain.Problems(p, err)})
	})
}

func (w *warnings) store(s settings.Settings, err error) {
	w.say(func(p *locales.Printer) locales.Message {
		problem, remedy := explain.Store(p, err)
		return locales.M("serve.store", locales.Vars{"Path": s.StorePath, "Problem": problem, "Remedy": remedy})
	})
}

func (w *warnings) badRows(s settings.Settings) {
	w.say(func(*locales.Printer) locales.Message {
		return locales.M("serve.bad-rows", locales.Vars{"Path": s.StorePath})
	})
}
