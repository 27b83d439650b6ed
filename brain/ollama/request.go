package ollama

import (
	"encoding/json"
	"strings"

	"github.com/ollama/ollama/api"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// The request is Ollama's, except for what its types would change on the way: they turn the numbers in arguments into
// floats, and drop parts of a tool's schema.
type chatRequest struct {
	api.ChatRequest
	Messages []message `json:"messages"`
	Tools    []tool    `json:"tools,omitempty"`
}

type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string       `json:"id,omitempty"`
	Function callFunction `json:"function"`
}

type callFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// body writes a request: the same bytes for the same request, so that the server's cache of the prompt's beginning holds.
// predict is the length limit it sets for the answer, in tokens.
func (c *Client) body(req brain.Request, how mode, think thinkState) (body []byte, predict int, err error) {
	predict = req.MaxTokens
	if predict <= 0 {
		predict = c.o.MaxTokens
	}
	yes, no := true, false
	out := chatRequest{ChatRequest: api.ChatRequest{
		Model:     c.o.Model,
		Stream:    &yes,
		KeepAlive: &api.Duration{Duration: c.o.KeepAlive},
		Options: map[string]any{
			"num_ctx":     c.o.Context, // else 4096 on most machines
			"num_predict": predict,     // else a model that repeats itself goes on for ten times its context
		},
		Truncate: &no, // else the oldest messages are dropped without a word, the instructions after them
		Shift:    &no, // else the beginning is forgotten while it writes
	}}
	if c.o.Temperature != nil {
		out.Options["temperature"] = *c.o.Temperature
	}
	if think != thinkUnset {
		out.Think = &api.ThinkValue{Value: think == thinkAsked} // unset means on for models that can
	}
	system := req.System
	switch how {
	case modeNative:
		out.Tools = nativeTools(req.Tools)
		out.Messages = nativeMessages(req.Messages)
	case modeSchema:
		out.Format = wire.AnswerSchema(req.Tools)
		system += "\n\n" + wire.ToolText(req.Tools)
		out.Messages = plainMessages(req.Messages, true)
	case modeNone:
		out.Messages = plainMessages(req.Messages, false)
		if len(req.Tools) > 0 {
			system += "\n\n" + wire.NoTools
		}
	}
	if system = strings.TrimSpace(system); system != "" {
		out.Messages = append([]message{{Role: "system", Content: system}}, out.Messages...)
	}
	body, err = wire.Encode(out)
	return body, predict, err
}

func nativeTools(specs []brain.ToolSpec) []tool {
	tools := make([]tool, 0, len(specs))
	for _, s := range specs {
		tools = append(tools, tool{Type: "function", Function: toolFunction{
			Name: s.Name, Description: s.About, Parameters: wire.ObjectOr(s.Schema, `{"type":"object","properties":{}}`),
		}})
	}
	return tools
}

func nativeMessages(msgs []brain.Msg) []message {
	out := make([]message, 0, len(msgs)+1)
	for _, m := range wire.Paired(msgs) {
		to := message{Role: m.Role, Content: m.Text}
		for i, c := range m.Calls {
			to.ToolCalls = append(to.ToolCalls, call{ID: c.ID, Function: callFunction{Index: i, Name: c.Name, Arguments: wire.ObjectOr(c.Args, "{}")}})
		}
		if m.Role == "tool" {
			to.ToolName, to.ToolCallID = m.Tool, m.CallID
		}
		out = append(out, to)
	}
	return out
}

func plainMessages(msgs []brain.Msg, asJSON bool) []message {
	plain := wire.PlainMessages(msgs, asJSON)
	out := make([]message, 0, len(plain)+1)
	for _, m := range plain {
		out = append(out, message{Role: m.Role, Content: m.Content})
	}
	return out
}
