package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// request is the body of POST /chat/completions. What comes first is the same for all requests to a model.
type request struct {
	Model           string         `json:"model"`
	Stream          bool           `json:"stream"`
	StreamOptions   *streamOptions `json:"stream_options,omitempty"`
	MaxTokens       int            `json:"max_tokens,omitempty"`
	MaxCompletion   int            `json:"max_completion_tokens,omitempty"`
	Temperature     *float64       `json:"temperature,omitempty"`
	ReasoningEffort string         `json:"reasoning_effort,omitempty"`
	TemplateArgs    map[string]any `json:"chat_template_kwargs,omitempty"`
	Tools           []tool         `json:"tools,omitempty"`
	ResponseFormat  any            `json:"response_format,omitempty"`
	Messages        []message      `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role       string  `json:"role"`
	Content    *string `json:"content"` // null beside calls: some servers refuse an empty text
	ToolCalls  []call  `json:"tool_calls,omitempty"`
	ToolCallID string  `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
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

type jsonSchema struct {
	Type   string `json:"type"`
	Schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// body writes a request: the same bytes for the same request, so that the server's cache of the prompt's beginning holds.
func (c *Client) body(req brain.Request, how mode, known refused) ([]byte, error) {
	out := request{Model: c.o.Model, Stream: true}
	if !known.usage {
		out.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	// OpenAI's newer models know only the second name, and most other servers only the first.
	if newer := strings.HasSuffix(c.api.Host(), "openai.com"); newer != known.length {
		out.MaxCompletion = c.predict(req)
	} else {
		out.MaxTokens = c.predict(req)
	}
	if !known.temperature {
		out.Temperature = c.o.Temperature
	}
	switch {
	case known.thinking:
	case c.api.Local(): // llama.cpp, vLLM: a model that can think does so unless it is told not to
		out.TemplateArgs = map[string]any{"enable_thinking": c.o.Think}
	case c.o.Think:
		out.ReasoningEffort = "medium"
	}
	system := req.System
	switch how {
	case modeNative:
		for _, s := range req.Tools {
			out.Tools = append(out.Tools, tool{Type: "function", Function: toolFunction{
				Name: s.Name, Description: s.About, Parameters: wire.ObjectOr(s.Schema, `{"type":"object","properties":{}}`),
			}})
		}
		out.Messages = nativeMessages(req.Messages)
	case modeSchema:
		if !known.format {
			format := jsonSchema{Type: "json_schema"}
			format.Schema.Name, format.Schema.Strict, format.Schema.Schema = "answer", true, wire.AnswerSchema(req.Tools)
			out.ResponseFormat = format
		}
		system += "\n\n" + wire.ToolText(req.Tools)
		out.Messages = plainMessages(req.Messages, true)
	case modeNone:
		if len(req.Tools) > 0 {
			system += "\n\n" + wire.NoTools
		}
		out.Messages = plainMessages(req.Messages, false)
	}
	if system = strings.TrimSpace(system); system != "" {
		out.Messages = append([]message{{Role: "system", Content: &system}}, out.Messages...)
	}
	return wire.Encode(out)
}

func nativeMessages(msgs []brain.Msg) []message {
	out := make([]message, 0, len(msgs)+1)
	for _, m := range wire.Paired(msgs) {
		to := message{Role: m.Role, Content: &m.Text}
		if len(m.Calls) > 0 && m.Text == "" {
			to.Content = nil
		}
		for _, c := range m.Calls {
			one := call{ID: wireID(c.ID), Type: "function"}
			one.Function.Name, one.Function.Arguments = c.Name, string(wire.ObjectOr(c.Args, "{}"))
			to.ToolCalls = append(to.ToolCalls, one)
		}
		if m.Role == "tool" {
			to.ToolCallID = wireID(m.CallID)
		}
		out = append(out, to)
	}
	return out
}

func plainMessages(msgs []brain.Msg, asJSON bool) []message {
	out := make([]message, 0, len(msgs)+1)
	for _, m := range wire.PlainMessages(msgs, asJSON) {
		out = append(out, message{Role: m.Role, Content: &m.Content})
	}
	return out
}

// wireID makes a call's id one that every server takes: Mistral's insist on exactly nine letters and digits.
func wireID(id string) string {
	var n uint64
	if _, err := fmt.Sscanf(id, "call-%d", &n); err == nil && n < 1e8 {
		return fmt.Sprintf("c%08d", n)
	}
	return id
}
