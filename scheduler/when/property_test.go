package when

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEveryWordIsConsumed puts a word that means nothing anywhere into every phrase that is understood: then it must not be.
func TestEveryWordIsConsumed(t *testing.T) {
	for _, row := range phrases(t) {
		if row.want == "ASK" || row.want == "PAST" {
			continue
		}
		words := strings.Fields(row.words)
		for i := range len(words) + 1 {
			with := strings.Join(slices.Insert(slices.Clone(words), i, "banana"), " ")
			res, err := Parse(with, row.now)
			var question *AskError
			if !errors.As(err, &question) {
				t.Errorf("%q is read as %s, %q (%v)", with, res.At, res.Spec, err)
			}
		}
	}
}

// TestSpecsSayWhatTheyDo checks every recurrence of the table: it is described by its words and begins where Parse says.
func TestSpecsSayWhatTheyDo(t *testing.T) {
	for _, row := range phrases(t) {
		if row.spec == "" {
			continue
		}
		res, err := Parse(row.words, row.now)
		if err != nil {
			t.Errorf("%q: %v", row.words, err)
			continue
		}
		if got := Describe(res.Spec); got != res.Words || got == res.Spec {
			t.Errorf("%q: Describe(%q) = %q, the words are %q", row.words, res.Spec, got, res.Words)
		}
		at, ok, err := Next(res.Spec, row.now.Location(), row.now)
		if err != nil || !ok || !at.Equal(res.At) {
			t.Errorf("%q: Next(%q) = %s, %v, %v; want %s", row.words, res.Spec, at, ok, err, res.At)
		}
	}
}

// TestFormatIsReadBack checks that what the program writes can be said to it.
func TestFormatIsReadBack(t *testing.T) {
	for _, row := range phrases(t) {
		if row.want == "ASK" || row.want == "PAST" {
			continue
		}
		at := instant(t, row.want).In(row.now.Location())
		if !instantOf(wallOf(at, at.Location()), at.Location()).Equal(at) {
			continue // the second pass of a doubled hour can't be written
		}
		res, err := Parse(Format(at), row.now)
		if err != nil || !res.At.Equal(at) {
			t.Errorf("Parse(%q) = %s, %v", Format(at), res.At, err)
		}
	}
}

// minute is one minute of real time, as a clock on the wall shows it.
type minute struct {
	at      time.Time
	wall    time.Time
	again   bool        // the wall was shown before
	skipped []time.Time // walls that were skipped right before
}

// minutes walks over all minutes between two instants.
func minutes(z *time.Location, from, to time.Time) []minute {
	var all []minute
	shown := map[time.Time]bool{}
	last := wallOf(from.Add(-time.Minute), z)
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		m := minute{at: at, wall: wallOf(at, z)}
		m.again = shown[m.wall]
		for gap := last.Add(time.Minute); gap.Before(m.wall); gap = gap.Add(time.Minute) {
			m.skipped = append(m.skipped, gap)
		}
		shown[m.wall], last = true, m.wall
		all = append(all, m)
	}
	return all
}

// bruteForce gives the instants a cron line means: every wall it names at its first showing (at both where all hours are
// meant), skipped ones right after their gap.
func bruteForce(rule cronRule, all []minute) []time.Time {
	matches := func(w time.Time) bool {
		return rule.minute&(1<<w.Minute()) != 0 && rule.hour&(1<<w.Hour()) != 0 && rule.month&(1<<w.Month()) != 0 && rule.onDay(w)
	}
	var found []time.Time
	for _, m := range all {
		if slices.ContainsFunc(m.skipped, matches) || matches(m.wall) && (!m.again || rule.everyHour()) {
			found = append(found, m.at)
		}
	}
	return found
}

func TestNextAgreesWithBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(20260329, 1))
	pick := func(choices ...string) string { return choices[random.IntN(len(choices))] }
	number := func(low, high int) string { return strconv.Itoa(low + random.IntN(high-low+1)) }
	for _, tt := range []struct{ zone, from, to string }{
		{"Europe/Berlin", "2026-03-20T00:00:00Z", "2026-04-10T00:00:00Z"},
		{"Europe/Berlin", "2026-10-15T00:00:00Z", "2026-11-05T00:00:00Z"},
		{"America/Santiago", "2026-08-28T00:00:00Z", "2026-09-14T00:00:00Z"},
		{"America/Santiago", "2026-03-28T00:00:00Z", "2026-04-12T00:00:00Z"},
		{"Pacific/Auckland", "2026-03-28T00:00:00Z", "2026-04-12T00:00:00Z"},
		{"Australia/Lord_Howe", "2026-09-28T00:00:00Z", "2026-10-12T00:00:00Z"},
		{"Australia/Lord_Howe", "2026-03-28T00:00:00Z", "2026-04-12T00:00:00Z"},
		{"America/New_York", "2028-12-20T00:00:00Z", "2029-01-10T00:00:00Z"},
		{"Asia/Kolkata", "2026-02-20T00:00:00Z", "2026-03-05T00:00:00Z"},
		{"Africa/Casablanca", "2026-02-10T00:00:00Z", "2026-03-28T00:00:00Z"},
		{"Pacific/Apia", "2011-12-25T00:00:00Z", "2012-01-05T00:00:00Z"},
	} {
		z, from, to := zone(t, tt.zone), instant(t, tt.from), instant(t, tt.to)
		all := minutes(z, from, to)
		for range 40 {
			line := strings.Join([]string{
				pick("0", "30", "15,45", "*/20", number(0, 59)), pick("*", "2", "0", "1-3", "*/6", number(0, 23)),
				pick("*", "*", "*", number(1, 28), "*/3"), "*", pick("*", "*", "0,6", "1-5", number(0, 6)),
			}, " ")
			rule, err := readCron(strings.Fields(line))
			if err != nil {
				t.Fatal(line, err)
			}
			want := bruteForce(rule, all)
			after := from.Add(-time.Second)
			for _, w := range want {
				at, ok, err := Next("cron "+line, z, after)
				if err != nil || !ok || !at.Equal(w) {
					t.Fatalf("%s in %s after %s: %s, %v, %v; by brute force %s", line, tt.zone, after.In(z), at, ok, err, w.In(z))
				}
				after = at
			}
			if at, ok, _ := Next("cron "+line, z, after); ok && at.Before(to) {
				t.Errorf("%s in %s: %s is one too many", line, tt.zone, at)
			}
		}
	}
}

// TestRRuleAgreesWithCron compares the two engines where both can say the same.
func TestRRuleAgreesWithCron(t *testing.T) {
	for cronLine, rule := range map[string]string{
		"cron 0 9 * * *":       "rrule DTSTART=20200101T090000;FREQ=DAILY",
		"cron 30 18 * * 1,4":   "rrule DTSTART=20200101T183000;FREQ=WEEKLY;BYDAY=MO,TH",
		"cron 0 9 15 * *":      "rrule DTSTART=20200101T090000;FREQ=MONTHLY;BYMONTHDAY=15",
		"cron 30 2 3 2 *":      "rrule DTSTART=20200101T023000;FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=3",
		"cron 0 9 29 2 *":      "rrule DTSTART=20000229T090000;FREQ=YEARLY",
		"cron 0,30 8,20 * * *": "rrule DTSTART=20200101T080000;FREQ=DAILY;BYHOUR=8,20;BYMINUTE=0,30",
	} {
		for _, name := range []string{"Europe/Berlin", "America/Santiago", "Pacific/Auckland"} {
			after := instant(t, "2026-01-01T00:00:00Z")
			want := following(t, cronLine, zone(t, name), after, 30)
			got := following(t, rule, zone(t, name), after, 30)
			if !slices.Equal(want, got) {
				t.Errorf("%s and %s differ in %s:\n%v\n%v", cronLine, rule, name, want, got)
			}
		}
	}
}
