package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/qa-orch/qa-orch/core/settings"
)

// child is a server that runs as a child process, with a client connected to it.
type child struct {
	process *exec.Cmd
	client  *client.Client
}

// startServer runs the program at path with the words of a command as a server
// that keeps its files in folder and sees none of the person's own, and initializes it. extra are
// further variables for it. tap, if not nil, gets between the client and the
// server's streams. The child ends with ctx.
func startServer(ctx context.Context, path string, words []string, folder, name string, extra []string, tap func(io.Reader, io.WriteCloser) (io.Reader, io.WriteCloser)) (*child, error) {
	env := append(withoutOurs(os.Environ()), settings.DataDirVar+"="+folder, settings.AdvocateDirVar+"="+folder)
	c, _, err := startChild(ctx, path, words, append(env, extra...), name, tap)
	return c, err
}

// startChild is startServer for any server, with the environment that it is to
// have. It returns what the server says of itself.
func startChild(ctx context.Context, path string, words, env []string, name string, tap func(io.Reader, io.WriteCloser) (io.Reader, io.WriteCloser)) (*child, *mcp.InitializeResult, error) {
	cmd := exec.CommandContext(ctx, path, words...) // #nosec G204 -- this program, or what the person's own client starts
	cmd.Env = env
	cmd.WaitDelay = time.Second // children of its own may keep the streams open
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	var in io.Reader = stdout
	var out io.WriteCloser = stdin
	if tap != nil {
		in, out = tap(in, out)
	}
	c := &child{cmd, client.NewClient(transport.NewIO(in, out, io.NopCloser(bytes.NewReader(nil))))}
	hello, err := c.greet(ctx, name)
	if err != nil {
		_ = cmd.Process.Kill()
		c.stop()
		return nil, nil, err
	}
	return c, hello, nil
}

// greet connects the client and returns what the server says of itself.
func (c *child) greet(ctx context.Context, name string) (*mcp.InitializeResult, error) {
	if err := c.client.Start(ctx); err != nil {
		return nil, err
	}
	req := mcp.InitializeRequest{}
	req.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: name, Version: thisBuild().Version}
	return c.client.Initialize(ctx, req)
}

// stop lets go of the server, which ends when its input does.
func (c *child) stop() {
	_ = c.client.Close()
	_ = c.process.Wait()
}

// withoutOurs drops the variables that steer qa-orch: a child never touches the
// person's own policy, store or reviews.
func withoutOurs(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool {
		return strings.HasPrefix(v, "QA_ORCHESTRATOR_") || strings.HasPrefix(v, settings.AdvocateDirVar+"=")
	})
}
