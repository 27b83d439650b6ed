package markup

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf16"
)

// letters is a text whose entities count letters (runes), which a fault in counting units cannot touch.
type letters struct {
	runes    []rune
	entities []Entity
}

// standIn replaces a letter that has two units by one that has one and is otherwise of its kind: as wide, as good a
// neighbour of a star. A document made of these is styled at the same letters, and its units are its letters.
func standIn(r rune) rune {
	switch {
	case r < 0x10000:
		return r
	case r >= 0x1f1e6 && r <= 0x1f1ff: // half a flag
		return '☀'
	case r >= 0x1f3fb && r <= 0x1f3ff: // the colour of the letter before it
		return '\ufe0f'
	}
	return '⭐'
}

// inLetters renders a document and gives where its styles begin, in letters.
func inLetters(doc string) (letters, error) {
	simple := Render(strings.Map(standIn, doc))
	out := letters{[]rune(Render(doc).Plain), slices.Clone(simple.Entities)}
	shown, ours := strings.Map(standIn, simple.Plain), strings.Map(standIn, string(out.runes))
	if shown != ours {
		return out, fmt.Errorf("the document of stand-ins shows %q and not %q", shown, ours)
	}
	units := utf16.Encode([]rune(simple.Plain)) // as many as letters, but for the sign that rendering itself puts before a picture
	for i, e := range out.entities {
		out.entities[i].Offset = len(utf16.Decode(units[:e.Offset]))
		out.entities[i].Length = len(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
	}
	return out, nil
}

// part gives the letters that a piece shows: the first n of those left, after white space that no piece shows.
func (l letters) part(piece string) (shown, rest letters, err error) {
	want := []rune(piece)
	for at := range l.runes {
		if len(l.runes)-at >= len(want) && slices.Equal(l.runes[at:at+len(want)], want) {
			return l.slice(at, at+len(want)), l.slice(at+len(want), len(l.runes)), nil
		}
		if !blank(string(l.runes[at])) {
			break
		}
	}
	return l, l, fmt.Errorf("the piece %q is not what comes next in %q", piece, string(l.runes))
}

func (l letters) slice(from, to int) letters {
	out := letters{runes: l.runes[from:to]}
	for _, e := range l.entities {
		begin, end := max(e.Offset, from), min(e.Offset+e.Length, to)
		if begin < end {
			e.Offset, e.Length = begin-from, end-begin
			out.entities = append(out.entities, e)
		}
	}
	return out
}

// html writes the letters with Telegram's tags. The entities lie within each other, outer first.
func (l letters) html() string {
	var b strings.Builder
	var open []Entity
	next := 0
	for at := 0; at <= len(l.runes); at++ {
		for len(open) > 0 && open[len(open)-1].Offset+open[len(open)-1].Length <= at {
			b.WriteString(tags(open[len(open)-1])[1])
			open = open[:len(open)-1]
		}
		for ; next < len(l.entities) && l.entities[next].Offset == at; next++ {
			b.WriteString(tags(l.entities[next])[0])
			open = append(open, l.entities[next])
		}
		if at < len(l.runes) {
			b.WriteString(html.EscapeString(string(l.runes[at])))
		}
	}
	return b.String()
}

func tags(e Entity) [2]string {
	switch {
	case e.Type == Link:
		return [2]string{`<a href="` + html.EscapeString(e.URL) + `">`, "</a>"}
	case e.Type == Pre && e.Language != "":
		return [2]string{`<pre><code class="language-` + html.EscapeString(e.Language) + `">`, "</code></pre>"}
	}
	tag := map[string]string{Pre: "pre", Bold: "b", Italic: "i", Strike: "s", Code: "code", Quote: "blockquote"}[e.Type]
	return [2]string{"<" + tag + ">", "</" + tag + ">"}
}
