package theme

import (
	"strings"
	"testing"

	"github.com/lucasb-eyer/go-colorful"
	"github.com/muesli/termenv"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, pair := range pairs {
			if n, v, _ := strings.Cut(pair, "="); n == name {
				return v
			}
		}
		return ""
	}
}

func TestColors(t *testing.T) {
	t.Parallel()
	const xterm = "TERM=xterm-256color"
	for _, c := range []struct {
		name     string
		env      []string
		terminal bool
		want     termenv.Profile
	}{
		{"a terminal", []string{xterm}, true, termenv.ANSI256},
		{"a terminal with true colour", []string{xterm, "COLORTERM=truecolor"}, true, termenv.TrueColor},
		{"a terminal known by name", []string{"TERM=xterm-kitty"}, true, termenv.TrueColor},
		{"a terminal of 16 colours", []string{"TERM=xterm"}, true, termenv.ANSI},
		{"screen takes no true colour", []string{"TERM=screen-256color", "COLORTERM=truecolor"}, true, termenv.ANSI256},
		{"a dumb terminal", []string{"TERM=dumb"}, true, termenv.Ascii},
		{"a pipe", []string{xterm}, false, termenv.Ascii},
		{"NO_COLOR", []string{xterm, "NO_COLOR=1"}, true, termenv.Ascii},
		{"an empty NO_COLOR is none", []string{xterm, "NO_COLOR="}, true, termenv.ANSI256},
		{"NO_COLOR beats FORCE_COLOR", []string{xterm, "NO_COLOR=1", "FORCE_COLOR=3", "CLICOLOR_FORCE=1"}, true, termenv.Ascii},
		{"FORCE_COLOR in a pipe", []string{xterm, "FORCE_COLOR=1"}, false, termenv.ANSI256},
		{"FORCE_COLOR on a dumb terminal", []string{"TERM=dumb", "FORCE_COLOR=true"}, false, termenv.ANSI},
		{"FORCE_COLOR with a level", []string{"FORCE_COLOR=3"}, false, termenv.TrueColor},
		{"FORCE_COLOR=0", []string{xterm, "FORCE_COLOR=0"}, true, termenv.Ascii},
		{"FORCE_COLOR=false beats CLICOLOR_FORCE", []string{xterm, "FORCE_COLOR=false", "CLICOLOR_FORCE=1"}, true, termenv.Ascii},
		{"FORCE_COLOR beats CLICOLOR and CI", []string{xterm, "FORCE_COLOR=1", "CLICOLOR=0", "CI=true"}, true, termenv.ANSI256},
		{"CLICOLOR_FORCE in a pipe", []string{xterm, "CLICOLOR_FORCE=1"}, false, termenv.ANSI256},
		{"CLICOLOR_FORCE=0 forces nothing", []string{xterm, "CLICOLOR_FORCE=0"}, false, termenv.Ascii},
		{"CLICOLOR=0", []string{xterm, "CLICOLOR=0"}, true, termenv.Ascii},
		{"CI", []string{xterm, "CI=1"}, true, termenv.Ascii},
	} {
		if got := Colors(env(c.env...), c.terminal); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBackground(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode        Mode
		env         string
		dark, known bool
	}{
		{Light, "COLORFGBG=15;0", false, true},
		{Dark, "COLORFGBG=0;15", true, true},
		{Auto, "COLORFGBG=15;0", true, true},
		{Auto, "COLORFGBG=0;15", false, true},
		{Auto, "COLORFGBG=0;default;7", false, true},
		{Auto, "COLORFGBG=12;8", true, true},
		{Auto, "COLORFGBG=15;default", false, false},
		{Auto, "COLORFGBG=7", false, false},
		{Auto, "COLORFGBG=1;99", false, false},
		{Auto, "", false, false},
	} {
		if dark, known := Background(c.mode, env(c.env)); dark != c.dark || known != c.known {
			t.Errorf("%v %s: got dark %v, known %v", c.mode, c.env, dark, known)
		}
	}
	for _, word := range Modes() {
		if _, ok := ParseMode(word); !ok {
			t.Errorf("ParseMode refuses %q", word)
		}
	}
	if _, ok := ParseMode("blue"); ok {
		t.Error("ParseMode takes any word")
	}
}

func TestParseBackground(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][2]bool{
		"\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62;22c":   {true, true},
		"\x1b]11;rgb:ffff/ffff/ffff\x07\x1b[?1;2c":       {false, true},
		"\x1b]11;rgb:fd/f6/e3\x07\x1b[?6c":               {false, true},
		"\x1b]11;rgba:1e1e/1e1e/2e2e/ffff\x1b\\\x1b[?6c": {true, true},
		"typed ahead\x1b]11;rgb:0/0/0\x07\x1b[?6c":       {true, true},
		"\x1b[?62c":                        {false, false},
		"":                                 {false, false},
		"\x1b]11;rgb:zz/00/00\x07\x1b[?6c": {false, false},
		"\x1b]11;rgb:00/00\x07\x1b[?6c":    {false, false},
		"\x1b]11;rgb:0000/0000/00":         {false, false},
		"\x1b]11;rgb:00000/0/0\x07":        {false, false},
		"\x1b]11;rgb\x07\x1b[?6c":          {false, false},
		strings.Repeat("x", 4096) + "\x1b]11;rgb:0/0/0\x07": {false, false},
	} {
		dark, known := parseBackground(strings.NewReader(answer))
		if dark != want[0] || known != want[1] {
			t.Errorf("%q: got dark %v, known %v", answer, dark, known)
		}
	}
}

// contrast is the contrast ratio of WCAG 2.
func contrast(a, b colorful.Color) float64 {
	luminance := func(c colorful.Color) float64 {
		r, g, b := c.LinearRgb()
		return 0.2126*r + 0.7152*g + 0.0722*b
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func hex(t *testing.T, s string) colorful.Color {
	t.Helper()
	c, err := colorful.Hex(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return c
}

// 4.5 is what WCAG asks of text; between black and white no colour has much more on both.
func TestPaletteIsReadable(t *testing.T) {
	t.Parallel()
	for role := Muted; role < roles; role++ {
		p := palette[role]
		for _, c := range []struct {
			shade   shade
			grounds []string
			least   float64
		}{
			{p.dark, []string{"#000000", "#1e1e2e", "#002b36", "#282c34"}, 4.5},
			{p.light, []string{"#ffffff", "#fdf6e3", "#eff1f5"}, 4.5},
			{p.unknown, []string{"#000000", "#ffffff"}, 4},
		} {
			for _, ground := range c.grounds {
				if got := contrast(hex(t, c.shade.hex), hex(t, ground)); got < c.least {
					t.Errorf("role %d: %s on %s has a contrast of %.2f, needs %.1f", role, c.shade.hex, ground, got, c.least)
				}
			}
		}
	}
}

func TestPaletteTellsThingsApart(t *testing.T) {
	t.Parallel()
	for _, group := range [][]Role{
		{OpenAI, Anthropic, Model},
		{Off, Slight, Moderate, Deep, Deepest},
		{Good, Attention, Bad},
	} {
		for i, a := range group {
			for _, b := range group[i+1:] {
				for name, pair := range map[string][2]shade{
					"dark":    {palette[a].dark, palette[b].dark},
					"light":   {palette[a].light, palette[b].light},
					"unknown": {palette[a].unknown, palette[b].unknown},
				} {
					if d := hex(t, pair[0].hex).DistanceCIEDE2000(hex(t, pair[1].hex)); d < 0.1 {
						t.Errorf("roles %d and %d on %s: %s and %s are %.3f apart", a, b, name, pair[0].hex, pair[1].hex, d)
					}
				}
			}
		}
	}
}

func TestWordsHaveRoles(t *testing.T) {
	t.Parallel()
	for _, got := range []Role{
		Provider("openai"), Provider("anthropic"),
		Reasoning("none"), Reasoning("minimal"), Reasoning("low"), Reasoning("medium"), Reasoning("high"), Reasoning("xhigh"), Reasoning("max"),
		Status("active"), Status("awaiting_host_outcome"), Status("completed"), Status("partial"), Status("blocked"),
	} {
		if got == Plain {
			t.Error("a word of the contract has no role")
		}
	}
	if Provider("x") != Plain || Reasoning("x") != Plain || Status("x") != Plain {
		t.Error("an unknown word has a role")
	}
}

func TestPaint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile     termenv.Profile
		dark, known bool
		want        string
	}{
		{termenv.Ascii, true, true, "x"},
		{termenv.TrueColor, true, true, "\x1b[38;2;126;231;135mx\x1b[0m"},
		{termenv.ANSI256, false, true, "\x1b[38;5;22mx\x1b[0m"},
		{termenv.ANSI, true, true, "\x1b[92mx\x1b[0m"},
		{termenv.ANSI, false, false, "\x1b[32mx\x1b[0m"},
	} {
		if got := New(c.profile, c.dark, c.known).Paint(Good, "x"); got != c.want {
			t.Errorf("%v: got %q, want %q", c.profile, got, c.want)
		}
	}
}

// Not parallel: Forms changes the default renderer of the process.
func TestFormsFollowTheTheme(t *testing.T) {
	light := New(termenv.TrueColor, false, true).Forms()
	if got := light.Focused.ErrorMessage.Render("x"); !strings.Contains(got, "38;2;179;19;31m") {
		t.Errorf("an error in a form is %q, not in the palette's colour", got)
	}
	plain := New(termenv.Ascii, true, true).Forms()
	for name, got := range map[string]string{
		"title":    plain.Focused.Title.Render("x"),
		"selector": plain.Focused.SelectSelector.Render(""),
		"button":   plain.Focused.FocusedButton.Render("x"),
		"help":     plain.Help.ShortKey.Render("x"),
	} {
		if strings.Contains(got, "\x1b") {
			t.Errorf("without colours, a form's %s is %q", name, got)
		}
	}
}
