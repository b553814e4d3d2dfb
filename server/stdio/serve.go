// Package stdio carries an MCP server over a pair of pipes. Unlike the stock
// transport it answers every request that it has read exactly once, also when
// the input ends or a signal comes, answers initialize before anything that
// follows it, runs tool calls in the order in which they came, bounds what a
// client can make it hold, echoes ids as they were sent, and repeats nothing
// else of what a client sent in a protocol error.
package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"golang.org/x/sync/semaphore"
)

const (
	// MaxLine is how long a message may be, in bytes.
	MaxLine = 4 << 20

	// drainLimit bounds how long requests that were read may take once the
	// input has ended or the context is done; the process has to be gone two
	// seconds after its client.
	drainLimit = 1500 * time.Millisecond

	// queued is how many tool calls are read ahead of the one that runs, others
	// how many further requests run at once, and held how many bytes all of them
	// may have together. Beyond that nothing more is read: a client that floods
	// waits.
	queued = 64
	others = 8
	held   = 4 * MaxLine

	// open is how many requests may stay open until the client hangs up.
	open = 8
)

// Serve answers the client on in and out with s until the input ends, the
// context is done or the client stops reading; then it answers what it has read
// and returns. These are all normal ends and give nil. It may return while a
// read of in is still blocked.
func Serve(ctx context.Context, s *server.MCPServer, in io.Reader, out io.Writer) error {
	session := newSession()
	if err := s.RegisterSession(ctx, session); err != nil {
		return err
	}
	defer s.UnregisterSession(context.WithoutCancel(ctx), session.SessionID())

	base, cancel := context.WithCancel(s.WithContext(context.WithoutCancel(ctx), session))
	defer cancel()
	streams, endStreams := context.WithCancel(base)
	defer endStreams()
	c := &conn{
		server: s, session: session, out: out, base: base, streams: streams,
		stopping: make(chan struct{}), broken: make(chan struct{}), writing: make(chan struct{}, 1),
		calls: make(chan *request, queued), slots: make(chan struct{}, others),
		opened: make(chan struct{}, open), room: semaphore.NewWeighted(held),
		pending: make(map[*request]struct{}),
	}
	readErr := make(chan error, 1)
	go func() { readErr <- c.read(in) }()
	go c.runCalls()
	go c.forward(session.notifications)

	var err error
	select {
	case err = <-readErr:
	case <-ctx.Done():
	case <-c.broken:
		return nil
	}
	close(c.stopping)
	endStreams()
	c.drain()
	c.hush()
	return err
}

// conn is the state of one connection.
type conn struct {
	server  *server.MCPServer
	session *session
	base    context.Context // of every request
	streams context.Context // of requests that stay open until the client hangs up

	stopping chan struct{} // closed when no more is taken on
	calls    chan *request // tool calls in the order in which they came
	slots    chan struct{} // held by other requests while they run
	opened   chan struct{} // held by requests that stay open
	room     *semaphore.Weighted

	writing  chan struct{} // held while a line is written
	out      io.Writer
	broken   chan struct{} // closed when out can't be written to
	breaking sync.Once

	mu      sync.Mutex
	pending map[*request]struct{} // read, and their answer is not out yet
	ending  bool                  // nothing more is taken on
	idle    chan struct{}         // while draining: closed when pending is empty
}

// read takes messages from in until it ends. Its error is that of in.
func (c *conn) read(in io.Reader) error {
	lines := newLineReader(in, MaxLine)
	for {
		line, err := lines.next()
		var over *tooLong
		switch {
		case errors.As(err, &over):
			if !c.say(failure(over.id(), mcp.INVALID_REQUEST, "the message is longer than 4 MiB and was skipped; send less in one message")) {
				return nil
			}
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if !c.take(line) {
			return nil
		}
	}
}

// take deals with one message. It reports false when the connection is ending.
func (c *conn) take(line []byte) bool {
	req, reply := parse(line)
	switch {
	case reply != nil:
		return c.say(reply)
	case req == nil: // a blank line, or an answer to a request that we never send
		return true
	case req.notification():
		c.notify(req)
		return true
	}
	if !c.admit(req) {
		return false
	}
	switch req.method {
	case mcp.MethodInitialize, mcp.MethodPing:
		// Cheap, and nothing may overtake an initialize.
		c.handle(c.base, req)
		return true
	case mcp.MethodSubscriptionsListen:
		select {
		case c.opened <- struct{}{}:
			go func() {
				defer func() { <-c.opened }()
				c.handle(c.streams, req)
			}()
		default:
			c.answer(req, failure(req.id, mcp.INTERNAL_ERROR, "too many subscriptions are open; end one first"))
		}
		return true
	}
	size := int64(len(req.message))
	if c.room.Acquire(c.streams, size) != nil {
		c.answer(req, shuttingDown(req))
		return false
	}
	req.done = func() { c.room.Release(size) }
	if req.method == mcp.MethodToolsCall {
		select {
		case c.calls <- req:
			return true
		case <-c.stopping:
		}
	} else {
		select {
		case c.slots <- struct{}{}:
			go func() {
				defer func() { <-c.slots }()
				c.handle(c.base, req)
			}()
			return true
		case <-c.stopping:
		}
	}
	c.answer(req, shuttingDown(req))
	return false
}

// admit counts a request as read. It reports false when the connection is
// ending: then the request counts as never read, for nobody is left to see that
// its answer gets out.
func (c *conn) admit(req *request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ending {
		return false
	}
	c.pending[req] = struct{}{}
	return true
}

// say answers a line that is no request.
func (c *conn) say(reply []byte) bool {
	req := new(request)
	if !c.admit(req) {
		return false
	}
	c.answer(req, reply)
	return true
}

// runCalls carries out tool calls one after the other.
func (c *conn) runCalls() {
	for {
		select {
		case req := <-c.calls:
			if c.base.Err() != nil || req.answered.Load() {
				return // the end came first: what nobody will see is not begun
			}
			c.handle(c.base, req)
		case <-c.base.Done():
			return
		}
	}
}

// notify hands a notification to the server. A panic in it has nobody to be
// reported to.
func (c *conn) notify(req *request) {
	defer func() { _ = recover() }()
	c.server.HandleMessage(c.base, req.message)
}

// handle carries out a request and answers it, whatever happens.
func (c *conn) handle(ctx context.Context, req *request) {
	if req.done != nil {
		defer req.done()
	}
	c.answer(req, c.reply(ctx, req))
}

func (c *conn) reply(ctx context.Context, req *request) (line []byte) {
	defer func() {
		if recover() != nil {
			line = failure(req.id, mcp.INTERNAL_ERROR, internal)
		}
	}()
	ctx, refusal := withRefusal(ctx)
	switch m := c.server.HandleMessage(ctx, req.message).(type) {
	case mcp.JSONRPCResponse:
		return success(req.id, m.Result)
	case *mcp.JSONRPCResponse:
		return success(req.id, m.Result)
	case mcp.JSONRPCError:
		return reworded(req, m.Error, refusal)
	case *mcp.JSONRPCError:
		return reworded(req, m.Error, refusal)
	default:
		return failure(req.id, mcp.INTERNAL_ERROR, internal)
	}
}

// answer writes the answer to req, unless another one was faster.
func (c *conn) answer(req *request, line []byte) {
	if !req.answered.CompareAndSwap(false, true) {
		return
	}
	c.write(line)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, req)
	if c.idle != nil && len(c.pending) == 0 {
		close(c.idle)
		c.idle = nil
	}
}

// write writes one line. After the first failure nothing is written any more.
func (c *conn) write(line []byte) {
	select {
	case c.writing <- struct{}{}:
	case <-c.base.Done():
		return
	}
	defer func() { <-c.writing }()
	select {
	case <-c.broken:
		return
	default:
	}
	if _, err := c.out.Write(line); err != nil {
		c.breaking.Do(func() { close(c.broken) })
	}
}

// drain waits until what was read is answered. What takes too long is answered
// with an error; its result is dropped.
func (c *conn) drain() {
	idle := c.whenIdle()
	select {
	case <-idle:
		return
	case <-c.broken:
		return
	case <-time.After(drainLimit - lastWords):
	}
	c.mu.Lock()
	late := make([]*request, 0, len(c.pending))
	for req := range c.pending {
		late = append(late, req)
	}
	c.mu.Unlock()
	go func() { // writing blocks for good when the client does not read
		for _, req := range late {
			c.answer(req, shuttingDown(req))
		}
	}()
	select {
	case <-idle:
	case <-c.broken:
	case <-time.After(lastWords):
	}
}

// hush lets a line that is being written come to its end and no other begin, so
// that the process does not end within one.
func (c *conn) hush() {
	select {
	case c.writing <- struct{}{}: // and keeps it
	case <-c.broken:
	case <-time.After(lastWords / 2):
	}
}

// lastWords is the part of drainLimit that is kept for the answers to what took
// too long.
const lastWords = 200 * time.Millisecond

// whenIdle takes no more on and returns a channel that is closed when every
// answer is out.
func (c *conn) whenIdle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	idle := make(chan struct{})
	if len(c.pending) == 0 {
		close(idle)
	} else {
		c.idle = idle
	}
	return idle
}

// forward writes the server's notifications as they come.
func (c *conn) forward(notifications <-chan mcp.JSONRPCNotification) {
	for {
		select {
		case n := <-notifications:
			if line, err := json.Marshal(n); err == nil {
				c.write(append(line, '\n'))
			}
		case <-c.base.Done():
			return
		}
	}
}
