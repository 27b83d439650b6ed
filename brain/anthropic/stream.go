package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// event is one event of an answer. What is not needed is not read, and events of types that come to be known later are
// passed over, as the API asks of its clients.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Block struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type       string `json:"type"`
		Text       string `json:"text"`
		Thinking   string `json:"thinking"`
		JSON       string `json:"partial_json"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage counts tokens. What was read from the cache, or written to it, does not count as input there.
type usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Read   int `json:"cache_read_input_tokens"`
	Wrote  int `json:"cache_creation_input_tokens"`
}

func (u usage) in() int { return u.Input + u.Read + u.Wrote }

// grow takes later counts, which are counts so far and not steps; what a later one leaves out stays.
func (u *usage) grow(later usage) {
	u.Input, u.Output = max(u.Input, later.Input), max(u.Output, later.Output)
	u.Read, u.Wrote = max(u.Read, later.Read), max(u.Wrote, later.Wrote)
}

// reply gathers an answer.
type reply struct {
	how  mode
	emit func(string)            // may be nil
	told func([]byte) *wire.Told // reads an error document
	size int                     // bytes of words, thoughts and arguments

	filter wire.Filter
	text   strings.Builder
	calls  []*growing
	model  string
	ending string // stop_reason
	used   usage
}

// growing is a call whose pieces are still coming.
type growing struct {
	index int
	name  string
	input json.RawMessage // as the block began
	args  []byte
}

// read takes an answer from its stream. alive is called with every event that brings something. Only message_stop makes it
// whole: what ends before that has been cut, however good it looks.
func (r *reply) read(body io.Reader, alive func()) error {
	return wire.Events(body, func(e wire.Event) (bool, error) {
		data := bytes.TrimSpace(e.Data)
		if len(data) == 0 {
			return false, nil
		}
		var ev event
		if err := json.Unmarshal(data, &ev); err != nil {
			if data[0] != '{' {
				return false, fmt.Errorf("%w: %w", wire.ErrStrange, err)
			}
			return false, fmt.Errorf("read an event: %w: %w", io.ErrUnexpectedEOF, err)
		}
		if ev.Type == "error" || e.Name == "error" {
			return false, r.told(data)
		}
		if ev.Type != "ping" && ev.Type != "message_start" {
			alive() // those two come while the model has not begun
		}
		return r.add(&ev)
	})
}

func (r *reply) add(e *event) (stop bool, err error) {
	switch e.Type {
	case "message_start":
		r.model, r.used = e.Message.Model, e.Message.Usage
	case "content_block_start":
		r.begin(e)
	case "content_block_delta":
		r.size += len(e.Delta.Text) + len(e.Delta.Thinking) + len(e.Delta.JSON)
		switch e.Delta.Type {
		case "text_delta":
			r.words(e.Delta.Text)
		case "input_json_delta":
			for _, g := range r.calls {
				if g.index == e.Index {
					g.args = append(g.args, e.Delta.JSON...)
				}
			}
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			r.ending = e.Delta.StopReason
		}
		r.used.grow(e.Usage)
	case "message_stop":
		return true, nil
	}
	if r.size > wire.MaxReply {
		return false, wire.ErrTooMuch
	}
	return false, nil
}

func (r *reply) begin(e *event) {
	switch e.Block.Type {
	case "text":
		r.size += len(e.Block.Text)
		r.words(e.Block.Text)
	case "tool_use":
		r.size += len(e.Block.Name) + len(e.Block.Input) + 1
		r.calls = append(r.calls, &growing{index: e.Index, name: e.Block.Name, input: bytes.Clone(e.Block.Input)})
	}
}

func (r *reply) words(piece string) {
	if piece == "" {
		return
	}
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

// finish makes the response.
func (r *reply) finish() (brain.Response, error) {
	out := brain.Response{
		Model: r.model, In: r.used.in(), Out: r.used.Output, CacheRead: r.used.Read, CacheWrote: r.used.Wrote,
		Cut: r.ending == "max_tokens" || r.ending == "model_context_window_exceeded",
	}
	if r.ending == "refusal" {
		return out, wire.BadReply(fmt.Errorf("stop_reason %s", r.ending), "The model declined to answer that.")
	}
	for _, g := range r.calls {
		raw := bytes.TrimSpace(g.args)
		if len(raw) == 0 {
			raw = g.input // nothing followed: the call has no arguments
		}
		args := json.RawMessage(raw)
		if len(raw) == 0 || json.Valid(raw) {
			args = wire.ReadArgs(raw)
		}
		out.Calls = append(out.Calls, brain.ToolCall{ID: wire.CallID(len(out.Calls)), Name: g.name, Args: args})
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
		const allowed = 3 // tokens of an answer without words
		out.Lost = r.ending == "tool_use" || r.size == 0 && out.Out > allowed
	}
	return out, nil
}
