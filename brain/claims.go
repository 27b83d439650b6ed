package brain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hearth/vault"
)

// Small models say "Done, I'll remind you" without calling anything. What is stored and done stands in receipts that the
// program writes; words that claim more are caught here.

type claim struct {
	words *regexp.Regexp
	tools []string // any of these, finished, supports it
	note  string   // what the person is told when nothing does
}

var claims = []claim{
	{
		words: regexp.MustCompile(`(?i)\b(i('ll| will| shall| am going to) remind you|i('ve| have)? ?(just )?(set|scheduled|created|added|saved) (a|the|your|that|this|another) (reminder|alarm|follow-up)|(reminder|alarm|follow-up)s? (is |are |has been |have been |was |were )?(now )?(set|scheduled|created|saved|added)\b|ich erinnere dich|erinnerung (ist )?(gesetzt|gestellt|erstellt)|te recordaré|je (te|vous) (le )?rappellerai|vou lembr[aá]-?l?[oa]?|ti ricorderò)`),
		tools: []string{"remind", "follow_up", "change_job", "jobs"},
		note:  "(No reminder was stored by this. /jobs shows what is planned; /remind WHEN, TEXT stores one.)",
	},
	{
		words: regexp.MustCompile(`(?i)\b(i('ve| have) (now )?(remembered|noted|memorised|memorized|saved|stored) (it|this|that|your)|i('ll| will) (remember|keep) (that|this|it) (in mind|for you|from now on))`),
		tools: []string{"remember", "recall", "write_file"},
		note:  "(Nothing was stored in the memory by this. /remember TEXT does it.)",
	},
	{
		words: regexp.MustCompile(`(?i)\bi('ve| have) (now |just )?(written|created|saved) (it |this |that |them )?(to |in |into )?(a |the |your )?(file|note)\b`),
		tools: []string{"write_file", "run_command"},
		note:  "(No file was written by this.)",
	},
	{
		words: regexp.MustCompile(`(?i)\b(i('ve| have)? ?(just )?(cancell?ed|deleted|removed) (the|your|that|this) reminder|reminder \d* ?(has been |is |was )(cancell?ed|deleted|removed))`),
		tools: []string{"cancel_job", "change_job"},
		note:  "(No reminder was cancelled by this. /cancel N does it.)",
	},
}

// receiptLine is the form of a receipt, which only the program writes.
var receiptLine = regexp.MustCompile(`(?m)^\W*(Reminder|Follow-up) (\d+)(?: is now)?: `)

// forged gives the correction for a receipt whose number no finished call of the run names; "" when there is none.
func forged(words string, calls []vault.Call) string {
	for _, m := range receiptLine.FindAllStringSubmatch(words, -1) {
		named := regexp.MustCompile(`(?i)(reminder|follow-up) ` + m[2] + `\b`)
		if !slices.ContainsFunc(calls, func(c vault.Call) bool {
			return c.State == vault.Finished && (named.MatchString(c.Receipt) || named.MatchString(c.Result))
		}) {
			return fmt.Sprintf("(%s %s was not stored by this. /jobs shows what is planned.)", m[1], m[2])
		}
	}
	return ""
}

// unsupported gives the correction for a claim that no finished call of the run supports; "" when all are supported.
func unsupported(words string, calls []vault.Call) string {
	if note := forged(words, calls); note != "" {
		return note
	}
	for _, c := range claims {
		if !c.words.MatchString(words) {
			continue
		}
		if !slices.ContainsFunc(calls, func(call vault.Call) bool {
			return call.State == vault.Finished && slices.Contains(c.tools, call.Tool)
		}) {
			return c.note
		}
	}
	return ""
}

// denial is what small models say when they do not see their tools.
var denial = regexp.MustCompile(`(?i)\bi (do not|don't|currently do not|currently don't) (currently )?have (access to )?(any |a |an |the |such a |such )?(\w+ )?(tools?|functions?)\b|\bi('m| am)? ?(cannot|can't|unable to|not able to) (set|create|schedule|save|store) (a |an |any |the )?(reminders?|alarms?|notes?|memories)\b|\bno (such )?(tool|function) (is )?available\b`)

// fenced finds calls in the forms that small models write them in.
var (
	tagged  = regexp.MustCompile(`(?s)<(tool_call|function_call|tool)>\s*(.*?)\s*</(tool_call|function_call|tool)>`)
	fenced  = regexp.MustCompile("(?s)```(?:json|tool_call|tool_code)?\\s*(\\{.*?\\})\\s*```")
	rawTags = regexp.MustCompile(`</?(tool_call|function_call|tool_response)>`)
	rawCall = regexp.MustCompile(`"(?:name|tool|function)"\s*:\s*"(\w+)"`)
	rawArgs = regexp.MustCompile(`"(?:arguments|parameters|args)"\s*:`)
	tokens  = regexp.MustCompile(`<\|[a-z_]+\|>`)
)

// writtenCalls reads calls that a model wrote into its text, and gives the text without them. Only a complete JSON object
// with the name of a tool that is known here is a call.
func writtenCalls(text string, known func(string) bool) (calls []ToolCall, rest string, ok bool) {
	rest = text
	for _, pattern := range []*regexp.Regexp{tagged, fenced} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			body := m[len(m)-1]
			if pattern == tagged {
				body = m[2]
			}
			if call, fits := readCall(body, known); fits {
				calls = append(calls, call)
				rest = strings.Replace(rest, m[0], "", 1)
			}
		}
	}
	if len(calls) == 0 {
		if call, fits := readCall(text, known); fits {
			return []ToolCall{call}, "", true
		}
	}
	return calls, strings.TrimSpace(rest), len(calls) > 0
}

// readCall reads {"name": …, "arguments": {…}} and its common variants.
func readCall(text string, known func(string) bool) (ToolCall, bool) {
	var c struct {
		Name       string          `json:"name"`
		Tool       string          `json:"tool"`
		Function   json.RawMessage `json:"function"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
		Args       json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(text)), &c); err != nil {
		return ToolCall{}, false
	}
	name := c.Name
	if name == "" {
		name = c.Tool
	}
	if name == "" && len(c.Function) > 0 {
		if err := json.Unmarshal(c.Function, &name); err != nil {
			return readCall(string(c.Function), known)
		}
	}
	for _, args := range []json.RawMessage{c.Arguments, c.Parameters, c.Args} {
		if len(args) > 0 && known(name) {
			return ToolCall{Name: name, Args: args}, true
		}
	}
	return ToolCall{}, false
}

// cleaned takes out what is never meant for a person: thoughts that a model wrote before its answer although it was told
// not to, and the marks of its template.
func cleaned(text string) string {
	text = strings.TrimSpace(tokens.ReplaceAllString(text, ""))
	for _, tag := range []string{"think", "thinking"} {
		if _, answer, ok := strings.Cut(text, "</"+tag+">"); ok {
			text = strings.TrimSpace(answer) // some templates write the opening mark themselves
		} else if strings.HasPrefix(text, "<"+tag+">") {
			text = ""
		}
	}
	return text
}

// callKeys are the keys of a call in the forms that models write.
var callKeys = []string{"name", "tool", "function", "arguments", "parameters", "args", "type", "id", "tool_calls"}

// looksRaw reports words that are machinery and not an answer: a call in a form nobody could read, or template tags.
func looksRaw(words string, known func(string) bool) bool {
	if rawTags.MatchString(words) {
		return true
	}
	if m := rawCall.FindStringSubmatch(words); m != nil && known(m[1]) && rawArgs.MatchString(words) {
		return true
	}
	trimmed := strings.TrimSpace(strings.Trim(strings.TrimSpace(words), "`"))
	trimmed = strings.TrimSpace(strings.TrimPrefix(trimmed, "json"))
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return false
	}
	var objects []map[string]json.RawMessage
	if err := json.Unmarshal([]byte("["+strings.TrimSuffix(strings.TrimPrefix(trimmed, "["), "]")+"]"), &objects); err == nil {
		return slices.ContainsFunc(objects, func(o map[string]json.RawMessage) bool {
			for key := range o {
				if !slices.Contains(callKeys, key) {
					return false // somebody asked for JSON
				}
			}
			return len(o) > 0
		})
	}
	return slices.ContainsFunc(callKeys, func(key string) bool { return strings.Contains(trimmed, `"`+key+`"`) })
}
