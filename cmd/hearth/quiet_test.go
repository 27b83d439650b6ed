package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// LOOP-20: at night a follow-up costs no model call and says nothing, also over a kill; the person's own reminder comes at
// its time, who writes is answered, and at seven the rest comes as one message.
func TestLOOP20QuietHours(t *testing.T) {
	t.Parallel()
	ana := newPhone(t)
	model := newModelServer(t, func(p prompt) reply {
		switch {
		case p.says("the pipe holds"):
			return words("Does the pipe hold?")
		case p.says("the parcel came"):
			return words("Did the parcel come?")
		case p.result():
			return words("Planned.")
		case p.says("ask me about the pipe"):
			return use("follow_up", map[string]any{"when": "in 4 hours", "goal": "find out whether the pipe holds"})
		case p.says("ask me about the parcel"):
			return use("follow_up", map[string]any{"when": "in 5 hours", "goal": "find out whether the parcel came"})
		}
		return words("Go to bed.")
	})
	h := newHome(t, "", ana.settings(model.settings("")+"scheduler: {quiet_hours: \"23:00-07:00\"}\n"))
	began := time.Now()
	clock := func(instant string) {
		now, err := time.Parse(time.RFC3339, instant)
		if err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		ana.now = func() time.Time { return now.Add(time.Since(began)) }
		h.setClock(instant)
	}
	clock("2026-03-10T22:30:00Z")
	h.clocked("2026-03-10T22:30:00Z")
	p := h.daemon()
	ana.say("ask me about the pipe")
	ana.hears("Wed 11 Mar 2026, 02:30")
	ana.say("ask me about the parcel")
	ana.hears("Wed 11 Mar 2026, 03:30")
	ana.ask("/remind tomorrow at 6:00, catch the train")
	ana.quiet(h)
	before := len(ana.texts())

	clock("2026-03-11T02:31:00Z")
	ana.say("still awake")
	ana.hears("Go to bed.")
	ana.quiet(h)
	p.kill()
	clock("2026-03-11T04:00:00Z")
	h.daemon()
	clock("2026-03-11T06:00:00Z")
	ana.hears("Reminder 3: catch the train")
	if got := ana.texts()[before:]; len(got) != 2 {
		t.Errorf("in the night the phone showed %q", got)
	}
	for _, p := range model.asked() {
		if p.says("Nobody wrote") {
			t.Errorf("the model was asked at night: %s", p.last())
		}
	}
	clock("2026-03-11T07:00:00Z")
	morning := ana.hears("Does the pipe hold?").Text
	if !strings.Contains(morning, "Did the parcel come?") || !strings.Contains(morning, "(was due 02:30, quiet hours)") {
		t.Errorf("in the morning it says %q", morning)
	}
	ana.quiet(h)
	if got := ana.texts()[before:]; len(got) != 3 {
		t.Errorf("the phone showed %q", got)
	}
}

// LOOP-19: two weeks in which nobody writes cost no model call; a reminder and a brief speak without one.
func TestLOOP19TwoIdleWeeks(t *testing.T) {
	t.Parallel()
	ana := newPhone(t)
	model := newModelServer(t, func(prompt) reply { return words("Fine.") })
	h := newHome(t, "", ana.settings(model.settings("")))
	evening, began := time.Date(2026, 3, 1, 18, 0, 0, 0, time.UTC), time.Now()
	ana.now = func() time.Time { return evening.Add(time.Since(began)) }
	h.clocked(evening.Format(time.RFC3339))
	h.daemon()
	ana.ask("hello")
	ana.ask("/remind every day at 9, take the pills")
	if got := ana.ask("/remind every day at 8, brief").Text; !strings.Contains(got, "Follow-up 2: every day at 08:00") || !strings.Contains(got, "daily brief") {
		t.Errorf("the brief is confirmed as %q", got)
	}
	ana.quiet(h)
	before := len(model.asked())
	for day := 2; day <= 15; day++ {
		h.setClock(fmt.Sprintf("2026-03-%02dT08:00:00Z", day))
		ana.hears(fmt.Sprintf("%d Mar 2026.\nDue today:\n", day))
		h.setClock(fmt.Sprintf("2026-03-%02dT09:00:00Z", day))
		eventually(t, "the pills are spoken of", func() bool {
			n, _ := ana.copies("Reminder 1: take the pills")
			return n == day-1
		})
	}
	if n := len(model.asked()) - before; n != 0 {
		t.Errorf("%d model calls in two idle weeks", n)
	}
}
