package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/locales"
)

// withPolicy runs a command with the policy at path.
func withPolicy(lang locales.Lang, path string, args ...string) (code int, out, errs string) {
	app, o, e := fakeApp(lang, args...)
	app.Getenv = func(name string) string {
		return map[string]string{settings.DataDirVar: filepath.Dir(path), settings.PolicyPathVar: path}[name]
	}
	code = run(app)
	return code, o.String(), e.String()
}

func utf16le(s string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

var allModels = []string{
	"setup", "--provider", "openai", "--triage-model", "gpt-6-luna",
	"--primary-model", "gpt-6-sol", "--deep-model", "gpt-6-sol", "--synthesis-model", "gpt-6-sol",
}

// Whatever lies in the policy's place is read, or refused with a word that helps,
// and what was refused is never lost.
func TestNastyPolicyFiles(t *testing.T) {
	t.Parallel()
	good := string(policy.Recommended(catalog.Anthropic, catalog.Builtin()).Encode())
	for name, c := range map[string]struct {
		content string
		says    map[locales.Lang]string // empty: it is read
		lost    bool                    // there is nothing to keep
	}{
		"as written":   {content: good},
		"BOM and CRLF": {content: "\xef\xbb\xbf" + strings.ReplaceAll(good, "\n", "\r\n")},
		"UTF-16":       {content: utf16le(good), says: map[locales.Lang]string{locales.En: "is not UTF-8", locales.Ru: "не в кодировке UTF-8"}},
		"CP1251":       {content: strings.Replace(good, "anthropic", "\xe0\xed", 1), says: map[locales.Lang]string{locales.En: "is not UTF-8", locales.Ru: "не в кодировке UTF-8"}},
		"comments":     {content: "// mine\n" + good, says: map[locales.Lang]string{locales.En: "line 1: this is not valid JSON (comments", locales.Ru: "строка 1: это не JSON (комментарии"}},
		"a comma":      {content: strings.Replace(good, "\n}", ",\n}", 1), says: map[locales.Lang]string{locales.En: "this is not valid JSON", locales.Ru: "это не JSON"}},
		"twice":        {content: strings.Replace(good, "{", "{\"provider\": \"openai\",", 1), says: map[locales.Lang]string{locales.En: "provider: this key stands twice", locales.Ru: "provider: ключ повторяется"}},
		"unknown key":  {content: strings.Replace(good, "{", "{\"sk-secret\": \"sk-secret\",", 1), says: map[locales.Lang]string{locales.En: "a policy has no such key", locales.Ru: "такого ключа в политике нет"}},
		"0 bytes":      {content: "", says: map[locales.Lang]string{locales.En: "the file is empty", locales.Ru: "файл пуст"}, lost: true},
		"blanks":       {content: " \n\t\n", says: map[locales.Lang]string{locales.En: "the file is empty", locales.Ru: "файл пуст"}, lost: true},
		"cut off":      {content: good[:len(good)/2], says: map[locales.Lang]string{locales.En: "this is not valid JSON", locales.Ru: "это не JSON"}},
		"a list":       {content: "[]", says: map[locales.Lang]string{locales.En: "must hold one JSON object", locales.Ru: "один объект JSON"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "model-policy.json")
			must(t, os.WriteFile(path, []byte(c.content), 0o644))
			for _, lang := range locales.Langs() {
				code, out, errs := withPolicy(lang, path, "reload")
				if want := c.says[lang]; !strings.Contains(errs, want) || (code == exitOK) != (want == "") || strings.Contains(out+errs, "sk-secret") {
					t.Errorf("%v: exit code %d, said %q", lang, code, errs)
				}
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != c.content {
				t.Errorf("looking changed the file to %q (%v)", data, err)
			}
			if code, _, errs := withPolicy(locales.En, path, append(allModels, "--dry-run")...); code != exitOK {
				t.Errorf("dry run: exit code %d, %s", code, errs)
			}
			if data, err := os.ReadFile(path); err != nil || string(data) != c.content {
				t.Errorf("a dry run changed the file to %q (%v)", data, err)
			}

			code, out, errs := withPolicy(locales.En, path, allModels...)
			if code != exitOK {
				t.Fatalf("setup: exit code %d, %s", code, errs)
			}
			p, _, err := policy.Load(path, catalog.Builtin())
			if err != nil || p.Provider != catalog.OpenAI {
				t.Errorf("saved %+v (%v)", p, err)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("saved with mode %v (%v)", info.Mode(), err)
			}
			backup, err := os.ReadFile(path + ".backup")
			kept := c.says != nil && !c.lost
			if kept != (err == nil) || kept && string(backup) != c.content || kept != strings.Contains(out, path+".backup") {
				t.Errorf("backup: %q (%v), said %q", backup, err, out)
			}
		})
	}
}

// Nothing is written where what lies there can't even be read.
func TestSetupKeepsOffWhatIsNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "model-policy.json")
	must(t, os.Mkdir(path, 0o700))
	code, out, errs := withPolicy(locales.Ru, path, allModels...)
	if code != exitFailed || out != "" || !strings.Contains(errs, "не удалось сохранить "+path+": это не обычный файл") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if code, _, errs = withPolicy(locales.En, path, "reload"); code != exitFailed || !strings.Contains(errs, "it is not a regular file") {
		t.Errorf("reload: exit code %d, %q", code, errs)
	}
}

func TestSetupInAReadOnlyFolder(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("nothing is read-only for this user")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "model-policy.json")
	old := policy.Recommended(catalog.Anthropic, catalog.Builtin()).Encode()
	must(t, os.WriteFile(path, old, 0o600))
	must(t, os.Chmod(dir, 0o555))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	code, out, errs := withPolicy(locales.En, path, allModels...)
	if code != exitFailed || out != "" || !strings.Contains(errs, "could not save "+path+": access is denied") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != string(old) {
		t.Errorf("the file became %q (%v)", data, err)
	}
	app, doc, _ := fakeApp(locales.En, "doctor")
	app.Getenv = func(name string) string { return map[string]string{settings.DataDirVar: dir}[name] }
	o := &doctorOptions{App: app, Executable: func() (string, error) { return "/nowhere/qa-orch", nil }}
	_ = runDoctor(t.Context(), o)
	if !strings.Contains(doc.String(), "you may not write there") {
		t.Errorf("the doctor says %s", doc)
	}
}

func TestWrapKeepsPathsAndFlagsWhole(t *testing.T) {
	t.Parallel()
	app, _, _ := fakeApp(locales.En)
	const text = "see /a-long/path-with/many-hyphens and --some-flag"
	if got := app.wrap(text, 4); got != text {
		t.Errorf("without a terminal: %q", got)
	}
	app.OutTTY = true
	app.Size = func() (int, int) { return 30, 24 }
	if got := app.wrap(text, 4); got != "see\n    /a-long/path-with/many-hyphens\n    and --some-flag" {
		t.Errorf("at 30 columns: %q", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
