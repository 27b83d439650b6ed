package when

import "time"

// clock is a time of day as it was said.
type clock struct {
	hour, minute, second int
	half                 int  // 12 when pm was said, 0 when am was said, -1 when neither
	sure                 bool // said so that it can only be a 24-hour time: 09:00, 21:30, noon
	bare                 bool // a number and nothing else
	plain                bool // typed like 3:15 in a language of 24-hour clocks
	soft                 bool // sure, unless a part of the day says otherwise: 10:30, 11:00
	midnight             bool // the end of the day, unless the day begins with it
}

// open says whether the clock may still mean the other half of the day.
func (c clock) open() bool { return !c.sure || c.soft }

// seconds of the day.
func (c clock) seconds() int { return c.hour*3600 + c.minute*60 + c.second }

// text writes the clock as a time of day.
func (c clock) text() string {
	return date(2000, time.January, 1).Add(time.Duration(c.seconds()) * time.Second).Format("15:04")
}

// clockTimes reads "at 9", "8 and 20:00", "half past eight" into ph.
func (p *parser) clockTimes(ph *parts) (bool, error) {
	first, ok, err := p.clock()
	if !ok || err != nil {
		return false, err
	}
	if len(ph.clocks) > 0 {
		return false, clash("I found two times of day, %s and %s. Which one?", ph.clocks[0].text(), first.text())
	}
	ph.clocks = append(ph.clocks, first)
	for len(ph.clocks) < 24 {
		begin := p.i
		if !p.skip(kComma, kAnd) || p.sees(0, kLiteral) && p.sees(1, kMonth) {
			p.i = begin
			break
		}
		next, ok, err := p.clock()
		if err != nil {
			return false, err
		}
		if !ok {
			p.i = begin
			break
		}
		ph.clocks = append(ph.clocks, next)
	}
	return true, nil
}

// clock reads one time of day.
func (p *parser) clock() (clock, bool, error) {
	begin := p.i
	at := p.one(kAt)
	if at {
		p.one(kThe)
	}
	c, ok, err := p.plainClock(at)
	if err != nil {
		return clock{}, false, err
	}
	if !ok {
		p.i = begin
		return clock{}, false, nil
	}
	for p.skip(kOclock, kNoise) {
		// "at 9 sharp"
	}
	if err := p.halfOfDay(&c); err != nil {
		return clock{}, false, err
	}
	for p.skip(kOclock, kNoise) {
		// "at 9 pm sharp"
	}
	if p.sees(0, kVague) && p.glued(0) {
		return clock{}, false, ask("%q is not exact. At what time shall it be?", p.from(begin)+p.items[p.i].text)
	}
	if c.hour == 24 {
		return clock{}, false, ask("%q is no time of day. What time do you mean?", p.from(begin))
	}
	return c, true, nil
}

// halfOfDay takes am or pm.
func (p *parser) halfOfDay(c *clock) error {
	begin := p.i
	var half int
	switch {
	case p.sees(0, kAM) && !p.sees(1, kNum, kOrd):
		half = 0
	case p.sees(0, kPM):
		half = 12
	default:
		return nil
	}
	p.i++
	if c.midnight || c.hour > 12 && half == 0 || c.hour == 0 && half == 12 || c.hour > 12 && c.hour-12 > 11 {
		return ask("%s %s is no time of day. What time do you mean?", c.text(), p.from(begin))
	}
	if c.hour > 12 {
		return nil // 21:00 pm
	}
	c.hour = c.hour%12 + half
	c.half = half
	c.sure = true
	return nil
}

// plainClock reads a time of day without am and pm. at says that "at" came before, which makes a bare number a time.
func (p *parser) plainClock(at bool) (clock, bool, error) {
	if m, ok := p.peek(0, kPart); ok && (m.n == partNoon || m.n == partMidnight) {
		p.i++
		if m.n == partMidnight {
			return clock{sure: true, midnight: true, half: -1}, true, nil
		}
		return clock{hour: 12, sure: true, half: -1}, true, nil
	}
	if c, ok := p.relativeClock(); ok {
		return c, true, nil
	}
	return p.directClock(at)
}

// directClock reads a time of day that begins with its hour.
func (p *parser) directClock(at bool) (clock, bool, error) {
	lit := p.literal(0)
	if lit.clock {
		p.i++
		c := clock{hour: lit.hour, minute: lit.minute, second: lit.second, half: -1}
		c.sure = lit.padded || lit.two || lit.hour > 12 || lit.hour == 0
		c.soft = !lit.padded && lit.hour >= 10 && lit.hour <= 12
		c.plain = p.lang.military
		return p.endOfDay(c), true, nil
	}
	begin := p.i
	n, ok := p.integer()
	if !ok || p.items[begin].means[0].kind == kA || p.sees(0, kMonth) {
		p.i = begin
		return clock{}, false, nil
	}
	if lit.digits >= 3 {
		// "at 1830", "0930 hours"
		hours := p.one(kOclock) || p.sees(0, kUnit) && p.one(kUnit)
		if (at || hours) && n%100 < 60 && n < 2400 && lit.digits == 4 {
			return clock{hour: n / 100, minute: n % 100, sure: true, half: -1}, true, nil
		}
		p.i = begin
		return clock{}, false, nil
	}
	c := clock{hour: n, half: -1}
	c.sure = n > 12 || lit.digits == 2 && n < 10 || n == 0 && lit.digits > 0
	if n > 24 {
		if !at {
			p.i = begin
			return clock{}, false, nil
		}
		return clock{}, false, ask("%d is no hour of the day. At what time do you mean?", n)
	}
	if p.hourMark(at) {
		if p.lang.military && !c.sure {
			c.sure, c.soft = true, true
		}
		p.minutes(&c)
		return p.endOfDay(c), true, nil
	}
	c.bare = !at && lit.digits > 0
	p.spokenMinutes(&c, at)
	return p.endOfDay(c), true, nil
}

// endOfDay turns 24:00 into midnight.
func (p *parser) endOfDay(c clock) clock {
	if c.hour == 24 && c.minute+c.second == 0 {
		return clock{sure: true, midnight: true, half: -1}
	}
	return c
}

// hourMark takes what marks a number as an hour: 9h, 9 Uhr, 9 o'clock, à 9 heures.
func (p *parser) hourMark(at bool) bool {
	if p.one(kOclock) {
		return true
	}
	if m, ok := p.peek(0, kUnit); ok && m.n == uHour && m.m == 1 && (p.glued(0) || at || p.lang.military) {
		p.i++
		return true
	}
	return false
}

// minutes takes the minutes after an hour mark: 9h30, 9 Uhr 30, 9 heures et demie, 9 heures moins le quart.
func (p *parser) minutes(c *clock) {
	begin := p.i
	if n, ok := p.integer(); ok && n < 60 && !p.sees(0, kMonth) && p.items[begin].means[0].kind != kA {
		c.minute = n
		if m, ok := p.peek(0, kUnit); ok && m.n == uMinute {
			p.i++
		}
		return
	}
	p.i = begin
	p.addedMinutes(c)
}

// spokenMinutes takes the minutes after a bare hour: "nine thirty", "las nueve y media", "sette e mezza".
func (p *parser) spokenMinutes(c *clock, at bool) {
	begin := p.i
	if p.addedMinutes(c) {
		return
	}
	if p.sees(0, kTens, kNum) && (at || p.literal(0).number < 0) {
		lit := p.literal(0)
		n, ok := p.integer()
		if ok && n >= 10 && n < 60 && (lit.number < 0 || lit.digits == 2) && !p.sees(0, kMonth, kUnit, kTimes, kAM, kPM) || ok && n >= 10 && n < 60 && p.sees(0, kAM, kPM) {
			c.minute = n
			return
		}
	}
	p.i = begin
}

// addedMinutes takes "and a half", "y cuarto", "menos diez", "moins le quart".
func (p *parser) addedMinutes(c *clock) bool {
	begin := p.i
	minus := p.one(kMinus)
	if !minus && !p.one(kAnd) {
		return false
	}
	p.skip(kThe, kA)
	minutes := 0
	switch {
	case p.lang.name == "English":
		// "at 8 and half" is no English time.
	case p.one(kHalf):
		minutes = 30
	case p.one(kQuarter):
		minutes = 15
	default:
		n, ok := p.integer()
		if ok && n >= 5 && n < 60 && p.literal(-1).number < 0 || ok && minus && n < 60 {
			minutes = n
		}
	}
	if minutes == 0 || p.sees(0, kMonth) || p.sees(0, kUnit) && !minus {
		p.i = begin
		return false
	}
	if minus {
		c.hour, c.minute = (c.hour+23)%24, 60-minutes
		return true
	}
	c.minute = minutes
	return true
}

// relativeClock reads "half past eight", "quarter to 7", "20 minutes past nine", "halb acht", "half eight".
func (p *parser) relativeClock() (clock, bool) {
	begin := p.i
	minutes := 0
	switch {
	case p.one(kHalfTo):
		if n, ok := p.integer(); ok && n >= 1 && n <= 12 {
			return clock{hour: (n + 23) % 24, minute: 30, half: -1}, true
		}
		p.i = begin
		return clock{}, false
	case p.one(kHalf):
		minutes = 30
	case p.sees(0, kQuarter), p.sees(0, kA) && p.sees(1, kQuarter):
		p.one(kA)
		p.i++
		minutes = 15
	default:
		n, ok := p.integer()
		if !ok || n < 1 || n > 59 {
			p.i = begin
			return clock{}, false
		}
		minutes = n
		if m, ok := p.peek(0, kUnit); ok && m.n == uMinute {
			p.i++
		} else if n%5 != 0 { // "9 to 5" are no minutes
			p.i = begin
			return clock{}, false
		}
	}
	past, to := p.sees(0, kPast), p.sees(0, kTo)
	switch {
	case past || to:
		p.i++
	case minutes == 30 && p.lang.name == "English" && p.items[begin].means[0].kind == kHalf:
		past = true
	default:
		p.i = begin
		return clock{}, false
	}
	p.one(kThe)
	c := clock{half: -1}
	before := p.sees(0, kHalfTo) // fünf vor halb acht
	if before {
		p.i++
	}
	if m, ok := p.peek(0, kPart); ok && (m.n == partNoon || m.n == partMidnight) {
		p.i++
		c.sure = true
		if m.n == partNoon {
			c.hour = 12
		}
	} else {
		n, ok := p.integer()
		if !ok || n > 24 || p.lang.name == "English" && n > 12 || p.sees(0, kUnit) && !p.hourMark(true) {
			p.i = begin
			return clock{}, false
		}
		c.hour, c.sure = n%24, n > 12
	}
	total := c.hour*60 + minutes
	if !past {
		total = c.hour*60 - minutes
	}
	if before {
		total -= 30
	}
	total = (total + 24*60) % (24 * 60)
	c.hour, c.minute = total/60, total%60
	if minutes == 30 && p.lang.name == "English" && !p.sees(-2, kPast) && p.items[begin].means[0].kind == kHalf && begin+2 == p.i {
		p.note("I took it as half past %d.", c.hour)
	}
	return c, true
}
