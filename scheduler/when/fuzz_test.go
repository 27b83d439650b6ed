package when

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var fuzzZones = []string{"UTC", "Europe/Berlin", "America/Santiago", "Pacific/Auckland", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca"}

// fuzzNow makes a moment from 1970 to 2106 in one of the zones.
func fuzzNow(t *testing.T, seconds uint32, z uint8) time.Time {
	return time.Unix(int64(seconds), 0).In(zone(t, fuzzZones[int(z)%len(fuzzZones)]))
}

// checkResult checks what holds for every answer.
func checkResult(t *testing.T, words string, now time.Time, res Result, err error) {
	t.Helper()
	if err != nil {
		var question *AskError
		var past *PastError
		if !errors.As(err, &question) && !errors.As(err, &past) {
			t.Fatalf("%q: %T is none of the documented errors", words, err)
		}
		if text := err.Error(); text == "" || utf8.ValidString(words) && !utf8.ValidString(text) {
			t.Fatalf("%q: the question is %q", words, text)
		}
		if past != nil && past.At.After(now) {
			t.Fatalf("%q: %s is not in the past of %s", words, past.At, now)
		}
		return
	}
	if !res.At.After(now) || res.At.After(now.AddDate(100, 0, 0)) {
		t.Fatalf("%q said at %s gives %s", words, now, res.At)
	}
	if res.At.Location() != now.Location() {
		t.Fatalf("%q gives a time in %s, not in %s", words, res.At.Location(), now.Location())
	}
	if res.Spec == "" {
		return
	}
	at, ok, err := Next(res.Spec, now.Location(), now)
	if err != nil || !ok || !at.Equal(res.At) {
		t.Fatalf("%q: Next(%q) = %s, %v, %v; Parse says %s", words, res.Spec, at, ok, err, res.At)
	}
	checkIncreasing(t, res.Spec, now.Location(), at)
}

func checkIncreasing(t *testing.T, spec string, z *time.Location, after time.Time) {
	t.Helper()
	for range 5 {
		at, ok, err := Next(spec, z, after)
		if err != nil {
			t.Fatalf("Next(%q) fails later on: %v", spec, err)
		}
		if !ok {
			return
		}
		if !at.After(after) || at.After(after.AddDate(100, 0, 0)) {
			t.Fatalf("Next(%q, after %s) = %s", spec, after, at)
		}
		after = at
	}
}

func FuzzParse(f *testing.F) {
	for i, row := range phrases(f) {
		f.Add(row.words, uint32(row.now.Unix()), uint8(i))
	}
	for _, words := range []string{"TZ=", "CRON_TZ=x 0 9 * * *", "\xff\xfe", "9:", "3/", "٣", "in " + strings.Repeat("9", 400) + " hours", "every " + strings.Repeat("1st and ", 30), "ⅷ o'clock", "1º", "@every -1h"} {
		f.Add(words, uint32(1768226700), uint8(1))
	}
	f.Fuzz(func(t *testing.T, words string, seconds uint32, z uint8) {
		now := fuzzNow(t, seconds, z)
		res, err := Parse(words, now)
		checkResult(t, words, now, res, err)
	})
}

func FuzzSplit(f *testing.F) {
	for i, row := range phrases(f) {
		if i%7 == 0 {
			f.Add(row.words+" call mum", uint32(row.now.Unix()), uint8(i))
			f.Add("call mum "+row.words, uint32(row.now.Unix()), uint8(i))
		}
	}
	f.Add("tomorrow, and, to, please", uint32(1768226700), uint8(1))
	f.Add("remind me please", uint32(1768226700), uint8(1))
	f.Fuzz(func(t *testing.T, sentence string, seconds uint32, z uint8) {
		now := fuzzNow(t, seconds, z)
		res, rest, err := Split(sentence, now)
		checkResult(t, sentence, now, res, err)
		if !strings.Contains(sentence, rest) {
			t.Fatalf("Split(%q) gives the rest %q, which is not in it", sentence, rest)
		}
	})
}

func FuzzNext(f *testing.F) {
	for i, row := range phrases(f) {
		if row.spec != "" {
			f.Add(row.spec, uint32(row.now.Unix()), uint8(i))
		}
	}
	for _, spec := range []string{
		"cron TZ= * * * *", "rrule DTSTART=19000101T000000;FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "rrule DTSTART=20260101T000000;FREQ=DAILY;BYMONTH=2;BYMONTHDAY=31;BYSETPOS=-1,1",
		"rrule DTSTART=20260229T000000;FREQ=YEARLY", "window 24h 00:00-23:59 0", "any monthly 29 02:30 ; yearly 12-31 23:59", "every 8784h from 1900-01-01T00:00:00Z times 1000",
		"cron 0 0 * * * from 2300-01-01T00:00:00", "cron 59 23 31 12 * until 9999-12-31T23:59:59", "cron * * * * * from 0001-01-01T00:00:00",
	} {
		f.Add(spec, uint32(1768226700), uint8(1))
	}
	f.Fuzz(func(t *testing.T, spec string, seconds uint32, z uint8) {
		now := fuzzNow(t, seconds, z)
		if Describe(spec) == "" && spec != "" {
			t.Fatalf("Describe(%q) is empty", spec)
		}
		if _, _, err := Next(spec, now.Location(), now); err != nil {
			return
		}
		checkIncreasing(t, spec, now.Location(), now)
	})
}
