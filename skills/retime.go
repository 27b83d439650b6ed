package skills

import (
	"regexp"
	"strings"
	"time"

	"hearth/scheduler/when"
	"hearth/vault"
)

// clockOnly is a time of day and nothing else, in the languages that scheduler/when reads.
var clockOnly = regexp.MustCompile(`(?i)^(?:at|um|a las?|à|às|as|alle|ore)?\s*(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|a\.m\.?|p\.m\.?|uhr|h|o'?clock)?$`)

// timeOnly moves a job to another time of the same day when the words name nothing but a time of day. An hour that can be
// read two ways is the one nearer to the old time: "make it 10" for a reminder at 9 in the morning is not 22:00.
// ok is false when the words say more, or when that moment has passed.
func (c Call) timeOnly(j vault.Job, words string, zone *time.Location) (res when.Result, ok bool) {
	m := clockOnly.FindStringSubmatch(strings.TrimSpace(words))
	if m == nil {
		return res, false
	}
	old := j.Next.In(zone)
	y, mo, d := old.Date()
	res, err := when.Parse(words, time.Date(y, mo, d, 0, 0, 0, 0, zone).Add(-time.Second))
	if err != nil || res.Spec != "" || !sameDay(res.At, old) {
		return res, false
	}
	if other := half(res.At); m[3] == "" && !strings.HasPrefix(m[1], "0") && res.At.Hour()%12 == atoi(m[1])%12 && atoi(m[1]) <= 12 && other.Sub(old).Abs() < res.At.Sub(old).Abs() {
		res.At = other
	}
	res.Note = ""
	return res, res.At.After(c.Now)
}

// half is the same time of day in the other half of the day.
func half(t time.Time) time.Time {
	y, mo, d := t.Date()
	return time.Date(y, mo, d, (t.Hour()+12)%24, t.Minute(), 0, 0, t.Location())
}

func atoi(digits string) (n int) {
	for _, r := range digits {
		n = n*10 + int(r-'0')
	}
	return n
}

// keepClock gives the day of res at the time of day that the job had.
func (c Call) keepClock(j vault.Job, res when.Result, zone *time.Location) (when.Result, error) {
	old := j.Next.In(zone)
	kept, err := when.Parse(res.At.In(zone).Format("2006-01-02")+" "+old.Format("15:04"), c.Now.In(zone))
	if err != nil {
		return kept, err
	}
	return kept, nil
}
