package when

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A spec is what is stored of a recurrence. Its first word is its kind:
//
//	cron 0 8 * * 1-5                                     wall clock, five fields
//	rrule DTSTART=20260304T140000;FREQ=WEEKLY;…          wall clock, RFC 5545 parts
//	monthly 31 09:00                                     wall clock, short months use their last day
//	yearly 02-29 09:00                                   wall clock, likewise
//	window 3h 09:00-18:00 1-5                            wall clock, within each day
//	lastworkday 17:00                                    wall clock, last Monday-to-Friday day of the month
//	any SPEC ; SPEC                                      whatever of these wall-clock ones comes first
//	every 2h from 2026-03-10T10:00:00Z                   elapsed time
//
// followed by "from WALL", "until WALL" and "times N" where they apply (WALL as 2026-12-31T23:59:59). For wall-clock
// kinds "times" is only there to be told, as "until" was computed from it. Specs are stored in vaults: a kind may be added,
// none may change its meaning.

// wallRule is a recurrence on the wall clock.
type wallRule interface {
	// next returns the first wall strictly after w, or false when none comes within some hundred years.
	next(w time.Time) (time.Time, bool)
	// words describes the rule without its bounds.
	words() string
}

// hourly is implemented by rules that mean every hour of the day: when an hour comes twice they run in both.
type hourly interface{ everyHour() bool }

// schedule is a spec that was read.
type schedule struct {
	wall  wallRule
	every *interval // set instead of wall
	from  time.Time // wall; zero without
	until time.Time // wall, inclusive; zero without
	times int       // 0 without
}

const wallLayout = "2006-01-02T15:04:05"

// Next returns the first instant of spec strictly after after, in zone. Wall-clock times stay what they are over
// clock changes: one that is skipped comes right after the gap, one that comes twice counts the first time. ok is
// false when the recurrence has ended or has nothing in the hundred years to come; err tells that spec can't be read.
func Next(spec string, zone *time.Location, after time.Time) (at time.Time, ok bool, err error) {
	s, err := read(spec)
	if err != nil {
		return time.Time{}, false, err
	}
	at, ok = s.next(zone, after)
	return at, ok, nil
}

func (s schedule) next(zone *time.Location, after time.Time) (time.Time, bool) {
	if after.Year() < 1 || after.Year() > 9000 {
		return time.Time{}, false
	}
	at, ok := time.Time{}, false
	switch r := s.wall.(type) {
	case nil:
		at, ok = s.every.next(zone, after, s.times)
		if ok && !s.until.IsZero() && wallOf(at, zone).After(s.until) {
			return time.Time{}, false
		}
	case hourly:
		if r.everyHour() {
			at, ok = s.nextEveryHour(zone, after)
			break
		}
		at, ok = s.nextOnce(zone, after)
	default:
		at, ok = s.nextOnce(zone, after)
	}
	if !ok || tooFar(at, after) {
		return time.Time{}, false
	}
	return at.In(zone), true
}

// nextWall is the rule's next, within from and until.
func (s schedule) nextWall(w time.Time) (time.Time, bool) {
	if !s.from.IsZero() && w.Before(s.from) {
		w = s.from.Add(-time.Nanosecond)
	}
	w, ok := s.wall.next(w)
	if !ok || !s.until.IsZero() && w.After(s.until) {
		return time.Time{}, false
	}
	return w, true
}

// nextOnce counts every wall once, the first time it is shown. In the second pass of a doubled hour the walls
// that were already due lie before after and are stepped over.
func (s schedule) nextOnce(zone *time.Location, after time.Time) (time.Time, bool) {
	w := wallOf(after, zone)
	for {
		var ok bool
		if w, ok = s.nextWall(w); !ok {
			return time.Time{}, false
		}
		if at := instantOf(w, zone); at.After(after) {
			return at, true
		}
	}
}

// nextEveryHour goes through the stretches between clock changes, so that both passes of a doubled hour count.
func (s schedule) nextEveryHour(zone *time.Location, after time.Time) (time.Time, bool) {
	probe := after.In(zone)
	w := wallOf(probe, zone)
	for {
		_, seconds := probe.Zone()
		offset := time.Duration(seconds) * time.Second
		end := offsetEnd(probe)
		next, ok := s.nextWall(w)
		if !ok {
			// What ends on the first pass of a doubled hour has nothing left on the second.
			return time.Time{}, false
		}
		at := next.Add(-offset)
		if end.IsZero() || at.Before(end) {
			return at, true
		}
		begin := wallOf(end, zone)
		if next.Before(begin) {
			return end, true
		}
		probe, w = end, begin.Add(-time.Nanosecond)
	}
}

var errSpec = errors.New("read recurrence")

// read parses a spec.
func read(spec string) (schedule, error) {
	if len(spec) > 1000 {
		return schedule{}, fmt.Errorf("%w: longer than 1000 bytes", errSpec)
	}
	words := strings.Fields(spec)
	var s schedule
	var err error
	// The bounds stand at the end; an interval's own "from" is an instant and stays with it.
	for len(words) > 2 {
		value := words[len(words)-1]
		switch words[len(words)-2] {
		case "from":
			if words[0] == "every" {
				s, err = readRule(words, s)
				return s, err
			}
			s.from, err = time.Parse(wallLayout, value)
		case "until":
			s.until, err = time.Parse(wallLayout, value)
		case "times":
			s.times, err = strconv.Atoi(value)
			if err == nil && (s.times < 1 || s.times > maxTimes) {
				err = fmt.Errorf("times %d is out of range", s.times)
			}
		default:
			s, err = readRule(words, s)
			return s, err
		}
		if err != nil {
			return schedule{}, fmt.Errorf("%w: %w", errSpec, err)
		}
		words = words[:len(words)-2]
	}
	return readRule(words, s)
}

// readRule parses what is left of a spec without its bounds.
func readRule(words []string, s schedule) (schedule, error) {
	if len(words) > 0 && words[0] == "every" {
		every, err := readInterval(words[1:])
		if err != nil {
			return schedule{}, fmt.Errorf("%w: %w", errSpec, err)
		}
		s.every = &every
		return s, nil
	}
	rule, err := readWall(words)
	if err != nil {
		return schedule{}, fmt.Errorf("%w: %w", errSpec, err)
	}
	s.wall = rule
	return s, nil
}

// readWall parses a wall-clock rule from its words.
func readWall(words []string) (wallRule, error) {
	if len(words) == 0 {
		return nil, errors.New("it is empty")
	}
	switch words[0] {
	case "cron":
		return readCron(words[1:])
	case "rrule":
		return readRRule(words[1:])
	case "monthly":
		return readMonthly(words[1:])
	case "yearly":
		return readYearly(words[1:])
	case "window":
		return readWindow(words[1:])
	case "lastworkday":
		return readLastWorkday(words[1:])
	case "any":
		return readAny(words[1:])
	}
	return nil, fmt.Errorf("unknown kind %q", words[0])
}
