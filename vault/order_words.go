package vault

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A rule is a sentence that orders how the agent is to behave: it has no subject but the agent, and a verb of what an agent
// does. All else states something. In doubt it is a fact; an order that is not wholly understood is enforced by asking.

// KindOf tells a rule from a fact.
func KindOf(text string) string {
	if OrderIn(text) != "" {
		return "rule"
	}
	return "fact"
}

// OrderIn gives the first sentence of a text that is an order; "" when none is.
func OrderIn(text string) string {
	for _, s := range orderSentences(text) {
		if _, ok := readOrder(s); ok {
			return s
		}
	}
	return ""
}

// OrdersOf gives what of a text can be enforced, before it is known who is who.
func OrdersOf(text string) (out []Order) {
	for _, s := range orderSentences(text) {
		orders, _ := readOrder(s)
		out = append(out, orders...)
	}
	return out
}

// orderSentenceCount: what is longer is a text and not a rule.
const orderSentenceCount = 4

var sentenceEnd = regexp.MustCompile(`([.!?;]+)(?:\s+|$)|\n+`)

func orderSentences(text string) (out []string) {
	add := func(s, end string) {
		if s = strings.TrimSpace(s); s != "" && !strings.Contains(end, "?") {
			out = append(out, s)
		}
	}
	from := 0
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		add(text[from:at[0]], text[at[0]:at[1]])
		from = at[1]
	}
	add(text[from:], "")
	if len(out) > orderSentenceCount {
		return nil
	}
	return out
}

// orderWords cuts a text into its words, in small letters; a comma is a word.
func orderWords(s string) []string {
	s = strings.ToLower(strings.ReplaceAll(strings.ToValidUTF8(s, " "), "’", "'"))
	s = strings.ReplaceAll(s, ",", " , ")
	return strings.FieldsFunc(s, func(r rune) bool {
		return r != ',' && r != '\'' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
}

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// begins takes the first of some phrases off the front.
func begins(words []string, phrases ...string) (rest []string, ok bool) {
	for _, p := range phrases {
		front := strings.Fields(p)
		if len(words) >= len(front) && slices.Equal(words[:len(front)], front) {
			return words[len(front):], true
		}
	}
	return words, false
}

var (
	polite   = []string{"please", "hey", "hi", "hearth", "ok", "okay", "also", "and", "but", ",", "remember that", "remember to", "remember", "note that", "rule", "important", "keep in mind that"}
	fromNow  = []string{"from now on", "from today on", "in future", "in the future", "going forward", "henceforth", "as of now", "starting now", "starting today"}
	wanted   = []string{"i want you to", "i'd like you to", "i would like you to", "i expect you to", "i need you to", "you must", "you should", "you shall", "you have to", "you are to", "make sure to", "make sure you", "make sure that you", "be sure to", "you may only", "you can only"}
	unwanted = []string{"i don't want you to", "i do not want you to", "i never want you to", "you mustn't", "you shouldn't", "you can't", "you cannot", "you may not", "you may never", "you can never", "you are not to", "you are never to", "you are not allowed to", "you're not allowed to", "you are never allowed to"}
	denials  = []string{"never", "don't", "dont", "do not", "not", "no longer", "stop", "avoid", "refrain from"}
	always   = []string{"always", "only"}
	adverbs  = []string{",", "ever", "again", "just", "simply", "directly", "automatically", "first", "please"}
	fronts   = set("when whenever if while unless before after during on in at for until")
)

// clause is an order as it is being read.
type clause struct {
	not, must bool
	condition bool // it holds only sometimes
	asks      bool // it speaks of asking first
}

// readOrder reads a sentence. ok: it is an order.
func readOrder(sentence string) (out []Order, ok bool) {
	if strings.ContainsAny(sentence[:1], "\"'`>") || strings.HasPrefix(sentence, "“") || strings.HasPrefix(sentence, "‘") {
		return nil, false // somebody is quoted
	}
	words := orderWords(sentence)
	var c clause
	strip := func(phrases []string, then func()) {
		for rest, ok := begins(words, phrases...); ok; rest, ok = begins(words, phrases...) {
			words = rest
			then()
		}
	}
	strip(polite, func() {})
	strip(fromNow, func() { c.must = true })
	strip(polite, func() {})
	if len(words) > 0 && fronts[words[0]] {
		comma := slices.Index(words, ",")
		if comma < 0 {
			return nil, false
		}
		front := words[1:comma]
		first := words[0]
		words = words[comma+1:]
		strip(polite, func() {})
		strip(always, func() {})
		if rest, asked := askedFirst(append(slices.Clone(words), "before")); first == "before" && asked && len(rest) == 0 {
			return c.before(front) // "before you send anything, ask me"
		}
		c.condition = true
	}
	strip(wanted, func() { c.must = true })
	strip(unwanted, func() { c.must, c.not = true, true })
	strip(always, func() { c.must = true })
	strip(denials, func() { c.must, c.not = true, true })
	strip(always, func() { c.must = true })
	strip(adverbs, func() {})
	if len(words) == 0 {
		return nil, false
	}
	if rest, asked := askedFirst(words); asked {
		if c.not { // "never ask before you send": a rule opens nothing
			return nil, true
		}
		return c.before(rest)
	}
	words, c.asks = withoutAsking(words)
	if words[0] == "no" && c.asks {
		c.not = true
		return c.locks(words[1:]), len(c.locks(words[1:])) > 0
	}
	if !isOrder(words, c.must) {
		return nil, false
	}
	if c.not {
		out = c.locks(words)
	}
	return out, true
}

// askedFirst reads "ask me before" and its like, and gives what follows.
func askedFirst(words []string) (rest []string, ok bool) {
	at := slices.Index(words, "before")
	if at < 1 || at > 6 {
		return nil, false
	}
	front := words[:at]
	switch front[0] {
	case "ask", "consult":
		ok = at == 1 || slices.Contains(front, "me") || front[1] == "first" || front[1] == "for"
	case "check", "confirm":
		ok = at == 1 || slices.Contains(front, "me")
	case "get", "wait":
		ok = slices.Contains(front, "my")
	}
	return words[at+1:], ok
}

// before reads what is to be asked about. What is no deed of the agent makes no rule: "ask me before Friday".
func (c clause) before(words []string) ([]Order, bool) {
	c.asks = true
	words, you := begins(words, "you ever", "you")
	words, any := begins(words, "any", "each", "every", "a")
	out := c.locks(words)
	if len(words) == 0 {
		return nil, false
	}
	return out, len(out) > 0 || you || any || base(words[0]) != words[0]
}

var askPhrase = regexp.MustCompile(`^(?:without|unless|until|before|except) (?:(?:first |ever )?(?:asking|checking|confirming|consulting|telling|i |i've |i have |me |my |an? |explicit |permission|approval|consent|confirmation))`)

// withoutAsking cuts "without asking me" and what follows it off, and reports whether it stood there.
func withoutAsking(words []string) (rest []string, ok bool) {
	for i, w := range words {
		if i == 0 || w != "without" && w != "unless" && w != "until" && w != "before" && w != "except" {
			continue
		}
		if askPhrase.MatchString(strings.Join(words[i:], " ") + " ") {
			return words[:i], true
		}
	}
	return words, false
}

// agentVerbs are what an agent does and is told to do or not to do.
var agentVerbs = set(`write send message text email mail contact notify ping answer reply respond speak talk say tell ask address greet use run execute
	search browse fetch google download delete remove remind wake interrupt disturb bother share show mention reveal disclose repeat quote translate
	summarise summarize store save suggest recommend offer guess assume invent apologise apologize explain include format publish forward change edit
	overwrite create cancel schedule call pretend discuss post`)

var (
	manner  = set("brief short polite concise formal informal friendly honest quiet direct kind funny rude sarcastic shorter briefer")
	replies = set("answers answer replies reply messages responses it")
)

// isOrder reports whether words that begin with a verb are an order. Without "always", "never" or the like only few are: who
// notes "call mum on Friday" orders nothing.
func isOrder(words []string, must bool) bool {
	verb, rest := base(words[0]), words[1:]
	has := func(of map[string]bool) bool { return slices.ContainsFunc(rest, func(w string) bool { return of[w] }) }
	next := func(of ...string) bool { return len(rest) > 0 && slices.Contains(of, rest[0]) }
	switch verb {
	case "be":
		return has(manner)
	case "keep":
		return has(replies)
	case "go", "look", "surf", "open", "visit", "access":
		return must && has(webNouns)
	case "answer", "reply", "respond", "speak", "talk":
		return must || next("in", "briefly", "shortly", "only") || next("to", "me") && slices.Contains(rest, "in")
	case "call", "address":
		return must || next("me")
	}
	return must && agentVerbs[verb]
}

// base undoes the -ing of a verb that is known.
func base(word string) string {
	stem, ok := strings.CutSuffix(word, "ing")
	if !ok || len(stem) < 2 {
		return word
	}
	for _, verb := range []string{stem, stem + "e", stem[:len(stem)-1]} {
		if agentVerbs[verb] || lockVerbs[verb] {
			return verb
		}
	}
	return word
}
