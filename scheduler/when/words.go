package when

import (
	"fmt"
	"time"
)

// Format writes an instant for people: "Fri 4 Dec 2026, 09:00 (Europe/Lisbon)". Seconds are shown when they are not
// zero. The zone is t's Location; Parse reads the text back.
func Format(t time.Time) string {
	return t.Format("Mon 2 Jan 2006, ") + clockText(t) + " (" + zoneName(t) + ")"
}

// FormatShort writes an instant for lists: "Fri 4 Dec, 09:00" within now's year, "Fri 4 Dec 2026, 09:00" otherwise.
func FormatShort(t, now time.Time) string {
	if t.Year() == now.In(t.Location()).Year() {
		return t.Format("Mon 2 Jan, ") + clockText(t)
	}
	return t.Format("Mon 2 Jan 2006, ") + clockText(t)
}

// clockText writes the time of day, "09:00" or "09:00:05".
func clockText(t time.Time) string {
	if t.Second() != 0 {
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}

// zoneName names t's zone. A zone known by its offset only has no name in the time package.
func zoneName(t time.Time) string {
	if name := t.Location().String(); name != "" {
		return name
	}
	return t.Format("UTC-07:00")
}

// dateText writes a civil date for people: "Fri 4 Dec 2026".
func dateText(wall time.Time) string { return wall.Format("Mon 2 Jan 2006") }

// ordinal writes 1st, 2nd, 3rd, 11th.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// list joins words as people do: "a", "a and b", "a, b and c".
func list(words []string, last string) string {
	switch len(words) {
	case 0:
		return ""
	case 1:
		return words[0]
	}
	text := words[0]
	for _, w := range words[1 : len(words)-1] {
		text += ", " + w
	}
	return text + " " + last + " " + words[len(words)-1]
}
