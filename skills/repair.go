package skills

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Small models write arguments that are nearly right. What can be meant in one way only is mended; whatever leaves a choice
// is an error for the model. In particular nothing that was cut off is completed, no text is made out of something else, and
// no argument is invented.

// unwrapped takes the fence of a code block off, and the string that some servers put arguments into, as often as they did.
func unwrapped(raw []byte) []byte {
	const deepest = 3
	for range deepest {
		raw = bytes.TrimSpace(raw)
		if inner, ok := bytes.CutPrefix(raw, []byte("```")); ok {
			if inner, ok = bytes.CutSuffix(inner, []byte("```")); ok {
				raw = bytes.TrimPrefix(inner, []byte("json"))
				continue
			}
		}
		var inner string
		if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &inner) != nil {
			break
		}
		raw = []byte(inner)
	}
	return bytes.TrimSpace(raw)
}

// withoutCommas leaves out a comma that stands before a closing bracket, outside of texts.
func withoutCommas(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	quoted, escaped := false, false
	comma := -1 // where in out a comma waits for what follows
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted, comma = true, -1
		case c == ',':
			comma = len(out)
		case (c == '}' || c == ']') && comma >= 0:
			out = append(out[:comma], out[comma+1:]...)
			comma = -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
		out = append(out, c)
	}
	return out
}

// mended gives a value in the type that is wanted if it says just that: "7" and 7.0 for the whole number 7, "true" for true.
// A number or a truth value for a text is no such case: what was meant by it is anybody's guess.
func (p property) mended(value any) any {
	switch v := value.(type) {
	case string:
		text := strings.TrimSpace(v)
		switch {
		case p.Type == "integer" && wholeNumber(text):
			return json.Number(text)
		case p.Type == "boolean" && strings.EqualFold(text, "true"):
			return true
		case p.Type == "boolean" && strings.EqualFold(text, "false"):
			return false
		}
	case json.Number:
		if whole, zeros, found := strings.Cut(v.String(), "."); p.Type == "integer" && found && strings.Trim(zeros, "0") == "" && wholeNumber(whole) {
			return json.Number(whole)
		}
	}
	return value
}

// wholeNumber reports digits as JSON writes them, with a sign at most.
func wholeNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0') && text != "-0"
}
