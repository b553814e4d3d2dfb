package desk_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
)

// flow is a whole review as a sequence of tool calls.
type flow struct {
	ID, Kind   string
	Borderline bool
	Calls      []struct {
		Tool   string
		Args   map[string]json.RawMessage
		Expect map[string]any
	}
}

// player plays the calls of a flow on a desk.
type player struct {
	desk *desk.Desk
	ids  []string
}

func (p *player) text(args map[string]json.RawMessage, name string) string {
	var s string
	_ = json.Unmarshal(args[name], &s)
	if n, ok := strings.CutPrefix(s, "$"); ok && name == "review_id" {
		i, _ := strconv.Atoi(n)
		return p.ids[i-1]
	}
	return s
}

// call returns the result as the JSON value that a client sees.
func (p *player) call(tool string, args map[string]json.RawMessage) (map[string]any, error) {
	var result any
	var err error
	id := p.text(args, "review_id")
	switch tool {
	case "start_review":
		var started *advocate.Started
		started, err = p.desk.StartReview(p.text(args, "claim"), advocate.Mode(p.text(args, "mode")), p.text(args, "context"))
		if err == nil {
			p.ids = append(p.ids, started.ReviewID)
		}
		result = started
	case "submit":
		var items []any
		if items, err = advocate.DecodeItems(args["items"]); err == nil {
			result, err = p.desk.Submit(id, items)
		}
	case "get_verdict":
		result, err = p.desk.Verdict(id)
	case "export_report":
		result, err = p.desk.Export(id, p.text(args, "format"), advocate.English())
	case "get_review":
		result, err = p.desk.Get(id)
	case "list_reviews":
		result, err = p.desk.List()
	case "abandon_review":
		result, err = p.desk.Abandon(id, p.text(args, "reason"))
	default:
		return nil, fmt.Errorf("no tool %s", tool)
	}
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(result)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	return v, json.Unmarshal(data, &v)
}

// place is the part of instructions that flows compare.
func place(in any, want map[string]any) map[string]any {
	got := map[string]any{}
	full, _ := in.(map[string]any)
	for name := range want {
		got[name] = full[name]
	}
	if targets, ok := full["targets"].([]any); ok {
		var indexes []any
		for _, t := range targets {
			indexes = append(indexes, t.(map[string]any)["index"])
		}
		got["targets"] = indexes
	}
	return got
}

// view turns a result into the form of an expectation's entry.
func (p *player) view(name string, want any, v map[string]any) any {
	switch name {
	case "instructions", "next_phase":
		return place(v[name], want.(map[string]any))
	case "missing":
		missing, _ := v[name].([]any)
		return float64(len(missing))
	case "risk":
		return v["risk_score"].(map[string]any)["value"]
	case "lenses":
		lenses := map[string]any{}
		for lens, l := range v["lenses"].(map[string]any) {
			l := l.(map[string]any)
			lenses[lens] = map[string]any{"risk": l["risk_score"].(map[string]any)["value"], "assessment": l["assessment"], "phases": l["phases"]}
		}
		return lenses
	case "items":
		phases := map[string]any{}
		for phase, items := range v["phases"].(map[string]any) {
			notes := []any{}
			for i, item := range items.([]any) {
				if item.(map[string]any)["note"] != nil {
					notes = append(notes, float64(i))
				}
			}
			phases[phase] = map[string]any{"count": float64(len(items.([]any))), "notes": notes}
		}
		return phases
	case "newest":
		return p.number(v["reviews"].([]any)[0].(map[string]any)["review_id"])
	case "reviews":
		rows := []any{}
		for _, w := range want.([]any) {
			for _, r := range v["reviews"].([]any) {
				row, found := r.(map[string]any), map[string]any{}
				if p.number(row["review_id"]) != w.(map[string]any)["review"] {
					continue
				}
				for name := range w.(map[string]any) {
					found[name] = row[name]
				}
				found["review"] = w.(map[string]any)["review"]
				rows = append(rows, found)
			}
		}
		return rows
	}
	return v[name]
}

// number is the $ number of a review's id.
func (p *player) number(id any) any {
	for i, known := range p.ids {
		if known == id {
			return fmt.Sprintf("$%d", i+1)
		}
	}
	return nil
}

var (
	problemLine = regexp.MustCompile(`(?m)^item (\d+): (?:'([a-z_]+)')?`)
	checkWords  = []struct{ word, check string }{
		{"duplicat", "near_duplicate"}, {"restat", "restates_claim"}, {"parrot", "parrots_target"}, {"information", "low_information"},
	}
)

// problems reads the text of a refusal.
func problems(err error) []any {
	read := []any{}
	for _, line := range strings.Split(err.Error(), "\n") {
		m := problemLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[1])
		p := map[string]any{"item": float64(n), "check": "field", "field": any(m[2])}
		for _, c := range checkWords {
			if strings.Contains(line, c.word) {
				p = map[string]any{"item": float64(n), "check": c.check}
			}
		}
		read = append(read, p)
	}
	return read
}

// play plays a flow and says where it differs from what is expected; empty if nowhere.
func play(t *testing.T, f flow) string {
	d := desk.New(t.TempDir())
	clock := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	d.Now = func() time.Time { clock = clock.Add(time.Millisecond); return clock }
	p := &player{desk: d}
	for i, c := range f.Calls {
		v, err := p.call(c.Tool, c.Args)
		if ok := c.Expect["ok"]; ok != (err == nil) {
			return fmt.Sprintf("call %d, %s: ok is to be %v: %v", i, c.Tool, ok, err)
		}
		for name, want := range c.Expect {
			var got any
			switch {
			case name == "ok":
				continue
			case name == "problems":
				if got = problems(err); len(want.([]any)) == 0 {
					continue // any refusal will do
				}
			default:
				got = p.view(name, want, v)
			}
			if !reflect.DeepEqual(got, want) {
				return fmt.Sprintf("call %d, %s: %s is %v, want %v (%v)", i, c.Tool, name, got, want, err)
			}
		}
	}
	return ""
}

func TestFlows(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../testdata/flow.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	clear, borderline, agreed := 0, 0, 0
	for lines.Scan() {
		var f flow
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		diff := play(t, f)
		switch {
		case !f.Borderline:
			clear++
			if diff != "" {
				t.Errorf("%s (%s): %s", f.ID, f.Kind, diff)
			}
		case diff == "":
			borderline++
			agreed++
		default:
			borderline++
			t.Logf("borderline %s (%s): %s", f.ID, f.Kind, diff)
		}
	}
	t.Logf("%d clear flows; %d of %d borderline ones agree", clear, agreed, borderline)
	if clear == 0 || agreed*10 < borderline*9 {
		t.Errorf("%d clear flows, %d of %d borderline ones agree", clear, agreed, borderline)
	}
}
