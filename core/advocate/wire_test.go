package advocate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/core/advocate"
)

// earlier is a review as the earlier edition left it: fractions of seconds, no created_ns, members of
// its own, null where there is nothing.
const earlier = `{
  "id": "rev-a1b2", "claim": "Añadir una VPN a todos", "mode": "premortem", "context": "",
  "status": "active", "phase": "mitigations", "phase_index": 2,
  "phases": {
    "setup": [{"horizon": "6 months"}],
    "failure_causes": [
      {"text": "The tunnel drops every hour", "likelihood": 3, "impact": 3, "added_by": "x"},
      {"text": "Nobody renews the certificates", "likelihood": 5, "impact": 5},
      {"text": "The vendor raises its prices", "likelihood": 1, "impact": 2},
      {"text": "Licences run out in summer", "likelihood": 2, "impact": 2}
    ],
    "mitigations": [{"index": 1, "action": "Automate the renewal and alert a month before", "residual_risk": "low"}]
  },
  "skipped_phases": [], "horizon": "6 months", "abandon_reason": null,
  "created_at": "2025-11-05T10:20:30.123456+00:00", "updated_at": "2025-11-05T10:25:00Z",
  "schema": {"version": 1}
}`

func TestFilesOfTheEarlierEdition(t *testing.T) {
	t.Parallel()
	r, err := advocate.UnmarshalFile([]byte(earlier))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Created.Format("15:04:05.000000"); got != "10:20:30.123456" {
		t.Errorf("created at %s", got)
	}
	if r.Horizon() != "6 months" || r.Step() != "3/3" || len(r.Missing()) != 1 || r.Missing()[0].Index != 0 {
		t.Errorf("horizon %q, step %s, missing %v", r.Horizon(), r.Step(), r.Missing())
	}
	play(t, r, obj{"index": 0, "action": "Reconnect without a session and measure the gap", "residual_risk": "low"})
	if r.Status != advocate.Complete {
		t.Fatalf("status %s", r.Status)
	}
	data, err := r.MarshalFile()
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{`"schema": {`, `"version": 1`, `"added_by": "x"`, `"created_ns": 1762338030123456000`} {
		if !strings.Contains(string(data), kept) {
			t.Errorf("no %s in %s", kept, data)
		}
	}
}

// What is written loads again as the same review, and has the keys of the contract.
func TestFileRoundTrip(t *testing.T) {
	t.Parallel()
	gone := begin(t, advocate.Gauntlet)
	if _, err := gone.Abandon("<no> & \u2028", noon); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*advocate.Review{begin(t, advocate.Premortem), gone, gauntlet(t, "xvsx"), hostileReview(t, "\x1b</script> \u2028 🙂")} {
		first, err := r.MarshalFile()
		if err != nil {
			t.Fatal(err)
		}
		again, err := advocate.UnmarshalFile(first)
		if err != nil {
			t.Fatalf("%v of %s", err, first)
		}
		second, err := again.MarshalFile()
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(second) {
			t.Errorf("written again, it is\n%s\nnot\n%s", second, first)
		}
		var keys map[string]any
		if err := json.Unmarshal(first, &keys); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{
			"id", "claim", "mode", "context", "status", "phase", "phase_index", "phases", "skipped_phases",
			"horizon", "abandon_reason", "created_at", "created_ns", "updated_at",
		} {
			if _, ok := keys[k]; !ok {
				t.Errorf("no key %s in %s", k, first)
			}
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	swap := func(old, new string) string {
		s := strings.Replace(earlier, old, new, 1)
		if s == earlier {
			t.Errorf("%q is not there to be replaced", old)
		}
		return s
	}
	for name, c := range map[string]struct{ file, why string }{
		"empty":             {"", "no valid JSON"},
		"cut":               {earlier[:200], "no valid JSON"},
		"other JSON":        {"[1]", "holds no JSON object"},
		"nothing":           {"{}", "created_at"},
		"two documents":     {earlier + "{}", "no valid JSON"},
		"a member twice":    {swap(`"context": ""`, `"context": "", "context": "x"`), "no valid JSON"},
		"bytes":             {swap("VPN", "\xff\xfe"), "no valid JSON"},
		"unknown mode":      {swap(`"premortem"`, `"poetry"`), "mode"},
		"unknown status":    {swap(`"active"`, `"asleep"`), "status"},
		"no claim":          {swap(`"Añadir una VPN a todos"`, `""`), "claim"},
		"index too large":   {swap(`"phase_index": 2`, `"phase_index": 3`), "phase_index"},
		"negative index":    {swap(`"phase_index": 2`, `"phase_index": -1`), "phase_index"},
		"other phase":       {swap(`"phase": "mitigations"`, `"phase": "setup"`), "contradict"},
		"foreign phase":     {swap(`"setup": [`, `"rebuttals": [`), "phase that the mode"},
		"skipped":           {swap(`"skipped_phases": []`, `"skipped_phases": ["rebuttals"]`), "skipped_phases"},
		"answer to nothing": {swap(`"index": 1`, `"index": 4`), "item 0 of mitigations has no valid index"},
		"scale":             {swap(`"likelihood": 3`, `"likelihood": 6`), "item 0 of failure_causes has no valid likelihood"},
		"a name of others":  {`{"phases": {"sk-CANARY": 7}}`, "/phases has a value of the wrong type"},
		"a year too far":    {swap(`"2025-11-05T10:25:00Z"`, `"9999-12-31T23:59:59-23:59"`), "updated_at is no time"},
		"scale as text":     {swap(`"likelihood": 3`, `"likelihood": "3"`), "wrong type"},
		"choice":            {swap(`"residual_risk": "low"`, `"residual_risk": "tiny"`), "residual_risk"},
		"no text":           {swap(`"text": "The tunnel drops every hour", `, ``), "text"},
		"no time":           {swap(`2025-11-05T10:20:30.123456+00:00`, `yesterday`), "created_at"},
		"no time of change": {swap(`2025-11-05T10:25:00Z`, `later`), "updated_at"},
	} {
		_, err := advocate.UnmarshalFile([]byte(c.file))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.why)
		}
		if err != nil && strings.Contains(err.Error(), "poetry") {
			t.Errorf("%s: repeats what is in the file: %v", name, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(earlier))
	f.Add([]byte(`{"mode":"steelman","claim":"x","status":"complete","created_at":"2025-11-05T10:20:30"}`))
	f.Add([]byte(`{"mode":"gauntlet","claim":"x","status":"abandoned","phases":{"tests":null},"created_at":"2025-11-05T10:20:30Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := advocate.UnmarshalFile(data)
		if err != nil {
			return
		}
		r.Standing()
		r.Row()
		r.Progress()
		if v, err := r.Verdict(); err == nil {
			v.Memo(advocate.English())
			if _, err := json.Marshal(v); err != nil {
				t.Errorf("verdict: %v", err)
			}
		}
		again, err := r.MarshalFile()
		if err != nil {
			t.Fatalf("can't be written: %v", err)
		}
		back, err := advocate.UnmarshalFile(again)
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, again)
		}
		if twice, err := back.MarshalFile(); err != nil || string(twice) != string(again) {
			t.Fatalf("%v: written again it is\n%s\nand was\n%s", err, twice, again)
		}
	})
}
