package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Describe writes a stored recurrence in words: "every second Wednesday at 14:00, until Thu 31 Dec 2026". A spec that
// can't be read is described by itself.
func Describe(spec string) string {
	s, err := read(spec)
	if err != nil {
		return spec
	}
	return s.words()
}

func (s schedule) words() string {
	var text string
	if s.wall != nil {
		text = s.wall.words()
	} else {
		text = "every " + spanWords(s.every.step)
	}
	if !s.from.IsZero() {
		text += ", from " + boundWords(s.from)
	}
	if s.times > 0 {
		text += fmt.Sprintf(", %d times", s.times)
		if s.times == 1 {
			text = strings.TrimSuffix(text, "1 times") + "once"
		}
	}
	if !s.until.IsZero() {
		text += ", until " + boundWords(s.until)
	}
	return text
}

// boundWords writes a bound, without its time when that is the edge of a day.
func boundWords(wall time.Time) string {
	if clock := wall.Format("15:04:05"); clock == "00:00:00" || clock == "23:59:59" {
		return dateText(wall)
	}
	return dateText(wall) + " at " + clockText(wall)
}

// spanWords writes an interval: "hour", "2 hours", "1 hour 30 minutes".
func spanWords(step time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}}
	var parts []string
	for _, u := range units {
		n := int(step / u.size)
		step %= u.size
		switch {
		case n == 1:
			parts = append(parts, "1 "+u.name)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", n, u.name))
		}
	}
	if len(parts) == 1 {
		return strings.TrimPrefix(parts[0], "1 ")
	}
	return strings.Join(parts, " ")
}

// nth writes a small ordinal as a word.
func nth(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	case 3:
		return "third"
	case 4:
		return "fourth"
	case 5:
		return "fifth"
	case -1:
		return "last"
	case -2:
		return "second-to-last"
	}
	return ordinal(n)
}

// everyNth writes "every day", "every second day", "every 10th day".
func everyNth(n int, noun string) string {
	if n <= 1 {
		return "every " + noun
	}
	return "every " + nth(n) + " " + noun
}

// dayList writes "Monday and Thursday", weekdays and weekends by their name.
func dayList(days [7]bool) string {
	if days == [7]bool{false, true, true, true, true, true, false} {
		return "weekday"
	}
	if count(days) == 6 {
		for d, on := range days {
			if !on {
				return "day except " + time.Weekday(d).String()
			}
		}
	}
	var names []string
	for i := range 7 {
		if d := (i + 1) % 7; days[d] {
			names = append(names, time.Weekday(d).String())
		}
	}
	return list(names, "and")
}

// clocks writes "at 09:00 and 12:30" for every hour and minute combined.
func clocks(hours, minutes []int) string {
	var times []string
	for _, h := range hours {
		for _, m := range minutes {
			times = append(times, minuteText(h*60+m))
		}
	}
	return "at " + list(times, "and")
}

// numbers writes "0, 15 and 30".
func numbers(ns []int, write func(int) string) string {
	texts := make([]string, len(ns))
	for i, n := range ns {
		texts[i] = write(n)
	}
	return list(texts, "and")
}

// ranges writes "9 to 17", "6, 8 and 20 to 23".
func ranges(ns []int) string {
	var texts []string
	for i := 0; i < len(ns); {
		j := i
		for j+1 < len(ns) && ns[j+1] == ns[j]+1 {
			j++
		}
		if j > i+1 {
			texts = append(texts, fmt.Sprintf("%d to %d", ns[i], ns[j]))
			i = j + 1
			continue
		}
		texts = append(texts, strconv.Itoa(ns[i]))
		i++
	}
	return list(texts, "and")
}

// bitList lists the bits that are set.
func bitList(mask uint64, high int) []int {
	var ns []int
	for n := range high + 1 {
		if mask&(1<<n) != 0 {
			ns = append(ns, n)
		}
	}
	return ns
}

func (r cronRule) words() string {
	text := r.dayWords() + r.monthWords() + r.clockWords()
	if strings.HasPrefix(text, "every day every ") {
		return strings.TrimPrefix(text, "every day ")
	}
	return text
}

// dayWords writes on which days, "" when the time words say it ("every 15 minutes").
func (r cronRule) dayWords() string {
	var dow [7]bool
	for d := range dow {
		dow[d] = r.dow&(1<<d) != 0
	}
	allDow := r.dow == 1<<7-1
	allDom := r.dom == 1<<32-2
	dom := "the " + numbers(bitList(r.dom, 31), ordinal)
	switch {
	case r.fields[2] == "*" && r.fields[4] == "*", allDow && allDom:
		if r.everyHour() {
			return ""
		}
		return "every day"
	case r.fields[2] == "*" || r.domStar && allDom:
		return "every " + dayList(dow)
	case r.fields[4] == "*" || r.dowStar && allDow:
		if r.month == 1<<13-2 {
			return "on " + dom + " of every month"
		}
		return "every year on " + dom
	case r.domStar || r.dowStar:
		return "on " + dom + " of the month if it is a " + strings.ReplaceAll(dayList(dow), " and ", " or ")
	}
	return "on " + dom + " of the month and also every " + dayList(dow)
}

func (r cronRule) monthWords() string {
	if r.month == 1<<13-2 {
		return ""
	}
	months := numbers(bitList(r.month, 12), func(n int) string { return time.Month(n).String() })
	if strings.HasPrefix(r.dayWords(), "every year") {
		return " of " + months
	}
	return " in " + months
}

func (r cronRule) clockWords() string {
	minutes, hours := bitList(r.minute, 59), bitList(r.hour, 23)
	text := ""
	switch {
	case len(hours)*len(minutes) <= 6:
		text = clocks(hours, minutes)
	case len(minutes) == 60:
		text = "every minute"
	case len(minutes) == 1 && minutes[0] == 0 && 24%len(hours) == 0 && evenly(hours, 24/len(hours)):
		text = "every " + spanWords(time.Duration(24/len(hours))*time.Hour) + " on the hour"
		hours = nil // said
	case len(minutes) > 1 && 60%len(minutes) == 0 && evenly(minutes, 60/len(minutes)):
		text = fmt.Sprintf("every %d minutes", 60/len(minutes))
	default:
		text = "at minute " + numbers(minutes, strconv.Itoa)
		if r.everyHour() {
			text += " of every hour"
		}
	}
	if len(hours)*len(minutes) > 6 && !r.everyHour() {
		text += " in the hours " + ranges(hours)
	}
	if r.dayWords()+r.monthWords() == "" {
		return text
	}
	return " " + text
}

// evenly says whether ns is 0, step, 2·step, ….
func evenly(ns []int, step int) bool {
	for i, n := range ns {
		if n != i*step {
			return false
		}
	}
	return true
}

func (r monthly) words() string {
	text := "on the " + numbers(r.days, ordinal) + " of every month"
	if len(r.days) == 1 && r.days[0] == 31 {
		text = "on the last day of every month"
	} else if r.days[len(r.days)-1] > 28 {
		text += " (or the last day of a shorter month)"
	}
	return text + " at " + minuteText(r.clock)
}

func (r yearly) words() string {
	text := fmt.Sprintf("every year on %d %s", r.day, r.month)
	if r.day > monthLen(2001, r.month) {
		text += " (28 February in other years)"
	}
	return text + " at " + minuteText(r.clock)
}

func (r lastWorkday) words() string {
	return "on the last working day (Monday to Friday) of every month at " + minuteText(r.clock)
}

func (r window) words() string {
	text := "every " + spanWords(time.Duration(r.step)*time.Minute) +
		" between " + minuteText(r.begin) + " and " + minuteText(r.end%(24*60))
	switch weekdayField(r.days) {
	case "*":
		return text
	case "1-5":
		return text + " on weekdays"
	}
	if count(r.days) == 6 {
		return text + " every " + dayList(r.days)
	}
	return text + " on " + dayList(r.days)
}

func (r anyOf) words() string {
	texts := make([]string, len(r))
	for i, rule := range r {
		texts[i] = rule.words()
	}
	return strings.Join(texts, "; and ")
}
