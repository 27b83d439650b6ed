package offline

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// hollow words carry no meaning in a search.
var hollow = wordSet(`a an the my your our his her its their me i you we us he she it they them this that these those is are was were be been am do does did have has had can could will would shall should
	to of in on at by for with about from as and or but not no if whether so there here who whom whose what when where which why how know knows known remember tell told please again any anything something
	everything all some mine ours s reminder
	der die das den dem ein eine einen mein meine meinen dein über von ist sind und el la los las un una mi mis tu tus de del es son que sobre le les l mon ma mes du est sur et o os as um uma meu minha meus
	minhas do da il lo gli i mio mia miei mie di su`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// contentWords gives the words of a text that carry meaning, in lower case.
func contentWords(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !unicode.Is(unicode.So, r) && !strings.ContainsRune("+#@.-'&", r)
	}) {
		w = strings.Trim(w, ".-'")
		w = strings.TrimSuffix(w, "'s")
		if w != "" && !hollow[w] {
			out = append(out, w)
		}
	}
	return out
}

// holdsAll reports whether each word begins a word of a text, accents and case aside.
func holdsAll(text string, words []string) bool {
	have := contentWords(text)
	for _, w := range words {
		found := false
		for _, h := range have {
			found = found || strings.HasPrefix(plain(h), plain(w))
		}
		if !found {
			return false
		}
	}
	return true
}

// plain is a word without its accents.
func plain(w string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(w))
}

// number reads digits that a pattern has found; there are at most nine.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64) // nothing but digits comes here
	return n
}
