//go:build unix

// Command pictures makes the pictures of the README from the real program: it
// builds qa-orch, runs it on an emulated terminal in a temporary home, plays
// the person in front of it and draws what the terminal shows.
//
//	go run ./docs/pictures          # writes docs/pictures/*.svg
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := run("docs/pictures"); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	work, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	bin := filepath.Join(work, "qa-orch")
	build := exec.Command("go", "build", "-o", bin, "./cmd/qa-orch")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	for _, lang := range []string{"en", "ru"} {
		s := studio{bin: bin, home: filepath.Join(work, lang), lang: lang}
		if err := os.Mkdir(s.home, 0o700); err != nil {
			return err
		}
		for _, shot := range []struct {
			name string
			take func() (picture, error)
		}{{"wizard", s.wizard}, {"dashboard", s.dashboard}, {"refusal", s.refusal}} {
			p, err := shot.take()
			if err != nil {
				return fmt.Errorf("%s (%s): %w", shot.name, lang, err)
			}
			path := filepath.Join(folder, shot.name+"."+lang+".svg")
			if err := os.WriteFile(path, p.svg(), 0o644); err != nil {
				return err
			}
			fmt.Println(path)
		}
	}
	return nil
}

// studio takes pictures of one language.
type studio struct{ bin, home, lang string }

func (s studio) env() []string {
	return []string{"HOME=" + s.home, "QA_ORCH_LANG=" + s.lang, "TERM=xterm-256color", "COLORTERM=truecolor", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
}

// wizard shows the choice of a model.
func (s studio) wizard() (picture, error) {
	t, err := s.open(80, 24, "setup", "--theme", "dark")
	if err != nil {
		return picture{}, err
	}
	defer t.close()
	for _, step := range []struct{ see, press string }{
		{"English", "\r"},      // the language
		{"openai", "\r"},       // the provider
		{"gpt-6-", "\x1b[B\r"}, // each stage by hand, not the recommendation
		{"gpt-6-luna", ""},
	} {
		if err := t.see(step.see); err != nil {
			return picture{}, err
		}
		t.press(step.press)
	}
	return t.shot(), nil
}

// dashboard shows reviews at different steps, driven through a real server.
func (s studio) dashboard() (picture, error) {
	store := filepath.Join(s.home, ".qa-orchestrator", "sessions.sqlite3")
	if err := s.reviews(store); err != nil {
		return picture{}, err
	}
	t, err := s.open(116, 18, "sessions", "--theme", "dark")
	if err != nil {
		return picture{}, err
	}
	defer t.close()
	if err := t.see("ordinary_mr"); err != nil {
		return picture{}, err
	}
	return t.shot(), nil
}

// refusal shows how the demo continues after a kill and is refused a step out of order.
func (s studio) refusal() (picture, error) {
	t, err := s.open(80, 70, "demo", "--theme", "dark")
	if err != nil {
		return picture{}, err
	}
	defer t.close()
	if err := t.end(); err != nil {
		return picture{}, err
	}
	p := t.shot()
	// The paragraph with the refusal and the one before it.
	at := p.row("completed_step=synthesis")
	if at < 0 {
		return picture{}, errors.New("the demo shows no refusal")
	}
	from, to := at, at
	for breaks := 0; from > 0; from-- {
		if p.blank(from - 1) {
			if breaks++; breaks == 2 {
				break
			}
		}
	}
	for to < len(p.rows) && !p.blank(to) {
		to++
	}
	p.rows = p.rows[from:to]
	return p, nil
}

// reviews starts reviews in the store and takes them to different steps.
func (s studio) reviews(store string) error {
	ctx := context.Background()
	cmd := exec.Command(s.bin, "serve", "--store", store)
	cmd.Env = s.env()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "pictures", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	call := func(tool string, args map[string]any) (string, error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			return "", err
		}
		if result.IsError {
			return "", fmt.Errorf("%s %v was refused", tool, args)
		}
		id, _ := result.StructuredContent.(map[string]any)["run_id"].(string)
		return id, nil
	}
	type m = map[string]any
	for _, r := range []struct {
		task  string
		steps []m
	}{
		{"requirements_analysis", nil},
		{"ordinary_review", []m{
			{"completed_step": "triage", "status": "completed", "selected_bundle": "ordinary_mr"},
			{"completed_step": "primary_review", "status": "completed", "completed_profile": "code_explorer"},
		}},
		{"ordinary_review", []m{
			{"completed_step": "triage", "status": "completed", "selected_profile": "security_reviewer"},
			{"completed_step": "primary_review", "status": "completed", "completed_profile": "security_reviewer", "risk_signals": m{"high_risk_domain": true, "evidence_uncertain": true}},
		}},
		{"widget_review", []m{
			{"completed_step": "triage", "status": "completed", "selected_bundle": "widget"},
			{"completed_step": "primary_review", "status": "blocked"},
		}},
		{"autotest_implementation", []m{
			{"completed_step": "triage", "status": "completed", "selected_profile": "pr_test_analyzer"},
			{"completed_step": "primary_review", "status": "completed", "completed_profile": "pr_test_analyzer", "risk_signals": m{}},
			{"completed_step": "synthesis", "status": "completed"},
		}},
	} {
		id, err := call("start_qa_orchestration", m{"task_type": r.task})
		if err != nil {
			return err
		}
		for _, step := range r.steps {
			step["run_id"] = id
			if _, err := call("advance_qa_orchestration", step); err != nil {
				return err
			}
		}
	}
	return nil
}

// terminal is an emulated terminal with the program on it.
type terminal struct {
	cmd  *exec.Cmd
	ptmx *os.File

	mu    sync.Mutex
	emu   *vt.Emulator
	ended chan struct{}
}

func (s studio) open(columns, rows int, args ...string) (*terminal, error) {
	cmd := exec.Command(s.bin, args...)
	cmd.Env = s.env()
	ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	if err != nil {
		return nil, err
	}
	t := &terminal{cmd: cmd, ptmx: ptmx, emu: vt.NewEmulator(columns, rows), ended: make(chan struct{})}
	go func() { _, _ = io.Copy(ptmx, t.emu) }() // what terminals answer
	go func() {
		defer close(t.ended)
		buf := make([]byte, 4096)
		for {
			n, err := ptmx.Read(buf)
			t.mu.Lock()
			_, _ = t.emu.Write(buf[:n])
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return t, nil
}

func (t *terminal) close() {
	_ = t.cmd.Process.Kill()
	<-t.ended
	_ = t.cmd.Wait()
	_ = t.ptmx.Close()
}

func (t *terminal) press(keys string) { _, _ = t.ptmx.WriteString(keys) }

// see waits until the terminal shows text and has come to rest.
func (t *terminal) see(text string) error {
	last, still := "", 0
	for range 400 {
		time.Sleep(50 * time.Millisecond)
		t.mu.Lock()
		now := t.emu.String()
		t.mu.Unlock()
		if still++; now != last {
			last, still = now, 0
		}
		if still >= 8 && strings.Contains(now, text) {
			return nil
		}
	}
	return fmt.Errorf("%q did not appear:\n%s", text, last)
}

// end waits until the program has ended.
func (t *terminal) end() error {
	select {
	case <-t.ended:
		return nil
	case <-time.After(time.Minute):
		return errors.New("the program did not end")
	}
}

func (t *terminal) shot() picture {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := picture{columns: t.emu.Width()}
	for y := range t.emu.Height() {
		p.rows = append(p.rows, cells(t.emu, y))
	}
	for len(p.rows) > 1 && p.blank(len(p.rows)-1) {
		p.rows = p.rows[:len(p.rows)-1]
	}
	return p
}
