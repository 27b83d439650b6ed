package offline

import (
	"strings"
)

// wish is what a sentence comes to: words of our own, or a call and what follows from its result.
type wish struct {
	say    string
	tool   string
	args   map[string]any
	after  func(result string) wish
	number int  // of the call in its run
	chain  bool // its result may lead to another call
	filler bool // a greeting and the like: not worth a word beside something else
}

func say(text string) wish { return wish{say: text} }

// answer gives the reply: words, or the calls that come next.
func answer(t talk) (string, []wish) {
	wishes := t.understand()
	for i, w := range wishes {
		if w.tool != "" && !t.tools[w.tool] {
			wishes[i] = say(cannotHere(w.tool))
		}
		if w.chain && len(wishes) > 1 {
			wishes[i] = say("Please send that in a message of its own, with its number.")
		}
	}
	if len(wishes) == 1 {
		return t.follow(wishes[0])
	}
	var calls []wish
	var lines []string
	for _, w := range wishes {
		if w.tool != "" {
			w.number = len(calls) + 1
			calls = append(calls, w)
			if len(t.results) >= len(calls) {
				w = w.after(t.results[len(calls)-1])
			}
		}
		if w.say != "" && !w.filler {
			lines = append(lines, w.say)
		}
	}
	if len(calls) > 0 && len(t.results) == 0 {
		return "", calls
	}
	return strings.Join(lines, "\n"), nil
}

// follow goes along a wish as far as there are results.
func (t talk) follow(w wish) (string, []wish) {
	for i, result := range t.results {
		if w.tool == "" {
			break
		}
		w = w.after(result)
		w.number = i + 2
	}
	switch {
	case w.tool == "":
		return w.say, nil
	case !t.tools[w.tool]:
		return cannotHere(w.tool), nil
	}
	w.number = max(w.number, 1)
	return "", []wish{w}
}

// understand reads the words of a run. Messages that came in a burst are one thought, unless each is one of its own.
func (t talk) understand() []wish {
	switch {
	case len(t.words) == 0 && len(t.forwarded) > 0:
		return []wish{say(onlyForwarded)}
	case len(t.words) == 0:
		return []wish{say(notUnderstood("that"))}
	}
	var thoughts []string
	for _, w := range t.words {
		if n := len(thoughts); n > 0 && (!t.complete(thoughts[n-1]) || !t.complete(w)) {
			thoughts[n-1] += " " + w
			continue
		}
		thoughts = append(thoughts, w)
	}
	var wishes []wish
	for _, thought := range thoughts {
		wishes = append(wishes, t.read(thought))
	}
	return wishes
}

// complete reports whether words make sense alone.
func (t talk) complete(words string) bool {
	s := newSentence(words)
	for _, rule := range rules {
		if w, ok := rule(t, s); ok {
			return w.tool != "" || w.filler
		}
	}
	return false
}

// read finds the first rule that a thought fits.
func (t talk) read(thought string) wish {
	s := newSentence(thought)
	for _, rule := range rules {
		if w, ok := rule(t, s); ok {
			return w
		}
	}
	if w, ok := t.reply(s); ok {
		return w
	}
	return say(notUnderstood(thought))
}

// rules are tried in this order: what is more exact comes first.
var rules = []func(talk, sentence) (wish, bool){
	smallTalk, writeFile, readFile, listFiles,
	forgetNumber, cancelJob, changeJob, correct, listJobs,
	recallFacts, rememberFact, remind, forgetWords, ownQuestion,
}

// sentence is a thought, as it was written and tidied up.
type sentence struct {
	raw      string // with its line breaks
	text     string // on one line, without politeness and closing punctuation
	question bool
}

var (
	polite = lazily(`(?i)^(?:(?:hey|hi|hello|ok|okay|please|pls|hearth|oh|so|well|bitte|por favor|per favore|s'il te pla[iî]t|and|also|then)[,!.:]?\s+|` +
		`(?:can|could|would|will)\s+you\s+(?:please\s+)?|(?:i\s+(?:want|need)|i'd\s+like|i\s+would\s+like)\s+you\s+to\s+|(?:kannst|könntest)\s+du\s+(?:bitte\s+)?|(?:puedes|peux-tu|podes|puoi)\s+)`)
	politeEnd = lazily(`(?i)(?:[\s,]+(?:please|pls|thanks|thank you|thx|bitte|danke|por favor|gracias|merci|s'il te pla[iî]t|obrigad[oa]|grazie|per favore)[\s.!?]*|[\s.!?…]+)$`)
)

func newSentence(words string) sentence {
	s := sentence{raw: strings.TrimSpace(words)}
	text := strings.Join(strings.Fields(strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`).Replace(words)), " ")
	for range 4 {
		cut := politeEnd.get().ReplaceAllString(text, "")
		s.question = s.question || strings.Contains(text[len(cut):], "?")
		if cut == "" || cut == text {
			break
		}
		text = cut
	}
	for range 4 {
		cut := polite.get().ReplaceAllString(text, "")
		if cut == "" || cut == text {
			break
		}
		text = cut
	}
	s.text = strings.TrimPrefix(text, "¿")
	return s
}

// match gives the groups of a pattern in the tidied sentence.
func (s sentence) match(re *pattern) []string { return re.get().FindStringSubmatch(s.text) }
