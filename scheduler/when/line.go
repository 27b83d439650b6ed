package when

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Cron lines and RRULEs are not words: they are recognised by their shape, before any language is tried.

var (
	cronShape  = regexp.MustCompile(`^(?:[\d*?Ll][-\d*/,?LlWw#]*|(?i:(?:sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[-a-z0-9,/#]*))$`)
	cronPrefix = regexp.MustCompile(`(?i)^cron(?:tab)?\s*[: ]\s*`)
	rrulePart  = regexp.MustCompile(`(?i)^(?:rrule\s*[: ]\s*)?(?:(?:dtstart|freq)\b|rrule:)`)
	cronZone   = regexp.MustCompile(`(?i)^(?:cron_)?tz=`)
)

var cronNicknames = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// parseLine reads a cron line or an RRULE; ok is false when text is neither.
func parseLine(text string, now time.Time) (res Result, ok bool, err error) {
	text = strings.Trim(text, "`\"' ")
	if rrulePart.MatchString(text) {
		res, err = parseRRule(text, now)
		return res, true, err
	}
	prefix := cronPrefix.FindString(text)
	text = text[len(prefix):]
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return Result{}, prefix != "", ask("A cron line has five fields: minute hour day-of-month month day-of-week.")
	}
	if cronZone.MatchString(fields[0]) {
		return Result{}, true, ask("A zone before a cron line (%s) is not read: times are meant in %s. Give the five fields alone, or say the time in words.", fields[0], zoneName(now))
	}
	if nickname := strings.ToLower(fields[0]); len(nickname) > 2 && nickname[0] == '@' && nickname[1] >= 'a' && nickname[1] <= 'z' {
		res, err = parseNickname(nickname, fields[1:], now)
		return res, true, err
	}
	if prefix == "" && !looksLikeCron(fields) {
		return Result{}, false, nil
	}
	res, err = parseCronLine(fields, now)
	return res, true, err
}

// looksLikeCron says whether all fields have the shape of cron's, and enough of them.
func looksLikeCron(fields []string) bool {
	for _, f := range fields {
		if !cronShape.MatchString(f) {
			return false
		}
	}
	plain := strings.ContainsAny(fields[0], "0123456789*") && len(fields) > 1 && strings.ContainsAny(fields[1], "0123456789*")
	return plain && (len(fields) >= 5 || slices.Contains(fields, "*"))
}

func parseCronLine(fields []string, now time.Time) (Result, error) {
	if len(fields) == 6 {
		if fields[0] != "0" && fields[0] != "00" {
			return Result{}, ask("This cron line has six fields, so the first one means seconds. I run on whole minutes: write 0 there, or leave it out.")
		}
		fields = fields[1:]
	}
	rule, err := readCron(fields)
	if err != nil {
		return Result{}, ask("%s.", sentence(err.Error()))
	}
	res, err := finish(now, rule.String(), time.Time{}, time.Time{}, 0, false)
	if err != nil {
		return Result{}, err
	}
	if !rule.domStar && !rule.dowStar {
		res.Note = "A cron line with a day of the month and a weekday runs on either: " + rule.words() + "."
	}
	return res, nil
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// parseNickname reads @daily and the like.
func parseNickname(name string, rest []string, now time.Time) (Result, error) {
	if name == "@every" && len(rest) == 1 {
		step, err := readStep(rest[0])
		if err != nil || step > maxInterval {
			return Result{}, ask("%q is no interval of at least a minute and at most a year. Say for example \"every 2 hours\".", rest[0])
		}
		return finish(now, interval{step: step, from: now.Truncate(time.Second)}.String(), time.Time{}, time.Time{}, 0, false)
	}
	line, ok := cronNicknames[name]
	if !ok || len(rest) > 0 {
		return Result{}, ask("I don't know %q. Say it in words, for example \"every day at 9\".", strings.Join(append([]string{name}, rest...), " "))
	}
	return parseCronLine(strings.Fields(line), now)
}

// parseRRule reads an RRULE as calendars write it. Without a DTSTART it counts from today, at 09:00 if it names no hour.
func parseRRule(text string, now time.Time) (Result, error) {
	text = strings.Join(strings.Fields(strings.ToUpper(text)), ";")
	var parts []string
	var until time.Time
	times, started, hour := 0, false, false
	for part := range strings.SplitSeq(text, ";") {
		part = strings.TrimPrefix(strings.TrimPrefix(part, "RRULE"), ":")
		if value, ok := strings.CutPrefix(part, "DTSTART:"); ok {
			part = "DTSTART=" + value
		}
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "":
			continue
		case "COUNT":
			n, err := rruleNumbers(key, value, 1, maxTimes)
			if err != nil || len(n) != 1 {
				return Result{}, ask("COUNT goes from 1 to %d, not %q.", maxTimes, value)
			}
			times = n[0]
			continue
		case "UNTIL":
			at, err := rruleUntil(value, now.Location())
			if err != nil || at.Year() > now.Year()+maxYears {
				return Result{}, ask("UNTIL is written like 20261231T235900, not %q.", value)
			}
			until = at
			continue
		case "DTSTART":
			started = true
		case "BYHOUR":
			hour = true
		}
		parts = append(parts, part)
	}
	dateOnly := !started && !hour
	if !started {
		start := midnight(wallOf(now, now.Location())).Add(defaultHour * time.Hour)
		parts = append([]string{"DTSTART=" + start.Format(rruleLayout)}, parts...)
	}
	spec := "rrule " + strings.Join(parts, ";")
	if times > 0 && started {
		// COUNT counts from DTSTART, which may be long ago.
		if r, err := readRRule([]string{strings.Join(parts, ";")}); err == nil {
			last, ok := lastOf(schedule{wall: r, until: until}, now.Location(), instantOf(r.option.Dtstart, now.Location()).Add(-time.Second), times)
			if ok {
				until = wallOf(last, now.Location())
			}
		}
		return finish(now, spec, time.Time{}, until, 0, dateOnly)
	}
	return finish(now, spec, time.Time{}, until, times, dateOnly)
}

// rruleUntil reads a date, a wall, or an instant in UTC as a wall.
func rruleUntil(value string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse("20060102", value); err == nil {
		return at.Add(24*time.Hour - time.Second), nil
	}
	if at, err := time.Parse(rruleLayout+"Z", value); err == nil {
		return wallOf(at, zone), nil
	}
	return time.Parse(rruleLayout, value)
}
