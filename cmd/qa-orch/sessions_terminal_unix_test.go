//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/qa-orch/qa-orch/tui/calm"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// dashboardPatience is how long a test waits for something to show.
const dashboardPatience = 10 * time.Second

// terminal is a program on a pseudo-terminal with an emulator behind it, which answers what
// terminals answer.
type dashboard struct {
	t      *testing.T
	cmd    *exec.Cmd
	ptmx   *os.File
	tty    *os.File // kept open, so that its state can be looked at when the program is gone
	before *term.State
	ended  chan error

	mu  sync.Mutex
	emu *vt.SafeEmulator
	raw bytes.Buffer
}

// start runs the program (or another of TestMain's) on a terminal of w by h cells.
func start(t *testing.T, w, h int, env []string, args ...string) *dashboard {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	if err := pty.Setsize(ptmx, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		t.Fatal(err)
	}
	s := &dashboard{t: t, ptmx: ptmx, tty: tty, emu: vt.NewSafeEmulator(w, h), ended: make(chan error, 1)}
	if s.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self)
	s.cmd.Args = args
	s.cmd.Env = append([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "HOME=" + t.TempDir(), "TZ=UTC", "GORACE=" + noRaceSleep}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.ended <- s.cmd.Wait() }()
	go func() { _, _ = io.Copy(ptmx, s.emu) }() // the terminal's answers
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := ptmx.Read(buf)
			if n > 0 {
				s.mu.Lock()
				s.raw.Write(buf[:n])
				_, _ = s.emu.Write(buf[:n])
				s.mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = ptmx.Close()
		_ = tty.Close()
		// Close would race with the reading of answers; closing what they come from ends it.
		if answers, ok := s.emu.InputPipe().(io.Closer); ok {
			_ = answers.Close()
		}
	})
	return s
}

// screen returns what the terminal shows.
func (s *dashboard) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emu.String()
}

// sent returns all that the terminal was sent.
func (s *dashboard) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

func (s *dashboard) keys(text string) {
	s.t.Helper()
	if _, err := s.ptmx.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
	if text == "\x1b" {
		time.Sleep(50 * time.Millisecond) // what follows at once would be taken for Alt and a letter
	}
}

func (s *dashboard) resize(w, h int) {
	s.t.Helper()
	s.mu.Lock()
	s.emu.Resize(w, h)
	s.mu.Unlock()
	if err := pty.Setsize(s.ptmx, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		s.t.Fatal(err)
	}
}

// until waits for the screen to be as it should.
func (s *dashboard) until(what string, ok func(screen string) bool) {
	s.t.Helper()
	for end := time.Now().Add(dashboardPatience); ; time.Sleep(10 * time.Millisecond) {
		screen := s.screen()
		if ok(screen) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s did not show. The screen:\n%s", what, screen)
		}
	}
}

// shows waits for all of several texts to be on the screen.
func (s *dashboard) shows(texts ...string) {
	s.t.Helper()
	s.until(strings.Join(texts, ", "), func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	})
}

func (s *dashboard) showsNot(text string) {
	s.t.Helper()
	s.until("the end of "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// ends waits for the program to end with a code and holds that the terminal is as it was.
func (s *dashboard) ends(code int) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(dashboardPatience):
		s.t.Fatalf("the program does not end. The screen:\n%s", s.screen())
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d; the screen:\n%s", got, code, s.screen())
	}
	s.sane()
}

// sane holds that the terminal is as it was before the program.
func (s *dashboard) sane() {
	s.t.Helper()
	after, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	if !reflect.DeepEqual(s.before, after) {
		s.t.Error("the terminal's modes are not what they were")
	}
	var sent string
	for end := time.Now().Add(dashboardPatience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if sent = s.sent(); strings.LastIndex(sent, "\x1b[?1049l") > strings.LastIndex(sent, "\x1b[?1049h") || !strings.Contains(sent, "\x1b[?1049h") {
			break
		}
	}
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

// jobShell stands for a shell with job control: it runs the program in front, takes the terminal
// when the program stops, and puts it in front again when a line is typed.
func jobShell() {
	calm.Restore() // the program takes TERM from here
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	signalIgnoreTTOU()
	before, err := term.GetState(0)
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{program}, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	pid := cmd.Process.Pid
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil {
			if err == syscall.EINTR {
				continue
			}
			panic(err)
		}
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, syscall.Getpgrp()); err != nil {
			panic(err)
		}
		after, err := term.GetState(0)
		sane := err == nil && reflect.DeepEqual(before, after)
		if !status.Stopped() {
			fmt.Printf("job ended %d sane %v\n", status.ExitStatus(), sane)
			os.Exit(0)
		}
		fmt.Printf("job stopped sane %v\n", sane)
		var line [64]byte
		_, _ = os.Stdin.Read(line[:])
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, pid); err != nil {
			panic(err)
		}
		if err := syscall.Kill(-pid, syscall.SIGCONT); err != nil {
			panic(err)
		}
	}
}

func init() { programs["jobshell"] = jobShell }
