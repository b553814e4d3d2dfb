//go:build unix

package theme

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
)

// fakeTerminal answers what a program asks with the given bytes, once it has asked.
func fakeTerminal(t *testing.T, answer string) *os.File {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _, _ = tty.Close(), ptmx.Close() })
	go func() {
		var seen []byte
		buf := make([]byte, 256)
		for {
			n, err := ptmx.Read(buf)
			if err != nil {
				return
			}
			seen = append(seen, buf[:n]...)
			if bytes.Contains(seen, []byte("\x1b]11;?\x1b\\\x1b[c")) {
				_, _ = ptmx.WriteString(answer)
				seen = nil
			}
		}
	}()
	return tty
}

func TestAsk(t *testing.T) {
	t.Parallel()
	xterm := env("TERM=xterm-256color")
	for answer, want := range map[string][2]bool{
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?6c": {false, true},
		"\x1b]11;rgb:0000/0000/0000\x07\x1b[?6c":   {true, true},
		"\x1b[?6c":                                 {false, false},
	} {
		tty := fakeTerminal(t, answer)
		if dark, known := Ask(tty, tty, xterm, 5*time.Second); dark != want[0] || known != want[1] {
			t.Errorf("%q: got dark %v, known %v", answer, dark, known)
		}
	}
}

func TestAskGivesUp(t *testing.T) {
	t.Parallel()
	tty := fakeTerminal(t, "")
	if _, known := Ask(tty, tty, env("TERM=xterm"), 20*time.Millisecond); known {
		t.Error("a silent terminal tells its background")
	}
	if _, known := Ask(tty, tty, env("TERM=dumb"), time.Hour); known {
		t.Error("a dumb terminal tells its background")
	}
	notTerminal, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = notTerminal.Close() }()
	if _, known := Ask(notTerminal, notTerminal, env("TERM=xterm"), time.Hour); known {
		t.Error("what is no terminal tells its background")
	}
}
