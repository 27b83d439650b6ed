package when

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// cronRule is a five-field cron line, minute hour day-of-month month day-of-week. The fields are validated and turned
// into bit sets by robfig/cron; its Next is not used, as it skips and doubles times around clock changes.
type cronRule struct {
	fields                        [5]string
	minute, hour, dom, month, dow uint64
	domStar, dowStar              bool
}

// starBit is how robfig/cron marks a field that was "*".
const starBit = 1 << 63

var cronNames = [5]map[string]int{
	3: {
		"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
		"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
	},
	4: {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6},
}

var (
	cronNouns  = [5]string{"minute", "hour", "day-of-month", "month", "day-of-week"}
	cronBounds = [5][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}
)

// readCron parses the five fields. Its errors are sentences for people.
func readCron(fields []string) (cronRule, error) {
	var r cronRule
	for _, f := range fields {
		if strings.Contains(f, "=") {
			return r, errors.New("a zone inside a cron line (TZ=, CRON_TZ=) is not read: each job has its own zone")
		}
	}
	if len(fields) != 5 {
		return r, fmt.Errorf("a cron line has five fields (minute hour day-of-month month day-of-week), this one has %d", len(fields))
	}
	for i, f := range fields {
		plain, err := cronField(f, i)
		if err != nil {
			return r, err
		}
		r.fields[i] = plain
	}
	parsed, err := parseCron(strings.Join(r.fields[:], " "))
	if err != nil {
		return r, err
	}
	const all = 1<<63 - 1
	r.minute, r.hour, r.month = parsed.Minute&all, parsed.Hour&all, parsed.Month&all
	r.dom, r.dow = parsed.Dom&all, parsed.Dow&all
	r.domStar, r.dowStar = parsed.Dom&starBit != 0, parsed.Dow&starBit != 0
	if _, ok := r.next(date(2000, time.January, 1)); !ok {
		return r, fmt.Errorf("the cron line names a date that never comes (%s of month %s)", r.fields[2], r.fields[3])
	}
	return r, nil
}

// parseCron hands the fields to robfig/cron, whose parser panics on some texts.
func parseCron(line string) (spec *cron.SpecSchedule, err error) {
	defer func() {
		if recover() != nil {
			spec, err = nil, errors.New("the cron line can't be read")
		}
	}()
	parsed, err := cron.ParseStandard(line)
	if err != nil {
		return nil, fmt.Errorf("the cron line can't be read: %w", err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return nil, errors.New("the cron line can't be read")
	}
	return spec, nil
}

// cronField writes one field in the plain form every cron reads: names become numbers, 7 becomes Sunday's 0, and a
// range that runs over the end of its cycle (FRI-MON, 22-6) is listed.
func cronField(field string, i int) (string, error) {
	low, high := cronBounds[i][0], cronBounds[i][1]
	cycle := high - low + 1
	if i == 4 {
		cycle = 7
	}
	var parts []string
	for part := range strings.SplitSeq(strings.ToLower(field), ",") {
		body, step, stepped := strings.Cut(part, "/")
		if body == "*" || body == "?" {
			parts = append(parts, "*"+part[len(body):])
			continue
		}
		from, to, ranged := strings.Cut(body, "-")
		a, err := cronNumber(from, i)
		if err != nil {
			return "", err
		}
		b := a
		if ranged {
			if b, err = cronNumber(to, i); err != nil {
				return "", err
			}
		}
		if i == 4 && a == 7 {
			a = 0
			if !ranged {
				b = 0
			}
		}
		if (b >= a && (i != 4 || b != 7)) || !ranged {
			plain := strconv.Itoa(a)
			if ranged {
				plain += "-" + strconv.Itoa(b)
			}
			if stepped {
				plain += "/" + step
			}
			parts = append(parts, plain)
			continue
		}
		by := 1
		if stepped {
			if by, err = strconv.Atoi(step); err != nil || by < 1 {
				return "", fmt.Errorf("the step %q in the %s field of the cron line is not a number above 0", step, cronNouns[i])
			}
		}
		if b < a {
			b += cycle
		}
		var days []int
		for n := a; n <= b && n < a+cycle; n += by {
			days = append(days, low+(n-low)%cycle)
		}
		slices.Sort(days)
		for _, d := range days {
			parts = append(parts, strconv.Itoa(d))
		}
	}
	return strings.Join(parts, ","), nil
}

// cronNumber reads a number or a name of field i.
func cronNumber(text string, i int) (int, error) {
	if n, ok := cronNames[i][text]; ok {
		return n, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || len(text) > 2 {
		hint := ""
		if strings.ContainsAny(text, "l#w") {
			hint = `; say it in words instead, like "last friday of the month"`
		}
		return 0, fmt.Errorf("%q in the %s field of the cron line is not a number%s", text, cronNouns[i], hint)
	}
	if n < cronBounds[i][0] || n > cronBounds[i][1] {
		return 0, fmt.Errorf("%d in the %s field of the cron line is out of range, it goes from %d to %d",
			n, cronNouns[i], cronBounds[i][0], cronBounds[i][1])
	}
	return n, nil
}

func (r cronRule) String() string { return "cron " + strings.Join(r.fields[:], " ") }

// everyHour says whether all hours are meant.
func (r cronRule) everyHour() bool { return r.hour == 1<<24-1 }

// onDay says whether the rule runs on a civil date. Day-of-month and day-of-week both given mean either, as in every cron.
func (r cronRule) onDay(day time.Time) bool {
	dom := r.dom&(1<<day.Day()) != 0
	dow := r.dow&(1<<day.Weekday()) != 0
	if r.domStar || r.dowStar {
		return dom && dow
	}
	return dom || dow
}

func (r cronRule) next(w time.Time) (time.Time, bool) {
	w = w.Truncate(time.Minute).Add(time.Minute)
	day := midnight(w)
	if r.month&(1<<day.Month()) != 0 && r.onDay(day) {
		if at, ok := r.within(day, w.Hour(), w.Minute()); ok {
			return at, true
		}
	}
	limit := day.Year() + maxYears + 1
	for day = day.AddDate(0, 0, 1); day.Year() <= limit; {
		if r.month&(1<<day.Month()) == 0 {
			day = date(day.Year(), day.Month()+1, 1)
			continue
		}
		if r.onDay(day) {
			return r.within(day, 0, 0)
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, false
}

// within returns the rule's first time of day at or after hour:minute.
func (r cronRule) within(day time.Time, hour, minute int) (time.Time, bool) {
	for h := hour; h < 24; h++ {
		if r.hour&(1<<h) == 0 {
			continue
		}
		left := r.minute
		if h == hour {
			left = left >> minute << minute
		}
		if left != 0 {
			return day.Add(time.Duration(h)*time.Hour + time.Duration(bits.TrailingZeros64(left))*time.Minute), true
		}
	}
	return time.Time{}, false
}
