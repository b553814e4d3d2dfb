package edit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var paths = map[Format]Path{
	JSON: {"mcpServers", "qa-orch"},
	TOML: {"mcp_servers", "qa-orch"},
	YAML: {"extensions", "qa-orch"},
}

// entry is an entry as connect writes it; its values need quoting in every format.
func entry(command string) Object {
	return Object{
		{"type", "stdio"},
		{"enabled", true},
		{"command", command},
		{"args", []string{"serve", "--x", "y: z #"}},
		{"env", Object{{"STORE", `C:\Users\Имя "q"\s.sqlite3`}, {"DIR", "/home/me/ünï"}}},
		{"timeout", 300},
	}
}

func corpus(t testing.TB, f Format, suffix string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/" + string(f) + suffix + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files (%v)", err)
	}
	out := map[string][]byte{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = data
	}
	return out
}

// spelling are the files that say the same after set and remove, in other bytes:
// an entry can't know whether its empty table was written so.
var spelling = map[string]bool{
	"null-container.yaml": true, "flow-empty.yaml": true, "last-no-newline-flow.yaml": true,
	"comma-first.json": true,
}

func TestSetThenRemoveRestoresTheBytes(t *testing.T) {
	t.Parallel()
	for f, p := range paths {
		for name, data := range corpus(t, f, "") {
			doc, err := f.decodeAll(data)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			_, had := doc[p.Container]
			one, err := f.Set(data, p, entry("/usr/bin/qa-orch"))
			if err != nil {
				t.Errorf("%s: set: %v", name, err)
				continue
			}
			kept(t, name, data, one)
			again, err := f.Set(one, p, entry("/usr/bin/qa-orch"))
			if err != nil || !bytes.Equal(one, again) {
				t.Errorf("%s: set twice differs (%v)\n%s\n%s", name, err, one, again)
			}
			other, err := f.Set(one, p, entry("/opt/other"))
			if err != nil || bytes.Equal(one, other) {
				t.Errorf("%s: update: %v", name, err)
			}
			for step, text := range map[string][]byte{"set": one, "update": other} {
				back, err := f.Remove(text, p, !had)
				if err != nil {
					t.Errorf("%s: remove after %s: %v\n%s", name, step, err, text)
					continue
				}
				if !bytes.Equal(back, data) && !spelling[name] && strings.TrimSpace(string(data)) != "" {
					t.Errorf("%s: after %s and remove\n%q\nwant\n%q\nwas\n%q", name, step, back, data, text)
				}
			}
			if back, err := f.Remove(data, p, true); err != nil || !bytes.Equal(back, data) && had && !bytes.Contains(data, []byte("{}")) && name != "null-container.yaml" {
				t.Errorf("%s: removing nothing: %v %q", name, err, back)
			}
		}
	}
}

// kept holds that an edit puts lines in and changes at most the comma or brace
// of the ones around: every line that was there is there, in order.
func kept(t *testing.T, name string, before, after []byte) {
	t.Helper()
	loose := func(s string) string { return strings.TrimRight(s, "\r\n ,{}") }
	if !bytes.Contains(bytes.TrimSpace(before), []byte("\n")) {
		return
	}
	rest := strings.Split(string(after), "\n")
	for _, line := range strings.Split(string(before), "\n") {
		i := 0
		for i < len(rest) && loose(rest[i]) != loose(line) {
			i++
		}
		if i == len(rest) && name != "first-on-brace-line.json" && name != "comments.jsonc" && name != "comma-first.json" {
			t.Errorf("%s: the line %q is gone\n%s", name, line, after)
			return
		}
		if i < len(rest) {
			rest = rest[i+1:]
		}
	}
}

func (f Format) decodeAll(data []byte) (map[string]any, error) {
	_, text, err := f.split(data)
	if err != nil {
		return nil, err
	}
	return f.editor().decode(text)
}

func TestOtherShapesAreRefused(t *testing.T) {
	t.Parallel()
	for f, p := range paths {
		for name, data := range corpus(t, f, "-bad") {
			var refusal *Error
			if out, err := f.Set(data, p, entry("/x")); !errors.As(err, &refusal) {
				t.Errorf("%s: %v\n%s", name, err, out)
			} else if refusal.Error() == "" || strings.Contains(refusal.Error(), "npx") {
				t.Errorf("%s: %v", name, refusal)
			}
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	v := Object{{"command", "/x"}, {"args", []string{"serve"}}, {"env", Object{{"A", "b"}}}}
	for _, c := range []struct {
		f        Format
		in, want string
	}{
		{JSON, "", "{\n  \"mcpServers\": {\n    \"qa-orch\": {\n      \"command\": \"/x\",\n      \"args\": [\"serve\"],\n      \"env\": {\n        \"A\": \"b\"\n      }\n    }\n  }\n}\n"},
		{JSON, `{"a":1}`, `{"a":1,"mcpServers":{"qa-orch":{"command":"/x","args":["serve"],"env":{"A":"b"}}}}`},
		{JSON, "{\n\t\"mcpServers\": {\n\t\t\"a\": {} // c\n\t}\n}", "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // c\n\t\t\"qa-orch\": {\n\t\t\t\"command\": \"/x\",\n\t\t\t\"args\": [\"serve\"],\n\t\t\t\"env\": {\n\t\t\t\t\"A\": \"b\"\n\t\t\t}\n\t\t}\n\t}\n}"},
		// Settings of the entry that are not ours stay, and so does its place.
		{JSON, `{"mcpServers":{"qa-orch":{"command":"/old","disabled":false,"autoApprove":["x"]},"b":{}}}`, `{"mcpServers":{"qa-orch":{"command":"/x","args":["serve"],"env":{"A":"b"},"disabled":false,"autoApprove":["x"]},"b":{}}}`},
		{TOML, "a = 1\n", "a = 1\n\n[mcp_servers.qa-orch]\ncommand = \"/x\"\nargs = [\"serve\"]\n\n[mcp_servers.qa-orch.env]\nA = \"b\"\n"},
		{TOML, "[mcp_servers.qa-orch]\ncommand = \"/old\" # c\n\n[z]\n\n[mcp_servers.qa-orch.env]\nB = \"c\"\n", "[mcp_servers.qa-orch]\ncommand = \"/x\"\nargs = [\"serve\"]\n\n[mcp_servers.qa-orch.env]\nA = \"b\"\n\n[z]\n"},
		{TOML, "[mcp_servers]\nqa-orch = {command = \"/old\"}\nb.command = \"c\"\n", "[mcp_servers]\nb.command = \"c\"\n\n[mcp_servers.qa-orch]\ncommand = \"/x\"\nargs = [\"serve\"]\n\n[mcp_servers.qa-orch.env]\nA = \"b\"\n"},
		{YAML, "a: 1\n", "a: 1\nextensions:\n  qa-orch:\n    command: /x\n    args:\n    - serve\n    env:\n      A: b\n"},
		{YAML, "extensions:\n    b: {}\n    qa-orch:\n        command: /old\n    c: {}\n", "extensions:\n    b: {}\n    qa-orch:\n      command: /x\n      args:\n      - serve\n      env:\n        A: b\n    c: {}\n"},
	} {
		got, err := c.f.Set([]byte(c.in), paths[c.f], v)
		if err != nil || string(got) != c.want {
			t.Errorf("%q: %v\n%s\nwant\n%s", c.in, err, got, c.want)
		}
	}
}

// byHand are files with an entry of our name that a person wrote. Those that are
// loose are put back in other bytes, because the entry is scattered over the file.
var byHand = map[Format][]struct {
	text  string
	loose bool
}{
	JSON: {
		{text: `{"mcpServers":{"a":{},"qa-orch":{"command":"/by/hand"}}}`},
		{text: "{\n  \"mcpServers\": {\n    // mine\n    \"qa-orch\" : { \"command\": \"/by/hand\", // why\n      \"n\": [1, 2.50, null], \"env\": {}, } , // end\n    \"b\": {}\n  },\n}\n"},
		{text: "\xef\xbb\xbf{\r\n\t\"mcpServers\": {\r\n\t\t\"qa-orch\": {\r\n\t\t\t\"command\": \"x\"\r\n\t\t}\r\n\t}\r\n}"},
		{text: `{"mcpServers":{"qa-orch":null}}`},
		{text: `{"mcpServers": {"qa\u002dorch": "off", "b": {}}}`},
	},
	TOML: {
		{text: "[mcp_servers.qa-orch] # mine\ncommand = '/by/hand' # why\nargs = [ \"a\",\n  \"b\", ]\nf = 1.50\nd = 2026-01-02\n\n[mcp_servers.qa-orch.env]\nA = \"b\"\n\n[mcp_servers.b]\ncommand = \"x\"\n"},
		{text: "[mcp_servers.b]\ncommand = \"x\"\n\n[mcp_servers.'qa-orch']\ncommand = \"y\""},
		{text: "\xef\xbb\xbfa = 1\r\n\r\n[mcp_servers.qa-orch]\r\ncommand = \"y\"\r\n"},
		{text: "[mcp_servers]\nqa-orch = {command = \"/by/hand\"} # why\nb.command = \"c\"\n"},
		{text: "[mcp_servers]\nqa-orch.command = \"/by/hand\"\n"},
		{text: "mcp_servers.qa-orch.command = \"x\"\n"},
		{text: "mcp_servers.qa-orch.command = \"x\"\nz = 1\n\n[t]\n", loose: true},
		{text: "[mcp_servers]\nb.command = \"c\"\nqa-orch.command = \"/by/hand\"\n\n[mcp_servers.qa-orch.env]\nA = \"b\"\n\n[z]\n", loose: true},
		{text: "[mcp_servers.qa-orch]\ncommand = \"x\"\n# between\n[mcp_servers.qa-orch.env]\nA = \"b\"\n\n[z]\n", loose: true},
		{text: "[mcp_servers.qa-orch.env]\nA = \"b\"\n\n[z]\n\n[mcp_servers.qa-orch]\ncommand = \"x\"\n", loose: true},
		{text: "[[mcp_servers.qa-orch]]\ncommand = \"x\"\n"},
	},
	YAML: {
		{text: "extensions:\n    b: {}\n    # mine\n    qa-orch: # why\n        cmd: /by/hand\n        # in it\n        f: 1.50\n        text: |\n          two\n\n          lines\n    c: {}\n"},
		{text: "base: &base\n  timeout: 3\nextensions:\n  qa-orch: {enabled: true, cmd: x}\n  b:\n    <<: *base\n"},
		{text: "extensions:\n  b: {}\n  qa-orch:\n    cmd: x"},
		{text: "extensions:\r\n  qa-orch:\r\n    cmd: x\r\n    args:\r\n    - y\r\n# end\r\n"},
		{text: "extensions:\n  qa-orch:\n"},
	},
}

func TestRestorePutsTheOldEntryBack(t *testing.T) {
	t.Parallel()
	for f, files := range byHand {
		p, other := paths[f], Path{paths[f].Container, "zz-other"}
		for _, c := range files {
			text := []byte(c.text)
			ours, err := f.Set(text, p, entry("/usr/bin/qa-orch"))
			if err != nil {
				t.Errorf("%q: set: %v", c.text, err)
				continue
			}
			back, err := f.Restore(ours, text, p)
			if err != nil || !c.loose && !bytes.Equal(back, text) {
				t.Errorf("%v\n%q\nwant\n%q\nwas\n%q", err, back, text, ours)
			}
			// Somebody else adds an entry in between.
			theirs, err := f.Set(ours, other, entry("/x"))
			if err != nil {
				t.Fatal(err)
			}
			if back, err = f.Restore(theirs, text, p); err != nil {
				t.Errorf("%q: after others: %v", c.text, err)
				continue
			}
			got, err := f.decodeAll(back)
			before, _ := f.decodeAll(text)
			if err != nil || !sameBut(got, before, other) {
				t.Errorf("%q: after others: %v\n%q", c.text, err, back)
			}
			if v, found, err := f.Get(back, other); err != nil || !found || !says(v, entry("/x")) {
				t.Errorf("%q: the others' entry is gone: %v\n%q", c.text, err, back)
			}
			want, err := f.Set(text, other, entry("/x"))
			if err == nil && !c.loose && f != TOML && bytes.ContainsRune(text, '\n') && !bytes.Equal(back, want) {
				t.Errorf("after others\n%q\nwant\n%q", back, want)
			}
		}
	}
}

// An entry goes back into a file that others have laid out anew.
func TestRestoreIntoAnotherLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f                Format
		from, data, want string
	}{
		{JSON, "{\r\n  \"mcpServers\": {\r\n    \"qa-orch\": {\r\n      \"a\": 1\r\n    }\r\n  }\r\n}", "{\n\"mcpServers\": {\"qa-orch\": {}}}\n", "{\n\"mcpServers\": {\"qa-orch\": {\n      \"a\": 1\n    }}}\n"},
		{TOML, "[mcp_servers]\nqa-orch.a = 1", "b = 2\n\n[mcp_servers.qa-orch]\nc = 3\n", "b = 2\n\n[mcp_servers]\nqa-orch.a = 1\n"},
		{TOML, "mcp_servers.qa-orch.a = 1\r\n", "b = 2\n[mcp_servers.qa-orch]\nc = 3\n[z]", "b = 2\nmcp_servers.qa-orch.a = 1\n[z]"},
		{TOML, "mcp_servers.qa-orch.a = 1", "b = 2\n\n[mcp_servers.qa-orch]\nc = 3", "b = 2\nmcp_servers.qa-orch.a = 1"},
		{YAML, "extensions:\n      qa-orch:\n          a: 1\n\n          b:\n          - x\n", "c: 1\nextensions:\n  qa-orch:\n    cmd: x\n  d: {}\n", "c: 1\nextensions:\n  qa-orch:\n      a: 1\n\n      b:\n      - x\n  d: {}\n"},
		{YAML, "extensions:\n qa-orch:\n  a: 1", "extensions:\r\n    qa-orch: {}\r\n", "extensions:\r\n    qa-orch:\r\n     a: 1\r\n"},
	} {
		got, err := c.f.Restore([]byte(c.data), []byte(c.from), paths[c.f])
		if err != nil || string(got) != c.want {
			t.Errorf("%q into %q: %v\n%q\nwant\n%q", c.from, c.data, err, got, c.want)
		}
	}
}

func TestWhatCantBeRestoredIsRefused(t *testing.T) {
	t.Parallel()
	for f, files := range byHand {
		p := paths[f]
		with := []byte(files[0].text)
		without, err := f.Remove(with, p, false)
		if err != nil {
			t.Fatal(err)
		}
		var refusal *Error
		for _, c := range [][2][]byte{{with, without}, {without, with}, {with, []byte("{")}, {with, nil}, {nil, with}, {with, []byte("\xff\xfe")}} {
			if out, err := f.Restore(c[0], c[1], p); !errors.As(err, &refusal) {
				t.Errorf("%s: %v\n%s", f, err, out)
			}
		}
	}
	// What it leans on is gone.
	from := "base: &base\n  a: 1\nextensions:\n  qa-orch:\n    <<: *base\n"
	if out, err := YAML.Restore([]byte("extensions:\n  qa-orch:\n    cmd: x\n"), []byte(from), paths[YAML]); err == nil {
		t.Errorf("%s", out)
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	for f, p := range paths {
		data, err := f.Set(nil, p, entry("/x y"))
		if err != nil {
			t.Fatal(err)
		}
		got, found, err := f.Get(data, p)
		if err != nil || !found || !says(got, entry("/x y")) {
			t.Errorf("%s: %v %v %v", f, got, found, err)
		}
		if _, found, err := f.Get(nil, p); found || err != nil {
			t.Errorf("%s: an empty file has an entry (%v)", f, err)
		}
		if _, found, err := f.Get(data, Path{p.Container, "other"}); found || err != nil {
			t.Errorf("%s: another entry was found (%v)", f, err)
		}
	}
}

func fuzz(f *testing.F, format Format) {
	for _, suffix := range []string{"", "-bad"} {
		for _, data := range corpus(f, format, suffix) {
			f.Add(data)
		}
	}
	for _, c := range byHand[format] {
		f.Add([]byte(c.text))
	}
	p := paths[format]
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := format.Set(data, p, entry("/x"))
		if err != nil {
			var refusal *Error
			if !errors.As(err, &refusal) {
				t.Fatalf("an error that says nothing: %v", err)
			}
			return
		}
		before, err := format.decodeAll(data)
		if err != nil {
			t.Fatal(err)
		}
		after, err := format.decodeAll(out)
		if err != nil || !sameBut(before, after, p) {
			t.Fatalf("more than the entry changed: %v\n%q\n%q", err, data, out)
		}
		got, found, err := format.Get(out, p)
		if err != nil || !found || !says(got, entry("/x")) {
			t.Fatalf("the entry is wrong: %v %v", got, err)
		}
		_, had := before[p.Container]
		if _, hadEntry, _ := format.Get(data, p); !hadEntry && format != YAML {
			// Nothing was taken away: what was there is a subsequence of what is.
			rest := out
			for _, b := range data {
				i := bytes.IndexByte(rest, b)
				if i < 0 {
					t.Fatalf("bytes are lost\n%q\n%q", data, out)
				}
				rest = rest[i+1:]
			}
		}
		if _, hadEntry, _ := format.Get(data, p); hadEntry {
			restored, err := format.Restore(out, data, p)
			if err != nil {
				t.Fatalf("can't be put back: %v\n%q\n%q", err, data, out)
			}
			again, err := format.decodeAll(restored)
			if err != nil || fmt.Sprintf("%#v", again) != fmt.Sprintf("%#v", before) {
				t.Fatalf("put back as something else: %v\n%q\n%q", err, data, restored)
			}
		}
		back, err := format.Remove(out, p, !had)
		if err != nil {
			t.Fatalf("can't be undone: %v\n%q\n%q", err, data, out)
		}
		undone, err := format.decodeAll(back)
		if err != nil || !sameBut(before, undone, p) {
			t.Fatalf("undone to something else: %v\n%q\n%q", err, data, back)
		}
	})
}

func FuzzJSON(f *testing.F) { fuzz(f, JSON) }
func FuzzTOML(f *testing.F) { fuzz(f, TOML) }
func FuzzYAML(f *testing.F) { fuzz(f, YAML) }
