// Package fleet builds qa-orch and runs it as real server processes, for the
// programs that break, load and measure it.
package fleet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Module is the path of the module that Build builds from.
const Module = "github.com/qa-orch/qa-orch"

// Build builds the command pkg of this module into folder and returns the
// program's path: as a release does, without symbols and without cgo, or else
// just as "go test" does, which is sooner done. It has to run somewhere inside the
// module.
func Build(ctx context.Context, folder, pkg string, release bool) (string, error) {
	name := filepath.Base(pkg)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(folder, name)
	args := []string{"build", "-o", path}
	if release {
		args = append(args, "-trimpath", "-ldflags=-s -w")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, Module+"/"+pkg)...)
	if release {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return path, nil
}

// Env is an environment with nothing in it but a search path and a home and
// temporary folder below folder, and then extra.
func Env(folder string, extra ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "USERPROFILE=" + folder, "APPDATA=" + folder, "LOCALAPPDATA=" + folder, "TMPDIR=" + folder, "TMP=" + folder, "TEMP=" + folder}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	return append(env, extra...)
}

// ErrGone is the error of a call whose server ended, or was killed, before it
// answered. What the call was to do may have been done or not.
var ErrGone = errors.New("the server is gone")

// Result is what a tool call came back with.
type Result struct {
	// IsError tells that the tool refused; Text then starts with the stable phrase.
	IsError bool
	// Text is the text item of the result.
	Text string
	// Structured is the structured content, nil in refusals.
	Structured json.RawMessage
}

// Server is a running server process and the client's end of its streams. Its
// methods may be used from several goroutines.
type Server struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr *tail
	ended  chan struct{} // closed when the process's output has ended
	waited chan struct{} // closed when it has been waited for

	writing sync.Mutex

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	err     error
}

type reply struct {
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Start runs the program at path with args and env and initializes it as an MCP
// server. The process ends with ctx. prepare, if not nil, may change the command
// before it starts.
func Start(ctx context.Context, path string, args, env []string, prepare func(*exec.Cmd)) (*Server, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = env
	s := &Server{cmd: cmd, stderr: &tail{}, ended: make(chan struct{}), waited: make(chan struct{}), waiting: map[int]chan reply{}}
	cmd.Stderr = s.stderr
	cmd.WaitDelay = time.Second
	if prepare != nil {
		prepare(cmd)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.in = in
	go s.read(out)
	go func() {
		<-s.ended
		_ = cmd.Wait()
		close(s.waited)
	}()
	if _, err := s.Ask(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "proof", "version": "0"},
	}); err != nil {
		s.Kill()
		return nil, fmt.Errorf("%w: %s", err, s.Stderr())
	}
	return s, s.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// read hands the answers to those who wait for them until the output ends.
func (s *Server) read(out io.Reader) {
	lines := bufio.NewReaderSize(out, 1<<16)
	err := error(ErrGone)
	for {
		line, rerr := lines.ReadBytes('\n')
		if rerr != nil {
			break // an unfinished line is no answer
		}
		var head struct {
			ID *int `json:"id"`
			reply
		}
		if jerr := json.Unmarshal(line, &head); jerr != nil {
			err = fmt.Errorf("standard output has a line that is not JSON: %w", jerr)
			break
		}
		if head.ID == nil {
			continue // a notification
		}
		s.mu.Lock()
		c := s.waiting[*head.ID]
		delete(s.waiting, *head.ID)
		s.mu.Unlock()
		if c == nil {
			err = fmt.Errorf("an answer to a request that nobody waits for: id %d", *head.ID)
			break
		}
		c <- head.reply
	}
	s.mu.Lock()
	s.err = err
	for id, c := range s.waiting {
		delete(s.waiting, id)
		close(c)
	}
	s.mu.Unlock()
	_, _ = io.Copy(io.Discard, out)
	close(s.ended)
}

func (s *Server) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		return ErrGone
	}
	return nil
}

// Ask sends a request and returns its result. The error is ErrGone when the
// server ended first, the context's when that ended, or the protocol's.
func (s *Server) Ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c := make(chan reply, 1)
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return nil, s.err
	}
	s.next++
	id := s.next
	s.waiting[id] = c
	s.mu.Unlock()
	if err := s.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	select {
	case r, ok := <-c:
		switch {
		case !ok:
			s.mu.Lock()
			defer s.mu.Unlock()
			return nil, s.err
		case r.Error != nil:
			return nil, fmt.Errorf("%s: protocol error %d: %s", method, r.Error.Code, r.Error.Message)
		}
		return r.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Call calls a tool. A refusal is a Result, not an error.
func (s *Server) Call(ctx context.Context, tool string, arguments any) (Result, error) {
	raw, err := s.Ask(ctx, "tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return Result{}, err
	}
	var result struct {
		IsError           bool `json:"isError"`
		Content           []struct{ Text string }
		StructuredContent json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return Result{}, err
	}
	if len(result.Content) != 1 {
		return Result{}, fmt.Errorf("%s: %d items of content", tool, len(result.Content))
	}
	return Result{result.IsError, result.Content[0].Text, result.StructuredContent}, nil
}

// Kill ends the process at once, as SIGKILL does, and waits until it is gone.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.waited
}

// Close closes the server's input, as a host does that leaves, and waits until
// the process is gone. It fails when the process did not end well or, within
// patience, at all; it is then killed.
func (s *Server) Close(patience time.Duration) error {
	_ = s.in.Close()
	select {
	case <-s.waited:
	case <-time.After(patience):
		s.Kill()
		return fmt.Errorf("the server did not end within %v of its input", patience)
	}
	if !s.cmd.ProcessState.Success() {
		return fmt.Errorf("the server ended with %v: %s", s.cmd.ProcessState, s.Stderr())
	}
	return nil
}

// Done is closed when the process is gone.
func (s *Server) Done() <-chan struct{} { return s.waited }

// Pid is the id of the server's process.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Process is the server's process, for signals.
func (s *Server) Process() *os.Process { return s.cmd.Process }

// Stderr is the end of what the server wrote to its error stream, at most 64 KiB.
func (s *Server) Stderr() string { return s.stderr.String() }

// tail keeps the last 64 KiB that are written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - 64<<10; over > 0 {
		t.buf = slices.Delete(t.buf, 0, over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.TrimSpace(t.buf)), "\uFFFD")
}
