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
	Back    bool   // of Disconnect: the entry of that name from before Connect is there again
	Lost    bool   // of Disconnect: it could not be put back; Backup has it
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
	if !f.Untouched() {
		original, ours, err := c.without(f)
		if err != nil {
			return res, err
		}
		if err := c.keep(f, original, ours); err != nil {
			return res, err
		}
	}
	res.Backup, res.Changed = f.Claim(p.Name, p.Entry.mark()), true
	mode := fs.FileMode(0o600)
	if p.Scope == Project {
		mode = 0o644
	}
	own := r.Run != nil && len(p.Own) > 0
	if own {
		if err := f.Announce(); err != nil {
			return res, err
		}
	}
	if own && r.Run(ctx, p.Own) == nil {
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

// without returns the list as it is without anything of ours, with what our
// entries replaced in their places, and the names of ours that were in it. An
// entry that somebody else has put in place of ours is not ours. nil stands for
// no file.
func (c *Client) without(f *ledger.File) (data []byte, ours []string, err error) {
	if original, ok := f.Original(); ok && f.Untouched() {
		return original, f.Ours(), nil
	}
	data = f.Data
	for _, name := range f.Ours() {
		e, found, err := c.Lookup(data, name)
		if err != nil {
			return nil, nil, err
		}
		if mark, _ := f.Holds(name); !found || e.mark() != mark {
			continue
		}
		rest, lost, err := c.undo(f, data, name)
		if lost != nil {
			err = lost // rather than forget what was there
		}
		if err != nil {
			return nil, nil, err
		}
		data, ours = rest, append(ours, name)
	}
	if len(ours) > 0 && f.Made() && blank(data) {
		data = nil
	}
	return data, ours, nil
}

// keep notes what the list is without anything of ours.
func (c *Client) keep(f *ledger.File, original []byte, ours []string) error {
	table, err := c.Format.HasTable(original, c.container)
	if err != nil {
		return err
	}
	return f.Keep(original, !table, ours)
}

// undo returns the list without an entry of ours: with the one of before in its
// place, if there was one. lost says why that one could not be put back.
func (c *Client) undo(f *ledger.File, data []byte, name string) (after []byte, lost, err error) {
	_, held := f.Holds(name)
	if original, ok := f.Original(); ok && held {
		if _, had, err := c.Lookup(original, name); err == nil && had {
			if after, lost = c.Format.Restore(data, original, c.Entry(name)); lost == nil {
				return after, nil, nil
			}
		}
	}
	after, err = c.Format.Remove(data, c.Entry(name), held && f.TableIsOurs())
	if after == nil {
		after = []byte{} // an empty file, not none
	}
	return after, lost, err
}

// blank reports whether a list says nothing at all.
func blank(data []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	return len(text) == 0 || string(text) == "{}"
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
	res.Changed = true
	if _, held := f.Holds(name); !held && len(f.Ours()) > 0 {
		return res, c.takeOut(f, name)
	}
	after, lost, err := c.undo(f, f.Data, name)
	if err != nil {
		return res, err
	}
	rest := ledger.Rest{Data: after, Last: true, Empty: blank(after), Lost: lost != nil}
	for _, n := range f.Ours() {
		if n == name {
			continue
		}
		if _, found, err := c.Lookup(after, n); err != nil {
			return res, err
		} else if found {
			rest.Last = false
		}
	}
	if res.Exact, res.Backup, err = f.Undo(name, rest); err != nil {
		return res, err
	}
	_, res.Back, err = c.Lookup(f.Data, name)
	res.Lost = res.Backup != ""
	return res, err
}

// takeOut removes an entry that a person wrote from a list with something else of
// ours in it, and from what becomes of the list without that.
func (c *Client) takeOut(f *ledger.File, name string) error {
	after, err := c.Format.Remove(f.Data, c.Entry(name), false)
	if err != nil {
		return err
	}
	original, ours, err := c.without(f)
	if err != nil {
		return err
	}
	if original != nil {
		if original, err = c.Format.Remove(original, c.Entry(name), false); err != nil {
			return err
		}
		if original == nil {
			original = []byte{}
		}
	}
	if err := c.keep(f, original, ours); err != nil {
		return err
	}
	return f.Put(after, 0o600)
}

// Settle ends a Disconnect that was cut short when nothing of ours was in the
// list any more, if there was one.
func (r Registry) Settle(ctx context.Context, c *Client, scope Scope) error {
	return r.Ledger.Settle(ctx, c.Path(r.System, scope), func(f *ledger.File) (bool, error) {
		for _, name := range f.Ours() {
			if _, found, err := c.Lookup(f.Data, name); err != nil || found {
				return false, err
			}
		}
		return true, nil
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
