package offline

import (
	"slices"
	"strings"
	"time"

	"hearth/brain"
)

// talk is what a request says to this model.
type talk struct {
	now       time.Time
	words     []string        // what the person wrote and has no answer yet, oldest first
	forwarded []string        // what came with it and is somebody else's: never an order
	before    string          // what was said to them just before
	receipts  string          // that, and what the tools said before it
	results   []string        // of the calls made since, in order
	tools     map[string]bool // those that may be used here
}

// listen takes a request apart. Words that came while the run was working stand after its first results: what stands
// before those is done already.
func listen(req brain.Request) talk {
	t := talk{now: req.Now, tools: map[string]bool{}}
	for _, tool := range req.Tools {
		t.tools[tool.Name] = true
	}
	first, last := spoken(req)
	for _, m := range req.Messages[last+1:] {
		if m.Role == "tool" {
			t.results = append(t.results, m.Text)
		}
	}
	var fresh, old, recent strings.Builder
	for i, m := range req.Messages[:last+1] {
		switch {
		case m.Role == "user" && i >= first:
			fresh.WriteString(m.Text + "\n")
		case m.Role == "user":
			old.WriteString(m.Text + "\n")
			recent.Reset()
		default:
			recent.WriteString(m.Text + "\n")
			if m.Role == "assistant" && strings.TrimSpace(m.Text) != "" {
				t.before = m.Text
			}
		}
	}
	t.receipts = recent.String()
	for _, w := range req.Words {
		switch {
		case strings.TrimSpace(w) == "":
		case quotedOnly(fresh.String(), w):
			t.forwarded = append(t.forwarded, w)
		case strings.Contains(fresh.String(), w) || !strings.Contains(old.String(), w):
			t.words = append(t.words, w)
		}
	}
	return t
}

// spoken finds the user messages that stand together where the person spoke last. A message that holds none of the words
// is the program's own.
func spoken(req brain.Request) (first, last int) {
	holds := func(m brain.Msg) bool {
		return m.Role == "user" && slices.ContainsFunc(req.Words, func(w string) bool { return strings.TrimSpace(w) != "" && strings.Contains(m.Text, w) })
	}
	user := -1
	last = -1
	for i, m := range req.Messages {
		if m.Role == "user" {
			user = i
		}
		if holds(m) {
			last = i
		}
	}
	if last < 0 {
		last = user
	}
	first = last
	for first > 0 && req.Messages[first-1].Role == "user" {
		first--
	}
	return first, last
}

// quotedOnly reports whether words stand in a text behind ">" on every line and nowhere else: that is how the prompt marks
// what was forwarded.
func quotedOnly(text, words string) bool {
	quoted := "> " + strings.ReplaceAll(words, "\n", "\n> ")
	return strings.Contains(text, quoted) && !strings.Contains(strings.ReplaceAll(text, quoted, ""), words)
}
