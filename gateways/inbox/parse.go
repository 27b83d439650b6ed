package inbox

import (
	"strconv"
	"strings"
	"unicode"
)

// parsed is a command as it was typed.
type parsed struct {
	name string // in lower case, without the slash
	bot  string // the name behind the @, "" = none
	arg  string // the rest, without white space at its ends
}

// maxCommand is the longest name that is taken for a command's.
const maxCommand = 32

// parse reads a command: a slash and a name at the beginning of a text, perhaps @ and a bot's name, and whatever follows.
// Paths ("/etc/hosts is full") and lone slashes are none.
func parse(text string) (parsed, bool) {
	text = strings.TrimLeftFunc(text, invisible)
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "／"); !ok { // as East Asian keyboards write it
			return parsed{}, false
		}
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !nameLetter(r) })
	if end < 0 {
		end = len(rest)
	}
	var p parsed
	p.name, rest = strings.ToLower(rest[:end]), rest[end:]
	if p.name == "" || len(p.name) > maxCommand || p.name[0] < 'a' || p.name[0] > 'z' {
		return parsed{}, false
	}
	if after, ok := strings.CutPrefix(rest, "@"); ok {
		end := strings.IndexFunc(after, func(r rune) bool { return !nameLetter(r) })
		if end < 0 {
			end = len(after)
		}
		p.bot, rest = strings.ToLower(after[:end]), after[end:]
	}
	if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "@") || strings.HasPrefix(rest, "-") {
		return parsed{}, false
	}
	if r := []rune(rest); len(r) > 0 && (unicode.IsLetter(r[0]) || unicode.IsDigit(r[0])) {
		return parsed{}, false // a word that goes on in letters no command has
	}
	if r := []rune(rest); len(r) > 1 && r[0] == '.' && !unicode.IsSpace(r[1]) {
		return parsed{}, false // a file's name
	}
	p.arg = strings.TrimFunc(strings.TrimLeft(rest, ".!,:;"), invisible)
	return p, true
}

func nameLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// invisible is white space, and what some keyboards put before a text.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || r == 0xfeff || r >= 0x200b && r <= 0x200f || r >= 0x2066 && r <= 0x2069
}

// number reads the number that a command begins with ("7", "#7", "reminder 7", "no. 7") and gives what follows it.
func number(arg string) (n int64, rest string, ok bool) {
	fields := strings.Fields(arg)
	for i, f := range fields {
		if i > 1 {
			break
		}
		digits := strings.TrimRight(strings.TrimLeft(f, "#№"), ",.:")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
			return n, strings.TrimSpace(strings.Join(fields[i+1:], " ")), true
		}
		if !label(f) {
			break
		}
	}
	return 0, "", false
}

// label reports whether a word may stand before a number.
func label(word string) bool {
	switch strings.ToLower(strings.TrimRight(word, ".:")) {
	case "reminder", "follow-up", "memory", "question", "rule", "job", "no", "nr", "number", "#":
		return true
	}
	return false
}
