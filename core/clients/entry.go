package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/qa-orch/qa-orch/core/clients/edit"
)

// The names under which our servers are registered.
const (
	ReviewName   = "qa-orch"
	AdvocateName = "qa-orch-advocate"
)

// Entry is what a client must know to start a server.
type Entry struct {
	Command string // absolute path
	Args    []string
	Env     []Variable
}

// Variable is a variable of the environment.
type Variable struct{ Name, Value string }

// gooseTimeout is how many seconds Goose waits for an answer, its own default.
const gooseTimeout = 300

// Object returns the entry in the client's form.
func (c *Client) Object(scope Scope, name string, e Entry) edit.Object {
	env := edit.Object{}
	for _, v := range e.Env {
		env = append(env, edit.Member{Key: v.Name, Value: v.Value})
	}
	args := append([]string{}, e.Args...)
	var o edit.Object
	add := func(key string, value any) { o = append(o, edit.Member{Key: key, Value: value}) }
	switch c.shape {
	case opencode:
		add("type", "local")
		add("command", append([]string{e.Command}, args...))
		if len(env) > 0 {
			add("environment", env)
		}
		add("enabled", true)
		return o
	case goose:
		add("enabled", true)
		add("type", "stdio")
		add("name", name)
		add("cmd", e.Command)
		add("args", args)
		add("envs", env)
		add("timeout", gooseTimeout)
		return o
	case typed:
		add("type", "stdio")
	case copilot:
		// A project's file is read by other clients too; all know "stdio".
		kind := "local"
		if scope == Project {
			kind = "stdio"
		}
		add("type", kind)
	}
	add("command", e.Command)
	add("args", args)
	if len(env) > 0 {
		add("env", env)
	}
	if c.shape == copilot {
		add("tools", []string{"*"})
	}
	return o
}

// Read returns the entry that an object of the client's form stands for.
func (c *Client) Read(o edit.Object) Entry {
	text := func(key string) string {
		v, _ := o.Lookup(key)
		s, _ := v.(string)
		return s
	}
	list := func(key string) []string {
		v, _ := o.Lookup(key)
		l, _ := v.([]string)
		return l
	}
	var e Entry
	env := "env"
	switch c.shape {
	case opencode:
		env = "environment"
		if argv := list("command"); len(argv) > 0 {
			e.Command, e.Args = argv[0], argv[1:]
		}
	case goose:
		env = "envs"
		e.Command, e.Args = text("cmd"), list("args")
	default:
		e.Command, e.Args = text("command"), list("args")
	}
	v, _ := o.Lookup(env)
	members, _ := v.(edit.Object)
	for _, m := range members {
		if s, ok := m.Value.(string); ok {
			e.Env = append(e.Env, Variable{m.Key, s})
		}
	}
	return e
}

// Same reports whether two entries start the same server the same way.
func (e Entry) Same(other Entry) bool {
	env := func(e Entry) map[string]string {
		out := map[string]string{}
		for _, v := range e.Env {
			out[v.Name] = v.Value
		}
		return out
	}
	return e.Command == other.Command && strings.Join(e.Args, "\x00") == strings.Join(other.Args, "\x00") &&
		reflect.DeepEqual(env(e), env(other))
}

// mark tells an entry of ours from one that somebody else put in its place: by
// what is started. Variables and other settings may be added by anybody.
func (e Entry) mark() string {
	sum := sha256.Sum256([]byte(e.Command + "\x00" + strings.Join(e.Args, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Lookup returns our entry in the bytes of the client's list.
func (c *Client) Lookup(data []byte, name string) (e Entry, found bool, err error) {
	o, found, err := c.Format.Get(data, c.Entry(name))
	if err != nil || !found {
		return Entry{}, false, err
	}
	return c.Read(o), true, nil
}

// generic is the form that most clients take.
var generic = &Client{Format: edit.JSON, container: "mcpServers"}

// Paste returns an entry to be pasted by hand: as JSON and as TOML.
func Paste(name string, e Entry) (asJSON, asTOML string) {
	j, _ := edit.JSON.Set(nil, generic.Entry(name), generic.Object(User, name, e))
	codex := Find("codex")
	t, _ := edit.TOML.Set(nil, codex.Entry(name), codex.Object(User, name, e))
	return string(j), string(t)
}

// vscodeDefinition is the argument of code --add-mcp.
func vscodeDefinition(name string, e Entry) string {
	env := map[string]string{}
	for _, v := range e.Env {
		env[v.Name] = v.Value
	}
	data, _ := json.Marshal(struct {
		Name    string            `json:"name"`
		Type    string            `json:"type"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env,omitempty"`
	}{name, "stdio", e.Command, e.Args, env})
	return string(data)
}
