package review

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/server/stdio"
	"github.com/qa-orch/qa-orch/server/tool"
)

// PromptName is the prompt that gives a host the workflow.
const PromptName = "qa_review"

func addPrompt(s *server.MCPServer) {
	p := mcp.NewPrompt(PromptName,
		mcp.WithPromptDescription("Carry out a QA review step by step with the qa-orch tools."),
		mcp.WithArgument("task_type",
			mcp.ArgumentDescription("What kind of QA work this is: "+strings.Join(tool.Strings(catalog.TaskTypes()), ", ")+". Default: ordinary_review.")),
	)
	p.Title = "QA review"
	s.AddPrompt(p, reviewPrompt)
}

func reviewPrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	for name := range req.Params.Arguments {
		if name != "task_type" {
			return nil, promptError(ctx, "unknown argument (its name is not repeated here); allowed: task_type")
		}
	}
	task := catalog.TaskType(req.Params.Arguments["task_type"])
	if task == "" {
		task = catalog.OrdinaryReview
	}
	if !task.Valid() {
		return nil, promptError(ctx, "task_type: must be one of "+strings.Join(tool.Strings(catalog.TaskTypes()), ", "))
	}
	shortlist := "There is no recommended bundle for it."
	if list := task.Recommended(); len(list) > 0 {
		shortlist = "Recommended bundles: " + strings.Join(tool.Strings(list), ", ") + " (a shortlist, not a limit)."
	}
	body := fmt.Sprintf(workflow, task, shortlist, strings.Join(routeChoice, "\n   - "))
	return mcp.NewGetPromptResult("The workflow of a QA review", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(body)),
	}), nil
}

const workflow = `Carry out a QA review with the qa-orch tools. You gather the evidence, run the checklists and decide; the tools only say what comes next and refuse steps out of order. Never send them evidence, source, logs, paths, findings or free text: every argument is an enum, a boolean or the run_id.

Task type: %s. %s

1. Gather evidence first (diff, callers, tests, requirements, logs) and number it E1, E2, … Keep it on your side.
2. start_qa_orchestration with that task_type; keep the run_id.
3. Triage. Choose one route:
   - %s
   Report it with advance_qa_orchestration (completed_step=triage, status=completed, selected_bundle or selected_profile).
4. Primary review. For each profile in the order given: prepare_qa_orchestration for its checklist; answer it from the evidence, with the required sections in order, each candidate F-01, F-02, … citing evidence references; then advance_qa_orchestration (completed_step=primary_review, status=completed, completed_profile). Use the model and reasoning of model_policy where you can choose them.
5. With the last profile send risk_signals: each true only when the evidence supports it, {} when none apply. Do not tune them to avoid or provoke a deep review.
6. Deep review, if the rules ask for one: examine the named reasons against the evidence, then report the step.
7. Synthesis: merge and deduplicate candidates and gaps, check each against its evidence, write your conclusion; then report the step. You may stress-test a conclusion such as "this release is ready" with the separate devil's advocate server, where it is registered: start_review with the claim in your own words, then follow its instructions. The two servers share nothing: carry over only what you decide to.
8. finish_qa_orchestration with your outcome: completed, partial or blocked.

If evidence or access is missing, stop honestly: advance_qa_orchestration with status=partial or blocked and nothing else, then finish with the same word. After a lost answer or a restart, get_qa_orchestration before repeating a call. A refusal changes nothing: read it and correct the call.`

// completion offers task types for the prompt's argument.
type completion struct{}

// CompletePromptArgument implements server.PromptCompletionProvider.
func (completion) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if prompt != PromptName || arg.Name != "task_type" {
		return tool.Complete(nil, ""), nil
	}
	return tool.Complete(tool.Strings(catalog.TaskTypes()), arg.Value), nil
}

func promptError(ctx context.Context, text string) error {
	return stdio.Refuse(ctx, mcp.INVALID_PARAMS, "invalid arguments: "+text)
}
