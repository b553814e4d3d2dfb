// Package clients knows the programs that can use our servers: where each keeps
// its list of servers, in which form, how it is told of one, and where it takes
// instructions from.
package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/qa-orch/qa-orch/core/clients/edit"
)

// Scope says for whom a client is told of a server.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // for everything that the person does
	Project Scope = "project" // for the current folder
)

// System is the computer that clients run on. Tests make one of their own.
type System struct {
	OS       string // as runtime.GOOS
	Home     string
	Dir      string // the project's folder
	Getenv   func(string) string
	LookPath func(name string) (string, error)
}

// join joins path elements the way of the system.
func (s System) join(elems ...string) string {
	sep := "/"
	if s.OS == "windows" {
		sep = `\`
		for i := range elems {
			elems[i] = strings.ReplaceAll(elems[i], "/", sep)
		}
	}
	return strings.Join(elems, sep)
}

// home returns a path below the home folder.
func (s System) home(path string) string { return s.join(s.Home, path) }

// env returns the folder that a variable names, else a path below the home folder.
func (s System) env(variable, fallback string) string {
	if v := s.Getenv(variable); v != "" {
		return v
	}
	return s.home(fallback)
}

// config returns a path in the folder where programs keep their settings.
func (s System) config(path string) string { return s.join(s.env("XDG_CONFIG_HOME", ".config"), path) }

// appData returns a path in the folder of settings on Windows.
func (s System) appData(path string) string {
	return s.join(s.env("APPDATA", "AppData/Roaming"), path)
}

// perOS returns the path for the system in hand.
func (s System) perOS(linux, mac, windows string) string {
	switch s.OS {
	case "darwin":
		return mac
	case "windows":
		return windows
	}
	return linux
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Client is a program that can use our servers.
type Client struct {
	ID   string // the word on the command line
	Name string // the product's name, the same in every language

	Format    edit.Format
	container string
	shape     shape

	// user and project return where the list of servers may be, the best place
	// first; nil where the client has none.
	user    func(System) []string
	project func(System) []string
	// programs are the names by which the client is started.
	programs []string
	// signs are what an installed client leaves behind; the user's list of
	// servers is one anyway.
	signs func(System) []string
	// own is the client's command that adds a server.
	own func(s Scope, e Entry, name string) []string

	// UserRules and ProjectRules are where instructions go.
	UserRules, ProjectRules *Rules
}

// Rules is a file that a client takes instructions from.
type Rules struct {
	path func(System) string
	// Front is what such a file begins with if it is all ours.
	Front string
}

// Path returns where the file is.
func (r *Rules) Path(s System) string { return r.path(s) }

// shape is how a client writes an entry.
type shape uint8

const (
	std      shape = iota // {command, args, env}
	typed                 // and type "stdio"
	copilot               // and type "local" (in a project's shared file "stdio"), tools ["*"]
	opencode              // {type: "local", command: [...], environment}
	goose                 // {type, name, enabled, cmd, args, envs, timeout}
)

func homeFile(path string) func(System) []string {
	return func(s System) []string { return []string{s.home(path)} }
}

func projectFile(paths ...string) func(System) []string {
	return func(s System) []string {
		var out []string
		for _, p := range paths {
			out = append(out, s.join(s.Dir, p))
		}
		return out
	}
}

func userRules(path func(System) string) *Rules { return &Rules{path: path} }

func projectRules(path, front string) *Rules {
	return &Rules{path: func(s System) string { return s.join(s.Dir, path) }, Front: front}
}

// tail is the command of an entry after the arguments that a client's own
// command takes.
func tail(e Entry, args ...string) []string {
	return append(append(args, e.Command), e.Args...)
}

// variables returns the environment of an entry as flags.
func variables(flag string, e Entry) []string {
	var out []string
	for _, v := range e.Env {
		out = append(out, flag, v.Name+"="+v.Value)
	}
	return out
}

var table = []*Client{
	{
		ID: "codex", Name: "Codex", Format: edit.TOML, container: "mcp_servers",
		user: func(s System) []string {
			return []string{s.join(s.env("CODEX_HOME", ".codex"), "config.toml")}
		},
		project:  projectFile(".codex/config.toml"),
		programs: []string{"codex"},
		signs:    func(s System) []string { return []string{s.env("CODEX_HOME", ".codex")} },
		own: func(s Scope, e Entry, name string) []string {
			if s != User {
				return nil
			}
			args := append([]string{"codex", "mcp", "add", name}, variables("--env", e)...)
			return append(append(args, "--"), tail(e)...)
		},
		UserRules:    userRules(func(s System) string { return s.join(s.env("CODEX_HOME", ".codex"), "AGENTS.md") }),
		ProjectRules: projectRules("AGENTS.md", ""),
	},
	{
		ID: "claude-code", Name: "Claude Code", Format: edit.JSON, container: "mcpServers", shape: typed,
		user: func(s System) []string {
			if dir := s.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
				return []string{s.join(dir, ".claude.json")}
			}
			return []string{s.home(".claude.json")}
		},
		project:  projectFile(".mcp.json"),
		programs: []string{"claude"},
		signs:    func(s System) []string { return []string{s.env("CLAUDE_CONFIG_DIR", ".claude")} },
		own: func(s Scope, e Entry, name string) []string {
			args := append([]string{"claude", "mcp", "add", "-s", string(s), name}, variables("-e", e)...)
			return append(append(args, "--"), tail(e)...)
		},
		UserRules:    userRules(func(s System) string { return s.join(s.env("CLAUDE_CONFIG_DIR", ".claude"), "CLAUDE.md") }),
		ProjectRules: projectRules("CLAUDE.md", ""),
	},
	{
		ID: "claude-desktop", Name: "Claude Desktop", Format: edit.JSON, container: "mcpServers",
		user: func(s System) []string {
			return []string{s.perOS(s.config("Claude/claude_desktop_config.json"),
				s.home("Library/Application Support/Claude/claude_desktop_config.json"),
				s.appData("Claude/claude_desktop_config.json"))}
		},
		signs: func(s System) []string {
			return []string{s.perOS(s.config("Claude"), s.home("Library/Application Support/Claude"), s.appData("Claude"))}
		},
	},
	{
		ID: "cursor", Name: "Cursor", Format: edit.JSON, container: "mcpServers",
		user: homeFile(".cursor/mcp.json"), project: projectFile(".cursor/mcp.json"),
		programs: []string{"cursor", "cursor-agent"},
		signs:    homeFile(".cursor"),
		ProjectRules: projectRules(".cursor/rules/qa-orch.mdc",
			"---\ndescription: QA reviews with the qa-orch tools; read before a review of code, requirements or tests\nalwaysApply: false\n---\n"),
	},
	{
		ID: "vscode", Name: "VS Code", Format: edit.JSON, container: "servers", shape: typed,
		user: func(s System) []string {
			return []string{s.perOS(s.config("Code/User/mcp.json"),
				s.home("Library/Application Support/Code/User/mcp.json"), s.appData("Code/User/mcp.json"))}
		},
		project:  projectFile(".vscode/mcp.json"),
		programs: []string{"code"},
		signs: func(s System) []string {
			return []string{s.perOS(s.config("Code/User"), s.home("Library/Application Support/Code/User"), s.appData("Code/User"))}
		},
		own: func(s Scope, e Entry, name string) []string {
			if s != User {
				return nil
			}
			return []string{"code", "--add-mcp", vscodeDefinition(name, e)}
		},
		ProjectRules: projectRules(".github/copilot-instructions.md", ""),
	},
	{
		ID: "gemini", Name: "Gemini CLI", Format: edit.JSON, container: "mcpServers",
		user: homeFile(".gemini/settings.json"), project: projectFile(".gemini/settings.json"),
		programs: []string{"gemini"},
		signs:    homeFile(".gemini"),
		own: func(s Scope, e Entry, name string) []string {
			args := append([]string{"gemini", "mcp", "add", "-s", string(s)}, variables("-e", e)...)
			return append(append(args, name, e.Command, "--"), e.Args...)
		},
		UserRules:    userRules(func(s System) string { return s.home(".gemini/GEMINI.md") }),
		ProjectRules: projectRules("GEMINI.md", ""),
	},
	{
		ID: "zed", Name: "Zed", Format: edit.JSON, container: "context_servers",
		user: func(s System) []string {
			return []string{s.perOS(s.config("zed/settings.json"), s.home(".config/zed/settings.json"), s.appData("Zed/settings.json"))}
		},
		programs: []string{"zed", "zeditor"},
		signs: func(s System) []string {
			return []string{s.perOS(s.config("zed"), s.home(".config/zed"), s.appData("Zed"))}
		},
		UserRules: userRules(func(s System) string {
			return s.perOS(s.config("zed/AGENTS.md"), s.home(".config/zed/AGENTS.md"), s.appData("Zed/AGENTS.md"))
		}),
		ProjectRules: projectRules("AGENTS.md", ""),
	},
	{
		ID: "windsurf", Name: "Windsurf", Format: edit.JSON, container: "mcpServers",
		user: func(s System) []string {
			return []string{s.home(".config/devin/mcp_config.json"), s.home(".codeium/windsurf/mcp_config.json")}
		},
		programs: []string{"devin", "windsurf"},
		signs: func(s System) []string {
			return []string{s.home(".config/devin"), s.home(".codeium/windsurf")}
		},
		ProjectRules: projectRules("AGENTS.md", ""),
	},
	{
		ID: "junie", Name: "JetBrains Junie", Format: edit.JSON, container: "mcpServers",
		user: homeFile(".junie/mcp/mcp.json"), project: projectFile(".junie/mcp/mcp.json"),
		programs:     []string{"junie"},
		signs:        homeFile(".junie"),
		ProjectRules: projectRules(".junie/AGENTS.md", ""),
	},
	{
		ID: "cline", Name: "Cline", Format: edit.JSON, container: "mcpServers",
		user:         homeFile(".cline/data/settings/cline_mcp_settings.json"),
		programs:     []string{"cline"},
		signs:        homeFile(".cline"),
		ProjectRules: projectRules(".clinerules/qa-orch.md", ""),
	},
	{
		ID: "opencode", Name: "opencode", Format: edit.JSON, container: "mcp", shape: opencode,
		user: func(s System) []string {
			return []string{s.config("opencode/opencode.jsonc"), s.config("opencode/opencode.json")}
		},
		project:  projectFile("opencode.json", "opencode.jsonc"),
		programs: []string{"opencode"},
		signs:    func(s System) []string { return []string{s.config("opencode")} },
		own: func(s Scope, e Entry, name string) []string {
			if s != User {
				return nil
			}
			args := append([]string{"opencode", "mcp", "add", name}, variables("--env", e)...)
			return append(append(args, "--"), tail(e)...)
		},
		UserRules:    userRules(func(s System) string { return s.config("opencode/AGENTS.md") }),
		ProjectRules: projectRules("AGENTS.md", ""),
	},
	{
		ID: "copilot", Name: "Copilot CLI", Format: edit.JSON, container: "mcpServers", shape: copilot,
		user: homeFile(".copilot/mcp-config.json"), project: projectFile(".mcp.json"),
		programs: []string{"copilot"},
		signs:    homeFile(".copilot"),
		own: func(s Scope, e Entry, name string) []string {
			if s != User {
				return nil
			}
			args := append([]string{"copilot", "mcp", "add", name}, variables("--env", e)...)
			return append(append(args, "--"), tail(e)...)
		},
		ProjectRules: projectRules(".github/copilot-instructions.md", ""),
	},
	{
		ID: "goose", Name: "Goose", Format: edit.YAML, container: "extensions", shape: goose,
		user: func(s System) []string {
			return []string{s.perOS(s.config("goose/config.yaml"), s.home(".config/goose/config.yaml"), s.appData("Block/goose/config/config.yaml"))}
		},
		programs: []string{"goose"},
		signs: func(s System) []string {
			return []string{s.perOS(s.config("goose"), s.home(".config/goose"), s.appData("Block/goose/config"))}
		},
		ProjectRules: projectRules("AGENTS.md", ""),
	},
	{
		ID: "amp", Name: "Amp", Format: edit.JSON, container: "amp.mcpServers",
		user: func(s System) []string {
			return []string{s.home(".config/amp/settings.json"), s.home(".config/amp/settings.jsonc")}
		},
		programs: []string{"amp"},
		signs:    homeFile(".config/amp"),
		own: func(s Scope, e Entry, name string) []string {
			args := append([]string{"amp", "mcp", "add", name}, variables("--env", e)...)
			return append(append(args, "--"), tail(e)...)
		},
		ProjectRules: projectRules("AGENTS.md", ""),
	},
	{
		ID: "lmstudio", Name: "LM Studio", Format: edit.JSON, container: "mcpServers",
		user:     homeFile(".lmstudio/mcp.json"),
		programs: []string{"lms"},
		signs:    homeFile(".lmstudio"),
	},
}

// All returns the clients in the order of the help.
func All() []*Client { return slices.Clone(table) }

// Find returns the client with the id, nil if there is none.
func Find(id string) *Client {
	for _, c := range table {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Scopes returns the scopes that the client has a list of servers for.
func (c *Client) Scopes() []Scope {
	if c.project == nil {
		return []Scope{User}
	}
	return []Scope{User, Project}
}

// Path returns the list of servers in a scope: the place that exists, else the
// one whose folder exists, else the first. Empty where the client has none.
func (c *Client) Path(s System, scope Scope) string {
	list := c.places(s, scope)
	if list == nil {
		return ""
	}
	for _, look := range []func(string) string{func(p string) string { return p }, filepath.Dir} {
		for _, p := range list {
			if exists(look(p)) {
				return p
			}
		}
	}
	return list[0]
}

// places returns where the list of servers may be, nil where the client has none.
func (c *Client) places(s System, scope Scope) []string {
	of := c.user
	if scope == Project {
		of = c.project
	}
	if of == nil {
		return nil
	}
	return of(s)
}

// Entry returns where in the list a server of ours stands.
func (c *Client) Entry(name string) edit.Path { return edit.Path{Container: c.container, Name: name} }

// Installed reports whether the client seems to be there: a program of it can be
// started, or it has left files.
func (c *Client) Installed(s System) bool {
	if c.program(s) != "" {
		return true
	}
	if exists(c.Path(s, User)) {
		return true
	}
	return c.signs != nil && slices.ContainsFunc(c.signs(s), exists)
}

// program returns the path of the client's program, empty if there is none.
func (c *Client) program(s System) string {
	for _, name := range c.programs {
		if path, err := s.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// OwnCommand returns the client's own command that adds an entry, its program
// first and as a full path; nil if the client has none or is not installed, and
// where the client has several lists, of which it might choose another one.
func (c *Client) OwnCommand(s System, scope Scope, name string, e Entry) []string {
	if c.own == nil {
		return nil
	}
	lists := 0
	for _, path := range c.places(s, scope) {
		if exists(path) {
			lists++
		}
	}
	if lists > 1 {
		return nil
	}
	argv := c.own(scope, e, name)
	if argv == nil {
		return nil
	}
	path, err := s.LookPath(argv[0])
	if err != nil {
		return nil
	}
	return append([]string{path}, argv[1:]...)
}
