package ollama

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"hearth/brain"
	"hearth/brain/internal/wire"
)

// chunk is one line of an answer. It is Ollama's ChatResponse, except that arguments may be anything, an error may stand
// in place of an answer, and what is not needed is not read.
type chunk struct {
	Model   string `json:"model"`
	Message struct {
		Content   string `json:"content"`
		Thinking  string `json:"thinking"`
		ToolCalls []struct {
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done            bool            `json:"done"`
	DoneReason      string          `json:"done_reason"`
	PromptEvalCount int             `json:"prompt_eval_count"`
	EvalCount       int             `json:"eval_count"`
	Error           json.RawMessage `json:"error"`
}

const maxLine = 4 << 20 // a whole tool call stands on one line

// lines calls one with every line that is not empty until it says stop. It gives io.ErrUnexpectedEOF when the stream ends
// before that, also if it ends in good order: only the last line can say that an answer is whole.
func lines(r io.Reader, one func(line []byte) (stop bool, err error)) error {
	scan := bufio.NewScanner(r)
	scan.Buffer(nil, maxLine)
	for scan.Scan() {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		if stop, err := one(line); stop || err != nil {
			return err
		}
	}
	switch err := scan.Err(); {
	case err == nil:
		return io.ErrUnexpectedEOF
	case errors.Is(err, bufio.ErrTooLong):
		return err
	default:
		return fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
}

// reply gathers an answer.
type reply struct {
	how  mode
	emit func(string) // may be nil

	filter wire.Filter
	text   strings.Builder
	calls  []brain.ToolCall
	shown  int // chunks that held words or thoughts: each stands for a token at least
	size   int
}

// read takes an answer from its stream and gives the last chunk. alive is called with every chunk.
func (r *reply) read(body io.Reader, alive func()) (last chunk, err error) {
	var c chunk
	err = lines(body, func(line []byte) (bool, error) {
		alive()
		c = chunk{}
		if err := json.Unmarshal(line, &c); err != nil {
			if line[0] != '{' {
				return false, fmt.Errorf("%w: %w", errStrange, err)
			}
			return false, fmt.Errorf("read a line of the answer: %w", errors.Join(io.ErrUnexpectedEOF, err)) // cut in the middle of it
		}
		if text := wire.ErrorText(c.Error); text != "" {
			return false, &toldError{text: text}
		}
		if c.Model == "" && !c.Done && bytes.Contains(line, []byte(`"error parsing tool call"`)) {
			return false, &toldError{text: string(line)} // how some versions misname the field
		}
		if err := r.add(&c); err != nil {
			return false, err
		}
		return c.Done, nil
	})
	return c, err
}

func (r *reply) add(c *chunk) error {
	if c.Message.Content != "" || c.Message.Thinking != "" {
		r.shown++
	}
	r.size += len(c.Message.Content) + len(c.Message.Thinking)
	switch {
	case r.how == modeSchema:
		r.text.WriteString(c.Message.Content)
	case c.Message.Content != "":
		r.words(r.filter.Write(c.Message.Content))
	}
	for _, call := range c.Message.ToolCalls {
		// Calls come whole. Neither ids nor numbers of servers are unique, so both are ours.
		r.size += len(call.Function.Name) + len(call.Function.Arguments)
		r.calls = append(r.calls, brain.ToolCall{ID: wire.CallID(len(r.calls)), Name: call.Function.Name, Args: wire.ReadArgs(call.Function.Arguments)})
	}
	if r.size > wire.MaxReply {
		return errTooMuch
	}
	return nil
}

// words takes what the filter let through.
func (r *reply) words(visible string, afresh bool) {
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

// finish makes the response. Ollama reports a call that it could not read as an empty answer that took tokens.
func (r *reply) finish(last chunk) brain.Response {
	out := brain.Response{Calls: r.calls, Model: last.Model, In: last.PromptEvalCount, Out: last.EvalCount, Cut: last.DoneReason == "length"}
	if r.how == modeSchema {
		var calls []brain.ToolCall
		out.Text, calls, out.Lost = wire.ReadSaid(r.text.String(), out.Cut)
		for _, call := range calls {
			call.ID = wire.CallID(len(out.Calls))
			out.Calls = append(out.Calls, call)
		}
		if r.emit != nil && out.Text != "" {
			r.emit(out.Text)
		}
	} else {
		r.words(r.filter.End(), false)
		out.Text = r.text.String()
	}
	if strings.TrimSpace(out.Text) == "" && len(out.Calls) == 0 && !out.Cut {
		allowed := 1 // the token that ends an answer
		if r.shown > 0 {
			allowed += r.shown + 3 // and the tags around thoughts
		}
		out.Lost = out.Lost || out.Out > allowed
	}
	return out
}
