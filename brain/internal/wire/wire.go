// Package wire holds what the model backends have in common: streams of events, limits on silence, errors in words, thinking
// that is kept out of the answer, and answers that are forced into a schema. It knows no provider.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"hearth/brain"
)

// NoTools tells a model that it has none.
const NoTools = "There are no tools here. Answer in words, and say so when something would need a tool."

// MaxReply bounds an answer, in bytes of words, thoughts and arguments; only a server that ignores its length limit gets there.
const MaxReply = 8 << 20

// CallID is our own id of a reply's n-th call, counted from 0: servers' are not unique.
func CallID(n int) string { return fmt.Sprintf("call_%d", n+1) }

// ReadArgs takes arguments as an object or as a text that holds one. What is neither is passed on as it is: the brain
// checks, and tells the model.
func ReadArgs(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	var inner string
	if raw[0] == '"' && json.Unmarshal(raw, &inner) == nil {
		if object := ObjectOr(json.RawMessage(inner), ""); len(object) > 0 {
			return object
		}
	}
	return bytes.Clone(raw)
}

// ObjectOr gives raw if it is a JSON object, which is all that most servers take, else the other.
func ObjectOr(raw json.RawMessage, other string) json.RawMessage {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) > 0 && trimmed[0] == '{' && json.Valid(trimmed) {
		return trimmed
	}
	return json.RawMessage(other)
}

// Encode writes JSON without the escapes that only HTML needs.
func Encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Paired gives a history in which every call is followed by its result, as every server but the laxest demands: a result
// without its call is left out, a call without its result gets one that says so, and results stand in the order of the calls.
func Paired(msgs []brain.Msg) []brain.Msg {
	out := make([]brain.Msg, 0, len(msgs))
	for i := 0; i < len(msgs); i++ {
		m := msgs[i]
		if m.Role == "tool" {
			continue // those that belong somewhere are taken with their calls
		}
		out = append(out, m)
		if len(m.Calls) == 0 {
			continue
		}
		results := map[string]brain.Msg{}
		for i+1 < len(msgs) && msgs[i+1].Role == "tool" {
			i++
			if _, twice := results[msgs[i].CallID]; !twice {
				results[msgs[i].CallID] = msgs[i]
			}
		}
		for _, c := range m.Calls {
			result, ok := results[c.ID]
			if !ok {
				result = brain.Msg{Role: "tool", CallID: c.ID, Text: "The result of this call is lost."}
			}
			result.Tool = c.Name
			out = append(out, result)
		}
	}
	return out
}
