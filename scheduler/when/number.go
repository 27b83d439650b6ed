package when

import "time"

// Numbers are held in twentieths, so that halves, quarters and tenths are exact.
const whole = 20

// count reads "2", "twenty five", "1.5", "a", "an hour and a" is not one. It leaves the place alone when there is none.
func (p *parser) count() (twentieths int, ok bool) {
	if m, ok := p.take(kTens); ok {
		n := m.n
		if p.sees(0, kAnd) && p.lang.name != "English" {
			if more, ok := p.peek(1, kNum); ok && more.n >= 1 && more.n <= 9 && p.literal(1).number < 0 {
				p.i += 2
				return (n + more.n) * whole, true
			}
		}
		if more, ok := p.peek(0, kNum); ok && more.n >= 1 && more.n <= 9 && p.literal(0).number < 0 {
			p.i++
			n += more.n
		}
		return n * whole, true
	}
	if m, ok := p.take(kNum); ok {
		return m.n * whole, true
	}
	if m, ok := p.take(kTenths); ok {
		return m.n * whole / 10, true
	}
	if m, ok := p.take(kA); ok {
		return m.n * whole, true
	}
	return 0, false
}

// integer reads a whole number.
func (p *parser) integer() (n int, ok bool) {
	begin := p.i
	n, ok = p.count()
	if !ok || n%whole != 0 {
		p.i = begin
		return 0, false
	}
	return n / whole, true
}

// length reads "2 hours and 30 minutes", "half an hour", "an hour and a half", "1h30", "a quarter of an hour".
func (p *parser) length() (span, bool, error) {
	begin := p.i
	var total span
	found := false
	last := uYear + 1
	for {
		at := p.i
		if found {
			p.skip(kComma, kAnd)
		}
		part, unit, ok := p.lengthPart()
		if !ok || unit >= last { // "2 hours 3 hours" are not five
			p.i = at
			break
		}
		found, last = true, unit
		total.months += part.months
		total.days += part.days
		total.elapsed += part.elapsed
		if total.months > 12*maxYears || total.days > 366*maxYears || total.elapsed > 366*maxYears*24*time.Hour {
			return span{}, false, ask("%q is more than a hundred years. When do you mean?", p.from(begin))
		}
	}
	if !found {
		p.i = begin
	}
	return total, found, nil
}

// lengthPart reads one count and unit.
func (p *parser) lengthPart() (s span, size int, ok bool) {
	n, unit, ok := p.counted()
	if !ok {
		return span{}, 0, false
	}
	// "2h30"
	if unit.n == uHour && unit.m == 1 && p.glued(0) && p.literal(0).number >= 0 && p.literal(0).number < 60 && !p.sees(1, kUnit) {
		minutes, _ := p.integer()
		return span{elapsed: time.Duration(n/whole)*time.Hour + time.Duration(minutes)*time.Minute}, uMinute, true
	}
	s, ok = spanOf((n+p.andPart())*unit.m, unit.n)
	return s, unit.n, ok
}

// andPart takes "and a half", "and a quarter" after a unit, in twentieths.
func (p *parser) andPart() int {
	begin := p.i
	if p.one(kAnd) {
		p.one(kA)
		switch {
		case p.one(kHalf) && !p.sees(0, kA, kUnit):
			return whole / 2
		case p.sees(0, kQuarter) && !p.sees(1, kOf, kA):
			p.i++
			return whole / 4
		}
	}
	p.i = begin
	return 0
}

// counted reads a count with its unit: "2 hours", "half an hour", "2 and a half hours", "three quarters of an hour".
func (p *parser) counted() (twentieths int, unit meaning, ok bool) {
	begin := p.i
	var n int
	switch {
	case p.sees(0, kHalf):
		p.i++
		p.one(kA)
		n = whole / 2
	case p.sees(0, kA) && p.sees(1, kHalf):
		p.i += 2
		n = whole / 2
	case p.sees(0, kQuarter) && (p.unitAt(1, uHour) || p.sees(1, kOf) && p.sees(2, kA)), p.sees(0, kA) && p.sees(1, kQuarter) && p.unitAt(2, uHour):
		p.one(kA)
		p.i++
		p.one(kOf)
		p.one(kA)
		n = whole / 4
	default:
		if lit := p.literal(0); lit.digits == 4 && p.items[p.i].text[0] == '0' {
			return 0, meaning{}, false // "0900 hours"
		}
		if n, ok = p.count(); !ok {
			// A unit without a count is one: "per hour", "viertelstunde".
			half := p.sees(1, kAnd) && p.sees(2, kHalf) && p.lang.name != "English" // "en hora y media"
			if unit, ok = p.peek(0, kUnit); !ok || !half && (unit.m == 1 || unit.n > uHour) {
				return 0, meaning{}, false
			}
			n = whole
		}
		if p.sees(0, kQuarter) && p.sees(1, kOf) && p.sees(2, kA, kUnit) {
			p.i += 2
			p.one(kA)
			n /= 4
		} else if p.sees(0, kAnd) && (p.sees(1, kHalf) && p.sees(2, kUnit) || p.sees(1, kA) && p.sees(2, kHalf) && p.sees(3, kUnit)) {
			p.skip(kAnd, kA)
			p.i++
			n += whole / 2
		}
	}
	if unit, ok = p.take(kUnit); !ok {
		p.i = begin
		return 0, meaning{}, false
	}
	return n, unit, true
}

// tooLong is refused by whoever adds it up.
var tooLong = span{days: 1_000_000}

// spanOf turns a count of units into a span; what is no whole number of months or days becomes hours. A broken month is none.
func spanOf(twentieths, unit int) (span, bool) {
	seconds := int64(1) // an int of 32 bits holds 68 years of them
	switch unit {
	case uMinute:
		seconds = 60
	case uHour:
		seconds = 3600
	case uDay:
		seconds = 24 * 3600
	case uWeek:
		seconds = 7 * 24 * 3600
	case uMonth, uYear:
		months := 1
		if unit == uYear {
			months = 12
		}
		if twentieths*months%whole != 0 {
			return span{}, false
		}
		return span{months: twentieths * months / whole}, true
	}
	seconds = int64(twentieths) * seconds / whole
	switch {
	case seconds > 120*366*24*3600:
		return tooLong, true
	case unit >= uDay && seconds%(24*3600) == 0:
		return span{days: int(seconds / (24 * 3600))}, true
	}
	return span{elapsed: time.Duration(seconds) * time.Second}, true
}
