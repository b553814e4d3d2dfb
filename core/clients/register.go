package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/qa-orch/qa-orch/core/clients/ledger"
)

// Plan is what registering a server would change.
type Plan struct {
	Client *Client
	Scope  Scope
	Name   string
	Entry  Entry
	Path   string
	Before []byte // nil if there is no file
	After  []byte
	// Own is the client's own command that makes the entry; nil if the file is
	// edited.
	Own []string
}

// Changes reports whether anything would change.
func (p *Plan) Changes() bool { return !bytes.Equal(p.Before, p.After) }

// Registry registers servers with clients.
type Registry struct {
	System System
	Ledger ledger.Ledger
	// Run runs a client's own command and returns its error; nil means that such
	// commands are not used.
	Run func(ctx context.Context, argv []string) error
}

// tries bounds how often a change is made anew because the client wrote its file
// at the same moment.
const tries = 5

// Plan returns what Connect would do.
func (r Registry) Plan(c *Client, scope Scope, name string, e Entry) (*Plan, error) {
	p := &Plan{Client: c, Scope: scope, Name: name, Entry: e, Path: c.Path(r.System, scope)}
	var err error
	if p.Before, err = ledger.Peek(p.Path); err != nil {
		return nil, err
	}
	if p.After, err = c.Format.Set(p.Before, c.Entry(name), c.Object(scope, name, e)); err != nil {
		return nil, err
	}
	if r.Run != nil && p.Changes() {
		p.Own = c.OwnCommand(r.System, scope, name, e)
	}
	return p, nil
}

// Result is what came of a change.
type Result struct {
	Changed bool
	Backup  string // where the file as it was before is kept, empty if it did not exist
	Own     bool   // the client's own command made the entry
	Exact   bool   // of Disconnect: the file is as it was before, to the byte
}

// Connect registers a server. Where the client's own command is used, its work
// is checked: if the entry is not what was asked for, or comments of the file are
// gone, the file is edited instead.
func (r Registry) Connect(ctx context.Context, p *Plan) (res Result, err error) {
	for range tries {
		if res, err = r.connect(ctx, p); !errors.Is(err, ledger.ErrChanged) {
			return res, err
		}
	}
	return res, err
}

func (r Registry) connect(ctx context.Context, p *Plan) (res Result, err error) {
	f, err := r.Ledger.Open(ctx, p.Path)
	if err != nil {
		return res, err
	}
	defer f.Close()
	c := p.Client
	before := f.Data
	planned, err := c.Format.Set(before, c.Entry(p.Name), c.Object(p.Scope, p.Name, p.Entry))
	if err != nil {
		return res, err
	}
	if f.Existed && bytes.Equal(planned, before) {
		return res, nil
	}
	pristine, table, err := c.state(before)
	if err != nil {
		return res, err
	}
	if res.Backup, err = f.Prepare(pristine, table); err != nil {
		return res, err
	}
	res.Changed = true
	mode := fs.FileMode(0o600)
	if p.Scope == Project {
		mode = 0o644
	}
	if r.Run != nil && len(p.Own) > 0 && r.Run(ctx, p.Own) == nil {
		if err := f.Refresh(); err != nil {
			return res, err
		}
		if c.accept(before, f.Data, planned, p) {
			res.Own = true
			return res, f.Put(f.Data, mode)
		}
		if c.Format == "json" && !commented(before) {
			// The client's own notes in the file are kept; only the entry is set.
			if again, err := c.Format.Set(f.Data, c.Entry(p.Name), c.Object(p.Scope, p.Name, p.Entry)); err == nil {
				planned = again
			}
		}
	} else if err := f.Refresh(); err != nil {
		return res, err
	}
	return res, f.Put(planned, mode)
}

// accept reports whether a client's own command did what was asked for and
// nothing that the person would miss.
func (c *Client) accept(before, after, planned []byte, p *Plan) bool {
	if bytes.Equal(after, planned) {
		return true
	}
	got, found, err := c.Lookup(after, p.Name)
	if err != nil || !found || !got.Same(p.Entry) {
		return false
	}
	if len(bytes.TrimSpace(before)) == 0 {
		return true // there was nothing to lose
	}
	// Without comments and trailing commas, a client that writes its file anew
	// loses nothing.
	return c.Format == "json" && !commented(before)
}

// commented reports whether text is more than plain JSON.
func commented(text []byte) bool { return !json.Valid(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))) }

// state reports whether a list of servers has nothing of ours, and whether it
// has no table for servers yet.
func (c *Client) state(data []byte) (pristine, table bool, err error) {
	for _, name := range []string{ReviewName, AdvocateName} {
		_, found, err := c.Lookup(data, name)
		if err != nil {
			return false, false, err
		}
		if found {
			return false, false, nil
		}
	}
	table, err = c.Format.HasTable(data, c.container)
	return true, !table, err
}

// Disconnect takes a server out of a client's list.
func (r Registry) Disconnect(ctx context.Context, c *Client, scope Scope, name string) (res Result, err error) {
	for range tries {
		if res, err = r.disconnect(ctx, c, scope, name); !errors.Is(err, ledger.ErrChanged) {
			return res, err
		}
	}
	return res, err
}

func (r Registry) disconnect(ctx context.Context, c *Client, scope Scope, name string) (res Result, err error) {
	path := c.Path(r.System, scope)
	f, err := r.Ledger.Open(ctx, path)
	if err != nil {
		return res, err
	}
	defer f.Close()
	_, found, err := c.Lookup(f.Data, name)
	if err != nil || !found {
		return res, err
	}
	after, err := c.Format.Remove(f.Data, c.Entry(name), f.TableIsOurs())
	if err != nil {
		return res, err
	}
	last := true
	for _, n := range []string{ReviewName, AdvocateName} {
		if _, found, err := c.Lookup(after, n); err != nil {
			return res, err
		} else if found {
			last = false
		}
	}
	res.Changed = true
	blank := bytes.TrimSpace(bytes.TrimPrefix(after, []byte("\xef\xbb\xbf")))
	empty := len(blank) == 0 || string(blank) == "{}"
	res.Exact, err = f.Undo(after, last, empty)
	return res, err
}

// Settle ends a Disconnect that was cut short when nothing of ours was in the
// list any more, if there was one.
func (r Registry) Settle(ctx context.Context, c *Client, scope Scope) error {
	return r.Ledger.Settle(ctx, c.Path(r.System, scope), func(data []byte) (bool, error) {
		pristine, _, err := c.state(data)
		return pristine, err
	})
}

// Found is a registration that was found.
type Found struct {
	Client *Client
	Scope  Scope
	Name   string
	Path   string
	Entry  Entry
	Err    error // why the list could not be read; Entry is empty then
}

// Find returns where our servers are registered, and the lists that can't be
// read.
func (r Registry) Find() []Found {
	var out []Found
	seen := map[string]bool{}
	for _, c := range All() {
		for _, scope := range c.Scopes() {
			path := c.Path(r.System, scope)
			if seen[path] { // two clients share a project's file
				continue
			}
			seen[path] = true
			data, err := ledger.Peek(path)
			if err != nil {
				out = append(out, Found{Client: c, Scope: scope, Path: path, Err: err})
				continue
			}
			if data == nil {
				continue
			}
			for _, name := range []string{ReviewName, AdvocateName} {
				e, found, err := c.Lookup(data, name)
				if err != nil {
					out = append(out, Found{Client: c, Scope: scope, Path: path, Err: err})
					break
				}
				if found {
					out = append(out, Found{Client: c, Scope: scope, Name: name, Path: path, Entry: e})
				}
			}
		}
	}
	return out
}

// Has reports whether a server is in a client's list.
func (r Registry) Has(c *Client, scope Scope, name string) (bool, error) {
	data, err := ledger.Peek(c.Path(r.System, scope))
	if err != nil || data == nil {
		return false, err
	}
	_, found, err := c.Lookup(data, name)
	return found, err
}
