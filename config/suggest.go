package config

import (
	"fmt"
	"slices"
	"strings"
)

// distance counts the letters to add, drop, change or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// likely is the number of slips of the finger that a word may hold and still be recognised.
func likely(word string) int { return min(3, max(1, len([]rune(word))/3)) }

// nearest finds the word that was probably meant, if one is near enough; case, - and _ make no difference.
func nearest(word string, among []string) (string, bool) {
	best, bestAt := "", likely(word)+1
	for _, candidate := range among {
		if at := distance(plain(word), plain(candidate)); at < bestAt {
			best, bestAt = candidate, at
		}
	}
	// One letter off is not likely when it is the only letter the two could share.
	return best, best != "" && bestAt < len([]rune(best))
}

// maxWord keeps the comparison of absurdly long words cheap; no key is nearly as long.
const maxWord = 64

func plain(word string) string {
	word = strings.ToLower(strings.ReplaceAll(word, "-", "_"))
	if len(word) > maxWord {
		word = word[:maxWord]
	}
	return word
}

// unknownKey says what is wrong with a key that a section does not have: at is the pair, in the section that holds it.
func unknownKey(f *field, at pair, in *node) (text, suggest string) {
	for _, c := range f.fields {
		if plain(at.name) == c.name || slices.Contains(c.also, plain(at.name)) {
			return "unknown key", c.name
		}
	}
	if parent, line := unindented(f, at, in); parent != "" {
		return belongsTo(parent, line), ""
	}
	if near, ok := nearest(at.name, f.names()); ok {
		return "unknown key", near
	}
	for up := f.parent; up != nil; up = up.parent {
		if up.child(at.name) != nil {
			if up.parent == nil {
				return "is indented too far: it belongs at the left edge, not in " + f.name, ""
			}
			return fmt.Sprintf("is indented too far: it belongs to %s, not to %s", up.name, f.name), ""
		}
	}
	if found := anywhere(at.name); found != "" {
		return "unknown key here", found
	}
	for _, c := range f.fields {
		if near, ok := nearest(at.name, c.names()); ok && c.shape == section {
			return "unknown key", display(c.path) + "." + near
		}
	}
	return "unknown key; here belong " + strings.Join(f.names(), ", "), ""
}

func belongsTo(section string, line int) string {
	return fmt.Sprintf(`belongs to %s: indent it below "%s:" on line %d`, section, section, line)
}

// unindented finds the section above that a key was meant to be in: the nearest one that was left empty, or for lack of
// one the nearest that has such a key.
func unindented(f *field, at pair, in *node) (name string, line int) {
	found := nothing
	for _, p := range in.pairs {
		if p.line >= at.line {
			break
		}
		c := f.child(p.name)
		if c == nil {
			continue
		}
		empty := p.value.kind == nothing
		switch {
		case c.shape == section && c.child(at.name) != nil:
		case c.shape == entries && empty && at.value.kind == mapping:
		case c.shape == table && empty && at.value.kind == scalar:
		default:
			continue
		}
		if empty || name == "" || found != nothing {
			name, line, found = p.name, p.line, p.value.kind
		}
	}
	return name, line
}

// anywhere lists the places that have a key of this name.
func anywhere(name string) string {
	var found []string
	schema.walk(func(f *field) {
		if f.name == name && len(found) < 3 {
			found = append(found, display(f.path))
		}
	})
	return strings.Join(found, " or ")
}

// display writes a path of the table the way a person thinks of it.
func display(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "[]", ""), ".*", ".NAME")
}
