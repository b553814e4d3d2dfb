package theme

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/muesli/cancelreader"
	"github.com/muesli/termenv"
	"golang.org/x/term"
)

// Mode is what a person asks for with --theme.
type Mode uint8

// The modes. Auto finds out what the background is.
const (
	Auto Mode = iota
	Light
	Dark
)

// Modes returns the words of --theme.
func Modes() []string { return []string{"auto", "light", "dark"} }

// ParseMode reads a word of Modes; the empty word is Auto.
func ParseMode(word string) (Mode, bool) {
	switch word {
	case "", "auto":
		return Auto, true
	case "light":
		return Light, true
	case "dark":
		return Dark, true
	}
	return Auto, false
}

// Colors decides how many colours to write. NO_COLOR, if not empty, forbids them whatever else is
// set; then FORCE_COLOR decides ("0" and "false" forbid), CLICOLOR_FORCE (anything but "0" wants
// them) and CLICOLOR ("0" forbids); without any of these, a CI run has none and a terminal has what
// TERM and COLORTERM say.
func Colors(getenv func(string) string, terminal bool) termenv.Profile {
	force := strings.ToLower(getenv("FORCE_COLOR"))
	cliForce := getenv("CLICOLOR_FORCE")
	switch {
	case getenv("NO_COLOR") != "":
		return termenv.Ascii
	case force == "0" || force == "false":
		return termenv.Ascii
	case force == "2":
		return termenv.ANSI256
	case force == "3":
		return termenv.TrueColor
	case force != "":
		return atLeast(capability(getenv), termenv.ANSI)
	case cliForce != "" && cliForce != "0":
		return atLeast(capability(getenv), termenv.ANSI)
	case getenv("CLICOLOR") == "0" || getenv("CI") != "" || !terminal:
		return termenv.Ascii
	}
	return capability(getenv)
}

// atLeast returns the one of two profiles that has more colours. Profiles count downwards.
func atLeast(p, floor termenv.Profile) termenv.Profile { return min(p, floor) }

func capability(getenv func(string) string) termenv.Profile {
	name := strings.ToLower(getenv("TERM"))
	deep := strings.ToLower(getenv("COLORTERM"))
	switch {
	case name == "dumb":
		return termenv.Ascii
	case name == "" && runtime.GOOS != "windows":
		return termenv.Ascii
	case name == "": // the console of every Windows that Go still runs on
		return termenv.TrueColor
	case strings.HasPrefix(name, "screen") && getenv("TERM_PROGRAM") != "tmux":
		return termenv.ANSI256
	case deep == "truecolor" || deep == "24bit":
		return termenv.TrueColor
	}
	switch name {
	case "alacritty", "contour", "rio", "wezterm", "xterm-ghostty", "xterm-kitty":
		return termenv.TrueColor
	}
	if strings.Contains(name, "256color") {
		return termenv.ANSI256
	}
	return termenv.ANSI
}

// Enable makes the console of Windows understand colours. Elsewhere it does nothing.
func Enable(out *os.File) {
	_, _ = termenv.EnableVirtualTerminalProcessing(termenv.NewOutput(out))
}

// Background tells whether the background is dark, without asking the terminal: from mode, else
// from COLORFGBG. It reports false for known when neither says.
func Background(mode Mode, getenv func(string) string) (dark, known bool) {
	switch mode {
	case Light:
		return false, true
	case Dark:
		return true, true
	}
	fields := strings.Split(getenv("COLORFGBG"), ";")
	if n, err := strconv.Atoi(fields[len(fields)-1]); err == nil && len(fields) > 1 && n >= 0 && n < 16 {
		return n < 7 || n == 8, true
	}
	return false, false
}

// Ask asks the terminal for its background colour and waits at most limit for the answer. It
// reports false for known when none comes, and does not ask terminals that can't tell. in and out
// must be the terminal. Call it only when a full-screen program is about to start: what a person
// types in the meantime is lost.
func Ask(in, out *os.File, getenv func(string) string, limit time.Duration) (dark, known bool) {
	switch name := getenv("TERM"); {
	case runtime.GOOS == "windows", name == "", name == "dumb", name == "linux":
		return false, false
	}
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return false, false
	}
	defer func() { _ = term.Restore(int(in.Fd()), state) }()
	reader, err := cancelreader.NewReader(in)
	if err != nil {
		return false, false
	}
	defer func() { _ = reader.Close() }()
	// Every terminal answers the second question. Its answer ends the wait where the first one is
	// not understood.
	if _, err := io.WriteString(out, "\x1b]11;?\x1b\\\x1b[c"); err != nil {
		return false, false
	}
	timer := time.AfterFunc(limit, func() { reader.Cancel() })
	defer timer.Stop()
	return parseBackground(reader)
}

// parseBackground reads a terminal's answers up to the end of its device attributes (ESC[?…c) or
// the end of r, and finds the background colour in them (ESC]11;rgb:RRRR/GGGG/BBBB).
func parseBackground(r io.Reader) (dark, known bool) {
	var seen []byte
	buf := make([]byte, 64)
	for len(seen) < 1024 {
		n, err := r.Read(buf)
		seen = append(seen, buf[:n]...)
		if i := bytes.Index(seen, []byte("\x1b[?")); i >= 0 && bytes.IndexByte(seen[i:], 'c') > 0 {
			break
		}
		if err != nil || n == 0 {
			break
		}
	}
	_, answer, found := bytes.Cut(seen, []byte("\x1b]11;rgb"))
	if !found {
		return false, false
	}
	if end := bytes.IndexAny(answer, "\x07\x1b"); end >= 0 {
		answer = answer[:end]
	} else {
		return false, false
	}
	_, channels, found := strings.Cut(string(answer), ":")
	parts := strings.Split(channels, "/")
	if !found || len(parts) < 3 {
		return false, false
	}
	var value [3]float64
	for i := range value {
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return false, false
		}
		value[i] = float64(n) / float64(uint64(1)<<(4*len(parts[i]))-1)
	}
	return 0.2126*value[0]+0.7152*value[1]+0.0722*value[2] < 0.5, true
}
