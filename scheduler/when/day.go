package when

import (
	"slices"
	"time"
)

// day reads one part of a date into ph: "tomorrow", "next friday", "the 31st of March", "end of the month", "week".
// What belongs together may come in several parts, "friday" + "next week".
func (p *parser) day(ph *parts) (bool, error) {
	begin := p.i
	if p.one(kAt) {
		p.one(kThe)
		if !p.sees(0, kEnd, kStart, kWeekend) {
			p.i = begin
		}
	}
	p.skip(kOn, kThe, kOf, kComma)
	for _, read := range []func(*parts) (bool, error){p.shift, p.fullDate, p.edges, p.nthDay, p.monthDay, p.weekdayNames, p.weekend, p.calendarUnit} {
		at, had := p.i, ph.hasDay()
		ok, err := read(ph)
		if err != nil {
			return false, err
		}
		if ok {
			if !had || ph.words == "" {
				ph.words = p.from(begin)
			} else {
				ph.words += " " + p.from(begin)
			}
			return true, nil
		}
		p.i = at
	}
	return p.dayOfMonth(ph)
}

// twice is the question for a phrase with two dates.
func (p *parser) twice(ph *parts, begin int) error {
	return clash("I found two dates, %q and %q. Which one?", ph.words, p.from(begin))
}

// shift reads today, tomorrow, tonight, and "tomorrow week".
func (p *parser) shift(ph *parts) (bool, error) {
	begin := p.i
	if m, ok := p.take(kTonight); ok {
		if ph.part != partNone || !ph.date.IsZero() {
			return false, p.twice(ph, begin)
		}
		ph.date, ph.part, ph.today = midnight(p.wall), m.n, true
		return true, nil
	}
	m, ok := p.take(kShift)
	if !ok {
		return false, nil
	}
	// In some languages one word is both tomorrow and morning: "mañana por la mañana", "a las 9 de la mañana".
	if _, both := p.peekAt(begin, kPart); both && (!ph.date.IsZero() || len(ph.weekdays) > 0 || ph.rec != nil || begin > 0 && p.peekIs(begin-1, kOf, kThe)) {
		return false, nil
	}
	if !ph.date.IsZero() {
		return false, p.twice(ph, begin)
	}
	ph.date = midnight(p.wall).AddDate(0, 0, m.n)
	ph.today = m.n == 0
	if u, ok := p.peek(0, kUnit); ok && u.n == uWeek && u.m == 1 && p.literal(-1).number < 0 {
		p.i++
		ph.date = ph.date.AddDate(0, 0, 7)
		ph.today = false
	}
	return true, nil
}

// peekAt is peek for a place that is given.
func (p *parser) peekAt(i int, k kind) (meaning, bool) { return p.peek(i-p.i, k) }

func (p *parser) peekIs(i int, kinds ...kind) bool { return p.sees(i-p.i, kinds...) }

// fullDate reads what is written in digits: 2026-02-03, 3.2.2026, 3/2, a stamp.
func (p *parser) fullDate(ph *parts) (bool, error) {
	begin := p.i
	lit := p.literal(0)
	switch {
	case !lit.stamp.IsZero():
		p.i++
		if ph.hasDay() || len(ph.clocks) > 0 {
			return false, p.twice(ph, begin)
		}
		ph.stamp = lit.stamp
		if lit.local {
			ph.stamp = instantOf(lit.stamp, p.now.Location())
		}
		return true, nil
	case !lit.day.IsZero():
		p.i++
		if !ph.date.IsZero() {
			return false, p.twice(ph, begin)
		}
		ph.date = lit.day
		return true, nil
	case lit.number < 0 && !lit.clock && lit.first == 0 && lit.tenths == 0 && p.sees(0, kLiteral):
		return false, ask("%q is no date or time I know. Which one do you mean?", p.items[p.i].text)
	case lit.first == 0 || lit.clock && !p.peekIs(p.i-1, kOn):
		return false, nil
	}
	p.i++
	day, month, err := p.dayAndMonth(lit)
	if err != nil {
		return false, err
	}
	if ph.monthNum != 0 || len(ph.doms) > 0 || !ph.date.IsZero() {
		return false, p.twice(ph, begin)
	}
	ph.monthNum, ph.doms, ph.year = month, []int{day}, max(ph.year, lit.year)
	return true, nil
}

// dayAndMonth decides which part of 3/2 is the day. In English it is a question, as half of the world means the other one.
func (p *parser) dayAndMonth(lit literal) (day, month int, err error) {
	text := p.items[p.i-1].text
	switch {
	case lit.dots || p.lang.dayFirst || lit.first > 12 || lit.first == lit.then:
		day, month = lit.first, lit.then
	case lit.then > 12:
		day, month = lit.then, lit.first
	default:
		return 0, 0, ask("Is %s %d %s or %d %s?", text, lit.first, time.Month(lit.then), lit.then, time.Month(lit.first))
	}
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, 0, ask("%s is no date I know. Which one do you mean?", text)
	}
	return day, month, nil
}

// monthDay reads "3 February 2027", "feb 3rd", "March", and lists like "1 and 15 May".
func (p *parser) monthDay(ph *parts) (bool, error) {
	begin := p.i
	var doms []int
	for {
		at, lit := p.i, p.literal(0)
		n, ok := p.ordinalOrNumber()
		if !ok || n < 1 || n > 31 || lit.digits > 2 {
			p.i = at
			break
		}
		doms = append(doms, n)
		if !p.skip(kAnd, kComma) {
			break
		}
		p.one(kThe)
	}
	p.skip(kOf, kThe)
	next, this := p.one(kNext), p.one(kThis)
	m, ok := p.take(kMonth)
	if !ok {
		return false, nil
	}
	if ph.monthNum != 0 || !ph.date.IsZero() || len(ph.doms) > 0 && len(doms) > 0 {
		return false, p.twice(ph, begin)
	}
	if len(doms) == 0 && len(ph.nth) == 0 && !ph.lastWork && ph.edge == edgeNone {
		// "feb 3rd", but not "feb 9:00" or "feb 9 pm"
		at := p.i
		p.one(kThe)
		lit := p.literal(0)
		n, ok := p.ordinalOrNumber()
		if ok && n >= 1 && n <= 31 && lit.digits <= 2 && !p.sees(0, kAM, kPM, kOclock, kUnit) {
			doms = []int{n}
		} else {
			p.i = at
		}
	}
	next = next || p.nextAfter()
	ph.monthNum = m.n
	if len(doms) > 0 {
		ph.doms = doms
	}
	at := p.i
	p.skip(kComma, kOf)
	if lit := p.literal(0); lit.digits == 4 && lit.number >= 1000 && !p.sees(1, kOclock) {
		p.i++
		ph.year = lit.number
	} else {
		p.i = at
	}
	if ph.year == 0 && (next || this) {
		ph.year = p.wall.Year()
		if p.wall.Month() >= time.Month(m.n) && next {
			ph.year++
		}
	}
	return true, nil
}

// ordinalOrNumber reads 3, 3rd, third.
func (p *parser) ordinalOrNumber() (int, bool) {
	if m, ok := p.take(kOrd); ok {
		return m.n, true
	}
	if p.sees(0, kA) {
		return 0, false
	}
	begin := p.i
	n, ok := p.integer()
	if ok && p.glued(0) && p.sees(0, kUnit, kAM, kPM) {
		p.i = begin
		return 0, false
	}
	return n, ok
}

// dayOfMonth reads "the 31st", "the 1st and 15th", after "on" or "the", and "31st" alone.
func (p *parser) dayOfMonth(ph *parts) (bool, error) {
	begin := p.i
	switch lit := p.literal(0); {
	case p.sees(-1, kAt, kIn):
		return false, nil // "às 9", "en 9"
	case p.sees(-1, kOn, kThe, kEvery), lit.ordinal && endsInLetter(p.items[begin].text):
	default:
		return false, nil
	}
	var doms []int
	for {
		at := p.i
		if len(doms) > 0 {
			if !p.skip(kAnd, kComma) {
				break
			}
			p.one(kOn)
			p.one(kThe)
		}
		lit, bare := p.literal(0), !p.sees(0, kOrd) && !p.sees(-1, kThe)
		n, ok := p.ordinalOrNumber()
		if !ok || n < 1 || n > 31 || lit.digits > 2 || p.sees(0, kUnit, kOclock, kAM, kPM, kTimes, kMonth) || bare && p.lang.name == "English" {
			p.i = at
			break
		}
		doms = append(doms, n)
	}
	if len(doms) == 0 {
		return false, nil
	}
	if len(ph.doms) > 0 || !ph.date.IsZero() {
		return false, p.twice(ph, begin)
	}
	ph.doms = doms
	if ph.words == "" {
		ph.words = "the " + p.from(begin)
	}
	return true, nil
}

// weekdayNames reads "friday", "next friday", "friday week", "monday and thursday".
func (p *parser) weekdayNames(ph *parts) (bool, error) {
	begin := p.i
	next, this := p.one(kNext), p.one(kThis)
	article := p.lang.articleRecurs && p.sees(-1, kThe)
	var days []int
	for {
		at := p.i
		if len(days) > 0 {
			if !p.skip(kAnd, kComma) {
				break
			}
			p.skip(kOn, kThe)
		}
		switch m, ok := p.take(kWeekday); {
		case ok:
			days = append(days, m.n)
			ph.plural = ph.plural || m.m == 1
		case p.sees(0, kWorkday) && (len(days) > 0 || p.plural(0, kWorkday) || ph.rec != nil):
			p.i++
			days = append(days, 1, 2, 3, 4, 5)
			ph.plural = true
		case p.sees(0, kWeekend) && (len(days) > 0 || p.plural(0, kWeekend)):
			p.i++
			days = append(days, 6, 0)
			ph.plural = true
		default:
			p.i = at
		}
		if p.i == at {
			break
		}
	}
	if len(days) == 0 {
		return false, nil
	}
	if len(ph.weekdays) > 0 && len(ph.nth) == 0 {
		return false, p.twice(ph, begin)
	}
	next = next || p.nextAfter()
	ph.weekdays = append(ph.weekdays, days...)
	slices.Sort(ph.weekdays)
	ph.weekdays = slices.Compact(ph.weekdays)
	ph.next, ph.this, ph.article = next, this, article && !next && !this
	if u, ok := p.peek(0, kUnit); ok && u.n == uWeek && u.m == 1 && ph.rec == nil {
		p.i++
		ph.more = 7
	}
	return true, nil
}

// nextAfter takes a "next" that follows its noun, "lundi prochain", but not the one of "friday next week".
func (p *parser) nextAfter() bool {
	if !p.sees(0, kNext) || p.sees(1, kUnit, kMonth, kWeekday, kWeekend) {
		return false
	}
	p.i++
	return true
}

// weekdayRange reads "monday to friday", "mon-fri", which recurs.
func (p *parser) weekdayRange(ph *parts) (bool, error) {
	begin := p.i
	p.skip(kFrom, kOf, kOn, kThe)
	first, ok := p.take(kWeekday)
	if !ok || !p.skip(kTo, kUntil, kDash) && !p.glued(0) { // a hyphen between letters only glues: "mon-fri"
		return false, nil
	}
	p.one(kThe)
	last, ok := p.take(kWeekday)
	if !ok {
		return false, nil
	}
	if len(ph.weekdays) > 0 {
		return false, p.twice(ph, begin)
	}
	ph.weekdays, ph.plural, ph.words = spread(nil, first.n, last.n), true, p.from(begin)
	return true, nil
}

// plural says whether the word ahead places on is a plural of kind k.
func (p *parser) plural(ahead int, k kind) bool {
	m, ok := p.peek(ahead, k)
	return ok && m.m == 1
}
