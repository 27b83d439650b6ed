package when

// bounds reads "starting …", "until …", "for 5 times", "between 9 and 18", "except sunday".
func (p *parser) bounds(ph *parts) (bool, error) {
	begin := p.i
	p.one(kComma)
	at := p.i
	notes := len(p.notes)
	for _, read := range []func(*parts) (bool, error){p.windowed, p.starting, p.untilWhen, p.repeated, p.excepting} {
		ok, err := read(ph)
		if ok || err != nil {
			return ok, err
		}
		p.i, p.notes = at, p.notes[:notes]
	}
	p.i = begin
	return false, nil
}

// windowed reads "between 9 and 18", "from 9 to 17", "9-17".
func (p *parser) windowed(ph *parts) (bool, error) {
	between, from := p.one(kBetween), false
	if !between {
		from = p.skip(kFrom, kOf)
	}
	p.one(kThe)
	first, ok, err := p.hour()
	if !ok || err != nil {
		return false, nil
	}
	switch {
	case between && p.one(kAnd):
	case from && p.skip(kTo, kUntil, kDash):
	case !between && !from && p.one(kDash):
	default:
		return false, nil
	}
	p.skip(kAt, kThe)
	last, ok, err := p.hour()
	if !ok || err != nil || p.sees(0, kMonth) {
		return false, err
	}
	// "from 9 to 5pm", "between 9 and 5"
	if last.half == -1 && !last.sure && !last.midnight && last.seconds() <= first.seconds() && first.hour < 12 {
		last.hour += 12
	}
	if first.half == -1 && last.half == 12 && first.hour+12 < last.hour && first.hour < 6 {
		first.hour += 12
	}
	if ph.window != nil {
		return false, clash("I found two spans of the day in %q. Which one?", p.rest(0))
	}
	ph.window = &[2]clock{first, last}
	return true, nil
}

// hour reads a time of day where a bare number is one.
func (p *parser) hour() (clock, bool, error) {
	begin := p.i
	p.one(kAt)
	p.one(kThe)
	if m, ok := p.peek(0, kPart); ok && (m.n == partNoon || m.n == partMidnight) {
		return p.plainClock(true)
	}
	// "9 to 17" is no nine minutes to five here.
	c, ok, err := p.directClock(true)
	if ok && err == nil {
		err = p.halfOfDay(&c)
		p.one(kOclock)
	}
	if !ok || err != nil {
		p.i = begin
	}
	return c, ok && err == nil, err
}

// starting reads "starting next week", "from 3 May", "from friday at 9".
func (p *parser) starting(ph *parts) (bool, error) {
	begin := p.i
	if p.sees(0, kStart) && p.sees(1, kOf) || !p.one(kFrom) {
		return false, nil
	}
	m, err := p.moment()
	if err != nil || m == nil {
		return false, err
	}
	if ph.begin != nil {
		return false, clash("I found two beginnings in %q. Which one?", p.rest(begin))
	}
	ph.begin = m
	return true, nil
}

// untilWhen reads "until friday", "until 18:00".
func (p *parser) untilWhen(ph *parts) (bool, error) {
	begin := p.i
	if !p.one(kUntil) {
		return false, nil
	}
	m, err := p.moment()
	if err != nil || m == nil {
		return false, err
	}
	if ph.until != nil {
		return false, clash("I found two ends in %q. Which one?", p.rest(begin))
	}
	ph.until = m
	return true, nil
}

// repeated reads "for 5 times", "5 times", "for 2 weeks", "for the next 3 days".
func (p *parser) repeated(ph *parts) (bool, error) {
	begin := p.i
	said := p.one(kFor)
	p.one(kThe)
	p.one(kNext)
	if n, ok := p.integer(); ok && p.one(kTimes) && !p.sees(0, kA, kPer) {
		if n < 1 || n > maxTimes {
			return false, ask("%q: I can repeat it 1 to %d times. How often?", p.from(begin), maxTimes)
		}
		if ph.times != 0 {
			return false, clash("I found two numbers of times in %q. Which one?", p.rest(0))
		}
		ph.times = n
		return true, nil
	}
	if !said {
		return false, nil
	}
	p.i = begin
	p.one(kFor)
	p.one(kThe)
	p.one(kNext)
	length, ok, err := p.length()
	if !ok || err != nil {
		return false, err
	}
	if ph.lasts != nil {
		return false, clash("I found two lengths in %q. Which one?", p.rest(0))
	}
	ph.lasts = &length
	return true, nil
}

// excepting reads "except sunday", "except weekends".
func (p *parser) excepting(ph *parts) (bool, error) {
	begin := p.i
	if !p.one(kExcept) {
		return false, nil
	}
	for {
		p.skip(kOn, kThe)
		if m, ok := p.take(kWeekday); ok {
			ph.except[m.n] = true
		} else if p.one(kWeekend) {
			ph.except[0], ph.except[6] = true, true
		} else {
			return false, ask("I can leave out weekdays only, not %q. Which days shall it be?", p.rest(begin))
		}
		at := p.i
		if !p.skip(kAnd, kComma) || !p.sees(0, kWeekday, kWeekend, kOn) || p.sees(0, kOn) && !p.sees(1, kWeekday, kWeekend) {
			p.i = at
			return true, nil
		}
	}
}

// moment reads a day, a time of day, or both; nil when there is neither.
func (p *parser) moment() (*moment, error) {
	// What is chosen here shows in the bound itself.
	notes := len(p.notes)
	defer func() { p.notes = p.notes[:notes] }()
	var ph parts
	for {
		begin := p.i
		p.one(kComma)
		found := false
		for _, read := range []func(*parts) (bool, error){p.zone, p.offset, p.day, p.partOfDay, p.clockTimes} {
			at := p.i
			ok, err := read(&ph)
			if err != nil {
				return nil, err
			}
			if ok {
				found = true
				break
			}
			p.i = at
		}
		if !found {
			p.i = begin
			break
		}
	}
	m := &moment{}
	switch {
	case len(ph.clocks) > 0:
		m.clock = &ph.clocks[0]
	case ph.part != partNone:
		c := partClock(ph.part)
		m.clock = &c
	}
	if ph.span != nil {
		if !ph.span.calendar() || ph.hasDay() {
			return nil, nil
		}
		m.day = midnight(ph.span.add(p.wall))
		return m, nil
	}
	if !ph.stamp.IsZero() {
		wall := wallOf(ph.stamp, p.now.Location())
		m.day = midnight(wall)
		m.clock = &clock{hour: wall.Hour(), minute: wall.Minute(), second: wall.Second(), sure: true, half: -1}
		return m, nil
	}
	if !ph.hasDay() {
		if m.clock == nil {
			return nil, nil
		}
		return m, nil
	}
	if !ph.week.IsZero() && len(ph.weekdays) == 0 && ph.edge == edgeNone {
		m.day, m.weekOnly = ph.week, true
		return m, nil
	}
	d, err := p.resolve(&ph)
	if err != nil {
		return nil, err
	}
	m.day, m.weekday = d.day, d.roll == rollWeek
	return m, nil
}
