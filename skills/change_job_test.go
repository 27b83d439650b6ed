package skills

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

func TestCancelJob(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remind", `{"when":"friday 9","text":"dentist"}`)
	first := h.do(h.call(h.ana), "cancel_job", `{"id":1}`)
	if want := "Cancelled: Reminder 1 (dentist)."; first.Receipt != want {
		t.Errorf("receipt %q, expected %q", first.Receipt, want)
	}
	if len(h.open()) != 0 {
		t.Error("it is still open")
	}
	if again := h.do(h.call(h.ana), "cancel_job", `{"id":1}`); again != first {
		t.Errorf("run again after a crash it says %q", again.Receipt)
	}
	if _, err := h.v.Job(context.Background(), 1); err != nil {
		t.Error(err)
	}
}

func TestMEM10JobsOfOthersDoNotExist(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remind", `{"when":"friday 9","text":"CANARYANA"}`)
	h.do(h.call(h.ben), "remind", `{"when":"friday 10","text":"CANARYBEN"}`)
	h.do(h.callIn(h.ana, vault.Group, "family"), "remind", `{"when":"friday 11","text":"set the table"}`)
	before := h.open()
	for _, c := range []struct {
		who    Call
		number int
	}{{h.call(h.ben), 1}, {h.call(h.ana), 2}, {h.callIn(h.ana, vault.Group, "family"), 1}, {h.callIn(h.ben, vault.Group, "family"), 3}, {h.call(h.ana), 99}, {h.call(h.ana), 0}, {h.call(h.ana), -1}} {
		want := fmt.Sprintf("there is no reminder %d; jobs lists those there are", c.number)
		for _, try := range [][2]string{
			{"cancel_job", `{"id":%d}`}, {"change_job", `{"id":%d,"when":"tomorrow at 8"}`}, {"change_job", `{"id":%d,"text":"pwned"}`},
		} {
			if got := h.refuse(c.who, try[0], fmt.Sprintf(try[1], c.number)); got != want {
				t.Errorf("%s of %d says %q", try[0], c.number, got)
			}
		}
	}
	for i, j := range h.open() {
		if j != before[i] {
			t.Errorf("job %d was changed: %+v", j.ID, j)
		}
	}
}

func TestEndedJobsCannotBeChanged(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remind", `{"when":"in 5 minutes","text":"tea"}`)
	h.now = h.now.Add(5 * time.Minute)
	due, err := h.v.DueJobs(context.Background(), 1)
	if err != nil || len(due) != 1 {
		t.Fatalf("%d due, %v", len(due), err)
	}
	if err := h.v.Fire(context.Background(), due[0], vault.Firing{Due: due[0].Next, Words: "tea"}); err != nil {
		t.Fatal(err)
	}
	contains(t, h.refuse(h.call(h.ana), "change_job", `{"id":1,"text":"coffee"}`), "on its way", "when")
	parts, err := h.v.Heads(context.Background(), "telegram")
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	if err := errors.Join(h.v.Sending(context.Background(), parts[0]), h.v.Delivered(context.Background(), parts[0], "m1")); err != nil {
		t.Fatal(err)
	}
	contains(t, h.refuse(h.call(h.ana), "change_job", `{"id":1,"when":"tomorrow at 8"}`), "has ended already")
	contains(t, h.refuse(h.call(h.ana), "cancel_job", `{"id":1}`), "has ended already")
}

func TestChangeJobEditsTheSameRow(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remind", `{"when":"friday 9","text":"dentist"}`)
	res := h.do(h.call(h.ana), "change_job", `{"id":1,"when":"saturday 10:30"}`)
	if want := "Reminder 1 is now: Sat 14 Mar 2026, 10:30 (Europe/Lisbon): dentist"; res.Receipt != want {
		t.Errorf("receipt %q, expected %q", res.Receipt, want)
	}
	res = h.do(h.call(h.ana), "change_job", `{"id":1,"text":" eye doctor "}`)
	if want := "Reminder 1 is now: Sat 14 Mar 2026, 10:30 (Europe/Lisbon): eye doctor"; res.Receipt != want {
		t.Errorf("receipt %q, expected %q", res.Receipt, want)
	}
	res = h.do(h.call(h.ana), "change_job", `{"id":1,"when":"every monday at 7","text":"run"}`)
	contains(t, res.Receipt, "Reminder 1 is now: ", "next Mon 16 Mar 2026, 07:00", ": run")
	if all, err := h.v.Jobs(context.Background(), 0, false, 10); err != nil || len(all) != 1 {
		t.Errorf("%d rows, %v", len(all), err)
	}
	contains(t, h.refuse(h.call(h.ana), "change_job", `{"id":1}`), "nothing to change")
	contains(t, h.refuse(h.call(h.ana), "change_job", `{"id":1,"when":" ","text":""}`), "nothing to change")
	contains(t, h.refuse(h.call(h.ana), "change_job", `{"id":1,"when":"when pigs fly"}`), AskPrefix)
	contains(t, h.refuse(h.call(h.ana), "change_job", `{"id":1,"text":"`+strings.Repeat("x", 2001)+`"}`), "2,000")
}

func TestChangeJobReadsWordsInTheJobsOwnZone(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remind", `{"when":"friday 9","text":"dentist"}`)
	c := h.call(h.ana)
	zone, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	c.Zone, c.Now, c.Said = zone, c.Now.In(zone), c.Said.In(zone)
	contains(t, h.do(c, "change_job", `{"id":1,"when":"saturday 10:30"}`).Receipt, "Sat 14 Mar 2026, 10:30 (Europe/Lisbon)")
}

func TestSCH02ACorrectionKeepsWhatItDoesNotName(t *testing.T) {
	for name, c := range map[string]struct{ now, first, change, want string }{
		"the day, not the time":      {"2026-03-11 00:30", "tomorrow at 8", "today", "Wed 11 Mar 2026, 08:00"},
		"the whole":                  {"2026-03-11 00:30", "tomorrow at 8", "today at 8", "Wed 11 Mar 2026, 08:00"},
		"the time, not the day":      {"2026-03-10 11:00", "friday 9", "10", "Fri 13 Mar 2026, 10:00"},
		"the time, with at":          {"2026-03-10 11:00", "friday 9", "at 10", "Fri 13 Mar 2026, 10:00"},
		"the time, in the afternoon": {"2026-03-10 11:00", "friday 16:00", "5", "Fri 13 Mar 2026, 17:00"},
		"the time, in the morning":   {"2026-03-10 11:00", "friday 7:00", "6", "Fri 13 Mar 2026, 06:00"},
		"the time, in the evening":   {"2026-03-10 11:00", "friday 20:00", "at 9", "Fri 13 Mar 2026, 21:00"},
		"the time in full":           {"2026-03-10 11:00", "friday 9:00", "17:30", "Fri 13 Mar 2026, 17:30"},
		"the time with pm":           {"2026-03-10 11:00", "friday 9:00", "8 pm", "Fri 13 Mar 2026, 20:00"},
		"the time with am":           {"2026-03-10 11:00", "friday 20:00", "9am", "Fri 13 Mar 2026, 09:00"},
		"a zero in front":            {"2026-03-10 11:00", "friday 20:00", "09:00", "Fri 13 Mar 2026, 09:00"},
		"later today":                {"2026-03-10 11:00", "today at 15:00", "at 4", "Tue 10 Mar 2026, 16:00"},
		"a week later":               {"2026-01-12 10:00", "friday 19:00", "friday 30 January 2026 at 19:00", "Fri 30 Jan 2026, 19:00"},
		"counted from now":           {"2026-03-10 11:00", "friday 9", "in 2 hours", "Tue 10 Mar 2026, 13:00"},
		"another day and time":       {"2026-03-10 11:00", "friday 9", "tomorrow at 7", "Wed 11 Mar 2026, 07:00"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.setNow(c.now, "Europe/Berlin")
			h.do(h.call(h.ana), "remind", fmt.Sprintf(`{"when":%q,"text":"x"}`, c.first))
			res := h.do(h.call(h.ana), "change_job", fmt.Sprintf(`{"id":1,"when":%q}`, c.change))
			contains(t, res.Receipt, "Reminder 1 is now: "+c.want+" (Europe/Berlin): x")
			if open := h.open(); len(open) != 1 || !strings.Contains(res.Receipt, open[0].Next.In(h.now.Location()).Format("15:04")) {
				t.Errorf("stored: %+v", open)
			}
		})
	}
}

func TestChangeJobToAMomentThatIsOverIsRefused(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remind", `{"when":"tomorrow at 8","text":"pack the bag"}`)
	before := h.next(1)
	said := h.refuse(h.call(h.ana), "change_job", `{"id":1,"when":"2026-03-10 08:00"}`)
	contains(t, said, "Tue 10 Mar 2026, 10:00 (Europe/Lisbon)")
	if !h.next(1).Equal(before) {
		t.Error("it was moved all the same")
	}
}

func TestARecurringJobDoesNotBecomeASingleOneByTheWay(t *testing.T) {
	h := newHouse(t)
	h.do(h.call(h.ana), "remind", `{"when":"every weekday at 8","text":"pills"}`)
	spec := h.open()[0].Spec
	for _, words := range []string{"at 9", "tomorrow at 9", "friday"} {
		contains(t, h.refuse(h.call(h.ana), "change_job", fmt.Sprintf(`{"id":1,"when":%q}`, words)), AskPrefix+"Reminder 1 comes every weekday at 08:00. What shall its new rhythm be")
	}
	if h.open()[0].Spec != spec {
		t.Error("its rhythm was changed all the same")
	}
	contains(t, h.do(h.call(h.ana), "change_job", `{"id":1,"when":"every weekday at 9"}`).Receipt, "next Wed 11 Mar 2026, 09:00")
	contains(t, h.do(h.call(h.ana), "change_job", `{"id":1,"text":"vitamins"}`).Receipt, "next Wed 11 Mar 2026, 09:00 (Europe/Lisbon): vitamins")
}
