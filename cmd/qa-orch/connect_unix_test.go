//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/qa-orch/qa-orch/locales"
)

// A person at a terminal is asked, in either language, and nothing is written
// before the answer.
func TestConnectAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang      locales.Lang
		locale    string
		answer    string
		connected bool
	}{
		{locales.En, "en_US.UTF-8", "y\r", true},
		{locales.En, "en_US.UTF-8", "\r", false},
		{locales.Ru, "ru_RU.UTF-8", "да\r", true},
		{locales.Ru, "ru_RU.UTF-8", "н\r", false},
	} {
		t.Run(c.lang.String()+" "+c.answer, func(t *testing.T) {
			t.Parallel()
			p, home := locales.New(c.lang), t.TempDir()
			list := filepath.Join(home, ".junie", "mcp", "mcp.json")
			s := sitDown(t, onTerminal{columns: 100, rows: 40, env: []string{"LANG=" + c.locale, "HOME=" + home}}, "connect", "junie")
			s.see(p.T("connect.ask", locales.Vars{"Client": "JetBrains Junie"}))
			if _, err := os.Stat(list); err == nil {
				t.Error("written before the answer")
			}
			s.press(c.answer)
			s.exit(exitOK)
			if _, err := os.Stat(list); (err == nil) != c.connected {
				t.Errorf("written: %v\n%s", err == nil, s.screen())
			}
		})
	}
}
