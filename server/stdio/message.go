package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"
)

// request is a request, or with a nil id a notification.
type request struct {
	id       json.RawMessage // as it was sent
	method   mcp.MCPMethod
	message  json.RawMessage // what the server is given
	answered atomic.Bool
	done     func() // if not nil, called once it was carried out
}

func (r *request) notification() bool { return r.id == nil }

// parse reads one line. It returns a message to handle, or the answer to a line
// that is none, or neither where no answer is due.
func parse(line []byte) (req *request, reply []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, nil
	}
	if !utf8.Valid(line) {
		return nil, failure(nil, mcp.PARSE_ERROR, notJSON)
	}
	dec := decoder(line)
	switch dec.PeekKind() {
	case '{':
	case '[':
		return nil, failure(nil, mcp.INVALID_REQUEST, "batches are not supported; send one message a line")
	default:
		return nil, failure(nil, mcp.PARSE_ERROR, notJSON)
	}
	fields, err := members(dec)
	if err != nil {
		return nil, failure(nil, mcp.PARSE_ERROR, notJSON)
	}
	id, hasID := fields["id"]
	method, isString := text(fields["method"])
	_, hasResult := fields["result"]
	_, hasError := fields["error"]
	switch {
	case fields["method"] == nil && (hasResult || hasError):
		return nil, nil
	case hasID && !validID(id):
		return nil, failure(nil, mcp.INVALID_REQUEST, "the id must be a string or a number")
	case !isString:
		return nil, failure(id, mcp.INVALID_REQUEST, "the message has no method")
	}
	if version, _ := text(fields["jsonrpc"]); version != mcp.JSONRPC_VERSION {
		return nil, failure(id, mcp.INVALID_REQUEST, `the message must have "jsonrpc":"2.0"`)
	}
	params := fields["params"]
	switch {
	case params.Kind() == 'n':
		params = nil
	case params != nil && params.Kind() != '{':
		return nil, failure(id, mcp.INVALID_PARAMS, "the params must be an object")
	}
	req = &request{method: mcp.MCPMethod(method)}
	switch req.method {
	case mcp.MethodToolsCall:
		params = foldArguments(params)
	case cancelled:
		params = replace(params, "requestId", serverID)
	}
	if hasID {
		req.id = json.RawMessage(id)
	}
	req.message = compose(serverID(id), fields["method"], params)
	return req, nil
}

// decoder reads JSON that is valid UTF-8. Duplicate names inside arguments are
// the tools' to refuse; half a surrogate pair, which JavaScript leaves where it
// cuts a text, is read as U+FFFD.
func decoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// lastID matches an id at the end of a message: the brace that ends a message is
// its own, so what stands right before it is none of the params.
var lastID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)
})

// id finds the id of a request of which only the ends are at hand, so that its
// sender does not wait for an answer in vain; nil if neither end shows it.
func (t *tooLong) id() []byte {
	dec := decoder(t.head)
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil
	}
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			break
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		if key == "id" && validID(value) {
			return value.Clone()
		}
	}
	if m := lastID().FindSubmatch(t.tail); m != nil && validID(m[1]) {
		return m[1]
	}
	return nil
}

// members reads the one object of a line: its members, raw. Where a name stands
// twice the last one counts.
func members(dec *jsontext.Decoder) (map[string]jsontext.Value, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	fields := make(map[string]jsontext.Value, 4)
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		fields[key] = value.Clone()
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return fields, nil
}

func text(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}

func validID(id jsontext.Value) bool { return id.Kind() == '"' || id.Kind() == '0' }

// maxSafe is the largest whole number that the server keeps exact.
const maxSafe = 1 << 53

// serverID is the id that the server sees: it would bend numbers that a float64
// does not hold. Answers carry the id as it was sent either way, and who cancels
// a request is given the same.
func serverID(id jsontext.Value) jsontext.Value {
	if id.Kind() != '0' {
		return id
	}
	if n, err := strconv.ParseInt(string(id), 10, 64); err == nil && n > -maxSafe && n < maxSafe {
		return id
	}
	quoted, err := jsontext.AppendQuote(nil, id)
	if err != nil {
		return nil // a number is always quotable
	}
	return quoted
}

// foldArguments writes arguments that hold a number which no float64 does as JSON
// in a string, which tools read as well. The server library would refuse such a
// message as a whole, in an error that models are not shown.
func foldArguments(params jsontext.Value) jsontext.Value {
	if !overflows(params) {
		return params
	}
	return replace(params, "arguments", func(value jsontext.Value) jsontext.Value {
		if !overflows(value) {
			return value
		}
		quoted, err := jsontext.AppendQuote(nil, value)
		if err != nil {
			return value
		}
		return quoted
	})
}

// cancelled is the notification that takes a request back. It names the id.
const cancelled = "notifications/cancelled"

// replace writes params with another value for a member, which the server
// library would read in any case.
func replace(params jsontext.Value, member string, by func(jsontext.Value) jsontext.Value) jsontext.Value {
	if params == nil {
		return nil
	}
	dec := decoder(params)
	if _, err := dec.ReadToken(); err != nil {
		return params
	}
	out := []byte{'{'}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return params
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return params
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, key); err != nil {
			return params
		}
		out = append(out, ':')
		if strings.EqualFold(key, member) {
			value = by(value)
		}
		out = append(out, value...)
	}
	return append(out, '}')
}

// overflows reports whether a number in v is beyond what a float64 holds.
func overflows(v jsontext.Value) bool {
	const most = 308 // digits
	digits, candidate := 0, false
	for _, c := range v {
		switch {
		case '0' <= c && c <= '9':
			digits++
			candidate = digits > most
		default:
			candidate = digits > 0 && (c == 'e' || c == 'E')
			digits = 0
		}
		if candidate {
			break
		}
	}
	if !candidate {
		return false // as nearly always, and found out fast
	}
	dec := decoder(v)
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if tok.Kind() != '0' {
			continue
		}
		if _, err := strconv.ParseFloat(tok.String(), 64); err != nil {
			return true
		}
	}
}

// compose writes a message with nothing in it but what JSON-RPC knows, once
// each: the server would read other spellings of these names too.
func compose(id, method, params jsontext.Value) json.RawMessage {
	b := make([]byte, 0, len(id)+len(method)+len(params)+48)
	b = append(b, `{"jsonrpc":"2.0","method":`...)
	b = append(b, method...)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// success is the line that answers a request with a result.
func success(id json.RawMessage, result any) []byte {
	marshal := func() ([]byte, error) { return json.Marshal(result) }
	if r, ok := result.(*mcp.CallToolResult); ok && r != nil {
		marshal = r.MarshalJSON // what it returns json.Marshal would read through once more
	}
	data, err := marshal()
	if err != nil {
		return failure(id, mcp.INTERNAL_ERROR, internal)
	}
	b := make([]byte, 0, len(data)+len(id)+40)
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	b = append(append(b, `,"result":`...), data...)
	return append(b, "}\n"...)
}

// failure is the line that answers with an error; a nil id stands for one that
// is not known.
func failure(id []byte, code int, message string) []byte {
	return failureWith(id, mcp.JSONRPCErrorDetails{Code: code, Message: message})
}

func failureWith(id []byte, details mcp.JSONRPCErrorDetails) []byte {
	if id == nil {
		id = []byte("null")
	}
	data, err := json.Marshal(details)
	if err != nil {
		data, _ = json.Marshal(mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: internal})
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(append(b, `,"error":`...), data...)
	return append(b, "}\n"...)
}
