package offline

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"hearth/skills"
)

// call is a wish for a tool that changes something: the program shows its own receipt, so nothing is added to it.
func call(tool string, args map[string]any) wish {
	return wish{tool: tool, args: args, after: func(result string) wish {
		if strings.Contains(result, skills.Done) {
			return say("")
		}
		return say(sentenceOf(result))
	}}
}

// reading is a wish for a tool whose result the person is shown.
func reading(tool string, args map[string]any, show func(result string) string) wish {
	return wish{tool: tool, args: args, after: func(result string) wish { return say(show(result)) }}
}

var (
	jobLine    = lazily(`(?m)^(?:Reminder|Follow-up) (\d{1,9}): .+$`)
	memoryLine = lazily(`(?m)^#(\d{1,9}) \((.*?)\): (.+)$`)
	andMore    = lazily(`(?m)^and (?:.* )?more\b.*$`)
	modelHint  = lazily(`(?i);[^;]*\b(?:call again|jobs lists|recall gives|list_files|read_file|write_file|pass |with remind)\b[^;]*$`)
	errorHead  = lazily(`(?i)^(?:error|failed|refused|not done)\s*:\s*`)
	modelOrder = lazily(`(?i)\s*Do not try it in another way; say so\.?$`)
)

func showJobs(result string) string {
	lines := jobLine.get().FindAllString(result, -1)
	switch {
	case strings.Contains(result, "There are no reminders."):
		return "You have no reminders."
	case len(lines) == 0:
		return sentenceOf(result)
	case len(lines) == 1:
		return "You have one:\n" + bullets(lines)
	}
	text := "Your reminders, next first:\n" + bullets(lines)
	if more := andMore.get().FindString(result); more != "" {
		text += "\n" + more
	}
	return text
}

func showNextJob(result string) string {
	if next := jobLine.get().FindString(result); next != "" {
		return "Next comes " + next
	}
	return showJobs(result)
}

// memory is one line of what recall gives.
type memory struct {
	id          int64
	about, text string
}

func memories(result string) (out []memory) {
	for _, m := range memoryLine.get().FindAllStringSubmatch(result, -1) {
		out = append(out, memory{number(m[1]), strings.ReplaceAll(m[2], "the person's own words", "your own words"), m[3]})
	}
	return out
}

func memoryLines(found []memory) (out []string) {
	for _, m := range found {
		out = append(out, fmt.Sprintf("%s (memory %d, %s)", m.text, m.id, m.about))
	}
	return out
}

// showMemories tells what is known about a topic, which is "" for everything.
func showMemories(result, topic string, all bool) string {
	found := memories(result)
	switch {
	case len(found) == 0 && !strings.Contains(result, "Nothing is remembered"):
		return sentenceOf(result)
	case len(found) == 0 && all:
		return "I remember nothing yet. Tell me something with \"remember that …\"."
	case len(found) == 0:
		return fmt.Sprintf("I know nothing about %s. Tell me with \"remember that …\".", topic)
	}
	head := "Here is what I remember"
	if !all {
		head = "Here is what I know about " + topic
	}
	lines := memoryLines(found)
	if len(lines) == 1 {
		return head + ": " + lines[0]
	}
	text := head + ":\n" + bullets(lines)
	if more := andMore.get().FindString(result); more != "" {
		text += "\n" + more
	}
	return text
}

func showFiles(result string) string {
	if strings.HasPrefix(result, "Files in ") {
		head, rest, _ := strings.Cut(result, "\n")
		return head + "\n" + bullets(strings.Split(rest, "\n"))
	}
	return sentenceOf(result)
}

// showFile gives a file as it is. Its first line says how much of it is shown.
func showFile(result, name string) string {
	name = path.Clean(name)
	if strings.HasPrefix(result, name+":\n") || strings.HasPrefix(result, name+" (shown ") {
		return result
	}
	return sentenceOf(result)
}

// sentenceOf makes a sentence for a person of what a tool told the model: without what only a model can do.
func sentenceOf(result string) string {
	text := strings.TrimSpace(result)
	text = errorHead.get().ReplaceAllString(text, "")
	if question, ok := strings.CutPrefix(text, skills.AskPrefix); ok {
		return question
	}
	text = modelOrder.get().ReplaceAllString(text, "")
	text = strings.TrimSpace(modelHint.get().ReplaceAllString(text, ""))
	if text == "" {
		return "That did not work, and I was not told why."
	}
	if word, _, _ := strings.Cut(text, " "); !strings.ContainsAny(word, "./_") { // the name of a file stays as it is
		first, size := utf8.DecodeRuneInString(text)
		text = string(unicode.ToUpper(first)) + text[size:]
	}
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "!") {
		text += "."
	}
	return text
}

func bullets(lines []string) string { return "• " + strings.Join(lines, "\n• ") }
