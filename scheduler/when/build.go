package when

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// recurring puts a recurrence together.
func (p *parser) recurring(ph *parts) (Result, error) {
	if ph.rec == nil {
		ph.rec = &recurrence{unit: uWeek, interval: 1}
	}
	if err := p.settle(ph); err != nil {
		return Result{}, err
	}
	b := builder{p: p, ph: ph, rec: *ph.rec, base: midnight(p.wall)}
	if ph.begin != nil && !ph.begin.day.IsZero() {
		b.base = ph.begin.day
	}
	var err error
	if ph.rec.elapsed != 0 {
		err = b.elapsed()
	} else {
		err = b.calendar()
	}
	if err != nil {
		return Result{}, err
	}
	if err := b.bounds(); err != nil {
		return Result{}, err
	}
	return b.finish()
}

// settle refuses parts that go with no recurrence, and gives a time of day that was said within a bound to the whole.
func (p *parser) settle(ph *parts) error {
	switch {
	case ph.span != nil || ph.after != nil || !ph.stamp.IsZero() || !ph.date.IsZero():
		return clash("I found a recurrence and a single date in %q. Which one? A first day is said with \"starting\".", p.rest(0))
	case !ph.week.IsZero() || !ph.month.IsZero() && ph.edge == edgeNone || ph.year != 0 && ph.edge == edgeNone || ph.next || ph.this || ph.more != 0:
		return clash("I found a recurrence and a single date in %q. Which one? A first day is said with \"starting\".", p.rest(0))
	}
	free := len(ph.clocks) == 0 && ph.part == partNone && ph.rec.elapsed == 0
	for _, m := range []*moment{ph.begin, ph.until} {
		if m != nil && m.clock != nil && !m.day.IsZero() && free {
			ph.clocks, m.clock, free = append(ph.clocks, *m.clock), nil, false
		}
	}
	return nil
}

// builder turns the parts of a recurrence into a spec.
type builder struct {
	p        *parser
	ph       *parts
	rec      recurrence
	base     time.Time // midnight of the first day that counts
	minutes  []int     // times of day
	dateOnly bool
	specs    []string
	from     time.Time // wall bounds, zero without
	until    time.Time
	times    int
	every    bool // elapsed time
	lastDay  bool // the last day of the month was said
}

// elapsed builds "every 2 hours", with or without a window.
func (b *builder) elapsed() error {
	step := b.rec.elapsed
	switch {
	case step < minInterval:
		return ask("The shortest interval is one minute. How often shall it be?")
	case step > maxInterval:
		return ask("An interval longer than a year is said in years. How often shall it be?")
	case len(b.ph.clocks) > 0:
		return ask("Every %s, or at %s? Say \"every day at %s\" for one time a day.", spanWords(step), b.ph.clocks[0].text(), b.ph.clocks[0].text())
	case b.ph.part != partNone:
		return ask("Between which times of %s shall it be every %s?", partName(b.ph.part), spanWords(step))
	case len(b.ph.doms) > 0 || b.ph.monthNum != 0 || len(b.ph.nth) > 0 || b.ph.lastWork || b.ph.edge != edgeNone || b.ph.ofMonth:
		return ask("I can repeat every %s on weekdays, not on dates. When shall it be?", spanWords(step))
	}
	days := b.weekdays()
	if b.ph.window != nil {
		return b.window(step, days)
	}
	if days != allDays {
		return ask("Between which times on these days shall it be every %s?", spanWords(step))
	}
	if b.rec.aligned {
		hours := int(step / time.Hour)
		if step%time.Hour != 0 || 24%hours != 0 {
			return ask("Every %s does not come round at the same hours each day. How often shall it be?", spanWords(step))
		}
		if hours > 1 {
			b.specs = []string{fmt.Sprintf("cron 0 */%d * * *", hours)}
		} else {
			b.specs = []string{"cron 0 * * * *"}
		}
		return nil
	}
	b.every = true
	from := b.p.now.Truncate(time.Second)
	if m := b.ph.begin; m != nil {
		c := clock{hour: defaultHour}
		if m.clock != nil {
			c = b.p.likely(*m.clock)
		} else {
			b.p.note("I took 09:00 as the first time.")
		}
		from = b.p.at(b.base, c).Add(-step)
	}
	b.specs = []string{interval{step: step, from: from}.String()}
	return nil
}

var allDays = [7]bool{true, true, true, true, true, true, true}

// weekdays returns the days that were named, all of them if none was.
func (b *builder) weekdays() [7]bool {
	days := mask(b.ph.weekdays)
	if b.ph.weekend {
		days[0], days[6] = true, true
	}
	if days == ([7]bool{}) {
		days = allDays
	}
	for d, out := range b.ph.except {
		days[d] = days[d] && !out
	}
	return days
}

// window builds "every 3 hours between 9 and 18".
func (b *builder) window(step time.Duration, days [7]bool) error {
	first, last := b.ph.window[0], b.ph.window[1]
	if first.second+last.second > 0 || step%time.Minute != 0 || step > 24*time.Hour {
		return ask("Between two times of day I can repeat in whole minutes, up to a day. How often shall it be?")
	}
	if days == ([7]bool{}) {
		return ask("That leaves no day of the week. Which days shall it be?")
	}
	w := window{step: int(step / time.Minute), begin: first.seconds() / 60, end: last.seconds() / 60, days: days}
	if w.end <= w.begin {
		w.end += 24 * 60
	}
	b.specs = []string{w.String()}
	return nil
}

// clocks works out the times of day.
func (b *builder) clocks() error {
	clocks := b.ph.clocks
	if len(clocks) == 0 {
		c := clock{hour: defaultHour, sure: true, half: -1}
		if b.ph.part != partNone {
			c = partClock(b.ph.part)
			b.p.note("I took %s as %s.", partName(b.ph.part), c.text())
		} else {
			b.dateOnly = true
		}
		clocks = []clock{c}
	}
	for _, c := range clocks {
		if len(b.ph.clocks) > 0 {
			if err := b.p.withPart(&c, b.ph.part, false); err != nil {
				return err
			}
			c = b.p.likely(c)
		}
		if c.second != 0 {
			return ask("Recurrences run on whole minutes, %s is none. At what time shall it be?", clockText(date(2000, 1, 1).Add(time.Duration(c.seconds())*time.Second)))
		}
		if minute := c.seconds() / 60; !slices.Contains(b.minutes, minute) {
			b.minutes = append(b.minutes, minute)
		}
	}
	slices.Sort(b.minutes)
	return nil
}

// bounds works out from, until and times.
func (b *builder) bounds() error {
	ph, p := b.ph, b.p
	if ph.begin != nil && !b.every && !ph.begin.day.IsZero() && b.base.After(midnight(p.wall)) {
		b.from = b.base
		if ph.begin.clock != nil {
			b.from = b.from.Add(time.Duration(ph.begin.clock.seconds()) * time.Second)
		}
	} else if ph.begin != nil && ph.begin.day.IsZero() && !b.every {
		return ask("From which day on shall it be?")
	}
	if m := ph.until; m != nil {
		switch {
		case !m.day.IsZero() && m.clock != nil:
			b.until = m.day.Add(time.Duration(m.clock.seconds()) * time.Second)
		case !m.day.IsZero():
			b.until = m.day.Add(24*time.Hour - time.Second)
		case b.every:
			c := p.likely(*m.clock)
			b.until = b.base.Add(time.Duration(c.seconds()) * time.Second)
			if !b.until.After(p.wall) {
				b.until = b.until.AddDate(0, 0, 1)
			}
		default:
			return ask("Until which day shall it be?")
		}
	}
	if ph.lasts != nil {
		if !b.until.IsZero() {
			return clash("I found two ends in %q. Which one?", p.rest(0))
		}
		start := p.wall
		if ph.begin != nil {
			start = b.base.Add(-time.Second)
		}
		b.until = ph.lasts.add(start).Truncate(time.Second)
	}
	if b.until.Year() > p.wall.Year()+maxYears {
		return ask("That end is more than a hundred years ahead. Until when shall it be?")
	}
	b.times = ph.times
	return nil
}

// finish writes the spec and looks up its first instant.
func (b *builder) finish() (Result, error) {
	spec := b.specs[0]
	if len(b.specs) > 1 {
		spec = "any " + strings.Join(b.specs, " ; ")
	}
	return finish(b.p.now, spec, b.from, b.until, b.times, b.dateOnly)
}

// finish adds the bounds to a spec and looks up its first instant.
func finish(now time.Time, spec string, from, until time.Time, times int, dateOnly bool) (Result, error) {
	zone := now.Location()
	if !from.IsZero() {
		spec += " from " + from.Format(wallLayout)
	}
	if !until.IsZero() {
		spec += " until " + until.Format(wallLayout)
	}
	s, err := read(spec)
	if err != nil {
		return Result{}, ask("I can't do that recurrence: %s.", strings.TrimPrefix(err.Error(), errSpec.Error()+": "))
	}
	if times > 0 && s.wall != nil {
		if last, ok := lastOf(s, zone, now, times); ok {
			spec = strings.TrimSuffix(spec, " until "+until.Format(wallLayout)) + " until " + wallOf(last, zone).Format(wallLayout)
		}
	}
	if times > 0 {
		spec += fmt.Sprintf(" times %d", times)
	}
	if s, err = read(spec); err != nil {
		return Result{}, ask("I can't do that recurrence: %s.", strings.TrimPrefix(err.Error(), errSpec.Error()+": "))
	}
	at, ok := s.next(zone, now)
	if !ok {
		return Result{}, ask("That recurrence is over before it begins (%s). When shall it be?", s.words())
	}
	return Result{At: at, Spec: spec, Words: s.words(), DateOnly: dateOnly}, nil
}

// lastOf returns the last of the given number of instants after after; false when the schedule ends before.
func lastOf(s schedule, zone *time.Location, after time.Time, times int) (at time.Time, ok bool) {
	for range times {
		if after, ok = s.next(zone, after); !ok {
			return time.Time{}, false
		}
	}
	return after, times > 0
}
