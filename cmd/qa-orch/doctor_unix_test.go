//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/locales"
)

// The doctor on terminals of all kinds asks them nothing and stays within them.
func TestDoctorOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang          locales.Lang
		columns, rows int
		env           []string
		says          string
	}{
		{locales.En, 80, 24, []string{"LANG=C.UTF-8", "COLORTERM=truecolor"}, "80×24, colours: 16 million, encoding: UTF-8"},
		{locales.Ru, 80, 24, []string{"LANG=ru_RU.UTF-8", "NO_COLOR=1"}, "80×24, цвета: нет, кодировка: UTF-8"},
		{locales.Ru, 120, 40, []string{"LANG=ru_RU.KOI8-R", "COLORTERM="}, "цвета: 256, кодировка: KOI8-R"},
		{locales.En, 40, 12, []string{"LANG=en_US.UTF-8"}, "Make it at least 50×20"},
	} {
		t.Run(fmt.Sprintf("%v %d", c.lang, c.columns), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := sitDown(t, onTerminal{columns: c.columns, rows: c.rows, env: append(c.env, "HOME="+home), mute: true}, "doctor")
			s.said(c.says, locales.New(c.lang).T("doctor.well"))
			if rest := colour.ReplaceAllString(s.written(), ""); strings.Contains(rest, "\x1b") {
				t.Errorf("the terminal is sent more than text and colours: %q", rest)
			}
			if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
				t.Errorf("the doctor made %v (%v)", entries, err)
			}
		})
	}
}

// examine runs the doctor's checks but its self-test and returns what it says to programs.
func examine(t *testing.T, now time.Time, env map[string]string) (code int, findings map[string][]map[string]any) {
	t.Helper()
	app, out, _ := fakeApp(locales.Ru)
	app.Getenv = func(name string) string { return env[name] }
	app.Now = func() time.Time { return now }
	o := &doctorOptions{App: app, JSON: true, Executable: func() (string, error) { return "/nowhere/qa-orch", nil }}
	code = app.report(runDoctor(context.Background(), o))
	var view struct {
		OK     bool             `json:"ok"`
		Checks []map[string]any `json:"checks"`
	}
	must(t, json.Unmarshal(out.Bytes(), &view))
	if view.OK {
		t.Error("a server that does not start is well")
	}
	findings = map[string][]map[string]any{}
	for _, c := range view.Checks {
		findings[c["check"].(string)] = append(findings[c["check"].(string)], c)
	}
	return code, findings
}

func want(t *testing.T, finding map[string]any, status, message string) {
	t.Helper()
	if finding["status"] != status || !strings.Contains(finding["message"].(string), message) {
		t.Errorf("got %v, want %s: %s", finding, status, message)
	}
}

func TestDoctorFindings(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 12, 1, 12, 0, 0, 0, time.UTC)
	home := t.TempDir()
	must(t, os.Chmod(home, 0o750))
	path, store := filepath.Join(home, "model-policy.json"), filepath.Join(home, "sessions.sqlite3")
	must(t, os.WriteFile(path, policy.Default().Encode(), 0o666))
	must(t, os.Chmod(path, 0o666))
	env := map[string]string{settings.DataDirVar: home, "QA_ORCH_LANG": "xx"}

	// A store with two sessions, one of which is still open in a server.
	db := sqlite.New(store, nil)
	for _, id := range []byte{1, 2} {
		s, err := review.Start(review.RunID([16]byte{id}), catalog.OrdinaryReview, func(policy.Stage) (policy.Assignment, error) {
			return policy.Default().Assign(policy.Triage, catalog.Builtin()), nil
		}, now, time.Hour)
		must(t, err)
		must(t, db.Create(context.Background(), s, now, 10))
	}
	code, f := examine(t, now, env)
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	want(t, f["environment"][0], checkInfo, "QA_ORCH_LANG names no language")
	if r := f["environment"][0]["remedy"]; r != "Set it to en or ru, or unset it." {
		t.Errorf("the remedy is %v", r)
	}
	want(t, f["data"][0], checkInfo, "can be read by others (mode 0750)")
	want(t, f["policy"][0], checkFail, "can be changed by others (mode 0666)")
	want(t, f["catalogue"][0], checkInfo, "429 days ago")
	want(t, f["models"][0], checkPass, "no models file")
	want(t, f["store"][0], checkPass, "2 sessions: active 2")
	want(t, f["terminal"][0], checkInfo, "no terminal")
	want(t, f["server"][0], checkFail, "did not start")
	if r := f["policy"][0]["remedy"]; r != "Run: chmod 600 "+path {
		t.Errorf("the remedy is %v", r)
	}
	if len(f["store"]) != 1 {
		t.Errorf("this process counts as another: %v", f["store"])
	}
	must(t, db.Close())

	// Others have it open, and a row is bad.
	other := sitDown(t, onTerminal{columns: 80, rows: 24, env: []string{"HOME=" + home}, shell: `exec 9<"$HOME/sessions.sqlite3"; read line; exit 0`})
	for end := time.Now().Add(patience); len(openers(store)) == 0 && time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat("/proc/self/fd"); err != nil {
			break // the system does not tell
		}
	}
	_, f = examine(t, now, env)
	if _, err := os.Stat("/proc/self/fd"); err == nil {
		want(t, f["store"][1], checkInfo, fmt.Sprint(other.cmd.Process.Pid))
	}
	other.press("\n")
	other.exit(exitOK)

	data, err := os.ReadFile(store)
	must(t, err)
	must(t, os.WriteFile(store, data[:5000], 0o644))
	must(t, os.Chmod(store, 0o644))
	_, f = examine(t, now, env)
	want(t, f["store"][0], checkFail, "the database is damaged")
	must(t, os.Remove(store))
	must(t, os.Symlink(path, store))
	_, f = examine(t, now, env)
	want(t, f["store"][0], checkFail, "symbolic link")
	env[settings.StorePathVar] = filepath.Join(home, "none", "s")
	_, f = examine(t, now, env)
	want(t, f["store"][0], checkInfo, "does not exist yet")
	env[settings.DataDirVar] = path
	_, f = examine(t, now, env)
	want(t, f["data"][0], checkFail, "is no folder")
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"":                                       "UTF-8",
		"LANG=ru_RU.UTF-8":                       "UTF-8",
		"LANG=ru_RU.utf8":                        "UTF-8",
		"LANG=ru_RU.KOI8-R":                      "KOI8-R",
		"LANG=de_DE.ISO-8859-15@euro":            "ISO-8859-15",
		"LANG=C":                                 "UTF-8",
		"LC_ALL=x.CP1251 LANG=ru_RU.utf8":        "CP1251",
		"LC_ALL= LC_CTYPE=x.UTF-8 LANG=x.KOI8-R": "UTF-8",
	} {
		getenv := func(name string) string {
			for _, pair := range strings.Fields(env) {
				if key, value, _ := strings.Cut(pair, "="); key == name {
					return value
				}
			}
			return ""
		}
		if got := encoding(getenv); got != want {
			t.Errorf("%s: got %s, want %s", env, got, want)
		}
	}
}
