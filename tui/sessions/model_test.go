package sessions

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/policy"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/core/store/sqlite"
	"github.com/qa-orch/qa-orch/core/watch"
	"github.com/qa-orch/qa-orch/locales"
)

// shown returns the numbers of the sessions in the list, in its order.
func (d *desk) shown() string {
	var out []string
	for _, r := range d.list.shown {
		out = append(out, strings.TrimLeft(r.RunID[len(r.RunID)-8:], "0"))
	}
	return strings.Join(out, " ")
}

func (d *desk) want(when, order string) {
	d.t.Helper()
	if got := d.shown(); got != order {
		d.t.Errorf("%s: the list is %q, want %q", when, got, order)
	}
}

func (d *desk) wantSelected(when string, n int) {
	d.t.Helper()
	if r := d.list.current(); r == nil || r.RunID != runID(n) {
		d.t.Errorf("%s: selected %v, want %s", when, r, runID(n))
	}
	if r := d.list.current(); r != nil && !strings.Contains(d.screen(), "▸") {
		d.t.Errorf("%s: the selection is not on the screen", when)
	}
}

// search types a query letter by letter.
func (d *desk) search(query string) {
	d.press("/")
	for _, r := range query {
		d.press(string(r))
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"widget":          "3",
		"WIDGET":          "3",
		"виджета":         "3",
		"ВИДЖЕТ":          "3",
		"углубленная":     "4", // ё or е
		"углублённая":     "4",
		"deep":            "4",
		"awaiting":        "6 9",
		"ждёт итога":      "6 9",
		"stopped":         "7 8",
		"blocked":         "8",
		"partial req":     "7",
		runID(5):          "5",
		runID(5)[4:10]:    "5",
		"ruby_reviewer":   "5",
		"code reviewer":   "2 9",
		"рецензент кода":  "2",
		"gone":            "9",
		"no such session": "",
	} {
		d := lived(t, locales.En, 100, 30)
		d.search(query)
		ids := strings.Fields(d.shown())
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
		d.press("esc")
		if len(d.list.shown) != 9 {
			t.Errorf("%q: Esc leaves %q", query, d.shown())
		}
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 100, 30)
	d.want("by change", "1 9 2 3 4 5 6 7 8")
	for _, want := range []string{
		"8 7 6 5 4 3 9 2 1", // left
		"1 2 3 4 5 6 7 8 9", // status
		"2 8 9 3 6 7 1 5 4", // task
		"9 2 6 7 5 4 3 1 8", // route
		"1 8 7 2 3 4 5 9 6", // step
		"1 2 3 4 5 6 7 8 9", // id
	} {
		d.press("s")
		if d.list.sort == colRoute {
			want = d.shown() // names, checked below
		}
		d.want("by "+string(d.list.sort), want)
		d.press("S")
		back := strings.Fields(d.shown())
		slices.Reverse(back)
		if d.list.sort == colID && strings.Join(back, " ") != want {
			t.Errorf("reversed by %s: %s", d.list.sort, d.shown())
		}
		d.press("S")
	}
	d.press("s")
	d.want("around", "1 9 2 3 4 5 6 7 8")
}

func TestStatusFilter(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 100, 30)
	for _, want := range []string{"1 2 3 4 5", "6", "7 8", "9", "1 9 2 3 4 5 6 7 8"} {
		d.press("f")
		d.want(groups.Words()[d.list.group], want)
	}
	d.press("f", "esc")
	d.want("after Esc", "1 9 2 3 4 5 6 7 8")
}

// A Russian layout gives other letters on the same keys.
func TestKeysWorkOnBothLayouts(t *testing.T) {
	t.Parallel()
	pairs := map[string]string{
		"j": "о", "k": "л", "g": "п", "G": "П", "s": "ы", "S": "Ы", "f": "а", "y": "н", "p": "з", "r": "к",
		"L": "Д", "t": "е", "q": "й", "/": ".", "?": ",",
	}
	for _, b := range keyMap {
		for _, key := range b.keys {
			if len(key) != 1 || key == " " || key >= "1" && key <= "9" {
				continue
			}
			other, ok := pairs[key]
			if !ok {
				t.Errorf("the key %q has no pair in this test", key)
			}
			for _, k := range []string{key, other} {
				if a, _ := actionOf(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}); a != b.act {
					t.Errorf("%q does %v, want %v", k, a, b.act)
				}
			}
		}
	}
	d := lived(t, locales.Ru, 100, 30)
	d.press("о", "о", "л")
	d.wantSelected("о о л", 9)
	d.press("н")
	if !slices.Equal(d.copied, []string{runID(9)}) {
		t.Errorf("copied %q", d.copied)
	}
	d.press("Д")
	if !strings.Contains(d.screen(), "Sessions") {
		t.Error("Д did not change the language")
	}
}

// A terminal hands over together what is typed faster than it is read. What is pasted is no key.
func TestFastTyping(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 100, 30)
	d.press("jj/виджета")
	d.want("typed at once", "3")
	d.press("esc")
	d.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("/q"), Paste: true})
	d.want("pasted", "1 9 2 3 4 5 6 7 8")
	if d.editing {
		t.Error("pasted text was taken for keys")
	}
	d.press("/")
	d.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("widget"), Paste: true})
	d.want("pasted into the filter", "3")
}

func TestEveryBindingIsInTheHelpAndOnce(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range keyMap {
		for _, key := range b.keys {
			if seen[key] {
				t.Errorf("the key %q is bound twice", key)
			}
			seen[key] = true
		}
		if b.word == "" && b.act != actInterrupt {
			t.Errorf("%v is not in the help", b.keys)
		}
	}
	d := lived(t, locales.En, 160, 50)
	d.press("?")
	for _, b := range keyMap {
		if b.word != "" && !strings.Contains(d.screen(), b.shown+" ") {
			t.Errorf("the help does not show %s", b.shown)
		}
	}
}

func TestSelectionSurvivesWhatHappens(t *testing.T) {
	t.Parallel()
	d := newDesk(t, locales.En, 100, 20)
	var all []review.Session
	for n := range 60 {
		all = append(all, session(t, n, catalog.OrdinaryReview, time.Duration(n)*10*time.Second))
	}
	d.reads(sqlite.Delta{Put: all})
	d.press("pgdown", "pgdown", "j")
	d.screen()
	n := d.list.cur.at
	line := d.list.cur.at - d.list.cur.off
	d.wantSelected("after paging", n)

	for k := range 5 { // others come to the top
		d.passes(time.Second)
		d.reads(sqlite.Delta{Put: []review.Session{session(t, 100+k, catalog.OtherTask, 0)}})
	}
	d.wantSelected("others came", n)
	if got := d.list.cur.at - d.list.cur.off; got != line {
		t.Errorf("the selection moved on the screen from line %d to %d", line, got)
	}
	d.press("s", "s", "S")
	d.wantSelected("sorted", n)
	d.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	d.wantSelected("small", n)
	d.Update(tea.WindowSizeMsg{Width: 20, Height: 5})
	d.View()
	d.Update(tea.WindowSizeMsg{Width: 160, Height: 50})
	d.wantSelected("large", n)
	d.press("2", "1", "L", "t", "?", "esc")
	d.wantSelected("been elsewhere", n)
	d.reads(sqlite.Delta{Removed: []string{runID(n)}})
	d.wantSelected("gone", n)
	d.passes(keepGone)
	if r := d.list.current(); r == nil || r.RunID == runID(n) {
		t.Error("the neighbour should be selected")
	}
}

func TestGoneRowsStayForAMinute(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 100, 30)
	if !strings.Contains(d.screen(), "gone: finished") {
		t.Error("the finished session is not shown as gone")
	}
	d.passes(54 * time.Second)
	if !strings.Contains(d.screen(), "gone: finished") {
		t.Error("it went before its minute was over")
	}
	d.passes(2 * time.Second)
	if strings.Contains(d.screen(), "gone: finished") {
		t.Error("it stays too long")
	}
	d.passes(35 * time.Second)
	if !strings.Contains(d.screen(), "gone: expired") {
		t.Error("the session without time left is not shown as expired")
	}
}

func TestPauseKeepsTheScreen(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 100, 30)
	d.press("p")
	before := d.screen()
	d.passes(30 * time.Second)
	d.reads(sqlite.Delta{Removed: []string{runID(1)}, Put: []review.Session{session(t, 10, catalog.OtherTask, 0)}})
	if after := d.screen(); after != before {
		t.Errorf("the screen changed while paused:\n%s", after)
	}
	if d.tick() != nil {
		t.Error("it ticks while paused")
	}
	d.press("p")
	if after := d.screen(); !strings.Contains(after, ShortID(runID(10))) || strings.Contains(after, "paused") {
		t.Errorf("it does not go on:\n%s", after)
	}
}

// Nothing moves where there is nothing to see.
func TestIdleDoesNotTick(t *testing.T) {
	t.Parallel()
	d := newDesk(t, locales.En, 100, 30)
	d.reads(sqlite.Delta{})
	if d.ticking {
		t.Error("an empty dashboard ticks")
	}
	first := d.View()
	if second := d.View(); first != second {
		t.Error("two frames of one state differ")
	}
}

func TestLanguageAndThemeSwitch(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 120, 40)
	d.o.Colors = termenv.TrueColor
	d.look()
	d.outOfDate = true
	first := d.View()
	d.press("t")
	if second := d.View(); second == first {
		t.Error("t changes nothing")
	}
	d.passes(noticeFor + time.Second) // the notice goes
	english := d.screen()
	d.press("L")
	if russian := d.screen(); !strings.Contains(russian, "Сеансы") || strings.Contains(russian, "Sessions") {
		t.Errorf("not Russian:\n%s", russian)
	}
	d.press("L")
	if d.screen() != english {
		t.Error("there and back is not the same")
	}
}

// What the files hold can't steer the terminal.
func TestTextsAreInert(t *testing.T) {
	t.Parallel()
	evil := "x\x1b]52;c;ZXZpbA==\x07\u202e\x1b[2J"
	d := newDesk(t, locales.En, 160, 50)
	d.o.StorePath = "/tmp/" + evil
	d.o.PolicyPath = "/tmp/" + evil
	s := session(t, 1, catalog.OtherTask, time.Second)
	s.Policy.Model = evil
	p := policy.Default()
	p.Deep.Model = evil
	d.Update(policyMsg{watch.PolicyState{Policy: p, Usable: true, Models: catalog.Builtin()}})
	d.reads(sqlite.Delta{Put: []review.Session{s}})
	for _, keys := range [][]string{{}, {"enter"}, {"2"}, {"1", "esc", "/", evil, "enter"}} {
		d.press(keys...)
		frame := ansi.Strip(d.View())
		if raw := d.View(); strings.Contains(raw, "\x1b]") || strings.Contains(raw, "\x1b[2J") || strings.Contains(raw, "\u202e") {
			t.Errorf("%q: the file's text steers the terminal: %q", keys, raw)
		}
		checkFrame(t, frame, 160, 50)
	}
	if lines := Switch("/tmp/a b'c\""); lines[0] != `export QA_ORCHESTRATOR_SESSION_STORE_PATH='/tmp/a b'\''c"'` {
		t.Errorf("not quoted for a shell: %s", lines[0])
	}
}

func TestMouse(t *testing.T) {
	t.Parallel()
	d := lived(t, locales.En, 120, 40)
	d.screen()
	click := func(x, y int) {
		d.Update(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		d.screen()
	}
	click(10, d.bodyTop+4) // frame, titles, two entries above
	d.wantSelected("a click", 2)
	click(10, d.bodyTop+4)
	if !d.open {
		t.Error("a second click does not open")
	}
	d.press("esc")
	d.Update(tea.MouseMsg{X: 10, Y: 10, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	d.wantSelected("the wheel", 5)
	click(d.tabs[viewPolicy][0]+1, 0)
	if d.view != viewPolicy {
		t.Error("a click on a tab does nothing")
	}
	click(d.tabs[viewCatalogue][0]+1, 0)
	click(10, d.bodyTop+3)
	if d.cat.cur.at != 1 {
		t.Errorf("catalogue entry %d, want 1", d.cat.cur.at)
	}
}

// Any keys on any screen: no panic, and every frame keeps its size.
func TestAnyKeysAtAnySize(t *testing.T) {
	t.Parallel()
	keys := []string{
		"up", "down", "enter", "esc", "tab", "shift+tab", "pgup", "pgdown", "home", "end", "backspace",
		"j", "k", "/", "s", "S", "f", "y", "p", "r", "1", "2", "3", "4", "L", "t", "?", "г", "я", " ",
	}
	d := lived(t, locales.En, 80, 24)
	for i := range 3000 {
		r := uint32(i) * 2654435761
		switch r % 17 {
		case 0:
			w, h := int(r>>8%200), int(r>>16%60)
			d.Update(tea.WindowSizeMsg{Width: w, Height: h})
		case 1:
			d.Update(tea.MouseMsg{X: int(r >> 8 % 200), Y: int(r >> 16 % 60), Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		case 2:
			d.Update(tea.MouseMsg{X: int(r >> 8 % 200), Y: int(r >> 16 % 60), Button: tea.MouseButtonWheelUp})
		case 3:
			d.passes(time.Duration(r>>8%5000) * time.Millisecond)
		case 4:
			d.reads(sqlite.Delta{Put: sample(t)[r>>8%9 : r>>8%9+1]})
		case 5:
			d.reads(sqlite.Delta{Removed: []string{runID(int(1 + r>>8%9))}})
		default:
			d.press(keys[r>>8%uint32(len(keys))])
		}
		if d.w > 0 && d.h > 0 {
			checkFrame(t, d.screen(), d.w, d.h)
		}
		if t.Failed() {
			t.Fatalf("after %d steps at %dx%d", i, d.w, d.h)
		}
	}
}

// crowd is a dashboard with n sessions.
func crowd(b testing.TB, n int) *desk {
	d := newDesk(b, locales.Ru, 160, 50)
	d.o.Colors, d.o.Dark, d.o.Known = termenv.TrueColor, true, true
	d.look()
	base := sample(b)
	var all []review.Session
	for i := range n {
		s := base[i%8]
		s.RunID = runID(1000 + i)
		s.ExpiresAt = noon.Add(ttl - time.Duration(i)*100*time.Millisecond)
		all = append(all, s)
	}
	d.reads(sqlite.Delta{Put: all})
	return d
}

func BenchmarkFrame(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := crowd(b, n)
			for b.Loop() {
				d.outOfDate = true
				d.View()
			}
		})
	}
}

// A key and the frame that answers it.
func BenchmarkKey(b *testing.B) {
	d := crowd(b, 10_000)
	for _, keys := range [][]string{{"down"}, {"pgdown"}, {"s"}, {"S"}, {"f"}, {"L"}} {
		b.Run(strings.Join(keys, ""), func(b *testing.B) {
			for b.Loop() {
				d.press(keys...)
				d.View()
			}
		})
	}
	b.Run("filter", func(b *testing.B) {
		for b.Loop() {
			d.press("/", "р", "backspace", "esc")
			d.View()
		}
	})
}

// A change of one session among many, and the frame that shows it.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			d := crowd(b, n)
			s := session(b, 1, catalog.WidgetReview, 0)
			for b.Loop() {
				d.reads(sqlite.Delta{Put: []review.Session{s}})
				d.View()
			}
		})
	}
}
