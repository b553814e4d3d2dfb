package advocate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/server/stdio"
	"github.com/qa-orch/qa-orch/server/tool"
)

// PromptName is the prompt that starts a stress test.
const PromptName = "stress_test"

func addPrompt(s *server.MCPServer) {
	p := mcp.NewPrompt(PromptName,
		mcp.WithPromptDescription("Stress-test a claim or decision with the devil's advocate tools."),
		mcp.WithArgument("claim", mcp.RequiredArgument(), mcp.ArgumentDescription("The claim or decision to test, in one sentence.")),
		mcp.WithArgument("mode", mcp.ArgumentDescription("How to test it: "+strings.Join(tool.Strings(advocate.Modes()), ", ")+". Default: devils_advocate.")),
	)
	p.Title = "Stress test"
	s.AddPrompt(p, stressTest)
}

func stressTest(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	for name := range req.Params.Arguments {
		if name != "claim" && name != "mode" {
			return nil, stdio.Refuse(ctx, mcp.INVALID_PARAMS, "invalid arguments: unknown argument; allowed: claim, mode")
		}
	}
	claim := strings.TrimSpace(req.Params.Arguments["claim"])
	if n := len([]rune(claim)); n < advocate.MinClaim {
		return nil, stdio.Refuse(ctx, mcp.INVALID_PARAMS, fmt.Sprintf("invalid arguments: claim: needs at least %d characters, has %d", advocate.MinClaim, n))
	}
	mode := advocate.Mode(req.Params.Arguments["mode"])
	if mode == "" {
		mode = advocate.DevilsAdvocate
	}
	if !slices.Contains(advocate.Modes(), mode) {
		return nil, stdio.Refuse(ctx, mcp.INVALID_PARAMS, "invalid arguments: mode: must be one of "+strings.Join(tool.Strings(advocate.Modes()), ", "))
	}
	body := fmt.Sprintf(workflow, claim, mode, strings.Join(tool.Strings(mode.Phases()), ", "))
	return mcp.NewGetPromptResult("Stress-test a claim", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(body)),
	}), nil
}

const workflow = `Stress-test this claim with the devil's advocate tools:

%s

1. Call start_review with the claim as it stands and mode=%s. Its phases: %s.
2. In each phase follow the instructions that the server returns: goal, item_format, rules, targets. Write every item yourself, concrete enough to be checked, each a different argument. Argue against the claim as its most capable opponent would, also when you believe it.
3. submit the items. A refusal names every problem; mend the text itself instead of padding it, and send all items of that submission again.
4. When the review is complete, call get_verdict and export_report, and report the assessment with the rule behind it and the next actions. Do not soften a verdict that you dislike.`

// modeCompletion offers the modes for the prompt's argument.
type modeCompletion struct{}

// CompletePromptArgument implements server.PromptCompletionProvider.
func (modeCompletion) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if prompt != PromptName || arg.Name != "mode" {
		return tool.Complete(nil, ""), nil
	}
	return tool.Complete(tool.Strings(advocate.Modes()), arg.Value), nil
}
