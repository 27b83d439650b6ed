package anthropic

import (
	"encoding/json"
	"strings"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// request is the body of POST /v1/messages.
type request struct {
	Model       string    `json:"model"`
	MaxTokens   int       `json:"max_tokens"`
	Stream      bool      `json:"stream"`
	Temperature *float64  `json:"temperature,omitempty"`
	Thinking    *thinking `json:"thinking,omitempty"`
	System      string    `json:"system,omitempty"`
	Tools       []tool    `json:"tools,omitempty"`
	Messages    []message `json:"messages"`
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"` // tool_use
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"` // tool_result
	Content   string          `json:"content,omitempty"`
}

// leastThought is the smallest budget for thoughts that the API takes.
const leastThought = 1024

// budget is how many of an answer's tokens may be thoughts; 0 when there are too few for any.
func budget(maxTokens int) int {
	if maxTokens < 2*leastThought {
		return 0
	}
	return maxTokens / 2
}

// body writes a request: the same bytes for the same request.
//
// Thinking is asked for only where no tool result waits. Within a turn with tools the API wants the thoughts that led to the
// calls back, signed and unchanged, or no thinking at all. The first would mean to keep thoughts in the vault, since a run
// outlives the program; so it is the second: the model thinks before it begins, and not between its calls. Thoughts of
// earlier turns the API leaves out itself.
func (c *Client) body(req brain.Request, known refused) ([]byte, mode, error) {
	out := request{Model: c.o.Model, MaxTokens: req.MaxTokens, Stream: true}
	if out.MaxTokens <= 0 {
		out.MaxTokens = c.o.MaxTokens
	}
	how := modeNative
	switch {
	case len(req.Tools) == 0 || c.o.Tools == brain.ToolsOff:
		how = modeNone
	case c.o.Tools == brain.ToolsSchema:
		how = modeSchema
	}
	system := req.System
	switch how {
	case modeNative:
		for _, s := range req.Tools {
			out.Tools = append(out.Tools, tool{Name: s.Name, Description: s.About, InputSchema: wire.ObjectOr(s.Schema, `{"type":"object","properties":{}}`)})
		}
		out.Messages = messages(nativeTurns(req.Messages))
	case modeSchema:
		system += "\n\n" + wire.ToolText(req.Tools)
		out.Messages = messages(plainTurns(req.Messages, true))
	case modeNone:
		if len(req.Tools) > 0 {
			system += "\n\n" + wire.NoTools
		}
		out.Messages = messages(plainTurns(req.Messages, false))
	}
	out.System = strings.TrimSpace(system)
	if n := budget(out.MaxTokens); c.o.Think && !known.thinking && n > 0 && !resultsWait(out.Messages) {
		out.Thinking = &thinking{Type: "enabled", Budget: n}
	} else if !known.temperature {
		out.Temperature = c.o.Temperature
	}
	body, err := wire.Encode(out)
	return body, how, err
}

func resultsWait(msgs []message) bool {
	return len(msgs) > 0 && len(msgs[len(msgs)-1].Content) > 0 && msgs[len(msgs)-1].Content[0].Type == "tool_result"
}

// nativeTurns translates each message by itself.
func nativeTurns(msgs []brain.Msg) []message {
	var out []message
	for _, m := range wire.Paired(msgs) {
		to := message{Role: m.Role}
		switch {
		case m.Role == "tool":
			to.Role = "user"
			to.Content = []block{{Type: "tool_result", ToolUseID: m.CallID, Content: m.Text}}
		case strings.TrimSpace(m.Text) != "":
			to.Content = []block{{Type: "text", Text: m.Text}} // an empty one is refused
		}
		for _, c := range m.Calls {
			to.Content = append(to.Content, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: wire.ObjectOr(c.Args, "{}")})
		}
		out = append(out, to)
	}
	return out
}

func plainTurns(msgs []brain.Msg, asJSON bool) []message {
	var out []message
	for _, m := range wire.PlainMessages(msgs, asJSON) {
		to := message{Role: m.Role}
		if strings.TrimSpace(m.Content) != "" {
			to.Content = []block{{Type: "text", Text: m.Content}}
		}
		out = append(out, to)
	}
	return out
}

// messages makes the roles alternate, as the API wants them: what the same side says in succession becomes one message. A
// conversation begins with a person, and results stand before words.
func messages(turns []message) []message {
	var out []message
	for _, m := range turns {
		if len(m.Content) == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Content = append(out[n-1].Content, m.Content...)
			continue
		}
		if len(out) == 0 && m.Role != "user" {
			out = append(out, message{Role: "user", Content: []block{{Type: "text", Text: "[What came before is not shown.]"}}})
		}
		out = append(out, m)
	}
	return out
}
