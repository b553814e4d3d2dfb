package stdio

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// The bubbles of synctest have a clock of their own, and fail the test if a
// goroutine is left at their end.

// TestWhatIsGivenUpIsNotBegun: a queued call whose client was told that nobody
// knows is not carried out behind its back.
func TestWhatIsGivenUpIsNotBegun(t *testing.T) {
	t.Parallel()
	for _, signal := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := testServer(newGate())
			var begun atomic.Int32
			s.AddTool(mcp.NewToolWithRawSchema("hour", "Takes its time.", json.RawMessage(`{"type":"object"}`)),
				func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					begun.Add(1)
					select {
					case <-ctx.Done():
					case <-time.After(time.Hour):
					}
					return mcp.NewToolResultText("late"), nil
				})
			ctx, cancel := context.WithCancel(t.Context())
			in, feed := io.Pipe()
			var out syncBuffer
			done := make(chan error, 1)
			go func() { done <- Serve(ctx, s, in, &out) }()
			for range 20 {
				_, _ = io.WriteString(feed, call("1", "hour", "{}")+"\n")
			}
			synctest.Wait()
			before := time.Now()
			if signal {
				cancel()
			} else {
				_ = feed.Close()
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if took := time.Since(before); took > drainLimit {
				t.Errorf("signal %v: it took %v", signal, took)
			}
			answered := out.String()
			cancel()
			_ = feed.Close()
			synctest.Wait()
			if n := begun.Load(); n != 1 {
				t.Errorf("signal %v: %d calls were begun", signal, n)
			}
			if n := strings.Count(answered, "shutting down"); n != 20 || out.String() != answered {
				t.Errorf("signal %v: %d of 20 were answered, then came %q", signal, n, out.String()[len(answered):])
			}
		})
	}
}

// TestNothingIsWrittenAfterTheEnd: the process ends then, and a line would be cut.
func TestNothingIsWrittenAfterTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := testServer(newGate())
		out := &slowWriter{}
		log := call("1", "log", "{}")
		in := strings.NewReader(initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + strings.Repeat(log+"\n", 5))
		if err := Serve(t.Context(), s, in, out); err != nil {
			t.Error(err)
		}
		lines := out.lines.Load()
		if out.writing.Load() {
			t.Error("a line is being written")
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		if out.lines.Load() != lines {
			t.Error("more was written")
		}
	})
}

// slowWriter takes a moment for each line.
type slowWriter struct {
	writing atomic.Bool
	lines   atomic.Int32
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.writing.Store(true)
	time.Sleep(10 * time.Millisecond)
	w.lines.Add(1)
	w.writing.Store(false)
	return len(p), nil
}
