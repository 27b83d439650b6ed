package inbox

import (
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// due lets the next job of somebody come, with its buttons, and gives the part that says it.
func (w *world) due(name string, next time.Duration) (vault.Job, vault.Part) {
	w.t.Helper()
	j := w.jobs(name)[0]
	w.now = j.Next
	f := vault.Firing{Due: j.Next, Words: j.Text, Buttons: []vault.Button{{Label: "Done", Data: "x"}}}
	if j.Spec != "" {
		f.Next = j.Next.Add(next)
	}
	w.check(w.v.Fire(w.t.Context(), j, f))
	part := w.parts()[len(w.parts())-1]
	w.check(w.v.Delivered(w.t.Context(), part, "m1"))
	return j, part
}

// button is the data under a reminder.
func button(p vault.Part, choice string) string {
	return "j:" + strings.TrimPrefix(p.Key, "job:") + ":" + choice
}

func (w *world) outcome(key string) string {
	w.t.Helper()
	for _, p := range w.parts() {
		if p.Key == key {
			return p.Outcome
		}
	}
	w.t.Fatalf("no part %s", key)
	return ""
}

func TestButtonDoneCountsOnceAndForItsPersonOnly(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind every day at 8, pills")
	j, part := w.due("Ana", 24*time.Hour)
	if got := said(w.hand(w.press(ben, button(part, "done")))); strings.Contains(got, "pills") || got != unknownButton {
		t.Errorf("Ben's press in another chat: %q", got)
	}
	done := w.press(ana, button(part, "done"))
	if got := w.hand(done); len(got) != 0 {
		t.Errorf("a message beside the outcome: %q", said(got))
	}
	if got := w.outcome(part.Key); got != "✓ done" {
		t.Errorf("outcome: %q", got)
	}
	if got := w.hand(done); len(got) != 0 { // the same press, delivered again
		t.Errorf("again: %q", said(got))
	}
	for _, choice := range []string{"done", "10min", "tomorrow"} {
		if got := said(w.hand(w.press(ana, button(part, choice)))); got != "Reminder 1 is answered already: ✓ done." {
			t.Errorf("%s after that: %q", choice, got)
		}
	}
	if jobs := w.jobs("Ana"); len(jobs) != 1 || jobs[0].LastResult != "done" || !jobs[0].Next.Equal(j.Next.Add(24*time.Hour)) {
		t.Errorf("jobs: %+v", jobs)
	}
}

func TestButtonsSayItAgainLater(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind in 1 hour, water the fern")
	_, part := w.due("Ana", 0)
	w.now = w.now.Add(3*time.Minute + 12*time.Second)
	press := w.press(ana, button(part, "10min"))
	if got := said(w.hand(press)); got != "Reminder 1: Fri 4 Dec 2026, 10:13 (Europe/Lisbon): water the fern" && !strings.HasPrefix(got, "Reminder 1: Fri 4 Dec 2026, 10:13") {
		t.Errorf("10 min: %q", got)
	}
	if got := w.outcome(part.Key); !strings.HasPrefix(got, "⏰ again Fri 4 Dec 2026, 10:13") {
		t.Errorf("outcome: %q", got)
	}
	first := w.jobs("Ana")[0].Next
	w.now = w.now.Add(time.Minute)
	w.hand(press)
	if got := said(w.hand(w.press(ana, button(part, "10min")))); !strings.HasPrefix(got, "Reminder 1 is answered already: ⏰ again Fri 4 Dec 2026, 10:13") {
		t.Errorf("pressed twice: %q", got)
	}
	if jobs := w.jobs("Ana"); len(jobs) != 1 || !jobs[0].Next.Equal(first) {
		t.Errorf("jobs: %+v", jobs)
	}
	// It comes again, with buttons of its own.
	_, again := w.due("Ana", 0)
	if got := said(w.hand(w.press(ana, button(again, "tomorrow")))); got != "Reminder 1: Sat 5 Dec 2026, 10:13 (Europe/Lisbon): water the fern" {
		t.Errorf("tomorrow: %q", got)
	}
}

func TestTomorrowIsTheDayAfterThePressAtTheTimeItWasDue(t *testing.T) {
	for _, tc := range []struct{ set, pressed, want string }{
		{"/remind at 21:05, x", "2026-12-04T22:00:00Z", "Sat 5 Dec 2026, 21:05"},
		{"/remind at 23:50, x", "2026-12-05T00:10:00Z", "Sun 6 Dec 2026, 23:50"},
		{"/remind tomorrow at 00:10, x", "2026-12-05T00:11:00Z", "Sun 6 Dec 2026, 00:10"},
		{"/remind tomorrow at 03:15, x", "2026-12-08T12:00:00Z", "Wed 9 Dec 2026, 03:15"},
		{"/remind 27 March 2027 at 01:30, x", "2027-03-27T09:00:00Z", "Sun 28 Mar 2027, 02:00"}, // right after the gap
	} {
		w := newWorld(t)
		w.ask(ana, tc.set)
		_, part := w.due("Ana", 0)
		at, err := time.Parse(time.RFC3339, tc.pressed)
		w.check(err)
		w.now = at
		if got := said(w.hand(w.press(ana, button(part, "tomorrow")))); !strings.HasPrefix(got, "Reminder 1: "+tc.want) {
			t.Errorf("%s, pressed %s: %q", tc.set, tc.pressed, got)
		}
	}
}

// One that recurs keeps its rhythm: what comes later is a copy.
func TestButtonsOfARecurringReminder(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind every day at 8, pills")
	j, part := w.due("Ana", 24*time.Hour)
	if got := said(w.hand(w.press(ana, button(part, "10min")))); got != "Reminder 2: Sat 5 Dec 2026, 08:10 (Europe/Lisbon): pills" {
		t.Errorf("%q", got)
	}
	w.hand(w.press(ana, button(part, "10min")))
	jobs := w.jobs("Ana")
	if len(jobs) != 2 || jobs[0].ID != 2 || jobs[0].Spec != "" || jobs[1].Spec == "" || !jobs[1].Next.Equal(j.Next.Add(24*time.Hour)) {
		t.Errorf("jobs: %+v", jobs)
	}
}

// What was answered by typing needs no button any more.
func TestTypedAnswersSettleTheButtons(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind in 1 hour, water the fern")
	_, part := w.due("Ana", 0)
	w.ask(ana, "/snooze 1 20 minutes")
	if got := w.outcome(part.Key); got != "⏰ again Fri 4 Dec 2026, 10:20 (Europe/Lisbon)" {
		t.Errorf("after /snooze: %q", got)
	}
	w.ask(ana, "/cancel 1")
	w.ask(ana, "/remind every day at 8, pills")
	_, pills := w.due("Ana", 24*time.Hour)
	w.ask(ana, "/cancel 2")
	if got := w.outcome(pills.Key); got != "cancelled" {
		t.Errorf("after /cancel: %q", got)
	}
}

func TestButtonsOfAGroupsReminder(t *testing.T) {
	w := newWorld(t)
	w.accept(w.inGroup(ana, "/remind in 1 hour, stir the pot"))
	_, part := w.due("Ana", 0)
	in := w.press(ben, button(part, "done"))
	in.Chat, in.ChatKind = "-100", vault.Group
	if got := said(w.hand(in)); got != "Reminder 1 is not yours: its buttons are for the person who made it." {
		t.Errorf("Ben: %q", got)
	}
	if got := w.outcome(part.Key); got != "" {
		t.Errorf("outcome: %q", got)
	}
	in = w.press(ana, button(part, "done"))
	in.Chat, in.ChatKind = "-100", vault.Group
	w.hand(in)
	if got := w.outcome(part.Key); got != "✓ done" {
		t.Errorf("outcome: %q", got)
	}
}

func TestStrangeButtonsDoNothing(t *testing.T) {
	w := newWorld(t)
	w.ask(ana, "/remind in 1 hour, water the fern")
	_, part := w.due("Ana", 0)
	for _, data := range []string{"", "j:", "j:1", "j:1@", "j:1@5:done", "j:9@5:done", "j:-1@5:done", button(part, ""), button(part, "never"), "k" + button(part, "done"), button(part, "done") + "x"} {
		if got := said(w.hand(w.press(ana, data))); got != unknownButton {
			t.Errorf("%q: %q", data, got)
		}
	}
	if got := w.outcome(part.Key); got != "" {
		t.Errorf("outcome: %q", got)
	}
}

func FuzzPressedReminder(f *testing.F) {
	for _, seed := range []string{"j:7@1796374800000:done", "j:7@-5:10min", "j:9223372036854775807@9223372036854775807:tomorrow", "a:7:deny", "j::@", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		if p, ok := pressedReminder(data); ok && (p.job <= 0 || p.choice != pressDone && p.choice != pressTenMin && p.choice != pressTomorrow) {
			t.Errorf("%q gives %+v", data, p)
		}
	})
}
