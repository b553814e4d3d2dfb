package clients

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/clients/ledger"
)

// FuzzConnect registers both servers in a list of any content and takes them out
// again. A list that can't be understood is left as it is; any other has the
// entries then, and afterwards it is what it was, to the byte, with nothing left
// beside it.
func FuzzConnect(f *testing.F) {
	clients := []string{"codex", "claude-code", "opencode", "copilot", "goose", "amp", "zed"}
	home := f.TempDir()
	r := Registry{System: fakeSystem(runtime.GOOS, home, nil), Ledger: ledger.Ledger{Dir: filepath.Join(home, "ledger")}}
	ctx := context.Background()

	f.Fuzz(func(t *testing.T, pick uint8, exists bool, content []byte) {
		if len(content) > 32<<10 {
			return
		}
		c := Find(clients[int(pick)%len(clients)])
		entries, err := os.ReadDir(home)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(home, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		path := c.Path(r.System, User)
		if exists {
			write(t, path, string(content))
		}
		same := func(when string) {
			t.Helper()
			data, err := os.ReadFile(path)
			if exists && (err != nil || !bytes.Equal(data, content)) || !exists && !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("%s the list is %q, %v", when, data, err)
			}
		}
		unchanged := map[string]bool{}
		connect := func(name string) error {
			plan, err := r.Plan(c, User, name, sample)
			if err != nil {
				return err
			}
			res, err := r.Connect(ctx, plan)
			if err != nil {
				t.Fatalf("it was planned, and then: %v", err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, plan.After) || res.Changed != plan.Changes() {
				t.Fatalf("planned was %q, and it became %q, %v, %+v", plan.After, after, err, res)
			}
			if got, found, err := c.Lookup(after, name); err != nil || !found || !got.Same(sample) {
				t.Fatalf("%s is not in the list: %+v, %v, %v in %q", name, got, found, err, after)
			}
			unchanged[name] = !res.Changed
			if res, err := r.Connect(ctx, plan); err != nil || res.Changed {
				t.Fatalf("a second time: %+v, %v", res, err)
			}
			return nil
		}
		if connect(ReviewName) != nil {
			same("after a refusal")
			return
		}
		both := connect(AdvocateName) == nil
		for _, name := range []string{ReviewName, AdvocateName} {
			if name == AdvocateName && !both {
				continue
			}
			res, err := r.Disconnect(ctx, c, User, name)
			if err != nil || !res.Changed {
				t.Fatalf("disconnecting %s: %+v, %v", name, res, err)
			}
			after, err := ledger.Peek(path)
			if err != nil {
				t.Fatal(err)
			}
			// What was there before is there again, unless it was just so.
			was, had, _ := c.Lookup(content, name)
			back := exists && had && !unchanged[name]
			got, found, err := c.Lookup(after, name)
			if err != nil || found != back || res.Back != back || found && !got.Same(was) {
				t.Fatalf("%s is there: %v, %+v, %v, %+v, %q", name, found, got, err, res, after)
			}
		}
		if !unchanged[ReviewName] && !unchanged[AdvocateName] {
			same("afterwards")
		}
		left, err := filepath.Glob(filepath.Join(r.Ledger.Dir, "*"))
		if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
			t.Errorf("left in the ledger: %q, %v", left, err)
		}
	})
}
