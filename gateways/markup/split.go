package markup

import (
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Split cuts a text into pieces of at most limit UTF-16 units and maxEntities entities, at the end of a paragraph, a line
// or a word if there is one in the second half of a piece, and never inside what is shown as one character. An entity that
// is cut goes on in the next piece. What shows nothing makes no piece. limit must be at least 2.
func (t Text) Split(limit, maxEntities int) []Text {
	var out []Text
	for rest := t.trim(); rest.Plain != ""; {
		room := fewer(rest.Entities, limit, maxEntities)
		piece := rest
		if head := byteAt(rest.Plain, room); head == len(rest.Plain) {
			rest = Text{}
		} else {
			piece, rest = rest.cut(breakAt(rest.Plain, room))
			piece, rest = piece.trim(), rest.trimLeft()
		}
		if !blank(piece.Plain) {
			out = append(out, piece)
		}
	}
	return out
}

// fewer shrinks a limit until few enough entities begin before it.
func fewer(entities []Entity, limit, most int) int {
	if most <= 0 {
		return limit
	}
	begun := 0
	for _, e := range entities { // in order of their offsets
		if e.Offset >= limit {
			break
		}
		if begun++; begun > most && e.Offset > 0 {
			return e.Offset
		}
	}
	return limit
}

// breakAt gives the byte at which a text that is longer than limit units is best cut. It is never 0.
func breakAt(s string, limit int) int {
	var paragraph, line, word, character, half int
	units, bytes, newline, indent := 0, 0, false, true
	// Whether a character ends at the limit is seen by the letter behind it; looking further would make long towers slow.
	head := byteAt(s, limit)
	_, behind := utf8.DecodeRuneInString(s[head:])
	for g := uniseg.NewGraphemes(s[:head+behind]); g.Next(); {
		cluster := g.Str()
		n := Units(cluster)
		if units+n > limit {
			break
		}
		units += n
		bytes += len(cluster)
		character = bytes
		if units <= limit/2 {
			half = bytes
		}
		switch cluster {
		case "\n":
			if newline {
				paragraph = bytes
			}
			line, newline, indent = bytes, true, true
		case " ", "\t":
			if newline = false; !indent { // the rest of a line of code would lose its indentation
				word = bytes
			}
		default:
			newline, indent = false, false
		}
	}
	for _, at := range []int{paragraph, line, word} {
		if at > half {
			return at
		}
	}
	if character > 0 {
		return character
	}
	return runeCut(s, limit)
}

// runeCut cuts one character that is itself longer than the limit, such as a letter under a tower of accents.
func runeCut(s string, limit int) int {
	units := 0
	for i, r := range s {
		if units+unitsOf(r) > limit && i > 0 {
			return i
		}
		units += unitsOf(r)
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// cut divides a text at a byte.
func (t Text) cut(at int) (first, rest Text) {
	first.Plain, rest.Plain = t.Plain[:at], t.Plain[at:]
	border := Units(first.Plain)
	for _, e := range t.Entities {
		end := e.Offset + e.Length
		if e.Offset < border {
			piece := e
			piece.Length = min(end, border) - e.Offset
			first.Entities = append(first.Entities, piece)
		}
		if end > border {
			piece := e
			piece.Offset = max(e.Offset, border) - border
			piece.Length = end - border - piece.Offset
			rest.Entities = append(rest.Entities, piece)
		}
	}
	return first, rest
}
