package offline

import (
	"fmt"
	"strings"
)

var (
	remembering = lazily(`(?i)^(?:remember|note|memori[sz]e|keep in mind|don't forget|do not forget|never forget|learn|save|write down|make a note|take a note)(?: this| down)?(?:,? that|:|,| -)\s*(.+)$`)
	rememberIt  = lazily(`(?i)^remember (.+)$`)
	rememberOr  = lazily(`(?i)^(?:merk(?:e)? dir(?:,? dass|:)?|recuerda que|apunta que|(?:souviens-toi|retiens|note) (?:que |qu'|: ?)|(?:lembra-te|lembre-se|lembra|anota) (?:de )?que|(?:ricorda|ricordati|annota) che)\s*(.+)$`)

	recalling = lazily(`(?i)^(?:what (?:do|did|can) (?:you|i) (?:know|remember|recall|tell you|tell me|have)|what have (?:you|i) (?:remembered|told you|noted)|tell me (?:what you know|everything|all you know)|do you (?:know|remember)|what is (?:known|remembered)|` +
		`(?:search|look up|recall|find)(?: in)?(?: your| my| the)?(?: memory| memories| notes)?(?: for)?|(?:list|show)(?: me)?(?: all)? ?(?:my |your |the )?(?:memories|memory|facts)|` +
		`was wei(?:ß|ss)t du|qu[eé] sabes|que sais-tu|qu'est-ce que tu sais|(?:o )?que (?:é que )?(?:tu )?sabes?|(?:che )?cosa (?:sai|ti ricordi))\b ?(?:(?:anything|something|alles|etwas)\s*)?(?:about|of|regarding|on|über|ueber|von|de|sobre|du|sur|di|su)?\s*(.*)$`)
	about     = lazily(`(?i)^(?:tell me )?about (.+)$`)
	ownWords  = lazily(`(?i)^(?:who|what|when|where|which|how|whose|is|are|does|did|do|was)\b.*\b(?:my|our|mine|i|we)\b`)
	questions = lazily(`(?i)^(?:who|what|when|where|which|how|whose|why|if|whether)\b`)

	forgetNo   = lazily(`(?i)^(?:(?:forget|erase)(?: the)?(?: memory| fact| note)?|(?:delete|remove)(?: the)? (?:memory|fact|note)|vergiss|olvida|oublie|esquece|dimentica) ` + aNumber + `$`)
	forgetting = lazily(`(?i)^(?:please )?forget (?:that |about |what (?:i|you) (?:said|told you|know) about |everything about |the fact that )?(.+)$`)
	forgetAll  = lazily(`(?i)^forget (?:everything|all|all of it|me|it all)$`)
	neverMind  = lazily(`(?i)^(?:forget (?:it|that|about it)|never ?mind)$`)
)

// rememberFact reads "remember that …". "Remember to …" is a reminder, and a question is a question.
func rememberFact(t talk, s sentence) (wish, bool) {
	var fact string
	if m := s.match(remembering); m != nil {
		fact = m[1]
	} else if m := s.match(rememberOr); m != nil {
		fact = m[1]
	} else if m := s.match(rememberIt); m != nil && !s.question && !strings.HasPrefix(strings.ToLower(m[1]), "to ") && !questions.get().MatchString(m[1]) {
		fact = m[1]
	}
	if fact = strings.Trim(fact, ` "`); fact == "" || strings.HasPrefix(strings.ToLower(fact), "to ") {
		return wish{}, false
	}
	if this[strings.ToLower(fact)] && len(t.forwarded) > 0 {
		fact = shortened(strings.Join(t.forwarded, " "))
	}
	return call("remember", map[string]any{"fact": fact}), true
}

// recallFacts reads "what do you know about …".
func recallFacts(_ talk, s sentence) (wish, bool) {
	m := s.match(recalling)
	if m == nil {
		if m = s.match(about); m == nil {
			return wish{}, false
		}
	}
	return recall(m[1], questions.get().MatchString(m[1])), true
}

// ownQuestion takes a question about the person's own things to the memory: there is nowhere else to look.
func ownQuestion(_ talk, s sentence) (wish, bool) {
	if s.match(ownWords) == nil || s.match(questions) == nil && !s.question {
		return wish{}, false
	}
	return recall(s.text, true), true
}

// recall searches for the words that carry meaning. clause says that the topic is no thing that one can know about.
func recall(topic string, clause bool) wish {
	words := contentWords(topic)
	query := strings.Join(words, " ")
	if len(words) == 0 {
		query, topic = "*", ""
	}
	if clause {
		topic = "that"
	}
	return reading("recall", map[string]any{"query": query}, func(result string) string { return showMemories(result, turned(topic), query == "*") })
}

func forgetNumber(_ talk, s sentence) (wish, bool) {
	if s.match(neverMind) != nil {
		return wish{say: "All right.", filler: true}, true
	}
	if m := s.match(forgetNo); m != nil {
		return call("forget", map[string]any{"id": number(m[1])}), true
	}
	if s.match(forgetAll) != nil {
		return say("I forget one thing at a time: say \"what do you remember\", then \"forget memory 3\"."), true
	}
	return wish{}, false
}

// forgetWords looks for what is to be forgotten and forgets it when there is no doubt which it is.
func forgetWords(_ talk, s sentence) (wish, bool) {
	m := s.match(forgetting)
	if m == nil {
		return wish{}, false
	}
	wanted := contentWords(m[1])
	if len(wanted) == 0 {
		return say("What shall I forget? Say \"what do you remember\", then \"forget memory 3\"."), true
	}
	return wish{tool: "recall", args: map[string]any{"query": strings.Join(wanted, " ")}, chain: true, after: func(result string) wish {
		found := memories(result)
		var sure []memory
		for _, f := range found {
			if holdsAll(f.text, wanted) {
				sure = append(sure, f)
			}
		}
		switch {
		case len(found) == 0:
			return say(showMemories(result, "that", false))
		case len(sure) == 1:
			return call("forget", map[string]any{"id": sure[0].id})
		case len(sure) > 1:
			found = sure
		}
		return say(fmt.Sprintf("Which one? Say its number, for instance \"forget memory %d\":\n%s", found[0].id, bullets(memoryLines(found))))
	}}, true
}

// turn changes who speaks to whom.
var turn = map[string]string{"my": "your", "me": "you", "i": "you", "our": "your", "mine": "yours", "myself": "yourself", "us": "you", "we": "you", "ours": "yours", "am": "are"}

func turned(topic string) string {
	words := strings.Fields(topic)
	for i, w := range words {
		if other, ok := turn[strings.ToLower(w)]; ok {
			words[i] = other
		}
	}
	return strings.Join(words, " ")
}
