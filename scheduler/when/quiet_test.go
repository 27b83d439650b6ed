package when

import (
	"testing"
	"time"
)

func TestQuietHoursGoByTheWallClock(t *testing.T) {
	h := func(hour, minute int) time.Duration {
		return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	}
	night, noon := Quiet{h(23, 0), h(7, 0)}, Quiet{h(12, 0), h(14, 0)}
	for _, tt := range []struct {
		name     string
		q        Quiet
		zone, at string
		want     string // "" = not quiet
	}{
		{"before", night, "Europe/Lisbon", "2026-03-10T22:59:59Z", ""},
		{"the beginning belongs to it", night, "Europe/Lisbon", "2026-03-10T23:00:00Z", "2026-03-11T07:00:00Z"},
		{"after midnight", night, "Europe/Lisbon", "2026-03-11T02:30:00Z", "2026-03-11T07:00:00Z"},
		{"the end does not", night, "Europe/Lisbon", "2026-03-11T07:00:00Z", ""},
		{"within a day", noon, "Europe/Lisbon", "2026-03-10T13:59:59Z", "2026-03-10T14:00:00Z"},
		{"within a day, at night", noon, "Europe/Lisbon", "2026-03-10T02:00:00Z", ""},
		{"elsewhere", night, "Pacific/Auckland", "2026-03-10T12:00:00Z", "2026-03-10T18:00:00Z"},
		{"a night of seven hours", night, "Europe/Berlin", "2026-03-28T22:30:00Z", "2026-03-29T05:00:00Z"},
		{"a night of nine hours", night, "Europe/Berlin", "2026-10-24T21:30:00Z", "2026-10-25T06:00:00Z"},
		{"an end that the clock skips", Quiet{h(23, 0), h(2, 30)}, "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z"},
		{"an end that comes twice", Quiet{h(23, 0), h(2, 30)}, "Europe/Berlin", "2026-10-25T00:10:00Z", "2026-10-25T00:30:00Z"},
		{"and the second time is day", Quiet{h(23, 0), h(2, 30)}, "Europe/Berlin", "2026-10-25T01:10:00Z", ""},
		{"a day without midnight", Quiet{h(0, 0), h(6, 0)}, "America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06T09:00:00Z"},
		{"off", Quiet{h(7, 0), h(7, 0)}, "Europe/Lisbon", "2026-03-11T07:00:00Z", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			zone, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if end := tt.q.Until(at.In(zone)); !end.IsZero() {
				got = end.UTC().Format(time.RFC3339)
			}
			if got != tt.want {
				t.Errorf("until %q, want %q", got, tt.want)
			}
		})
	}
}
