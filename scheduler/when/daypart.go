package when

// partClock is the time of day that a part of the day stands for.
func partClock(part int) clock {
	c := clock{sure: true, half: -1}
	switch part {
	case partMorning:
		c.hour = 9
	case partNoon:
		c.hour = 12
	case partLunch:
		c.hour, c.minute = 12, 30
	case partAfternoon:
		c.hour = 15
	case partEvening:
		c.hour = 19
	case partNight:
		c.hour = 22
	case partMidnight:
		c.midnight = true
	}
	return c
}

func partName(part int) string {
	return [...]string{"", "morning", "noon", "lunchtime", "afternoon", "evening", "night", "midnight"}[part]
}

// withPart settles a clock by the part of the day that was said with it, or asks if they contradict each other.
func (p *parser) withPart(c *clock, part int) error {
	if part == partNone || c.midnight && (part == partNight || part == partEvening) {
		return nil
	}
	said := c.text()
	twelve := c.hour == 12 && !c.sure
	switch part {
	case partMorning:
		if twelve {
			c.hour = 0
		}
	case partAfternoon, partLunch, partNoon:
		if !c.sure && c.hour >= 1 && c.hour <= 7 || !c.sure && c.hour < 12 && part == partAfternoon {
			c.hour = c.hour%12 + 12
		}
	case partEvening, partNight:
		switch {
		case twelve:
			*c = clock{sure: true, midnight: true, half: -1}
		case !c.sure && c.hour < 12 && c.hour > 4:
			c.hour += 12
		case !c.sure && c.hour < 12 && c.hour == 4 && part == partEvening:
			c.hour += 12
		}
	}
	c.sure = true
	fits := map[int]bool{
		partMorning:   c.hour < 12,
		partNoon:      c.hour >= 11 && c.hour <= 14,
		partLunch:     c.hour >= 11 && c.hour <= 15,
		partAfternoon: c.hour >= 12 && c.hour <= 19,
		partEvening:   c.hour >= 16 || c.hour < 4,
		partNight:     c.hour >= 17 || c.hour < 6,
	}
	if !fits[part] {
		return ask("%s is not in the %s. What time do you mean?", said, partName(part))
	}
	return nil
}
