package when

import (
	"slices"
	"strings"
	"sync"
)

// kind is what a word can be in a time phrase, whatever its language.
type kind uint8

const (
	kNum     kind = iota + 1 // n
	kTens                    // twenty, thirty …: a kNum that a smaller one may follow
	kTenths                  // n tenths: anderthalb
	kOrd                     // n-th
	kA                       // a, an, one
	kHalf                    // half
	kHalfTo                  // halb (acht): half an hour before
	kQuarter                 // quarter
	kUnit                    // unit n, m times
	kWeekday                 // weekday n, 0 is Sunday; m=1 for a plural, which recurs
	kWorkday                 // Monday to Friday; m=1 for a plural
	kWeekend                 // m=1 for a plural
	kMonth                   // month n
	kShift                   // n days from today
	kPart                    // part of the day n
	kTonight                 // today, part n
	kIn                      // in (2 hours)
	kFromNow                 // (2 hours) from now
	kAgo                     // (2 hours) ago
	kAt                      // at (9)
	kOn                      // on (Friday)
	kOf                      // of, which may also be "in the" before a part of the day
	kThe                     // the
	kAnd                     // and
	kEvery                   // every
	kOther                   // (every) other
	kNext                    // next, before or after its noun
	kThis                    // this
	kLast                    // last
	kPast                    // (quarter) past
	kTo                      // (quarter) to
	kMinus                   // (siete) menos (cuarto)
	kAM                      // am
	kPM                      // pm
	kOclock                  // o'clock, Uhr
	kEnd                     // end of
	kStart                   // beginning of
	kUntil                   // until
	kFrom                    // from, starting
	kFor                     // for
	kTimes                   // times
	kBetween                 // between
	kAfter                   // after
	kBefore                  // before
	kVague                   // around, -ish, some time: never precise enough
	kHoliday                 // a feast whose date is not known here
	kNow                     // now
	kAdverb                  // daily: every m times unit n
	kUnclear                 // biweekly: two readings
	kExcept                  // except
	kOnce                    // n times (a week)
	kPer                     // (once) per (week)
	kNoise                   // please
	kComma
	kDash
	kLiteral
	kZone // a zone name
)

// Units of kUnit and kAdverb.
const (
	uSecond = iota
	uMinute
	uHour
	uDay
	uWeek
	uMonth
	uYear
)

// Parts of the day of kPart and kTonight.
const (
	partNone = iota
	partMorning
	partNoon
	partLunch
	partAfternoon
	partEvening
	partNight
	partMidnight
)

type meaning struct {
	kind kind
	n, m int
}

// item is a word or a few that belong together, with what they can mean.
type item struct {
	text    string
	means   []meaning
	literal *literal
	glued   bool
}

// entry is a line of a lexicon: what it means and the words for it, separated by commas, in folded form.
type entry struct {
	kind kind
	n, m int
	list string
}

// lexicon holds the time words of one language.
type lexicon struct {
	name     string
	words    map[string][]meaning
	longest  int  // words in the longest entry
	dayFirst bool // 3/2 is the third of February
	military bool // hours without am and pm are those of the 24-hour clock
	// articleRecurs says that "le lundi", "il lunedì" without a date may mean every Monday.
	articleRecurs bool
	// nextIsComing says that "el próximo viernes" is the coming Friday, not the one of next week.
	nextIsComing bool
}

func newLexicon(l lexicon, entries ...[]entry) *lexicon {
	l.words = map[string][]meaning{}
	for _, e := range slices.Concat(entries...) {
		for phrase := range strings.SplitSeq(e.list, ",") {
			phrase = strings.TrimSpace(phrase)
			l.words[phrase] = append(l.words[phrase], meaning{e.kind, e.n, e.m})
			l.longest = max(l.longest, strings.Count(phrase, " ")+1)
		}
	}
	return &l
}

// lexicons holds the languages in the order they are tried.
var lexicons = sync.OnceValue(func() []*lexicon {
	return []*lexicon{english(), german(), spanish(), french(), portuguese(), italian()}
})

// counted lists number words from low upwards.
func counted(k kind, low int, words string) []entry {
	var entries []entry
	for i, w := range strings.Fields(words) {
		entries = append(entries, entry{k, low + i, 0, strings.ReplaceAll(w, "_", " ")})
	}
	return entries
}

// zoneWords are understood in every language, when they are the zone the person is in.
var zoneWords = []string{"utc", "gmt"}

// read turns tokens into items. unknown lists what the language has no word for.
func (l *lexicon) read(tokens []token) (items []item, unknown []string) {
	for i := 0; i < len(tokens); {
		t := tokens[i]
		switch {
		case t.literal != nil:
			items = append(items, item{text: t.text, literal: t.literal, glued: t.glued, means: literalMeanings(t.literal)})
			i++
		case t.sign == ',':
			items = append(items, item{text: t.text, means: []meaning{{kind: kComma}}})
			i++
		case t.sign == '-':
			items = append(items, item{text: t.text, means: []meaning{{kind: kDash}}})
			i++
		default:
			means, n := l.find(tokens[i:])
			if n == 0 {
				if strings.Contains(t.word, "/") || slices.Contains(zoneWords, t.word) {
					items = append(items, item{text: t.text, means: []meaning{{kind: kZone}}})
				} else {
					unknown = append(unknown, t.text)
				}
				i++
				continue
			}
			text := t.text
			for _, more := range tokens[i+1 : i+n] {
				text += " " + more.text
			}
			items = append(items, item{text: text, means: means, glued: t.glued})
			i += n
		}
	}
	return items, unknown
}

// find returns the meanings of the longest run of words at the beginning of tokens, and how many they are.
func (l *lexicon) find(tokens []token) (means []meaning, n int) {
	phrase := ""
	for i := 0; i < min(l.longest, len(tokens)) && tokens[i].word != ""; i++ {
		if i > 0 {
			phrase += " "
		}
		phrase += tokens[i].word
		if m, ok := l.words[phrase]; ok {
			means, n = m, i+1
		}
	}
	return means, n
}

func literalMeanings(l *literal) []meaning {
	means := []meaning{{kind: kLiteral}}
	if l.number >= 0 {
		means = append(means, meaning{kind: kNum, n: l.number})
		if l.ordinal {
			means = append(means, meaning{kind: kOrd, n: l.number})
		}
	}
	if l.tenths > 0 {
		means = append(means, meaning{kind: kTenths, n: l.tenths})
	}
	return means
}
