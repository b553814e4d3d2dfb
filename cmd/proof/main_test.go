package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/qa-orch/qa-orch/cmd/proof/table"
)

// What is run, and with which code it ends.
func TestRun(t *testing.T) {
	t.Parallel()
	var ran []string
	fake := func(name string, short bool, rows []table.Row, err error) part {
		return part{name, "about " + name, short, func(_ context.Context, flags *flag.FlagSet, args []string) ([]table.Row, error) {
			ran = append(ran, name)
			if err := parse(flags, args); err != nil {
				return nil, err
			}
			return rows, err
		}}
	}
	list := []part{
		fake("good", true, []table.Row{{What: "a", Tried: "b"}}, nil),
		fake("bad", false, []table.Row{{What: "c", Tried: "d", Found: []string{"lost"}}}, nil),
		fake("impossible", false, nil, errors.New("no disk")),
		fake("silent", true, nil, nil),
	}
	for _, c := range []struct {
		args string
		code int
		ran  string
		out  string
		errs string
	}{
		{"", 0, "good silent", "nothing", ""},
		{"good", 0, "good", "nothing", ""},
		{"bad", 1, "bad", "c: lost", ""},
		{"impossible", 2, "impossible", "", "no disk"},
		{"silent", 0, "silent", "", ""},
		{"good -h", 0, "good", "", ""},
		{"good more", 2, "good", "", `what is "more"?`},
		{"nothing", 2, "", "", "* good"},
		{"-h", 2, "", "", "about bad"},
	} {
		ran = nil
		var out, errs bytes.Buffer
		code := run(t.Context(), list, strings.Fields(c.args), &out, &errs)
		if code != c.code || strings.Join(ran, " ") != c.ran || !strings.Contains(out.String(), c.out) || !strings.Contains(errs.String(), c.errs) {
			t.Errorf("%q: code %d, ran %q, said %q and %q", c.args, code, ran, out.String(), errs.String())
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	var short []string
	for _, p := range parts() {
		if p.short {
			short = append(short, p.name)
		}
	}
	if got := strings.Join(short, " "); got != "model crash load" {
		t.Errorf("the short form is %q", got)
	}
}

func TestFuzzTargets(t *testing.T) {
	t.Parallel()
	targets, err := fuzzTargets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, target := range targets {
		names = append(names, target.String())
	}
	if !slices.Contains(names, "core/policy FuzzParse") || len(names) != len(slices.Compact(slices.Sorted(slices.Values(names)))) {
		t.Errorf("the targets are %q", names)
	}
}

func TestFuzzed(t *testing.T) {
	t.Parallel()
	execs, fresh := fuzzed([]byte("fuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 1 (total: 9)\nfuzz: elapsed: 6s, execs: 250 (50/sec), new interesting: 2 (total: 10)\nPASS\n"))
	if execs != 250 || fresh != 2 {
		t.Errorf("%d %d", execs, fresh)
	}
}
