package desk_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
)

// The test binary plays a client process when this is set: what to do, separated by spaces.
const role = "ADVOCATE_TEST_PROCESS"

func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(role)); len(words) > 0 {
		if err := child(os.Getenv(role+"_DIR"), words); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child does one role. `submit ID FROM STEP COUNT` answers, one a call, those of the pending targets
// whose index leaves FROM when divided by STEP, and prints each index that was acknowledged; `start COUNT` starts reviews, all
// processes proposing the same ids, and prints what they are given.
func child(dir string, words []string) error {
	d := desk.New(dir)
	var n []int
	for _, w := range words[1:] {
		i, _ := strconv.Atoi(w)
		n = append(n, i)
	}
	switch words[0] {
	case "submit":
		id, from, step, count := words[1], n[1], n[2], n[3]
		standing, err := d.Get(id)
		if err != nil {
			return err
		}
		for _, target := range standing.Instructions.Targets {
			index := *target.Index
			if index%step != from || count == 0 {
				continue
			}
			count--
			if _, err := d.Submit(id, []any{answer(index)}); err != nil {
				return err
			}
			fmt.Println(index)
		}
	case "start":
		next := 0
		d.NewID = func() string { next++; return fmt.Sprintf("rev-%04d", next) }
		for range n[0] {
			started, err := d.StartReview("The portal may go out on Friday", advocate.Steelman, "")
			if err != nil {
				return err
			}
			fmt.Println(started.ReviewID)
		}
	}
	return nil
}

func fact(kind string, i int) string {
	return fmt.Sprintf("%s ledger%s%d replica%s%d tenant%s%d", kind, kind, i, kind, i, kind, i)
}

func answer(i int) map[string]any {
	return map[string]any{"index": json.Number(strconv.Itoa(i)), "action": fact("action", i), "residual_risk": "low"}
}

// answerable starts a premortem with as many causes to mitigate.
func answerable(t *testing.T, d *desk.Desk, n int) string {
	t.Helper()
	started, err := d.StartReview("The portal may go out on Friday", advocate.Premortem, "")
	if err != nil {
		t.Fatal(err)
	}
	var causes []any
	for i := range n {
		causes = append(causes, map[string]any{"text": fact("cause", i), "likelihood": json.Number("3"), "impact": json.Number("3")})
	}
	for _, items := range [][]any{{map[string]any{"horizon": "one year"}}, causes} {
		if _, err := d.Submit(started.ReviewID, items); err != nil {
			t.Fatal(err)
		}
	}
	return started.ReviewID
}

// process starts the test binary in a role.
func process(t *testing.T, dir, what string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), role+"="+what, role+"_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

// lines reads as many lines as the process prints, at most n.
func lines(out *bufio.Scanner, n int) []string {
	var read []string
	for len(read) < n && out.Scan() {
		read = append(read, out.Text())
	}
	return read
}

func TestTwoProcessesSubmitToOneReview(t *testing.T) {
	t.Parallel()
	d := desk.New(t.TempDir())
	id := answerable(t, d, 41)
	even, evenOut := process(t, d.Folder.Dir(), "submit "+id+" 0 2 20")
	odd, oddOut := process(t, d.Folder.Dir(), "submit "+id+" 1 2 20")
	acknowledged := make(chan []string, 2)
	for _, out := range []*bufio.Scanner{evenOut, oddOut} {
		go func() { acknowledged <- lines(out, 20) }()
	}
	both := append(<-acknowledged, <-acknowledged...)
	for _, cmd := range []*exec.Cmd{even, odd} {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if len(both) != 40 {
		t.Errorf("%d of 40 submissions were acknowledged", len(both))
	}
	holds(t, d, id, both)
}

// holds checks that the review has every acknowledged answer once.
func holds(t *testing.T, d *desk.Desk, id string, acknowledged []string) {
	t.Helper()
	r, err := d.Review(id)
	if err != nil {
		t.Fatal(err)
	}
	saved := map[string]int{}
	for _, item := range r.Items(advocate.Mitigations) {
		saved[strconv.Itoa(*item.Index)]++
	}
	for _, i := range acknowledged {
		if saved[i] != 1 {
			t.Errorf("answer %s was acknowledged and is there %d times", i, saved[i])
		}
	}
}

func TestTwoProcessesStartReviews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const each = 25
	a, aOut := process(t, dir, "start "+strconv.Itoa(each))
	b, bOut := process(t, dir, "start "+strconv.Itoa(each))
	got := make(chan []string, 2)
	for _, out := range []*bufio.Scanner{aOut, bOut} {
		go func() { got <- lines(out, each) }()
	}
	ids := map[string]bool{}
	for _, id := range append(<-got, <-got...) {
		if ids[id] {
			t.Errorf("%s was given twice", id)
		}
		ids[id] = true
	}
	for _, cmd := range []*exec.Cmd{a, b} {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if l, err := desk.New(dir).List(); err != nil || len(ids) != 2*each || l.Count != 2*each || len(l.Skipped) > 0 {
		t.Errorf("%d ids, %+v, %v", len(ids), l, err)
	}
}

// A process that is killed at any moment leaves a whole file with all that was acknowledged, and no
// lock that the next one waits for.
func TestKilledDuringSubmits(t *testing.T) {
	t.Parallel()
	d := desk.New(t.TempDir())
	id := answerable(t, d, 300)
	var acknowledged []string
	for round := range 8 {
		cmd, out := process(t, d.Folder.Dir(), "submit "+id+" 0 1 30")
		acknowledged = append(acknowledged, lines(out, 2+round%3)...)
		time.Sleep(time.Duration(round*237) * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		acknowledged = append(acknowledged, lines(out, 300)...) // those before the end
		_ = cmd.Wait()
		holds(t, d, id, acknowledged)
		if l, err := d.List(); err != nil || l.Count != 1 || len(l.Skipped) > 0 {
			t.Fatalf("%+v, %v", l, err)
		}
	}
	if len(acknowledged) < 16 {
		t.Errorf("only %d submissions were acknowledged", len(acknowledged))
	}
	entries, err := os.ReadDir(d.Folder.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 3 { // the locks, the review, and what the last one killed was writing
		t.Errorf("left are %v", entries)
	}
}
