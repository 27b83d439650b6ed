package when

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxTimes is the largest "for N times" that is read.
	maxTimes = 1000
	// minInterval is the shortest recurrence.
	minInterval = time.Minute
	// maxInterval is the longest elapsed-time recurrence; longer ones are meant by the calendar.
	maxInterval = 366 * 24 * time.Hour
)

// interval recurs by elapsed time, whatever the clock on the wall does.
type interval struct {
	step time.Duration
	from time.Time // the first run is one step later
}

// readInterval parses "2h from 2026-03-10T10:00:00Z".
func readInterval(words []string) (interval, error) {
	if len(words) != 3 || words[1] != "from" {
		return interval{}, errors.New(`an interval is written "every 2h from INSTANT"`)
	}
	step, err := readStep(words[0])
	if err != nil {
		return interval{}, err
	}
	if step > maxInterval {
		return interval{}, fmt.Errorf("the interval %s is longer than a year", words[0])
	}
	from, err := time.Parse(time.RFC3339, words[2])
	if err != nil {
		return interval{}, err
	}
	if from.Year() < 1900 || from.Year() > 2900 {
		return interval{}, fmt.Errorf("the interval begins in the year %d", from.Year())
	}
	return interval{step: step, from: from}, nil
}

// readStep parses whole minutes as 90m, 2h, 1h30m.
func readStep(text string) (time.Duration, error) {
	step, err := time.ParseDuration(text)
	if err != nil {
		return 0, err
	}
	if step < minInterval || step%time.Second != 0 {
		return 0, fmt.Errorf("the interval %s is not at least a minute", text)
	}
	return step, nil
}

// stepText writes a step as readStep reads it: "90m" is "1h30m", without zero parts.
func stepText(step time.Duration) string {
	text := step.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (r interval) String() string {
	return "every " + stepText(r.step) + " from " + r.from.UTC().Format(time.RFC3339)
}

func (r interval) next(zone *time.Location, after time.Time, times int) (time.Time, bool) {
	// Seconds, as a Duration ends after 292 years.
	n := int64(1)
	step := int64(r.step / time.Second)
	if gone := after.Unix() - r.from.Unix(); gone >= step {
		n = gone/step + 1
	}
	if times > 0 && n > int64(times) {
		return time.Time{}, false
	}
	return time.Unix(r.from.Unix()+n*step, 0).In(zone), true
}

// monthly runs on days of every month; 29, 30 and 31 mean the last day where a month is shorter.
type monthly struct {
	days  []int
	clock int // minute of the day
}

// readMonthly parses "1,31 09:00".
func readMonthly(words []string) (monthly, error) {
	if len(words) != 2 {
		return monthly{}, errors.New(`a monthly recurrence is written "monthly 1,31 09:00"`)
	}
	clock, err := readClock(words[1])
	if err != nil {
		return monthly{}, err
	}
	r := monthly{clock: clock}
	for text := range strings.SplitSeq(words[0], ",") {
		day, err := strconv.Atoi(text)
		if err != nil || day < 1 || day > 31 {
			return monthly{}, fmt.Errorf("%q is no day of a month", text)
		}
		r.days = append(r.days, day)
	}
	slices.Sort(r.days)
	r.days = slices.Compact(r.days)
	return r, nil
}

func (r monthly) String() string {
	days := make([]string, len(r.days))
	for i, d := range r.days {
		days[i] = strconv.Itoa(d)
	}
	return "monthly " + strings.Join(days, ",") + " " + minuteText(r.clock)
}

func (r monthly) next(w time.Time) (time.Time, bool) {
	for month := date(w.Year(), w.Month(), 1); ; month = month.AddDate(0, 1, 0) {
		for _, day := range r.days {
			day = min(day, monthLen(month.Year(), month.Month()))
			if at := onClock(month.AddDate(0, 0, day-1), r.clock); at.After(w) {
				return at, true
			}
		}
	}
}

// yearly runs on one date a year; 29 February means the 28th where there is none.
type yearly struct {
	month time.Month
	day   int
	clock int
}

// readYearly parses "02-29 09:00".
func readYearly(words []string) (yearly, error) {
	if len(words) != 2 {
		return yearly{}, errors.New(`a yearly recurrence is written "yearly 02-29 09:00"`)
	}
	clock, err := readClock(words[1])
	if err != nil {
		return yearly{}, err
	}
	day, err := time.Parse("2006-01-02", "2000-"+words[0])
	if err != nil {
		return yearly{}, fmt.Errorf("%q is no day of a year", words[0])
	}
	return yearly{month: day.Month(), day: day.Day(), clock: clock}, nil
}

func (r yearly) String() string {
	return fmt.Sprintf("yearly %02d-%02d %s", r.month, r.day, minuteText(r.clock))
}

func (r yearly) next(w time.Time) (time.Time, bool) {
	for year := w.Year(); ; year++ {
		day := min(r.day, monthLen(year, r.month))
		if at := onClock(date(year, r.month, day), r.clock); at.After(w) {
			return at, true
		}
	}
}

// lastWorkday runs on the last Monday-to-Friday day of every month. Public holidays are not known to it.
type lastWorkday struct{ clock int }

// readLastWorkday parses "17:00".
func readLastWorkday(words []string) (lastWorkday, error) {
	if len(words) != 1 {
		return lastWorkday{}, errors.New(`the last working day of the month is written "lastworkday 17:00"`)
	}
	clock, err := readClock(words[0])
	return lastWorkday{clock}, err
}

func (r lastWorkday) String() string { return "lastworkday " + minuteText(r.clock) }

func (r lastWorkday) next(w time.Time) (time.Time, bool) {
	for month := date(w.Year(), w.Month(), 1); ; month = month.AddDate(0, 1, 0) {
		if at := onClock(lastWorkdayOf(month), r.clock); at.After(w) {
			return at, true
		}
	}
}

// lastWorkdayOf returns the last Monday-to-Friday day of the month that begins at first.
func lastWorkdayOf(first time.Time) time.Time {
	day := first.AddDate(0, 1, -1)
	for day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
		day = day.AddDate(0, 0, -1)
	}
	return day
}

// anyOf runs whenever one of its rules does.
type anyOf []wallRule

// readAny parses wall-clock rules with " ; " between them.
func readAny(words []string) (anyOf, error) {
	var rules anyOf
	for len(words) > 0 {
		end := slices.Index(words, ";")
		if end < 0 {
			end = len(words)
		}
		if end > 0 && words[0] == "any" || len(rules) == 20 {
			return nil, errors.New(`an "any" holds at most 20 rules and no "any"`)
		}
		rule, err := readWall(words[:end])
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
		words = words[min(end+1, len(words)):]
	}
	if len(rules) == 0 {
		return nil, errors.New(`an "any" needs rules`)
	}
	return rules, nil
}

func (r anyOf) next(w time.Time) (first time.Time, found bool) {
	for _, rule := range r {
		at, ok := rule.next(w)
		if ok && (!found || at.Before(first)) {
			first, found = at, true
		}
	}
	return first, found
}

// readClock parses a time of day as "09:00" into minutes.
func readClock(text string) (int, error) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != 5 {
		return 0, fmt.Errorf("%q is no time of day", text)
	}
	return t.Hour()*60 + t.Minute(), nil
}

// minuteText writes minutes of the day as readClock reads them.
func minuteText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// onClock returns the wall of a minute of the day.
func onClock(day time.Time, minute int) time.Time {
	return midnight(day).Add(time.Duration(minute) * time.Minute)
}
