package when

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// following lists the next n instants of a spec, END where there are fewer; it fails the test when they don't go forward.
func following(t testing.TB, spec string, z *time.Location, after time.Time, n int) []string {
	t.Helper()
	var found []string
	for range n {
		at, ok, err := Next(spec, z, after)
		if err != nil {
			t.Fatalf("Next(%q): %v", spec, err)
		}
		if !ok {
			return append(found, "END")
		}
		if !at.After(after) {
			t.Fatalf("Next(%q, after %s) = %s, not after it", spec, after, at)
		}
		found = append(found, at.Format(time.RFC3339))
		after = at
	}
	return found
}

func TestNext(t *testing.T) {
	tests := []struct {
		name, spec, zone, after string
		want                    []string
	}{
		{
			"SCH-10 the gap", "cron 30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00+01:00",
			[]string{"2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"},
		},
		{
			"SCH-11 the doubled hour", "cron 30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+02:00",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"},
		},
		{
			"SCH-11 asked within the second pass", "cron 30 2 * * *", "Europe/Berlin", "2026-10-25T02:10:00+01:00",
			[]string{"2026-10-26T02:30:00+01:00"},
		},
		{
			"SCH-13 21:00 all year", "cron 0 21 * * *", "Europe/Berlin", "2026-10-24T20:00:00+02:00",
			[]string{"2026-10-24T21:00:00+02:00", "2026-10-25T21:00:00+01:00"},
		},
		{
			"SCH-14 a day without midnight", "cron 0 0 * * *", "America/Santiago", "2026-09-05T12:00:00-04:00",
			[]string{"2026-09-06T01:00:00-03:00", "2026-09-07T00:00:00-03:00", "2026-09-08T00:00:00-03:00"},
		},
		{
			"SCH-07 13:00 in Auckland", "cron 0 13 * * *", "Pacific/Auckland", "2026-04-04T09:00:00+13:00",
			[]string{"2026-04-04T13:00:00+13:00", "2026-04-05T13:00:00+12:00", "2026-04-06T13:00:00+12:00"},
		},
		{
			"half-hour gap", "cron 15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"},
		},
		{
			"half-hour overlap", "cron 45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00",
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"},
		},
		{
			"every hour runs in both passes", "cron 0 * * * *", "Europe/Berlin", "2026-10-25T01:30:00+02:00",
			[]string{"2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"},
		},
		{
			"every hour over the gap", "cron */30 * * * *", "Europe/Berlin", "2026-03-29T01:00:00+01:00",
			[]string{"2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00"},
		},
		{
			"two times in one gap are one", "any cron 15 2 * * * ; cron 45 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00+01:00",
			[]string{"2026-03-29T03:00:00+02:00", "2026-03-30T02:15:00+02:00"},
		},
		{
			"SCH-17 the 31st", "monthly 31 09:00", "Europe/Berlin", "2026-01-31T09:00:00+01:00",
			[]string{"2026-02-28T09:00:00+01:00", "2026-03-31T09:00:00+02:00", "2026-04-30T09:00:00+02:00"},
		},
		{
			"the 30th and 31st share a day in June", "monthly 30,31 09:00", "UTC", "2026-05-31T10:00:00Z",
			[]string{"2026-06-30T09:00:00Z", "2026-07-30T09:00:00Z", "2026-07-31T09:00:00Z"},
		},
		{
			"29 February", "yearly 02-29 09:00", "UTC", "2026-05-31T10:00:00Z",
			[]string{"2027-02-28T09:00:00Z", "2028-02-29T09:00:00Z", "2029-02-28T09:00:00Z"},
		},
		{
			"SCH-16 every second Wednesday over a year's end", "rrule DTSTART=20261202T140000;FREQ=WEEKLY;INTERVAL=2;BYDAY=WE", "Europe/Berlin", "2026-11-30T09:00:00+01:00",
			[]string{"2026-12-02T14:00:00+01:00", "2026-12-16T14:00:00+01:00", "2026-12-30T14:00:00+01:00", "2027-01-13T14:00:00+01:00"},
		},
		{
			"SCH-16 the same rhythm fifty years on", "rrule DTSTART=20261202T140000;FREQ=WEEKLY;INTERVAL=2;BYDAY=WE", "UTC", "2076-12-01T00:00:00Z",
			[]string{"2076-12-09T14:00:00Z"},
		},
		{
			"first Monday", "rrule DTSTART=20260101T090000;FREQ=MONTHLY;BYDAY=1MO", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-05T09:00:00Z", "2026-02-02T09:00:00Z"},
		},
		{
			"last working day", "lastworkday 17:00", "UTC", "2026-01-30T17:00:00Z",
			[]string{"2026-02-27T17:00:00Z", "2026-03-31T17:00:00Z"},
		},
		{
			"window", "window 3h 09:00-18:00", "UTC", "2026-01-01T12:00:00Z",
			[]string{"2026-01-01T15:00:00Z", "2026-01-01T18:00:00Z", "2026-01-02T09:00:00Z"},
		},
		{
			"window over midnight on Fridays", "window 2h 22:00-02:00 5", "UTC", "2026-01-02T23:00:00Z",
			[]string{"2026-01-03T00:00:00Z", "2026-01-03T02:00:00Z", "2026-01-09T22:00:00Z"},
		},
		{
			"elapsed time ignores the clock change", "every 6h from 2026-03-28T21:00:00Z", "Europe/Berlin", "2026-03-28T22:00:00+01:00",
			[]string{"2026-03-29T05:00:00+02:00", "2026-03-29T11:00:00+02:00"},
		},
		{
			"elapsed time ends", "every 15m from 2026-03-28T21:00:00Z times 2", "UTC", "2026-03-28T21:00:00Z",
			[]string{"2026-03-28T21:15:00Z", "2026-03-28T21:30:00Z", "END"},
		},
		{
			"until is included", "cron 0 8 * * * until 2026-01-02T08:00:00", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-01-01T08:00:00Z", "2026-01-02T08:00:00Z", "END"},
		},
		{
			"from is included", "cron 0 8 * * * from 2026-02-01T08:00:00", "UTC", "2026-01-01T00:00:00Z",
			[]string{"2026-02-01T08:00:00Z", "2026-02-02T08:00:00Z"},
		},
		{
			"SCH-20 7 is Sunday", "cron 0 9 * * 7", "UTC", "2026-03-02T12:00:00Z",
			[]string{"2026-03-08T09:00:00Z", "2026-03-15T09:00:00Z"},
		},
		{
			"SCH-20 a range over the end of the week", "cron 0 9 * * FRI-MON", "UTC", "2026-03-02T12:00:00Z",
			[]string{"2026-03-06T09:00:00Z", "2026-03-07T09:00:00Z", "2026-03-08T09:00:00Z", "2026-03-09T09:00:00Z"},
		},
		{
			"SCH-20 5-7", "cron 0 9 * * 5-7", "UTC", "2026-03-02T12:00:00Z",
			[]string{"2026-03-06T09:00:00Z", "2026-03-07T09:00:00Z", "2026-03-08T09:00:00Z", "2026-03-13T09:00:00Z"},
		},
		{
			"SCH-20 day of month or weekday", "cron 0 9 1 * 1", "UTC", "2026-03-24T12:00:00Z",
			[]string{"2026-03-30T09:00:00Z", "2026-04-01T09:00:00Z"},
		},
		{
			"hours over midnight", "cron 0 22-1 * * *", "UTC", "2026-03-02T22:30:00Z",
			[]string{"2026-03-02T23:00:00Z", "2026-03-03T00:00:00Z", "2026-03-03T01:00:00Z", "2026-03-03T22:00:00Z"},
		},
		{
			"the last day of a leap year, every hour", "cron 30 * * * *", "Europe/Berlin", "2028-12-31T22:40:00+01:00",
			[]string{"2028-12-31T23:30:00+01:00", "2029-01-01T00:30:00+01:00"},
		},
		{
			"the last day of a leap year, once", "cron 30 12 * * *", "Europe/Berlin", "2028-12-30T22:40:00+01:00",
			[]string{"2028-12-31T12:30:00+01:00", "2029-01-01T12:30:00+01:00"},
		},
		{
			"every hour from a far year", "cron 0 * * * * from 2101-01-01T00:00:00", "Europe/Berlin", "2095-12-31T22:40:00+01:00",
			[]string{"2101-01-01T00:00:00+01:00", "2101-01-01T01:00:00+01:00"},
		},
		{
			"leap days stay leap days over 2100", "cron 0 9 29 2 *", "UTC", "2096-03-01T00:00:00Z",
			[]string{"2104-02-29T09:00:00Z"},
		},
		{
			"a rule without dates gives up", "rrule DTSTART=20260101T090000;FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "UTC", "2026-01-01T00:00:00Z",
			[]string{"END"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := following(t, tt.spec, zone(t, tt.zone), instant(t, tt.after), len(tt.want))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Next(%q) (-want +got):\n%s", tt.spec, diff)
			}
		})
	}
}

func TestSCH19SpecsThatCantBeReadAreErrors(t *testing.T) {
	for _, spec := range []string{
		"", "cron", "cron TZ=Europe/Berlin", "cron TZ=", "cron CRON_TZ=UTC 0 9 * *", "cron 0 9 * *", "cron 0 0 9 * * *", "cron 0 9 30 2 *",
		"cron 61 9 * * *", "cron 0 9 * * 8", "cron 0 9 L * *", "cron 0 9 * * 5#2", "cron */0 9 * * *", "cron 0 9 * * 5-1/0", "cron 0 9 * * 1-", "cron , , , , ,",
		"rrule FREQ=WEEKLY", "rrule DTSTART=20260101T090000", "rrule DTSTART=20260101T090000;FREQ=SECONDLY", "rrule DTSTART=20260101T090000;FREQ=DAILY;INTERVAL=0",
		"rrule DTSTART=20260101T090000;FREQ=DAILY;COUNT=3", "rrule DTSTART=20260101T090000Z;FREQ=DAILY", "rrule DTSTART=20260101T090000;FREQ=WEEKLY;BYDAY=XX",
		"rrule DTSTART=20260202T090000;FREQ=MONTHLY;BYDAY=21MO", "rrule DTSTART=20260202T090000;FREQ=YEARLY;BYMONTH=2;BYDAY=-6MO", "rrule DTSTART=20260202T090000;FREQ=WEEKLY;BYDAY=2MO", "rrule DTSTART=20260101T090000;FREQ=DAILY;BYHOUR=1,2,3,4,5,6,7;BYMINUTE=0,5,10,15,20,25,30", "monthly 0 09:00", "monthly 32 09:00", "monthly 1 9:00", "monthly 1 24:00", "yearly 02-30 09:00", "lastworkday", "window 3h 09:00", "window 30s 09:00-10:00",
		"window 3h 09:00-18:00 7", "any", "any cron 0 9 * * * ; every 2h from 2026-01-01T00:00:00Z", "any any cron 0 9 * * *", "every 2h", "every 30s from 2026-01-01T00:00:00Z",
		"every -2h from 2026-01-01T00:00:00Z", "every 2h from yesterday", "cron 0 9 * * * until tomorrow", "cron 0 9 * * * times 0", "cron 0 9 * * * times 99999", "weekly 3",
		strings.Repeat("9", 2000),
	} {
		at, ok, err := Next(spec, time.UTC, instant(t, "2026-01-01T00:00:00Z"))
		if err == nil || ok || !at.IsZero() {
			t.Errorf("Next(%q) = %v, %v, %v; want an error", spec, at, ok, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	for spec, want := range map[string]string{
		"cron 0 8 * * 1-5":                              "every weekday at 08:00",
		"cron 0 8 * * *":                                "every day at 08:00",
		"cron 30 18 * * 1,4":                            "every Monday and Thursday at 18:30",
		"cron 0 9 1,15 * *":                             "on the 1st and 15th of every month at 09:00",
		"cron 0 9 3 2 *":                                "every year on the 3rd of February at 09:00",
		"cron 0 9 1 * 1":                                "on the 1st of the month and also every Monday at 09:00",
		"cron 0 9 */2 * 1":                              "on the 1st, 3rd, 5th, 7th, 9th, 11th, 13th, 15th, 17th, 19th, 21st, 23rd, 25th, 27th, 29th and 31st of the month and also every Monday at 09:00",
		"cron */15 * * * *":                             "every 15 minutes",
		"cron 0 * * * *":                                "every hour on the hour",
		"cron 0 */2 * * *":                              "every 2 hours on the hour",
		"cron 0 */6 * * 1":                              "every Monday at 00:00, 06:00, 12:00 and 18:00",
		"cron */20 8-10 * * *":                          "every 20 minutes in the hours 8 to 10",
		"cron 5,6,7,8 1,2 * * *":                        "every day at minute 5, 6, 7 and 8 in the hours 1 and 2",
		"cron 7 * * * *":                                "at minute 7 of every hour",
		"cron * * * * *":                                "every minute",
		"cron */15 9-17 * * 1-5":                        "every weekday every 15 minutes in the hours 9 to 17",
		"cron 0 8 * 2 1":                                "every Monday in February at 08:00",
		"cron 0 8,20 * * 6,0":                           "every Saturday and Sunday at 08:00 and 20:00",
		"monthly 31 09:00":                              "on the last day of every month at 09:00",
		"yearly 02-29 09:00":                            "every year on 29 February (28 February in other years) at 09:00",
		"lastworkday 17:00":                             "on the last working day (Monday to Friday) of every month at 17:00",
		"window 3h 09:00-18:00":                         "every 3 hours between 09:00 and 18:00",
		"window 15m 09:00-17:00 1-5":                    "every 15 minutes between 09:00 and 17:00 on weekdays",
		"every 2h from 2026-03-10T10:00:00Z":            "every 2 hours",
		"every 1h30m from 2026-03-10T10:00:00Z times 5": "every 1 hour 30 minutes, 5 times",
		"rrule DTSTART=20260304T140000;FREQ=WEEKLY;INTERVAL=2;BYDAY=WE":                            "every second Wednesday at 14:00",
		"rrule DTSTART=20260304T140000;FREQ=WEEKLY;INTERVAL=3;BYDAY=MO,TH":                         "every 3 weeks on Monday and Thursday at 14:00",
		"rrule DTSTART=20260304T140000;FREQ=DAILY;INTERVAL=2":                                      "every second day at 14:00",
		"rrule DTSTART=20260304T090000;FREQ=MONTHLY;BYDAY=1MO":                                     "on the first Monday of every month at 09:00",
		"rrule DTSTART=20260304T090000;FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR":                         "on the last Friday of every second month at 09:00",
		"rrule DTSTART=20260304T090000;FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=15":                      "on the 15th of every third month at 09:00",
		"rrule DTSTART=20260131T090000;FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=28,29,30,31;BYSETPOS=-1": "on the 31st of every third month (or the last day of a shorter month) at 09:00",
		"rrule DTSTART=20260304T090000;FREQ=YEARLY;INTERVAL=2;BYMONTH=3;BYMONTHDAY=4":              "every second year on 4 March at 09:00",
		"rrule DTSTART=20260304T090000;FREQ=YEARLY;BYMONTH=3;BYDAY=1MO":                            "on the first Monday of March every year at 09:00",
		"rrule DTSTART=20260304T090000;FREQ=YEARLY;BYYEARDAY=100":                                  "rrule DTSTART=20260304T090000;FREQ=YEARLY;BYYEARDAY=100",
		"rrule DTSTART=20260304T090000;FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2":                           "by the calendar rule DTSTART=20260304T090000;FREQ=MONTHLY;BYDAY=MO;BYSETPOS=2",
		"cron 0 8 * * * from 2026-02-01T00:00:00 times 5 until 2026-02-05T08:00:00":                "every day at 08:00, from Sun 1 Feb 2026, 5 times, until Thu 5 Feb 2026 at 08:00",
		"any cron 0 8 * * 1 ; cron 30 9 * * 2":                                                     "every Monday at 08:00; and every Tuesday at 09:30",
		"nonsense":                                                                                 "nonsense",
	} {
		if got := Describe(spec); got != want {
			t.Errorf("Describe(%q) = %q, want %q", spec, got, want)
		}
	}
}

func TestFormat(t *testing.T) {
	lisbon := zone(t, "Europe/Lisbon")
	at := time.Date(2026, time.December, 4, 9, 0, 0, 0, lisbon)
	now := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ got, want string }{
		{Format(at), "Fri 4 Dec 2026, 09:00 (Europe/Lisbon)"},
		{Format(at.Add(5 * time.Second)), "Fri 4 Dec 2026, 09:00:05 (Europe/Lisbon)"},
		{Format(at.In(time.FixedZone("", 7200))), "Fri 4 Dec 2026, 11:00 (UTC+02:00)"},
		{FormatShort(at, now), "Fri 4 Dec, 09:00"},
		{FormatShort(at.AddDate(1, 0, 0), now), "Sat 4 Dec 2027, 09:00"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// TestNextGivesUp checks rules without dates: they end, and soon.
func TestNextGivesUp(t *testing.T) {
	began := time.Now()
	for _, spec := range []string{
		"rrule DTSTART=19000101T000000;FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
		"rrule DTSTART=20260101T000000;FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31;BYHOUR=1,2,3,4,5,6",
		"rrule DTSTART=20260101T000000;FREQ=WEEKLY;BYMONTH=6;BYMONTHDAY=31",
		"rrule DTSTART=20260115T000000;FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
		"rrule DTSTART=20270101T000000;FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29",
		"cron 0 9 * * * from 2300-01-01T00:00:00",
		"cron 0 * * * * until 2020-01-01T00:00:00",
	} {
		if at, ok, err := Next(spec, zone(t, "Europe/Berlin"), instant(t, "2026-01-01T00:00:00Z")); ok || err != nil {
			t.Errorf("Next(%q) = %s, %v, %v; want the end", spec, at, ok, err)
		}
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("giving up takes %s", took)
	}
	t.Log(time.Since(began))
}

func TestNextIsFast(t *testing.T) {
	for _, spec := range []string{
		"cron 0 9 29 2 *", "monthly 31 09:00", "window 1m 00:00-23:59", "lastworkday 17:00", "every 1m from 1990-01-01T00:00:00Z",
		"rrule DTSTART=20000105T140000;FREQ=WEEKLY;INTERVAL=2;BYDAY=WE", "rrule DTSTART=20000105T140000;FREQ=MONTHLY;BYDAY=1MO",
		"cron 0 * * * *", "cron * * * * * from 2101-01-01T00:00:00",
	} {
		berlin, after := zone(t, "Europe/Berlin"), instant(t, "2096-03-01T00:00:00Z")
		const rounds = 200
		began := time.Now()
		for range rounds {
			if _, ok, err := Next(spec, berlin, after); !ok || err != nil {
				t.Fatal(spec, ok, err)
			}
		}
		each := time.Since(began) / rounds
		t.Logf("%-70s %s", spec, each)
		// A scan by minutes would take milliseconds; the margin is for slow machines.
		if each > 2*time.Millisecond {
			t.Errorf("Next(%q) takes %s", spec, each)
		}
	}
}
