//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// patience is how long a screen may take to show what a test waits for. A
// healthy one takes some 20 ms.
const patience = 20 * time.Second

// terminal is an emulated terminal with the program on it, and the person in
// front of it.
type terminal struct {
	t    testing.TB
	cmd  *exec.Cmd
	ptmx *os.File

	mu   sync.Mutex
	emu  *vt.Emulator
	sent []byte // all that the program wrote

	ended         chan struct{} // the program is gone, and all that it wrote is here
	before, after *term.State   // after is there when the program ended
}

type onTerminal struct {
	as            string   // the one of programs that runs; the product where it is empty
	columns, rows int      // 80 by 24 where they are 0
	env           []string // all of it, beside what every test has
	mute          bool     // the terminal answers no question
	shell         string   // run before the program, in its place: "ulimit -f 0"
}

// sitDown starts the program on a terminal.
func sitDown(t testing.TB, o onTerminal, args ...string) *terminal {
	t.Helper()
	if o.as == "" {
		o.as = program
	}
	if o.columns == 0 {
		o.columns, o.rows = 80, 24
	}
	self, err := exec.LookPath(o.as) // this test binary under the program's name, so that children of it are the program too
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append(cmd.Args, args...)
	if o.shell != "" {
		cmd = exec.Command("/bin/sh", append([]string{"-c", o.shell + `; exec "$SELF" "$@"`, program}, args...)...)
	}
	cmd.Env = append([]string{
		"TERM=xterm-256color", "COLORTERM=truecolor", "HOME=" + t.TempDir(), "TZ=UTC", "GORACE=" + noRaceSleep, "SELF=" + self,
	}, o.env...)
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	s := &terminal{t: t, cmd: cmd, ptmx: ptmx, emu: vt.NewEmulator(o.columns, o.rows), ended: make(chan struct{})}
	if err := pty.Setsize(ptmx, &pty.Winsize{Cols: uint16(o.columns), Rows: uint16(o.rows)}); err != nil {
		t.Fatal(err)
	}
	if s.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		var to io.Writer = ptmx
		if o.mute {
			to = io.Discard
		}
		_, _ = io.Copy(to, s.emu) // the terminal's answers
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		buf := make([]byte, 1<<16)
		for {
			n, err := ptmx.Read(buf)
			if n > 0 {
				s.mu.Lock()
				s.sent = append(s.sent, buf[:n]...)
				_, _ = s.emu.Write(buf[:n])
				s.mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		_ = cmd.Wait()
		s.after, _ = term.GetState(int(tty.Fd()))
		_ = tty.Close() // the last one to have it open: reading comes to its end
		<-drained
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.ended
		_ = ptmx.Close()
		// Close would race with the reading of answers; closing what they come from ends it.
		if answers, ok := s.emu.InputPipe().(io.Closer); ok {
			_ = answers.Close()
		}
	})
	return s
}

// screen returns what the terminal shows.
func (s *terminal) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emu.String()
}

// written returns all bytes that the program wrote so far.
func (s *terminal) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.sent)
}

// said waits for the program to end well and checks that it said all the texts
// after its last full screen.
func (s *terminal) said(texts ...string) {
	s.t.Helper()
	s.exit(exitOK)
	all := s.written()
	all = squeeze(ansi.Strip(all[strings.LastIndex(all, "\x1b[?1049l")+1:]))
	for _, text := range texts {
		if !strings.Contains(all, squeeze(text)) {
			s.t.Errorf("%q is missing in what was said at the end:\n%s", text, s.screen())
		}
	}
}

// squeeze drops what depends on where lines are broken.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \n\t\r┃\u00a0", r) {
			return -1
		}
		return r
	}, text)
}

// see waits until the terminal shows all the texts, however they are wrapped.
func (s *terminal) see(texts ...string) {
	s.t.Helper()
	s.until(texts, func(screen string) bool {
		screen = squeeze(screen)
		for _, text := range texts {
			if !strings.Contains(screen, squeeze(text)) {
				return false
			}
		}
		return true
	})
}

// miss waits until the terminal does not show the text any more.
func (s *terminal) miss(text string) {
	s.t.Helper()
	s.until("the end of "+text, func(screen string) bool { return !strings.Contains(squeeze(screen), squeeze(text)) })
}

// until waits until the screen is as it should be.
func (s *terminal) until(what any, shown func(screen string) bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		gone := false
		select {
		case <-s.ended:
			gone = true
		default:
		}
		if shown(s.screen()) {
			return
		}
		if gone || time.Now().After(end) {
			s.t.Fatalf("waited for %q (program ended: %v), the terminal shows\n%s", what, gone, s.screen())
		}
	}
}

// press types keys.
func (s *terminal) press(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if _, err := s.ptmx.WriteString(k); err != nil {
			s.t.Fatal(err)
		}
		if k == keyEsc {
			time.Sleep(50 * time.Millisecond) // what follows at once would be taken for Alt and a letter
		}
	}
}

// hangUp takes the terminal away.
func (s *terminal) hangUp() { _ = s.ptmx.Close() }

// resize changes the size of the terminal.
func (s *terminal) resize(columns, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.emu.Resize(columns, rows)
	s.mu.Unlock()
	if err := pty.Setsize(s.ptmx, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the program to end, in whatever way.
func (s *terminal) end() {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("the program does not end; the terminal shows\n%s", s.screen())
	}
}

// exit waits for the program to end and checks its exit code, and that it left
// the terminal as it was.
func (s *terminal) exit(code int) {
	s.t.Helper()
	s.end()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d; the terminal shows\n%s", got, code, s.screen())
	}
	if !reflect.DeepEqual(s.before, s.after) {
		s.t.Error("the terminal's modes are not what they were")
	}
	sent := s.written()
	for on, off := range map[string]string{
		"\x1b[?1049h": "\x1b[?1049l", // the other screen
		"\x1b[?25l":   "\x1b[?25h",   // the cursor is hidden
		"\x1b[?2004h": "\x1b[?2004l", // pasting is marked
		"\x1b[?1002h": "\x1b[?1002l", // the mouse is watched
	} {
		if strings.LastIndex(sent, on) > strings.LastIndex(sent, off) {
			s.t.Errorf("%q was not undone", on)
		}
	}
}

// Keys as terminals send them.
const (
	keyEnter    = "\r"
	keyDown     = "\x1b[B"
	keyUp       = "\x1b[A"
	keyLeft     = "\x1b[D"
	keyEnd      = "\x1b[F"
	keyShiftTab = "\x1b[Z"
	keyEsc      = "\x1b"
	keyCtrlC    = "\x03"
	keyBack     = "\x7f"
)
