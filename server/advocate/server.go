// Package advocate is the MCP server of the devil's advocate: seven tools,
// resources and a prompt over a desk. Unlike the QA orchestrator it keeps what
// the client submits; the two share no process and no file.
package advocate

import (
	"github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/server/tool"
)

// Name is the server's name in the initialize result.
const Name = "qa-orch-advocate"

// New returns the MCP server over d.
func New(d *desk.Desk, version string) (*server.MCPServer, error) {
	s := server.NewMCPServer(Name, version,
		server.WithTitle("Devil's advocate"),
		server.WithInstructions(instructions),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(modeCompletion{}),
		server.WithResourceCompletionProvider(reviewCompletion{d}),
	)
	h := host{d}
	if err := tool.Register(s, h.tools()); err != nil {
		return nil, err
	}
	h.addResources(s)
	addPrompt(s)
	return s, nil
}

// host carries out what a host asks for.
type host struct {
	desk *desk.Desk
}

const instructions = `The devil's advocate makes you stress-test a claim or decision before you rely on it. It writes no content: you argue, it checks each submission, leads through the phases and counts up a verdict at the end.
1. start_review(claim, mode): devils_advocate (counterarguments, rebuttals), premortem (how it failed, mitigations), assumptions (what it rests on, tests), steelman (strongest opposing case, responses), gauntlet (all four).
2. Read instructions in the answer: goal, item_format, rules, targets. Write the items yourself, honestly and concretely, and submit(review_id, items). A refused submission saves nothing: mend every item it names and send all again. Several submissions per phase are fine.
3. Each phase that is complete brings the instructions of the next. After the last: get_verdict, and export_report for the decision memo.
get_review shows where a review stands, list_reviews finds one again, abandon_review ends one without a verdict.
What you submit is stored as files on this machine: submit no secrets. Do not bend arguments towards a verdict; a claim that falls here was cheap to lose.`
