package load

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/cmd/proof/fleet"
)

// Every kind is loaded for a moment. Nothing is said about time.
func TestAMomentOfLoad(t *testing.T) {
	t.Parallel()
	program, err := fleet.Build(t.Context(), t.TempDir(), "cmd/qa-orch", false)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := Run(t.Context(), Options{Program: program, Kinds: Kinds(), Shapes: []Shape{{2, 2}}, For: time.Second, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(reports) != len(Kinds()) {
		t.Errorf("%d reports", len(reports))
	}
	for _, r := range reports {
		if r.Calls == 0 || r.Failed > 0 {
			t.Errorf("%s: %d calls, %d failed: %q", r.Name(), r.Calls, r.Failed, r.Found)
		}
		var b bytes.Buffer
		if err := r.Print(&b); err != nil || !strings.Contains(b.String(), "verdict") {
			t.Errorf("%v: %s", err, b.String())
		}
	}
	if _, err := Run(t.Context(), Options{Program: program, Kinds: []string{"nothing"}}); err == nil {
		t.Error("nothing was loaded")
	}
}

func TestParseShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Shape{"4x8": {4, 8}, "1×1": {1, 1}, "x": {}, "4": {}, "0x1": {}, "1x": {}} {
		if got, err := ParseShape(text); got != want || (err == nil) != (want != Shape{}) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// What grows without end is found, what levels off is not.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sample func(i int) Sample
		after  int
		found  string
	}{
		"flat":              {func(int) Sample { return Sample{RSS: 30 << 20, Descriptors: 12, Threads: 8, Bytes: 1 << 20} }, 10, ""},
		"warming up":        {func(i int) Sample { return Sample{RSS: int64(min(i, 25)) << 20} }, 10, ""},
		"noise":             {func(i int) Sample { return Sample{RSS: int64(30+i%3) << 20, WAL: int64(i%5) << 20} }, 10, ""},
		"leaks memory":      {func(i int) Sample { return Sample{RSS: int64(i) << 20} }, 10, "memory"},
		"leaks descriptors": {func(i int) Sample { return Sample{Descriptors: i} }, 10, "descriptors"},
		"leaks threads":     {func(i int) Sample { return Sample{Threads: i} }, 10, "threads"},
		"purges nothing":    {func(i int) Sample { return Sample{Bytes: int64(i) << 20} }, 10, "the size of files"},
		"leaves files":      {func(i int) Sample { return Sample{Files: i} }, 10, "files"},
		"never checkpoints": {func(i int) Sample { return Sample{WAL: int64(i) << 20} }, 10, "the log"},
		"leaks goroutines":  {func(int) Sample { return Sample{} }, 20, "goroutines"},
	} {
		var samples []Sample
		for i := range 99 {
			samples = append(samples, c.sample(i))
		}
		r := &Report{Thirds: thirds(samples), Goroutines: Goroutines{Before: 10, After: c.after}}
		r.judge(1)
		if found := strings.Join(r.Found, "; "); (found == "") != (c.found == "") || !strings.Contains(found, c.found) {
			t.Errorf("%s: found %q, want %q", name, found, c.found)
		}
	}
	if got := thirds(make([]Sample, 8)); len(got) != 0 {
		t.Errorf("eight samples make thirds: %v", got)
	}
}

func TestDump(t *testing.T) {
	t.Parallel()
	d := &dump{}
	const text = "SIGQUIT: quit\n\ngoroutine 1 [chan receive]:\nmain.main()\n\tgoroutine x\n\ngoroutine 18 gp=0x1 m=nil [select, 2 minutes]:\n"
	for i := range text {
		if _, err := io.WriteString(d, text[i:i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if d.count != 2 {
		t.Errorf("%d goroutines", d.count)
	}
}

func TestToolOf(t *testing.T) {
	t.Parallel()
	var times []time.Duration
	for i := range 100 {
		times = append(times, time.Duration(100-i)*time.Millisecond)
	}
	if got := toolOf("t", times); got.P50 != 51_000 || got.P99 != 100_000 || got.Max != 100_000 || got.Calls != 100 {
		t.Errorf("%+v", got)
	}
}
