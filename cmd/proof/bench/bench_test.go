package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSamples(t *testing.T) {
	t.Parallel()
	s := samples{30, 10, 20, 50, 40}
	if s.median() != 30 || s.at(0) != 10 || s.at(.99) != 50 || s.calm() != 10.0/30 || s.per(10).median() != 3 {
		t.Errorf("%v: %v, %v, %v, %v", s, s.median(), s.at(0), s.at(.99), s.calm())
	}
	for ns, want := range map[float64]string{0.5: "0.50 ns", 9.951: "10.0 ns", 999: "999 ns", 1234: "1.23 µs", 45_600_000: "45.6 ms", 2e9: "2.00 s"} {
		if got := duration(ns); got != want {
			t.Errorf("%v: %s, want %s", ns, got, want)
		}
	}
	got := table([]row{{"ours", "theirs", samples{30, 20}, samples{10, 10}}}, true)
	if !strings.Contains(got, "| ours | theirs | **3.00** | 30.0 ns | 10.0 ns | 0.67, 1.00 | 1.0, 1.0 |\n") {
		t.Errorf("the table is\n%s", got)
	}
}

// Everybody gets as many turns, each begins as often, and those that warm up do not count.
func TestCompete(t *testing.T) {
	t.Parallel()
	order := ""
	of := func(name string, took time.Duration) run {
		return func() (time.Duration, error) { order += name; return took, nil }
	}
	got, err := compete(1, 3, of("a", 1), of("b", 2))
	if err != nil || order != "abbaabba" || len(got) != 2 || len(got[0]) != 3 || got[0].median() != 1 || got[1].median() != 2 {
		t.Errorf("%s: %v, %v", order, got, err)
	}
	failed := errors.New("failed")
	if _, err := compete(0, 1, func() (time.Duration, error) { return 0, failed }); !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
}

func TestWriteKeepsTheRest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	if err := write(path, "x"); err == nil {
		t.Error("writes a page that is not there")
	}
	for page, want := range map[string]string{
		"before\n" + Begin + "\nold\n\n" + End + "\nafter\n": "before\n" + Begin + "\nnew\n\n" + End + "\nafter\n",
		"before\n" + Begin + "no end\n":                      "",
		"no part\n":                                          "",
	} {
		if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		err := write(path, "new\n")
		data, _ := os.ReadFile(path)
		if want == "" && (err == nil || string(data) != page) || want != "" && (err != nil || string(data) != want) {
			t.Errorf("%q became %q, %v", page, data, err)
		}
	}
}
