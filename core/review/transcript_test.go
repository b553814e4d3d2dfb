package review_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
)

var update = flag.Bool("update", false, "rewrite the transcripts with what the machine answers now")

// TestTranscripts plays testdata/*.txt. A transcript is a series of blocks: a
// line with a command, a line of dashes, the answer, an empty line.
//
//	start TASK
//	advance STEP STATUS [bundle=B] [profile=P] [done=P] [signals=A,B|none]
//	finish OUTCOME
//	wait DURATION
//	policy on|off
//	json
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("the machine answers otherwise (go test -update shows the difference):\n%s", firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return "one is longer"
}

func play(t *testing.T, script string) string {
	t.Helper()
	var out strings.Builder
	p := player{now: time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC), policy: true}
	for block := range strings.SplitSeq(strings.TrimSpace(script), "\n\n") {
		lines := strings.Split(block, "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			fmt.Fprintln(&out, lines[0])
			lines = lines[1:]
		}
		if len(lines) > 0 {
			fmt.Fprintf(&out, "%s\n----\n%s", lines[0], p.run(t, strings.Fields(lines[0])))
		}
		out.WriteString("\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

type player struct {
	s      review.Session
	now    time.Time
	policy bool
}

func (p *player) assign(st policy.Stage) (policy.Assignment, error) {
	if !p.policy {
		return policy.Assignment{}, errors.New("model policy unavailable")
	}
	return assign(st)
}

func (p *player) run(t *testing.T, words []string) string {
	t.Helper()
	before := p.s
	var next review.Session
	var err error
	switch words[0] {
	case "start":
		next, err = review.Start(runID, catalog.TaskType(words[1]), p.assign, p.now, ttl)
	case "advance":
		r := review.Report{Step: review.Step(words[1]), Status: review.Status(words[2])}
		for _, w := range words[3:] {
			key, value, _ := strings.Cut(w, "=")
			switch key {
			case "bundle":
				r.Bundle = catalog.Bundle(value)
			case "profile":
				r.Profile = catalog.Profile(value)
			case "done":
				r.CompletedProfile = catalog.Profile(value)
			case "signals":
				var set review.Signals
				for name := range strings.SplitSeq(value, ",") {
					set |= review.NewSignals(review.Signal(name))
				}
				r.Signals = &set
			default:
				t.Fatalf("unknown argument %s", w)
			}
		}
		next, err = p.s.Advance(r, p.assign, p.now, ttl)
	case "finish":
		next, err = p.s.Finish(review.Status(words[1]), p.now, ttl)
	case "wait":
		d, perr := time.ParseDuration(words[1])
		if perr != nil {
			t.Fatal(perr)
		}
		p.now = p.now.Add(d)
		return "it is " + p.now.Format(time.TimeOnly) + "\n"
	case "policy":
		p.policy = words[1] == "on"
		return "ok\n"
	case "json":
		data, err := json.MarshalIndent(p.s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data) + "\n"
	default:
		t.Fatalf("unknown command %s", words[0])
	}
	if err != nil {
		if next != before && words[0] != "start" {
			t.Fatalf("%v: refused, yet the state changed", words)
		}
		text := "refused: " + err.Error()
		var e *review.Error
		if errors.As(err, &e) && e.Argument != "" {
			text += fmt.Sprintf(" (%s: %s)", e.Argument, e.Misfit)
		}
		return text + "\n"
	}
	p.s = next
	if next == before {
		return "unchanged\n"
	}
	return describe(next)
}

// describe shows what a reader of a transcript needs.
func describe(s review.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s", s.Status, s.Step)
	if p := s.Current(); p != "" {
		fmt.Fprintf(&b, ", profile %s (%d of %d)", p, s.Done+1, len(s.Route()))
	}
	if s.Finalized {
		b.WriteString(", finalized")
	}
	b.WriteString("\n")
	if s.Deep != nil {
		fmt.Fprintf(&b, "  deep: %v rules %v reasons %v complexity %d, first reason %q\n",
			s.Deep.Escalate, s.Deep.Rules, s.Deep.Reasons, s.Deep.ComplexitySignal, s.DeepReason())
	}
	model := s.Policy.Model
	if model == "" {
		model = "none"
	}
	fmt.Fprintf(&b, "  model: %s\n  expires: %s\n  next: %s\n", model, s.ExpiresAt.Format(time.TimeOnly), s.NextAction())
	return b.String()
}
