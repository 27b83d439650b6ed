package main

import (
	"strings"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
)

// timed is a phone and a home that share a test clock, which stands at an instant until it is set.
func timed(t *testing.T, instant, config string) (*phone, *home) {
	t.Helper()
	ana := newPhone(t)
	h := newHome(t, "", ana.settings(config)).clocked(instant)
	ana.now = func() time.Time {
		at, err := time.Parse(time.RFC3339, strings.TrimSpace(h.read("clock")))
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	return ana, h
}

// settles waits until a message shows no buttons any more, and gives it.
func (p *phone) settles(ref int) tgfake.Shown {
	p.t.Helper()
	var found tgfake.Shown
	eventually(p.t, "the buttons are gone", func() bool {
		for _, m := range p.shown() {
			if m.ID == ref && len(m.Buttons) == 0 {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// Done · 10 min · Tomorrow, through a restart, a double tap and a press that Telegram delivers twice.
func TestButtonsUnderAReminder(t *testing.T) {
	t.Parallel()
	ana, h := timed(t, "2026-12-04T09:00:00Z", "")
	d := h.daemon()
	ana.ask("/remind in 1 hour, water the fern")
	h.setClock("2026-12-04T10:00:00Z")
	first := ana.hears("Reminder 1: water the fern")
	var labels []string
	for _, b := range first.Buttons {
		labels = append(labels, b.Text)
		if len(b.Data) > 64 {
			t.Errorf("%q is too long for Telegram", b.Data)
		}
	}
	if strings.Join(labels, " · ") != "Done · 10 min · Tomorrow" {
		t.Fatalf("buttons: %q", labels)
	}
	ana.quiet(h)
	if code := d.term(); code != 0 {
		t.Fatalf("the daemon exits %d", code)
	}
	ana.tap(first, "10 min") // while nobody is there
	ana.tap(first, "10 min")
	d = h.daemon()
	ana.hears("Reminder 1: Fri 4 Dec 2026, 10:10")
	if m := ana.settles(first.ID); !strings.HasPrefix(m.Text, "Reminder 1: water the fern\n\n⏰ again Fri 4 Dec 2026, 10:10") {
		t.Errorf("it shows %q", m.Text)
	}
	ana.hears("Reminder 1 is answered already: ⏰ again")
	d.kill()
	ana.api.Replay()
	d = h.daemon()
	h.setClock("2026-12-04T10:10:59Z")
	eventually(t, "it comes again", func() bool { all, _ := ana.copies("Reminder 1: water the fern"); return all == 2 })
	var second tgfake.Shown
	for _, m := range ana.shown() {
		if strings.HasPrefix(m.Text, "Reminder 1: water the fern") && len(m.Buttons) > 0 {
			second = m
		}
	}
	ana.tap(second, "Tomorrow")
	ana.hears("Reminder 1: Sat 5 Dec 2026, 10:10")
	ana.settles(second.ID)
	h.setClock("2026-12-05T10:10:59Z")
	eventually(t, "it comes a third time", func() bool { all, _ := ana.copies("Reminder 1: water the fern"); return all == 3 })
	third := ana.shown()[len(ana.shown())-1]
	ana.tap(third, "Done")
	if m := ana.settles(third.ID); m.Text != "Reminder 1: water the fern\n\n✓ done" {
		t.Errorf("it shows %q", m.Text)
	}
	ana.quiet(h)
	if all := ask(h, viewJobs, query{}); len(all) != 0 {
		t.Errorf("open: %+v", all)
	}
	d.term()
}
