// Package settings reads the environment variables that steer qa-orch.
package settings

import (
	"errors"
	"fmt"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The variables.
const (
	DataDirVar     = "QA_ORCHESTRATOR_DATA_DIR"
	PolicyPathVar  = "QA_ORCHESTRATOR_MODEL_POLICY_PATH"
	StorePathVar   = "QA_ORCHESTRATOR_SESSION_STORE_PATH"
	TTLVar         = "QA_ORCHESTRATOR_ORCHESTRATION_TTL_SECONDS"
	MaxSessionsVar = "QA_ORCHESTRATOR_ORCHESTRATION_MAX_SESSIONS"
	ToolsVar       = "QA_ORCHESTRATOR_TOOLS"
	AdvocateDirVar = "DEVILS_ADVOCATE_DIR"
)

// Defaults of the numbers.
const (
	DefaultTTL         = 1800 * time.Second
	DefaultMaxSessions = 100
)

// Upper bounds of the numbers. A lifetime above ten years or a million sessions
// is a slip of the pen, and would overflow what they are computed with.
const (
	MaxTTLSeconds = 10 * 365 * 24 * 60 * 60
	MaxSessions   = 1_000_000
)

// Tools says which tools the server lists.
type Tools string

// The tool sets.
const (
	CoreTools     Tools = "core"
	ExtendedTools Tools = "extended"
)

// Valid reports whether t is a known tool set.
func (t Tools) Valid() bool { return t == CoreTools || t == ExtendedTools }

// Settings are the values in force. Paths are absolute.
type Settings struct {
	DataDir     string
	PolicyPath  string
	ModelsPath  string // the user's models, beside the policy
	StorePath   string // "" means memory only
	TTL         time.Duration
	MaxSessions int
	Tools       Tools
}

// DefaultStorePath is where the recovery store lies when something needs one
// and no variable names it.
func (s Settings) DefaultStorePath() string { return filepath.Join(s.DataDir, "sessions.sqlite3") }

// Code is a kind of problem with a variable.
type Code string

// What can be wrong with a variable.
const (
	NotPositive Code = "not_positive" // no positive whole number
	TooLarge    Code = "too_large"    // above the bound in Max
	UnknownWord Code = "unknown_word" // not one of Allowed
	NoHome      Code = "no_home"      // there is no home folder to put the default in
	BadPath     Code = "bad_path"     // holds a NUL byte
)

// Problem is a variable that can't be used. It does not hold the value.
type Problem struct {
	Variable string
	Code     Code
	Max      int
	Allowed  []string
}

// Error describes the problem in English.
func (p *Problem) Error() string {
	switch p.Code {
	case TooLarge:
		return fmt.Sprintf("%s must be at most %d", p.Variable, p.Max)
	case UnknownWord:
		return fmt.Sprintf("%s must be one of: %s", p.Variable, strings.Join(p.Allowed, ", "))
	case NoHome:
		return fmt.Sprintf("there is no home folder; set %s to an absolute path", p.Variable)
	case BadPath:
		return fmt.Sprintf("%s is not a path", p.Variable)
	default:
		return fmt.Sprintf("%s must be a positive whole number", p.Variable)
	}
}

// Read returns the settings that the environment asks for, and a problem for
// each variable that can't be used; such a variable counts as unset in the
// result. An empty value counts as unset.
func Read(getenv func(string) string) (Settings, []*Problem) {
	var problems []*Problem
	home, hasHome := homeDir(getenv)
	path := func(variable, fallback string) string {
		v := getenv(variable)
		if strings.ContainsRune(v, 0) {
			problems = append(problems, &Problem{Variable: variable, Code: BadPath})
			v = ""
		}
		if v == "" {
			return fallback
		}
		if underHome(v) && !hasHome {
			problems = append(problems, &Problem{Variable: variable, Code: NoHome})
			return fallback
		}
		return absolute(v, home)
	}
	number := func(variable string, fallback, limit int) int {
		v := strings.TrimSpace(getenv(variable))
		if v == "" {
			return fallback
		}
		n, err := strconv.Atoi(v)
		switch {
		case errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(v, "-"), err == nil && n > limit:
			problems = append(problems, &Problem{Variable: variable, Code: TooLarge, Max: limit})
			return fallback
		case err != nil, n < 1:
			problems = append(problems, &Problem{Variable: variable, Code: NotPositive})
			return fallback
		}
		return n
	}
	var s Settings
	s.DataDir = path(DataDirVar, "")
	if s.DataDir == "" {
		if hasHome {
			s.DataDir = filepath.Join(home, ".qa-orchestrator")
		} else if getenv(DataDirVar) == "" {
			problems = append(problems, &Problem{Variable: DataDirVar, Code: NoHome})
		}
	}
	s.PolicyPath = path(PolicyPathVar, filepath.Join(s.DataDir, "model-policy.json"))
	s.ModelsPath = filepath.Join(filepath.Dir(s.PolicyPath), "models.toml")
	s.StorePath = path(StorePathVar, "")
	s.TTL = time.Duration(number(TTLVar, int(DefaultTTL/time.Second), MaxTTLSeconds)) * time.Second
	s.MaxSessions = number(MaxSessionsVar, DefaultMaxSessions, MaxSessions)
	s.Tools = CoreTools
	if v := strings.TrimSpace(getenv(ToolsVar)); v != "" {
		if Tools(v).Valid() {
			s.Tools = Tools(v)
		} else {
			problems = append(problems, &Problem{
				Variable: ToolsVar, Code: UnknownWord, Allowed: []string{string(CoreTools), string(ExtendedTools)},
			})
		}
	}
	return s, problems
}

// AdvocateDir returns the folder of the devil's advocate: given, if that is not
// empty, else what the environment says, else one in the home folder.
func AdvocateDir(given string, getenv func(string) string) (string, *Problem) {
	if given == "" {
		given = getenv(AdvocateDirVar)
	}
	if given == "" {
		given = "~/.mcp-devils-advocate"
	}
	home, hasHome := homeDir(getenv)
	switch {
	case strings.ContainsRune(given, 0):
		return "", &Problem{Variable: AdvocateDirVar, Code: BadPath}
	case underHome(given) && !hasHome:
		return "", &Problem{Variable: AdvocateDirVar, Code: NoHome}
	}
	return absolute(given, home), nil
}

// Path makes a path given on the command line absolute and expands a leading ~.
func Path(v string, getenv func(string) string) string {
	home, _ := homeDir(getenv)
	return absolute(v, home)
}

// underHome reports whether path starts with a ~ that stands for the home folder.
func underHome(path string) bool {
	return path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`)
}

func absolute(path, home string) string {
	if underHome(path) && home != "" {
		path = filepath.Join(home, path[1:])
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// homeDir asks the environment first and the user database where that is
// silent, as it is in a bare environment.
func homeDir(getenv func(string) string) (string, bool) {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if v := getenv(name); filepath.IsAbs(v) {
			return v, true
		}
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir, true
	}
	return "", false
}
