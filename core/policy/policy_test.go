package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"github.com/qa-orch/qa-orch/core/catalog"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// full is a policy with every field, in the file's order.
const full = `{
  "provider": "anthropic",
  "triage_model": "claude-haiku-4-5-20251001",
  "primary_model": "claude-opus-5-5",
  "deep_model": "claude-fable-5-1",
  "synthesis_model": "claude-unheard-of",
  "triage_reasoning": "none",
  "primary_reasoning": "low",
  "deep_reasoning": "max",
  "synthesis_reasoning": "xhigh"
}
`

var fullPolicy = Policy{
	Provider: catalog.Anthropic,
	Triage:   Choice{"claude-haiku-4-5-20251001", "none"}, Primary: Choice{"claude-opus-5-5", "low"},
	Deep: Choice{"claude-fable-5-1", "max"}, Synthesis: Choice{"claude-unheard-of", "xhigh"},
}

func TestDefault(t *testing.T) {
	t.Parallel()
	want := Policy{
		Provider: "openai",
		Triage:   Choice{"gpt-6-luna", "max"}, Primary: Choice{"gpt-6-sol", "medium"},
		Deep: Choice{"gpt-6-sol", "high"}, Synthesis: Choice{"gpt-6-sol", "medium"},
	}
	if Default() != want {
		t.Fatalf("got %+v", Default())
	}
	if p := Validate(Default(), catalog.Builtin()); p != nil {
		t.Fatalf("the default is refused: %v", p)
	}
}

func TestFieldsAndStages(t *testing.T) {
	t.Parallel()
	want := []string{
		"provider", "triage_model", "primary_model", "deep_model", "synthesis_model",
		"triage_reasoning", "primary_reasoning", "deep_reasoning", "synthesis_reasoning",
	}
	if !slices.Equal(fields, want) {
		t.Errorf("fields %v", fields)
	}
	if got := fmt.Sprint(Stages()); got != "[triage primary deep synthesis]" {
		t.Errorf("stages %s", got)
	}
	p := fullPolicy
	p.SetStage(Deep, Choice{"claude-opus-5", "low"})
	if p.Deep != (Choice{"claude-opus-5", "low"}) || p.Stage(Deep) != p.Deep || p.Stage(Triage) != fullPolicy.Triage {
		t.Errorf("%+v", p)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown stage is taken")
		}
	}()
	p.Stage("no such")
}

func TestAssign(t *testing.T) {
	t.Parallel()
	m := catalog.Builtin()
	if got, want := fullPolicy.Assign(Deep, m), (Assignment{"anthropic", "claude-fable-5-1", "max", true}); got != want {
		t.Errorf("got %+v", got)
	}
	if got, want := fullPolicy.Assign(Synthesis, m), (Assignment{"anthropic", "claude-unheard-of", "xhigh", false}); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestParseReads(t *testing.T) {
	t.Parallel()
	defaults := `{"provider":"openai","triage_model":"gpt-6-luna","primary_model":"gpt-6-sol","deep_model":"gpt-6-sol","synthesis_model":"gpt-6-sol"}`
	escaped := strings.Replace(defaults, "provider", `pro\u0076ider`, 1)
	for name, tc := range map[string]struct {
		text string
		want Policy
	}{
		"all fields":        {full, fullPolicy},
		"byte-order mark":   {"\ufeff" + full, fullPolicy},
		"CRLF":              {strings.ReplaceAll(full, "\n", "\r\n"), fullPolicy},
		"both":              {"\ufeff" + strings.ReplaceAll(full, "\n", "\r\n"), fullPolicy},
		"default reasoning": {defaults, Default()},
		"escaped key":       {escaped, Default()},
		"space around":      {"\n\t " + defaults + " \r\n\n", Default()},
	} {
		got, err := Parse([]byte(tc.text), catalog.Builtin())
		if err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// secret stands wherever a value could leak from.
const secret = "sk-canary-5up3r"

func cp1251(s string) string {
	var b []byte
	for _, r := range s {
		switch {
		case r < 128:
			b = append(b, byte(r))
		case r >= 'А' && r <= 'я':
			b = append(b, byte(r-'А')+0xc0)
		}
	}
	return string(b)
}

func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

func utf16be(s string) string {
	b := []byte{0xfe, 0xff}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u>>8), byte(u))
	}
	return string(b)
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	sub := func(old, new string) string {
		out := strings.Replace(full, old, new, 1)
		if out == full {
			t.Fatalf("nothing to replace: %s", old)
		}
		return out
	}
	field := func(name, value string) string {
		i := strings.Index(full, `"`+name+`": `)
		j := i + strings.IndexAny(full[i:], ",\n")
		return full[:i] + `"` + name + `": ` + value + full[j:]
	}
	drop := func(name string) string {
		i := strings.Index(full, `  "`+name+`"`)
		j := i + strings.Index(full[i:], "\n") + 1
		return full[:i] + full[j:]
	}
	// Each want is "code field line" of every problem, in order; line 0 is unknown.
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"0 bytes":              {"", []string{"empty  0"}},
		"only a BOM":           {"\ufeff", []string{"empty  0"}},
		"only space":           {" \r\n\t", []string{"empty  0"}},
		"UTF-16 LE":            {utf16le(full), []string{"encoding  0"}},
		"UTF-16 BE":            {utf16be(full), []string{"encoding  0"}},
		"UTF-16 without BOM":   {utf16le(full)[2:], []string{"encoding  0"}},
		"CP1251":               {cp1251(sub("claude-opus-5-5", "секрет")), []string{"encoding  0"}},
		"NUL":                  {full + "\x00", []string{"encoding  0"}},
		"no JSON":              {secret, []string{"syntax  1"}},
		"two BOMs":             {"\ufeff\ufeff" + full, []string{"syntax  1"}},
		"line comment":         {sub("{\n", "{\n// "+secret+"\n"), []string{"syntax  2"}},
		"block comment":        {"/* " + secret + " */" + full, []string{"syntax  1"}},
		"trailing comma":       {sub(`"xhigh"`, `"xhigh",`), []string{"syntax  10"}},
		"comma missing":        {sub(`"low",`, `"low"`), []string{"syntax  9"}},
		"cut off":              {full[:80], []string{"syntax  4"}},
		"a broken value":       {sub(`"max"`, `[1, }`), []string{"syntax  9"}},
		"a broken end":         {strings.Replace(full, "\n}", "\n]", 1), []string{"syntax  11"}},
		"cut off at the end":   {strings.TrimSuffix(full, "}\n"), []string{"syntax  11"}},
		"a broken string":      {sub(`"max"`, `"\q"`), []string{"syntax  9"}},
		"single quotes":        {strings.ReplaceAll(full, `"`, `'`), []string{"syntax  2"}},
		"something after it":   {full + secret, []string{"syntax  12"}},
		"two objects":          {full + full, []string{"syntax  *"}},
		"lone surrogate":       {sub("claude-opus-5-5", `\ud800`), []string{"syntax  4"}},
		"an array":             {"[" + full + "]", []string{"not_an_object  1"}},
		"a string":             {`"` + secret + `"`, []string{"not_an_object  1"}},
		"null":                 {"null", []string{"not_an_object  1"}},
		"duplicate key":        {sub(`"deep_reasoning": "max"`, `"provider": "`+secret+`"`), []string{"duplicate_key provider 9"}},
		"duplicate by escape":  {sub(`"deep_reasoning": "max"`, `"\u0070rovider": "anthropic"`), []string{"duplicate_key provider 9"}},
		"unknown key":          {sub(`"deep_reasoning": "max"`, `"`+secret+`": {"a":[1]}`), []string{"unknown_key  9"}},
		"key of another case":  {sub(`"deep_reasoning"`, `"Deep_Reasoning"`), []string{"unknown_key  9"}},
		"language":             {sub("{\n", "{\n\"language\": \"ru\",\n"), []string{"unknown_key  2"}},
		"empty object":         {"{}", []string{"missing provider 0", "missing triage_model 0", "missing primary_model 0", "missing deep_model 0", "missing synthesis_model 0"}},
		"no provider":          {drop("provider"), []string{"missing provider 0"}},
		"no model":             {drop("deep_model"), []string{"missing deep_model 0"}},
		"number":               {field("deep_model", "5"), []string{"not_a_string deep_model 5"}},
		"null model":           {field("deep_model", "null"), []string{"not_a_string deep_model 5"}},
		"null reasoning":       {field("deep_reasoning", "null"), []string{"not_a_string deep_reasoning 9"}},
		"list":                 {field("provider", `["openai"]`), []string{"not_a_string provider 2"}},
		"unknown provider":     {field("provider", `"`+secret+`"`), []string{"unknown_provider provider 2"}},
		"provider's case":      {field("provider", `"Anthropic"`), []string{"unknown_provider provider 2"}},
		"id with a space":      {field("deep_model", `"`+secret+` x"`), []string{"bad_model_id deep_model 5"}},
		"empty id":             {field("deep_model", `""`), []string{"bad_model_id deep_model 5"}},
		"id starts with a dot": {field("deep_model", `".x"`), []string{"bad_model_id deep_model 5"}},
		"id of 129":            {field("deep_model", `"`+strings.Repeat("a", 129)+`"`), []string{"bad_model_id deep_model 5"}},
		"id with newline":      {field("deep_model", `"claude-x\n"`), []string{"bad_model_id deep_model 5"}},
		"Cyrillic id":          {field("deep_model", `"сlaude"`), []string{"bad_model_id deep_model 5"}},
		"known foreign":        {field("deep_model", `"gpt-6-sol"`), []string{"wrong_provider deep_model 5"}},
		"foreign by prefix":    {field("deep_model", `"o3-`+secret+`"`), []string{"wrong_provider deep_model 5"}},
		"unknown reasoning":    {field("deep_reasoning", `"`+secret+`"`), []string{"unknown_reasoning deep_reasoning 9"}},
		"empty reasoning":      {field("deep_reasoning", `""`), []string{"unknown_reasoning deep_reasoning 9"}},
		"not this model's":     {field("deep_reasoning", `"none"`), []string{"unsupported_reasoning deep_reasoning 9"}},
		"minimal, anthropic":   {field("synthesis_reasoning", `"minimal"`), []string{"unsupported_reasoning synthesis_reasoning 10"}},
		"default that fails":   {drop("triage_reasoning"), []string{"unsupported_reasoning triage_reasoning 0 defaulted"}},
		"several, in order": {
			strings.NewReplacer(`"low"`, `"`+secret+`"`, `"claude-opus-5-5"`, `"gpt-4.1"`, `"max"`, `7`, "{\n", "{\"x\":1,\n").Replace(full),
			[]string{"wrong_provider primary_model 4", "unknown_reasoning primary_reasoning 8", "not_a_string deep_reasoning 9", "unknown_key  1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := Parse([]byte(tc.text), catalog.Builtin())
			var bad *Invalid
			if !errors.As(err, &bad) || p != (Policy{}) {
				t.Fatalf("got %+v, %v", p, err)
			}
			var got []string
			for i, q := range bad.Problems {
				line := fmt.Sprint(q.Line)
				if i < len(tc.want) && strings.HasSuffix(tc.want[i], "*") {
					line = "*"
				}
				text := fmt.Sprintf("%s %s %s", q.Code, q.Field, line)
				if q.Defaulted {
					text += " defaulted"
				}
				got = append(got, text)
				checkProblem(t, q)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats a value: %v", err)
			}
		})
	}
}

// checkProblem holds what a person needs: where, and what is allowed there.
func checkProblem(t *testing.T, p Problem) {
	t.Helper()
	switch p.Code {
	case CodeUnknownKey:
		if !slices.Equal(p.Allowed, fields) {
			t.Errorf("%v does not list the fields", p)
		}
	case CodeProvider, CodeReasoning, CodeUnsupported:
		if len(p.Allowed) == 0 {
			t.Errorf("%v lists nothing", p)
		}
	case CodeForeign:
		if p.Owner != catalog.OpenAI || !strings.Contains(p.Error(), "openai") {
			t.Errorf("%v does not name the owner", p)
		}
	}
	text := p.Error()
	if p.Field != "" && !strings.Contains(text, p.Field) || p.Line > 0 && !strings.Contains(text, fmt.Sprintf("line %d", p.Line)) {
		t.Errorf("%q does not say where", text)
	}
	for _, a := range p.Allowed {
		if !strings.Contains(text, a) {
			t.Errorf("%q does not name %s", text, a)
		}
	}
	if strings.Contains(text, string(p.Code)) && strings.Contains(string(p.Code), "_") {
		t.Errorf("%q is the bare code", text)
	}
}

func TestUnknownCodeStillSaysSomething(t *testing.T) {
	t.Parallel()
	if got := (Problem{Code: "odd"}).Error(); got != "odd" {
		t.Error(got)
	}
	if got := (Problem{Code: CodeIO}).Error(); !strings.Contains(got, "unknown error") {
		t.Error(got)
	}
	if got := (Problem{Code: CodeIO, Err: errors.New("odd")}).Error(); !strings.Contains(got, "odd") {
		t.Error(got)
	}
}

func TestValidateTheDefaultedReasoningOfEveryModel(t *testing.T) {
	t.Parallel()
	for _, m := range catalog.Builtin().All() {
		for _, w := range catalog.ReasoningWords() {
			p := Policy{Provider: m.Provider}
			for _, s := range Stages() {
				p.SetStage(s, Choice{m.ID, w})
			}
			ok := slices.Contains(m.Reasoning, w)
			problems := Validate(p, catalog.Builtin())
			if ok != (problems == nil) || !ok && len(problems) != 4 {
				t.Errorf("%s with %s: %v", m.ID, w, problems)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "model-policy.json")
	if p, configured, err := Load(path, catalog.Builtin()); err != nil || configured || p != Default() {
		t.Fatalf("no file: %+v %v %v", p, configured, err)
	}
	must(t, os.WriteFile(path, []byte(full), 0o600))
	if p, configured, err := Load(path, catalog.Builtin()); err != nil || !configured || p != fullPolicy {
		t.Fatalf("%+v %v %v", p, configured, err)
	}
	must(t, os.WriteFile(path, bytes.Repeat([]byte(secret), 100_000), 0o600))
	_, configured, err := Load(path, catalog.Builtin())
	wantIO(t, err, "over 1 MiB")
	if !configured {
		t.Error("a file that can't be read counts as none")
	}
	_, _, err = Load(dir, catalog.Builtin())
	wantIO(t, err, "not a regular file")
	if runtime.GOOS != "windows" {
		_, _, err = Load("/dev/zero", catalog.Builtin())
		wantIO(t, err, "not a regular file")
		_, _, err = Load(filepath.Join(path, "below"), catalog.Builtin())
		wantIO(t, err, "not a directory")
	}
}

func wantIO(t *testing.T, err error, text string) {
	t.Helper()
	var bad *Invalid
	if !errors.As(err, &bad) || bad.Problems[0].Code != CodeIO || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %s", err, text)
	}
	if strings.Contains(err.Error(), string(filepath.Separator)) {
		t.Errorf("the error holds a path: %v", err)
	}
}

func TestIOReasons(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"permission denied": &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission},
		"odd":               &fs.PathError{Op: "open", Path: "/x", Err: errors.New("odd")},
	} {
		if got := ioReason(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSaveWritesExactly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(dir, "model-policy.json")
	backup, err := Save(path, fullPolicy, catalog.Builtin())
	if err != nil || backup != "" {
		t.Fatalf("%q, %v", backup, err)
	}
	if data, _ := os.ReadFile(path); string(data) != full {
		t.Fatalf("wrote %s", data)
	}
	if runtime.GOOS != "windows" {
		for p, want := range map[string]fs.FileMode{path: 0o600, dir: 0o700} {
			if info, _ := os.Stat(p); info.Mode().Perm() != want {
				t.Errorf("%s has mode %o", p, info.Mode().Perm())
			}
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	// A valid one is replaced without a backup.
	if backup, err := Save(path, Default(), catalog.Builtin()); err != nil || backup != "" {
		t.Fatalf("%q, %v", backup, err)
	}
	if p, _, err := Load(path, catalog.Builtin()); err != nil || p != Default() {
		t.Fatalf("%+v, %v", p, err)
	}
}

func TestSaveKeepsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "model-policy.json")
	for i, text := range []string{secret, "{}", "\x00\xff"} {
		must(t, os.WriteFile(path, []byte(text), 0o644))
		backup, err := Save(path, Default(), catalog.Builtin())
		if err != nil || filepath.Dir(backup) != dir {
			t.Fatalf("%q, %v", backup, err)
		}
		if data, _ := os.ReadFile(backup); string(data) != text {
			t.Errorf("backup %d holds %q", i, data)
		}
		if info, _ := os.Stat(backup); runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("the backup has mode %o", info.Mode().Perm())
		}
	}
	for _, text := range []string{"", " \n"} { // nothing to keep
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if backup, err := Save(path, Default(), catalog.Builtin()); err != nil || backup != "" {
			t.Fatalf("%q, %v", backup, err)
		}
	}
	big := bytes.Repeat([]byte("x"), maxFile+1)
	must(t, os.WriteFile(path, big, 0o600))
	if _, err := Save(path, Default(), catalog.Builtin()); err == nil {
		t.Error("a file that is too large to read was replaced")
	}
	if data, _ := os.ReadFile(path); !bytes.Equal(data, big) {
		t.Error("it was changed")
	}
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o700))
	if _, err := Save(path, Default(), catalog.Builtin()); err == nil {
		t.Error("a folder was replaced")
	}
}

func TestSaveGivesUpWhereNoBackupCanBeMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p")
	must(t, os.WriteFile(path, []byte(secret), 0o600))
	for i := range 40 {
		name := path + ".backup"
		if i > 0 {
			name += fmt.Sprintf("-%d", i+1)
		}
		must(t, os.WriteFile(name, nil, 0o600))
	}
	if _, err := Save(path, Default(), catalog.Builtin()); err == nil {
		t.Error("saved")
	}
	if data, _ := os.ReadFile(path); string(data) != secret {
		t.Error("the unreadable policy is gone")
	}
}

func TestSaveRefusesAnInvalidPolicy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p")
	p := Default()
	p.Deep.Model = "claude-opus-5"
	var bad *Invalid
	if _, err := Save(path, p, catalog.Builtin()); !errors.As(err, &bad) || bad.Problems[0].Code != CodeForeign {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written")
	}
}

func TestSaveFollowsASymlink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs symlinks")
	}
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "model-policy.json")
	must(t, os.WriteFile(target, []byte(full), 0o600))
	must(t, os.Symlink("dotfiles.json", link))
	if _, err := Save(link, Default(), catalog.Builtin()); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
	if data, _ := os.ReadFile(target); string(data) != string(Default().Encode()) {
		t.Errorf("the target holds %s", data)
	}
}

func TestConcurrentSaves(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			p := Default()
			if i%2 == 0 {
				p = fullPolicy
			}
			if _, err := Save(path, p, catalog.Builtin()); err != nil {
				t.Error(err)
			}
			if p, _, err := Load(path, catalog.Builtin()); err != nil || p != Default() && p != fullPolicy {
				t.Errorf("read %+v, %v", p, err)
			}
		})
	}
	wg.Wait()
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestLoadModels(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "models.toml")
	if m, err := LoadModels(path); err != nil || m != catalog.Builtin() {
		t.Fatal(err)
	}
	must(t, os.WriteFile(path, []byte("[[model]]\nid = \"house-1\"\nprovider = \"openai\"\nreasoning = [\"low\"]\n"), 0o600))
	m, err := LoadModels(path)
	must(t, err)
	if _, ok := m.Lookup("house-1"); !ok {
		t.Error("the user's model is missing")
	}
	must(t, os.WriteFile(path, []byte("[[model]]\nid = 5\n"), 0o600))
	var broken *catalog.FileProblem
	if m, err := LoadModels(path); !errors.As(err, &broken) || broken.Line != 2 || m != catalog.Builtin() {
		t.Errorf("got %v", err)
	}
	if m, err := LoadModels(filepath.Dir(path)); err == nil || m != catalog.Builtin() {
		t.Errorf("a folder: %v", err)
	}
}

// FuzzParse: whatever the file holds, it is refused without repeating it or it
// is a policy that survives being written and read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{full, "", "{}", "\ufeff{}", `{"provider":1}`, "[1]", strings.Repeat("[", 20000), "\xff\xfe{", `{"provider":"openai","provider":"x"}`} {
		f.Add([]byte(s))
	}
	f.Add(Default().Encode())
	const canary = "sk-CANARY-7f3a"
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(bytes.ReplaceAll(data, []byte("@"), []byte(canary)), catalog.Builtin())
		if err != nil {
			var bad *Invalid
			if !errors.As(err, &bad) || len(bad.Problems) == 0 || strings.Contains(err.Error(), canary) {
				t.Fatalf("odd error %v", err)
			}
			return
		}
		back, err := Parse(p.Encode(), catalog.Builtin())
		if err != nil || back != p {
			t.Fatalf("%+v became %+v, %v", p, back, err)
		}
	})
}
