package settings

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FuzzRead: whatever the environment holds, the settings can be worked with, and a
// problem says which variable and never what it holds.
func FuzzRead(f *testing.F) {
	f.Fuzz(func(t *testing.T, home, dir, policy, store, ttl, sessions, tools string) {
		values := map[string]string{
			"HOME": home, DataDirVar: dir, PolicyPathVar: policy, StorePathVar: store,
			TTLVar: ttl, MaxSessionsVar: sessions, ToolsVar: tools, AdvocateDirVar: dir,
		}
		getenv := func(name string) string { return values[name] }
		s, problems := Read(getenv)
		if s.TTL < time.Second || s.TTL > MaxTTLSeconds*time.Second || s.MaxSessions < 1 || s.MaxSessions > MaxSessions || !s.Tools.Valid() {
			t.Errorf("%+v", s)
		}
		paths := []string{s.DataDir, s.PolicyPath, s.ModelsPath}
		if s.StorePath != "" {
			paths = append(paths, s.StorePath)
		}
		if given, problem := AdvocateDir("", getenv); problem == nil {
			paths = append(paths, given)
		} else {
			problems = append(problems, problem)
		}
		for _, p := range paths {
			if !filepath.IsAbs(p) || strings.ContainsRune(p, 0) {
				t.Errorf("%q is no absolute path", p)
			}
		}
		for _, p := range problems {
			value := values[p.Variable]
			if text := p.Error(); !strings.Contains(text, p.Variable) || len(value) > 3 && !strings.Contains(texts, value) && strings.Contains(text, value) {
				t.Errorf("%s holds %q and the problem is %q", p.Variable, value, text)
			}
		}
		// What Read says of itself it takes again.
		values = map[string]string{
			"HOME": home, DataDirVar: s.DataDir, PolicyPathVar: s.PolicyPath, StorePathVar: s.StorePath, ToolsVar: string(s.Tools),
		}
		if again, problems := Read(getenv); len(problems) > 0 || again.DataDir != s.DataDir || again.PolicyPath != s.PolicyPath || again.StorePath != s.StorePath {
			t.Errorf("%+v became %+v, %v", s, again, problems)
		}
	})
}

// texts holds every word of a problem's own.
var texts = func() string {
	var b strings.Builder
	for _, code := range []Code{NotPositive, TooLarge, UnknownWord, NoHome, BadPath} {
		for _, v := range []string{DataDirVar, PolicyPathVar, StorePathVar, TTLVar, MaxSessionsVar, ToolsVar, AdvocateDirVar} {
			for _, limit := range []int{MaxTTLSeconds, MaxSessions} {
				b.WriteString((&Problem{Variable: v, Code: code, Max: limit, Allowed: []string{string(CoreTools), string(ExtendedTools)}}).Error() + "\n")
			}
		}
	}
	return b.String()
}()
