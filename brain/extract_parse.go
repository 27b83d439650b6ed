package brain

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hearth/vault"
)

// readFact is a fact as a model wrote it: nothing of it is believed.
type readFact struct {
	Kind, Text, About string
	Line, Replaces    int64
}

// Bounds of what is read of an answer.
const (
	maxFactsAnswer = 64 << 10 // bytes
	maxFactsRead   = 20
	maxFactText    = 300 // characters, as the tool remember has it
)

// parseFacts reads a model's list of facts; whatever stands around the JSON is passed by, and so is each entry that is none.
func parseFacts(answer string) (facts []readFact, ok bool) {
	if len(answer) > maxFactsAnswer {
		return nil, false
	}
	var entries []json.RawMessage
	for _, from := range []string{"{", "["} {
		at := strings.Index(answer, from)
		if at < 0 {
			continue
		}
		var whole json.RawMessage
		if json.NewDecoder(strings.NewReader(answer[at:])).Decode(&whole) != nil {
			continue
		}
		var list struct{ Facts []json.RawMessage }
		if json.Unmarshal(whole, &list) == nil && list.Facts != nil {
			entries, ok = list.Facts, true
			break
		}
		if json.Unmarshal(whole, &entries) == nil && from == "[" {
			ok = true
			break
		}
	}
	for _, e := range entries[:min(len(entries), maxFactsRead)] {
		var f struct {
			Kind, Text, About string
			Line, Replaces    json.RawMessage
		}
		if json.Unmarshal(e, &f) == nil {
			facts = append(facts, readFact{Kind: strings.ToLower(strings.TrimSpace(f.Kind)), Text: f.Text, About: f.About, Line: wholeNumber(f.Line), Replaces: wholeNumber(f.Replaces)})
		}
	}
	return facts, ok
}

// wholeNumber reads 12, "12" and "#12"; 0 = no number.
func wholeNumber(raw json.RawMessage) int64 {
	n, err := strconv.ParseInt(strings.TrimLeft(string(bytes.Trim(raw, `" `)), "#"), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// factKinds are what can be read out of a talk. A standing rule is given, not guessed.
var factKinds = []string{"fact", "preference", "person", "place"}

// checkFacts keeps what each line really says. A fact names a line there is, which holds half of what the fact is about and
// every number in it; about somebody whom the line, its writer or the fact names.
func checkFacts(found []readFact, lines []vault.Message, people []vault.Person, group bool) (out []vault.Fact) {
	seen := map[string]bool{}
	for _, f := range found {
		text, about := oneLine(f.Text), name(f.About)
		if f.Line < 1 || f.Line > int64(len(lines)) || !slices.Contains(factKinds, f.Kind) || !plausible(f.Text, text) {
			continue
		}
		line := lines[f.Line-1]
		who := speaker(people, line)
		teller := who
		if group {
			teller = ""
		}
		if !vault.Backs(line.Text, strings.ReplaceAll(text, who, ""), teller) || !sameFigures(line.Text, text) {
			continue
		}
		if about != "" && !names(text, about) && !names(line.Text, about) && !strings.EqualFold(about, who) {
			continue
		}
		if group && !names(text, who) && (about == "" || !names(text, about)) {
			if about == "" {
				about = who
			}
			text = about + ": " + text // everybody in the group reads it: whom it is about stands in it
		}
		key := strings.ToLower(text)
		if seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, vault.Fact{Kind: f.Kind, Text: text, Message: line.ID, Replaces: f.Replaces})
	}
	return out
}

// plausible reports whether a text can be a fact at all: a short sentence that is about something and asks nothing.
func plausible(raw, text string) bool {
	return utf8.RuneCountInString(raw) <= maxFactText && utf8.RuneCountInString(text) <= maxFactText && !strings.Contains(strings.TrimSpace(raw), "\n") && vault.Substance(text) >= leastWords &&
		!strings.HasSuffix(text, "?") && !strings.ContainsAny(text, "{}<>") && !vault.Blanked(text)
}

// names reports whether a text speaks of somebody by name.
func names(text, who string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(who))
}

// sameFigures reports whether every word of a fact that holds a digit stands in the line too: what is invented most easily is
// a number, and what looks like a secret holds some.
func sameFigures(line, fact string) bool {
	split := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	said := strings.FieldsFunc(strings.ToLower(line), split)
	for _, w := range strings.FieldsFunc(strings.ToLower(fact), split) {
		if strings.ContainsFunc(w, unicode.IsDigit) && !slices.Contains(said, w) {
			return false
		}
	}
	return true
}
