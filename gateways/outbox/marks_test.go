package outbox

import (
	"context"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"hearth/gateways"
	"hearth/vault"
)

// fire stores a reminder for Berlin and fires it, so that its part is in the outbox.
func (w *world) fire(due time.Time, late string) {
	w.t.Helper()
	p := w.people("telegram")
	c, err := w.v.PrivateConversation(w.t.Context(), p.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	j, err := w.v.AddJob(w.t.Context(), vault.Job{Kind: vault.Say, Person: p.ID, Conversation: c.ID, To: to("telegram", "owner"), Text: "insulin", Zone: "Europe/Berlin", Next: due})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.v.Fire(w.t.Context(), j, vault.Firing{Due: due, Words: "insulin", Late: late}); err != nil {
		w.t.Fatal(err)
	}
}

// SCH-37: with the line down over the due time it comes once, with the time it was due. The bubble's clock begins at
// midnight UTC, an hour before the one the reminder goes by.
func TestSCH37LateReminderSaysWhenItWasDue(t *testing.T) {
	for name, tc := range map[string]struct {
		before time.Duration // how long before now it is due
		down   time.Duration // how long the line is down
		late   string
		want   string
	}{
		"in time":            {0, 0, "", "insulin"},
		"a little late":      {0, 20 * time.Second, "", "insulin"},
		"line down":          {0, 40 * time.Minute, "", "insulin (was due 13:00, Telegram was out of reach)"},
		"line down all day":  {0, 13 * time.Hour, "", "insulin (was due Sat 1 Jan, 13:00, Telegram was out of reach)"},
		"program off":        {3 * time.Minute, 0, "I was off", "insulin (was due 12:57, I was off)"},
		"off for days":       {48 * time.Hour, 0, "I was off", "insulin (was due Thu 30 Dec 1999, 13:00, I was off)"},
		"off, then line too": {3 * time.Minute, time.Hour, "I was off", "insulin (was due 12:57, I was off)"},
		"a long reason":      {time.Hour, 0, "because of this and that and yet another thing that nobody ever wanted to read in a message", "insulin (was due 12:00, because of this and that and yet another thing that nobody ever wanted to read …)"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				pass(12 * time.Hour)
				var f *fake
				up := time.Now().Add(tc.down)
				f = &fake{name: "telegram", answer: func(context.Context, vault.Part, int) error {
					if time.Now().Before(up) {
						return lineDown
					}
					return nil
				}}
				w.fire(time.Now().Add(-tc.before), tc.late)
				w.start(f)
				pass(tc.down + 2*time.Minute)
				if diff := cmp.Diff([]string{tc.want}, f.texts("")); diff != "" {
					t.Error(diff)
				}
				if j, err := w.v.Job(w.t.Context(), 1); err != nil || j.State != vault.JobDone || j.LastResult != "delivered" {
					t.Errorf("the job is %q, %q (%v)", j.State, j.LastResult, err)
				}
			})
		})
	}
}

// The answer of a job's run that was ready late is not the messenger's fault.
func TestLateAnswerOfAJobSaysWhoWasLate(t *testing.T) {
	for name, tc := range map[string]struct {
		queued, thinking time.Duration
		want             string
	}{
		"in time":    {0, 20 * time.Second, "all quiet"},
		"slow model": {0, 5 * time.Minute, "all quiet (was due 00:00, it took me that long)"},
		"was off":    {time.Hour, time.Second, "all quiet (was due 00:00, I was off)"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				p := w.people("telegram")
				c, err := w.v.PrivateConversation(w.t.Context(), p.ID)
				if err != nil {
					t.Fatal(err)
				}
				due := time.Now()
				j, err := w.v.AddJob(w.t.Context(), vault.Job{Kind: vault.Do, Person: p.ID, Conversation: c.ID, To: to("telegram", "owner"), Text: "look", Zone: "Europe/Lisbon", Next: due})
				if err != nil {
					t.Fatal(err)
				}
				pass(tc.queued)
				if err := w.v.Fire(w.t.Context(), j, vault.Firing{Due: due}); err != nil {
					t.Fatal(err)
				}
				progress, err := w.v.Claim(w.t.Context())
				if err != nil {
					t.Fatal(err)
				}
				pass(tc.thinking)
				if err := w.v.EndRun(w.t.Context(), progress.Run.ID, vault.Ending{State: vault.Done, Reply: "all quiet"}); err != nil {
					t.Fatal(err)
				}
				f := &fake{name: "telegram"}
				w.start(f)
				pass(time.Second)
				if diff := cmp.Diff([]string{tc.want}, f.texts("")); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// SCH-29: two failures, then success: one visible copy, and the job counts as delivered only then.
func TestSCH29DeliveredOnlyAfterTheMessengersYes(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "telegram", answer: func(_ context.Context, _ vault.Part, n int) error {
			if n < 3 {
				j, err := w.v.Job(w.t.Context(), 1)
				if err != nil || j.State != vault.JobFiring || j.LastResult != "on its way" {
					t.Errorf("before attempt %d the job is %q, %q (%v)", n, j.State, j.LastResult, err)
				}
				return lineDown
			}
			return nil
		}}
		w.fire(time.Now(), "")
		w.start(f)
		pass(time.Minute)
		if len(f.texts("")) != 1 {
			t.Errorf("%d copies", len(f.texts("")))
		}
	})
}

func TestMarksFitIntoTheRoomKeptForThem(t *testing.T) {
	now := time.Date(2026, 12, 4, 9, 0, 0, 0, time.UTC)
	for _, name := range []string{"telegram", "whatsapp", "terminal", "web"} {
		for _, why := range []string{outOfReach(name), "I was off", string(make([]byte, 500))} {
			whole := marked("", true, lateness(now.AddDate(-1, 0, 0), now, why))
			if len(whole) > gateways.Room {
				t.Errorf("%d bytes of marks: %q", len(whole), whole)
			}
		}
	}
}
