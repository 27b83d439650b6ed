package when

import (
	"strings"
	"time"
)

// ParseInstant reads an instant written in digits: RFC 3339, and "2026-02-03 14:00" or "2026-02-03T14:00:00" on the
// clock of zone. A date alone is not an instant.
func ParseInstant(s string, zone *time.Location) (time.Time, bool) {
	t, local, ok := readStamp(strings.TrimSpace(s))
	if !ok {
		return time.Time{}, false
	}
	if local {
		t = instantOf(t, zone)
	}
	return t.In(zone), true
}

var stampLayouts = []string{
	"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
}

var offsetLayouts = []string{"Z07:00", "Z0700", " Z07:00", " Z0700"}

// readStamp reads an instant; local says that it is a wall, without a zone of its own.
func readStamp(s string) (t time.Time, local, ok bool) {
	if len(s) < 16 || len(s) > 40 {
		return time.Time{}, false, false
	}
	s = strings.ToUpper(s)
	for _, layout := range stampLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true, true
		}
		for _, offset := range offsetLayouts {
			if t, err := time.Parse(layout+offset, s); err == nil {
				return t, false, true
			}
		}
	}
	return time.Time{}, false, false
}
