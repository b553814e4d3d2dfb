package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/locales"
	"github.com/qa-orch/qa-orch/locales/memo"
	"github.com/qa-orch/qa-orch/locales/play"
	server "github.com/qa-orch/qa-orch/server/advocate"
	"github.com/qa-orch/qa-orch/tui/page"
	"github.com/qa-orch/qa-orch/tui/theme"
)

// reviewState is what the demo reads of the devil's advocate's answers.
type reviewState struct {
	ReviewID     string              `json:"review_id"`
	Status       string              `json:"status"`
	Accepted     int                 `json:"accepted"`
	Instructions *phaseInstructions  `json:"instructions"`
	NextPhase    *phaseInstructions  `json:"next_phase"`
	Assessment   advocate.Assessment `json:"assessment"`
}

type phaseInstructions struct {
	Phase advocate.Phase `json:"phase"`
	Step  string         `json:"step"`
}

// stressTest plays what a host may do after the synthesis: it takes its conclusion to the devil's
// advocate. others are the tools of the QA server, which must have none of them.
func (d *demo) stressTest(ctx context.Context, others []mcp.Tool) error {
	script, err := play.In(d.Lang())
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "qa-orch-demo-advocate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	path, err := d.Executable()
	if err != nil {
		return err
	}
	d.heading(d.T("advocate.with.start"))
	c, err := startServer(ctx, path, []string{"advocate", "serve"}, folder, demoClient, nil, d.tap("host", "advocate"))
	if err != nil {
		return err
	}
	defer c.stop()
	h := &opponent{demo: d, child: c}
	tools, err := c.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	d.print(d.N("advocate.with.tools", len(tools.Tools)))
	if err := h.review(ctx, script); err != nil {
		return err
	}
	if sharesTools(tools.Tools, others) || !holds(folder, script.Claim) || holds(d.folder, script.Claim) {
		return failed(locales.M("advocate.with.shared"), nil)
	}
	d.print(d.T("advocate.with.apart"))
	d.heading(d.T("demo.outcome"))
	return nil
}

// opponent is the demo as a client of the devil's advocate.
type opponent struct {
	*demo
	child *child
}

// review takes a claim through one review: a lazy attempt that must be refused, then in earnest.
func (h *opponent) review(ctx context.Context, script *play.Script) error {
	out := &performance{App: h.App, silent: h.JSON}
	s, err := h.call(ctx, server.StartTool, args{"claim": script.Claim, "context": script.Context, "mode": string(advocate.DevilsAdvocate)})
	if err != nil {
		return err
	}
	h.print("  " + h.T("advocate.with.claim", locales.Vars{"Claim": script.Claim}))
	for in := s.Instructions; in != nil; in = s.NextPhase {
		phase := script.Of(in.Phase)
		if len(phase.Lazy) > 0 {
			h.print(h.T("advocate.with.lazy"))
			if err := h.refused(ctx, s.ReviewID, phase.Lazy, out); err != nil {
				return err
			}
			h.print(h.T("advocate.with.real"))
		}
		before := s.ReviewID
		if s, err = h.call(ctx, server.SubmitTool, args{"review_id": s.ReviewID, "items": phase.Items}); err != nil {
			return err
		}
		if s.ReviewID != before {
			return failed(locales.M("advocate.with.shared"), nil)
		}
		h.print("  " + h.T("advocate.demo.phase", locales.Vars{"Step": in.Step, "Phase": memo.Name(h.Printer, in.Phase)}) +
			" · " + h.Theme().Paint(theme.Good, h.N("advocate.demo.accepted", s.Accepted)))
	}
	if s, err = h.call(ctx, server.VerdictTool, args{"review_id": s.ReviewID}); err != nil {
		return err
	}
	h.print("  " + h.Theme().Paint(page.Assessment(s.Assessment), memo.Name(h.Printer, s.Assessment)))
	return nil
}

func (h *opponent) exchange(ctx context.Context, name string, a args) (*mcp.CallToolResult, error) {
	text := h.command(name)
	if mode, ok := a["mode"].(string); ok {
		text += " mode=" + mode
	}
	h.print(text)
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = name, map[string]any(a)
	return h.child.client.CallTool(ctx, req)
}

func (h *opponent) call(ctx context.Context, name string, a args) (reviewState, error) {
	var s reviewState
	result, err := h.exchange(ctx, name, a)
	if err != nil {
		return s, err
	}
	if result.IsError {
		return s, errors.New(resultText(result))
	}
	return s, json.Unmarshal([]byte(resultText(result)), &s)
}

// refused submits what the quality gate must refuse, and prints the refusal as the model reads it.
func (h *opponent) refused(ctx context.Context, id string, items []map[string]any, out *performance) error {
	result, err := h.exchange(ctx, server.SubmitTool, args{"review_id": id, "items": items})
	if err != nil {
		return err
	}
	out.items(items)
	if !result.IsError || !strings.Contains(resultText(result), refusedItem) {
		return failed(locales.M("advocate.demo.not-refused"), nil)
	}
	for line := range strings.Lines(resultText(result)) {
		out.refusal(locales.Inert(strings.TrimSpace(line)))
	}
	return nil
}

// refusedItem is in every refusal of a submission whose first item is at fault.
const refusedItem = "item 0:"

func sharesTools(a, b []mcp.Tool) bool {
	return slices.ContainsFunc(a, func(x mcp.Tool) bool {
		return slices.ContainsFunc(b, func(y mcp.Tool) bool { return x.Name == y.Name })
	})
}

// holds reports whether a file under the folder contains the text.
func holds(folder, text string) bool {
	found := false
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path) // #nosec G304 G122 -- in the demo's own temporary folder
		found = found || err == nil && bytes.Contains(data, []byte(text))
		return nil
	})
	return found
}
