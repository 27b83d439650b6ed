package when

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// berlin is Monday 12 January 2026, 15:05, in Berlin.
func berlin(t testing.TB) time.Time {
	return time.Date(2026, time.January, 12, 15, 5, 0, 0, zone(t, "Europe/Berlin"))
}

func TestResultSaysHowItWasRead(t *testing.T) {
	for _, tt := range []struct {
		words              string
		dateOnly, relative bool
		note               string // a part of it; "" for none
	}{
		{"tomorrow", true, false, ""},
		{"tomorrow at 9", false, false, ""},
		{"3 feb", true, false, ""},
		{"every monday", true, false, ""},
		{"every monday at 9", false, false, ""},
		{"in 2 hours", false, true, ""},
		{"in 2 days", false, true, ""},
		{"in 2 days at 9", false, false, ""},
		{"20 minutes", false, true, ""},
		{"today at 3:15", false, false, "15:15"},
		{"at 5", false, false, "17:00"},
		{"tomorrow at 3", false, false, "15:00"},
		{"tomorrow at 03:00", false, false, ""},
		{"tomorrow evening", false, false, "19:00"},
		{"tomorrow evening at 8", false, false, ""},
		{"next friday", true, false, "next week"},
		{"monday at 9", false, false, "next week's"},
		{"friday at midnight", false, false, "end of that day"},
		{"next week", true, false, "Monday"},
		{"next month", true, false, "1st"},
		{"half eight", false, false, "half past 8"},
		{"every month on the 31st", true, false, "last day"},
		{"every last day of the month", true, false, ""},
		{"last working day of the month", true, false, "every month"},
		{"every 2 weeks", true, false, "Monday"},
		{"0 9 1 * 1", false, false, "either"},
		{"0 9 * * 1", false, false, ""},
		{"2h", false, true, "in 2 hours"},
		{"el próximo viernes", true, false, "coming Friday"},
	} {
		res, err := Parse(tt.words, berlin(t))
		if err != nil {
			t.Errorf("%q: %v", tt.words, err)
			continue
		}
		if res.DateOnly != tt.dateOnly || res.Relative != tt.relative {
			t.Errorf("%q: DateOnly %v, Relative %v; want %v, %v", tt.words, res.DateOnly, res.Relative, tt.dateOnly, tt.relative)
		}
		if (tt.note == "") != (res.Note == "") || !strings.Contains(res.Note, tt.note) {
			t.Errorf("%q: the note is %q, want one with %q", tt.words, res.Note, tt.note)
		}
	}
}

func TestQuestionsNameWhatIsUnclear(t *testing.T) {
	for words, parts := range map[string][]string{
		"tomorrow at 9 blah":             {"blah"},
		"3/2":                            {"3 February", "2 March"},
		"31 feb":                         {"31 February 2026"},
		"29 feb":                         {"29 February 2026"},
		"christmas":                      {"christmas"},
		"7ish":                           {"7ish"},
		"tomorrow around 9":              {"around 9"},
		"by friday":                      {"by friday"},
		"tomorrow at 25":                 {"25"},
		"monday and thursday at 9":       {"every Monday and Thursday"},
		"saturday 30 january":            {"Friday"},
		"9h":                             {"9 hours", "9 o'clock"},
		"every third thursday":           {"3 weeks", "third Thursday"},
		"twice a day":                    {"twice a day"},
		"biweekly":                       {"biweekly"},
		"every 10 seconds":               {"one minute"},
		"every 2 hours at 9":             {"2 hours", "09:00"},
		"le lundi à 9h":                  {"every Monday"},
		"tomorrow at 9 Europe/Rome":      {"Europe/Berlin"},
		"2999-01-01":                     {"hundred years"},
		"every other weekday":            {"second weekday"},
		"first working day of the month": {"first working day"},
	} {
		_, err := Parse(words, berlin(t))
		var question *AskError
		if !errors.As(err, &question) {
			t.Errorf("%q: %v, want a question", words, err)
			continue
		}
		for _, part := range parts {
			if !strings.Contains(question.Question, part) {
				t.Errorf("%q asks %q, which does not name %q", words, question.Question, part)
			}
		}
	}
}

func TestSCH19ZonePrefixesAreExplained(t *testing.T) {
	for _, words := range []string{"TZ=Europe/Berlin", "CRON_TZ=UTC", "TZ=", "CRON_TZ=Europe/Berlin 0", "TZ=UTC 0 9 * * *", "cron TZ=UTC 0 9 * * *"} {
		_, err := Parse(words, berlin(t))
		var question *AskError
		if !errors.As(err, &question) || !strings.Contains(question.Question, "zone") {
			t.Errorf("%q: %v, want a question that explains zones", words, err)
		}
	}
}

func TestSCH20CronLinesAreExplained(t *testing.T) {
	for line, part := range map[string]string{
		"30 0 9 * * *": "seconds", "0 9 * *": "five fields", "0 9 * * 8": "day-of-week", "60 9 * * *": "minute", "0 9 30 2 *": "never", "0 9 L * *": "in words", "0 9 * * 5#2": "in words",
	} {
		_, err := Parse(line, berlin(t))
		var question *AskError
		if !errors.As(err, &question) || !strings.Contains(question.Question, part) {
			t.Errorf("%q: %v, want a question with %q", line, err, part)
		}
	}
	for line, words := range map[string]string{
		"0 9 * * 1-5": "every weekday at 09:00", "0 9 * * 7": "every Sunday at 09:00", "0 9 1 * 1": "on the 1st of the month and also every Monday at 09:00",
	} {
		if res, err := Parse(line, berlin(t)); err != nil || res.Words != words {
			t.Errorf("%q is told as %q (%v), want %q", line, res.Words, err, words)
		}
	}
}

func TestSCH35PastDatesNameToday(t *testing.T) {
	now := time.Date(2026, time.March, 10, 8, 0, 0, 0, zone(t, "Europe/Lisbon"))
	_, err := Parse("2024-04-05T09:00:00+01:00", now)
	var past *PastError
	if !errors.As(err, &past) {
		t.Fatalf("a date of two years ago: %v, want a PastError", err)
	}
	if want := "Tue 10 Mar 2026, 08:00 (Europe/Lisbon)"; !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %q, without %q", err, want)
	}
	if res, err := Parse("2026-04-05T09:00:00+01:00", now); err != nil || Format(res.At) != "Sun 5 Apr 2026, 09:00 (Europe/Lisbon)" {
		t.Errorf("the corrected date: %v, %v", res.At, err)
	}
}

// TestTheSecondPassOfADoubledHour: said between the two, a time that comes twice means the one to come.
func TestTheSecondPassOfADoubledHour(t *testing.T) {
	now := instant(t, "2026-10-25T02:10:00+01:00").In(zone(t, "Europe/Berlin"))
	res, err := Parse("at 02:30", now)
	if want := instant(t, "2026-10-25T02:30:00+01:00"); err != nil || !res.At.Equal(want) {
		t.Errorf("02:30 said at %s = %s, %v; want %s", now, res.At, err, want)
	}
}

func TestParseInstant(t *testing.T) {
	z := zone(t, "Europe/Berlin")
	for text, want := range map[string]string{
		"2026-02-03T14:00:00+01:00": "2026-02-03T14:00:00+01:00",
		"2026-02-03T13:00:00Z":      "2026-02-03T14:00:00+01:00",
		"2026-02-03t13:00:00.5z":    "2026-02-03T14:00:00+01:00",
		"2026-02-03T14:00":          "2026-02-03T14:00:00+01:00",
		"2026-02-03 14:00":          "2026-02-03T14:00:00+01:00",
		" 2026-02-03 14:00:05 ":     "2026-02-03T14:00:05+01:00",
		"2026-02-03 14:00 +0200":    "2026-02-03T13:00:00+01:00",
		"2026-03-29 02:30":          "2026-03-29T03:00:00+02:00",
		"2026-02-03":                "",
		"2026-02-30 14:00":          "",
		"tomorrow":                  "",
		"":                          "",
	} {
		got := ""
		if at, ok := ParseInstant(text, z); ok {
			got = at.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("ParseInstant(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestLongPhrasesAreRefused(t *testing.T) {
	if _, err := Parse(strings.Repeat("tomorrow ", 100), berlin(t)); err == nil {
		t.Error("nine hundred bytes are read as a time")
	}
	_, rest, err := Split("tomorrow at 9 "+strings.Repeat("call mum and dad ", 500), berlin(t))
	if err != nil || len(rest) < 8000 {
		t.Errorf("a long text after a time: %d bytes, %v", len(rest), err)
	}
}

func TestReceipt(t *testing.T) {
	at := time.Date(2026, time.December, 4, 9, 0, 0, 0, zone(t, "Europe/Lisbon"))
	if got, want := Receipt("Reminder", 7, at, "", "call the plumber"), "Reminder 7: Fri 4 Dec 2026, 09:00 (Europe/Lisbon): call the plumber"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	want := "Follow-up 8: every weekday at 08:00, next Fri 4 Dec 2026, 09:00 (Europe/Lisbon): ask"
	if got := Receipt("Follow-up", 8, at, "every weekday at 08:00", "ask"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
