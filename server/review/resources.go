package review

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/qa-orch/qa-orch/core/catalog"
	"github.com/qa-orch/qa-orch/core/review"
	"github.com/qa-orch/qa-orch/server/stdio"
	"github.com/qa-orch/qa-orch/server/tool"
)

// The resources.
const (
	catalogURI  = "qa://catalog"
	policyURI   = "qa://policy"
	sessionsURI = "qa://sessions"
	sessionURI  = "qa://sessions/{run_id}"
)

const jsonType = "application/json"

func (h host) addResources(s *server.MCPServer) {
	s.AddResource(mcp.NewResource(catalogURI, "catalog",
		mcp.WithResourceDescription("Reviewer profiles with focus and sections, bundles with their profiles in order, and how to choose a route."),
		mcp.WithMIMEType(jsonType)), serve(func(context.Context) (any, error) { return catalogOf(), nil }))
	s.AddResource(mcp.NewResource(policyURI, "policy",
		mcp.WithResourceDescription("The model policy that new sessions and steps get."),
		mcp.WithMIMEType(jsonType)), serve(func(ctx context.Context) (any, error) { return h.modelPolicy(ctx, nil) }))
	s.AddResource(mcp.NewResource(sessionsURI, "sessions",
		mcp.WithResourceDescription("A row for each session that has not expired, newest expiry first."),
		mcp.WithMIMEType(jsonType)), serve(func(ctx context.Context) (any, error) { return h.list(ctx, nil) }))
	s.AddResourceTemplate(mcp.NewResourceTemplate(sessionURI, "session",
		mcp.WithTemplateDescription("The present state of one session, as get_qa_orchestration returns it."),
		mcp.WithTemplateMIMEType(jsonType)), h.readSession)
}

// serve answers a resource with what f returns.
func serve(f func(context.Context) (any, error)) server.ResourceHandlerFunc {
	return func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		v, err := f(ctx)
		if err != nil {
			return nil, resourceError(ctx, err)
		}
		return contents(req.Params.URI, v)
	}
}

func (h host) readSession(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	runID, _ := strings.CutPrefix(req.Params.URI, sessionsURI+"/")
	if !review.ValidRunID(runID) {
		return nil, resourceError(ctx, tool.Problems{"run_id: must be a string that matches " + review.RunIDPattern})
	}
	s, err := h.o.Get(ctx, runID)
	if err != nil {
		return nil, resourceError(ctx, err)
	}
	return contents(req.Params.URI, s)
}

func contents(uri string, v any) ([]mcp.ResourceContents, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: jsonType, Text: string(data)}}, nil
}

type catalogProfile struct {
	Profile           catalog.Profile `json:"profile"`
	DisplayName       string          `json:"display_name"`
	Kind              catalog.Kind    `json:"kind"`
	Focus             string          `json:"focus"`
	RequiredSections  []string        `json:"required_sections"`
	EscalationSignals []string        `json:"escalation_signals"`
}

type catalogBundle struct {
	Bundle   catalog.Bundle    `json:"bundle"`
	Profiles []catalog.Profile `json:"profiles"`
}

type catalogTask struct {
	Task    catalog.TaskType `json:"task_type"`
	Bundles []catalog.Bundle `json:"recommended_bundles"`
}

type catalogView struct {
	Profiles    []catalogProfile `json:"profiles"`
	Bundles     []catalogBundle  `json:"bundles"`
	TaskTypes   []catalogTask    `json:"task_types"`
	Constraints []string         `json:"constraints"`
	RouteChoice []string         `json:"route_choice"`
}

// routeChoice is how a host picks a route.
var routeChoice = []string{
	"One profile for a routine, narrow, low-risk change with one main concern.",
	"A bundle for broad, cross-concern or high-risk work.",
	"widget is for TypeScript React, widget_js for JavaScript React; autotest for TypeScript automation, otherwise ordinary_mr.",
	"Pick by changed files and confirmed manifests, not by the repository's name.",
	"recommended_bundles is a shortlist for the task type: it narrows nothing and is no risk level.",
}

func catalogOf() catalogView {
	v := catalogView{RouteChoice: routeChoice}
	for _, p := range catalog.Profiles() {
		c, _ := p.Checklist()
		v.Constraints = c.Constraints
		v.Profiles = append(v.Profiles, catalogProfile{p, c.DisplayName, c.Kind, c.Focus, c.RequiredSections, c.EscalationSignals})
	}
	for _, b := range catalog.Bundles() {
		v.Bundles = append(v.Bundles, catalogBundle{b, b.Profiles()})
	}
	for _, t := range catalog.TaskTypes() {
		v.TaskTypes = append(v.TaskTypes, catalogTask{t, t.Recommended()})
	}
	return v
}

// runCompletion offers the run ids of open sessions for the session template.
type runCompletion struct{ host }

// CompleteResourceArgument implements server.ResourceCompletionProvider.
func (c runCompletion) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != sessionURI || arg.Name != "run_id" {
		return tool.Complete(nil, ""), nil
	}
	sessions, err := c.o.List(ctx)
	if err != nil {
		return tool.Complete(nil, ""), nil // completion is a convenience: the call itself will say what is wrong
	}
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = s.RunID
	}
	return tool.Complete(ids, arg.Value), nil
}

// resourceError refuses a read in the same words as a tool does.
func resourceError(ctx context.Context, err error) error {
	code := mcp.INTERNAL_ERROR
	var refused *review.Error
	var problems tool.Problems
	if errors.As(err, &refused) || errors.As(err, &problems) {
		code = mcp.RESOURCE_NOT_FOUND
	}
	return stdio.Refuse(ctx, code, refuse(err))
}
