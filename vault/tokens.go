package vault

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// SQLite's tokenizers find no Chinese word inside a sentence, drop emoji and "++", know the letters of old Unicode versions
// only, and read search syntax into what people type. So the index holds tokens that are made here, and so does every
// query: letters and digits only, each CJK letter and each symbol that carries meaning a token of its own.

// pause stands in a list of words where something divides them, so that no phrase is seen across it.
const pause = ""

// words splits a text into what can be searched for: words in lower case without accents, single CJK letters, symbols, and
// pauses.
func words(s string) []string {
	var out []string
	var word []rune
	flush := func() {
		if w := strings.TrimLeft(string(word), "+#"); w != "" {
			out = append(out, w)
		}
		word = word[:0]
	}
	for _, r := range strings.ToLower(norm.NFKD.String(strings.ToValidUTF8(s, "\ufffd"))) {
		switch {
		case r < utf8.RuneSelf && !mark(r) && (r < '0' || r > '9' && r < 'a' || r > 'z'): // what most texts have most of need not be looked up
			flush()
			out = append(out, pause)
		case r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r) && !kanaMark(r):
			// an accent: café and cafe are one word
		case r >= utf8.RuneSelf && (cjk(r) || symbol(r)):
			flush()
			out = append(out, string(r))
		case r < utf8.RuneSelf && !mark(r), unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mc, r):
			if len(word) > 0 && mark(word[len(word)-1]) {
				flush()
			}
			word = append(word, r)
		case mark(r):
			word = append(word, r) // behind a word it makes another one of it: c++, c#
		default:
			flush()
			out = append(out, pause)
		}
	}
	flush()
	return out
}

func mark(r rune) bool { return r == '+' || r == '#' }

// symbol reports whether a sign means something by itself: emoji and the like.
func symbol(r rune) bool {
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) && r > 0xff
}

// kanaMark keeps the voicing marks, which make another letter and not an accent.
func kanaMark(r rune) bool { return r == 0x3099 || r == 0x309a }

// cjk reports whether a script is written without spaces between words.
func cjk(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || kanaMark(r) || r == 0x30fc
}

// tokens gives the search tokens of a text, in order. A word with a mark has two, so that "c" finds "c++" but not the
// other way round.
func tokens(s string) []string {
	var out []string
	for _, w := range words(s) {
		if w == pause {
			continue
		}
		if plain := strings.TrimRight(w, "+#"); plain != w {
			out = append(out, plain)
		}
		out = append(out, exact(w))
	}
	return out
}

// exact writes what is not all letters and digits as such. No word of a language begins like this.
func exact(w string) string {
	if strings.IndexFunc(w, func(r rune) bool { return mark(r) || symbol(r) }) < 0 {
		return w
	}
	return "0x" + hex.EncodeToString([]byte(w))
}

// Bounds of a query: what nobody would search for must not keep the vault busy.
const (
	maxTerms  = 32
	maxPhrase = 64
)

// queryTokens turns any text into terms of an FTS5 query. CJK letters that stand together must stand together in the fact;
// longer words also match as beginnings, so that "allergy" need not be remembered to find "allergies".
func queryTokens(q string) []string {
	var out []string
	var phrase []string
	end := func() {
		if len(phrase) > 0 {
			out = append(out, `"`+strings.Join(phrase[:min(len(phrase), maxPhrase)], " ")+`"`)
		}
		phrase = phrase[:0]
	}
	for _, w := range words(q) {
		r := []rune(w)
		if len(r) == 1 && cjk(r[0]) {
			phrase = append(phrase, w)
			continue
		}
		end()
		switch tok := exact(w); {
		case w == pause:
		case len(r) >= 4 && tok == w:
			out = append(out, `"`+stem(tok)+`"*`)
		case len(r) == 3 && len(w) == 3 && tok == w: // as a beginning it would find too much: cat is in category
			out = append(out, `("`+tok+`" OR "`+tok+`s")`)
		default:
			out = append(out, `"`+tok+`"`)
		}
	}
	end()
	return out[:min(len(out), maxTerms)]
}

// stem cuts the commonest English endings, for a search by beginnings.
func stem(w string) string {
	for _, end := range []string{"ies", "ing", "es", "ed", "s", "y"} {
		if cut, ok := strings.CutSuffix(w, end); ok && len([]rune(cut)) >= 3 {
			return cut
		}
	}
	return w
}
