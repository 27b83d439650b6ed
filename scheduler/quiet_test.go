package scheduler

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/scheduler/when"
	"hearth/vault"
)

// together is how long the words of a night wait for its runs.
const together = 10*time.Minute + time.Second

// quietNights are hours from 23 to 7, in UTC.
func (w *world) quietNights() {
	w.t.Helper()
	night := when.Quiet{From: 23 * time.Hour, To: 7 * time.Hour}
	w.must(w.vault.QuietHours(w.t.Context(), func(_ vault.Person, at time.Time) time.Time { return night.Until(at.UTC()) }))
}

// heard gives the texts that stand in a lane or went out, oldest first.
func (w *world) heard() []string {
	w.t.Helper()
	heads, err := w.vault.Heads(w.t.Context(), "telegram")
	w.must(err)
	out := []string{}
	for _, p := range heads {
		out = append(out, p.Text)
	}
	return out
}

// deliver hands all that may go to the messenger, and gives the texts.
func (w *world) deliver() []string {
	w.t.Helper()
	out := []string{}
	for {
		heads, err := w.vault.Heads(w.t.Context(), "telegram")
		w.must(err)
		if len(heads) == 0 {
			return out
		}
		for _, p := range heads {
			w.must(w.vault.Sending(w.t.Context(), p))
			w.must(w.vault.Delivered(w.t.Context(), p, "ref"))
			text := p.Text
			if p.Late != "" {
				text += " (due " + p.Due.UTC().Format("15:04") + ", " + p.Late + ")"
			}
			out = append(out, text)
		}
	}
}

// answer ends the run that is next with these words.
func (w *world) answer(words string) {
	w.t.Helper()
	p, err := w.vault.Claim(w.t.Context())
	w.must(err)
	w.must(w.vault.EndRun(w.t.Context(), p.Run.ID, vault.Ending{State: vault.Done, Reply: words}))
}

// LOOP-20: checks every 15 minutes cost nothing at night, the person's own reminder comes, and the rest waits until 7 and
// comes as one message; also when the program is killed in between.
func TestLOOP20NothingSpeaksFirstAtNight(t *testing.T) {
	inBubble(t, "2026-03-10T22:30:00Z", func(w *world) {
		w.quietNights()
		w.start()
		check := w.add(vault.Do, "look at the heating", "cron */15 * * * *", "UTC", "2026-03-10T23:00:00Z")
		once := w.add(vault.Do, "did the parcel come", "", "UTC", "2026-03-11T02:00:00Z")
		w.add(vault.Say, "train", "", "UTC", "2026-03-11T06:00:00Z")
		w.until("2026-03-11T03:00:00Z")
		w.must(w.vault.TellLater(w.t.Context(), "backup", "The backup failed."))
		w.halt() // the night outlives the program
		w.open()
		w.quietNights()
		w.start()
		w.until("2026-03-11T05:59:59Z")
		if diff := cmp.Diff([]string{}, w.deliver()); diff != "" {
			t.Errorf("in the night: %s", diff)
		}
		w.until("2026-03-11T06:00:00Z")
		if diff := cmp.Diff([]string{"Reminder 3: train"}, w.deliver()); diff != "" {
			t.Errorf("at 6: %s", diff)
		}
		w.until("2026-03-11T06:59:59Z")
		if n := len(w.runs(check.ID)) + len(w.runs(once.ID)); n != 0 {
			t.Errorf("%d runs before 7", n)
		}
		w.until("2026-03-11T07:00:00Z")
		if x, y := len(w.runs(check.ID)), len(w.runs(once.ID)); x != 1 || y != 1 {
			t.Fatalf("%d and %d runs at 7", x, y)
		}
		w.answer("It came.")
		sleep(0)
		if diff := cmp.Diff([]string{}, w.heard()); diff != "" {
			t.Errorf("while a run of the night is at work: %s", diff)
		}
		w.answer("All is warm.")
		sleep(0)
		if diff := cmp.Diff([]string{"The backup failed.\n\nIt came.\n\nAll is warm. (due 02:00, quiet hours)"}, w.deliver()); diff != "" {
			t.Errorf("in the morning: %s", diff)
		}
		if j := w.job(once.ID); j.State != vault.JobDone || j.LastResult != "delivered" {
			t.Errorf("the follow-up is %s: %s", j.State, j.LastResult)
		}
		if j := w.job(check.ID); j.LastResult != "delivered" || !j.Next.Equal(at(t, "2026-03-11T07:15:00Z")) || !j.Held.IsZero() {
			t.Errorf("the check: %s, next %s, held until %s", j.LastResult, j.Next, j.Held)
		}
	})
}

// A run that does not end does not keep the rest of the night back for long.
func TestTheMorningWaitsTenMinutesForARunOfTheNight(t *testing.T) {
	inBubble(t, "2026-03-10T23:30:00Z", func(w *world) {
		w.quietNights()
		w.start()
		w.add(vault.Do, "think", "", "UTC", "2026-03-11T02:00:00Z")
		w.must(w.vault.TellLater(w.t.Context(), "backup", "The backup failed."))
		w.until("2026-03-11T07:09:59Z")
		if got := w.heard(); len(got) != 0 {
			t.Errorf("too early: %q", got)
		}
		w.until("2026-03-11T07:10:00Z")
		if diff := cmp.Diff([]string{"The backup failed."}, w.deliver()); diff != "" {
			t.Error(diff)
		}
	})
}

// What waits is judged anew when the hours change, and a job that is changed or cancelled at night does not come.
func TestQuietHoursCanChangeAtNight(t *testing.T) {
	inBubble(t, "2026-03-10T23:30:00Z", func(w *world) {
		w.quietNights()
		w.start()
		gone := w.add(vault.Do, "gone", "", "UTC", "2026-03-11T01:00:00Z")
		moved := w.add(vault.Do, "moved", "", "UTC", "2026-03-11T01:00:00Z")
		stays := w.add(vault.Do, "stays", "", "UTC", "2026-03-11T01:00:00Z")
		w.until("2026-03-11T02:00:00Z")
		w.must(w.vault.TellLater(w.t.Context(), "backup", "The backup failed."))
		w.must(w.vault.Do(w.t.Context(), "change", func(tx *vault.Tx) error {
			if _, err := tx.CancelJob(gone.ID, w.me); err != nil {
				return err
			}
			_, err := tx.ChangeJob(moved.ID, w.me, &vault.Reschedule{Next: at(t, "2026-03-11T12:00:00Z"), Zone: "UTC"}, "")
			return err
		}))
		w.must(w.vault.QuietHours(w.t.Context(), nil))
		sleep(together)
		if diff := cmp.Diff([]string{"The backup failed."}, w.deliver()); diff != "" {
			t.Errorf("after the hours ended: %s", diff)
		}
		if a, b, c := len(w.runs(gone.ID)), len(w.runs(moved.ID)), len(w.runs(stays.ID)); a != 0 || b != 0 || c != 1 {
			t.Errorf("runs: cancelled %d, moved %d, other %d", a, b, c)
		}
		w.until("2026-03-11T12:00:00Z")
		if n := len(w.runs(moved.ID)); n != 1 {
			t.Errorf("the moved one ran %d times", n)
		}
	})
}

// A daily job of the night is not skipped for ever by missed: skip, and does not come more than once by missed: all.
func TestTheNightIsNotAMissedTime(t *testing.T) {
	for _, missed := range []string{"once", "skip", "all"} {
		t.Run(missed, func(t *testing.T) {
			inBubble(t, "2026-03-10T22:00:00Z", func(w *world) {
				w.quietNights()
				w.start()
				j := w.addJob(vault.Job{Kind: vault.Do, Text: "look", Spec: "cron 0 0-3 * * *", Zone: "UTC", Missed: missed, Next: at(t, "2026-03-11T00:00:00Z")})
				w.until("2026-03-11T07:00:01Z")
				if n := len(w.runs(j.ID)); n != 1 {
					t.Errorf("%d runs in the morning", n)
				}
			})
		})
	}
}

// A run that was begun before the night, and answers in it, is heard in the morning; one that had not begun costs nothing until then.
func TestARunOfTheEveningKeepsQuiet(t *testing.T) {
	inBubble(t, "2026-03-10T22:58:00Z", func(w *world) {
		w.quietNights()
		w.start()
		w.add(vault.Do, "slow", "", "UTC", "2026-03-10T22:59:00Z")
		w.add(vault.Do, "behind it", "", "UTC", "2026-03-10T22:59:30Z")
		w.until("2026-03-10T22:59:40Z")
		p, err := w.vault.Claim(w.t.Context())
		w.must(err)
		w.until("2026-03-10T23:05:00Z")
		w.must(w.vault.EndRun(w.t.Context(), p.Run.ID, vault.Ending{State: vault.Done, Reply: "Slow is done."}))
		if _, err := w.vault.Claim(w.t.Context()); err == nil {
			t.Error("a run that had not begun was taken up in the night")
		}
		if got := w.deliver(); len(got) != 0 {
			t.Errorf("in the night: %q", got)
		}
		w.until("2026-03-11T07:00:01Z")
		w.answer("The other too.")
		sleep(time.Second)
		if got := w.deliver(); len(got) != 1 || !slices.Equal(strings.Split(got[0], "\n\n"), []string{"Slow is done.", "The other too. (due 22:59, quiet hours)"}) {
			t.Errorf("in the morning: %q", got)
		}
	})
}

// A person who writes at night is answered at night.
func TestAnAnswerDoesNotWaitForTheMorning(t *testing.T) {
	inBubble(t, "2026-03-11T02:00:00Z", func(w *world) {
		w.quietNights()
		w.start()
		_, err := w.vault.Accept(w.t.Context(), vault.Inbound{Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: "5", Kind: "text", Text: "awake?", Sent: w.now()}, w.me, 0)
		w.must(err)
		w.answer("Yes.")
		if diff := cmp.Diff([]string{"Yes."}, w.deliver()); diff != "" {
			t.Error(diff)
		}
	})
}
