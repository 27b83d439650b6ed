package when

import "time"

// edges reads "end of the month", "beginning of next week", "end of March", "the last day of the month".
func (p *parser) edges(ph *parts) (bool, error) {
	begin := p.i
	var e edge
	switch {
	case p.one(kEnd):
		e = edgeEnd
	case p.one(kStart):
		e = edgeBegin
	case p.sees(0, kLast) && p.unitAt(1, uDay) && p.sees(2, kOf):
		p.i += 2
		e = edgeEnd
	case p.sees(0, kOrd) && p.isNth(1) && p.unitAt(1, uDay) && p.sees(2, kOf):
		p.i += 2
		e = edgeBegin
	default:
		return false, nil
	}
	p.skip(kOf, kThe)
	next, this := p.one(kNext), p.one(kThis)
	if m, ok := p.peek(0, kMonth); ok {
		if ph.hasDay() {
			return false, p.twice(ph, begin)
		}
		ph.edge, ph.edgeUnit = e, uMonth
		ok, err := p.monthDay(ph)
		if next && ph.year == 0 && m.n > 0 {
			ph.year = p.wall.Year()
			if int(p.wall.Month()) >= m.n {
				ph.year++
			}
		}
		return ok, err
	}
	every := p.sees(0, kEvery)
	p.one(kEvery)
	u, ok := p.take(kUnit)
	if !ok || u.n < uDay || u.m != 1 {
		return false, nil
	}
	if ph.edge != edgeNone {
		return false, p.twice(ph, begin)
	}
	next = next || p.nextAfter()
	ph.edge, ph.edgeUnit = e, u.n
	if every {
		if ph.rec != nil {
			return false, nil
		}
		ph.rec = &recurrence{unit: u.n, interval: 1}
		return true, nil
	}
	n := 0
	if next {
		n = 1
	}
	switch u.n {
	case uDay:
		if ph.date.IsZero() && len(ph.weekdays) == 0 {
			ph.date, ph.today = midnight(p.wall).AddDate(0, 0, n), n == 0
		}
	case uWeek:
		ph.week = monday(p.wall).AddDate(0, 0, 7*n)
	case uMonth:
		ph.month = date(p.wall.Year(), p.wall.Month()+time.Month(n), 1)
		ph.ofMonth = !next && !this
	case uYear:
		ph.year = p.wall.Year() + n
	}
	return true, nil
}

func (p *parser) unitAt(ahead, unit int) bool {
	m, ok := p.peek(ahead, kUnit)
	return ok && m.n == unit && m.m == 1
}

// isNth says whether the next item is the ordinal n.
func (p *parser) isNth(n int) bool {
	m, ok := p.peek(0, kOrd)
	return ok && m.n == n
}

// nthDay reads "first monday", "last friday", "last working day" of a month; "of" what is read by other parts.
func (p *parser) nthDay(ph *parts) (bool, error) {
	begin := p.i
	var nths []int
	for {
		at := p.i
		if len(nths) > 0 && !p.skip(kAnd, kComma) {
			break
		}
		p.one(kThe)
		if m, ok := p.take(kOrd); ok {
			nths = append(nths, m.n)
		} else if p.one(kLast) {
			nths = append(nths, -1)
		} else {
			p.i = at
			break
		}
	}
	if len(nths) == 0 {
		return false, nil
	}
	if p.sees(0, kWorkday) {
		if len(nths) > 1 || nths[0] != -1 {
			return false, ask("I can do the last working day of a month, not %q. Which date do you mean?", p.from(begin)+" "+p.items[p.i].text)
		}
		p.i++
		ph.lastWork = true
		p.skipOfMonth(ph)
		return true, nil
	}
	m, ok := p.take(kWeekday)
	if !ok {
		return false, nil
	}
	at := p.i
	which := p.skipOfMonth(ph) || ph.rec != nil || p.sees(0, kOf) && p.sees(1, kMonth, kEvery, kNext, kThe, kThis)
	if !which && nths[0] == -1 {
		p.i = at
		return false, ask("%q: of which month, or of every month?", p.from(begin))
	}
	if len(ph.weekdays) > 0 || len(ph.nth) > 0 {
		return false, p.twice(ph, begin)
	}
	for _, n := range nths {
		if n == 0 || n > 5 {
			return false, ask("No month has a %s %s. Which day do you mean?", ordinal(n), time.Weekday(m.n))
		}
	}
	ph.nth, ph.weekdays = nths, []int{m.n}
	return true, nil
}

// skipOfMonth takes "of the month", which leaves open which one.
func (p *parser) skipOfMonth(ph *parts) bool {
	begin := p.i
	if p.one(kOf) {
		p.one(kThe)
		if p.unitAt(0, uMonth) {
			p.i++
			if !p.sees(0, kNext) {
				ph.ofMonth = true
				return true
			}
		}
	}
	p.i = begin
	return false
}

// weekend reads "the weekend", "next weekend".
func (p *parser) weekend(ph *parts) (bool, error) {
	begin := p.i
	next, this := p.one(kNext), p.one(kThis)
	if _, ok := p.take(kWeekend); !ok {
		return false, nil
	}
	if ph.hasDay() {
		return false, p.twice(ph, begin)
	}
	next = next || p.nextAfter()
	ph.weekend, ph.next, ph.this = true, next, this
	return true, nil
}

// calendarUnit reads "next week", "this month", "the week after next", "next year", "of the month".
func (p *parser) calendarUnit(ph *parts) (bool, error) {
	begin := p.i
	next, this := p.one(kNext), p.one(kThis)
	m, ok := p.take(kUnit)
	if !ok || m.n < uDay {
		return false, nil
	}
	more := 0
	if !next && !this {
		switch {
		case p.one(kNext): // la semana que viene
			next = true
		case p.sees(0, kAfter) && p.sees(1, kNext): // the week after next
			p.i += 2
			next, more = true, 1
		case p.sees(0, kAfter) && m.m == 1 && p.i+1 == len(p.items):
			return false, ask("%q: after which one? Say the date.", p.from(begin)+" "+p.items[p.i].text)
		case m.n == uMonth && begin > 0 && p.peekIs(begin-1, kThe, kOf) && (len(ph.doms) > 0 || len(ph.nth) > 0 || ph.lastWork):
			ph.ofMonth = true
			return true, nil
		default:
			return false, nil
		}
	}
	n := 0
	if next {
		n = (1 + more)
	}
	n *= m.m
	switch m.n {
	case uDay:
		if !ph.date.IsZero() {
			return false, p.twice(ph, begin)
		}
		ph.date = midnight(p.wall).AddDate(0, 0, n)
	case uWeek:
		if !ph.week.IsZero() {
			return false, p.twice(ph, begin)
		}
		ph.week = monday(p.wall).AddDate(0, 0, 7*n)
	case uMonth:
		if !ph.month.IsZero() {
			return false, p.twice(ph, begin)
		}
		ph.month = date(p.wall.Year(), p.wall.Month()+time.Month(n), 1)
	case uYear:
		if ph.year != 0 {
			return false, p.twice(ph, begin)
		}
		ph.year = p.wall.Year() + n
	}
	return true, nil
}
