package when

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPhrase bounds what is read as one time phrase, in bytes.
const maxPhrase = 300

// token is a piece of the text before any language is applied.
type token struct {
	text       string // as typed
	word       string // folded: lower case, without accents; "" unless it is a word
	literal    *literal
	sign       byte // ',' or '-' or 0
	glued      bool // nothing between it and the token before
	start, end int  // in bytes
}

// literal is a number or a shape of digits that means the same in every language, or has a few possible meanings.
type literal struct {
	number  int  // -1 if it is no plain number
	digits  int  // how many digits the number was typed with
	ordinal bool // 31st, 1er, 3.
	tenths  int  // a decimal number as ten times its value; 0 without
	clock   bool // hour, minute, second are set
	hour    int
	minute  int
	second  int
	padded  bool      // the hour was typed as 09
	two     bool      // the hour was typed with two digits
	day     time.Time // a full date, midnight; zero without
	stamp   time.Time // a full instant; zero without
	local   bool      // stamp has no zone of its own
	first   int       // 3/2, 3/2/2027: the two parts and the year (0 without)
	then    int
	year    int
	dots    bool // 3.2.2027: day first for certain
}

const (
	reClock  = `(\d{1,2}):(\d{2})(?::(\d{2}))?`
	reOffset = `(?:[zZ]|[+-]\d{2}:?\d{2})`
)

var (
	isoStamp  = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(?:[tT]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?` + reOffset + `?| \d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)? ?` + reOffset + `)`)
	isoDate   = regexp.MustCompile(`^(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})`)
	splitDate = regexp.MustCompile(`^(\d{1,2})([-/.])(\d{1,2})([-/.])(\d{4}|\d{2})`)
	shortDate = regexp.MustCompile(`^(\d{1,2})([/.])(\d{1,2})`)
	clockTime = regexp.MustCompile(`^` + reClock)
	decimal   = regexp.MustCompile(`^(\d{1,3})[.,](\d)`)
	digits    = regexp.MustCompile(`^\d+`)
	meridiem  = regexp.MustCompile(`^(?i)([ap])\. ?m(?:\.|\b)`)
	zoneWord  = regexp.MustCompile(`^[A-Za-z]+(?:/[A-Za-z0-9_+-]+)+`)
)

// scan cuts text into tokens. Brackets, quotes and full stops mean nothing in a time phrase and are dropped.
func scan(text string) []token {
	var tokens []token
	end := 0
	add := func(t token, start, length int) {
		t.start, t.end = start, start+length
		t.text = text[start:t.end]
		t.glued = start == end && len(tokens) > 0
		end = t.end
		tokens = append(tokens, t)
	}
	for i := 0; i < len(text); {
		rest := text[i:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r >= '0' && r <= '9':
			lit, n := scanDigits(rest)
			add(token{literal: lit}, i, n)
			i += n
		case unicode.IsLetter(r):
			word, n := scanWord(rest)
			add(token{word: word}, i, n)
			i += n
		case r == ',' || r == ';' || r == ':':
			add(token{sign: ','}, i, 1)
			i++
		case r == '-' || r == '–' || r == '—':
			// A hyphen between letters only joins words.
			if i > 0 && i+size < len(text) && endsInLetter(text[:i]) && beginsWithLetter(text[i+size:]) {
				end = i + size
			} else {
				add(token{sign: '-'}, i, size)
			}
			i += size
		case r == '&' || r == '@' || r == '~':
			add(token{word: string(r)}, i, 1)
			i++
		case unicode.IsSpace(r) || strings.ContainsRune(`.!?()[]"“”„«»'’*_`, r):
			i += size
		default:
			add(token{word: rest[:size]}, i, size)
			i += size
		}
	}
	return tokens
}

func endsInLetter(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r)
}

func beginsWithLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// scanWord takes letters with the marks and apostrophes between them, a.m. and p.m., or a zone name.
func scanWord(rest string) (word string, n int) {
	if m := meridiem.FindString(rest); m != "" {
		return strings.ToLower(m[:1]) + "m", len(m)
	}
	if m := zoneWord.FindString(rest); m != "" {
		return m, len(m)
	}
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		apostrophe := (r == '\'' || r == '’') && beginsWithLetter(rest[n+size:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !apostrophe {
			break
		}
		n += size
	}
	return fold(rest[:n]), n
}

// fold makes words comparable: lower case, no accents, one kind of apostrophe.
func fold(word string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(word)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		case r == '’':
			b.WriteByte('\'')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// scanDigits takes the longest shape that begins with a digit.
func scanDigits(rest string) (lit *literal, n int) {
	lit = &literal{number: -1}
	ends := func(n int) bool { return n == len(rest) || rest[n] < '0' || rest[n] > '9' }
	if m := isoStamp.FindString(rest); m != "" && ends(len(m)) {
		if t, local, ok := readStamp(m); ok {
			lit.stamp, lit.local = t, local
			return lit, len(m)
		}
	}
	if m := isoDate.FindStringSubmatch(rest); m != nil && m[2] == m[4] && ends(len(m[0])) {
		lit.day = date(atoi(m[1]), time.Month(atoi(m[3])), atoi(m[5]))
		if lit.day.Day() == atoi(m[5]) && lit.day.Year() == atoi(m[1]) {
			return lit, len(m[0])
		}
		return &literal{number: -1}, len(m[0])
	}
	if m := splitDate.FindStringSubmatch(rest); m != nil && m[2] == m[4] && ends(len(m[0])) {
		lit.first, lit.then, lit.year, lit.dots = atoi(m[1]), atoi(m[3]), atoi(m[5]), m[2] == "."
		if len(m[5]) == 2 {
			lit.year += 2000
		}
		return lit, len(m[0])
	}
	if m := clockTime.FindStringSubmatch(rest); m != nil && ends(len(m[0])) {
		lit.setClock(m[1], m[2], m[3])
		return lit, len(m[0])
	}
	if m := shortDate.FindStringSubmatch(rest); m != nil && ends(len(m[0])) {
		n = len(m[0])
		first, then := atoi(m[1]), atoi(m[3])
		if m[2] == "/" {
			lit.first, lit.then = first, then
			return lit, n
		}
		if len(m[3]) == 2 {
			lit.setClock(m[1], m[3], "")
		}
		if len(m[3]) == 1 {
			lit.tenths = first*10 + then
		}
		if then >= 1 && then <= 12 && (strings.HasPrefix(rest[n:], ".") || len(m[3]) == 2) {
			lit.first, lit.then, lit.dots = first, then, true
			if strings.HasPrefix(rest[n:], ".") {
				n++
			}
		}
		return lit, n
	}
	if m := decimal.FindStringSubmatch(rest); m != nil && ends(len(m[0])) {
		lit.tenths = atoi(m[1])*10 + atoi(m[2])
		return lit, len(m[0])
	}
	m := digits.FindString(rest)
	n = len(m)
	if n > 4 {
		return lit, n
	}
	lit.number, lit.digits = atoi(m), n
	if size := suffixLen(rest[n:]); size > 0 && n <= 2 {
		lit.ordinal = true
		return lit, n + size
	}
	if n <= 2 && strings.HasPrefix(rest[n:], ".") {
		lit.ordinal = true
	}
	return lit, n
}

var ordinalSuffixes = []string{"st", "nd", "rd", "th", "er", "ère", "re", "ème", "eme", "e", "º", "ª", "°"}

// suffixLen returns the length of the ordinal suffix rest begins with, 0 if there is none or the word goes on.
func suffixLen(rest string) int {
	lower := strings.ToLower(rest[:min(len(rest), 8)])
	for _, s := range ordinalSuffixes {
		if strings.HasPrefix(lower, s) && !beginsWithLetter(rest[len(s):]) {
			return len(s)
		}
	}
	return 0
}

func (l *literal) setClock(hour, minute, second string) {
	l.hour, l.minute, l.second = atoi(hour), atoi(minute), atoi(second)
	l.clock = l.hour <= 24 && l.minute < 60 && l.second < 60 && (l.hour < 24 || l.minute+l.second == 0)
	l.padded = hour[0] == '0'
	l.two = len(hour) == 2
}

// atoi reads a few digits; "" is 0.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
