package advocate

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/core/advocate"
	"github.com/qa-orch/qa-orch/core/advocate/desk"
	"github.com/qa-orch/qa-orch/server/stdio"
	"github.com/qa-orch/qa-orch/server/tool"
)

const (
	listURI   = "reviews://"
	reviewURI = "review://{review_id}"
)

func (h host) addResources(s *server.MCPServer) {
	s.AddResource(mcp.NewResource(listURI, "reviews",
		mcp.WithResourceDescription("A row for every review, newest first, as list_reviews returns it."),
		mcp.WithMIMEType("application/json")), h.readList)
	s.AddResourceTemplate(mcp.NewResourceTemplate(reviewURI, "review",
		mcp.WithTemplateDescription("The decision memo of a complete review, or the progress of another, as Markdown."),
		mcp.WithTemplateMIMEType("text/markdown")), h.readReview)
}

func (h host) readList(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	list, err := h.desk.List()
	if err != nil {
		return nil, resourceError(ctx, err)
	}
	data, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "application/json", Text: string(data)}}, nil
}

func (h host) readReview(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	id, _ := strings.CutPrefix(req.Params.URI, "review://")
	r, err := h.desk.Review(id)
	if err != nil {
		return nil, resourceError(ctx, err)
	}
	body := r.Progress()
	if r.Status == advocate.Complete {
		report, err := r.Report(advocate.Markdown, advocate.English())
		if err != nil {
			return nil, resourceError(ctx, err)
		}
		body = report.Content
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: "text/markdown", Text: body}}, nil
}

func resourceError(ctx context.Context, err error) error {
	code := mcp.INTERNAL_ERROR
	var known *advocate.Error
	if errors.As(err, &known) && known.Code == advocate.UnknownReview {
		code = mcp.RESOURCE_NOT_FOUND
	}
	return stdio.Refuse(ctx, code, refuse(err))
}

// reviewCompletion offers review ids for the review template.
type reviewCompletion struct{ desk *desk.Desk }

// CompleteResourceArgument implements server.ResourceCompletionProvider.
func (c reviewCompletion) CompleteResourceArgument(_ context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != reviewURI || arg.Name != "review_id" {
		return tool.Complete(nil, ""), nil
	}
	list, err := c.desk.List()
	if err != nil {
		return tool.Complete(nil, ""), nil // completion is a convenience: the call itself will say what is wrong
	}
	ids := make([]string, len(list.Reviews))
	for i, row := range list.Reviews {
		ids[i] = row.ReviewID
	}
	return tool.Complete(ids, arg.Value), nil
}
