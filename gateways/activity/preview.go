package activity

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"hearth/vault"
)

// previewMost bounds, in characters, how much of an answer that is being written a line shows: its end. The messenger's own
// limit is far above, also with what marks cost there.
const previewMost = 1500

// preview is what a run's answer says so far, without whatever may become a secret; "" = nothing is to be shown. It is shown
// below the line's own words, is stored nowhere, and goes away with the next words of the line.
func (l *liner) preview(line vault.Line) string {
	if line.Run == 0 || line.Of.State != vault.Running || line.Of.Waits != "" || line.Chat != vault.Private || line.Tool != "" {
		return ""
	}
	text := l.vault.PreviewOf(line.Run)
	if text == "" {
		return ""
	}
	return tail(strings.TrimSpace(l.part(text)), previewMost)
}

// tail gives the end of a text from a word on.
func tail(text string, most int) string {
	for cut := utf8.RuneCountInString(text) - most; cut > 0; cut-- {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		if cut == 1 {
			if at := strings.IndexFunc(text, unicode.IsSpace); at >= 0 {
				text = text[at:]
			}
			text = "… " + strings.TrimLeftFunc(text, unicode.IsSpace)
		}
	}
	return text
}

// unfinished is what is shown of a text whose end is still to come, where nobody knows what is secret: whole words.
func unfinished(mask func(string) string) func(string) string {
	return func(text string) string {
		return mask(text[:max(0, strings.LastIndexFunc(text, unicode.IsSpace))])
	}
}
