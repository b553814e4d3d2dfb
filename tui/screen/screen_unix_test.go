//go:build unix

package screen

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// model is a screen that does what a test wants of it.
type model struct {
	update func(tea.Msg) tea.Cmd
	view   func() string
}

func (m model) Init() tea.Cmd { return nil }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if m.update == nil {
		return m, nil
	}
	return m, m.update(msg)
}

func (m model) View() string { return m.view() }

// run runs a model on a pseudo-terminal and returns what the terminal was sent. It holds that the
// terminal is as it was.
func run(t *testing.T, m tea.Model, during func(*Terminal, *os.File)) (sent string, interrupted bool, err error) {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := ptmx.Read(buf)
			mu.Lock()
			out.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	terminal := New(tty, tty)
	if during != nil {
		go during(terminal, ptmx)
	}
	ended := make(chan struct{})
	go func() {
		_, interrupted, err = terminal.Run(context.Background(), m, true)
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	after, stateErr := term.GetState(int(tty.Fd()))
	if stateErr != nil {
		t.Fatal(stateErr)
	}
	if !reflect.DeepEqual(before, after) {
		t.Error("the terminal's modes are not what they were")
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		mu.Lock()
		sent = out.String()
		mu.Unlock()
		if strings.Contains(sent, "\x1b[?1049l") {
			break
		}
	}
	for _, undone := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?1002l", "\x1b[?2004l"} {
		if !strings.Contains(sent, undone) {
			t.Errorf("%q was not sent", undone)
		}
	}
	ptmx.Close()
	return sent, interrupted, err
}

func TestCopyAndInterrupt(t *testing.T) {
	t.Parallel()
	shown := make(chan struct{}, 1)
	m := model{view: func() string {
		select {
		case shown <- struct{}{}:
		default:
		}
		return "a view"
	}, update: func(msg tea.Msg) tea.Cmd {
		if key, ok := msg.(tea.KeyMsg); ok && key.String() == "ctrl+c" {
			return tea.Interrupt
		}
		return nil
	}}
	sent, interrupted, err := run(t, m, func(terminal *Terminal, ptmx *os.File) {
		<-shown
		terminal.Copy("qar-1")
		time.Sleep(20 * time.Millisecond)
		_, _ = ptmx.WriteString("\x03")
	})
	if err != nil || !interrupted {
		t.Errorf("interrupted %v, %v", interrupted, err)
	}
	if !strings.Contains(sent, "\x1b]52;c;cWFyLTE=") {
		t.Errorf("nothing was copied: %q", sent)
	}
}
