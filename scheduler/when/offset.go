package when

import "time"

// offset reads a distance: "in 2 hours", "half an hour from now", "a week from" a day, or a bare "20 minutes".
func (p *parser) offset(ph *parts) (bool, error) {
	begin := p.i
	in := p.one(kIn)
	if in && p.one(kThe) {
		return false, nil
	}
	length, ok, err := p.length()
	if err != nil || !ok {
		return false, err
	}
	switch {
	case p.sees(0, kAgo):
		return false, ask("%q lies in the past. When shall it be?", p.rest(begin))
	case in:
		p.one(kFromNow)
	case p.one(kFromNow):
	case p.sees(0, kAfter, kFrom) && p.dayFollows(1), p.sees(0, kOn) && p.sees(1, kWeekday) && length.days > 0 && length.days%7 == 0:
		p.i++
		if ph.after != nil {
			return false, nil
		}
		ph.after = &length
		return true, nil
	case begin == 0 && p.done():
		// "20 minutes" and nothing else.
		if clock, ok, err := p.bareHours(length, begin); ok || err != nil {
			ph.clocks = append(ph.clocks, clock)
			return ok, err
		}
	default:
		return false, nil
	}
	if in && length.calendar() && length.months == 0 && ph.more == 0 && ph.rec == nil && (len(ph.weekdays) == 1 && len(ph.nth) == 0 || !ph.date.IsZero()) {
		// "friday in a week", "heute in einer Woche"
		if !ph.date.IsZero() {
			ph.date, ph.today = ph.date.AddDate(0, 0, length.days), false
			return true, nil
		}
		ph.more = length.days
		return true, nil
	}
	if ph.span != nil {
		return false, clash("I found two distances in %q. Which one?", p.rest(0))
	}
	if length == (span{}) {
		return false, ask("%q is no time ahead. When shall it be?", p.from(begin))
	}
	ph.span = &length
	return true, nil
}

// dayFollows says whether a day is named ahead places on, maybe after an article.
func (p *parser) dayFollows(ahead int) bool {
	for p.sees(ahead, kThe, kNext, kThis, kOn) {
		ahead++
	}
	return p.sees(ahead, kShift, kWeekday, kMonth, kOrd, kTonight) || p.sees(ahead, kNum) && p.sees(ahead+1, kMonth, kOf) ||
		!p.literal(ahead).day.IsZero() || p.literal(ahead).first > 0
}

// bareHours looks at hours that stand alone, as "9h" is both a length and a time of day.
func (p *parser) bareHours(length span, begin int) (clock, bool, error) {
	text := p.from(begin)
	unit := -1
	for i := begin; i < p.i; i++ {
		if m, ok := p.peekAt(i, kUnit); ok {
			unit = m.n
			break
		}
	}
	hours := length.elapsed / time.Hour
	short := p.glued(1 - p.i) // 9h, not 9 hours
	if unit != uHour || !short && !p.lang.military || hours < 2 && !p.lang.military {
		return clock{}, false, nil
	}
	switch {
	case hours > 12 && hours < 24:
		minutes := int(length.elapsed % time.Hour / time.Minute)
		return clock{hour: int(hours), minute: minutes, sure: true, half: -1}, true, nil
	case hours >= 7 && hours <= 12:
		return clock{}, false, ask("Is %q in %s, or at %d o'clock?", text, spanWords(length.elapsed), hours)
	}
	p.note("I took %q as a distance, in %s.", text, spanWords(length.elapsed))
	return clock{}, false, nil
}

// partOfDay reads "in the morning", "this evening", "at night".
func (p *parser) partOfDay(ph *parts) (bool, error) {
	begin := p.i
	p.skip(kIn, kOf, kAt, kOn, kComma)
	p.one(kThe)
	this := p.one(kThis)
	m, ok := p.take(kPart)
	if !ok || m.n == partNoon || m.n == partMidnight {
		return false, nil
	}
	closer := ph.part == partEvening && m.n == partNight // "tonight at 2 at night"
	if ph.part != partNone && ph.part != m.n && !closer {
		return false, clash("I found two parts of the day in %q. Which one?", p.rest(0))
	}
	if this {
		if ph.hasDay() {
			return false, p.twice(ph, begin)
		}
		ph.date, ph.today = midnight(p.wall), true
		ph.words = p.from(begin)
	}
	ph.part = m.n
	return true, nil
}
