package terminal

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// sequences are what a terminal takes for orders: control sequences, strings for the terminal itself (window titles, the
// clipboard) and two-letter escapes. ECMA-48.
var sequences = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]` +
	`|\x1b[\]PX^_][^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})` +
	`|\x1b[ -/]*[0-~]`)

// Clean takes out of a text whatever could drive a terminal or reorder what stands on it, and leaves the words.
func Clean(text string) string {
	text = sequences.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ").Replace(text)
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsControl(r): // the escape character of a broken sequence, and the C1 set
			return -1
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // text that reads other than it is written
			return -1
		}
		return r
	}, text)
}

// Format makes a text fit for printing: cleaned, and wrapped so that no line takes more than width columns. A single
// letter wider than that stays. width 0 or less does not wrap.
func Format(text string, width int) string {
	var out []string
	for line := range strings.SplitSeq(Clean(text), "\n") {
		out = append(out, wrap(line, width)...)
	}
	return strings.Join(out, "\n")
}

// wrap breaks one line where its script allows it, and long words between letters.
func wrap(line string, width int) []string {
	if width <= 0 || uniseg.StringWidth(line) <= width {
		return []string{strings.TrimRight(line, " ")}
	}
	var out []string
	var now strings.Builder
	used := 0
	flush := func() {
		out = append(out, strings.TrimRight(now.String(), " "))
		now.Reset()
		used = 0
	}
	for state := -1; line != ""; {
		var piece string
		piece, line, _, state = uniseg.FirstLineSegmentInString(line, state)
		need := uniseg.StringWidth(strings.TrimRight(piece, " "))
		if used > 0 && used+need > width {
			flush()
		}
		if need <= width {
			now.WriteString(piece)
			used += uniseg.StringWidth(piece)
			continue
		}
		for letters := -1; piece != ""; {
			var letter string
			var wide int
			letter, piece, wide, letters = uniseg.FirstGraphemeClusterInString(piece, letters)
			if used > 0 && used+wide > width {
				flush()
			}
			now.WriteString(letter)
			used += wide
		}
	}
	flush()
	return out
}
