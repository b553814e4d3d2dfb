package advocate_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// vector is one line of the gate and field vectors.
type vector struct {
	ID, Kind   string
	Claim      string
	Mode       advocate.Mode
	Setup      []json.RawMessage
	Phase      advocate.Phase
	Items      json.RawMessage
	Expected   expectation
	Borderline bool
	Near       []string
}

type expectation struct {
	Outcome  string
	Problems []problem
}

type problem struct {
	Item  int
	Check string
	Field *string
}

func (p problem) String() string {
	if p.Field != nil {
		return fmt.Sprintf("%d %s %s", p.Item, p.Check, *p.Field)
	}
	return fmt.Sprintf("%d %s", p.Item, p.Check)
}

func readVectors(t *testing.T, name string) []vector {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var vectors []vector
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		vectors = append(vectors, v)
	}
	if len(vectors) == 0 {
		t.Fatalf("no vectors in %s", name)
	}
	return vectors
}

// submit sends raw JSON items to the review.
func submit(r *advocate.Review, raw []byte) (*advocate.SubmitResult, error) {
	items, err := advocate.DecodeItems(raw)
	if err != nil {
		return nil, err
	}
	return r.Submit(items, noon)
}

// start begins a review and plays its setup.
func start(t *testing.T, v vector) *advocate.Review {
	t.Helper()
	r, err := advocate.New("rev-test", v.Claim, v.Mode, "", noon)
	if err != nil {
		t.Fatal(err)
	}
	for i, items := range v.Setup {
		if _, err := submit(r, items); err != nil {
			t.Fatalf("%s: setup %d: %v", v.ID, i, err)
		}
	}
	if r.Phase() != v.Phase {
		t.Fatalf("%s: phase %s after the setup, want %s", v.ID, r.Phase(), v.Phase)
	}
	return r
}

var problemLine = regexp.MustCompile(`(?m)^item (\d+): (.*)$`)

var quotedName = regexp.MustCompile(`'([a-z_]+)'`)

// readProblems reads the text of a refusal the way a client does that knows nothing of the types.
func readProblems(err error, text string) []problem {
	problems := []problem{}
	for _, m := range problemLine.FindAllStringSubmatch(err.Error(), -1) {
		n, _ := strconv.Atoi(m[1])
		p := problem{Item: n, Check: "field"}
		if q := quotedName.FindStringSubmatch(m[2]); q != nil {
			p.Field = &q[1]
		}
		if p.Field != nil && *p.Field == text {
			has := func(words ...string) bool {
				return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(m[2]), w) })
			}
			var checks []string
			if has("duplicat") {
				checks = append(checks, "near_duplicate")
			}
			if has("restat", "the claim") {
				checks = append(checks, "restates_claim")
			}
			if has("parrot", "copies", "copied", "target") {
				checks = append(checks, "parrots_target")
			}
			if has("information", "content words", "repetit") {
				checks = append(checks, "low_information")
			}
			if len(checks) > 0 { // more than one would be ambiguous, and differ from what is expected
				p.Check, p.Field = strings.Join(checks, "+"), nil
			}
		}
		problems = append(problems, p)
	}
	return problems
}

var freeText = map[advocate.Phase]string{
	advocate.Counterarguments: "text", advocate.Rebuttals: "justification", advocate.FailureCauses: "text",
	advocate.Mitigations: "action", advocate.AssumptionList: "text", advocate.Tests: "test",
	advocate.StrongestCase: "text", advocate.Responses: "text",
}

// mismatch plays the vector and says how it differs from what is expected; empty if it doesn't.
func mismatch(t *testing.T, v vector) string {
	t.Helper()
	r := start(t, v)
	before := len(r.Items(v.Phase))
	_, err := submit(r, v.Items)
	if err == nil {
		if v.Expected.Outcome == "accepted" {
			return ""
		}
		return fmt.Sprintf("accepted, want %v", v.Expected.Problems)
	}
	if after := len(r.Items(v.Phase)); after != before || r.Phase() != v.Phase {
		return "a refused submission changed the review"
	}
	if v.Expected.Outcome == "accepted" {
		return fmt.Sprintf("refused, want accepted: %v", err)
	}
	if len(v.Expected.Problems) == 0 {
		return ""
	}
	var typed *advocate.Error
	if !errors.As(err, &typed) || typed.Code != advocate.Rejected {
		return fmt.Sprintf("another error: %v", err)
	}
	got, want := fmt.Sprint(readProblems(err, freeText[v.Phase])), fmt.Sprint(v.Expected.Problems)
	if got != want {
		return fmt.Sprintf("problems %s, want %s", got, want)
	}
	return ""
}

func TestVectors(t *testing.T) {
	for _, name := range []string{"gate.jsonl", "gate-ru.jsonl", "field.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clear, borderline, missed := 0, 0, 0
			for _, v := range readVectors(t, name) {
				diff := mismatch(t, v)
				switch {
				case !v.Borderline:
					clear++
					if diff != "" {
						t.Errorf("%s (%s): %s", v.ID, v.Kind, diff)
					}
				default:
					borderline++
					if diff != "" {
						missed++
						t.Logf("borderline %s (%s, %s): %s", v.ID, v.Kind, strings.Join(v.Near, "; "), diff)
					}
				}
			}
			t.Logf("%d clear vectors; %d of %d borderline ones agree", clear, borderline-missed, borderline)
			if missed*10 > borderline {
				t.Errorf("%d of %d borderline vectors disagree, more than a tenth", missed, borderline)
			}
		})
	}
}
