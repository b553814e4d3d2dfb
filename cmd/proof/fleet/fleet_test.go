package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/server/review"
)

var built = sync.OnceValues(func() (string, error) {
	return Build(context.Background(), folder, "cmd/qa-orch", false)
})

var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "fleet-"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		return m.Run()
	}())
}

func startOne(t *testing.T) *Server {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	s, err := Start(t.Context(), path, []string{"serve"}, Env(home, "QA_ORCHESTRATOR_SESSION_STORE_PATH="+filepath.Join(home, "sessions.sqlite3")), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return s
}

func TestCalls(t *testing.T) {
	s := startOne(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r, err := s.Call(t.Context(), review.StartTool, map[string]any{"task_type": "other"})
			var state struct {
				RunID string `json:"run_id"`
			}
			if err != nil || r.IsError || json.Unmarshal(r.Structured, &state) != nil || !strings.HasPrefix(state.RunID, "qar-") {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	all.Wait()
	r, err := s.Call(t.Context(), review.StartTool, nil)
	if err != nil || !r.IsError || r.Structured != nil || !strings.HasPrefix(r.Text, "invalid arguments") {
		t.Errorf("a call without arguments: %+v %v", r, err)
	}
	if _, err := s.Ask(t.Context(), "no/such", nil); err == nil || !strings.Contains(err.Error(), "-32601") {
		t.Errorf("an unknown method: %v", err)
	}
	if u, ok := UsageOf(s.Pid()); ok && (u.RSS < 1<<20 || u.Descriptors < 3 || u.Threads < 1) {
		t.Errorf("usage %+v", u)
	}
	if err := s.Close(10 * time.Second); err != nil {
		t.Error(err)
	}
}

func TestKill(t *testing.T) {
	s := startOne(t)
	s.Kill()
	if _, err := s.Call(t.Context(), review.StartTool, map[string]any{"task_type": "other"}); !errors.Is(err, ErrGone) {
		t.Errorf("a call of a killed server: %v", err)
	}
}

func TestStartFails(t *testing.T) {
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), path, []string{"serve", "--no-such-flag"}, Env(t.TempDir()), nil); err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("the error lacks what the program said: %v", err)
	}
}

// The linker leaves out methods that nobody calls, unless something that is linked can find a method
// by its name while it runs: text/template can. Then the program is 3 MB larger.
func TestNothingFindsMethodsByName(t *testing.T) {
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := exec.Command("go", "tool", "nm", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(symbols, []byte(" main.main\n")) {
		t.Fatal("the program has no symbols to look at")
	}
	for _, name := range []string{"text/template.(*state).evalField", "reflect.Value.MethodByName"} {
		if bytes.Contains(symbols, []byte(" "+name+"\n")) {
			t.Errorf("the program links %s", name)
		}
	}
}
