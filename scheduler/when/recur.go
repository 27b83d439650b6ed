package when

import (
	"slices"
	"strings"
	"time"
)

// recurrence is what "every …" says; the days it is on are in the other parts.
type recurrence struct {
	unit     int
	interval int
	elapsed  time.Duration // instead of unit and interval
	aligned  bool          // on the hour
	need     int           // "twice a day" needs two times; 0 without
	words    string
}

// recurrence reads "every 2 weeks", "daily", "every second" before a weekday, "twice a day".
func (p *parser) recurrence(ph *parts) (bool, error) {
	begin := p.i
	p.skip(kComma, kOf, kOn)
	rec, ok, err := p.plainRecurrence(ph)
	if err != nil || !ok {
		return false, err
	}
	rec.words = strings.TrimPrefix(p.from(begin)+" "+p.rest(p.i), "of ")
	if old := ph.rec; old != nil {
		// "every Monday, every week" says one thing twice; anything else is two recurrences.
		if old.elapsed != 0 || rec.elapsed != 0 || old.interval != 1 && rec.interval != 1 {
			return false, clash("I found two recurrences, %q and %q. Make two reminders of it.", old.words, rec.words)
		}
		wider := old.unit == uWeek && rec.unit == uMonth && len(ph.nth) > 0 || old.unit == uMonth && rec.unit == uYear
		if old.unit != rec.unit && !wider {
			return false, clash("I found two recurrences, %q and %q. Make two reminders of it.", old.words, rec.words)
		}
		rec.interval = max(rec.interval, old.interval)
	}
	ph.rec = &rec
	return true, nil
}

func (p *parser) plainRecurrence(ph *parts) (recurrence, bool, error) {
	if m, ok := p.take(kAdverb); ok {
		return p.units(m.n, m.m), true, nil
	}
	if rec, ok := p.timesPer(); ok {
		return rec, true, nil
	}
	if !p.one(kEvery) {
		return recurrence{}, false, nil
	}
	if !p.sees(0, kUnit) {
		p.one(kThe) // in Spanish "día" is a unit, and an article before a number
	}
	if p.one(kOther) {
		return p.everyOther(2)
	}
	begin := p.i
	if rec, ok, err := p.everyNth(ph); ok || err != nil {
		return rec, ok, err
	}
	p.i = begin
	if length, ok, err := p.length(); ok || err != nil {
		rec := p.everyLength(length)
		p.onTheHour(&rec)
		return rec, ok, err
	}
	if m, ok := p.take(kUnit); ok {
		if part := p.andPart(); part > 0 {
			length, ok := spanOf((whole+part)*m.m, m.n)
			return p.everyLength(length), ok, nil
		}
		rec := p.units(m.n, m.m)
		p.onTheHour(&rec)
		return rec, true, nil
	}
	switch {
	case p.sees(0, kWeekday, kWorkday, kWeekend):
		return recurrence{unit: uWeek, interval: 1}, true, nil
	case p.dayOfMonthFollows():
		return recurrence{unit: uMonth, interval: 1}, true, nil
	case p.sees(0, kPart):
		return recurrence{unit: uDay, interval: 1}, true, nil
	case p.nthsFollow():
		return recurrence{unit: uMonth, interval: 1}, true, nil
	case p.sees(0, kMonth), p.monthFollows():
		return recurrence{unit: uYear, interval: 1}, true, nil
	case p.sees(0, kLast) && (p.sees(1, kWeekday, kWorkday) || p.unitAt(1, uDay)), p.sees(0, kEnd, kStart):
		return recurrence{unit: uMonth, interval: 1}, true, nil
	}
	return recurrence{}, false, nil
}

// units makes a recurrence of n units.
func (p *parser) units(unit, n int) recurrence {
	switch unit {
	case uSecond:
		return recurrence{elapsed: time.Duration(n) * time.Second}
	case uMinute:
		return recurrence{elapsed: time.Duration(n) * time.Minute}
	case uHour:
		return recurrence{elapsed: time.Duration(n) * time.Hour}
	}
	return recurrence{unit: unit, interval: n}
}

// onTheHour takes "on the hour" after "every hour".
func (p *parser) onTheHour(rec *recurrence) {
	begin := p.i
	if p.one(kOn) && p.one(kThe) && p.unitAt(0, uHour) {
		p.i++
		rec.aligned = true
		return
	}
	p.i = begin
}

// everyLength makes a recurrence of a length: weeks and months go by the calendar, broken days by the clock.
func (p *parser) everyLength(length span) recurrence {
	switch {
	case length.elapsed != 0:
		return recurrence{elapsed: length.elapsed + time.Duration(length.days)*24*time.Hour}
	case length.months != 0 && length.days == 0 && length.months%12 == 0:
		return recurrence{unit: uYear, interval: length.months / 12}
	case length.months != 0 && length.days == 0:
		return recurrence{unit: uMonth, interval: length.months}
	case length.months == 0 && length.days%7 == 0:
		return recurrence{unit: uWeek, interval: length.days / 7}
	case length.months == 0:
		return recurrence{unit: uDay, interval: length.days}
	}
	return recurrence{unit: -1}
}

// everyOther reads what follows "every other".
func (p *parser) everyOther(n int) (recurrence, bool, error) {
	if m, ok := p.take(kUnit); ok {
		return p.units(m.n, m.m*n), true, nil
	}
	if p.sees(0, kWeekday) {
		return recurrence{unit: uWeek, interval: n}, true, nil
	}
	if p.sees(0, kPart) {
		return recurrence{unit: uDay, interval: n}, true, nil
	}
	if p.sees(0, kMonth) {
		return recurrence{unit: uYear, interval: n}, true, nil
	}
	if p.sees(0, kWorkday, kWeekend) {
		return recurrence{}, false, ask("I can't do every %s %s. Every day, every weekday, or every %s Monday would work.", nth(n), p.items[p.i].text, nth(n))
	}
	return recurrence{}, false, nil
}

// everyNth reads "second wednesday", "first monday", "third day" after "every".
func (p *parser) everyNth(ph *parts) (recurrence, bool, error) {
	m, ok := p.take(kOrd)
	if !ok || m.n < 1 {
		return recurrence{}, false, nil
	}
	if !p.sees(0, kWeekday) {
		if p.sees(0, kUnit, kWorkday, kWeekend) || p.sees(0, kPart) && p.literal(-1).number < 0 {
			if m.n == 1 {
				return recurrence{}, false, nil
			}
			return p.everyOther(m.n)
		}
		return recurrence{}, false, nil
	}
	// A numbered weekday "of the month" is one day of each month; without it, "every second" means every two weeks.
	p.i++
	ofMonth := p.sees(0, kOf) && (p.unitAt(1, uMonth) || p.sees(1, kThe, kEvery) && p.unitAt(2, uMonth) || p.sees(1, kMonth)) ||
		p.sees(0, kEvery) && p.unitAt(1, uMonth)
	p.i--
	switch {
	case ofMonth || m.n == 1:
		day, _ := p.take(kWeekday)
		if m.n > 5 {
			return recurrence{}, false, ask("No month has a %s %s. Which day do you mean?", ordinal(m.n), time.Weekday(day.n))
		}
		if len(ph.weekdays) > 0 {
			return recurrence{}, false, nil
		}
		ph.nth, ph.weekdays = []int{m.n}, []int{day.n}
		return recurrence{unit: uMonth, interval: 1}, true, nil
	case m.n == 2:
		return recurrence{unit: uWeek, interval: 2}, true, nil
	}
	day, _ := p.take(kWeekday)
	return recurrence{}, false, ask("Every %s %s: do you mean every %d weeks, or the %s %s of every month?",
		nth(m.n), time.Weekday(day.n), m.n, nth(m.n), time.Weekday(day.n))
}

// timesPer reads "once a week", "twice a day", "3 times a day".
func (p *parser) timesPer() (recurrence, bool) {
	begin := p.i
	n := 0
	if m, ok := p.take(kOnce); ok {
		n = m.n
	} else if k, ok := p.integer(); ok && p.one(kTimes) {
		n = k
	}
	per := p.i
	for n > 0 && !p.sees(0, kUnit) && p.sees(0, kA, kPer, kEvery, kThe) {
		p.i++
	}
	if p.i > per {
		if u, ok := p.take(kUnit); ok && u.m == 1 && n < 25 {
			rec := p.units(u.n, 1)
			if n > 1 {
				rec.need = n
			}
			return rec, true
		}
	}
	p.i = begin
	return recurrence{}, false
}

// dayOfMonthFollows says whether "15th" or "1st and 15th" follows, without a month's name after it.
func (p *parser) dayOfMonthFollows() bool {
	ahead := 0
	for p.sees(ahead, kOrd) {
		ahead++
		if p.sees(ahead, kAnd, kComma) && p.sees(ahead+1, kOrd) {
			ahead++
		}
	}
	if ahead == 0 {
		return false
	}
	for p.sees(ahead, kOf, kThe) {
		ahead++
	}
	return !p.sees(ahead, kMonth, kWeekday)
}

// nthsFollow says whether "first and third monday" follows.
func (p *parser) nthsFollow() bool {
	ahead := 0
	for p.sees(ahead, kOrd) && p.sees(ahead+1, kAnd, kComma) {
		ahead += 2
	}
	return ahead > 0 && p.sees(ahead, kOrd) && p.sees(ahead+1, kWeekday)
}

// monthFollows says whether "3 feb" or "3rd of february" follows.
func (p *parser) monthFollows() bool {
	if !p.sees(0, kOrd, kNum) {
		return false
	}
	ahead := 1
	for p.sees(ahead, kOf, kThe) {
		ahead++
	}
	return p.sees(ahead, kMonth)
}

// spread adds the days from a to b, over the end of the week if need be.
func spread(days []int, a, b int) []int {
	for d := a; ; d = (d + 1) % 7 {
		if !slices.Contains(days, d) {
			days = append(days, d)
		}
		if d == b {
			return days
		}
	}
}
