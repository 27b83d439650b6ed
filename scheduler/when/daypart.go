package when

// partClock is the time of day that a part of the day stands for. Noon and midnight are times themselves, see plainClock.
func partClock(part int) clock {
	c := clock{sure: true, half: -1}
	switch part {
	case partMorning:
		c.hour = 9
	case partLunch:
		c.hour, c.minute = 12, 30
	case partAfternoon:
		c.hour = 15
	case partEvening:
		c.hour = 19
	case partNight:
		c.hour = 21
	}
	return c
}

func partName(part int) string {
	return [...]string{"", "the morning", "noon", "lunchtime", "the afternoon", "the evening", "the night", "midnight"}[part]
}

// withPart settles a clock by the part of the day that was said with it, or asks if they contradict each other. An evening
// that is tonight has a night after it.
func (p *parser) withPart(c *clock, part int, tonight bool) error {
	if part == partNone || c.midnight && (part == partNight || part == partEvening) {
		return nil
	}
	said := c.text()
	twelve := c.hour == 12 && c.open()
	switch part {
	case partAfternoon, partLunch, partNoon:
		if c.open() && c.hour >= 1 && c.hour <= 7 || c.open() && c.hour < 12 && part == partAfternoon {
			c.hour = c.hour%12 + 12
		}
	case partEvening, partNight:
		switch {
		case twelve:
			*c = clock{sure: true, midnight: true, half: -1}
		case c.open() && c.hour < 12 && (c.hour > 5 || c.hour > 3 && part == partEvening):
			c.hour += 12
		}
	}
	if c.midnight {
		return nil
	}
	c.sure, c.soft = true, false
	fits := map[int]bool{
		partMorning:   c.hour < 12,
		partNoon:      c.hour >= 11 && c.hour <= 14,
		partLunch:     c.hour >= 11 && c.hour <= 15,
		partAfternoon: c.hour >= 12 && c.hour <= 20,
		partEvening:   c.hour >= 16 || c.hour < 4 && tonight,
		partNight:     c.hour >= 17 || c.hour < 6,
	}
	if !fits[part] {
		return ask("%s is not in %s. What time do you mean?", said, partName(part))
	}
	return nil
}
