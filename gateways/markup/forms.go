package markup

import (
	"sort"
	"strings"
	"unicode"
)

// WhatsApp writes a text with WhatsApp's own marks. Source: https://faq.whatsapp.com/539178204879377. A mark counts only on
// the line it begins on and right at a letter, so a style of several lines is marked on each.
func (t Text) WhatsApp() string {
	marks := map[string]string{Bold: "*", Italic: "_", Strike: "~", Code: "`", Pre: "```"}
	lines := Text{Plain: t.Plain}
	for _, e := range t.Entities {
		switch e.Type {
		case Bold, Italic, Strike, Code:
			lines.Entities = append(lines.Entities, t.eachLine(e)...)
		default:
			lines.Entities = append(lines.Entities, e)
		}
	}
	return lines.marked(marks, "> ")
}

// eachLine divides an entity into one for each line, without the white space around it.
func (t Text) eachLine(e Entity) []Entity {
	var out []Entity
	at := e.Offset
	for line := range strings.SplitAfterSeq(t.words(e), "\n") {
		left := strings.TrimLeft(line, " \t\n")
		piece := e
		piece.Offset = at + Units(line) - Units(left)
		if piece.Length = Units(strings.TrimRight(left, " \t\n")); piece.Length > 0 {
			out = append(out, piece)
		}
		at += Units(line)
	}
	return out
}

// Terminal writes a text for a terminal that shows styles, or, with styles off, for one that shows letters only. Nothing in
// the text itself can give orders to the terminal or turn the direction of reading.
func (t Text) Terminal(styles bool) string {
	if !styles {
		return t.marked(nil, "| ")
	}
	return t.wrapped(func(e Entity) (string, string) {
		switch e.Type {
		case Bold:
			return "\x1b[1m", "\x1b[22m"
		case Italic:
			return "\x1b[3m", "\x1b[23m"
		case Strike:
			return "\x1b[9m", "\x1b[29m"
		case Code, Pre: // a colour: dim ends together with bold
			return "\x1b[36m", "\x1b[39m"
		case Link:
			return "", t.address(e)
		}
		return "", ""
	}, "| ")
}

// marked puts the same mark before and behind a style, and a link's address behind its words.
func (t Text) marked(marks map[string]string, quote string) string {
	return t.wrapped(func(e Entity) (string, string) {
		if e.Type == Link {
			return "", t.address(e)
		}
		return marks[e.Type], marks[e.Type]
	}, quote)
}

// address is what stands behind a link's words; nothing when the words are the address.
func (t Text) address(e Entity) string {
	if words := t.words(e); words == e.URL || "mailto:"+words == e.URL {
		return ""
	}
	return " (" + strings.Map(harmless, e.URL) + ")"
}

// words is the text that an entity covers.
func (t Text) words(e Entity) string {
	s := t.Plain[byteAt(t.Plain, e.Offset):]
	return s[:byteAt(s, e.Length)]
}

// harmless takes out what drives a terminal, also as a single byte of the C1 set, or turns the direction of reading.
func harmless(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return -1
	}
	return r
}

// byteAt gives how many bytes of a text lie within a number of units.
func byteAt(s string, units int) int {
	for i, r := range s {
		if units -= unitsOf(r); units < 0 {
			return i
		}
	}
	return len(s)
}

// wrapped writes the text with something before and behind each entity, and a mark at the beginning of quoted lines.
func (t Text) wrapped(around func(Entity) (before, behind string), quote string) string {
	type event struct {
		at, order int
		closes    bool
		words     string
	}
	var events []event
	for i, e := range t.Entities {
		before, behind := around(e)
		events = append(events, event{e.Offset, i, false, before}, event{e.Offset + e.Length, -i, true, behind})
	}
	sort.SliceStable(events, func(i, j int) bool {
		a, b := events[i], events[j]
		if a.at != b.at {
			return a.at < b.at
		}
		if a.closes != b.closes {
			return a.closes
		}
		return a.order < b.order
	})
	var b strings.Builder
	next, units, lineStart := 0, 0, true
	for _, r := range t.Plain {
		for next < len(events) && events[next].at <= units && events[next].closes {
			b.WriteString(events[next].words)
			next++
		}
		if lineStart && t.within(Quote, units) {
			b.WriteString(quote)
		}
		lineStart = r == '\n'
		for next < len(events) && events[next].at <= units {
			b.WriteString(events[next].words)
			next++
		}
		if harmless(r) >= 0 {
			b.WriteRune(r)
		}
		units += unitsOf(r)
	}
	for ; next < len(events); next++ {
		b.WriteString(events[next].words)
	}
	return b.String()
}
