// Package markup turns the Markdown that models write into the forms messengers take. It is pure. The form in the middle is
// plain text with entities, as Telegram has them: no escaping is left that could go wrong, a text can be cut anywhere
// between two characters, and the other forms (WhatsApp's marks, a terminal's) are made from it.
package markup

import (
	"encoding/json"
	"sort"
	"strings"
)

// The entity types used here. Source: https://core.telegram.org/bots/api#messageentity.
const (
	Bold   = "bold"
	Italic = "italic"
	Strike = "strikethrough"
	Code   = "code"
	Pre    = "pre"
	Quote  = "blockquote"
	Link   = "text_link"
)

// Entity is a styled piece of a text. Offset and Length count UTF-16 code units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
}

// Text is plain text with its styles. It has no white space at its ends, except before the first line of code; the entities
// are in order, outer before inner.
type Text struct {
	Plain    string
	Entities []Entity
}

// Units is the length of a text as messengers count it, in UTF-16 code units.
func Units(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// Encode writes the entities for storing beside the plain text; "[]" when there are none, never "".
func (t Text) Encode() string {
	if len(t.Entities) == 0 {
		return "[]"
	}
	b, err := json.Marshal(t.Entities)
	if err != nil {
		return "[]" // strings and numbers always marshal
	}
	return string(b)
}

// Decode reads what Encode wrote.
func Decode(plain, entities string) (Text, error) {
	t := Text{Plain: plain}
	return t, json.Unmarshal([]byte(entities), &t.Entities)
}

// Prepend puts plain words before a text.
func (t Text) Prepend(words string) Text {
	shift := Units(words)
	out := Text{Plain: words + t.Plain, Entities: make([]Entity, len(t.Entities))}
	for i, e := range t.Entities {
		e.Offset += shift
		out.Entities[i] = e
	}
	return out
}

// Append puts plain words behind a text.
func (t Text) Append(words string) Text {
	return Text{Plain: t.Plain + words, Entities: t.Entities}
}

// Escape writes plain words as Markdown that shows them, without styles.
func Escape(plain string) string {
	var b strings.Builder
	begins := true
	for _, r := range plain {
		switch {
		case begins && (r == ' ' || r == '\t'):
			b.WriteString("&nbsp;") // blanks would begin a block of code
			continue
		case r < 0x80 && strings.ContainsRune(escapable, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		begins = r == '\n'
	}
	if hostile(b.String()) {
		return plain // which is shown as it stands
	}
	return b.String()
}

// trim removes white space at the ends and moves the entities along. The first line of code keeps its indentation.
func (t Text) trim() Text {
	t = t.trimLeft()
	out := Text{Plain: strings.TrimRight(t.Plain, " \t\n")}
	total := Units(out.Plain)
	for _, e := range t.Entities {
		if e.Length = min(e.Offset+e.Length, total) - e.Offset; e.Length > 0 {
			out.Entities = append(out.Entities, e)
		}
	}
	sort.SliceStable(out.Entities, func(i, j int) bool {
		a, b := out.Entities[i], out.Entities[j]
		if a.Offset != b.Offset {
			return a.Offset < b.Offset
		}
		return a.Length > b.Length
	})
	return out
}

func (t Text) trimLeft() Text {
	left := strings.TrimLeft(t.Plain, " \t\n")
	cut := len(t.Plain) - len(left) // bytes, and units: it is white space
	if line := strings.LastIndexByte(t.Plain[:cut], '\n') + 1; left != "" && line < cut && t.within(Pre, line) {
		cut = line
	}
	out := Text{Plain: t.Plain[cut:]}
	for _, e := range t.Entities {
		begin, end := max(e.Offset-cut, 0), e.Offset-cut+e.Length
		if end > begin {
			e.Offset, e.Length = begin, end-begin
			out.Entities = append(out.Entities, e)
		}
	}
	return out
}

// within reports whether an entity of a type covers a place.
func (t Text) within(style string, at int) bool {
	for _, e := range t.Entities {
		if e.Type == style && at >= e.Offset && at < e.Offset+e.Length {
			return true
		}
	}
	return false
}
