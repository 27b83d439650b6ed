package vault

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// period is a time that a query names: a stretch of time, or a month of whatever year.
type period struct {
	from, to time.Time // to is the first instant after it
	month    time.Month
	zone     *time.Location
}

func (p period) known() bool { return p.month != 0 || !p.from.IsZero() }

// short reports whether it is a day or so: all that was said then may be meant.
func (p period) short() bool { return !p.from.IsZero() && p.to.Sub(p.from) <= 48*time.Hour }

func (p period) holds(t time.Time) bool {
	if p.from.IsZero() {
		return t.In(p.zone).Month() == p.month
	}
	return !t.Before(p.from) && t.Before(p.to)
}

func (p period) weight() float64 {
	if !p.from.IsZero() && p.to.Sub(p.from) > 100*24*time.Hour {
		return inYear
	}
	return inPeriod
}

const (
	monthWords = `(january|february|march|april|may|june|july|august|september|october|november|december)`
	monthShort = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`
	dayNumber  = `(\d{1,2})(?:st|nd|rd|th)?`
	yearNumber = `((?:19|20)\d\d)`
	weekdays   = `(monday|tuesday|wednesday|thursday|friday|saturday|sunday)`
)

var (
	isoDay    = regexp.MustCompile(`\b(\d{4})-(\d\d)-(\d\d)\b`)
	dayMonth  = regexp.MustCompile(`\b` + dayNumber + ` (?:of )?` + monthShort + `(?:,? ` + yearNumber + `)?\b`)
	monthDay  = regexp.MustCompile(`\b` + monthShort + ` (?:the )?` + dayNumber + `(?:,? ` + yearNumber + `)?\b`)
	monthYear = regexp.MustCompile(`\b` + monthShort + `,? (?:of )?` + yearNumber + `\b`)
	// may and march are also other words, so a month by itself needs a word before it that times have.
	monthOnly = regexp.MustCompile(`\b(?:in|of|during|since|last|this|early|late|mid|until|by|from) (?:early |late |mid |the )?` + monthWords + `\b`)
	yearOnly  = regexp.MustCompile(`\b` + yearNumber + `\b`)
	daysAgo   = regexp.MustCompile(`\b(\d{1,3}|a|an|one|two|three|four|five|six) (day|week|month|year)s? ago\b`)
	lastThing = regexp.MustCompile(`\b(last|this|past) (week|month|year)\b`)
	weekday   = regexp.MustCompile(`\b(?:on|last|since|this) ` + weekdays + `\b`)
	nearDay   = regexp.MustCompile(`\b(today|tonight|this morning|yesterday|last night)\b`)
)

// timeIn finds the time in the past that a query names, in English words or as 2026-11-30; a period that is not known when
// it names none. The most exact way of writing it counts.
func timeIn(query string, now time.Time, zone *time.Location) period {
	if zone == nil {
		zone = time.UTC
	}
	now = now.In(zone)
	s := strings.Join(strings.Fields(strings.ToLower(query)), " ")
	p := period{zone: zone}
	day := func(y int, m time.Month, d, days int) period {
		p.from = time.Date(y, m, d, 0, 0, 0, 0, zone)
		p.to = time.Date(y, m, d+days, 0, 0, 0, 0, zone)
		return p
	}
	dated := func(y, d string, m time.Month) (period, bool) {
		n := number(d)
		if n < 1 || n > 31 {
			return p, false
		}
		if y != "" {
			return day(number(y), m, n, 1), true
		}
		if then := time.Date(now.Year(), m, n, 0, 0, 0, 0, zone); then.After(now) {
			return day(now.Year()-1, m, n, 1), true
		}
		return day(now.Year(), m, n, 1), true
	}
	if m := isoDay.FindStringSubmatch(s); m != nil && number(m[2]) <= 12 {
		return day(number(m[1]), time.Month(number(m[2])), number(m[3]), 1)
	}
	if m := dayMonth.FindStringSubmatch(s); m != nil {
		if found, ok := dated(m[3], m[1], monthOf(m[2])); ok {
			return found
		}
	}
	if m := monthDay.FindStringSubmatch(s); m != nil {
		if found, ok := dated(m[3], m[2], monthOf(m[1])); ok {
			return found
		}
	}
	if m := monthYear.FindStringSubmatch(s); m != nil {
		p.from = time.Date(number(m[2]), monthOf(m[1]), 1, 0, 0, 0, 0, zone)
		p.to = p.from.AddDate(0, 1, 0)
		return p
	}
	if m := nearDay.FindStringSubmatch(s); m != nil {
		back := 0
		if m[1] == "yesterday" || m[1] == "last night" {
			back = 1
		}
		return day(now.Year(), now.Month(), now.Day()-back, 1)
	}
	if m := daysAgo.FindStringSubmatch(s); m != nil {
		return ago(m[1], m[2], now, day)
	}
	if m := lastThing.FindStringSubmatch(s); m != nil {
		return lastOf(m[1], m[2], now, day)
	}
	if m := weekday.FindStringSubmatch(s); m != nil {
		back := 1
		for ; back < 7 && !strings.EqualFold(now.AddDate(0, 0, -back).Weekday().String(), m[1]); back++ {
		}
		return day(now.Year(), now.Month(), now.Day()-back, 1)
	}
	if m := monthOnly.FindStringSubmatch(s); m != nil {
		p.month = monthOf(m[1])
		return p
	}
	if m := yearOnly.FindStringSubmatch(s); m != nil {
		return day(number(m[1]), 1, 1, 365)
	}
	return p
}

func ago(count, unit string, now time.Time, day func(y int, m time.Month, d, days int) period) period {
	n := number(count)
	for i, word := range []string{"an", "a", "two", "three", "four", "five", "six"} {
		if count == word || count == "one" && i == 1 {
			n = max(1, i)
		}
	}
	switch unit {
	case "day":
		return day(now.Year(), now.Month(), now.Day()-n, 1)
	case "week": // people do not count such days
		return day(now.Year(), now.Month(), now.Day()-7*n-3, 7)
	case "month":
		return day(now.Year(), now.Month()-time.Month(n), now.Day()-15, 30)
	}
	return day(now.Year()-n, 1, 1, 365)
}

func lastOf(which, unit string, now time.Time, day func(y int, m time.Month, d, days int) period) period {
	back := 1
	if which == "this" {
		back = 0
	}
	switch unit {
	case "week":
		sinceMonday := (int(now.Weekday()) + 6) % 7
		return day(now.Year(), now.Month(), now.Day()-sinceMonday-7*back, 7)
	case "month":
		first := time.Date(now.Year(), now.Month()-time.Month(back), 1, 0, 0, 0, 0, now.Location())
		return day(first.Year(), first.Month(), 1, first.AddDate(0, 1, -1).Day())
	}
	return day(now.Year()-back, 1, 1, 365)
}

// number reads digits; 0 when they are none.
func number(s string) int {
	n, _ := strconv.Atoi(s) // 0 is what it should be then
	return n
}

// monthOf knows a month by its first three letters.
func monthOf(word string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(m.String()[:3], word[:3]) {
			return m
		}
	}
	return 0
}

// idsOf gives the first and the last number of the messages that came in a period. Numbers rise as time does, so it halves
// its way there; a month of whatever year is everywhere.
func (v *Vault) idsOf(ctx context.Context, p period, newest int64) (low, high int64, err error) {
	if p.from.IsZero() {
		return 0, newest, nil
	}
	first := func(at time.Time) (int64, error) {
		low, high := int64(1), newest+1
		for low < high {
			middle := (low + high) / 2
			came, err := one(ctx, v.rdb, scanInt, `SELECT received FROM message WHERE id >= ? ORDER BY id LIMIT 1`, middle)
			if err != nil {
				return 0, err
			}
			if came < at.UnixMilli() {
				low = middle + 1
			} else {
				high = middle
			}
		}
		return low, nil
	}
	// What was sent shortly before may have come shortly after.
	if low, err = first(p.from); err != nil {
		return 0, 0, err
	}
	high, err = first(p.to.Add(time.Hour))
	return low, high, err
}
