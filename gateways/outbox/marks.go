package outbox

import (
	"strings"
	"time"

	"hearth/gateways"
	"hearth/gateways/markup"
	"hearth/scheduler/when"
	"hearth/vault"
)

// repeatMark stands above what may have arrived before.
const repeatMark = "↻ may be a repeat, sent again to be sure"

// lateAfter is how late a part may come without saying so.
const lateAfter = time.Minute

// maxReason keeps the marks within gateways.Room.
const maxReason = 80

// marked gives the text as it is delivered: the repeat mark above it, lateness behind it.
func marked(text string, repeat bool, lateness string) string {
	if repeat {
		text = repeatMark + "\n" + text
	}
	if lateness == "" {
		return text
	}
	if strings.ContainsRune(text, '\n') {
		return text + "\n" + lateness
	}
	return text + " " + lateness
}

// lateness gives the words for a part that comes after its time, "" when it does not. due is in the zone it was meant in.
func lateness(due, now time.Time, why string) string {
	at := due.Format("15:04")
	if due.Format(time.DateOnly) != now.In(due.Location()).Format(time.DateOnly) {
		at = when.FormatShort(due, now)
	}
	return "(was due " + at + ", " + clip(why, maxReason) + ")"
}

// outOfReach says why a part that was ready in time was not delivered in time.
func outOfReach(gateway string) string {
	if gateway == "terminal" {
		return "nobody was at the terminal"
	}
	return gateways.Title(gateway) + " was out of reach"
}

// whyLate gives the reason why the answer of a job's run was ready too late. The run knows when it was to begin.
func whyLate(p vault.Part, r vault.Run) string {
	if r.Queued.Sub(p.Due) > lateAfter {
		return "I was off"
	}
	return "it took me that long"
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// styles moves the styles of a cut part behind the words that were put before it. What was masked has lost its places, and
// goes out plain.
func styles(p vault.Part, text string) string {
	if p.Entities == "" {
		return "" // Markdown, which the marks do not disturb
	}
	before, _, found := strings.Cut(text, p.Text)
	t, err := markup.Decode(p.Text, p.Entities)
	if !found || err != nil {
		return markup.Text{}.Encode()
	}
	return t.Prepend(before).Encode()
}
