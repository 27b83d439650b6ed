package when

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// window runs in steps between two times of day, both included: "every 3 hours between 9 and 18". A window whose end is
// not after its beginning runs over midnight and belongs to the day it began on.
type window struct {
	step       int // minutes
	begin, end int // minutes of the day; end may be above 24 hours
	days       [7]bool
}

// readWindow parses "3h 09:00-18:00", with weekdays as "1-5" or "0,6" after it where not every day is meant.
func readWindow(words []string) (window, error) {
	if len(words) != 2 && len(words) != 3 {
		return window{}, errors.New(`a window is written "window 3h 09:00-18:00 1-5"`)
	}
	step, err := readStep(words[0])
	if err != nil {
		return window{}, err
	}
	if step%time.Minute != 0 || step > 24*time.Hour {
		return window{}, fmt.Errorf("%s is no step within a day", words[0])
	}
	r := window{step: int(step / time.Minute)}
	begin, end, ok := strings.Cut(words[1], "-")
	if !ok {
		return window{}, fmt.Errorf("%q has no end", words[1])
	}
	if r.begin, err = readClock(begin); err != nil {
		return window{}, err
	}
	if r.end, err = readClock(end); err != nil {
		return window{}, err
	}
	if r.end <= r.begin {
		r.end += 24 * 60
	}
	if len(words) == 2 {
		r.days = allDays
		return r, nil
	}
	for part := range strings.SplitSeq(words[2], ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || a < 0 || b > 6 || a > b {
			return window{}, fmt.Errorf("%q are no weekdays", words[2])
		}
		for ; a <= b; a++ {
			r.days[a] = true
		}
	}
	return r, nil
}

func (r window) String() string {
	text := fmt.Sprintf("window %s %s-%s", stepText(time.Duration(r.step)*time.Minute), minuteText(r.begin), minuteText(r.end%(24*60)))
	if days := weekdayField(r.days); days != "*" {
		text += " " + days
	}
	return text
}

func (r window) next(w time.Time) (time.Time, bool) {
	// Yesterday's window may still be open; eight days on, every weekday was seen.
	for day := -1; day <= 8; day++ {
		begin := midnight(w).AddDate(0, 0, day)
		if !r.days[begin.Weekday()] {
			continue
		}
		minute := r.begin
		if gone := int(w.Sub(begin) / time.Minute); gone >= minute {
			minute += ((gone-minute)/r.step + 1) * r.step
		}
		if at := onClock(begin, minute); minute <= r.end && at.After(w) {
			return at, true
		}
	}
	return time.Time{}, false
}

// weekdayField writes weekdays as a cron field: "*", "1-5", "0,6".
func weekdayField(days [7]bool) string {
	if days == allDays {
		return "*"
	}
	var parts []string
	for d := 0; d < 7; d++ {
		if !days[d] {
			continue
		}
		first := d
		for d < 6 && days[d+1] {
			d++
		}
		switch d - first {
		case 0:
			parts = append(parts, strconv.Itoa(d))
		case 1:
			parts = append(parts, strconv.Itoa(first), strconv.Itoa(d))
		default:
			parts = append(parts, strconv.Itoa(first)+"-"+strconv.Itoa(d))
		}
	}
	return strings.Join(parts, ",")
}
