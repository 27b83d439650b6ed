package when

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// calendarRule is an RFC 5545 recurrence on the wall clock, worked out by rrule-go. DTSTART is always written: it holds
// the time of day and says which weeks or months count when INTERVAL is above 1.
type calendarRule struct {
	text   string // canonical, without the kind
	option rrule.ROption
}

const rruleLayout = "20060102T150405"

// rruleShift says how many years ahead a rule is worked out. The library gives up only in the year 9999 when a rule has no
// more dates; the calendar repeats every 400 years, weekdays included, so some thousand years ahead it gives up soon.
func rruleShift(w time.Time) int { return (9700 - w.Year()) / 400 * 400 }

var rruleFreqs = map[string]rrule.Frequency{
	"DAILY": rrule.DAILY, "WEEKLY": rrule.WEEKLY, "MONTHLY": rrule.MONTHLY, "YEARLY": rrule.YEARLY,
}

var rruleDays = map[string]rrule.Weekday{
	"MO": rrule.MO, "TU": rrule.TU, "WE": rrule.WE, "TH": rrule.TH, "FR": rrule.FR, "SA": rrule.SA, "SU": rrule.SU,
}

// readRRule parses the one word DTSTART=…;FREQ=…;….
func readRRule(words []string) (calendarRule, error) {
	if len(words) != 1 {
		return calendarRule{}, errors.New(`an RRULE is one word, "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE"`)
	}
	r := calendarRule{text: words[0], option: rrule.ROption{Freq: -1}}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(words[0], ";") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return calendarRule{}, fmt.Errorf("the RRULE part %q has no value", part)
		}
		if seen[key] {
			return calendarRule{}, fmt.Errorf("the RRULE part %s is there twice", key)
		}
		seen[key] = true
		if err := r.set(key, value); err != nil {
			return calendarRule{}, err
		}
	}
	switch {
	case r.option.Freq < 0:
		return calendarRule{}, errors.New("the RRULE has no FREQ")
	case r.option.Dtstart.IsZero():
		return calendarRule{}, errors.New("the RRULE has no DTSTART")
	case r.option.Dtstart.Year() < 1900 || r.option.Dtstart.Year() > 2300:
		return calendarRule{}, fmt.Errorf("the RRULE begins in the year %d", r.option.Dtstart.Year())
	}
	if max(len(r.option.Byhour), 1)*max(len(r.option.Byminute), 1) > 48 {
		return calendarRule{}, errors.New("the RRULE has more than 48 times a day; say it in words, like \"every 15 minutes\"")
	}
	for _, day := range r.option.Byweekday {
		// The library panics on the 21st Monday of a month.
		monthly := r.option.Freq == rrule.MONTHLY || r.option.Freq == rrule.YEARLY && len(r.option.Bymonth) > 0
		if n := max(day.N(), -day.N()); n > 5 && monthly || n > 0 && r.option.Freq > rrule.MONTHLY {
			return calendarRule{}, fmt.Errorf("the RRULE has a weekday number %d that its FREQ has no use for", day.N())
		}
	}
	if _, err := rrule.NewRRule(r.option); err != nil {
		return calendarRule{}, fmt.Errorf("the RRULE can't be read: %w", err)
	}
	return r, nil
}

// set takes one part of the rule.
func (r *calendarRule) set(key, value string) (err error) {
	o := &r.option
	switch key {
	case "FREQ":
		freq, ok := rruleFreqs[value]
		if !ok {
			return fmt.Errorf("the RRULE frequency %s is not read; say it in words, like \"every 2 hours\"", value)
		}
		o.Freq = freq
	case "DTSTART":
		if o.Dtstart, err = time.Parse(rruleLayout, value); err != nil {
			return fmt.Errorf("the RRULE DTSTART %q is not a plain time like 20260304T140000", value)
		}
	case "INTERVAL":
		list, err := rruleNumbers(key, value, 1, 1000)
		if err != nil || len(list) != 1 {
			return fmt.Errorf("the RRULE INTERVAL %q is not a number from 1 to 1000", value)
		}
		o.Interval = list[0]
	case "BYDAY":
		for text := range strings.SplitSeq(value, ",") {
			day, err := rruleDay(text)
			if err != nil {
				return err
			}
			o.Byweekday = append(o.Byweekday, day)
		}
	case "WKST":
		day, ok := rruleDays[value]
		if !ok {
			return fmt.Errorf("the RRULE weekday %q is not known", value)
		}
		o.Wkst = day
	case "BYMONTH":
		o.Bymonth, err = rruleNumbers(key, value, 1, 12)
	case "BYMONTHDAY":
		o.Bymonthday, err = rruleNumbers(key, value, -31, 31)
	case "BYSETPOS":
		o.Bysetpos, err = rruleNumbers(key, value, -366, 366)
	case "BYHOUR":
		o.Byhour, err = rruleNumbers(key, value, 0, 23)
	case "BYMINUTE":
		o.Byminute, err = rruleNumbers(key, value, 0, 59)
	case "BYSECOND":
		if value != "0" {
			return errors.New("the RRULE part BYSECOND is only read as 0")
		}
		o.Bysecond = []int{0}
	default:
		return fmt.Errorf("the RRULE part %s is not read", key)
	}
	return err
}

// rruleDay parses MO, 2MO, -1FR.
func rruleDay(text string) (rrule.Weekday, error) {
	cut := max(len(text)-2, 0)
	day, ok := rruleDays[text[cut:]]
	if !ok {
		return day, fmt.Errorf("the RRULE weekday %q is not known", text)
	}
	if cut == 0 {
		return day, nil
	}
	n, err := strconv.Atoi(text[:cut])
	if err != nil || n == 0 || n < -53 || n > 53 {
		return day, fmt.Errorf("the RRULE weekday %q is not known", text)
	}
	return day.Nth(n), nil
}

// rruleNumbers parses a list of numbers; 0 is only a number where low is 0.
func rruleNumbers(key, value string, low, high int) ([]int, error) {
	var numbers []int
	for text := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high || n == 0 && low < 0 || len(numbers) == 60 {
			return nil, fmt.Errorf("the RRULE part %s=%s is out of range", key, value)
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

func (r calendarRule) String() string { return "rrule " + r.text }

func (r calendarRule) next(w time.Time) (at time.Time, ok bool) {
	// A library that panics on one odd rule shall not; there may be another one.
	defer func() {
		if recover() != nil {
			at, ok = time.Time{}, false
		}
	}()
	option := r.option
	start := r.anchor(w)
	shift := rruleShift(w)
	if w.Before(start) {
		shift = rruleShift(start)
	}
	option.Dtstart = start.AddDate(shift, 0, 0)
	rule, err := rrule.NewRRule(option)
	if err != nil {
		return time.Time{}, false
	}
	at = rule.After(w.AddDate(shift, 0, 0), false)
	if at.IsZero() {
		return time.Time{}, false
	}
	return at.AddDate(-shift, 0, 0), true
}

// anchor moves DTSTART on by whole intervals, so that an old rule is as quick as a young one. The day, weekday
// and month it may stand for stay what they are.
func (r calendarRule) anchor(w time.Time) time.Time {
	start, n := r.option.Dtstart, max(r.option.Interval, 1)
	if !w.After(start) {
		return start
	}
	days := int(w.Sub(start) / (24 * time.Hour))
	switch r.option.Freq {
	case rrule.DAILY:
		return start.AddDate(0, 0, days/n*n)
	case rrule.WEEKLY:
		return start.AddDate(0, 0, days/7/n*n*7)
	case rrule.MONTHLY:
		months := (w.Year()-start.Year())*12 + int(w.Month()-start.Month()) - 1
		moved := start.AddDate(0, max(months, 0)/n*n, 0)
		if moved.Day() == start.Day() {
			return moved
		}
	case rrule.YEARLY:
		years := max(w.Year()-start.Year()-1, 0)
		moved := start.AddDate(years/n*n, 0, 0)
		if moved.Day() == start.Day() {
			return moved
		}
	}
	return start
}
