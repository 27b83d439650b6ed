package when

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

var rruleNames = [7]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// calendar builds recurrences by day, week, month and year.
func (b *builder) calendar() error {
	ph := b.ph
	if ph.window != nil {
		return ask("How often between %s and %s shall it be? Say for example \"every 2 hours between 9 and 18\".", ph.window[0].text(), ph.window[1].text())
	}
	if err := b.clocks(); err != nil {
		return err
	}
	if b.rec.interval < 1 || b.rec.interval > 1000 || b.rec.unit < uDay {
		return ask("%q is no recurrence I can do. How often shall it be?", b.p.rest(0))
	}
	if ph.begin != nil && ph.begin.weekday && b.base.Equal(midnight(b.p.wall)) && !b.open(b.base) {
		b.base = b.base.AddDate(0, 0, 7)
	}
	if ph.edge != edgeNone {
		b.edge()
	}
	if b.rec.unit >= uMonth && len(ph.clocks) > 0 && ph.clocks[0].bare && len(ph.doms)+len(ph.nth) == 0 && !ph.lastWork {
		return ask("Is %d a day or a time? Say for example \"on the %s\" or \"at %d\".", ph.clocks[0].hour, ordinal(ph.clocks[0].hour), ph.clocks[0].hour)
	}
	dated := len(ph.doms) > 0 || len(ph.nth) > 0 || ph.lastWork
	weekly := len(ph.weekdays) > 0 && len(ph.nth) == 0 || ph.weekend
	enough := b.rec.unit == uDay && len(ph.clocks) == b.rec.need || b.rec.unit == uWeek && len(ph.weekdays) == b.rec.need
	if b.rec.need > 1 && !enough {
		return ask("At which times shall it be, %q? Say for example \"every day at 8 and 20:00\".", b.rec.words)
	}
	switch b.rec.unit {
	case uDay:
		if dated || ph.monthNum != 0 {
			break
		}
		if weekly || ph.except != [7]bool{} {
			if b.rec.interval > 1 {
				break
			}
			return b.weekly()
		}
		return b.daily()
	case uWeek:
		if dated || ph.monthNum != 0 {
			break
		}
		return b.weekly()
	case uMonth:
		if weekly || ph.monthNum != 0 || ph.except != [7]bool{} {
			break
		}
		return b.monthly()
	case uYear:
		if weekly || ph.lastWork || ph.except != [7]bool{} || ph.ofMonth || len(ph.doms) > 0 && ph.monthNum == 0 {
			break
		}
		return b.yearly()
	}
	return ask("I can't repeat %q like that. Which days shall it be?", b.p.rest(0))
}

// edge turns "end of every month" into days.
func (b *builder) edge() {
	ph := b.ph
	begin := ph.edge == edgeBegin
	ph.edge, ph.ofMonth = edgeNone, false
	switch {
	case b.rec.unit == uMonth && begin:
		ph.doms = append(ph.doms, 1)
	case b.rec.unit == uMonth:
		ph.doms, b.lastDay = append(ph.doms, 31), true
	case b.rec.unit == uWeek && begin:
		ph.weekdays = append(ph.weekdays, int(time.Monday))
	case b.rec.unit == uWeek:
		b.p.note("I took the end of the week as Friday.")
		ph.weekdays = append(ph.weekdays, int(time.Friday))
	case b.rec.unit == uYear && begin:
		ph.monthNum, ph.doms = 1, []int{1}
	case b.rec.unit == uYear:
		ph.monthNum, ph.doms = 12, []int{31}
	}
}

// groups splits the times of day so that each group has one minute or one hour, as cron and RRULE combine them.
func (b *builder) groups() (hours, minutes [][]int) {
	byMinute := map[int][]int{}
	byHour := map[int][]int{}
	for _, m := range b.minutes {
		byMinute[m%60] = append(byMinute[m%60], m/60)
		byHour[m/60] = append(byHour[m/60], m%60)
	}
	if len(byHour) == 1 {
		hour := b.minutes[0] / 60
		return [][]int{{hour}}, [][]int{byHour[hour]}
	}
	for _, m := range b.minutes {
		if list, ok := byMinute[m%60]; ok {
			hours, minutes = append(hours, list), append(minutes, []int{m % 60})
			delete(byMinute, m%60)
		}
	}
	return hours, minutes
}

// cron adds cron lines for the times of day.
func (b *builder) cron(dom, month, dow string) {
	hours, minutes := b.groups()
	for i := range hours {
		b.specs = append(b.specs, fmt.Sprintf("cron %s %s %s %s %s", digitList(minutes[i]), digitList(hours[i]), dom, month, dow))
	}
}

func digitList(ns []int) string {
	texts := make([]string, len(ns))
	for i, n := range ns {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}

// rrule adds RRULEs for the times of day; rule is their other parts.
func (b *builder) rrule(start time.Time, rule string) {
	hours, minutes := b.groups()
	for i := range hours {
		first := start.Add(time.Duration(hours[i][0])*time.Hour + time.Duration(minutes[i][0])*time.Minute)
		text := "rrule DTSTART=" + first.Format(rruleLayout) + ";" + rule
		if len(hours[i]) > 1 {
			text += ";BYHOUR=" + digitList(hours[i])
		}
		if len(minutes[i]) > 1 {
			text += ";BYMINUTE=" + digitList(minutes[i])
		}
		b.specs = append(b.specs, text)
	}
}

// open says whether any time of day on a day is still to come.
func (b *builder) open(day time.Time) bool {
	return b.p.at(day, clock{minute: b.minutes[len(b.minutes)-1]}).After(b.p.now)
}

func (b *builder) daily() error {
	if b.rec.interval == 1 {
		b.cron("*", "*", "*")
		return nil
	}
	start := b.base
	for !b.open(start) {
		start = start.AddDate(0, 0, 1)
	}
	b.rrule(start, fmt.Sprintf("FREQ=DAILY;INTERVAL=%d", b.rec.interval))
	return nil
}

func (b *builder) weekly() error {
	days := b.weekdays()
	if days == ([7]bool{}) {
		return ask("That leaves no day of the week. Which days shall it be?")
	}
	named := len(b.ph.weekdays) > 0 || b.ph.weekend
	if !named && b.rec.unit == uWeek {
		days = [7]bool{}
		days[b.base.Weekday()] = true
		b.p.note("You named no day of the week: I took %s.", b.base.Weekday())
	}
	if b.ph.weekend {
		b.p.note("I took the weekend as Saturday and Sunday.")
	}
	if b.rec.interval == 1 {
		b.cron("*", "*", weekdayField(days))
		return nil
	}
	start := b.base
	if b.ph.begin == nil || !b.ph.begin.weekOnly {
		for i := 0; i < 8 && (!days[start.Weekday()] || !b.open(start)) && (named || b.ph.begin != nil); i++ {
			start = start.AddDate(0, 0, 1)
		}
	}
	var names []string
	for i := range 7 {
		if d := (i + 1) % 7; days[d] {
			names = append(names, rruleNames[d])
		}
	}
	b.rrule(start, fmt.Sprintf("FREQ=WEEKLY;INTERVAL=%d;BYDAY=%s", b.rec.interval, strings.Join(names, ",")))
	return nil
}

func (b *builder) monthly() error {
	ph := b.ph
	if ph.lastWork {
		if b.rec.interval > 1 || len(ph.doms) > 0 {
			return ask("I can do the last working day of every month only. When shall it be?")
		}
		for _, m := range b.minutes {
			b.specs = append(b.specs, lastWorkday{m}.String())
		}
		return nil
	}
	if len(ph.nth) > 0 {
		if len(ph.doms) > 0 {
			return ask("A weekday and a date of every month are two recurrences. Make two reminders of them.")
		}
		var names []string
		for _, n := range ph.nth {
			names = append(names, strconv.Itoa(n)+rruleNames[ph.weekdays[0]])
		}
		start := b.firstMonth(func(first time.Time) []time.Time {
			var found []time.Time
			for _, n := range ph.nth {
				if day, ok := nthWeekday(first, n, ph.weekdays[0]); ok {
					found = append(found, day)
				}
			}
			return found
		})
		b.rrule(start, b.frequency("MONTHLY")+";BYDAY="+strings.Join(names, ","))
		return nil
	}
	doms := slices.Clone(ph.doms)
	named := len(doms) > 0
	if !named {
		doms = []int{b.base.Day()}
		b.p.note("You named no day of the month: I took the %s.", ordinal(doms[0]))
	}
	slices.Sort(doms)
	doms = slices.Compact(doms)
	last := doms[len(doms)-1]
	if last > 28 && !b.lastDay {
		b.p.note("In months without a %s I take the last day.", ordinal(last))
	}
	if b.rec.interval == 1 {
		if last <= 28 {
			b.cron(digitList(doms), "*", "*")
			return nil
		}
		for _, m := range b.minutes {
			b.specs = append(b.specs, monthly{days: doms, clock: m}.String())
		}
		return nil
	}
	rule := ";BYMONTHDAY=" + digitList(doms)
	if last > 28 {
		if len(doms) > 1 {
			return ask("I can do one day above the 28th in every %s month only. Which day shall it be?", nth(b.rec.interval))
		}
		rule = ";BYMONTHDAY=28"
		for d := 29; d <= last; d++ {
			rule += "," + strconv.Itoa(d)
		}
		rule += ";BYSETPOS=-1"
	}
	start := b.base
	if named {
		start = b.firstMonth(func(first time.Time) []time.Time {
			var found []time.Time
			for _, d := range doms {
				found = append(found, first.AddDate(0, 0, min(d, monthLen(first.Year(), first.Month()))-1))
			}
			return found
		})
	}
	b.rrule(start, b.frequency("MONTHLY")+rule)
	return nil
}

// frequency writes FREQ and INTERVAL.
func (b *builder) frequency(freq string) string {
	if b.rec.interval == 1 {
		return "FREQ=" + freq
	}
	return fmt.Sprintf("FREQ=%s;INTERVAL=%d", freq, b.rec.interval)
}

// firstMonth returns the first day on or after base, still to come, among those that days lists for a month.
func (b *builder) firstMonth(days func(first time.Time) []time.Time) time.Time {
	first := date(b.base.Year(), b.base.Month(), 1)
	for range 24 {
		for _, day := range days(first) {
			if !day.Before(b.base) && b.open(day) {
				return day
			}
		}
		first = first.AddDate(0, 1, 0)
	}
	return b.base
}

func (b *builder) yearly() error {
	ph := b.ph
	month := time.Month(ph.monthNum)
	if len(ph.nth) > 0 {
		if month == 0 || len(ph.nth) > 1 {
			return ask("I can do one date a year. Of which month shall it be?")
		}
		start := b.firstMonth(func(first time.Time) []time.Time {
			if day, ok := nthWeekday(first, ph.nth[0], ph.weekdays[0]); ok && first.Month() == month {
				return []time.Time{day}
			}
			return nil
		})
		b.rrule(start, fmt.Sprintf("%s;BYMONTH=%d;BYDAY=%d%s", b.frequency("YEARLY"), month, ph.nth[0], rruleNames[ph.weekdays[0]]))
		return nil
	}
	day := 0
	switch {
	case len(ph.doms) > 1:
		return ask("I can do one date a year. Make two reminders of it.")
	case len(ph.doms) == 1:
		day = ph.doms[0]
	case month != 0:
		day = 1
		b.p.note("You named no day: I took the 1st.")
	default:
		month, day = b.base.Month(), b.base.Day()
		b.p.note("You named no date: I took %d %s.", day, month)
	}
	if !exists(2000, month, day) {
		return ask("There is no %d %s. Which day do you mean?", day, month)
	}
	if month == time.February && day == 29 {
		b.p.note("In years without a 29 February I take the 28th.")
		if b.rec.interval > 1 {
			return ask("I can do 29 February every year only. Which day shall it be?")
		}
	}
	if b.rec.interval == 1 {
		if month == time.February && day == 29 {
			for _, m := range b.minutes {
				b.specs = append(b.specs, yearly{month: month, day: day, clock: m}.String())
			}
			return nil
		}
		b.cron(strconv.Itoa(day), strconv.Itoa(int(month)), "*")
		return nil
	}
	start := b.base
	if month != b.base.Month() || day != b.base.Day() || len(ph.doms) > 0 {
		start = date(b.base.Year(), month, day)
		for start.Before(b.base) || !b.open(start) {
			start = start.AddDate(1, 0, 0)
		}
	}
	b.rrule(start, fmt.Sprintf("FREQ=YEARLY;INTERVAL=%d;BYMONTH=%d;BYMONTHDAY=%d", b.rec.interval, month, day))
	return nil
}
