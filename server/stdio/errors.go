package stdio

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	notJSON  = "this line is not one JSON-RPC message in valid UTF-8; send one JSON object a line"
	internal = "the request could not be carried out; try it once more"
)

// refusal carries a handler's own words to the answer. The server library has
// no way to give an error of a prompt or a resource its code.
type refusal struct {
	code int
	text string
}

type refusalKey struct{}

func withRefusal(ctx context.Context) (context.Context, *refusal) {
	r := new(refusal)
	return context.WithValue(ctx, refusalKey{}, r), r
}

// Refuse returns an error for a prompt or resource handler to return. Its code
// and text are what the client is told; the text must repeat nothing that could
// be a secret.
func Refuse(ctx context.Context, code int, text string) error {
	if r, ok := ctx.Value(refusalKey{}).(*refusal); ok {
		r.code, r.text = code, text
	}
	return errors.New(text)
}

// reworded answers a request with an error of the server in words of ours: the
// library's repeat names, URIs and fragments that the client sent.
func reworded(req *request, e mcp.JSONRPCErrorDetails, r *refusal) []byte {
	if r.text != "" {
		return failure(req.id, r.code, r.text)
	}
	out := mcp.JSONRPCErrorDetails{Code: e.Code}
	if e.Code == mcp.INVALID_REQUEST || e.Code == mcp.PARSE_ERROR || req.method == mcp.MethodSetLogLevel {
		out.Code = mcp.INVALID_PARAMS // the request itself was in order
	}
	switch out.Code {
	case mcp.METHOD_NOT_FOUND:
		out.Message = "this server has no such method"
	case mcp.INVALID_PARAMS:
		out.Message = invalidParams(req.method)
	case mcp.RESOURCE_NOT_FOUND:
		out.Message = noResource
	case mcp.REQUEST_INTERRUPTED:
		out.Message = "the request was cancelled"
	case mcp.UNSUPPORTED_PROTOCOL_VERSION:
		out.Message = "this protocol version is not supported; data.supported lists those that are"
		if data, ok := e.Data.(mcp.UnsupportedProtocolVersionData); ok {
			out.Data = struct {
				Supported []string `json:"supported"`
			}{data.Supported}
		}
	default:
		out.Message = internal
	}
	return failureWith(req.id, out)
}

const noResource = "there is no such resource; resources/list and resources/templates/list name those that exist"

func invalidParams(method mcp.MCPMethod) string {
	switch method {
	case mcp.MethodToolsCall:
		return "there is no such tool, or the params do not fit tools/call; tools/list names the tools"
	case mcp.MethodPromptsGet:
		return "there is no such prompt, or the params do not fit prompts/get; prompts/list names the prompts"
	case mcp.MethodResourcesRead:
		return noResource
	case mcp.MethodSetLogLevel:
		return "level must be one of debug, info, notice, warning, error, critical, alert, emergency"
	}
	return "the params do not fit this method"
}

func shuttingDown(req *request) []byte {
	return failure(req.id, mcp.INTERNAL_ERROR, "the server is shutting down and cannot tell whether this request was carried out; after a restart look at the state before you repeat it")
}
