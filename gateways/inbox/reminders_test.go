package inbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

func TestRemindIsConfirmedFromTheStoredRow(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct{ text, answer string }{
		{"/remind in 1 hour, water the fern", "Reminder 1: Fri 4 Dec 2026, 10:00 (Europe/Lisbon): water the fern"},
		{"/remind tomorrow at 9, call mum, and dad", "Reminder 2: Sat 5 Dec 2026, 09:00 (Europe/Lisbon): call mum, and dad"},
		{"/remind in 5 minutes stretch", "Reminder 3: Fri 4 Dec 2026, 09:05 (Europe/Lisbon): stretch"},
		{"/REMIND@hearth_bot\nin 2 hours,\nstir the pot", "Reminder 4: Fri 4 Dec 2026, 11:00 (Europe/Lisbon): stir the pot"},
		{"/remind every day at 8, take the pills", "Reminder 5: every day at 08:00, next Sat 5 Dec 2026, 08:00 (Europe/Lisbon): take the pills"},
		{"/remind buy milk, eggs tomorrow at 9", "Reminder 6: Sat 5 Dec 2026, 09:00 (Europe/Lisbon): buy milk, eggs"},
		{"/remind Fri 11 Dec 2026, 09:00, dentist, with the card", "Reminder 7: Fri 11 Dec 2026, 09:00 (Europe/Lisbon): dentist, with the card"},
		{"/remind me in 6 minutes to call", "Reminder 8: Fri 4 Dec 2026, 09:06 (Europe/Lisbon): call"},
		{"/remind every monday, wednesday and friday at 8, swim", "Reminder 9: every Monday, Wednesday and Friday at 08:00, next Mon 7 Dec 2026, 08:00 (Europe/Lisbon): swim"},
		{"/remind 9, tea", "Reminder 10: Fri 4 Dec 2026, 21:00 (Europe/Lisbon): tea\nI took it as 21:00."},
	} {
		w.want(ana, tc.text, tc.answer)
	}
	w.want(ben, "/remind tomorrow at 9, call mum", "Reminder 11: Sat 5 Dec 2026, 09:00 (Europe/Berlin): call mum")
	jobs := w.jobs("Ana")
	if len(jobs) != 10 {
		t.Fatalf("%d jobs", len(jobs))
	}
	j := jobs[0] // the next one
	if j.Key != "command:telegram:bot:11:3" || j.Kind != vault.Say || j.Zone != "Europe/Lisbon" || j.Words != "in 5 minutes" || j.To.Chat != ana || !j.Next.Equal(w.now.Add(5*time.Minute)) {
		t.Errorf("stored: %+v", j)
	}
	if daily := jobs[5]; daily.Spec == "" || daily.Words != "every day at 8" {
		t.Errorf("stored: %+v", daily)
	}
}

// SCH-01, SCH-05: what is not understood is asked back, what lies in the past says what day it is, and nothing is stored.
func TestSCH01RemindersThatAreNotUnderstoodAreAskedBack(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct{ text, want string }{
		{"/remind", "When, and of what? Write it as /remind WHEN, TEXT, for example /remind tomorrow at 9, call mum."},
		{"/remind in 10 minutes", "What shall I remind you of? Write it as /remind WHEN, TEXT, for example /remind tomorrow at 9, call mum."},
		{"/remind in 10 minutes,", "What shall I remind you of? Write it as /remind WHEN, TEXT, for example /remind tomorrow at 9, call mum."},
		{"/remind in 10 minutes, " + strings.Repeat("x", 2001), "The text has 2001 letters; at most 2000 fit into a reminder. Nothing was stored."},
	} {
		w.want(ana, tc.text, tc.want)
	}
	for _, tc := range []struct{ text, has string }{
		{"/remind at blue o'clock, tea", "blue"},
		{"/remind yesterday at 9, tea", "now it is Fri 4 Dec 2026, 09:00 (Europe/Lisbon)."},
		{"/remind the dentist", "dentist"},
	} {
		got := w.ask(ana, tc.text)
		if !strings.Contains(got, tc.has) || !strings.HasSuffix(got, " Nothing was stored.") || strings.Contains(got, "..") {
			t.Errorf("%s: %q", tc.text, got)
		}
	}
	if n := len(w.jobs("Ana")); n != 0 {
		t.Errorf("%d reminders were stored", n)
	}
}

func TestRelativeWordsCountFromWhenTheyWereSent(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		ago  time.Duration
		text string
		want string
	}{
		{3 * time.Minute, "/remind in 10 minutes, tea", "Reminder 1: Fri 4 Dec 2026, 09:07 (Europe/Lisbon): tea"},
		{time.Hour, "/remind in 10 minutes, soup", "Reminder 2: Fri 4 Dec 2026, 08:10 (Europe/Lisbon): soup\nThat time had passed when your message reached me, so it comes at once."},
		{25 * time.Hour, "/remind in 10 minutes, cake", "Reminder 3: Fri 4 Dec 2026, 09:10 (Europe/Lisbon): cake"},
		{-time.Hour, "/remind in 10 minutes, ahead", "Reminder 4: Fri 4 Dec 2026, 09:10 (Europe/Lisbon): ahead"},
		{10 * time.Hour, "/remind tomorrow at 10, said yesterday", "Reminder 5: Fri 4 Dec 2026, 10:00 (Europe/Lisbon): said yesterday"},
		{2 * time.Hour, "/remind every day at 8, pills", "Reminder 6: every day at 08:00, next Sat 5 Dec 2026, 08:00 (Europe/Lisbon): pills"},
	} {
		in := w.message(ana, tc.text)
		in.Sent = w.now.Add(-tc.ago)
		if got := said(w.hand(in)); got != tc.want {
			t.Errorf("%s, %v ago\n got: %s\nwant: %s", tc.text, tc.ago, got, tc.want)
		}
	}
	due, err := w.v.DueJobs(t.Context(), 10)
	w.check(err)
	if len(due) != 1 || due[0].Text != "soup" {
		t.Errorf("due at once: %+v", due)
	}
}

func TestTooManyRemindersAreRefused(t *testing.T) {
	w := newWorld(t)
	p := w.person("Ana")
	c, err := w.v.PrivateConversation(t.Context(), p.ID)
	w.check(err)
	w.check(w.v.Do(t.Context(), "fill", func(tx *vault.Tx) error {
		for n := range 500 {
			if _, err := tx.AddJob(vault.Job{Kind: vault.Say, Person: p.ID, Conversation: c.ID, Text: "x", Zone: "UTC", Next: w.now.Add(time.Duration(n+1) * time.Hour)}); err != nil {
				return err
			}
		}
		return nil
	}))
	w.want(ana, "/remind in 5 minutes, tea", "There are 500 open reminders already; cancel some first. Nothing was stored.")
	answers := w.hand(w.message(ana, "/jobs"))
	if !strings.HasPrefix(said(answers), "500 reminders, next first:\n1 · Fri 4 Dec 2026, 10:00 (UTC): x\n") || !strings.HasSuffix(said(answers), "… and 450 more: hearth jobs list") {
		t.Errorf("/jobs: %q", said(answers))
	}
}

func TestJobsListsOwnRemindersNextFirst(t *testing.T) {
	w := newWorld(t)
	w.want(ana, "/jobs", "You have no reminders. /remind WHEN, TEXT makes one.")
	w.ask(ana, "/remind tomorrow at 9, call mum")
	w.ask(ana, "/remind in 1 hour, water the fern")
	w.ask(ana, "/remind every day at 8, pills")
	w.ask(ben, "/remind in 2 hours, secret of Ben")
	p := w.person("Ana")
	c, err := w.v.PrivateConversation(t.Context(), p.ID)
	w.check(err)
	_, err = w.v.AddJob(t.Context(), vault.Job{Kind: vault.Do, Person: p.ID, Conversation: c.ID, Text: "look at the garden", Zone: "Asia/Tokyo", Next: w.now.Add(time.Minute)})
	w.check(err)
	w.want(ana, "/jobs", strings.Join([]string{
		"4 reminders, next first:",
		"5 · follow-up, Fri 4 Dec 2026, 18:01 (Asia/Tokyo): look at the garden",
		"2 · Fri 4 Dec 2026, 10:00 (Europe/Lisbon): water the fern",
		"3 · every day at 08:00, next Sat 5 Dec 2026, 08:00 (Europe/Lisbon): pills",
		"1 · Sat 5 Dec 2026, 09:00 (Europe/Lisbon): call mum",
		"1 of others are not shown.",
	}, "\n"))
	w.want(ben, "/jobs", "1 reminder, next first:\n4 · Fri 4 Dec 2026, 12:00 (Europe/Berlin): secret of Ben")
}

// SCH-29: what became of a reminder shows in the list.
func TestSCH29TheListShowsHowItWentLast(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind every day at 8, pills")
	w.now = w.now.Add(23 * time.Hour)
	j := w.jobs("Ana")[0]
	w.check(w.v.Fire(t.Context(), j, vault.Firing{Due: j.Next, Next: j.Next.Add(24 * time.Hour), Words: "pills"}))
	part := w.parts()[len(w.parts())-1]
	w.check(w.v.Sending(t.Context(), part))
	w.check(w.v.Undelivered(t.Context(), part, vault.Refused, "the bot was blocked", w.now))
	w.want(ana, "/jobs", "1 reminder, next first:\n1 · every day at 08:00, next Sun 6 Dec 2026, 08:00 (Europe/Lisbon): pills (last Sat 5 Dec, 08:00: not delivered: the bot was blocked)")
	w.ask(ana, "/remind in 1 hour, once")
	w.now = w.now.Add(time.Hour)
	once := w.jobs("Ana")[0]
	w.check(w.v.Fire(t.Context(), once, vault.Firing{Due: once.Next, Words: "once"}))
	if got := w.ask(ana, "/jobs"); !strings.Contains(got, "2 · on its way: once (last Sat 5 Dec, 09:00: on its way)") {
		t.Errorf("/jobs: %q", got)
	}
}

// Numbers of others do not exist, and a group hears nothing of what was said in private.
func TestMEM10RemindersOfOthersDoNotExist(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind in 1 hour, CANARY of Ana")
	for _, text := range []string{"/cancel 1", "/snooze 1 20 minutes", "/cancel 99", "/snooze 99 20 minutes"} {
		if got := w.ask(ben, text); !strings.HasPrefix(got, "There is no reminder ") || strings.Contains(got, "CANARY") {
			t.Errorf("%s: %q", text, got)
		}
	}
	group := func(text string) string { return said(w.hand(w.inGroup(ana, text))) }
	for text, want := range map[string]string{
		"/jobs":                "You have no reminders in this group. /remind WHEN, TEXT makes one.\n1 more in your private chat.",
		"/cancel 1":            "There is no reminder 1. /jobs lists them.",
		"/snooze 1 20 minutes": "There is no reminder 1. /jobs lists them.",
	} {
		if got := group(text); got != want {
			t.Errorf("%s in the group: %q", text, got)
		}
	}
	if got := group("/remind in 2 hours, stir the pot"); got != "Reminder 2: Fri 4 Dec 2026, 11:00 (Europe/Lisbon): stir the pot" {
		t.Errorf("in the group: %q", got)
	}
	if j := w.jobs("Ana")[1]; j.To.Chat != "-100" {
		t.Errorf("a reminder of the group goes to %+v", j.To)
	}
	if got := group("/jobs"); got != "1 reminder, next first:\n2 · Fri 4 Dec 2026, 11:00 (Europe/Lisbon): stir the pot\n1 more in your private chat." {
		t.Errorf("/jobs in the group: %q", got)
	}
	if n := len(w.jobs("Ana")); n != 2 {
		t.Errorf("%d reminders are left of 2", n)
	}
	w.ask(ben, "/remind in 1 hour, of Ben")
	w.want(ana, "/cancel 3", "Cancelled reminder 3 (Fri 4 Dec 2026, 11:00 (Europe/Berlin)): of Ben")
}

func TestCancel(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind in 1 hour, water the fern")
	w.ask(ana, "/remind every day at 8, pills")
	w.want(ana, "/cancel", "Which one? Write it as /cancel N, for example /cancel 7. /jobs lists the numbers.")
	w.want(ana, "/cancel the fern", "Which one? Write it as /cancel N, for example /cancel 7. /jobs lists the numbers.")
	w.want(ana, "/cancel #1", "Cancelled reminder 1 (Fri 4 Dec 2026, 10:00 (Europe/Lisbon)): water the fern")
	w.want(ana, "/cancel 1", "There is no reminder 1. /jobs lists them.")
	w.want(ana, "/cancel 2", "Cancelled reminder 2 (every day at 08:00, next Sat 5 Dec 2026, 08:00 (Europe/Lisbon)): pills")
	if n := len(w.jobs("Ana")); n != 0 {
		t.Errorf("%d reminders are left", n)
	}
}

func TestSnooze(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind in 1 hour, water the fern")
	w.ask(ana, "/remind every day at 8, pills")
	const usage = "Write it as /snooze N WHEN, for example /snooze 7 20 minutes. /jobs lists the numbers."
	w.want(ana, "/snooze", "Which one? "+usage)
	w.want(ana, "/snooze 1", "Until when? "+usage)
	w.want(ana, "/snooze 9 20 minutes", "There is no reminder 9. /jobs lists them.")
	w.want(ana, "/snooze 1 every day at 8", `A snooze comes once, and "every day at 08:00" is a rhythm. `+usage)
	if got := w.ask(ana, "/snooze 1 blue"); !strings.Contains(got, "blue") || !strings.HasSuffix(got, "Nothing was stored.") {
		t.Errorf("blue: %q", got)
	}
	w.want(ana, "/snooze 1 for 20 minutes", "Reminder 1: Fri 4 Dec 2026, 09:20 (Europe/Lisbon): water the fern")
	w.want(ana, "/snooze 1 15", "Reminder 1: Fri 4 Dec 2026, 09:15 (Europe/Lisbon): water the fern")
	w.want(ana, "/snooze 1 till monday 9", "Reminder 1: Mon 7 Dec 2026, 09:00 (Europe/Lisbon): water the fern")
	w.want(ana, "/snooze 1 until tomorrow at 9", "Reminder 1: Sat 5 Dec 2026, 09:00 (Europe/Lisbon): water the fern")
	w.want(ana, "/snooze 2 20 minutes", "Reminder 3: Fri 4 Dec 2026, 09:20 (Europe/Lisbon): pills\nReminder 2 keeps its rhythm: every day at 08:00, next Sat 5 Dec 2026, 08:00 (Europe/Lisbon).")
	var next []string
	for _, j := range w.jobs("Ana") {
		next = append(next, fmt.Sprint(j.ID, " ", j.Next.Format("2 15:04"), " ", j.Spec != ""))
	}
	if got := strings.Join(next, ", "); got != "3 4 09:20 false, 2 5 08:00 true, 1 5 09:00 false" {
		t.Errorf("stored: %s", got)
	}
}

// A reminder that has come and gone can be said again.
func TestSnoozeAfterItCame(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind in 1 hour, water the fern")
	w.now = w.now.Add(time.Hour)
	j := w.jobs("Ana")[0]
	w.check(w.v.Fire(t.Context(), j, vault.Firing{Due: j.Next, Words: j.Text}))
	part := w.parts()[len(w.parts())-1]
	w.check(w.v.Delivered(t.Context(), part, "m1"))
	w.want(ana, "/snooze 1 10 minutes", "Reminder 1: Fri 4 Dec 2026, 10:10 (Europe/Lisbon): water the fern")
	w.ask(ana, "/cancel 1")
	w.want(ana, "/snooze 1 10 minutes", "There is no reminder 1. /jobs lists them.")
}
