package when

import (
	"fmt"
	"slices"
	"time"

	"github.com/teambition/rrule-go"
)

func (r calendarRule) words() string {
	o := r.option
	hours, minutes := slices.Clone(o.Byhour), slices.Clone(o.Byminute)
	if len(hours) == 0 {
		hours = []int{o.Dtstart.Hour()}
	}
	if len(minutes) == 0 {
		minutes = []int{o.Dtstart.Minute()}
	}
	slices.Sort(hours)
	slices.Sort(minutes)
	if text := r.dayWords(max(o.Interval, 1)); text != "" && len(hours)*len(minutes) <= 12 {
		return text + " " + clocks(hours, minutes)
	}
	return "by the calendar rule " + r.text
}

// dayWords writes the shapes of rule that people's words lead to, and "" for others.
func (r calendarRule) dayWords(n int) string {
	o := r.option
	days, nths := weekdaysOf(o)
	clamped := clampedDay(o)
	switch {
	case len(o.Bysetpos) > 0 && clamped == 0:
		return ""
	case o.Freq == rrule.DAILY && len(nths)+len(o.Bymonth)+len(o.Bymonthday) == 0 && days == [7]bool{}:
		return everyNth(n, "day")
	case o.Freq == rrule.WEEKLY && len(nths)+len(o.Bymonth)+len(o.Bymonthday) == 0:
		if days == ([7]bool{}) {
			days[o.Dtstart.Weekday()] = true
		}
		if count(days) == 1 {
			return everyNth(n, dayList(days))
		}
		if n == 1 {
			return "every " + dayList(days)
		}
		if dayList(days) == "weekday" {
			return fmt.Sprintf("every %d weeks on Monday to Friday", n)
		}
		return fmt.Sprintf("every %d weeks on %s", n, dayList(days))
	case o.Freq == rrule.MONTHLY && len(o.Bymonth) == 0:
		period := "of " + everyNth(n, "month")
		switch {
		case len(nths) > 0 && days == [7]bool{} && len(o.Bymonthday) == 0:
			return "on the " + list(nths, "and") + " " + period
		case clamped > 0:
			return "on the " + ordinal(clamped) + " " + period + " (or the last day of a shorter month)"
		case len(nths) == 0 && days == [7]bool{}:
			monthDays := o.Bymonthday
			if len(monthDays) == 0 {
				monthDays = []int{o.Dtstart.Day()}
			}
			if slices.Min(monthDays) < -1 {
				return ""
			}
			return "on the " + numbers(monthDays, monthDay) + " " + period
		}
	case o.Freq == rrule.YEARLY:
		months := o.Bymonth
		if len(months) == 0 {
			months = []int{int(o.Dtstart.Month())}
		}
		month := numbers(months, func(m int) string { return time.Month(m).String() })
		switch {
		case len(nths) > 0 && days == [7]bool{} && len(o.Bymonthday) == 0 && len(o.Bymonth) > 0:
			return "on the " + list(nths, "and") + " of " + month + " " + everyNth(n, "year")
		case len(nths) == 0 && days == [7]bool{} && len(o.Bymonthday) <= 1 && (len(o.Bymonthday) == len(o.Bymonth)):
			day := o.Dtstart.Day()
			if len(o.Bymonthday) == 1 {
				day = o.Bymonthday[0]
			}
			if day > 0 {
				return fmt.Sprintf("%s on %d %s", everyNth(n, "year"), day, month)
			}
		}
	}
	return ""
}

// weekdaysOf splits BYDAY into plain weekdays and counted ones, these in words ("first Monday").
func weekdaysOf(o rrule.ROption) (days [7]bool, nths []string) {
	for _, d := range o.Byweekday {
		day := (d.Day() + 1) % 7 // the library's week begins with Monday
		if d.N() == 0 {
			days[day] = true
			continue
		}
		nths = append(nths, nth(d.N())+" "+time.Weekday(day).String())
	}
	return days, nths
}

// clampedDay returns 29, 30 or 31 for a rule that means "that day, or the last of a shorter month", else 0.
func clampedDay(o rrule.ROption) int {
	if len(o.Bysetpos) != 1 || o.Bysetpos[0] != -1 || len(o.Bymonthday) < 2 || len(o.Byweekday) > 0 {
		return 0
	}
	for i, d := range o.Bymonthday {
		if d != 28+i {
			return 0
		}
	}
	return o.Bymonthday[len(o.Bymonthday)-1]
}

// monthDay writes a day of the month, -1 as "last day".
func monthDay(n int) string {
	if n == -1 {
		return "last day"
	}
	return ordinal(n)
}

func count(days [7]bool) (n int) {
	for _, on := range days {
		if on {
			n++
		}
	}
	return n
}
