package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var sample = Schema{Type: "object", Properties: []Property{
	{Name: "id", Required: true, Schema: Schema{Type: "string", Pattern: "^x[0-9]+$", Description: "The id."}},
	{Name: "word", Schema: Schema{Type: "string", Enum: []string{"red", "blue"}}},
	{Name: "flags", Schema: Schema{Type: "object", Properties: []Property{
		{Name: "hot", Schema: Schema{Type: "boolean"}},
		{Name: "wet", Schema: Schema{Type: "boolean"}},
	}}},
	{Name: "items", Schema: Schema{Type: "array", Items: &Schema{Type: "object", Open: true}}},
	{Name: "note", Schema: Schema{Type: "string"}},
	{Name: "size", Schema: Schema{Type: "integer"}},
}}

// canary stands for a secret that was sent by mistake.
const canary = "sk-CANARY-7f3a"

func TestCheck(t *testing.T) {
	t.Parallel()
	type want struct {
		ok   string   // the arguments as JSON
		says []string // all of them, when refused
	}
	for name, c := range map[string]struct {
		raw string
		want
	}{
		"plain":                    {`{"id":"x1"}`, want{ok: `{"id":"x1"}`}},
		"all":                      {`{"id":"x1","word":"red","flags":{"hot":true},"items":[{"a":1}],"note":"n"}`, want{ok: `{"flags":{"hot":true},"id":"x1","items":[{"a":1}],"note":"n","word":"red"}`}},
		"missing":                  {``, want{says: []string{"id: required, a string that matches ^x[0-9]+$"}}},
		"null arguments":           {`null`, want{says: []string{"id: required"}}},
		"empty":                    {`{}`, want{says: []string{"id: required"}}},
		"null required":            {`{"id":null}`, want{says: []string{"id: required"}}},
		"null optional":            {`{"id":"x1","word":null,"flags":null,"items":null}`, want{ok: `{"id":"x1"}`}},
		"null signal":              {`{"id":"x1","flags":{"hot":null,"wet":false}}`, want{ok: `{"flags":{"wet":false},"id":"x1"}`}},
		"encoded object":           {`{"id":"x1","flags":"{\"hot\":true}"}`, want{ok: `{"flags":{"hot":true},"id":"x1"}`}},
		"encoded null":             {`{"id":"x1","flags":"null"}`, want{ok: `{"id":"x1"}`}},
		"encoded nothing":          {`{"id":"x1","flags":""}`, want{says: []string{"flags: must be an object with hot, wet"}}},
		"arguments of nothing":     {`" "`, want{says: []string{"the arguments must be a JSON object"}}},
		"encoded array":            {`{"id":"x1","items":"[{\"a\":2}]"}`, want{ok: `{"id":"x1","items":[{"a":2}]}`}},
		"encoded arguments":        {`"{\"id\":\"x1\"}"`, want{ok: `{"id":"x1"}`}},
		"encoded twice":            {`{"id":"x1","flags":"\"{}\""}`, want{says: []string{"flags: must be an object with hot, wet"}}},
		"no JSON in the string":    {`{"id":"x1","flags":"` + canary + `"}`, want{says: []string{"flags: must be an object with hot, wet"}}},
		"encoded boolean":          {`{"id":"x1","flags":{"hot":"true"}}`, want{says: []string{"flags.hot: must be true or false"}}},
		"boolean as number":        {`{"id":"x1","flags":{"hot":1}}`, want{says: []string{"flags.hot: must be true or false"}}},
		"unknown flag":             {`{"id":"x1","flags":{"` + canary + `":true}}`, want{says: []string{"flags: unknown argument", "allowed: hot, wet"}}},
		"unknown argument":         {`{"id":"x1","` + canary + `":1}`, want{says: []string{"unknown argument", "allowed: id, word, flags, items, note, size"}}},
		"case matters":             {`{"ID":"x1"}`, want{says: []string{"id: required", "unknown argument"}}},
		"wrong pattern":            {`{"id":"` + canary + `"}`, want{says: []string{"id: must be a string that matches"}}},
		"wrong type":               {`{"id":7}`, want{says: []string{"id: must be a string that matches"}}},
		"wrong enum":               {`{"id":"x1","word":"` + canary + `"}`, want{says: []string{"word: must be one of red, blue"}}},
		"enum of another type":     {`{"id":"x1","word":["red"]}`, want{says: []string{"word: must be one of red, blue"}}},
		"items of another type":    {`{"id":"x1","items":{"a":1}}`, want{says: []string{"items: must be an array of objects"}}},
		"item of another type":     {`{"id":"x1","items":[{},3]}`, want{says: []string{"items[1]: must be an object"}}},
		"number":                   {`{"id":"x1","size":2.5}`, want{says: []string{"size: must be an integer"}}},
		"big number kept":          {`{"id":"x1","size":9007199254740993}`, want{ok: `{"id":"x1","size":9007199254740993}`}},
		"array":                    {`[]`, want{says: []string{"the arguments must be a JSON object"}}},
		"text":                     {`"` + canary + `"`, want{says: []string{"the arguments must be a JSON object"}}},
		"number instead of object": {`5`, want{says: []string{"the arguments must be a JSON object"}}},
		"two values":               {`{"id":"x1"} {}`, want{says: []string{"the arguments must be one JSON object"}}},
		"space that JSON has not":  {"{\"id\":\"x1\"}\v", want{says: []string{"the arguments must be one JSON object"}}},
		"duplicate":                {`{"id":"x1","id":"x2"}`, want{says: []string{"stands twice"}}},
		"several":                  {`{"word":"x","flags":{"hot":3},"size":"` + canary + `"}`, want{says: []string{"id: required", "word: must be", "flags.hot: must be", "size: must be"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args, err := NewChecker(sample, false).Check(json.RawMessage(c.raw))
			if c.ok != "" {
				data, _ := json.Marshal(args)
				if err != nil || string(data) != c.ok {
					t.Fatalf("got %s, %v; want %s", data, err, c.ok)
				}
				return
			}
			var problems Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, %v; want Problems", args, err)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("%q repeats what was sent", err)
			}
		})
	}
}

func TestProblemsComeInTheOrderOfTheSchema(t *testing.T) {
	t.Parallel()
	for range 20 { // maps have no order of their own
		_, err := NewChecker(sample, false).Check(json.RawMessage(`{"zz":1,"size":"x","flags":3,"word":"x"}`))
		last := -1
		for _, part := range []string{"word:", "flags:", "size:", "unknown argument"} {
			at := strings.Index(err.Error(), part)
			if at <= last {
				t.Fatalf("%q: %q comes too early", err, part)
			}
			last = at
		}
	}
}

func TestUnknownNamesAreRepeatedOnlyWhereAllowed(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"id":"x1","b\u001bad":1,"` + strings.Repeat("a", 300) + `":2}`)
	_, err := NewChecker(sample, true).Check(raw)
	if err == nil || !strings.Contains(err.Error(), `unknown argument`) || !strings.Contains(err.Error(), `"b\x1bad"`) {
		t.Errorf("got %v", err)
	}
	if len(err.Error()) > 400 {
		t.Errorf("a long name was repeated in full: %d bytes", len(err.Error()))
	}
}

func TestCheckNeverSharesTheRawBytes(t *testing.T) {
	t.Parallel()
	raw := []byte(`{"id":"x1","note":"keep"}`)
	args, err := NewChecker(sample, false).Check(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i] = 'z'
	}
	if args.String("note") != "keep" {
		t.Error("the arguments changed with the buffer they came from")
	}
}

func TestSchemaJSONKeepsItsOrder(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(Schema{Type: "object", Properties: []Property{
		{Name: "z", Required: true, Schema: Schema{Type: "string", Description: "d", Enum: []string{"q"}}},
		{Name: "a", Schema: Schema{Type: "object", Nullable: true, Properties: []Property{{Name: "n", Schema: Schema{Type: "string", Nullable: true, Enum: []string{"w"}}}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"z":{"type":"string","description":"d","enum":["q"]},` +
		`"a":{"type":["object","null"],"properties":{"n":{"type":["string","null"],"enum":["w",null]}},"additionalProperties":false}},` +
		`"required":["z"],"additionalProperties":false}`
	if got := string(data); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	s := server.NewMCPServer("t", "0")
	err := Register(s, []Tool{{
		Name: "echo", Title: "Echo", Description: "Echoes.", Input: sample, Output: Schema{Type: "object", Open: true}, ReadOnly: true,
		Run: func(_ context.Context, a Arguments) (any, error) {
			if a.String("word") == "blue" {
				return nil, errors.New("no blue")
			}
			return map[string]string{"id": a.String("id")}, nil
		},
		Refuse: func(err error) string { return "refused: " + err.Error() },
	}})
	if err != nil {
		t.Fatal(err)
	}
	call := func(arguments string) *mcp.CallToolResult {
		t.Helper()
		reply := s.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":`+arguments+`}}`))
		response, ok := reply.(mcp.JSONRPCResponse)
		if !ok {
			t.Fatalf("got %#v", reply)
		}
		result, ok := response.Result.(*mcp.CallToolResult)
		if !ok {
			t.Fatalf("got %#v", response.Result)
		}
		return result
	}
	good := call(`{"id":"x1"}`)
	if good.IsError || good.Content[0].(mcp.TextContent).Text != `{"id":"x1"}` {
		t.Errorf("got %+v", good)
	}
	if data, _ := json.Marshal(good.StructuredContent); string(data) != `{"id":"x1"}` {
		t.Errorf("structured content %s", data)
	}
	for arguments, want := range map[string]string{
		`{"id":"x1","word":"blue"}`: "refused: no blue",
		`{"id":"y"}`:                "refused: id: must be",
	} {
		bad := call(arguments)
		if !bad.IsError || bad.StructuredContent != nil || !strings.HasPrefix(bad.Content[0].(mcp.TextContent).Text, want) {
			t.Errorf("%s: got %+v", arguments, bad)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"id":"x1"}`, `{"id":"x1","flags":"{\"hot\":true}"}`, `[`, `"{}"`, "{\"id\":\"\xff\"}", `{"items":[[[[]]]]}`} {
		f.Add([]byte(seed))
	}
	checker := NewChecker(sample, false)
	schema, err := Compile(sample)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, err := checker.Check(raw)
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Errorf("%q: %v is no Problems", raw, err)
			}
			return
		}
		if err := schema.Validate(map[string]any(args)); err != nil {
			t.Errorf("%q was let through: %v", raw, err)
		}
	})
}
