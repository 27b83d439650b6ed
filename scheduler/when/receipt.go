package when

import (
	"fmt"
	"time"
)

// Receipt confirms a stored wake-up in the program's own words, from the stored row:
//
//	Reminder 7: Fri 4 Dec 2026, 09:00 (Europe/Lisbon): call the plumber
//	Reminder 8: every weekday at 08:00, next Mon 7 Dec 2026, 08:00 (Europe/Lisbon): take the pills
//
// label is Reminder or Follow-up, next is in the job's zone, recurs is "" for a one-off.
func Receipt(label string, number int64, next time.Time, recurs, text string) string {
	if recurs != "" {
		return fmt.Sprintf("%s %d: %s, next %s: %s", label, number, recurs, Format(next), text)
	}
	return fmt.Sprintf("%s %d: %s: %s", label, number, Format(next), text)
}
