package when

import "time"

// A "wall" time is what a clock on the wall shows, held as a time.Time in UTC whose zone means nothing. All calendar
// arithmetic is done on walls, where every day has 24 hours; only this file maps them to instants.

// wallOf returns what the clock in zone shows at t.
func wallOf(t time.Time, zone *time.Location) time.Time {
	l := t.In(zone)
	return time.Date(l.Year(), l.Month(), l.Day(), l.Hour(), l.Minute(), l.Second(), l.Nanosecond(), time.UTC)
}

// instantOf returns when the clock in zone shows wall: the first time if it shows it twice, and the moment right after
// the gap if it is skipped. It is monotonic in wall, which next relies on.
func instantOf(wall time.Time, zone *time.Location) time.Time {
	// No zone is more than 15 hours off, so the wall is reached after this instant whatever the offset.
	probe := wall.Add(-24 * time.Hour).In(zone)
	var begin time.Time
	for {
		_, offset := probe.Zone()
		end := offsetEnd(probe)
		at := wall.Add(-time.Duration(offset) * time.Second)
		if end.IsZero() || at.Before(end) {
			if at.Before(begin) {
				at = begin
			}
			return at.In(zone)
		}
		begin, probe = end, end
	}
}

// offsetEnd returns a moment after t up to which t's zone keeps its offset, zero for ever. The offset need not change
// there. On the last day of a leap year time.Time.ZoneBounds answers with an end that is not after t.
func offsetEnd(t time.Time) time.Time {
	_, end := t.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		return t.Add(time.Hour)
	}
	return end
}

// date returns the wall of midnight of a civil date; out-of-range values roll over as in time.Date.
func date(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// midnight returns the start of the wall's day.
func midnight(wall time.Time) time.Time { return date(wall.Date()) }

// exists says whether the civil date is in the calendar (31 February is not).
func exists(year int, month time.Month, day int) bool {
	return day >= 1 && day <= monthLen(year, month)
}

// monthLen returns the number of days of a month.
func monthLen(year int, month time.Month) int { return date(year, month+1, 0).Day() }

// monday returns midnight of the Monday of the wall's week.
func monday(wall time.Time) time.Time {
	return midnight(wall).AddDate(0, 0, -(int(wall.Weekday())+6)%7)
}
