package scheduler

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

func TestSCH23OffOverTheDueTime(t *testing.T) {
	inBubble(t, "2026-03-10T12:30:00Z", func(w *world) {
		w.start()
		w.add(vault.Say, "one-off", "", "UTC", "2026-03-10T12:37:00Z")
		daily := w.add(vault.Say, "daily", "cron 37 12 * * *", "UTC", "2026-03-10T12:37:00Z")
		w.halt()
		w.until("2026-03-10T12:38:30Z")
		w.open()
		w.start()
		w.wantSaid("Reminder 1: one-off (due 10 Mar 12:37, I was off)", "Reminder 2: daily (due 10 Mar 12:37, I was off)")
		// Three days off: once, and the missed ones are on record.
		w.halt()
		w.until("2026-03-13T18:00:00Z")
		w.open()
		w.start()
		if got := w.said()[2:]; len(got) != 1 || got[0] != "Reminder 2: daily (due 13 Mar 12:37, I was off)" {
			t.Errorf("after three days: %q", got)
		}
		due, results, err := w.vault.Fires(w.t.Context(), daily.ID, 10)
		w.must(err)
		var days []string
		for i := range due {
			days = append(days, due[i].Format("2 Jan")+" "+results[i])
		}
		if diff := cmp.Diff([]string{"13 Mar fired", "12 Mar missed", "11 Mar missed", "10 Mar fired"}, days); diff != "" {
			t.Errorf("the record: %s", diff)
		}
		if got := w.job(daily.ID).Next; !got.Equal(at(t, "2026-03-14T12:37:00Z")) {
			t.Errorf("next is %s", got)
		}
	})
}

// Up to a minute late is on time.
func TestAMinuteLateIsOnTime(t *testing.T) {
	for _, tt := range []struct{ back, want string }{
		{"2026-03-10T12:38:00Z", "Reminder 1: walk"},
		{"2026-03-10T12:38:01Z", "Reminder 1: walk (due 10 Mar 12:37, I was off)"},
	} {
		inBubble(t, "2026-03-10T12:30:00Z", func(w *world) {
			w.add(vault.Say, "walk", "", "UTC", "2026-03-10T12:37:00Z")
			w.until(tt.back)
			w.start()
			w.wantSaid(tt.want)
		})
	}
}

func TestMissed(t *testing.T) {
	for _, tt := range []struct {
		missed string
		said   []string
		record []string
		next   string
	}{
		{"once", []string{"Reminder 1: pills (due 12 Mar 09:00, I was off)"}, []string{"12 Mar fired", "11 Mar missed", "10 Mar missed"}, "2026-03-13T09:00:00Z"},
		{"skip", []string{}, []string{"12 Mar missed: I was off", "11 Mar missed", "10 Mar missed"}, "2026-03-13T09:00:00Z"},
		{
			"all",
			[]string{"Reminder 1: pills (due 10 Mar 09:00, I was off)", "Reminder 1: pills (due 11 Mar 09:00, I was off)", "Reminder 1: pills (due 12 Mar 09:00, I was off)"},
			[]string{"12 Mar fired", "11 Mar fired", "10 Mar fired"},
			"2026-03-13T09:00:00Z",
		},
	} {
		t.Run(tt.missed, func(t *testing.T) {
			inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
				j := w.addJob(vault.Job{Kind: vault.Say, Text: "pills", Spec: "cron 0 9 * * *", Zone: "UTC", Next: at(t, "2026-03-10T09:00:00Z"), Missed: tt.missed})
				w.until("2026-03-12T18:00:00Z")
				w.start()
				w.wantSaid(tt.said...)
				due, results, err := w.vault.Fires(w.t.Context(), j.ID, 10)
				w.must(err)
				var record []string
				for i := range due {
					record = append(record, due[i].Format("2 Jan")+" "+results[i])
				}
				if diff := cmp.Diff(tt.record, record); diff != "" {
					t.Errorf("the record: %s", diff)
				}
				if got := w.job(j.ID); !got.Next.Equal(at(t, tt.next)) || got.State != vault.JobWaiting {
					t.Errorf("next is %s, it is %s", got.Next, got.State)
				}
				// Then it is on time again, whatever was missed.
				w.until("2026-03-13T09:00:01Z")
				if got := w.said()[len(tt.said):]; len(got) != 1 || got[0] != "Reminder 1: pills" {
					t.Errorf("the next day it says %q", got)
				}
			})
		})
	}
}

// What comes only once is said in any case: to skip it would be to break a promise.
func TestSkipHoldsForWhatRecurs(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.addJob(vault.Job{Kind: vault.Say, Text: "call", Zone: "UTC", Next: at(t, "2026-03-10T09:00:00Z"), Missed: "skip"})
		w.until("2026-03-10T10:00:00Z")
		w.start()
		w.wantSaid("Reminder 1: call (due 10 Mar 09:00, I was off)")
	})
}

func TestSCH32TheMachineSleeps(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.start()
		w.add(vault.Say, "grandma", "", "UTC", "2026-03-10T09:30:00Z")
		w.add(vault.Say, "coffee", "cron 30 10 * * *", "UTC", "2026-03-10T10:30:00Z")
		w.set(at(t, "2026-03-10T10:00:00Z")) // the timer knows nothing of it
		sleep(time.Minute)
		w.wantSaid("Reminder 1: grandma (due 10 Mar 09:30, I was asleep)")
		// Two days forward: the 10:30 job says that it is late, and does not run at 07:00 by itself.
		w.set(at(t, "2026-03-12T07:00:00Z"))
		sleep(time.Minute)
		if got := w.said()[1:]; len(got) != 1 || got[0] != "Reminder 2: coffee (due 11 Mar 10:30, I was asleep)" {
			t.Errorf("after the jump: %q", got)
		}
		w.until("2026-03-12T10:30:01Z")
		if got := w.said()[2:]; len(got) != 1 || got[0] != "Reminder 2: coffee" {
			t.Errorf("then: %q", got)
		}
	})
}

// A clock that is set back fires nothing again.
func TestTheClockIsSetBack(t *testing.T) {
	inBubble(t, "2026-03-10T08:59:00Z", func(w *world) {
		w.start()
		w.add(vault.Say, "pills", "cron 0 9 * * *", "UTC", "2026-03-10T09:00:00Z")
		w.until("2026-03-10T09:00:10Z")
		w.set(at(t, "2026-03-10T08:00:00Z"))
		w.until("2026-03-10T09:30:00Z")
		w.wantSaid("Reminder 1: pills")
	})
}

func TestSCH31TheClockIsMonthsBehind(t *testing.T) {
	inBubble(t, "2026-06-01T07:00:00Z", func(w *world) {
		w.start()
		w.add(vault.Say, "defrost", "", "UTC", "2026-06-01T08:00:00Z")
		w.add(vault.Say, "bake", "", "UTC", "2026-06-01T08:05:00Z")
		w.halt()
		w.set(at(t, "2026-01-05T00:00:30Z"))
		w.open()
		w.start()
		w.add(vault.Say, "made before", "", "UTC", "2026-01-05T00:01:00Z")
		before := w.reads.Load()
		sleep(3 * time.Minute)
		w.wantSaid()
		if got := w.notices(); len(got) != 1 || !strings.Contains(got[0], "Mon 5 Jan 2026") || !strings.Contains(got[0], "Mon 1 Jun 2026") {
			t.Errorf("told: %q", got)
		}
		if n := w.reads.Load() - before; n > 50 {
			t.Errorf("while it waits for the clock it looked %d times in three minutes", n)
		}
		w.set(at(t, "2026-06-01T08:02:58Z"))
		w.vault.Wake()
		synctest.Wait()
		if got := w.said(); len(got) != 2 || got[1] != "Reminder 1: defrost (due 1 Jun 08:00, I was off)" {
			t.Errorf("after the correction: %q", got)
		}
		w.until("2026-06-01T08:04:59Z")
		if n := len(w.said()); n != 2 {
			t.Errorf("said %d things before 08:05", n)
		}
		w.until("2026-06-01T08:05:01Z")
		if got := w.said(); len(got) != 3 || got[2] != "Reminder 2: bake" {
			t.Errorf("at 08:05: %q", got)
		}
	})
}

// A day behind is a wrong zone or a changed clock, not a computer that lost its time.
func TestADayBehindIsNotHeld(t *testing.T) {
	inBubble(t, "2026-06-01T07:00:00Z", func(w *world) {
		w.add(vault.Say, "made", "", "UTC", "2026-05-31T08:00:00Z")
		w.halt()
		w.set(at(t, "2026-05-31T08:00:30Z"))
		w.open()
		w.start()
		w.wantSaid("Reminder 1: made")
	})
}

// A job of every minute that was off for very long is caught up at once, and its record is bounded. Walked through one by
// one, a century of minutes would outlast the test.
func TestACenturyOfMinutes(t *testing.T) {
	for _, tt := range []struct{ spec, first, now, due, next string }{
		{"cron * * * * *", "1926-03-10T08:01:00Z", "2026-03-10T08:15:30Z", "2026-03-10T08:15:00Z", "2026-03-10T08:16:00Z"},
		{"cron */7 9-17 * * 1-5", "1926-03-10T08:01:00Z", "2026-03-10T08:15:30Z", "2026-03-10T08:14:00Z", "2026-03-10T08:21:00Z"},
		// One day a year, of which the newest minute is long past.
		{"cron * * 10 3 *", "2025-03-10T08:01:00Z", "2026-03-09T12:00:00Z", "2025-03-10T22:59:00Z", "2026-03-09T23:00:00Z"},
	} {
		f, err := passed(vault.Job{Spec: tt.spec, Zone: "Europe/Berlin", Next: at(t, tt.first)}, at(t, tt.now))
		if err != nil {
			t.Fatal(err)
		}
		if !f.Due.Equal(at(t, tt.due)) || !f.Next.Equal(at(t, tt.next)) || len(f.Missed) != keepMissed {
			t.Errorf("%s: due %s, next %s, %d missed", tt.spec, f.Due, f.Next, len(f.Missed))
		}
		if last := f.Missed[len(f.Missed)-1]; f.Due.Sub(last) > 16*time.Hour {
			t.Errorf("%s: the record ends with %s", tt.spec, last)
		}
	}
}
