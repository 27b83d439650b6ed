package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hearth/brain"
)

// In schema mode the server's grammar lets the model write nothing but {"tool": …, "args": …} or {"say": …}. That makes
// valid calls even out of models that were never taught any. Tools stand in the system text, and the history is told in
// the same form, since such a model's template has no place for either.

// said is an answer in that form.
type said struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
	Say  *string         `json:"say"`
}

// AnswerSchema is the JSON Schema of an answer. It is written by hand because the order of its parts is the order in
// which the model must write them.
func AnswerSchema(specs []brain.ToolSpec) json.RawMessage {
	var out bytes.Buffer
	out.WriteString(`{"anyOf":[`)
	for _, s := range specs {
		fmt.Fprintf(&out, `{"type":"object","properties":{"tool":{"const":%s},"args":%s},"required":["tool","args"],"additionalProperties":false},`, quoted(s.Name), grammarSafe(s.Schema))
	}
	out.WriteString(`{"type":"object","properties":{"say":{"type":"string"}},"required":["say"],"additionalProperties":false}]}`)
	return out.Bytes()
}

// grammarSafe gives a tool's schema if the server can surely make a grammar of it, else one that allows any object: the
// arguments are checked afterwards in any case, and one odd schema must not make every answer fail.
func grammarSafe(raw json.RawMessage) json.RawMessage {
	const anything = `{"type":"object"}`
	raw = ObjectOr(raw, anything)
	var s struct {
		Type       string `json:"type"`
		Properties map[string]struct {
			Type        string `json:"type"`
			Description string `json:"description"`
			Enum        []any  `json:"enum"`
		} `json:"properties"`
		Required   []string `json:"required"`
		Additional *bool    `json:"additionalProperties"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil || s.Type != "object" {
		return json.RawMessage(anything)
	}
	for _, p := range s.Properties {
		if !slices.Contains([]string{"string", "integer", "number", "boolean"}, p.Type) {
			return json.RawMessage(anything)
		}
	}
	return raw
}

// ToolText tells a model without tools of its own what it can call and how.
func ToolText(specs []brain.ToolSpec) string {
	var out strings.Builder
	out.WriteString("Answer with one JSON object and nothing else: {\"tool\": NAME, \"args\": {…}} to call a tool, or {\"say\": TEXT} to speak to the person. " +
		"One call at a time; its result comes next, on lines that begin with \">\". The tools, each with the JSON Schema of its args:")
	for _, s := range specs {
		fmt.Fprintf(&out, "\n- %s: %s %s", s.Name, strings.TrimSpace(s.About), compact(ObjectOr(s.Schema, "{}")))
	}
	return out.String()
}

// Plain is a message of words alone.
type Plain struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// PlainMessages tells the history to a model without tools of its own. As JSON it stands in the form of its answers.
// Results become user messages, quoted on every line, so that nothing in them can pass for the person's words.
func PlainMessages(msgs []brain.Msg, asJSON bool) []Plain {
	out := make([]Plain, 0, len(msgs)+1)
	for _, m := range msgs {
		switch {
		case m.Role == "tool":
			out = append(out, Plain{Role: "user", Content: fmt.Sprintf("[What the tool %s returned:]\n> %s", m.Tool, strings.ReplaceAll(m.Text, "\n", "\n> "))})
		case m.Role == "assistant" && (asJSON || len(m.Calls) > 0):
			out = append(out, Plain{Role: m.Role, Content: strings.Join(ownWords(m, asJSON), "\n")})
		default:
			out = append(out, Plain{Role: m.Role, Content: m.Text})
		}
	}
	return out
}

// ownWords are the lines of an assistant's message.
func ownWords(m brain.Msg, asJSON bool) []string {
	var lines []string
	if m.Text != "" || len(m.Calls) == 0 {
		words := m.Text
		if asJSON {
			words = `{"say":` + quoted(m.Text) + `}`
		}
		lines = append(lines, words)
	}
	for _, c := range m.Calls {
		args := compact(ObjectOr(c.Args, "{}"))
		if asJSON {
			lines = append(lines, fmt.Sprintf(`{"tool":%s,"args":%s}`, quoted(c.Name), args))
		} else {
			lines = append(lines, fmt.Sprintf("[I called the tool %s with %s]", c.Name, args))
		}
	}
	return lines
}

// ReadSaid takes an answer in the form of AnswerSchema apart. lost: it was meant to be one and cannot be read.
func ReadSaid(text string, cut bool) (words string, calls []brain.ToolCall, lost bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		text = strings.TrimSpace(unthought(text)) // a model that thinks before the grammar begins
	}
	if !strings.HasPrefix(text, "{") {
		return text, nil, false // a server that forces nothing: plain words are an answer too
	}
	var s said
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		if cut {
			words = unthought(cutWords(text))
		}
		return words, nil, words == ""
	}
	if s.Say != nil {
		words = unthought(*s.Say)
	}
	if s.Tool != "" {
		return words, []brain.ToolCall{{Name: s.Tool, Args: ReadArgs(s.Args)}}, false
	}
	return words, nil, s.Say == nil
}

// cutWords saves the words of a {"say": …} that ran into its length limit.
func cutWords(text string) string {
	rest := strings.TrimSpace(strings.TrimPrefix(text, "{"))
	rest, ok := strings.CutPrefix(rest, `"say"`)
	if !ok {
		return ""
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(rest), ":")
	if rest = strings.TrimSpace(rest); !ok || !strings.HasPrefix(rest, `"`) {
		return ""
	}
	// The cut may lie within an escape: the longest is a pair of \uXXXX.
	for drop := 0; drop <= 12 && drop < len(rest); drop++ {
		var words string
		if json.Unmarshal([]byte(rest[:len(rest)-drop]+`"`), &words) == nil && !strings.HasSuffix(words, "\ufffd") {
			return words
		}
	}
	return ""
}

func quoted(s string) string {
	out, err := Encode(s)
	if err != nil {
		return `""` // a string can always be written
	}
	return string(out)
}

func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return "{}" // only what has been found valid comes here
	}
	return out.String()
}
