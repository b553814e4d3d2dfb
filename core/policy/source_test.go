package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
)

// watched is a source over a folder of its own.
type watched struct {
	*testing.T
	*Source
	policyPath, modelsPath string
	mu                     sync.Mutex
	warnings               []error
}

func watch(t *testing.T) *watched {
	dir := t.TempDir()
	w := &watched{T: t, policyPath: filepath.Join(dir, "p.json"), modelsPath: filepath.Join(dir, "models.toml")}
	w.Source = NewSource(w.policyPath, w.modelsPath, func(err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.warnings = append(w.warnings, err)
	})
	return w
}

func (w *watched) write(path, text string) {
	w.Helper()
	must(w, os.WriteFile(path, []byte(text), 0o600))
}

// want checks the triage model in force, "" for none, asked several times, and
// how many warnings there were since the last check.
func (w *watched) want(model string, warnings int) {
	w.Helper()
	for range 3 {
		p, m, err := w.Current()
		a, aerr := w.Assign(Triage)
		if (err == nil) != (model != "") || (aerr == nil) != (err == nil) || m == nil {
			w.Fatalf("%+v, %v, %v", p, err, aerr)
		}
		if err == nil && (p.Triage.Model != model || a.Model != model) {
			w.Fatalf("triage model %s, want %s", p.Triage.Model, model)
		}
	}
	if len(w.warnings) != warnings {
		w.Fatalf("%d warnings, want %d: %v", len(w.warnings), warnings, w.warnings)
	}
	w.warnings = nil
}

func policyWith(triage string) string {
	p := Default()
	p.Triage = Choice{triage, "max"}
	return string(p.Encode())
}

func TestSourceFollowsTheFile(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.want("gpt-6-luna", 0) // none: the default
	w.write(w.policyPath, policyWith("gpt-6-sol"))
	w.want("gpt-6-sol", 0)
	w.write(w.policyPath, "{broken")
	w.want("gpt-6-sol", 1) // the last valid one, one warning
	w.write(w.policyPath, "{broken otherwise")
	w.want("gpt-6-sol", 1)
	w.write(w.policyPath, policyWith("gpt-6-astra"))
	w.want("gpt-6-astra", 0)
	must(t, os.Remove(w.policyPath))
	w.want("gpt-6-luna", 0) // removed: the default
	must(t, os.Mkdir(w.policyPath, 0o700))
	w.want("gpt-6-luna", 1)
	must(t, os.Remove(w.policyPath))
	w.want("gpt-6-luna", 0)
}

func TestSourceNeverValid(t *testing.T) {
	t.Parallel()
	w := watch(t)
	w.write(w.policyPath, `{"provider": "`+secret+`"}`)
	w.want("", 1)
	_, _, err := w.Current()
	var bad *Invalid
	if !errors.As(err, &bad) || strings.Contains(err.Error(), secret) {
		t.Fatalf("got %v", err)
	}
	w.write(w.policyPath, "")
	w.want("", 1)
	if _, _, err := w.Current(); !errors.As(err, &bad) || bad.Problems[0].Code != CodeEmpty {
		t.Fatalf("tells of an earlier problem: %v", err)
	}
	w.write(w.policyPath, policyWith("gpt-6-sol")) // mended
	w.want("gpt-6-sol", 0)
}

func TestSourceNoticesEditsWithinOneTick(t *testing.T) {
	t.Parallel()
	w := watch(t)
	stamp := time.Now().Truncate(time.Second)
	for _, model := range []string{"gpt-6-luna", "gpt-5.6-sol", "gpt-6-astra", "gpt-6.1-sol", "gpt-5.6-sol"} {
		w.write(w.policyPath, policyWith(model))
		must(t, os.Chtimes(w.policyPath, stamp, stamp)) // as a coarse file system would
		w.want(model, 0)
	}
}

func TestSourceTrustsAnOldFile(t *testing.T) {
	t.Parallel()
	w := watch(t)
	old := time.Now().Add(-time.Hour)
	w.write(w.policyPath, policyWith("gpt-6-luna"))
	must(t, os.Chtimes(w.policyPath, old, old))
	w.want("gpt-6-luna", 0)
	if w.policy.refresh(w.policyPath) {
		t.Error("an untouched file counts as changed")
	}
	w.write(w.policyPath, policyWith("gpt-6.1-sol"))
	w.want("gpt-6.1-sol", 0)
	other := w.policyPath + ".new" // replaced by one of the same size and time
	w.write(other, policyWith("gpt-5.6-sol"))
	must(t, os.Chtimes(other, old, old))
	must(t, os.Rename(other, w.policyPath))
	w.want("gpt-5.6-sol", 0)
}

func TestSourceFollowsTheModels(t *testing.T) {
	t.Parallel()
	w := watch(t)
	const model = "[[model]]\nid = \"house-1\"\nprovider = \"openai\"\nreasoning = [\"max\"]\n"
	verified := func(want bool) {
		t.Helper()
		if a, err := w.Assign(Triage); err != nil || a.Verified != want {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	w.write(w.policyPath, policyWith("house-1"))
	w.want("house-1", 0)
	verified(false)
	w.write(w.modelsPath, model)
	w.want("house-1", 0)
	verified(true)
	w.write(w.modelsPath, "[[model]\n"+secret)
	w.want("house-1", 1)
	verified(false)
	w.write(w.modelsPath, strings.Replace(model, `["max"]`, `["low"]`, 1))
	w.want("house-1", 1) // the policy no longer fits the models: the last valid one stays
	must(t, os.Remove(w.modelsPath))
	w.want("house-1", 0)
	must(t, os.Mkdir(w.modelsPath, 0o700))
	w.want("house-1", 1)
	verified(false)
}

func TestSourceUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := watch(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 25 {
				if i == 0 {
					p := Default()
					if n%2 == 0 {
						p = fullPolicy
					}
					if _, err := Save(w.policyPath, p, catalog.Builtin()); err != nil {
						t.Error(err)
					}
				}
				if p, _, err := w.Current(); err != nil || p != Default() && p != fullPolicy {
					t.Errorf("%+v, %v", p, err)
				}
			}
		})
	}
	wg.Wait()
	if p, _, err := NewSource(w.policyPath, w.modelsPath, nil).Current(); err != nil || p != fullPolicy {
		t.Errorf("%+v, %v", p, err)
	}
}
