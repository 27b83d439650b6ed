package when

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Parse reads a time phrase. now is the moment the words were said, in the zone they are meant in. It never answers
// with an instant that is not after now. Its errors are *AskError and *PastError.
func Parse(words string, now time.Time) (Result, error) {
	text := strings.TrimSpace(words)
	switch {
	case text == "":
		return Result{}, ask(`When? Say for example "tomorrow at 9" or "in 2 hours".`)
	case len(text) > maxPhrase:
		return Result{}, ask(`That is too long for a time. Say it in a few words, for example "tomorrow at 9".`)
	}
	if res, ok, err := parseLine(text, now); ok {
		return res, err
	}
	tokens := scan(text)
	if len(tokens) == 0 {
		return Result{}, ask(`When? Say for example "tomorrow at 9" or "in 2 hours".`)
	}
	res, _, err := parseTokens(tokens, now)
	return res, err
}

// stuckError says that a language has words for everything but can make no sense of them from some place on.
type stuckError struct{ rest string }

func (e *stuckError) Error() string { return "no reading from " + e.rest }

// parseTokens tries one language after the other; the first that reads everything wins.
func parseTokens(tokens []token, now time.Time) (Result, *lexicon, error) {
	var unread []string
	var question error
	for i, lang := range lexicons() {
		items, unknown := lang.read(tokens)
		if len(unknown) > 0 {
			if i == 0 || len(unknown) < len(unread) {
				unread = unknown
			}
			continue
		}
		p := parser{lang: lang, items: items, now: now, wall: wallOf(now, now.Location())}
		res, err := p.phrase()
		if err == nil {
			return res, lang, nil
		}
		var stuck *stuckError
		if !errors.As(err, &stuck) {
			if i == 0 {
				return Result{}, lang, err
			}
			if question == nil || isWeak(question) {
				question = err
			}
			continue
		}
		if question == nil {
			question = weak(`I understand the words, but not %q as a time. Say it another way, for example "tomorrow at 9".`, stuck.rest)
		}
	}
	if question != nil {
		return Result{}, nil, question
	}
	if len(unread) == len(tokens) {
		return Result{}, nil, weak(`I found no time in %q. Say for example "tomorrow at 9" or "every weekday at 8".`, joined(tokens))
	}
	return Result{}, nil, weak(`I don't understand %s in the time %q. Say it another way, for example "tomorrow at 9".`, quoted(unread), joined(tokens))
}

func isWeak(err error) bool {
	var question *AskError
	return errors.As(err, &question) && question.weak
}

func isClash(err error) bool {
	var question *AskError
	return errors.As(err, &question) && question.clash
}

// joined writes tokens as they were typed, more or less.
func joined(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && !t.glued {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}

// quoted lists at most three words in quotes.
func quoted(words []string) string {
	if len(words) > 3 {
		words = words[:3]
	}
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = fmt.Sprintf("%q", w)
	}
	return list(texts, "and")
}

// parser reads the items of one phrase in one language.
type parser struct {
	lang  *lexicon
	items []item
	i     int
	now   time.Time
	wall  time.Time // now on the wall
	notes []string
}

// note records a choice, to be told once.
func (p *parser) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *parser) done() bool { return p.i >= len(p.items) }

// peek returns the meaning of kind k of the item ahead places on.
func (p *parser) peek(ahead int, k kind) (meaning, bool) {
	if p.i+ahead < len(p.items) && p.i+ahead >= 0 {
		for _, m := range p.items[p.i+ahead].means {
			if m.kind == k {
				return m, true
			}
		}
	}
	return meaning{}, false
}

// sees says whether the item ahead places on can be one of the kinds.
func (p *parser) sees(ahead int, kinds ...kind) bool {
	for _, k := range kinds {
		if _, ok := p.peek(ahead, k); ok {
			return true
		}
	}
	return false
}

// take consumes the next item if it can be k.
func (p *parser) take(k kind) (meaning, bool) {
	m, ok := p.peek(0, k)
	if ok {
		p.i++
	}
	return m, ok
}

// one consumes the next item if it can be k.
func (p *parser) one(k kind) bool {
	_, ok := p.take(k)
	return ok
}

// skip consumes the next items as long as they can be one of the kinds, and says whether there were any.
func (p *parser) skip(kinds ...kind) bool {
	begin := p.i
	for p.sees(0, kinds...) {
		p.i++
	}
	return p.i > begin
}

// literal returns the shape of digits ahead places on, an empty one if there is none.
func (p *parser) literal(ahead int) literal {
	if i := p.i + ahead; i >= 0 && i < len(p.items) {
		if l := p.items[i].literal; l != nil {
			return *l
		}
	}
	return literal{number: -1}
}

// glued says whether nothing stands between the item ahead places on and the one before it.
func (p *parser) glued(ahead int) bool {
	return p.i+ahead < len(p.items) && p.items[p.i+ahead].glued
}

// rest writes the items from i on.
func (p *parser) rest(i int) string {
	var words []string
	for _, it := range p.items[min(i, len(p.items)):] {
		words = append(words, it.text)
	}
	return strings.Join(words, " ")
}

// from writes the items from i up to the place reached.
func (p *parser) from(i int) string {
	var words []string
	for _, it := range p.items[i:p.i] {
		words = append(words, it.text)
	}
	return strings.Join(words, " ")
}

// phrase reads everything there is.
func (p *parser) phrase() (Result, error) {
	var ph parts
	for !p.done() {
		if p.skip(kComma, kNoise, kAnd) {
			continue
		}
		begin := p.i
		ok, err := p.part(&ph)
		if err != nil {
			return Result{}, err
		}
		if !ok {
			return Result{}, p.stuck(begin)
		}
	}
	res, err := p.result(&ph)
	if err != nil {
		return Result{}, err
	}
	res.Note = strings.Join(slices.Compact(p.notes), " ")
	return res, nil
}

// stuck explains why nothing reads from place i on.
func (p *parser) stuck(i int) error {
	p.i = i
	for p.sees(0, kIn, kAt, kOn, kThe, kA, kOf) && p.i+1 < len(p.items) && !p.sees(0, kVague, kHoliday, kBefore, kNow) {
		p.i++ // "in a few minutes"
	}
	about := weak
	if p.sees(1, kNum, kTens, kLiteral, kPart, kA, kWeekday, kShift, kUnit, kHalf, kQuarter, kAt, kThe) {
		about = ask
	}
	switch {
	case p.sees(0, kHoliday):
		return about("I don't know when %s is this time. Which date and time do you mean?", p.items[p.i].text)
	case p.sees(0, kVague):
		return about("%q is not a time I can keep. At what time exactly?", p.rest(i))
	case p.sees(0, kBefore):
		return about("%q names only a limit. When exactly shall it be?", p.rest(i))
	case p.sees(0, kNow):
		return weak(`"Now" is over as I read it. In how many minutes, or at what time?`)
	case p.sees(0, kUnclear):
		return ask("%q has two meanings. Do you mean twice in that time, or every second one?", p.items[p.i].text)
	case p.sees(0, kZone):
		return ask("I read times in the zone %s only. What time is that there?", zoneName(p.now))
	case p.sees(0, kAgo):
		return ask("%q lies in the past. When shall it be?", p.rest(0))
	}
	return &stuckError{rest: p.rest(i)}
}

// part reads one part of the phrase into ph.
func (p *parser) part(ph *parts) (bool, error) {
	begin, notes := p.i, len(p.notes)
	for _, read := range []func(*parts) (bool, error){
		p.weekdayRange, p.recurrence, p.bounds, p.zone, p.offset, p.day, p.partOfDay, p.clockTimes,
	} {
		ok, err := read(ph)
		if ok || err != nil {
			return ok, err
		}
		p.i, p.notes = begin, p.notes[:notes]
	}
	return false, nil
}

// zone takes the name of the zone that is meant anyway.
func (p *parser) zone(*parts) (bool, error) {
	if !p.sees(0, kZone) {
		return false, nil
	}
	name := p.items[p.i].text
	_, offset := p.now.Zone()
	if name == p.now.Location().String() || offset == 0 && !strings.Contains(name, "/") && p.now.Location() == time.UTC {
		p.i++
		return true, nil
	}
	return false, p.stuck(p.i)
}
