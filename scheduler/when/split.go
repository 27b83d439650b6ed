package when

import (
	"slices"
	"strings"
	"time"
)

// maxSplit is how many words at either end of a sentence are tried as a time phrase.
const maxSplit = 24

// connectors are the words between a time and what it is for, in folded form; they belong to neither.
var connectors = map[string][]string{
	"English":    {"to", "that", "about", "please", "pls", "and"},
	"German":     {"zu", "dass", "bitte", "und"},
	"Spanish":    {"que", "de", "para", "a", "y"},
	"French":     {"de", "d", "que", "pour", "et"},
	"Portuguese": {"de", "que", "para", "a", "e"},
	"Italian":    {"di", "che", "per", "a", "e"},
}

// requests are what people put before a reminder, in folded form, longer ones first.
var requests = []string{
	"can you please remind me", "could you please remind me", "please remind me", "can you remind me", "could you remind me", "remind me", "remind us", "please",
	"erinnere mich bitte", "erinnere mich", "erinner mich", "bitte", "recuerdame", "rappelle moi", "rappelez moi", "lembra me", "lembre me", "ricordami",
}

// ofText are the words that make a time at the end a part of the text when there is one at the beginning: "tomorrow
// book a table for 8pm".
var ofText = []string{"for", "from", "since", "until", "till", "by", "before", "after", "of", "about"}

// found is a run of tokens that reads as a time phrase, or would but for a question.
type found struct {
	from, to int
	res      Result
	lang     *lexicon
	err      error
}

// Split finds the time phrase at the beginning or at the end of a sentence, the longer one, and gives the rest without
// the words that connect both. Where a day stands at one end and a time of day at the other, both count. A sentence
// with two times is a question, as is one with none.
func Split(sentence string, now time.Time) (res Result, rest string, err error) {
	sentence = strings.TrimSpace(sentence)
	if res, rest, ok, err := splitLine(sentence, now); ok {
		return res, rest, err
	}
	tokens := scan(sentence)
	head := request(tokens)
	first, last := leading(tokens, head, now), trailing(tokens, head, now)
	if first != nil && last != nil && last.from > first.to && slices.Contains(ofText, tokens[last.from-1].word) {
		last = nil
	}
	if first != nil && last != nil && last.from < first.to {
		if first.to-first.from >= last.to-last.from {
			last = nil
		} else {
			first = nil
		}
	}
	switch {
	case first != nil && last != nil:
		return both(sentence, tokens, first, last, now)
	case first != nil && first.err != nil:
		return Result{}, "", first.err
	case first != nil:
		if err := secondTime(tokens, first, now); err != nil {
			return Result{}, "", err
		}
		return first.res, cut(sentence, tokens, first.to, len(tokens), first.lang), nil
	case last != nil && last.err != nil:
		return Result{}, "", last.err
	case last != nil:
		return last.res, cut(sentence, tokens, head, last.from, last.lang), nil
	}
	if len(sentence) > 60 {
		sentence = strings.ToValidUTF8(sentence[:60], "") + "…"
	}
	return Result{}, "", weak(`I found no time in %q. When shall it be? Say for example "tomorrow at 9" or "every weekday at 8".`, sentence)
}

// splitLine takes a cron line at the beginning, and what looks like one but is not.
func splitLine(sentence string, now time.Time) (res Result, rest string, ok bool, err error) {
	fields := strings.Fields(sentence)
	n := 0
	switch {
	case len(fields) >= 6 && looksLikeCron(fields[:6]):
		n = 6
	case len(fields) >= 5 && looksLikeCron(fields[:5]):
		n = 5
	case len(fields) > 0 && (cronZone.MatchString(fields[0]) || rrulePart.MatchString(fields[0]) || len(fields[0]) > 2 && fields[0][0] == '@'):
		n = 1
	default:
		return Result{}, "", false, nil
	}
	rest = sentence
	for i, f := range fields[:n] {
		rest = strings.TrimSpace(strings.TrimPrefix(rest, f))
		fields[i] = strings.TrimRight(f, ",;")
	}
	res, ok, err = parseLine(strings.Join(fields[:n], " "), now)
	if err != nil {
		return Result{}, "", ok, err
	}
	return res, strings.TrimLeft(rest, " ,;:-"), ok, nil
}

// request returns how many tokens the words take that ask for a reminder.
func request(tokens []token) int {
	for _, phrase := range requests {
		n := 0
		for w := range strings.FieldsSeq(phrase) {
			if n >= len(tokens) || tokens[n].word != w {
				n = 0
				break
			}
			n++
		}
		if n > 0 {
			return n
		}
	}
	return 0
}

// try reads tokens[from:to]; nil means that they are no time phrase.
func try(tokens []token, from, to int, now time.Time) *found {
	if from >= to || tokens[to-1].end-tokens[from].start > maxPhrase {
		return nil
	}
	res, lang, err := parseTokens(tokens[from:to], now)
	if err != nil && isWeak(err) {
		return nil
	}
	return &found{from: from, to: to, res: res, lang: lang, err: err}
}

// leading finds the longest phrase that begins at head.
func leading(tokens []token, head int, now time.Time) *found {
	for to := min(len(tokens), head+maxSplit); to > head; to-- {
		if tokens[to-1].sign != 0 || counts(tokens, to) {
			continue
		}
		// What hardly is a time counts when the rest is clearly set off.
		setOff := to == len(tokens) || tokens[to].sign != 0 || slices.Contains([]string{"to", "that"}, tokens[to].word)
		f := try(tokens, head, to, now)
		if f != nil && (!flimsy(tokens[head:to], false) || setOff && f.lang == english()) {
			return f
		}
	}
	return nil
}

// counts says whether the token before to is a number that counts what follows: "tomorrow, 3 eggs", "at 8 and 12 pills".
func counts(tokens []token, to int) bool {
	if to < 2 || to == len(tokens) || tokens[to].word == "" || slices.Contains(connectors["English"], tokens[to].word) {
		return false
	}
	lit, before := tokens[to-1].literal, tokens[to-2]
	return lit != nil && lit.number >= 0 && !lit.ordinal && (before.sign == ',' || before.word == "and")
}

// trailing finds the longest phrase that stands at the end.
func trailing(tokens []token, head int, now time.Time) *found {
	end := phraseEnd(tokens, len(tokens))
	for from := max(head, end-maxSplit); from < end; from++ {
		if tokens[from].sign != 0 || slices.Contains(connectors["English"], tokens[from].word) {
			continue
		}
		// Two times that clash are one of the text and one of its own: "enjoy the sun in 2 hours".
		if f := try(tokens, from, end, now); f != nil && !isClash(f.err) && !flimsy(tokens[from:end], true) {
			return f
		}
	}
	return nil
}

// phraseEnd steps back over what may follow a phrase at the end of a sentence.
func phraseEnd(tokens []token, end int) int {
	for end > 0 && (tokens[end-1].sign != 0 || tokens[end-1].word == "please") {
		end--
	}
	return end
}

// flimsy says whether tokens read as a time by chance: a lone number, "may", "sun", "the second", at the end a bare "2 hours".
func flimsy(tokens []token, atEnd bool) bool {
	items, unknown := english().read(tokens)
	if len(unknown) > 0 {
		return flimsyForeign(tokens)
	}
	p := parser{lang: english(), items: items}
	if atEnd {
		if _, ok, err := p.length(); ok && err == nil && p.done() {
			return true
		}
		p.i = 0
	}
	prefixed := p.skip(kIn, kOn, kOf)
	p.skip(kThe, kA)
	switch len(p.items) - p.i {
	case 1:
		part, _ := p.peek(0, kPart)
		lit := p.literal(0)
		switch {
		case p.sees(0, kShift, kTonight, kAdverb), part.n == partNoon, part.n == partMidnight, lit.clock, !lit.day.IsZero(), !lit.stamp.IsZero():
			return false
		case p.sees(0, kWeekday, kWorkday):
			return len(p.items[p.i].text) <= 3 && !prefixed
		case p.sees(0, kMonth):
			return true
		}
		return !prefixed && !p.sees(-1, kAt)
	case 2:
		return !prefixed && p.sees(0, kOrd, kNum) && !p.sees(1, kMonth, kAM, kPM, kOclock, kUnit)
	}
	return false
}

// flimsyForeign says whether words of another language are too short to be sure of it: "do 9" need not be a German Thursday.
func flimsyForeign(tokens []token) bool {
	sure := []string{"um", "as", "las", "uhr", "h", "dia", "hoy"}
	for _, t := range tokens {
		if len(t.word) > 3 || slices.Contains(sure, t.word) || t.literal != nil && (t.literal.clock || !t.literal.day.IsZero()) {
			return false
		}
	}
	return true
}

// both takes a phrase at either end: as one if they complete each other, as a question otherwise.
func both(sentence string, tokens []token, first, last *found, now time.Time) (Result, string, error) {
	together := slices.Concat(tokens[first.from:first.to], tokens[last.from:last.to])
	res, lang, err := parseTokens(together, now)
	switch {
	case err == nil:
		return res, cut(sentence, tokens, first.to, last.from, lang), nil
	case first.err != nil:
		return Result{}, "", first.err
	case tokens[first.to].sign == ',', !first.res.DateOnly && last.err == nil && last.res.DateOnly:
		// The comma sets the time off for certain, "tomorrow, prepare friday"; and a day alone is no rival of
		// a day with its time, "tomorrow at 9 prepare friday".
		return first.res, cut(sentence, tokens, first.to, len(tokens), first.lang), nil
	}
	return Result{}, "", clash("I found two times, %q and %q. Which one do you mean?", joined(tokens[first.from:first.to]), joined(tokens[last.from:last.to]))
}

// secondTime asks when another time follows the first: "tomorrow at 9 or at 10".
func secondTime(tokens []token, first *found, now time.Time) error {
	if first.to >= len(tokens) || !slices.Contains([]string{"or", "oder", "ou", "o"}, tokens[first.to].word) {
		return nil
	}
	for to := min(len(tokens), first.to+maxSplit); to > first.to+1; to-- {
		if next := try(tokens, first.to+1, to, now); next != nil {
			return clash("I found two times, %q and %q. Which one do you mean?", joined(tokens[first.from:first.to]), joined(tokens[next.from:next.to]))
		}
	}
	return nil
}

// cut gives the text of tokens[from:to], without the connecting words and signs at its ends.
func cut(sentence string, tokens []token, from, to int, lang *lexicon) string {
	words := connectors["English"]
	if lang.name != "English" {
		words = slices.Concat(connectors[lang.name], words)
	}
	from += request(tokens[from:to])
	for from < to && (tokens[from].sign != 0 || slices.Contains(words, tokens[from].word)) {
		from++
	}
	for to > from && (tokens[to-1].sign != 0 || slices.Contains([]string{"please", "and", "bitte", "for", "by"}, tokens[to-1].word)) {
		to--
	}
	if from == to {
		return ""
	}
	// Brackets and full stops are no tokens but belong to the text.
	end := len(sentence)
	if to < len(tokens) {
		end = tokens[to].start
	}
	return strings.TrimRight(strings.TrimSpace(sentence[tokens[from].start:end]), " ,;:-–—")
}
