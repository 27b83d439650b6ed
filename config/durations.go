package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	maxBurst     = 4 * time.Second // nobody waits longer for the start of an answer
	minHeartbeat = time.Minute
	maxDuration  = 365 * 24 * time.Hour
)

// durationKind is a length of time; a number alone is refused, since nobody can tell what it counts.
type durationKind struct {
	zero    bool // nothing is a length too
	off     bool // may be switched off, which is zero
	forever bool // -1 and "forever" are Forever
	min     time.Duration
	max     time.Duration
}

func (k durationKind) wants() string {
	wants := "a length of time such as 800ms, 10m or 2h"
	switch {
	case k.off:
		return "off, or " + wants
	case k.forever:
		return wants + ", or forever"
	}
	return wants
}

func (k durationKind) read(v value, _ surroundings) (any, error) {
	text := strings.ToLower(clean(v))
	if k.off && (isOff(text) || text == "") {
		return time.Duration(0), nil
	}
	if k.forever && (text == "forever" || text == "-1") {
		return Forever, nil
	}
	length, err := parseDuration(text)
	switch {
	case err != nil && isBareNumber(text) && text != "0":
		return nil, refuse(v.quoted(), " has no unit: ", text, " what? Write ", text, "s, ", text, "m or ", text, "h")
	case err != nil && text != "0":
		return nil, refuse(v.quoted(), " is not understood; it takes ", k.wants())
	case length == 0 && !k.zero:
		return nil, refuse(v.quoted(), " is no time at all; it takes ", k.wants())
	case length != 0 && length < k.min:
		return nil, refuse(v.quoted(), " is too short; it must be ", spell(k.min), " or more")
	case length > k.max:
		return nil, refuse(v.quoted(), " is too long; it must be ", spell(k.max), " or less")
	}
	return length, nil
}

var (
	durationPart = regexp.MustCompile(`^([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([a-zµ]+)\s*`)
	bareNumber   = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]+)?$`)
)

func isBareNumber(text string) bool { return bareNumber.MatchString(text) }

var units = map[string]time.Duration{
	"ms": time.Millisecond, "msec": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
}

// parseDuration reads "1h30m", "10 minutes" and the like; a day is 24 hours.
func parseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, fmt.Errorf("parse duration: nothing there")
	}
	var total float64
	for text != "" {
		part := durationPart.FindStringSubmatch(text)
		if part == nil {
			return 0, fmt.Errorf("parse duration: %q has no number and unit", text)
		}
		unit, ok := units[part[2]]
		number, err := strconv.ParseFloat(part[1], 64)
		if !ok || err != nil {
			return 0, fmt.Errorf("parse duration: unknown unit %q", part[2])
		}
		total += number * float64(unit)
		text = text[len(part[0]):]
	}
	if total > float64(math.MaxInt64/2) {
		return math.MaxInt64 / 2, nil // longer than any limit, which is what the caller tells
	}
	return time.Duration(math.Round(total)), nil
}

// spell writes a length the way it is written in the file.
func spell(length time.Duration) string {
	if length == Forever {
		return "forever"
	}
	if length >= 48*time.Hour && length%(24*time.Hour) == 0 {
		return strconv.Itoa(int(length/(24*time.Hour))) + "d"
	}
	text := length.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Hours is a stretch of the day as wall-clock time since midnight, in whatever zone it is applied to. From may lie
// after To: then it spans midnight. Both zero: there is none.
type Hours struct{ From, To time.Duration }

// Off reports whether there are no such hours.
func (h Hours) Off() bool { return h.From == h.To }

// String writes the hours as 23:00-07:00, or off.
func (h Hours) String() string {
	if h.Off() {
		return "off"
	}
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60) }
	return clock(h.From) + "-" + clock(h.To)
}

// UnmarshalText reads what String writes; single-digit hours and hours without minutes will do.
func (h *Hours) UnmarshalText(text []byte) error {
	words := strings.ToLower(strings.TrimSpace(string(text)))
	if words == "" || isOff(words) {
		*h = Hours{}
		return nil
	}
	part := hoursText.FindStringSubmatch(words)
	if part == nil {
		return fmt.Errorf("parse hours: %q is not two times of day", words)
	}
	from, fromOK := timeOfDay(part[1], part[2])
	to, toOK := timeOfDay(part[3], part[4])
	if !fromOK || !toOK {
		return fmt.Errorf("parse hours: %q names a time that no day has", words)
	}
	*h = Hours{From: from, To: to}
	return nil
}

var hoursText = regexp.MustCompile(`^([0-9]{1,2})(?::([0-9]{2}))?\s*(?:-|–|to)\s*([0-9]{1,2})(?::([0-9]{2}))?$`)

// timeOfDay takes 24:00 for the midnight at the end of the day.
func timeOfDay(hour, minute string) (time.Duration, bool) {
	h, _ := strconv.Atoi(hour)   // digits, by hoursText
	m, _ := strconv.Atoi(minute) // digits or nothing
	if h == 24 && m == 0 {
		h = 0
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute, h < 24 && m < 60
}

type hoursKind struct{}

func (hoursKind) wants() string { return `off, or hours such as "23:00-07:00"` }

func (k hoursKind) read(v value, _ surroundings) (any, error) {
	var h Hours
	if err := h.UnmarshalText([]byte(v.text)); err != nil {
		return nil, refuse(v.quoted(), " is not understood; it takes ", k.wants())
	}
	if text := strings.TrimSpace(v.text); h.Off() && text != "" && !isOff(text) {
		return nil, refuse(v.quoted(), " begins and ends at the same time; write off, or hours such as \"23:00-07:00\"")
	}
	return h.String(), nil
}
