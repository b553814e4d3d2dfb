package advocate

import (
	"context"
	"errors"
	"strings"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/server/tool"
)

// The tools' names.
const (
	StartTool   = "start_review"
	SubmitTool  = "submit"
	VerdictTool = "get_verdict"
	ExportTool  = "export_report"
	GetTool     = "get_review"
	ListTool    = "list_reviews"
	AbandonTool = "abandon_review"
)

func (h host) tools() []tool.Tool {
	list := []tool.Tool{
		{
			Name:  StartTool,
			Title: "Start a stress test",
			Description: "Opens a review of one claim and returns its review_id and the instructions for the first phase. Call it when a conclusion or decision deserves a challenge before anyone relies on it. " +
				"Each call opens another review and writes a new file; to go on with one that exists use get_review or list_reviews, to hand in items use submit. " +
				"Fails when the claim is shorter than 10 characters or the mode is unknown; then nothing is written.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				text("claim", true, "The claim or decision to test, in one sentence of at least 10 characters, stated so that it can be wrong: \"Release 4.2 is ready\"."),
				word("mode", true, tool.Strings(advocate.Modes()), "How to test it. devils_advocate: counterarguments and rebuttals; premortem: causes of failure and mitigations; "+
					"assumptions: what it rests on and tests; steelman: the strongest opposing case and responses; gauntlet: all four in a row, for decisions that are hard to undo."),
				text("context", false, "Background that the test should take into account. Leave it out when the claim says enough."),
			}},
			Output: object(
				id(), text("claim", true, "As it is kept."), mode(), status(),
				words("phases", "Phases of the review, in order."),
				member("instructions", true, "What to do in the first phase."),
			),
			Run: h.start,
		},
		{
			Name:  SubmitTool,
			Title: "Submit items for the current phase",
			Description: "Hands in items for the phase that the review is in. Call it with what the last instructions ask for; several calls per phase are fine. " +
				"It saves all items or none: when one has a problem, the error lists every problem of every item and nothing was saved, so mend them and send all again. " +
				"The result says whether the phase needs more (in_progress, with missing), is done (phase_complete, with instructions for the next in next_phase) or the review is (complete; then get_verdict). " +
				"It is not idempotent: the same items again are refused as duplicates. To look without submitting use get_review.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				reviewID("The review_id that start_review returned."),
				{Name: "items", Required: true, Schema: tool.Schema{
					Type: "array", Items: &tool.Schema{Type: "object", Open: true, Description: "One item in the item_format of the current phase."}, Judged: true,
					Description: "The items, an array of objects in the item_format of the current phase's instructions. In phases that answer earlier items, index says which target an item answers. Unknown fields of an item are dropped.",
				}},
			}},
			Output: object(
				id(), word("status", true, []string{"in_progress", "phase_complete", "complete"}, "What the submission led to."),
				number("accepted", "How many items were saved."),
				text("phase", false, "While in progress: the phase."),
				optionalNumber("items_in_phase", "While in progress: items the phase has now."),
				words("missing", "While in progress: one entry for each requirement or target that is not met."),
				text("completed_phase", false, "The phase that this submission completed."),
				words("skipped_phases", "Phases skipped because nothing needed an answer."),
				member("next_phase", false, "Instructions for the next phase."),
				text("message", false, "When the review is complete: what to do next."),
			),
			Run: h.submit,
		},
		{
			Name:  VerdictTool,
			Title: "Get the verdict",
			Description: "Returns the verdict of a complete review: assessment, the rule and counts behind it, risk score, and every item with its answer. Call it once submit answered complete. " +
				"It is counted by fixed rules from what was submitted, the same each time, and changes nothing. Before the review is complete it fails and names the phase: use get_review for what is missing. For a document to keep use export_report.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{reviewID("The review_id of a complete review.")}},
			Output: object(
				id(), text("claim", true, "The claim."), mode(), text("context", true, "Its context, may be empty."),
				text("created_at", true, "RFC 3339."), text("completed_at", true, "RFC 3339."),
				assessment(), text("assessment_reason", true, "Counts and the rule that decided."),
				member("risk_score", true, "value, scale and explanation."),
				text("horizon", false, "Of a premortem: the moment looked back from."),
				words("skipped_phases", "Phases skipped because nothing needed an answer."),
				member("lenses", false, "Of a gauntlet: each lens with its own assessment."),
				member("phases", true, "Items by phase, each with its answer or a note why there is none."),
			),
			ReadOnly: true, Idempotent: true,
			Run: h.verdict,
		},
		{
			Name:  ExportTool,
			Title: "Export the decision memo",
			Description: "Returns the verdict of a complete review as a decision memo in Markdown, or as JSON. Call it when people should read or keep the result; for the figures alone use get_verdict. " +
				"It returns the text and writes no file, and the same review gives the same bytes each time. Fails before the review is complete.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				reviewID("The review_id of a complete review."),
				word("format", false, []string{"markdown", "md", "json"}, "markdown (also md) for a memo that people read, json for programs. Default: markdown."),
			}},
			Output:   object(id(), word("format", true, []string{"markdown", "json"}, "Of the content."), assessment(), text("content", true, "The memo.")),
			ReadOnly: true, Idempotent: true,
			Run: h.export,
		},
		{
			Name:  GetTool,
			Title: "See where a review stands",
			Description: "Returns where one review stands: status, phase, items per phase and, while it is active, what is missing and the instructions of the current phase again. " +
				"Call it after a restart, a lost answer or a refused submission. It changes nothing. For the result of a complete review use get_verdict; to find a review_id use list_reviews.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{reviewID("The review_id that start_review returned or list_reviews showed.")}},
			Output: object(
				id(), text("claim", true, "The claim."), mode(), text("context", true, "Its context, may be empty."), status(),
				nullable(text("phase", false, "The current phase; null unless active.")), nullable(text("step", false, "Like 1/2; null unless active.")),
				member("items_per_phase", true, "How many items each phase has."),
				words("skipped_phases", "Phases skipped because nothing needed an answer."),
				text("abandon_reason", false, "Why it was abandoned."),
				text("created_at", true, "RFC 3339."), text("updated_at", true, "RFC 3339."),
				words("missing", "While active: what the phase still needs."),
				member("instructions", false, "While active: what to do in the current phase."),
			),
			ReadOnly: true, Idempotent: true,
			Run: h.get,
		},
		{
			Name:  ListTool,
			Title: "List reviews",
			Description: "Returns a row for every review in the folder, newest first, with the claim cut to 70 characters, and which files could not be read and why. " +
				"Use it to find a review_id again; for one review use get_review. It takes no arguments and changes nothing.",
			Input: tool.Schema{Type: "object"},
			Output: object(
				number("count", "How many reviews."), items("reviews", "A row for each, newest first."),
				text("data_dir", true, "The folder."), items("skipped", "Files that are no valid review, with why."),
			),
			ReadOnly: true, Idempotent: true,
			Run: h.list,
		},
		{
			Name:  AbandonTool,
			Title: "Abandon a review",
			Description: "Ends an unfinished review without a verdict and keeps the reason with it. Call it when the claim was withdrawn or changed so much that going on makes no sense; for a changed claim then start_review again. " +
				"It cannot be undone, and a complete review is refused: its verdict is final.",
			Input: tool.Schema{Type: "object", Properties: []tool.Property{
				reviewID("The review_id of an unfinished review."),
				text("reason", true, "Why, in a few words; it is kept with the review."),
			}},
			Output: object(id(), status(), tool.Property{Name: "reason", Schema: tool.Schema{Type: "string", Description: "As it is kept."}}),
			Run:    h.abandon,
		},
	}
	for i := range list {
		list[i].Refuse, list[i].NameUnknown = refuse, true
	}
	return list
}

func (h host) start(_ context.Context, a tool.Arguments) (any, error) {
	return h.desk.StartReview(a.String("claim"), advocate.Mode(a.String("mode")), a.String("context"))
}

func (h host) submit(_ context.Context, a tool.Arguments) (any, error) {
	return h.desk.Submit(a.String("review_id"), a.List("items"))
}

func (h host) verdict(_ context.Context, a tool.Arguments) (any, error) {
	return h.desk.Verdict(a.String("review_id"))
}

func (h host) export(_ context.Context, a tool.Arguments) (any, error) {
	return h.desk.Export(a.String("review_id"), a.String("format"), advocate.English())
}

func (h host) get(_ context.Context, a tool.Arguments) (any, error) {
	return h.desk.Get(a.String("review_id"))
}

func (h host) list(context.Context, tool.Arguments) (any, error) { return h.desk.List() }

func (h host) abandon(_ context.Context, a tool.Arguments) (any, error) {
	return h.desk.Abandon(a.String("review_id"), a.String("reason"))
}

// refuse words an error for a host. The engine's errors are whole as they are.
func refuse(err error) string {
	var problems tool.Problems
	if errors.As(err, &problems) {
		return "invalid arguments: " + strings.Join(problems, "; ") + ". Nothing was changed; correct the call and send it again."
	}
	var known *advocate.Error
	if errors.As(err, &known) {
		return known.Error()
	}
	return "internal error: the call was not carried out; try it once more, then report it to the person you work for."
}
