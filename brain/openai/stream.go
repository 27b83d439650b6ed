package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// chunk is one event of an answer, or the whole answer of a server that does not stream.
type chunk struct {
	Model   string `json:"model"`
	Object  string `json:"object"`
	Choices []struct {
		Index   int     `json:"index"`
		Delta   *delta  `json:"delta"`
		Message *delta  `json:"message"` // not streamed
		Finish  *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          json.RawMessage `json:"content"` // a text, or a list of parts
	Refusal          string          `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// reply gathers an answer.
type reply struct {
	how  mode
	emit func(string)            // may be nil
	told func([]byte) *wire.Told // reads an error document
	done bool                    // [DONE] was seen
	size int                     // bytes of words, thoughts and arguments

	filter  wire.Filter
	text    strings.Builder
	calls   []*growing
	thought bool
	ending  string // finish_reason
	model   string
	in, out int
	cached  int // of in
}

// growing is a call whose pieces are still coming.
type growing struct {
	index int // the server's, which need not be unique
	id    string
	name  string
	args  []byte
}

// read takes an answer from its stream. alive is called with every event that brings something. Only [DONE] makes it whole:
// what ends before that has been cut, however good it looks.
func (r *reply) read(body io.Reader, alive func()) error {
	return wire.Events(body, func(e wire.Event) (bool, error) {
		data := bytes.TrimSpace(e.Data)
		switch {
		case len(data) == 0:
			return false, nil
		case string(data) == "[DONE]":
			r.done = true
			return true, nil
		case e.Name == "error":
			return false, r.told(data)
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			if data[0] != '{' {
				return false, fmt.Errorf("%w: %w", wire.ErrStrange, err)
			}
			return false, fmt.Errorf("read an event: %w: %w", io.ErrUnexpectedEOF, err)
		}
		alive()
		return false, r.add(&c, data)
	})
}

// whole reads the one document of a server that does not stream.
func (r *reply) whole(api *wire.API, body io.Reader) error {
	var raw json.RawMessage
	if err := api.Document(body, &raw); err != nil {
		return err
	}
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("%w: %w", wire.ErrStrange, err)
	}
	if len(c.Choices) == 0 && !given(c.Error) {
		return fmt.Errorf("%w: no choices", wire.ErrStrange)
	}
	r.done = true
	return r.add(&c, raw)
}

func (r *reply) add(c *chunk, data []byte) error {
	if given(c.Error) || c.Object == "error" {
		return r.told(data)
	}
	if c.Model != "" {
		r.model = c.Model
	}
	if c.Usage != nil {
		r.in, r.out = c.Usage.Prompt, c.Usage.Completion
		r.cached = min(max(c.Usage.Details.Cached, 0), r.in)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.Finish != nil && *choice.Finish != "" {
			r.ending = *choice.Finish
		}
		d := choice.Delta
		if d == nil {
			d = choice.Message
		}
		if d == nil {
			continue
		}
		r.words(contentText(d.Content) + d.Refusal)
		if thoughts := len(d.ReasoningContent) + len(d.Reasoning); thoughts > 0 {
			r.size += thoughts
			r.thought = r.thought || given(d.ReasoningContent) || given(d.Reasoning)
		}
		for _, one := range d.ToolCalls {
			r.call(one)
		}
	}
	if r.size > wire.MaxReply {
		return wire.ErrTooMuch
	}
	return nil
}

func given(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != `""`
}

// contentText reads a text, or the texts in a list of parts; parts of other kinds are thoughts.
func contentText(raw json.RawMessage) string {
	var text string
	if !given(raw) || json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			if p.Type == "text" {
				text += p.Text
			}
		}
	}
	return text
}

func (r *reply) words(piece string) {
	if piece == "" {
		return
	}
	r.size += len(piece)
	if r.how == modeSchema {
		r.text.WriteString(piece)
		return
	}
	visible, afresh := r.filter.Write(piece)
	r.show(visible, afresh)
}

func (r *reply) show(visible string, afresh bool) {
	if afresh {
		r.text.Reset()
	}
	if visible == "" {
		return
	}
	r.text.WriteString(visible)
	if r.emit != nil {
		r.emit(visible)
	}
}

// call takes a piece of a call. Calls are told apart by their index, and where a server gives all of them the same index,
// or none, by their id or by a name that comes after whole arguments.
func (r *reply) call(d callDelta) {
	r.size += len(d.Function.Name) + len(d.Function.Arguments) + 1
	g := r.goesTo(d)
	if g == nil {
		g = &growing{index: len(r.calls), id: d.ID}
		if d.Index != nil {
			g.index = *d.Index
		}
		r.calls = append(r.calls, g)
	}
	if g.name == "" {
		g.name = d.Function.Name
	}
	if g.id == "" {
		g.id = d.ID
	}
	raw := bytes.TrimSpace(d.Function.Arguments)
	var piece string
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '"' && json.Unmarshal(raw, &piece) == nil:
		g.args = append(g.args, piece...)
	default:
		g.args = bytes.Clone(raw) // an object where OpenAI sends a text: it comes whole
	}
}

// goesTo finds the call that a piece belongs to; nil when it begins one.
func (r *reply) goesTo(d callDelta) *growing {
	for i := len(r.calls) - 1; i >= 0; i-- {
		g := r.calls[i]
		if d.Index != nil && g.index != *d.Index {
			continue
		}
		if d.Index == nil && d.ID != "" && g.id != "" && g.id != d.ID {
			continue
		}
		switch {
		case d.ID != "" && g.id != "" && g.id != d.ID:
			return nil // the same index for another call
		case d.Function.Name != "" && g.name != "" && d.Function.Name != g.name:
			return nil // whatever the ids say
		case d.ID != "" && g.id == d.ID:
			if again(d, g) {
				return nil
			}
		case d.Function.Name != "" && g.name != "" && json.Valid(g.args):
			return nil // a name after whole arguments
		}
		return g
	}
	return nil
}

// again reports a further whole call under an id that was given before.
func again(d callDelta, g *growing) bool {
	if d.Function.Name == "" || !json.Valid(g.args) {
		return false
	}
	var text string
	if json.Unmarshal(d.Function.Arguments, &text) != nil {
		text = string(d.Function.Arguments)
	}
	return json.Valid([]byte(text))
}

// finish makes the response.
func (r *reply) finish() (brain.Response, error) {
	out := brain.Response{Model: r.model, In: r.in, Out: r.out, CacheRead: r.cached, Cut: r.ending == "length"}
	if r.ending == "content_filter" {
		return out, wire.BadReply(fmt.Errorf("finish_reason %s", r.ending), "The provider's filter held the model's answer back.")
	}
	for _, g := range r.calls {
		if g.name == "" && len(g.args) == 0 {
			continue
		}
		out.Calls = append(out.Calls, brain.ToolCall{ID: wire.CallID(len(out.Calls)), Name: g.name, Args: args(g.args)})
	}
	if r.how == modeSchema {
		var calls []brain.ToolCall
		out.Text, calls, out.Lost = wire.ReadSaid(r.text.String(), out.Cut)
		for _, one := range calls {
			one.ID = wire.CallID(len(out.Calls))
			out.Calls = append(out.Calls, one)
		}
		if r.emit != nil && out.Text != "" {
			r.emit(out.Text)
		}
		return out, nil
	}
	r.show(r.filter.End(), false)
	out.Text = r.text.String()
	if strings.TrimSpace(out.Text) == "" && len(out.Calls) == 0 && !out.Cut {
		const allowed = 3 // tokens of an answer without words, as servers count
		// It says that there are calls, and they did not come; or it wrote more than an answer without words takes.
		out.Lost = r.ending == "tool_calls" || r.ending == "function_call" || r.size == 0 && out.Out > allowed
	}
	return out, nil
}

// args are a call's arguments as they came: the brain checks them, and tells the model what is wrong.
func args(raw []byte) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && !json.Valid(raw) {
		return bytes.Clone(raw)
	}
	return wire.ReadArgs(raw)
}
