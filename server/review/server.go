// Package review is the MCP server of the QA orchestrator: its tools, resources
// and prompt over an orchestrator. It decides nothing itself.
package review

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/core/orchestrator"
	"github.com/qa-orch/qa-orch/core/settings"
	"github.com/qa-orch/qa-orch/server/stdio"
	"github.com/qa-orch/qa-orch/server/tool"
)

// Name is the server's name in the initialize result.
const Name = "qa-orch"

// Options steer a server.
type Options struct {
	Tools   settings.Tools
	Version string
	// Connected, if not nil, is called when the client has what it needs from
	// initialize, and after each further request. It must return at once.
	Connected func()
}

// Server is the MCP server of the QA orchestrator.
type Server struct {
	MCP *server.MCPServer
}

// New returns the server over o.
func New(o *orchestrator.Orchestrator, opts Options) (*Server, error) {
	hooks := &server.Hooks{}
	if opts.Connected != nil {
		hooks.AddOnSuccess(func(_ context.Context, _ any, method mcp.MCPMethod, _, _ any) {
			if method != mcp.MethodInitialize {
				opts.Connected()
			}
		})
	}
	s := server.NewMCPServer(Name, opts.Version,
		server.WithHooks(hooks),
		server.WithTitle("QA orchestrator"),
		server.WithInstructions(instructions),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(completion{}),
		server.WithResourceCompletionProvider(runCompletion{host{o}}),
	)
	h := host{o}
	list := h.coreTools()
	if opts.Tools == settings.ExtendedTools {
		list = append(list, h.extendedTools()...)
	}
	for i := range list {
		list[i].Refuse = refuse
	}
	if err := tool.Register(s, list); err != nil {
		return nil, err
	}
	if opts.Connected != nil {
		s.AddNotificationHandler("notifications/initialized", func(context.Context, mcp.JSONRPCNotification) { opts.Connected() })
	}
	h.addResources(s)
	addPrompt(s)
	return &Server{MCP: s}, nil
}

// Warn tells the client in its log what the server can't use now.
func (s *Server) Warn(text string) {
	stdio.Log(s.MCP, mcp.LoggingLevelWarning, Name, text)
}

// host carries out what a host asks for.
type host struct {
	o *orchestrator.Orchestrator
}

const instructions = `qa-orch routes a QA review through fixed steps and keeps only its state. You gather the evidence, run the checklists and own every decision; send no evidence, source, findings or free text here.
Workflow:
1. start_qa_orchestration(task_type) -> run_id. Keep it.
2. Choose the route from changed files and confirmed manifests: one profile for a routine, narrow, low-risk change with one main concern; a bundle for broad, cross-concern or high-risk work (widget = TypeScript React, widget_js = JavaScript React, autotest = TypeScript automation, else ordinary_mr). recommended_bundles is a shortlist, not a limit. Report it: advance(completed_step=triage, status=completed, selected_bundle or selected_profile).
3. For each profile in order: prepare_qa_orchestration(agent_profile) for its checklist, run it against your evidence, then advance(completed_step=primary_review, status=completed, completed_profile). With the last profile send risk_signals, true only for what the evidence supports, {} when none apply.
4. Fixed rules then lead to deep_review or straight to synthesis: do the step, then report it with advance.
5. finish_qa_orchestration(run_id, outcome) with your own decision.
Every answer names what is due in next_action, and in model_policy the model and reasoning for it. If you cannot go on, advance with status=partial or blocked, then finish with the same outcome. After a lost answer or a restart call get_qa_orchestration(run_id) before repeating anything. A refused call changes nothing: read its text and correct the call. To stress-test the conclusion after synthesis, use the separate devil's advocate server if it is registered; the two share nothing.`
