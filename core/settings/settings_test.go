package settings

import (
	"fmt"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

// home is an absolute folder on every platform.
var home = func() string {
	p, err := filepath.Abs(string(filepath.Separator) + filepath.Join("home", "анна b"))
	if err != nil {
		panic(err)
	}
	return p
}()

func in(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }

func TestDefaults(t *testing.T) {
	t.Parallel()
	empty := []string{"HOME", home}
	for _, v := range []string{DataDirVar, PolicyPathVar, StorePathVar, TTLVar, MaxSessionsVar, ToolsVar} {
		empty = append(empty, v, "")
	}
	for name, getenv := range map[string]func(string) string{"unset": env("HOME", home), "empty": env(empty...)} {
		got, problems := Read(getenv)
		want := Settings{
			DataDir: in(".qa-orchestrator"), PolicyPath: in(".qa-orchestrator", "model-policy.json"),
			ModelsPath: in(".qa-orchestrator", "models.toml"), TTL: 1800 * time.Second, MaxSessions: 100, Tools: "core",
		}
		if got != want || problems != nil {
			t.Errorf("%s: %+v, %v", name, got, problems)
		}
		if p := got.DefaultStorePath(); p != in(".qa-orchestrator", "sessions.sqlite3") {
			t.Errorf("store would lie at %s", p)
		}
	}
}

func TestVariableNames(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(DataDirVar, PolicyPathVar, StorePathVar, TTLVar, MaxSessionsVar, ToolsVar)
	want := "QA_ORCHESTRATOR_DATA_DIRQA_ORCHESTRATOR_MODEL_POLICY_PATHQA_ORCHESTRATOR_SESSION_STORE_PATH" +
		"QA_ORCHESTRATOR_ORCHESTRATION_TTL_SECONDSQA_ORCHESTRATOR_ORCHESTRATION_MAX_SESSIONSQA_ORCHESTRATOR_TOOLS"
	if got != want {
		t.Error(got)
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	relative, err := filepath.Abs("rel")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"~": home, "~/x": in("x"), "~/x/../y": in("y"), in("a b", "#?%", "хранилище"): in("a b", "#?%", "хранилище"),
		"rel": relative, "./rel": relative, "~other": filepath.Join(filepath.Dir(relative), "~other"), in("~"): in("~"),
	} {
		for _, v := range []string{DataDirVar, PolicyPathVar, StorePathVar} {
			s, problems := Read(env("HOME", home, v, value))
			got := map[string]string{DataDirVar: s.DataDir, PolicyPathVar: s.PolicyPath, StorePathVar: s.StorePath}[v]
			if got != want || problems != nil {
				t.Errorf("%s=%s: %s, %v; want %s", v, value, got, problems, want)
			}
		}
		if got := Path(value, env("HOME", home)); got != want {
			t.Errorf("Path(%s) = %s", value, got)
		}
	}
	s, _ := Read(env("HOME", home, DataDirVar, "~/data", StorePathVar, "~/s"))
	if s.PolicyPath != in("data", "model-policy.json") || s.ModelsPath != in("data", "models.toml") || s.StorePath != in("s") {
		t.Errorf("%+v", s)
	}
	s, _ = Read(env("HOME", home, DataDirVar, "~/data", PolicyPathVar, "~/p/q.json"))
	if s.PolicyPath != in("p", "q.json") || s.ModelsPath != in("p", "models.toml") || s.DataDir != in("data") {
		t.Errorf("%+v", s)
	}
	if s, problems := Read(env("USERPROFILE", home)); s.DataDir != in(".qa-orchestrator") || problems != nil {
		t.Errorf("%+v, %v", s, problems)
	}
}

func TestWithoutHome(t *testing.T) {
	t.Parallel()
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		t.Skip("the user database knows no home either")
	}
	for _, getenv := range []func(string) string{env(), env("HOME", "relative")} {
		s, problems := Read(getenv)
		if s.DataDir != filepath.Join(u.HomeDir, ".qa-orchestrator") || problems != nil {
			t.Errorf("%+v, %v", s, problems)
		}
	}
}

func TestTildeWithoutAKnownHome(t *testing.T) {
	t.Parallel()
	want, err := filepath.Abs("~/x")
	if err != nil {
		t.Fatal(err)
	}
	if got := absolute("~/x", ""); got != want {
		t.Errorf("got %s", got)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	const secret = "sk-canary"
	for _, tc := range []struct {
		value string
		want  int // 0: refused
		code  Code
	}{
		{"1", 1, ""},
		{"42", 42, ""},
		{" 7 ", 7, ""},
		{"007", 7, ""},
		{"+5", 5, ""},
		{"1000000", 1_000_000, ""},
		{"0", 0, NotPositive},
		{"-1", 0, NotPositive},
		{"-99999999999999999999", 0, NotPositive},
		{"1.5", 0, NotPositive},
		{"1e3", 0, NotPositive},
		{"0x10", 0, NotPositive},
		{"1_000", 0, NotPositive},
		{"1800s", 0, NotPositive},
		{"٣", 0, NotPositive},
		{secret, 0, NotPositive},
		{"315360001", 0, TooLarge},
		{"99999999999999999999", 0, TooLarge},
	} {
		for _, v := range []string{TTLVar, MaxSessionsVar} {
			s, problems := Read(env("HOME", home, v, tc.value))
			got := map[string]int{TTLVar: int(s.TTL / time.Second), MaxSessionsVar: s.MaxSessions}[v]
			if tc.want > 0 {
				if got != tc.want || problems != nil {
					t.Errorf("%s=%s: %d, %v", v, tc.value, got, problems)
				}
				continue
			}
			wantProblem(t, problems, v, tc.code)
			if fallback := map[string]int{TTLVar: 1800, MaxSessionsVar: 100}[v]; got != fallback {
				t.Errorf("%s=%s: %d is in force", v, tc.value, got)
			}
			if text := problems[0].Error(); strings.Contains(text, secret) || strings.Contains(text, tc.value+" ") {
				t.Errorf("repeats the value: %s", text)
			}
		}
	}
	if s, problems := Read(env("HOME", home, TTLVar, "315360000")); s.TTL != 315360000*time.Second || problems != nil {
		t.Errorf("%v, %v", s.TTL, problems)
	}
	_, problems := Read(env("HOME", home, MaxSessionsVar, "1000001"))
	wantProblem(t, problems, MaxSessionsVar, TooLarge)
	if problems[0].Max != 1_000_000 || !strings.Contains(problems[0].Error(), "1000000") {
		t.Error(problems[0])
	}
}

func wantProblem(t *testing.T, problems []*Problem, variable string, code Code) {
	t.Helper()
	if len(problems) != 1 || problems[0].Variable != variable || problems[0].Code != code {
		t.Fatalf("got %v, want %s for %s", problems, code, variable)
	}
	if !strings.Contains(problems[0].Error(), variable) {
		t.Errorf("%q does not name the variable", problems[0])
	}
}

func TestTools(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]Tools{"core": CoreTools, "extended": ExtendedTools, " extended ": ExtendedTools} {
		if s, problems := Read(env("HOME", home, ToolsVar, value)); s.Tools != want || problems != nil {
			t.Errorf("%q: %s, %v", value, s.Tools, problems)
		}
	}
	for _, value := range []string{"Core", "all", "sk-canary"} {
		s, problems := Read(env("HOME", home, ToolsVar, value))
		wantProblem(t, problems, ToolsVar, UnknownWord)
		if s.Tools != CoreTools || !slices.Equal(problems[0].Allowed, []string{"core", "extended"}) || strings.Contains(problems[0].Error(), "canary") {
			t.Errorf("%q: %+v, %v", value, s, problems[0])
		}
	}
}

func TestBadPathsAndAllProblemsAtOnce(t *testing.T) {
	t.Parallel()
	s, problems := Read(env("HOME", home, DataDirVar, "a\x00b", StorePathVar, "\x00", TTLVar, "x", MaxSessionsVar, "0", ToolsVar, "y"))
	var got []string
	for _, p := range problems {
		got = append(got, p.Variable+" "+string(p.Code))
	}
	want := []string{
		DataDirVar + " bad_path", StorePathVar + " bad_path", TTLVar + " not_positive", MaxSessionsVar + " not_positive", ToolsVar + " unknown_word",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if s.StorePath != "" || s.DataDir != in(".qa-orchestrator") {
		t.Errorf("%+v", s)
	}
	for _, p := range append(problems, &Problem{Variable: DataDirVar, Code: NoHome}) {
		if text := p.Error(); !strings.Contains(text, p.Variable) || strings.ContainsRune(text, 0) {
			t.Errorf("%q", text)
		}
	}
}

func TestAdvocateDir(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		given string
		env   []string
		want  string
	}{
		{"", nil, in(".mcp-devils-advocate")},
		{"", []string{AdvocateDirVar, ""}, in(".mcp-devils-advocate")},
		{"", []string{AdvocateDirVar, "~/reviews"}, in("reviews")},
		{"~/given", []string{AdvocateDirVar, "~/reviews"}, in("given")},
		{in("plain"), nil, in("plain")},
	} {
		got, problem := AdvocateDir(c.given, env(append([]string{"HOME", home}, c.env...)...))
		if got != c.want || problem != nil {
			t.Errorf("%q, %q: %q, %v", c.given, c.env, got, problem)
		}
	}
	if _, problem := AdvocateDir("", env("HOME", home, AdvocateDirVar, "a\x00b")); problem == nil || problem.Code != BadPath {
		t.Errorf("a NUL byte: %v", problem)
	}
	// In a bare environment the user database knows the home folder.
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		t.Skip("no home folder is known")
	}
	if got, problem := AdvocateDir("", env()); got != filepath.Join(u.HomeDir, ".mcp-devils-advocate") || problem != nil {
		t.Errorf("bare environment: %q, %v", got, problem)
	}
}
