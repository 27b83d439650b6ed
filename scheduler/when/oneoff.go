package when

import "time"

// result puts the parts together.
func (p *parser) result(ph *parts) (Result, error) {
	if p.recurs(ph) {
		return p.recurring(ph)
	}
	res, err := p.once(ph)
	if err != nil {
		return Result{}, err
	}
	if !res.At.After(p.now) {
		return Result{}, &PastError{At: res.At, Now: p.now}
	}
	if tooFar(res.At, p.now) {
		return Result{}, ask("%s is more than a hundred years ahead. When do you mean?", Format(res.At))
	}
	return res, nil
}

// recurs says whether the parts mean a recurrence.
func (p *parser) recurs(ph *parts) bool {
	switch {
	case ph.rec != nil, ph.plural:
		return true
	case len(ph.doms) > 1 && ph.monthNum == 0 && ph.month.IsZero() && ph.year == 0:
		p.note("I took it as every month.")
		ph.rec = &recurrence{unit: uMonth, interval: 1}
		return true
	case (len(ph.nth) > 0 || ph.lastWork) && ph.ofMonth && ph.month.IsZero() && ph.monthNum == 0:
		p.note("I took it as every month.")
		ph.rec = &recurrence{unit: uMonth, interval: 1}
		return true
	}
	return false
}

// once works out a single instant.
func (p *parser) once(ph *parts) (Result, error) {
	switch {
	case ph.begin != nil || ph.until != nil || ph.lasts != nil || ph.times > 1 || ph.window != nil || ph.except != [7]bool{}:
		return Result{}, ask("How often shall it be? Say for example \"every day at 9\" with %q.", p.rest(0))
	case len(ph.clocks) > 1:
		return Result{}, clash("I found two times of day, %s and %s. Which one?", ph.clocks[0].text(), ph.clocks[1].text())
	case !ph.stamp.IsZero():
		if ph.dated() || len(ph.clocks) > 0 || ph.span != nil || ph.part != partNone {
			return Result{}, clash("I found more than one time in %q. Which one?", p.rest(0))
		}
		at := ph.stamp.In(p.now.Location())
		if len(ph.weekdays) > 0 && ph.weekdays[0] != int(at.Weekday()) {
			return Result{}, ask("%s is a %s. Which day do you mean?", dateText(at), at.Weekday())
		}
		return Result{At: at}, nil
	case ph.span != nil:
		return p.distance(ph)
	}
	if ph.monthNum != 0 && len(ph.doms)+len(ph.nth) == 0 && len(ph.clocks) > 0 && !ph.lastWork && ph.edge == edgeNone {
		return Result{}, ask("Which day of %s?", time.Month(ph.monthNum))
	}
	var d resolved
	if ph.hasDay() {
		var err error
		if d, err = p.resolve(ph); err != nil {
			return Result{}, err
		}
	} else if ph.after != nil {
		return Result{}, &stuckError{p.rest(0)}
	}
	return p.onDay(ph, d)
}

// distance works out "in 2 hours", "in 3 days at 9", "in 2 weeks on friday".
func (p *parser) distance(ph *parts) (Result, error) {
	s := *ph.span
	timed := len(ph.clocks) > 0 || ph.part != partNone
	days := s
	days.elapsed = 0
	base := days.add(p.wall)
	if !s.calendar() {
		if timed || ph.hasDay() {
			return Result{}, clash("I found more than one time in %q. Which one?", p.rest(0))
		}
		at := p.now
		if days != (span{}) {
			at = instantOf(base, p.now.Location())
		}
		return Result{At: at.Add(s.elapsed).Truncate(time.Second), Relative: true}, nil
	}
	day := resolved{day: midnight(base)}
	switch {
	case len(ph.weekdays) == 1 && len(ph.nth) == 0 && !ph.next && ph.more == 0 && (s.days%7 == 0 || s.months > 0):
		day.day = monday(base).AddDate(0, 0, (ph.weekdays[0]+6)%7)
	case ph.hasDay():
		return Result{}, clash("I found more than one date in %q. Which one?", p.rest(0))
	case !timed:
		return Result{At: instantOf(base, p.now.Location()).Truncate(time.Second), Relative: true}, nil
	}
	return p.onDay(ph, day)
}

// onDay finds the time of day; without a day it is the next time that clock shows.
func (p *parser) onDay(ph *parts, d resolved) (Result, error) {
	var res Result
	c := clock{hour: defaultHour, sure: true, half: -1}
	switch {
	case len(ph.clocks) == 1:
		c = ph.clocks[0]
		if err := p.withPart(&c, ph.part, ph.today); err != nil {
			return Result{}, err
		}
	case ph.part != partNone:
		c = partClock(ph.part)
		p.note("I took %s as %s.", partName(ph.part), c.text())
	case d.day.IsZero():
		return Result{}, &stuckError{p.rest(0)}
	default:
		res.DateOnly = true
	}
	if d.day.IsZero() {
		at, err := p.nextClock(c)
		return Result{At: at}, err
	}
	at, err := p.clockOn(ph, d, c, res.DateOnly)
	res.At = at
	return res, err
}

// clockOn puts a time of day on a day, and moves it on if it is past and the day may move.
func (p *parser) clockOn(ph *parts, d resolved, c clock, dateOnly bool) (time.Time, error) {
	today := d.day.Equal(midnight(p.wall))
	explicit := today && d.roll == rollNone
	if explicit && c.open() && !c.midnight && !p.at(d.day, c).After(p.now) && c.hour <= 12 {
		later := c
		later.hour = c.hour%12 + 12
		if p.at(d.day, later).After(p.now) && c.hour < 12 {
			p.note("I took it as %s.", later.text())
			return p.at(d.day, later), nil
		}
	}
	if !explicit {
		c = p.likely(c)
	}
	if c.midnight && len(ph.clocks) > 0 {
		if !explicit && d.day.After(midnight(p.wall)) {
			p.note("I took midnight as the end of that day.")
		}
		d.day = d.day.AddDate(0, 0, 1)
	}
	if c.hour < 6 && (ph.part == partNight || ph.part == partEvening && ph.today) && len(ph.clocks) > 0 && !c.midnight {
		p.note("I took it as the night after that day.")
		d.day = d.day.AddDate(0, 0, 1)
	}
	at := p.at(d.day, c)
	if at.After(p.now) || !today {
		return at, p.toldGap(at, d.day, c)
	}
	switch {
	case d.roll == rollWeek:
		p.note("That time is over today: I took next week's.")
		return p.at(d.day.AddDate(0, 0, 7), c), nil
	case d.roll == rollMonth:
		p.note("That time is over today: I took the next month that has that day.")
		first := date(d.day.Year(), d.day.Month()+1, 1)
		for !exists(first.Year(), first.Month(), d.day.Day()) {
			first = first.AddDate(0, 1, 0)
		}
		return p.at(first.AddDate(0, 0, d.day.Day()-1), c), nil
	case dateOnly:
		return time.Time{}, ask("At what time today?")
	case len(ph.clocks) == 0:
		return time.Time{}, ask("It is %s already. At what time today?", clockText(p.wall))
	}
	return at, nil // result says that it is past
}

// at maps a clock on a day to an instant. When the clock shows the time twice and the first is over, it is the second.
func (p *parser) at(day time.Time, c clock) time.Time {
	wall := day.Add(time.Duration(c.seconds()) * time.Second)
	at := instantOf(wall, p.now.Location())
	if !at.After(p.now) {
		for _, gap := range []time.Duration{30 * time.Minute, time.Hour} {
			if again := at.Add(gap); again.After(p.now) && wallOf(again, p.now.Location()).Equal(wall) {
				return again
			}
		}
	}
	return at
}

// toldGap notes that a time is skipped that day.
func (p *parser) toldGap(at, day time.Time, c clock) error {
	wall := day.Add(time.Duration(c.seconds()) * time.Second)
	if got := wallOf(at, p.now.Location()); !got.Equal(wall) {
		p.note("The clocks go forward that day and skip %s: I took %s.", c.text(), clockText(got))
	}
	return nil
}

// likely reads an hour from 1 to 5 as the afternoon: nobody is reminded at 3 in the night unasked.
func (p *parser) likely(c clock) clock {
	if !c.sure && !c.plain && c.hour >= 1 && c.hour <= 5 {
		c.hour += 12
		p.note("I took it as %s.", c.text())
	}
	return c
}

// nextClock finds the next time a clock is shown. Where it may be morning or evening it is the nearer one, but
// nobody is woken by it who is not awake now.
func (p *parser) nextClock(c clock) (time.Time, error) {
	today := midnight(p.wall)
	hours := []int{c.hour}
	if !c.sure && !c.midnight {
		hours = []int{c.hour % 12, c.hour%12 + 12}
	}
	var best time.Time
	var chosen clock
	late := p.wall.Hour() < 5 // whoever speaks now is awake
	for _, hour := range hours {
		for day := range 3 {
			candidate := c
			candidate.hour = hour
			at := p.at(today.AddDate(0, 0, day), candidate)
			if !at.After(p.now) {
				continue
			}
			night := hour < 6 && len(hours) > 1 && (!late || day > 0)
			if !night && (best.IsZero() || at.Before(best)) {
				best, chosen = at, candidate
			}
			break
		}
	}
	if len(hours) > 1 && chosen.hour != c.hour {
		p.note("I took it as %s.", chosen.text())
	}
	return best, nil
}
