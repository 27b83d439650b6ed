package when

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// nextInstants gives the first instants of people's words said at a moment, as their zone's clock shows them.
func nextInstants(t *testing.T, words, from, zone string, n int) []string {
	t.Helper()
	place, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	now, err := time.Parse(time.RFC3339, from)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Parse(words, now.In(place))
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	out := []string{res.At.In(place).Format("2006-01-02 15:04 -07")}
	for at := res.At; len(out) < n; {
		next, ok, err := Next(res.Spec, place, at)
		if err != nil || !ok {
			t.Fatalf("%q ends after %s: %v", words, at, err)
		}
		at = next
		out = append(out, at.In(place).Format("2006-01-02 15:04 -07"))
	}
	return out
}

func TestSCH05FridayAndNextFridayAreShownInFull(t *testing.T) {
	if got := nextInstants(t, "friday 10:00", "2026-01-12T10:00:00+01:00", "Europe/Berlin", 1); got[0] != "2026-01-16 10:00 +01" {
		t.Errorf("friday is %s", got)
	}
	got := nextInstants(t, "next friday 19:00", "2026-01-12T10:00:00+01:00", "Europe/Berlin", 1)
	if got[0] != "2026-01-16 19:00 +01" && got[0] != "2026-01-23 19:00 +01" {
		t.Errorf("next friday is %s", got)
	}
	at, err := time.Parse("2006-01-02 15:04 -07", got[0])
	if err != nil {
		t.Fatal(err)
	}
	if receipt := Format(at); !strings.HasPrefix(receipt, "Fri ") || !strings.Contains(receipt, " Jan 2026, ") {
		t.Errorf("the receipt says %q", receipt)
	}
}

func TestSCHWallClockTimesStayOnTheWall(t *testing.T) {
	for id, c := range map[string]struct {
		words, from, zone string
		want              []string
	}{
		"SCH07 one o'clock in Auckland": {"every day at 13:00", "2026-04-04T09:00:00+13:00", "Pacific/Auckland", []string{"2026-04-04 13:00 +13", "2026-04-05 13:00 +12", "2026-04-06 13:00 +12"}},
		"SCH10 a time that is missing":  {"every day at 02:30", "2026-03-28T00:00:00+01:00", "Europe/Berlin", []string{"2026-03-28 02:30 +01", "2026-03-29 03:00 +02", "2026-03-30 02:30 +02"}},
		"SCH11 a time that comes twice": {"every day at 02:30", "2026-10-24T12:00:00+02:00", "Europe/Berlin", []string{"2026-10-25 02:30 +02", "2026-10-26 02:30 +01"}},
		"SCH14 a day without midnight":  {"every day at midnight", "2026-09-05T12:00:00-04:00", "America/Santiago", []string{"2026-09-06 01:00 -03", "2026-09-07 00:00 -03", "2026-09-08 00:00 -03"}},
	} {
		t.Run(id, func(t *testing.T) {
			if got := nextInstants(t, c.words, c.from, c.zone, len(c.want)); !slices.Equal(got, c.want) {
				t.Errorf("%q comes at %q, want %q", c.words, got, c.want)
			}
		})
	}
}

func TestSCH13NineInTheEveningAllYear(t *testing.T) {
	for _, at := range nextInstants(t, "every day at 21:00", "2026-07-10T12:00:00+02:00", "Europe/Berlin", 150) {
		if !strings.Contains(at, " 21:00 ") {
			t.Errorf("it comes at %s", at)
		}
	}
}

func TestSCH17TheThirtyFirstOfEveryMonth(t *testing.T) {
	got := nextInstants(t, "on the 31st of every month", "2026-01-01T09:00:00+01:00", "Europe/Berlin", 12)
	for i, at := range got {
		last := time.Date(2026, time.Month(i+2), 0, 0, 0, 0, 0, time.UTC).Format("2006-01-02")
		if !strings.HasPrefix(at, last) {
			t.Errorf("month %d has it at %s, not on %s", i+1, at, last)
		}
	}
}
