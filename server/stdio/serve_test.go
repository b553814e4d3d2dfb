package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// gate lets tests hold a tool call.
type gate struct {
	entered chan string
	release chan struct{}
}

func newGate() *gate { return &gate{entered: make(chan string, 100), release: make(chan struct{})} }

// testServer has a tool for each way a handler can behave.
func testServer(g *gate) *server.MCPServer {
	s := server.NewMCPServer("test", "0", server.WithLogging(), server.WithResourceCapabilities(false, false), server.WithPromptCapabilities(false))
	echo := mcp.NewToolWithRawSchema("echo", "Echoes its arguments.", json.RawMessage(`{"type":"object"}`))
	s.AddTool(echo, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
	})
	add := func(name string, f server.ToolHandlerFunc) {
		s.AddTool(mcp.NewToolWithRawSchema(name, name, json.RawMessage(`{"type":"object"}`)), f)
	}
	add("hold", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		g.entered <- string(r.Params.RawArguments)
		select {
		case <-g.release:
		case <-ctx.Done():
			return mcp.NewToolResultError("cancelled"), nil
		}
		return mcp.NewToolResultText("held"), nil
	})
	add("panic", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("sk-CANARY") })
	add("fail", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("sk-CANARY")
	})
	add("unmarshalable", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructured(func() {}, "x"), nil
	})
	add("nothing", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil })
	add("log", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		Log(s, mcp.LoggingLevelInfo, "test", "an info")
		Log(s, mcp.LoggingLevelWarning, "test", "a warning")
		return mcp.NewToolResultText("logged"), nil
	})
	s.AddResource(mcp.NewResource("x://refused", "refused"), func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, Refuse(ctx, mcp.INVALID_PARAMS, "say please, then ask again")
	})
	s.AddResource(mcp.NewResource("x://broken", "broken"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, errors.New("sk-CANARY")
	})
	return s
}

// session is a client of a server in this process that speaks in raw lines.
type client struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Reader
	done   chan error
	cancel context.CancelFunc
}

func dial(t *testing.T, s *server.MCPServer) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), done: make(chan error, 1), cancel: cancel}
	go func() {
		err := Serve(ctx, s, inR, outW)
		outW.Close()
		c.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
	})
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.in, l+"\n"); err != nil {
			c.t.Error(err)
			return
		}
	}
}

// reply is an answer with its id as it was written.
type reply struct {
	ID     json.RawMessage
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
	line string
}

func (c *client) receive() reply {
	c.t.Helper()
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := c.out.ReadString('\n')
		got <- read{line, err}
	}()
	select {
	case r := <-got:
		if r.err != nil {
			c.t.Fatalf("no answer: %v", r.err)
		}
		rep := reply{line: r.line}
		if err := json.Unmarshal([]byte(r.line), &rep); err != nil {
			c.t.Fatalf("%v in %q", err, r.line)
		}
		return rep
	case <-time.After(10 * time.Second):
		c.t.Fatal("no answer in ten seconds")
		panic("unreachable")
	}
}

func (c *client) ended() error {
	c.t.Helper()
	select {
	case err := <-c.done:
		return err
	case <-time.After(5 * time.Second):
		c.t.Fatal("the server did not end")
		return nil
	}
}

const initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`

func call(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// TestOddLines sends one odd line each and then a good call: an answer is due
// for either, except where the odd line is no request.
func TestOddLines(t *testing.T) {
	t.Parallel()
	const none = 0 // no answer is due
	long := strings.Repeat("a", MaxLine)
	for name, c := range map[string]struct {
		line string
		id   string // as it must come back
		code int    // 0 with an id: a result
	}{
		"text":                     {`sk-CANARY`, `null`, -32700},
		"half an object":           {`{"jsonrpc":"2.0","id":1`, `null`, -32700},
		"two objects":              {`{"jsonrpc":"2.0","id":1,"method":"ping"} {"a":1}`, `null`, -32700},
		"a NUL":                    {"{\"jsonrpc\":\"2.0\",\x00\"id\":1}", `null`, -32700},
		"only a NUL":               {"\x00", `null`, -32700},
		"invalid UTF-8":            {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", `null`, -32700},
		"half a character":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\ud800"}}`, `1`, 0},
		"half a character as id":   {`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, `"\ud800"`, 0},
		"half a method":            {`{"jsonrpc":"2.0","id":1,"method":"\ud800"}`, `1`, -32600},
		"a batch":                  {`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `null`, -32600},
		"an empty batch":           {`[]`, `null`, -32600},
		"a number":                 {`7`, `null`, -32700},
		"a string":                 {`"ping"`, `null`, -32700},
		"null":                     {`null`, `null`, -32700},
		"deep nesting":             {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000) + `}`, `null`, -32700},
		"blank":                    {``, ``, none},
		"spaces":                   {"  \t ", ``, none},
		"no version":               {`{"id":1,"method":"ping"}`, `1`, -32600},
		"another version":          {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `1`, -32600},
		"no method":                {`{"jsonrpc":"2.0","id":1}`, `1`, -32600},
		"a method of another type": {`{"jsonrpc":"2.0","id":1,"method":{}}`, `1`, -32600},
		"upper case":               {`{"JSONRPC":"2.0","ID":1,"METHOD":"ping"}`, `null`, -32600},
		"unknown method":           {`{"jsonrpc":"2.0","id":1,"method":"sk-CANARY"}`, `1`, -32601},
		"an answer to nothing":     {`{"jsonrpc":"2.0","id":1,"result":{}}`, ``, none},
		"an error to nothing":      {`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, ``, none},
		"unknown notification":     {`{"jsonrpc":"2.0","method":"sk-CANARY"}`, ``, none},
		"null id":                  {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `null`, -32600},
		"object id":                {`{"jsonrpc":"2.0","id":{"sk-CANARY":1},"method":"ping"}`, `null`, -32600},
		"boolean id":               {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `null`, -32600},
		"string id":                {`{"jsonrpc":"2.0","id":"a\u00e9\n","method":"ping"}`, `"a\u00e9\n"`, 0},
		"empty id":                 {`{"jsonrpc":"2.0","id":"","method":"ping"}`, `""`, 0},
		"big id":                   {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `9007199254740993`, 0},
		"bigger id":                {`{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, `123456789012345678901234567890`, 0},
		"negative id":              {`{"jsonrpc":"2.0","id":-1,"method":"ping"}`, `-1`, 0},
		"zero id":                  {`{"jsonrpc":"2.0","id":0,"method":"ping"}`, `0`, 0},
		"fraction id":              {`{"jsonrpc":"2.0","id":1.50,"method":"ping"}`, `1.50`, 0},
		"exponent id":              {`{"jsonrpc":"2.0","id":1e3,"method":"ping"}`, `1e3`, 0},
		"two ids":                  {`{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `2`, 0},
		"null params":              {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}`, `1`, 0},
		"null params of a call":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, `1`, -32602},
		"array params":             {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["sk-CANARY"]}`, `1`, -32602},
		"text params":              {`{"jsonrpc":"2.0","id":1,"method":"ping","params":"sk-CANARY"}`, `1`, -32602},
		"params of another shape":  {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["sk-CANARY"]}}`, `1`, -32602},
		"two spellings":            {`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, `1`, 0},
		"carriage return":          {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r", `1`, 0},
		"unknown tool":             {call(`1`, "sk-CANARY", `{}`), `1`, -32602},
		"unknown prompt":           {`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"sk-CANARY"}}`, `1`, -32602},
		"unknown resource":         {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://sk-CANARY"}}`, `1`, -32002},
		"resource refused":         {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://refused"}}`, `1`, -32602},
		"resource broken":          {`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://broken"}}`, `1`, -32603},
		"log level":                {`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"sk-CANARY"}}`, `1`, -32602},
		"protocol of the future": {
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-CANARY","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`1`, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		},
		"discovery": {
			`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
			`1`, 0,
		},
		"a number beyond floats":  {call(`1`, "echo", `{"a":1e400,"b":"1e5"}`), `1`, 0},
		"a number of 400 digits":  {call(`1`, "echo", `{"a":-`+strings.Repeat("7", 400)+`}`), `1`, 0},
		"a panic":                 {call(`1`, "panic", `{}`), `1`, -32603},
		"an error":                {call(`1`, "fail", `{}`), `1`, -32603},
		"no JSON for a result":    {call(`1`, "unmarshalable", `{}`), `1`, -32603},
		"nothing for a result":    {call(`1`, "nothing", `{}`), `1`, -32603},
		"one byte too long":       {`{"jsonrpc":"2.0","id":1,"method":"ping","x":"` + long + `"}`, `1`, -32600},
		"too long, id at the end": {`{"method":"ping","params":{"id":"none","x":"` + long + `"},"jsonrpc":"2.0","id":"x7"}`, `"x7"`, -32600},
		"too long, no id":         {`{"method":"ping","params":{"x":"` + long + `","id":3}}`, `null`, -32600},
		"half a surrogate pair":   {call(`1`, "echo", `{"a":"\ud83d"}`), `1`, 0},
		"a byte-order mark":       {"\ufeff" + call(`1`, "echo", `{}`), `1`, 0},
		"much too long":           {strings.Repeat(long, 3), `null`, -32600},
		"as long as it may be":    {longest(), `1`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cl := dial(t, testServer(newGate()))
			if c.id == "" {
				cl.send(c.line) // nothing comes back that would have to be read
			} else {
				go cl.send(c.line)
			}
			if c.id != "" {
				r := cl.receive()
				if string(r.ID) != c.id {
					t.Errorf("id %s, want %s", r.ID, c.id)
				}
				switch {
				case c.code == 0 && r.Error != nil, c.code != 0 && (r.Error == nil || r.Error.Code != c.code):
					t.Errorf("got %.300s, want code %d", r.line, c.code)
				case r.Error != nil && len(r.Error.Message) < 15:
					t.Errorf("the message says nothing: %q", r.Error.Message)
				}
				if strings.Contains(r.line, "CANARY") {
					t.Errorf("%q repeats what was sent", r.line)
				}
			}
			go cl.send(call(`"next"`, "echo", `{"a":1}`))
			if r := cl.receive(); string(r.ID) != `"next"` || r.Error != nil {
				t.Errorf("the next call: %.300s", r.line)
			}
		})
	}
}

// longest is a message of exactly MaxLine bytes.
func longest() string {
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"ping","x":"`, `"}`
	return head + strings.Repeat("a", MaxLine-len(head)-len(tail)) + tail
}

func TestRefuseOutsideAConnection(t *testing.T) {
	t.Parallel()
	if err := Refuse(t.Context(), mcp.INVALID_PARAMS, "say please, then ask again"); err == nil || err.Error() != "say please, then ask again" {
		t.Errorf("got %v", err)
	}
}

func TestInitializeIsAnsweredBeforeWhatFollows(t *testing.T) {
	t.Parallel()
	for range 20 {
		c := dial(t, testServer(newGate()))
		go c.send(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, call(`1`, "echo", `{}`), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		if r := c.receive(); string(r.ID) != `"init"` {
			t.Fatalf("first came %s", r.line)
		}
		c.receive()
		c.receive()
	}
}

func TestToolCallsRunInTheirOrder(t *testing.T) {
	t.Parallel()
	c := dial(t, testServer(newGate()))
	go func() {
		for i := range 200 {
			c.send(call(fmt.Sprint(i), "echo", `{}`))
		}
	}()
	for i := range 200 {
		if r := c.receive(); string(r.ID) != fmt.Sprint(i) {
			t.Fatalf("answer %d has id %s", i, r.ID)
		}
	}
}

func TestASlowCallHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	g := newGate()
	c := dial(t, testServer(g))
	c.send(call(`1`, "hold", `{}`))
	<-g.entered
	c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if r := c.receive(); string(r.ID) != `2` {
		t.Fatalf("got %s", r.line)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	if r := c.receive(); string(r.ID) != `3` {
		t.Fatalf("got %s", r.line)
	}
	close(g.release)
	if r := c.receive(); string(r.ID) != `1` || r.Error != nil {
		t.Fatalf("got %s", r.line)
	}
}

func TestCancelledCallIsStillAnswered(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`7`, `"seven"`, `9007199254740993`, `-9007199254740995`} {
		g := newGate()
		c := dial(t, testServer(g))
		c.send(call(id, "hold", `{}`))
		<-g.entered
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		if r := c.receive(); string(r.ID) != id || !strings.Contains(r.line, "cancelled") {
			t.Errorf("got %s", r.line)
		}
	}
}

func TestEndOfInputAnswersEverything(t *testing.T) {
	t.Parallel()
	c := dial(t, testServer(newGate()))
	go func() {
		for i := range 20 {
			c.send(call(fmt.Sprint(i), "echo", `{}`))
		}
		_, _ = io.WriteString(c.in, call(`"last"`, "echo", `{}`)) // no newline
		c.in.Close()
	}()
	for i := range 21 {
		want := fmt.Sprint(i)
		if i == 20 {
			want = `"last"`
		}
		if r := c.receive(); string(r.ID) != want || r.Error != nil {
			t.Fatalf("got %s", r.line)
		}
	}
	if err := c.ended(); err != nil {
		t.Error(err)
	}
}

// TestEndIsBounded ends connections while a call hangs: by the end of the input
// and by a signal. Every call is answered once, in time, and what comes late is
// dropped.
func TestEndIsBounded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*client){
		"input":  func(c *client) { c.in.Close() },
		"signal": func(c *client) { c.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate()
			s := testServer(g)
			stuck := make(chan struct{})
			s.AddTool(mcp.NewToolWithRawSchema("stuck", "Heeds nothing.", json.RawMessage(`{"type":"object"}`)),
				func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					g.entered <- ""
					<-stuck
					return mcp.NewToolResultText("late"), nil
				})
			c := dial(t, s)
			c.send(call(`1`, "stuck", `{}`))
			<-g.entered
			go c.send(call(`2`, "echo", `{}`), call(`3`, "echo", `{}`), `{"jsonrpc":"2.0","id":4,"method":"ping"}`)
			if r := c.receive(); string(r.ID) != `4` { // then the others were read too
				t.Fatalf("got %s", r.line)
			}
			end(c)
			seen := map[string]bool{}
			for range 3 {
				r := c.receive()
				if r.Error == nil || !strings.Contains(r.Error.Message, "shutting down") || seen[string(r.ID)] {
					t.Errorf("got %s", r.line)
				}
				seen[string(r.ID)] = true
			}
			if err := c.ended(); err != nil {
				t.Error(err)
			}
			close(stuck) // so nobody waited for it
			if rest, _ := io.ReadAll(c.out); len(rest) > 0 {
				t.Errorf("after the end came %q", rest)
			}
		})
	}
}

func TestSignalFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	g := newGate()
	c := dial(t, testServer(g))
	c.send(call(`1`, "hold", `{}`))
	<-g.entered
	c.cancel()
	time.AfterFunc(50*time.Millisecond, func() { close(g.release) })
	if r := c.receive(); string(r.ID) != `1` || !strings.Contains(r.line, "held") {
		t.Errorf("got %s", r.line)
	}
	if err := c.ended(); err != nil {
		t.Error(err)
	}
}

// TestOpenStreamEndsWithTheInput: a subscription stays unanswered until the
// client hangs up, and must not hold up the end.
func TestOpenStreamEndsWithTheInput(t *testing.T) {
	t.Parallel()
	c := dial(t, testServer(newGate()))
	c.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}}}`)
	go c.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	for {
		if r := c.receive(); string(r.ID) == `2` {
			break
		}
	}
	began := time.Now()
	go func() { _, _ = io.Copy(io.Discard, c.out) }()
	c.in.Close()
	if err := c.ended(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestClientThatStopsReading(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), testServer(newGate()), inR, outW) }()
	go func() { // floods, and reads nothing
		for {
			if _, err := io.WriteString(inW, call(`1`, "echo", `{"x":"`+strings.Repeat("y", 1000)+`"}`)+"\n"); err != nil {
				return
			}
		}
	}()
	time.Sleep(50 * time.Millisecond)
	outR.CloseWithError(errors.New("broken pipe"))
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the server did not end")
	}
	inR.Close()
}

// TestFloodWithoutReadingIsBounded: a client that sends and never reads makes
// the server hold only so much, and the server still ends on a signal.
func TestFloodWithoutReadingIsBounded(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	_, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, testServer(newGate()), inR, outW) }()
	sent := make(chan int, 1)
	go func() {
		n := 0
		defer func() { sent <- n }()
		for {
			if _, err := io.WriteString(inW, call(`1`, "echo", `{}`)+"\n"); err != nil {
				return
			}
			n++
		}
	}()
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	cancel()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("the server did not end")
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	inR.Close()
	// What fits the read buffer and the queue, and no more.
	if n := <-sent; n > queued+readBuffer/len(call(`1`, "echo", `{}`))+10 {
		t.Errorf("%d messages were taken on", n)
	}
}

func TestLogLevels(t *testing.T) {
	t.Parallel()
	c := dial(t, testServer(newGate()))
	go c.send(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.receive()
	logged := func() (texts []string) {
		t.Helper()
		go c.send(call(`1`, "log", `{}`), `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		answers := 0
		deadline := time.Now().Add(time.Second)
		for answers < 2 || (len(texts) == 0 && time.Now().Before(deadline)) {
			r := c.receive()
			if r.Method == "notifications/message" {
				texts = append(texts, r.line)
			} else {
				answers++
			}
		}
		return texts
	}
	if got := logged(); len(got) != 1 || !strings.Contains(got[0], "a warning") {
		t.Errorf("by default: %q", got)
	}
	c.send(`{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"debug"}}`)
	c.receive()
	c.send(call(`1`, "log", `{}`))
	var texts []string
	for len(texts) < 2 {
		if r := c.receive(); r.Method == "notifications/message" {
			texts = append(texts, r.line)
		}
	}
	if !strings.Contains(texts[0], "an info") || !strings.Contains(texts[1], "a warning") {
		t.Errorf("at debug: %q", texts)
	}
}

func TestReadErrorIsReported(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	err := Serve(t.Context(), testServer(newGate()), io.MultiReader(strings.NewReader(call(`1`, "echo", `{}`)+"\n"), errReader{broken}), io.Discard)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// TestNothingIsLeftRunning counts goroutines over many connections.
func TestNothingIsLeftRunning(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		var out syncBuffer
		if err := Serve(t.Context(), testServer(newGate()), strings.NewReader(initialize+"\n"+call(`1`, "echo", `{}`)), &out); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Fatalf("%d answers", n)
		}
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		input string
		want  []string // "!" stands for a line that is too long
	}{
		"none":               {"", nil},
		"one":                {"abc\n", []string{"abc\n"}},
		"no newline":         {"abc\nde", []string{"abc\n", "de"}},
		"at the limit":       {"12345678\nx\n", []string{"12345678\n", "x\n"}},
		"at the limit, last": {"12345678", []string{"12345678"}},
		"over the limit":     {"123456789\nx\n", []string{"!", "x\n"}},
		"over, last":         {"123456789a", []string{"!"}},
		"far over":           {strings.Repeat("z", 300<<10) + "\nx", []string{"!", "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLineReader(strings.NewReader(c.input), 8)
			var got []string
			for {
				line, err := r.next()
				if errors.Is(err, io.EOF) {
					break
				}
				var over *tooLong
				if errors.As(err, &over) {
					line = []byte("!")
				} else if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(line))
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %.80q, want %.80q", got, c.want)
			}
		})
	}
}

// FuzzLine sends any line through a whole server: if an answer comes it is one
// line of JSON-RPC, and the next call works.
func FuzzLine(f *testing.F) {
	for _, seed := range []string{
		initialize, call(`1`, "echo", `{}`), `[]`, `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, "{\"id\":\x00}", `{"method":"ping","jsonrpc":"2.0","params":{"_meta":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(line, '\n') || bytes.Contains(line, []byte(`"hold"`)) || bytes.Contains(line, []byte("subscriptions")) {
			return
		}
		var out syncBuffer
		input := append(append([]byte{}, line...), "\n"+call(`"next"`, "echo", `{}`)...)
		if err := Serve(t.Context(), testServer(newGate()), bytes.NewReader(input), &out); err != nil {
			t.Fatal(err)
		}
		next := false
		for l := range strings.Lines(out.String()) {
			var r struct {
				JSONRPC string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
				Method  string
			}
			if err := json.Unmarshal([]byte(l), &r); err != nil || r.JSONRPC != "2.0" {
				t.Fatalf("%v: %q", err, l)
			}
			next = next || string(r.ID) == `"next"`
		}
		if !next {
			t.Fatalf("the next call was not answered: %q", out.String())
		}
	})
}

func TestMain(m *testing.M) {
	if os.Getenv("STDIO_CHILD") != "" {
		child()
		os.Exit(0)
	}
	os.Exit(m.Run())
}
