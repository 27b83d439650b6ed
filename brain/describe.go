package brain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// commandTool is the one whose argument is a program: hiding in it pays.
const commandTool = "run_command"

// describe shows a person exactly what would be done: every argument, whole. Behind a command stands what is written in
// it in another alphabet.
func describe(tool string, args json.RawMessage) string {
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber() // 1000000 and not 1e+06
	if err := dec.Decode(&fields); err != nil || len(fields) == 0 {
		return tool
	}
	lines := []string{tool}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fmt.Sprint(fields[name])
		if tool != commandTool {
			lines = append(lines, name+": "+setIn(visible(value)))
			continue
		}
		lines = append(lines, name+": "+setIn(exact(value)))
		for _, d := range decodings(value) {
			lines = append(lines, fmt.Sprintf("decoded from %s: %s", exact(shorten(d.from, 24)), setIn(exact(d.text))))
		}
	}
	return strings.Join(lines, "\n")
}

// setIn sets further lines of a value in, so that they cannot look like another argument.
func setIn(s string) string { return strings.ReplaceAll(s, "\n", "\n    ") }

// behind names whose words may have led to a question; the person who is asked knows only their own.
func behind(origin string) string {
	if origin == "" {
		return ""
	}
	return "\nThis follows on words that are not from whoever writes to me: " + origin + "."
}

// visible shows control characters, and those that turn the direction of a text, as what they are.
func visible(s string) string {
	return reveal(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	})
}

// exact is visible for a text in which every character counts: none is left that has no shape of its own, and no gap that
// could push the rest off a screen.
func exact(s string) string {
	s = reveal(s, func(r rune) bool { return !unicode.IsPrint(r) })
	var out strings.Builder
	for len(s) > 0 {
		gap := len(s) - len(strings.TrimLeft(s, " "))
		if lines := len(s) - len(strings.TrimLeft(s, "\n")); lines > 3 {
			fmt.Fprintf(&out, "<%d line breaks>\n", lines)
			s = s[lines:]
			continue
		}
		if gap > 12 {
			fmt.Fprintf(&out, "<%d spaces>", gap)
			s = s[gap:]
			continue
		}
		out.WriteString(s[:max(gap, 1)])
		s = s[max(gap, 1):]
	}
	return out.String()
}

// reveal writes those characters as their numbers that hide something. Line breaks stay.
func reveal(s string, hides func(rune) bool) string {
	var out strings.Builder
	for _, r := range s {
		if r != '\n' && hides(r) {
			fmt.Fprintf(&out, "<%U>", r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}
