//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/files"
	"github.com/qa-orch/qa-orch/locales"
	advserver "github.com/qa-orch/qa-orch/server/advocate"
)

// victim is a folder that is nobody's business, beside somebody's own folders.
type victim struct {
	*person
	dir    string
	before map[string]string
}

// newVictim makes somebody and a folder with a file of text, an empty one and one that is a store.
func newVictim(t *testing.T, lang string) *victim {
	t.Helper()
	dir := t.TempDir()
	v := &victim{person: newPerson(t, dir, "QA_ORCH_LANG="+lang), dir: filepath.Join(dir, "outside")}
	v.put(v.at("full"), "somebody's own\n", 0o644)
	v.put(v.at("empty"), "", 0o644)
	v.before = v.snapshot()
	return v
}

func (v *victim) at(name string) string { return filepath.Join(v.dir, name) }

// snapshot returns what the folder holds: modes, sizes, times and bytes.
func (v *victim) snapshot() map[string]string {
	v.t.Helper()
	all := map[string]string{}
	for path := range modesIn(v.t, v.dir) {
		info, err := os.Lstat(path)
		if err != nil {
			v.t.Fatal(err)
		}
		text := fmt.Sprint(info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				v.t.Fatal(err)
			}
			text += string(data)
		}
		all[path] = text
	}
	return all
}

// untouched checks that the folder is what it was.
func (v *victim) untouched(what string) {
	v.t.Helper()
	after := v.snapshot()
	for path, text := range after {
		if v.before[path] != text {
			v.t.Errorf("%s: %s was made or changed: %q, was %q", what, path, text, v.before[path])
		}
	}
	for path := range v.before {
		if _, there := after[path]; !there {
			v.t.Errorf("%s: %s is gone", what, path)
		}
	}
}

// traps are what may wait at a path instead of a file.
var traps = []struct {
	name string
	lay  func(v *victim, path string) error
}{
	{"link", func(v *victim, path string) error { return os.Symlink(v.at("full"), path) }},
	{"link to an empty file", func(v *victim, path string) error { return os.Symlink(v.at("empty"), path) }},
	{"dangling link", func(v *victim, path string) error { return os.Symlink(v.at("fresh"), path) }},
	{"link to a folder", func(v *victim, path string) error { return os.Symlink(v.dir, path) }},
	{"circle of links", func(_ *victim, path string) error { return os.Symlink(filepath.Base(path), path) }},
	{"hard link", func(v *victim, path string) error { return os.Link(v.at("full"), path) }},
	{"hard link to an empty file", func(v *victim, path string) error { return os.Link(v.at("empty"), path) }},
	{"pipe", func(_ *victim, path string) error { return syscall.Mkfifo(path, 0o600) }},
	{"folder", func(_ *victim, path string) error { return os.Mkdir(path, 0o700) }},
	{"link to a device", func(_ *victim, path string) error { return os.Symlink("/dev/zero", path) }},
}

// lay puts a trap at a path, in folders that are the person's own.
func (v *victim) lay(trap int, path string) {
	v.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		v.t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		v.t.Fatal(err)
	}
	if err := traps[trap].lay(v, path); err != nil {
		v.t.Skip(err)
	}
}

// soon runs the program and fails if it waits for somebody.
func (v *victim) soon(args ...string) said {
	v.t.Helper()
	cmd := v.command(nil, args...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	stuck := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	if !stuck.Stop() {
		v.t.Errorf("%q waits", args)
	}
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// refusal checks that a run failed and said one of the messages.
func (v *victim) refusal(what string, s said, words *locales.Printer, ids ...string) {
	v.t.Helper()
	for _, id := range ids {
		if strings.Contains(squeeze(s.out+s.err), squeeze(words.T(id))) && s.code == exitFailed {
			return
		}
	}
	v.t.Errorf("%s: exit code %d, and none of %v said:\n%s%s", what, s.code, ids, s.out, s.err)
}

// A store where something else waits is refused by servers and by who looks at it.
func TestTrapsInPlaceOfTheStore(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, words *locales.Printer, lang string) {
		v := newVictim(t, lang)
		for i, trap := range traps {
			for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
				if suffix != "" && lang != "en" {
					continue // the words are the same
				}
				what := trap.name + " at the store" + suffix
				if err := os.RemoveAll(filepath.Dir(v.store())); err != nil {
					t.Fatal(err)
				}
				v.lay(i, v.store()+suffix)
				s := v.peer("serve", "--store", v.store())
				if a := s.call("start_qa_orchestration", map[string]any{"task_type": "other"}); !strings.HasPrefix(a.refusal, "session store unavailable: ") {
					t.Errorf("%s: the server answers %q %v", what, a.refusal, a.state)
				}
				if code := s.end(); code != exitOK {
					t.Errorf("%s: exit code %d", what, code)
				}
				if !strings.Contains(squeeze(s.stderr.String()), squeeze(words.T(reasonOf(trap.name)))) {
					t.Errorf("%s: the server says %q", what, s.stderr)
				}
				if suffix == "" {
					v.refusal(what, v.soon("sessions", "--plain"), words, reasonOf(trap.name))
					v.refusal(what, v.soon("doctor"), words, reasonOf(trap.name))
				}
				v.untouched(what)
			}
		}
	})
}

// reasonOf is the message that a trap gives.
func reasonOf(trap string) string {
	switch {
	case strings.HasPrefix(trap, "hard link"):
		return "explain.store.second_name"
	case strings.Contains(trap, "link"):
		return "explain.store.is_symlink"
	case trap == "folder":
		return "explain.store.is_folder"
	}
	return "explain.store.not_regular"
}

// A policy may be a person's own link to a file; whatever else waits there is refused, and the names of
// backups are never followed.
func TestTrapsInPlaceOfThePolicy(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, words *locales.Printer, lang string) {
		v := newVictim(t, lang)
		for i, trap := range traps {
			if strings.HasPrefix(trap.name, "link") && !strings.HasSuffix(trap.name, "folder") && !strings.HasSuffix(trap.name, "device") || trap.name == "dangling link" {
				continue // a person's own link to a file is followed: see the next test
			}
			v.lay(i, v.policy())
			s := v.soon(setupFlags...)
			switch {
			case trap.name == "circle of links":
				v.refusal(trap.name, s, words, "cause.link-loop")
			case strings.HasPrefix(trap.name, "hard link"):
				if s.code != exitOK { // the name gets a file of its own
					t.Errorf("%s: exit code %d\n%s", trap.name, s.code, s.err)
				}
			default:
				v.refusal(trap.name, s, words, "explain.not-regular")
				if s := v.soon("config", "show"); s.code != exitFailed || !strings.Contains(s.out, "not a regular file") {
					t.Errorf("%s: config show: exit code %d\n%s%s", trap.name, s.code, s.out, s.err)
				}
			}
			v.untouched(trap.name)
		}
		for i, trap := range traps {
			if lang != "en" && trap.name != "link" {
				continue // the words are the same
			}
			if err := os.RemoveAll(filepath.Dir(v.policy())); err != nil {
				t.Fatal(err)
			}
			v.put(v.policy(), "{", 0o600)
			v.lay(i, v.policy()+".backup")
			if s := v.soon(setupFlags...); s.code != exitOK || !strings.Contains(squeeze(s.out), "model-policy.json.backup-2") {
				t.Errorf("%s at the backup: exit code %d\n%s%s", trap.name, s.code, s.out, s.err)
			}
			v.untouched(trap.name + " at the backup")
		}
		for _, name := range []string{"pipe", "folder", "circle of links", "link to a device"} {
			v.lay(trapOf(name), filepath.Join(v.home, ".qa-orchestrator", "models.toml"))
			if s := v.soon("reload"); s.code != exitFailed {
				t.Errorf("%s at the models: exit code %d\n%s%s", name, s.code, s.out, s.err)
			}
			server := v.peer("serve")
			server.must("start_qa_orchestration", map[string]any{"task_type": "other"})
			server.end()
		}
	})
}

func trapOf(name string) int {
	for i, trap := range traps {
		if trap.name == name {
			return i
		}
	}
	panic(name)
}

// Links that a person made, as those do who keep their settings elsewhere, work and stay.
func TestOwnLinksWork(t *testing.T) {
	t.Parallel()
	p := newPerson(t, t.TempDir())
	dots := filepath.Join(p.home, "dotfiles")
	link := func(path, name, text string) (check func(want string)) {
		t.Helper()
		target := filepath.Join(dots, name)
		if text != "" {
			p.put(target, text, 0o640)
		}
		if err := os.MkdirAll(dots, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return func(want string) {
			t.Helper()
			if to, err := os.Readlink(path); err != nil || to != target {
				t.Errorf("%s is no link any more: %v", path, err)
			}
			if data, err := os.ReadFile(target); err != nil || !strings.Contains(string(data), want) {
				t.Errorf("%s holds %q, %v", target, data, err)
			}
		}
	}
	policy := link(p.policy(), "policy.json", "")
	zed := link(filepath.Join(p.home, ".config", "zed", "settings.json"), "zed.json", "{}\n")
	rules := link(filepath.Join(p.project, "AGENTS.md"), "AGENTS.md", "# Mine\n")
	report := link(filepath.Join(p.home, "memo.md"), "memo.md", "old")
	if err := os.Symlink(filepath.Join(p.home, "reviews"), filepath.Join(p.home, ".mcp-devils-advocate")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.home, "reviews"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.must(setupFlags...)
	policy(`"gpt-6-sol"`)
	p.must("connect", "zed", "--yes")
	zed(`"qa-orch"`)
	p.must("disconnect", "zed", "--yes")
	zed("{}\n")
	p.must("rules", "--install")
	rules("qa-orch")
	adv := p.peer("advocate", "serve")
	id := adv.must(advserver.StartTool, map[string]any{"claim": "Release 4.2 is ready to ship", "mode": "steelman"}).str("review_id")
	adv.must(advserver.AbandonTool, map[string]any{"review_id": id, "reason": "one is enough"})
	adv.end()
	if s := p.run("advocate", "report", id, "-o", filepath.Join(p.home, "memo.md"), "--force"); s.code == exitOK {
		report("Release 4.2")
	}
	p.must("advocate", "show", id)
	if info, err := os.Stat(filepath.Join(dots, "zed.json")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode of zed.json: %v, %v", info.Mode(), err)
	}
}

// Reviews, their locks and the files beside them.
func TestTrapsAmongTheReviews(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, words *locales.Printer, lang string) {
		v := newVictim(t, lang)
		dir := filepath.Join(v.home, ".mcp-devils-advocate")
		r, err := advocate.New("rev-mine", "Release 4.2 is ready to ship", advocate.Steelman, "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		start := map[string]any{"claim": "Release 4.2 is ready to ship", "mode": "steelman"}
		abandon := map[string]any{"review_id": "rev-mine", "reason": "one is enough"}
		for i, trap := range traps {
			for _, place := range []string{"review", "file beside it", "locks", "folder of locks"} {
				if lang != "en" && (place != "locks" || trap.name != "link") {
					continue // the words are few
				}
				what := trap.name + ", " + place
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				if err := files.New(dir).Create(r); err != nil {
					t.Fatal(err)
				}
				switch place {
				case "review":
					v.lay(i, filepath.Join(dir, "rev-trap.json"))
				case "file beside it":
					v.lay(i, filepath.Join(dir, ".rev-mine.tmp"))
				case "locks":
					for n := range 64 {
						v.lay(i, filepath.Join(dir, ".locks", fmt.Sprintf("%02d", n)))
					}
				case "folder of locks":
					v.lay(i, filepath.Join(dir, ".locks"))
				}
				s := v.peer("advocate", "serve")
				begun := s.call(advserver.StartTool, start)
				done := s.call(advserver.AbandonTool, abandon)
				list := s.call(advserver.ListTool, map[string]any{})
				s.end()
				if list.refusal != "" {
					t.Errorf("%s: the list is refused: %s", what, list.refusal)
				}
				works := place == "review" || place == "file beside it" || strings.HasPrefix(trap.name, "hard link") && place == "locks" ||
					trap.name == "folder" && place == "folder of locks"
				if works != (begun.refusal == "") || works != (done.refusal == "") {
					t.Errorf("%s: %q, %q", what, begun.refusal, done.refusal)
				}
				seen := v.soon("advocate", "list")
				if seen.code != exitOK {
					t.Errorf("%s: exit code %d", what, seen.code)
				}
				if place == "review" && !strings.HasPrefix(trap.name, "hard link") && !strings.Contains(squeeze(seen.out), squeeze(words.T("explain.fault.link"))) &&
					!strings.Contains(squeeze(seen.out), squeeze(words.T("explain.fault.irregular"))) {
					t.Errorf("%s: the list says\n%s", what, seen.out)
				}
				v.untouched(what)
			}
		}
	})
}

// completeReview returns a review with the id rev-demo that has come to its verdict.

func completeReview(t *testing.T, claim string) *advocate.Review {
	t.Helper()
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	r, err := advocate.New("rev-demo", claim, advocate.Steelman, claim, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, items := range [][]any{
		{
			map[string]any{"text": "Half of the partners have not signed the amended contract"},
			map[string]any{"text": "The load test stopped at a tenth of the traffic"},
			map[string]any{"text": "Nobody has translated the Swiss invoices yet"},
		},
		{
			map[string]any{"index": 0, "stance": "concede", "text": "They keep the previous portal until summer"},
			map[string]any{"index": 1, "stance": "counter", "text": "A full run is booked for the weekend"},
			map[string]any{"index": 2, "stance": "counter", "text": "Switzerland joins in the second wave"},
		},
	} {
		if _, err := r.Submit(items, at); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Reports are written where they are asked for, and over nothing that is no file.
func TestTrapsInPlaceOfAReport(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, words *locales.Printer, lang string) {
		v := newVictim(t, lang)
		dir := filepath.Join(v.home, ".mcp-devils-advocate")
		if err := files.New(dir).Create(completeReview(t, "Release 4.2 is ready to ship")); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(v.home, "memo.md")
		for i, trap := range traps {
			v.lay(i, out)
			s := v.soon("advocate", "report", "rev-demo", "-o", out)
			if s.code != exitFailed || !strings.Contains(squeeze(s.err), squeeze(words.T("advocate.exists", locales.Vars{"Path": out}))) {
				t.Errorf("%s: exit code %d\n%s%s", trap.name, s.code, s.out, s.err)
			}
			v.untouched(trap.name)
		}
		for _, name := range []string{"pipe", "folder", "link to a device", "link to a folder"} {
			v.lay(trapOf(name), out)
			v.refusal(name, v.soon("advocate", "report", "rev-demo", "-o", out, "--force"), words, "explain.not-regular")
			v.untouched(name)
		}
		v.lay(trapOf("hard link"), out)
		if s := v.soon("advocate", "report", "rev-demo", "-o", out, "--force"); s.code != exitOK {
			t.Errorf("over a hard link: %s", s.err)
		}
		v.untouched("a hard link that is replaced")
	})
}

// Clients' lists, instructions, and what connect keeps of them.
func TestTrapsWhereConnectWrites(t *testing.T) {
	t.Parallel()
	inBoth(t, func(t *testing.T, words *locales.Printer, lang string) {
		v := newVictim(t, lang)
		list, notes := filepath.Join(v.home, ".cursor", "mcp.json"), filepath.Join(v.home, ".qa-orchestrator", "connections")
		for _, name := range []string{"pipe", "folder", "link to a folder", "link to a device"} {
			v.lay(trapOf(name), list)
			v.refusal(name, v.soon("connect", "cursor", "--yes"), words, "explain.not-regular")
			if s := v.soon("connect", "--list"); s.code != exitFailed {
				t.Errorf("%s: the list says\n%s", name, s.out)
			}
			v.lay(trapOf(name), filepath.Join(v.project, "AGENTS.md"))
			v.refusal(name, v.soon("rules", "codex", "--install"), words, "explain.not-regular")
			v.untouched(name)
		}
		// What connect keeps beside its notes: learn the names, then lay the traps there.
		if err := os.RemoveAll(list); err != nil {
			t.Fatal(err)
		}
		v.put(list, "{}\n", 0o600)
		v.must("connect", "cursor", "--yes")
		kept, err := os.ReadDir(notes)
		if err != nil || len(kept) != 3 {
			t.Fatalf("%v, %v", kept, err)
		}
		for i, trap := range traps {
			for _, entry := range kept {
				if lang != "en" && trap.name != "link" {
					continue
				}
				what := trap.name + " at " + entry.Name()
				if err := os.RemoveAll(notes); err != nil {
					t.Fatal(err)
				}
				v.put(list, "{}\n", 0o600)
				v.lay(i, filepath.Join(notes, entry.Name()))
				s := v.soon("connect", "cursor", "--yes")
				isLock := strings.HasSuffix(entry.Name(), ".lock")
				fails := isLock && !strings.HasPrefix(trap.name, "hard link") || trap.name == "folder"
				if fails != (s.code == exitFailed) {
					t.Errorf("%s: exit code %d\n%s%s", what, s.code, s.out, s.err)
				}
				if isLock && fails {
					v.refusal(what, s, words, "explain.link", "explain.not-regular")
				}
				v.untouched(what)
			}
			if err := os.RemoveAll(notes); err != nil {
				t.Fatal(err)
			}
			v.lay(i, notes)
			s := v.soon("connect", "junie", "--yes")
			if (s.code == exitOK) != (trap.name == "folder") {
				t.Errorf("%s at the folder of notes: exit code %d\n%s%s", trap.name, s.code, s.out, s.err)
			}
			v.untouched(trap.name + " at the folder of notes")
			if err := os.RemoveAll(filepath.Join(v.home, ".junie")); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// In a folder that belongs to somebody else, or that everybody may write to, links that others put
// there are not followed, and the doctor tells.
func TestFoldersOfOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const nobody = 65534
	inBoth(t, func(t *testing.T, words *locales.Printer, lang string) {
		v := newVictim(t, lang)
		data := filepath.Dir(v.policy())
		for what, prepare := range map[string]func() error{
			"everybody may write":   func() error { return os.Chmod(data, 0o777) },
			"it is somebody else's": func() error { return os.Chown(data, nobody, nobody) },
		} {
			if err := os.RemoveAll(data); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(data, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := prepare(); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{v.policy(), filepath.Join(v.home, ".cursor", "mcp.json"), filepath.Join(v.project, "AGENTS.md")} {
				v.lay(trapOf("link"), path)
				if err := os.Lchown(path, nobody, nobody); err != nil {
					t.Fatal(err)
				}
			}
			v.refusal(what, v.soon(setupFlags...), words, "explain.foreign-link")
			v.refusal(what, v.soon("rules", "codex", "--install"), words, "explain.foreign-link")
			if s := v.soon("connect", "cursor", "--yes"); s.code != exitFailed {
				t.Errorf("%s: connect: exit code %d\n%s%s", what, s.code, s.out, s.err)
			}
			if err := os.Remove(v.policy()); err != nil {
				t.Fatal(err)
			}
			s := v.soon("doctor", "--json")
			var report struct {
				Checks []struct{ Check, Status, Message string }
			}
			if err := json.Unmarshal([]byte(s.out), &report); err != nil {
				t.Fatal(err)
			}
			told := false
			for _, c := range report.Checks {
				told = told || c.Check == "data" && c.Status != checkPass && strings.Contains(c.Message, data)
			}
			if !told {
				t.Errorf("%s: the doctor says %s", what, s.out)
			}
			v.untouched(what)
		}
	})
}
