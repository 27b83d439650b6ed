package main

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"hearth/gateways/telegram/tgfake"
)

// times waits until words are shown, and checks that they stand there n times, unmarked.
func (p *phone) times(h *home, n int, words string) {
	p.t.Helper()
	eventually(p.t, p.who.First+" reads "+words, func() bool { all, _ := p.copies(words); return all >= n })
	p.quiet(h)
	if all, marked := p.copies(words); all != n || marked != 0 {
		p.t.Errorf("%q is shown %d times, %d of them marked, want %d", words, all, marked, n)
	}
}

// The digest came at 22:00; the daemon restarts at 22:30 and at 22:40.
func TestSCH22NoSecondDigestAfterARestartOnThePhone(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-03-10T21:00:00Z", "")
	d := h.daemon()
	ana.ask("/remind every day at 22:00, digest")
	h.setClock("2026-03-10T22:00:00Z")
	ana.times(h, 1, "Reminder 1: digest")
	for _, later := range []string{"2026-03-10T22:30:00Z", "2026-03-10T22:40:00Z"} {
		if code := d.term(); code != 0 {
			t.Fatalf("the daemon exits %d", code)
		}
		h.setClock(later)
		d = h.daemon()
	}
	ana.times(h, 1, "Reminder 1: digest")
	if answer := ana.ask("/jobs"); !strings.Contains(answer.Text, "next Wed 11 Mar 2026, 22:00 (Europe/Lisbon): digest (last Tue 10 Mar, 22:00: delivered)") {
		t.Errorf("/jobs: %q", answer.Text)
	}
	d.term()
}

// Off from 12:36 to 12:38 over a one-off and a daily reminder due at 12:37; later off for three days.
func TestSCH23OffOverTheDueTimeOnThePhone(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-03-10T12:00:00Z", "")
	d := h.daemon()
	ana.ask("/remind at 12:37, oven")
	ana.ask("/remind every day at 12:37, pills")
	h.setClock("2026-03-10T12:36:00Z")
	d.term()
	h.setClock("2026-03-10T12:38:10Z")
	d = h.daemon()
	ana.times(h, 1, "Reminder 1: oven (was due 12:37, I was off)")
	ana.times(h, 1, "Reminder 2: pills (was due 12:37, I was off)")
	d.term()
	h.setClock("2026-03-13T13:00:00Z")
	d = h.daemon()
	ana.times(h, 2, "Reminder 2: pills")
	if last := ana.shown()[len(ana.shown())-1].Text; !strings.Contains(last, "(was due 12:37, I was off)") {
		t.Errorf("after three days: %q", last)
	}
	ana.times(h, 1, "Reminder 1: oven")
	d.term()
}

// The model has a scheduled task in hand when the process dies.
func TestSCH25ATaskThatWasCutIsTakenUpOnceOnThePhone(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-03-10T08:00:00Z", "")
	hanging := make(chan struct{}, 1)
	var asked atomic.Int32
	model := newModelServer(t, func(p prompt) reply {
		switch {
		case p.says("every morning"):
			return use("follow_up", map[string]any{"when": "every day at 9", "goal": "report on the garden"})
		case p.says("report on the garden"):
			if asked.Add(1) == 1 {
				hanging <- struct{}{}
				return reply{hang: true}
			}
			return words("The garden is fine.")
		}
		return words("Good.")
	})
	h.edit("gateways: {burst", strings.TrimSuffix(model.settings(""), "\n")+"\ngateways: {burst")
	h.env = append(h.env, "HEARTH_BRAIN__MODEL=one")
	d := h.daemon()
	ana.say("report every morning")
	ana.hears("Follow-up 1: every day at 09:00")
	ana.quiet(h)
	h.setClock("2026-03-10T09:00:00Z")
	<-hanging
	d.kill()
	d = h.daemon()
	ana.times(h, 1, "The garden is fine.")
	h.setClock("2026-03-11T09:00:00Z")
	ana.times(h, 2, "The garden is fine.")
	for _, r := range ask(h, viewRuns, query{}) {
		if r.State != "done" {
			t.Errorf("run %d is %s", r.ID, r.State)
		}
	}
	d.term()
}

// Made in the family's group, in a topic: it comes there, whatever was talked about elsewhere. When the group cannot be
// reached, the owner is told and nothing is said in another place.
func TestSCH28AReminderComesWhereItWasMadeOnThePhone(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-03-10T08:00:00Z", "")
	family, club := tgfake.Chat{ID: -100777, Type: "supergroup", Title: "Family", Forum: true}, tgfake.Chat{ID: -100888, Type: "supergroup", Title: "Club"}
	ana.api.Open(family, 5)
	ana.api.Open(club)
	d := h.daemon()
	ana.ask("hello")
	in := tgfake.Set("message_thread_id", 5)
	ana.api.SayIn(family, ana.who, "/remind in 1 hour, stir the pot", in, tgfake.Set("is_topic_message", true), tgfake.Set("date", ana.now().Unix()))
	eventually(t, "the group has its receipt", func() bool { return len(ana.api.Shown(family.ID)) == 1 })
	ana.api.SayIn(family, ana.who, "/remind in 2 hours, empty the pot", in, tgfake.Set("is_topic_message", true), tgfake.Set("date", ana.now().Unix()))
	eventually(t, "the group has its second receipt", func() bool { return len(ana.api.Shown(family.ID)) == 2 })
	ana.ask("/status")
	ana.api.SayIn(club, ana.who, "/jobs", tgfake.Set("date", ana.now().Unix()))
	eventually(t, "the club is answered", func() bool { return len(ana.api.Shown(club.ID)) == 1 })

	h.setClock("2026-03-10T09:00:00Z")
	eventually(t, "it comes in the group", func() bool { return len(ana.api.Shown(family.ID)) == 3 })
	if m := ana.api.Shown(family.ID)[2]; m.Text != "Reminder 1: stir the pot" || m.Thread != 5 {
		t.Errorf("it comes as %+v", m)
	}
	ana.quiet(h)
	ana.api.Block(family.ID)
	h.setClock("2026-03-10T10:00:00Z")
	ana.hears("I could not deliver this")
	ana.quiet(h)
	for _, text := range append(ana.texts(), shownTexts(ana.api.Shown(club.ID))...) {
		if strings.HasPrefix(text, "Reminder") {
			t.Errorf("it was said in another place: %q", text)
		}
	}
	if n := len(ana.api.Shown(family.ID)); n != 3 {
		t.Errorf("the group shows %d messages", n)
	}
	d.term()
}

func shownTexts(all []tgfake.Shown) (texts []string) {
	for _, m := range all {
		texts = append(texts, m.Text)
	}
	return texts
}

// Telegram answers 500 twice at the due time: it counts as delivered only after its yes.
func TestSCH29DeliveredOnlyAfterTelegramSaidSo(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-03-10T08:00:00Z", "")
	d := h.daemon()
	ana.ask("/remind every day at 9, pills")
	ana.quiet(h)
	ana.api.Fault("sendMessage", -1, tgfake.ServerError())
	h.setClock("2026-03-10T09:00:00Z")
	before := len(ana.api.Calls("sendMessage"))
	eventually(t, "it is tried twice", func() bool { return len(ana.api.Calls("sendMessage")) >= before+2 })
	if j := ask(h, viewJobs, query{})[0]; string(j.LastResult) != "on its way" {
		t.Errorf("meanwhile its result is %q", j.LastResult)
	}
	ana.api.Mend()
	eventually(t, "it is delivered", func() bool { return string(ask(h, viewJobs, query{})[0].LastResult) == "delivered" })
	if all, _ := ana.copies("Reminder 1: pills"); all != 1 {
		t.Errorf("it is shown %d times: %q", all, ana.texts())
	}
	// A chat that refuses for good shows in the list.
	ana.api.Fault("sendMessage", 1, tgfake.Refusal(403, "Forbidden: bot was blocked by the user"))
	h.setClock("2026-03-11T09:00:00Z")
	eventually(t, "the list says so", func() bool {
		return strings.HasPrefix(string(ask(h, viewJobs, query{})[0].LastResult), "not delivered: ")
	})
	if answer := ana.ask("/jobs"); !strings.Contains(answer.Text, "last Wed 11 Mar, 09:00: not delivered: ") {
		t.Errorf("/jobs: %q", answer.Text)
	}
	d.term()
}

// A computer without a clock chip boots in January, and learns half a minute later that it is June.
func TestSCH31BootingInJanuaryOnThePhone(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-06-01T08:00:00Z", "")
	d := h.daemon()
	ana.ask("/remind in 1 hour, oven")
	ana.ask("/remind in 2 hours, post")
	ana.quiet(h)
	d.term()
	h.setClock("2026-01-01T00:00:30Z")
	d = h.daemon()
	ana.hears("My clock says Thu 1 Jan 2026")
	ana.quiet(h)
	if all, _ := ana.copies("Reminder 1: oven"); all != 0 {
		t.Errorf("it fired in January: %q", ana.texts())
	}
	h.setClock("2026-06-01T09:58:00Z")
	ana.times(h, 1, "Reminder 1: oven (was due 10:00, I was off)") // Lisbon's summer
	h.setClock("2026-06-01T10:00:01Z")
	ana.times(h, 1, "Reminder 2: post")
	if last := ana.shown()[len(ana.shown())-1].Text; last != "Reminder 2: post" {
		t.Errorf("the second: %q", last)
	}
	d.term()
}

// The machine sleeps three hours over a due time; then its clock leaps two days.
func TestSCH32AsleepOverTheDueTimeOnThePhone(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-03-10T07:00:00Z", "")
	d := h.daemon()
	ana.ask("/remind at 9:30, stretch")
	ana.ask("/remind every day at 10:30, walk")
	ana.quiet(h)
	for _, step := range []struct {
		signal syscall.Signal
		clock  string
	}{{syscall.SIGSTOP, "2026-03-10T10:00:00Z"}, {syscall.SIGCONT, ""}} {
		if err := d.cmd.Process.Signal(step.signal); err != nil {
			t.Fatal(err)
		}
		if step.clock != "" {
			h.setClock(step.clock)
		}
	}
	ana.times(h, 1, "Reminder 1: stretch (was due 09:30, I was asleep)")
	h.setClock("2026-03-12T07:00:00Z")
	ana.times(h, 1, "Reminder 2: walk (was due Wed 11 Mar, 10:30, I was asleep)") // of the days leapt over, once
	if j := ask(h, viewJobs, query{})[0]; j.Next.Format("2 15:04") != "12 10:30" {
		t.Errorf("it comes next %s", j.Next)
	}
	d.term()
}
