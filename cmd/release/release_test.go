package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/core/store"
	"github.com/qa-orch/qa-orch/server/review"
)

// schema compiles a schema of testdata. Formats such as URIs are asserted.
func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// made runs the tool on three small files and returns the folder with what it made.
func made(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"darwin", "linux", "windows"} {
		if err := os.WriteFile(in(name), []byte("binary for "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"bundle", "-version", "1.2.3", "-date", "2026-12-01T09:00:00+03:00", "-darwin", in("darwin"), "-linux", in("linux"), "-windows", in("windows"), "-o", in("qa-orch_1.2.3.mcpb")},
		{"server", "-version", "1.2.3", "-bundle", in("qa-orch_1.2.3.mcpb"), "-o", in("server.json")},
	} {
		if err := run(args); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	return dir
}

func TestBundle(t *testing.T) {
	t.Parallel()
	dir := made(t)
	z, err := zip.OpenReader(filepath.Join(dir, "qa-orch_1.2.3.mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(data)
		if executable := f.Mode()&0o111 != 0; executable != (f.Name != "manifest.json") {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
		if f.Modified.UTC().Format("2006-01-02T15:04:05Z") != "2026-12-01T06:00:00Z" {
			t.Errorf("%s is of %v", f.Name, f.Modified)
		}
	}
	if err := validate(t, schema(t, "mcpb-manifest-v0.3.schema.json"), []byte(files["manifest.json"])); err != nil {
		t.Error(err)
	}
	var m struct {
		Version string
		Server  struct {
			Entry  string `json:"entry_point"`
			Config struct {
				Command   string
				Overrides map[string]struct{ Command string } `json:"platform_overrides"`
			} `json:"mcp_config"`
		}
		Compatibility struct{ Platforms []string }
	}
	if err := json.Unmarshal([]byte(files["manifest.json"]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Version != "1.2.3" {
		t.Errorf("version %q", m.Version)
	}
	// Every platform's command is the binary for it, and every file is used.
	for _, platform := range m.Compatibility.Platforms {
		command := m.Server.Config.Command
		if o, ok := m.Server.Config.Overrides[platform]; ok {
			command = o.Command
		}
		name := strings.TrimPrefix(command, "${__dirname}/")
		if path.Base(path.Dir(name)) != platform {
			t.Errorf("%s starts %s", platform, command)
		}
		if _, ok := files[name]; !ok {
			t.Errorf("%s is not in the bundle", name)
		}
	}
	if _, ok := files[m.Server.Entry]; !ok || len(files) != len(m.Compatibility.Platforms)+1 {
		t.Errorf("entry point %s, files %d", m.Server.Entry, len(files))
	}
}

func TestSameInputGivesSameBytes(t *testing.T) {
	t.Parallel()
	a, b := made(t), made(t)
	for _, name := range []string{"qa-orch_1.2.3.mcpb", "server.json"} {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", name)
		}
	}
}

func TestRegistryEntry(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(made(t), "server.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := schema(t, "server-2025-12-11.schema.json")
	if err := validate(t, s, data); err != nil {
		t.Error(err)
	}
	var e entry
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	if p := e.Packages[0]; p.Identifier != repository+"/releases/download/v1.2.3/qa-orch_1.2.3.mcpb" || len(p.FileSHA256) != 64 {
		t.Errorf("package %+v", p)
	}
	// The schema does refuse: it is not skipped.
	e.Description = strings.Repeat("x", 101)
	bad, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if validate(t, s, bad) == nil {
		t.Error("a description of 101 characters is accepted")
	}
}

// The manifest names the tools that the server has.
func TestManifestNamesTheTools(t *testing.T) {
	t.Parallel()
	var m struct {
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Fatal(err)
	}
	nowhere := filepath.Join(t.TempDir(), "none")
	o := orchestrator.New(store.NewMemory(), policy.NewSource(nowhere, nowhere, nil), orchestrator.Limits{TTL: time.Minute, MaxSessions: 1})
	s, err := review.New(o, review.Options{Tools: settings.CoreTools, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(s.MCP.ListTools()))
	var got []string
	for _, tool := range m.Tools {
		got = append(got, tool.Name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the manifest names %q\nthe server has %q", got, want)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "x")
	for _, args := range [][]string{
		{},
		{"bundle"},
		{"verdict", "-version", "1", "-o", out},
		{"bundle", "-version", "1", "-date", "yesterday", "-o", out},
		{"bundle", "-version", "1", "-date", "2026-12-01T00:00:00Z", "-darwin", "nowhere", "-o", out},
		{"server", "-version", "1", "-bundle", "nowhere", "-o", out},
	} {
		if err := run(args); err == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
