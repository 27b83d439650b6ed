package when

import "time"

// parts is what was found in a phrase, each at most once, before it is put together.
type parts struct {
	span *span // in 2 hours

	// The day, as far as it was named.
	date     time.Time // a full date; zero without
	stamp    time.Time // a full instant; zero without
	weekdays []int     // in the order they were said
	next     bool      // next friday
	this     bool      // this friday
	more     int       // days to add: friday week
	week     time.Time // Monday of the week that was named; zero without
	month    time.Time // first day of the month that was named relative to now; zero without
	year     int       // 0 without
	monthNum int       // 0 without
	doms     []int     // days of the month
	nth      []int     // first, last (-1) … weekday of a month
	ofMonth  bool      // of the month, unsaid which
	lastWork bool      // last working day
	edge     edge      // end of, beginning of
	edgeUnit int
	weekend  bool
	after    *span // 2 days after the day
	plural   bool  // mondays: recurs
	article  bool  // le lundi: may recur

	clocks []clock
	part   int // part of the day
	today  bool

	rec    *recurrence
	begin  *moment // starting …
	until  *moment
	times  int   // for 5 times
	lasts  *span // for 2 weeks
	window *[2]clock
	except [7]bool

	words string // the day's words, for questions
}

type edge int

const (
	edgeNone edge = iota
	edgeBegin
	edgeEnd
)

// moment is a day, or a time of day, or both, within the bounds of a recurrence.
type moment struct {
	day      time.Time // midnight; zero if only a time was said
	clock    *clock
	weekOnly bool // only a week was named
	weekday  bool // only a weekday was named, the next one is as good
}

// hasDay says whether a day was named in any way.
func (ph *parts) hasDay() bool {
	return ph.dated() || !ph.stamp.IsZero() || len(ph.weekdays) > 0
}

// dated says whether a date or a period was named, weekdays and stamps aside.
func (ph *parts) dated() bool {
	return !ph.date.IsZero() || !ph.week.IsZero() || !ph.month.IsZero() || ph.year != 0 ||
		ph.monthNum != 0 || len(ph.doms) > 0 || len(ph.nth) > 0 || ph.lastWork || ph.edge != edgeNone || ph.weekend || ph.ofMonth
}

// clashes says whether the parts name dates that have nothing to do with each other. What is left together completes
// each other, "friday" with "next week", or is checked where it is put together, "friday" with "30 January".
func (ph *parts) clashes() bool {
	week, month, year := !ph.week.IsZero(), !ph.month.IsZero(), ph.year != 0
	named := ph.monthNum != 0 || len(ph.doms) > 0
	nth := len(ph.nth) > 0 || ph.lastWork
	switch {
	case ph.more != 0 && (named || nth || !ph.date.IsZero() || ph.edge != edgeNone || week || ph.weekend):
		return true
	case !ph.date.IsZero():
		apart := week && !monday(ph.date).Equal(ph.week)
		return apart || month || year || named || nth || ph.weekend || ph.ofMonth || ph.edge != edgeNone && ph.edgeUnit != uDay
	case nth:
		return week || ph.weekend || ph.edge != edgeNone || len(ph.doms) > 0 || month && (ph.monthNum != 0 || year)
	case ph.edge != edgeNone:
		within := map[int]bool{uWeek: month || year || named, uMonth: week || month && (year || named), uYear: week || month || named}
		return within[ph.edgeUnit] || len(ph.doms) > 0 || len(ph.weekdays) > 0 || ph.weekend
	case named:
		return week || ph.weekend || ph.ofMonth && month || month && (ph.monthNum != 0 || year)
	case ph.weekend:
		return len(ph.weekdays) > 0 || month || year || ph.ofMonth
	case week:
		return month || year || ph.ofMonth
	}
	return month && year
}

// span is a length of time: by the calendar and by the clock.
type span struct {
	months, days int
	elapsed      time.Duration
}

// calendar says whether the span is one of whole days.
func (s span) calendar() bool { return s.elapsed == 0 }

// add returns the wall a span later; short months end on their last day.
func (s span) add(wall time.Time) time.Time {
	first := date(wall.Year(), wall.Month()+time.Month(s.months), 1)
	day := min(wall.Day(), monthLen(first.Year(), first.Month()))
	return first.AddDate(0, 0, day-1+s.days).Add(wall.Sub(midnight(wall))).Add(s.elapsed)
}
