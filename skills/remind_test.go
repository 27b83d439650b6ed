package skills

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

func (h *house) next(number int64) time.Time {
	h.t.Helper()
	j, err := h.v.Job(context.Background(), number)
	if err != nil {
		h.t.Fatal(err)
	}
	return j.Next
}

func TestRemindStoresAReminderAndConfirmsTheRow(t *testing.T) {
	h := newHouse(t)
	c := h.call(h.ana)
	res := h.do(c, "remind", `{"when":"friday 9:30","text":" call the plumber "}`)
	if want := "Reminder 1: Fri 13 Mar 2026, 09:30 (Europe/Lisbon): call the plumber"; res.Receipt != want {
		t.Errorf("receipt %q, expected %q", res.Receipt, want)
	}
	contains(t, res.Text, "Done. ", "The person has been shown this confirmation", res.Receipt)
	j, err := h.v.Job(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if j.Kind != vault.Say || j.Person != h.ana.ID || j.Conversation != c.Conversation.ID || j.To != c.To || j.Zone != "Europe/Lisbon" || j.Words != "friday 9:30" || j.Text != "call the plumber" || j.Spec != "" || j.Chain != 0 {
		t.Errorf("stored as %+v", j)
	}
}

func TestRemindAgainAndAgain(t *testing.T) {
	h := newHouse(t)
	res := h.do(h.call(h.ana), "remind", `{"when":"every weekday at 8","text":"take the pills"}`)
	contains(t, res.Receipt, "Reminder 1: ", "next Wed 11 Mar 2026, 08:00 (Europe/Lisbon): take the pills")
	if h.open()[0].Spec == "" {
		t.Error("it comes only once")
	}
}

func TestRemindIsIdempotent(t *testing.T) {
	h := newHouse(t)
	c := h.call(h.ana)
	first := h.do(c, "remind", `{"when":"in 20 minutes","text":"stretch"}`)
	c.Now = c.Now.Add(time.Hour) // run again after a crash
	h.now = c.Now
	second := h.do(c, "remind", `{"when":"in 20 minutes","text":"stretch"}`)
	if !strings.HasPrefix(second.Receipt, first.Receipt) || len(h.open()) != 1 {
		t.Errorf("%d jobs: %q, then %q", len(h.open()), first.Receipt, second.Receipt)
	}
}

func TestSCH01BareHourLateInTheEvening(t *testing.T) {
	h := newHouse(t)
	h.setNow("2026-03-10 23:00", "Europe/Berlin")
	res := h.do(h.call(h.ana), "remind", `{"when":"at 9","text":"ring the plumber"}`)
	contains(t, res.Receipt, "Wed 11 Mar 2026, 09:00 (Europe/Berlin)")
}

func TestSCH04BareQuarterPastThree(t *testing.T) {
	h := newHouse(t)
	h.setNow("2026-03-10 15:05", "Europe/Berlin")
	contains(t, h.do(h.call(h.ana), "remind", `{"when":"today at 3:15","text":"turn the cake"}`).Receipt, "Tue 10 Mar 2026, 15:15")
}

func TestSCH08WordsCountFromWhenTheyWereWritten(t *testing.T) {
	for name, c := range map[string]struct {
		said time.Duration // before now
		want string
	}{
		"just now":         {0, "10:02"},
		"a minute ago":     {time.Minute, "10:01"},
		"a day ago":        {24*time.Hour + time.Second, "10:02"},
		"a clock too fast": {-time.Minute, "10:02"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			call := h.call(h.ana)
			call.Said = call.Now.Add(-c.said)
			contains(t, h.do(call, "remind", `{"when":"in 2 minutes","text":"nudge"}`).Receipt, "Tue 10 Mar 2026, "+c.want+" (Europe/Lisbon)")
		})
	}
	t.Run("nobody said anything", func(t *testing.T) {
		h := newHouse(t)
		call := h.call(h.ana)
		call.Said = time.Time{}
		contains(t, h.do(call, "remind", `{"when":"in 2 minutes","text":"nudge"}`).Receipt, "10:02")
	})
}

func TestSCH08AStampThatClashesWithTheWordsIsRefused(t *testing.T) {
	h := newHouse(t)
	h.setNow("2026-03-10 10:18", "Asia/Singapore")
	for name, c := range map[string]struct {
		words   []string
		when    string
		refused string
	}{
		"five hours late":      {[]string{"nudge me in 2 minutes"}, "2026-03-10T15:21:00+08:00", "Tue 10 Mar 2026, 10:20 (Asia/Singapore)"},
		"right":                {[]string{"nudge me in 2 minutes"}, "2026-03-10T10:20:00+08:00", ""},
		"right in another way": {[]string{"nudge me in 2 minutes"}, "2026-03-10T02:20:30Z", ""},
		"nearly right":         {[]string{"nudge me in 2 minutes"}, "2026-03-10T10:21:59+08:00", ""},
		"three minutes off":    {[]string{"nudge me in 2 minutes"}, "2026-03-10T10:23:00+08:00", "10:20"},
		"without a zone":       {[]string{"nudge me in 2 minutes"}, "2026-03-10 15:21", "10:20"},
		"no phrase":            {[]string{"nudge me when it is time"}, "2026-03-10T15:21:00+08:00", ""},
		"no words":             {nil, "2026-03-10T15:21:00+08:00", ""},
		"two phrases":          {[]string{"nudge me in 2 minutes", "no, in 3 minutes"}, "2026-03-10T15:21:00+08:00", ""},
		"one of two messages":  {[]string{"nudge me", "in 2 minutes"}, "2026-03-10T15:21:00+08:00", "10:20"},
		"the day only":         {[]string{"nudge me tomorrow"}, "2026-03-11T15:21:00+08:00", ""},
		"another day":          {[]string{"nudge me tomorrow"}, "2026-03-12T15:21:00+08:00", "Wed 11 Mar 2026"},
		"again and again":      {[]string{"nudge me every weekday at 8"}, "2026-03-11T08:00:00+08:00", "weekday"},
		"own words":            {[]string{"nudge me in 2 minutes"}, "in 5 hours", ""},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(h.open())
			call := h.call(h.ana)
			call.Words = c.words
			args := fmt.Sprintf(`{"when":%q,"text":"nudge"}`, c.when)
			if c.refused == "" {
				h.do(call, "remind", args)
				return
			}
			contains(t, h.refuse(call, "remind", args), "2026", c.refused, "own words", "nothing is stored")
			if len(h.open()) != before {
				t.Error("it was stored all the same")
			}
		})
	}
}

func TestSCH35APastDateIsRefusedWithTodaysDate(t *testing.T) {
	h := newHouse(t)
	said := h.refuse(h.call(h.ana), "remind", `{"when":"2024-04-05T09:00:00+01:00","text":"dentist visit"}`)
	contains(t, said, "Tue 10 Mar 2026, 10:00 (Europe/Lisbon)", "past")
	call := h.call(h.ana)
	call.Said = call.Now.Add(-time.Hour) // what was still to come when it was said is past all the same
	contains(t, h.refuse(call, "remind", `{"when":"2026-03-10 09:30","text":"dentist visit"}`), "past")
	if open := h.open(); len(open) != 0 {
		t.Errorf("stored: %+v", open)
	}
	contains(t, h.do(h.call(h.ana), "remind", `{"when":"2026-04-05T09:00:00+01:00","text":"dentist visit"}`).Receipt, "Sun 5 Apr 2026, 09:00 (Europe/Lisbon)")
}

// A run that begins late keeps the promise late, and says so: it must not be tomorrow's.
func TestRemindAboutAMomentThatPassedMeanwhile(t *testing.T) {
	h := newHouse(t)
	call := h.call(h.ana)
	call.Said = call.Now.Add(-time.Hour)
	res := h.do(call, "remind", `{"when":"in 20 minutes","text":"take out the cake"}`)
	contains(t, res.Receipt, "Tue 10 Mar 2026, 09:20", "\nThat moment passed before I came to it, so it comes at once.")
	due, err := h.v.DueJobs(context.Background(), 10)
	if err != nil || len(due) != 1 {
		t.Errorf("%d are due, %v", len(due), err)
	}
	call = h.call(h.ana)
	call.Said = call.Now.Add(-3 * time.Hour)
	contains(t, h.do(call, "remind", `{"when":"every day at 8","text":"water"}`).Receipt, "next Wed 11 Mar 2026, 08:00")
	call = h.call(h.ana)
	call.Said = call.Now.Add(-3 * time.Hour)
	contains(t, h.refuse(call, "remind", `{"when":"every day at 8 until today","text":"water"}`), AskPrefix)
}

func TestRemindWithoutAKnowableTimeAsksThePerson(t *testing.T) {
	h := newHouse(t)
	for _, words := range []string{"when pigs fly", "on 31 february", "  "} {
		contains(t, h.refuse(h.call(h.ana), "remind", fmt.Sprintf(`{"when":%q,"text":"x"}`, words)), AskPrefix)
	}
	contains(t, h.refuse(h.call(h.ana), "remind", `{"when":"in 2 hours","text":"  "}`), AskPrefix, "?")
	contains(t, h.refuse(h.call(h.ana), "remind", `{"when":"in 2 hours","text":"`+strings.Repeat("x", 2001)+`"}`), "2,001", "2,000")
	if open := h.open(); len(open) != 0 {
		t.Errorf("stored: %+v", open)
	}
}

func TestSCH19SchedulesThatPanicAParser(t *testing.T) {
	h := newHouse(t)
	for _, words := range []string{"TZ=Europe/Berlin", "CRON_TZ=UTC", "TZ=", "CRON_TZ=Europe/Berlin 0", "@every 1ns", "* * * * * * *", "0 0 31 2 *"} {
		contains(t, h.refuse(h.call(h.ana), "remind", fmt.Sprintf(`{"when":%q,"text":"x"}`, words)), AskPrefix)
	}
}

func TestSCH20CronLinesAreConfirmedInWords(t *testing.T) {
	h := newHouse(t)
	h.setNow("2026-03-02 12:00", "Europe/Berlin")
	contains(t, h.do(h.call(h.ana), "remind", `{"when":"0 9 * * 1-5","text":"stand up"}`).Receipt, "weekday", "Tue 3 Mar 2026, 09:00")
	contains(t, h.do(h.call(h.ana), "remind", `{"when":"0 9 * * 7","text":"rest"}`).Receipt, "Sun 8 Mar 2026, 09:00")
	contains(t, h.do(h.call(h.ana), "remind", `{"when":"0 9 1 * 1","text":"odd one"}`).Receipt, "Monday", "1st", "\n")
}

func TestSCH16And17RhythmsAreKept(t *testing.T) {
	h := newHouse(t)
	h.setNow("2026-11-30 09:00", "Europe/Berlin")
	contains(t, h.do(h.call(h.ana), "remind", `{"when":"every second wednesday at 14:00","text":"recycling"}`).Receipt, "Wed ")
	contains(t, h.do(h.call(h.ana), "remind", `{"when":"every month on the 31st at 9:00","text":"rent"}`).Receipt, "Thu 31 Dec 2026, 09:00")
}

func TestTooManyRemindersAreTold(t *testing.T) {
	h := newHouse(t)
	c := h.call(h.ana)
	for i := range 500 {
		if _, err := h.v.AddJob(context.Background(), vault.Job{Key: fmt.Sprint(i), Kind: vault.Say, Person: h.ana.ID, Conversation: c.Conversation.ID, Text: "x", Zone: "UTC", Next: h.now.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	contains(t, h.refuse(c, "remind", `{"when":"in 2 hours","text":"one more"}`), "500 open reminders")
	contains(t, h.do(h.call(h.ana), "jobs", `{}`).Text, "and 460 more")
}

func TestFollowUpWakesTheAgent(t *testing.T) {
	h := newHouse(t)
	c := h.call(h.ana)
	c.Chain = 9
	res := h.do(c, "follow_up", `{"when":"tomorrow at 8","goal":"check the forecast"}`)
	if want := "Follow-up 1: Wed 11 Mar 2026, 08:00 (Europe/Lisbon): check the forecast"; res.Receipt != want {
		t.Errorf("receipt %q, expected %q", res.Receipt, want)
	}
	if j := h.open()[0]; j.Kind != vault.Do || j.Chain != 10 {
		t.Errorf("stored as %+v", j)
	}
	c = h.call(h.ana)
	c.Chain = 10
	contains(t, h.refuse(c, "follow_up", `{"when":"tomorrow at 8","goal":"again"}`), "10 wake-ups in a row", "nothing is stored")
	if len(h.open()) != 1 {
		t.Error("it was stored all the same")
	}
	if j := h.do(c, "remind", `{"when":"tomorrow at 8","text":"a spoken one wakes nobody"}`); j.Receipt == "" {
		t.Error("a reminder is refused")
	}
}

func TestJobsListsTheCallersOwn(t *testing.T) {
	h := newHouse(t)
	if got := h.do(h.call(h.ana), "jobs", ``).Text; got != "There are no reminders." {
		t.Errorf("without any: %q", got)
	}
	h.do(h.call(h.ana), "remind", `{"when":"friday 9","text":"dentist\nbring the card"}`)
	h.do(h.call(h.ana), "follow_up", `{"when":"tomorrow 8","goal":"check the forecast"}`)
	h.do(h.call(h.ben), "remind", `{"when":"today 18:00","text":"CANARYBEN"}`)
	h.do(h.callIn(h.ana, vault.Group, "family"), "remind", `{"when":"today 19:00","text":"set the table"}`)
	h.do(h.callIn(h.ben, vault.Group, "family"), "remind", `{"when":"today 20:00","text":"clear the table"}`)
	h.do(h.call(h.ana), "cancel_job", `{"id":2}`)
	want := "Reminder 4: Tue 10 Mar 2026, 19:00 (Europe/Lisbon): set the table\nReminder 1: Fri 13 Mar 2026, 09:00 (Europe/Lisbon): dentist bring the card"
	if got := h.do(h.call(h.ana), "jobs", `{}`).Text; got != want {
		t.Errorf("Ana's: %q, expected %q", got, want)
	}
	if got, want := h.do(h.callIn(h.ana, vault.Group, "family"), "jobs", `{}`).Text, "Reminder 4: Tue 10 Mar 2026, 19:00 (Europe/Lisbon): set the table"; got != want {
		t.Errorf("Ana's in the group: %q, expected %q", got, want)
	}
	if err := h.v.RemovePerson(context.Background(), "Ben"); err != nil {
		t.Fatal(err)
	}
	contains(t, h.do(h.call(h.ben), "jobs", `{}`).Text, "CANARYBEN (paused)", "clear the table (paused)")
}

// What is somebody else's does not exist, for an owner's model too: it reads what others write.
// SCH-02 and SCH-05: a correction names only what is wrong; the rest stays as it was.
// A stored name of a zone that this machine does not know must not make a job unreadable.
func TestAJobInAnUnknownZoneIsShownInTheCallers(t *testing.T) {
	h := newHouse(t)
	c := h.call(h.ana)
	if _, err := h.v.AddJob(context.Background(), vault.Job{Key: "x", Kind: vault.Say, Person: h.ana.ID, Conversation: c.Conversation.ID, Text: "x", Zone: "Mars/Base", Next: h.now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	contains(t, h.do(c, "jobs", `{}`).Text, "11:00 (Europe/Lisbon)")
}
