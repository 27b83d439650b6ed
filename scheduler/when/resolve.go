package when

import "time"

// resolved is a day that was named.
type resolved struct {
	day  time.Time // midnight, on the wall
	roll rollKind  // what to do when it is over already
}

// rollKind says by what a day is moved on when its time is past: the next Friday, the next 31st. A date with its year,
// today and tomorrow stay where they are.
type rollKind int

const (
	rollNone rollKind = iota
	rollWeek
	rollMonth
	rollYear
)

// resolve works out the day of ph. It is only asked when hasDay.
func (p *parser) resolve(ph *parts) (resolved, error) {
	d, err := p.resolveDay(ph)
	if err != nil {
		return resolved{}, err
	}
	if ph.after != nil {
		if !ph.after.calendar() {
			return resolved{}, ask("I can count days, weeks and months from a date, not hours. When exactly do you mean?")
		}
		d = resolved{day: ph.after.add(d.day)}
	}
	return d, nil
}

func (p *parser) resolveDay(ph *parts) (resolved, error) {
	today := midnight(p.wall)
	if ph.clashes() {
		return resolved{}, clash("I found more than one date in %q. Which one?", p.rest(0))
	}
	switch {
	case !ph.date.IsZero():
		if len(ph.weekdays) == 1 && ph.weekdays[0] != int(ph.date.Weekday()) || len(ph.weekdays) > 1 {
			return resolved{}, ask("%s is a %s. Which date do you mean?", dateText(ph.date), ph.date.Weekday())
		}
		return resolved{day: ph.date}, nil
	case len(ph.nth) > 0 || ph.lastWork:
		return p.resolveNth(ph)
	case ph.edge != edgeNone:
		return p.resolveEdge(ph)
	case ph.monthNum != 0:
		return p.resolveDate(ph)
	case len(ph.doms) > 0:
		return p.resolveDayOfMonth(ph)
	case len(ph.weekdays) > 0:
		return p.resolveWeekday(ph)
	case ph.weekend:
		week := monday(today)
		if ph.next {
			week = week.AddDate(0, 0, 7)
		} else if !ph.week.IsZero() {
			week = ph.week
		}
		day := week.AddDate(0, 0, 5)
		switch {
		case !day.Before(today):
		case ph.this:
			return resolved{day: today}, nil // it is Sunday
		default:
			day = day.AddDate(0, 0, 7)
		}
		p.note("I took the weekend as Saturday.")
		return resolved{day: day, roll: rollWeek}, nil
	case !ph.week.IsZero():
		if ph.week.Equal(monday(today)) {
			return resolved{}, ask("Which day of this week?")
		}
		p.note("You named no day: I took Monday.")
		return resolved{day: ph.week}, nil
	case !ph.month.IsZero():
		if !ph.month.After(today) {
			return resolved{}, ask("Which day of this month?")
		}
		p.note("You named no day: I took the 1st.")
		return resolved{day: ph.month}, nil
	case ph.year != 0:
		if ph.year == today.Year() {
			return resolved{}, ask("Which day of this year?")
		}
		p.note("You named no day: I took 1 January.")
		return resolved{day: date(ph.year, time.January, 1)}, nil
	}
	return resolved{}, ask("Which day do you mean by %q?", p.rest(0))
}

// resolveNth works out "first monday of march", "last working day of next month".
func (p *parser) resolveNth(ph *parts) (resolved, error) {
	if len(ph.nth) > 1 {
		return resolved{}, clash("I found more than one date in %q. Do you mean every month?", p.rest(0))
	}
	pick := func(first time.Time) (time.Time, bool) {
		if ph.lastWork {
			return lastWorkdayOf(first), true
		}
		return nthWeekday(first, ph.nth[0], ph.weekdays[0])
	}
	var first time.Time
	roll := rollNone
	switch {
	case !ph.month.IsZero():
		first = ph.month
	case ph.monthNum != 0 && ph.year != 0:
		first = date(ph.year, time.Month(ph.monthNum), 1)
	case ph.monthNum != 0:
		first, roll = date(p.wall.Year(), time.Month(ph.monthNum), 1), rollYear
	default:
		return resolved{}, ask("%q: of which month, or of every month?", ph.words)
	}
	day, ok := pick(first)
	if ok && day.Before(midnight(p.wall)) && roll == rollYear {
		first = first.AddDate(1, 0, 0)
		day, ok = pick(first)
	}
	if !ok {
		return resolved{}, ask("%s %d has no %s %s. Which day do you mean?", first.Month(), first.Year(), nth(ph.nth[0]), time.Weekday(ph.weekdays[0]))
	}
	return resolved{day: day}, nil
}

// nthWeekday returns the n-th weekday of the month that begins at first, the last one for -1.
func nthWeekday(first time.Time, n, weekday int) (time.Time, bool) {
	if n < 0 {
		last := first.AddDate(0, 1, -1)
		return last.AddDate(0, 0, -(int(last.Weekday())-weekday+7)%7), true
	}
	day := first.AddDate(0, 0, (weekday-int(first.Weekday())+7)%7+7*(n-1))
	return day, day.Month() == first.Month()
}

// resolveEdge works out "end of the month".
func (p *parser) resolveEdge(ph *parts) (resolved, error) {
	var first, last time.Time
	roll := rollNone
	switch ph.edgeUnit {
	case uWeek:
		first = ph.week
		last = first.AddDate(0, 0, 4)
		if day := map[edge]time.Time{edgeBegin: first, edgeEnd: last}[ph.edge]; day.Before(midnight(p.wall)) {
			first, last = first.AddDate(0, 0, 7), last.AddDate(0, 0, 7)
		}
		roll = rollWeek
		if ph.edge == edgeEnd {
			p.note("I took the end of the week as Friday.")
		}
	case uYear:
		first, last = date(ph.year, time.January, 1), date(ph.year, time.December, 31)
	default:
		first = ph.month
		if ph.monthNum != 0 {
			year := max(ph.year, p.wall.Year())
			first = date(year, time.Month(ph.monthNum), 1)
			if ph.year == 0 && first.AddDate(0, 1, -1).Before(midnight(p.wall)) {
				first = first.AddDate(1, 0, 0)
			}
		}
		last = first.AddDate(0, 1, -1)
	}
	if ph.edge == edgeEnd {
		return resolved{day: last, roll: roll}, nil
	}
	if first.Before(midnight(p.wall)) && ph.edgeUnit == uMonth && ph.monthNum == 0 {
		return resolved{day: first.AddDate(0, 1, 0)}, nil
	}
	return resolved{day: first, roll: roll}, nil
}

// resolveDate works out a date with its month.
func (p *parser) resolveDate(ph *parts) (resolved, error) {
	month := time.Month(ph.monthNum)
	if len(ph.doms) > 1 {
		return resolved{}, clash("I found more than one date in %q. Which one?", p.rest(0))
	}
	day := 1
	switch {
	case len(ph.doms) == 1:
		day = ph.doms[0]
	case len(ph.weekdays) > 0:
		return resolved{}, ask("Which %s of %s do you mean?", dayList(mask(ph.weekdays)), month)
	default:
		p.note("You named no day: I took the 1st.")
	}
	year, roll := ph.year, rollNone
	if year == 0 {
		year, roll = p.wall.Year(), rollYear
		if month < p.wall.Month() || month == p.wall.Month() && day < p.wall.Day() {
			year++
		}
	}
	if year < 1900 || year > p.wall.Year()+maxYears {
		return resolved{}, ask("The year %d is out of my reach. Which year do you mean?", year)
	}
	if !exists(year, month, day) {
		return resolved{}, ask("There is no %d %s %d. Which day do you mean?", day, month, year)
	}
	at := date(year, month, day)
	if len(ph.weekdays) > 1 || len(ph.weekdays) == 1 && ph.weekdays[0] != int(at.Weekday()) {
		return resolved{}, ask("%s is a %s. Which day do you mean?", dateText(at), at.Weekday())
	}
	return resolved{day: at, roll: roll}, nil
}

// resolveDayOfMonth works out "the 31st", of the month that was named or of the next that has one.
func (p *parser) resolveDayOfMonth(ph *parts) (resolved, error) {
	if len(ph.doms) > 1 || ph.year != 0 {
		return resolved{}, ask("Which date do you mean by %q?", p.rest(0))
	}
	day := ph.doms[0]
	first, roll := date(p.wall.Year(), p.wall.Month(), 1), rollMonth
	if !ph.month.IsZero() {
		first, roll = ph.month, rollNone
		if !exists(first.Year(), first.Month(), day) {
			return resolved{}, ask("There is no %d %s %d. Which day do you mean?", day, first.Month(), first.Year())
		}
	} else {
		if day < p.wall.Day() {
			first = first.AddDate(0, 1, 0)
		}
		for !exists(first.Year(), first.Month(), day) {
			p.note("%s has no %s: I took the next month that has one.", first.Month(), ordinal(day))
			first = first.AddDate(0, 1, 0)
		}
	}
	at := first.AddDate(0, 0, day-1)
	if len(ph.weekdays) > 1 || len(ph.weekdays) == 1 && ph.weekdays[0] != int(at.Weekday()) {
		return resolved{}, ask("%s is a %s. Which day do you mean?", dateText(at), at.Weekday())
	}
	if len(ph.weekdays) == 1 {
		roll = rollNone
	}
	return resolved{day: at, roll: roll}, nil
}

// resolveWeekday works out "friday", "next friday", "friday next week".
func (p *parser) resolveWeekday(ph *parts) (resolved, error) {
	if len(ph.weekdays) > 1 {
		return resolved{}, ask("Do you mean every %s, or which one of them?", dayList(mask(ph.weekdays)))
	}
	if !ph.month.IsZero() || ph.year != 0 || ph.ofMonth {
		return resolved{}, ask("Which %s do you mean by %q?", time.Weekday(ph.weekdays[0]), p.rest(0))
	}
	if ph.article && ph.week.IsZero() && ph.more == 0 {
		return resolved{}, ask("Do you mean every %s, or the coming one?", time.Weekday(ph.weekdays[0]))
	}
	today := midnight(p.wall)
	inWeek := (ph.weekdays[0] + 6) % 7 // from Monday
	d := resolved{roll: rollWeek}
	switch {
	case !ph.week.IsZero():
		d = resolved{day: ph.week.AddDate(0, 0, inWeek)}
	case ph.next && p.lang.nextIsComing:
		d = resolved{day: today.AddDate(0, 0, 1+(ph.weekdays[0]-int(today.Weekday())+6)%7)}
		p.note("I took the coming %s.", d.day.Weekday())
	case ph.next:
		d = resolved{day: monday(today).AddDate(0, 0, 7+inWeek)}
		p.note("I took next %s as the one of next week.", d.day.Weekday())
	default:
		d.day = today.AddDate(0, 0, (ph.weekdays[0]-int(today.Weekday())+7)%7)
	}
	if ph.more != 0 {
		d = resolved{day: d.day.AddDate(0, 0, ph.more)}
	}
	return d, nil
}

// mask turns a list of weekdays into a set.
func mask(days []int) (set [7]bool) {
	for _, d := range days {
		set[d] = true
	}
	return set
}
