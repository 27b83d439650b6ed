package brain

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"hearth/vault"
)

// fitPast lays out the history before a run, newest last, within room characters. Where it begins stays the same for many
// runs: when it no longer fits, two fifths go at once. gone is how many entries did.
func fitPast(history []vault.Entry, room int, perResult clip) (msgs []Msg, gone int) {
	rendered := make([][]Msg, len(history))
	total := 0
	for i, e := range history {
		rendered[i] = renderEntry(e, perResult)
		total += size(rendered[i])
	}
	if total > room || len(history) > historyEntries {
		for gone < len(history) && (total > room*3/5 || len(history)-gone > historyEntries*3/5) {
			total -= size(rendered[gone])
			gone++
		}
	}
	return slices.Concat(rendered[gone:]...), gone
}

func renderEntry(e vault.Entry, perResult clip) []Msg {
	if e.Run != nil {
		return renderRun(*e.Run, e.Run.Run.Context, perResult)
	}
	return []Msg{{Role: e.Message.Role, Text: renderMessage(*e.Message)}}
}

func size(msgs []Msg) int {
	n := 0
	for _, m := range msgs {
		n += weigh(m.Text) + 16
		for _, c := range m.Calls {
			n += len(c.Name) + weigh(c.Args) + 24
		}
	}
	return n
}

// fit shortens the run itself when it does not fit: the oldest results first, then the longest texts, then the arguments
// of calls.
func fit(msgs []Msg, room int) []Msg {
	cut := func(keep int, f func(m *Msg)) {
		for i := range msgs {
			if size(msgs) > room {
				f(&msgs[i])
			}
		}
	}
	for _, keep := range []int{400, leastText} {
		cut(keep, func(m *Msg) {
			if m.Role == "tool" {
				m.Text = clipResult(m.Text, keep, m.rest)
			}
		})
	}
	for keep := max(room/2, 400); keep >= leastText; keep /= 2 {
		cut(keep, func(m *Msg) {
			m.Text = clipResult(m.Text, keep, m.rest)
			for k := range m.Calls {
				m.Calls[k].Args = clipArgs(m.Calls[k].Args, keep)
			}
		})
	}
	return msgs
}

// leastText is what is left of a text at least.
const leastText = 120

// clipArgs cuts the long texts in a call's arguments; what is left is still an object.
func clipArgs(args json.RawMessage, n int) json.RawMessage {
	if len(args) <= n {
		return args
	}
	var fields map[string]any
	if err := json.Unmarshal(args, &fields); err != nil {
		return args
	}
	for key, value := range fields {
		if text, ok := value.(string); ok {
			fields[key] = clipNote(text, n)
		}
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return args
	}
	return out
}

// clip is how long a result may be in a prompt.
type clip struct {
	n      int  // bytes
	readOn bool // the model can read on
}

// clipNote cuts a text to at most n bytes, at a rune, and says so. A text that was cut before keeps its first length.
func clipNote(s string, n int) string { return clipResult(s, n, onward{}) }

// onward is where the model reads on when a text is cut; the zero value when it cannot.
type onward struct {
	path string
	from int // where the text begins in what stands under the path
}

// clipResult is clipNote for a text that can be read on.
func clipResult(s string, n int, more onward) string {
	if len(s) <= n {
		return s
	}
	whole := len(s)
	if m := clipped.FindStringSubmatch(s); m != nil {
		s, whole = s[:len(s)-len(m[0])], number(m[1], whole)
	}
	note := func(cut int) string {
		words := ""
		if more.path != "" {
			words = fmt.Sprintf("; read_file %s#%d goes on", more.path, more.from+cut)
		}
		return fmt.Sprintf(clipForm, cut, whole, words)
	}
	cut := max(n-len(note(whole)), 0)
	cut = min(cut, len(s))
	for cut > 0 && cut < len(s) && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + note(cut)
}

// clipForm is the note under a text that was cut.
const clipForm = "\n[cut here: this is the beginning, %d of %d characters%s]"

var clipped = regexp.MustCompile(`\n\[cut here: this is the beginning, \d+ of (\d+) characters(?:; read_file \S+ goes on)?\]$`)

func number(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return otherwise
}
