package when

import (
	"testing"
	"time"
)

func TestFollowsClock(t *testing.T) {
	said := time.Date(2026, 12, 4, 10, 0, 0, 0, zone(t, "Europe/Berlin"))
	for words, want := range map[string]bool{
		"tomorrow at 9": true, "next friday evening": true, "today at 17:00": true, "every weekday at 8": true, "on the 31st of every month": true,
		"in 2 hours": false, "every 20 minutes": false, "2026-12-06T09:00:00+01:00": false, "": false, "blue": false,
	} {
		res, err := Parse(words, said)
		if err != nil && want {
			t.Fatal(words, err)
		}
		if got := FollowsClock(words, res.Spec, said, zone(t, "Asia/Tokyo")); got != want {
			t.Errorf("%q: %t", words, got)
		}
	}
}

func TestOnClockOf(t *testing.T) {
	berlin, york := zone(t, "Europe/Berlin"), zone(t, "America/New_York")
	for from, want := range map[string]string{
		"2026-12-05T09:00:00+01:00": "2026-12-05T09:00:00-05:00",
		"2026-03-08T02:30:00+01:00": "2026-03-08T03:00:00-04:00", // New York has no 02:30 that day
		"2026-11-01T01:30:00+01:00": "2026-11-01T01:30:00-04:00", // and 01:30 twice: the first
	} {
		at, err := time.Parse(time.RFC3339, from)
		if err != nil {
			t.Fatal(err)
		}
		if got := OnClockOf(york, at.In(berlin)).Format(time.RFC3339); got != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
}
