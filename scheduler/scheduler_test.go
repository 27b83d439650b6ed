package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata" // the tests name zones

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

func TestAReminderComesOnTime(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:17Z", func(w *world) { // no whole number of longest sleeps before it is due
		w.start()
		j := w.add(vault.Say, "stretch", "", "Europe/Lisbon", "2026-03-10T09:00:00Z")
		w.until("2026-03-10T08:59:59Z")
		w.wantSaid()
		w.until("2026-03-10T09:00:01Z")
		w.wantSaid("Reminder 1: stretch")
		if got := w.job(j.ID); got.State != vault.JobFiring || !got.Next.IsZero() || !got.LastDue.Equal(at(t, "2026-03-10T09:00:00Z")) {
			t.Errorf("the job is %s, next %s, last due %s", got.State, got.Next, got.LastDue)
		}
		sleep(48 * time.Hour)
		w.wantSaid("Reminder 1: stretch")
	})
}

// A scheduler that sleeps towards a far instant takes up a nearer one.
func TestANewEarlierJobWakes(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.start()
		w.add(vault.Say, "later", "", "UTC", "2026-03-10T08:00:50Z")
		sleep(time.Second)
		w.add(vault.Say, "sooner", "", "UTC", "2026-03-10T08:00:05Z")
		w.until("2026-03-10T08:00:06Z")
		w.wantSaid("Reminder 2: sooner")
	})
}

func TestSCH22ARestartRepeatsNothing(t *testing.T) {
	inBubble(t, "2026-03-10T21:00:00Z", func(w *world) {
		w.start()
		j := w.add(vault.Say, "digest", "cron 0 22 * * *", "UTC", "2026-03-10T22:00:00Z")
		w.until("2026-03-10T22:00:01Z")
		w.wantSaid("Reminder 1: digest")
		for _, later := range []string{"2026-03-10T22:30:00Z", "2026-03-10T22:40:00Z"} {
			w.halt()
			w.until(later)
			w.open()
			w.start()
		}
		w.wantSaid("Reminder 1: digest")
		if got := w.job(j.ID); !got.Next.Equal(at(t, "2026-03-11T22:00:00Z")) || got.State != vault.JobWaiting || got.Fired != 1 {
			t.Errorf("next is %s, it is %s and has fired %d times", got.Next, got.State, got.Fired)
		}
	})
}

// SCH-22: a restart right before or after the commit of a firing, or in between, never makes two of it, nor none.
func TestACutAroundAFiring(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprint("after=", after), func(t *testing.T) {
			inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
				var dead atomic.Bool
				cut := func(event string, now bool) error {
					if event == "fire" && now {
						dead.Store(true)
					}
					if dead.Load() {
						return context.DeadlineExceeded
					}
					return nil
				}
				w.halt()
				w.hooks = vault.Hooks{Before: func(e string) error { return cut(e, !after) }, After: func(e string) error { return cut(e, after) }}
				w.open()
				w.start()
				w.add(vault.Say, "stretch", "cron 0 9 * * *", "UTC", "2026-03-10T09:00:00Z")
				w.add(vault.Do, "look", "cron 0 9 * * *", "UTC", "2026-03-10T09:00:00Z")
				w.until("2026-03-10T09:00:30Z")
				w.halt()
				w.hooks = vault.Hooks{}
				w.open()
				w.start()
				w.until("2026-03-10T09:05:00Z")
				w.wantSaid("Reminder 1: stretch")
				if n := len(w.runs(2)); n != 1 {
					t.Errorf("%d runs", n)
				}
			})
		})
	}
}

func TestChangedWhileDue(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *world, tx *vault.Tx, number int64) error
		want   []string
	}{
		{"cancelled", func(w *world, tx *vault.Tx, number int64) error {
			_, err := tx.CancelJob(number, w.me)
			return err
		}, []string{}},
		{"moved", func(w *world, tx *vault.Tx, number int64) error {
			_, err := tx.ChangeJob(number, w.me, &vault.Reschedule{Next: at(w.t, "2026-03-10T10:00:00Z"), Zone: "UTC"}, "")
			return err
		}, []string{"Reminder 1: call"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
				j := w.add(vault.Say, "call", "", "UTC", "2026-03-10T09:00:00Z")
				w.until("2026-03-10T09:00:00Z")
				due, err := w.vault.DueJobs(w.t.Context(), 10)
				w.must(err)
				w.must(w.vault.Do(w.t.Context(), "change", func(tx *vault.Tx) error { return tt.change(w, tx, j.ID) }))
				// The scheduler has read it before the change and fires after it.
				s := New(Options{Vault: w.vault, Now: w.now, Log: slog.New(slog.DiscardHandler)})
				w.must(s.fire(w.t.Context(), due[0]))
				w.wantSaid()
				w.start()
				w.until("2026-03-10T11:00:00Z")
				w.wantSaid(tt.want...)
			})
		})
	}
}

func TestSCH38ASlowJobNeverRunsTwiceAtOnce(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:30Z", func(w *world) {
		w.start()
		j := w.add(vault.Do, "probe", "cron * * * * *", "UTC", "2026-03-10T08:01:00Z")
		w.until("2026-03-10T08:01:01Z")
		if runs := w.runs(j.ID); len(runs) != 1 || runs[0].Input != "probe" || runs[0].State != vault.Queued {
			t.Fatalf("the runs are %+v", runs)
		}
		// It takes three minutes, and its time is changed meanwhile.
		p, err := w.vault.Claim(w.t.Context())
		w.must(err)
		w.until("2026-03-10T08:02:30Z")
		w.must(w.vault.Do(w.t.Context(), "change", func(tx *vault.Tx) error {
			_, err := tx.ChangeJob(j.ID, w.me, &vault.Reschedule{Next: at(t, "2026-03-10T08:03:00Z"), Spec: "cron */3 * * * *", Zone: "UTC"}, "")
			return err
		}))
		w.until("2026-03-10T08:04:00Z")
		if n := len(w.runs(j.ID)); n != 1 {
			t.Errorf("%d runs while one is at work", n)
		}
		if got := w.job(j.ID).LastResult; !strings.HasPrefix(got, "skipped: run 1") {
			t.Errorf("the last result is %q", got)
		}
		w.must(w.vault.EndRun(w.t.Context(), p.Run.ID, vault.Ending{State: vault.Failed, Reason: "boom", Reply: "It failed."}))
		w.until("2026-03-10T08:06:01Z")
		if n := len(w.runs(j.ID)); n != 2 {
			t.Errorf("%d runs after the first has failed", n)
		}
		if got := w.job(j.ID); got.Spec != "cron */3 * * * *" || !got.Next.Equal(at(t, "2026-03-10T08:09:00Z")) {
			t.Errorf("it comes %s, next %s", got.Spec, got.Next)
		}
	})
}

func TestSCH26TwoJobsInTheSameMinute(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.start()
		a := w.add(vault.Do, "garden", "", "UTC", "2026-03-10T09:00:00Z")
		b := w.add(vault.Do, "cellar", "", "UTC", "2026-03-10T09:00:00Z")
		w.until("2026-03-10T09:30:00Z")
		if x, y := len(w.runs(a.ID)), len(w.runs(b.ID)); x != 1 || y != 1 {
			t.Errorf("%d and %d runs", x, y)
		}
	})
}

// SCH-25: the run of a job outlives a restart, and the next day's comes.
func TestSCH25ARunThatWasCutIsTakenUpAgain(t *testing.T) {
	inBubble(t, "2026-03-10T08:59:00Z", func(w *world) {
		w.start()
		j := w.add(vault.Do, "briefing", "cron 0 9 * * *", "UTC", "2026-03-10T09:00:00Z")
		w.until("2026-03-10T09:00:01Z")
		_, err := w.vault.Claim(w.t.Context())
		w.must(err)
		w.halt()
		w.open()
		w.start()
		p, err := w.vault.Claim(w.t.Context())
		w.must(err)
		if p.Run.Job != j.ID || p.Run.State != vault.Running {
			t.Errorf("taken up: %+v", p.Run)
		}
		w.must(w.vault.EndRun(w.t.Context(), p.Run.ID, vault.Ending{State: vault.Done, Reply: "All quiet."}))
		w.until("2026-03-11T09:00:01Z")
		if n := len(w.runs(j.ID)); n != 2 {
			t.Errorf("%d runs after the second morning", n)
		}
	})
}

// A recurrence or a zone that cannot be read speaks once more, its owner is told, and the others are on time.
func TestAJobThatCannotBeRead(t *testing.T) {
	for _, tt := range []struct{ name, spec, zone string }{{"spec", "nonsense", "UTC"}, {"zone", "cron 0 9 * * *", "Moon/Base"}} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
				w.start()
				bad := w.add(vault.Say, "bad", tt.spec, tt.zone, "2026-03-10T09:00:00Z")
				w.add(vault.Say, "good", "", "Moon/Base", "2026-03-10T09:00:00Z") // one that comes once needs no zone
				w.add(vault.Say, "later", "", "UTC", "2026-03-10T09:00:30Z")
				w.until("2026-03-10T09:00:01Z")
				w.wantSaid("Reminder 1: bad", "Reminder 2: good")
				if got := w.notices(); len(got) != 1 || !strings.Contains(got[0], "number 1 (bad)") {
					t.Errorf("told: %q", got)
				}
				if got := w.job(bad.ID); !got.Next.IsZero() {
					t.Errorf("it is to come again at %s", got.Next)
				}
				w.until("2026-03-10T09:00:31Z")
				w.wantSaid("Reminder 1: bad", "Reminder 2: good", "Reminder 3: later")
				if n := len(w.notices()); n != 1 {
					t.Errorf("told %d times", n)
				}
			})
		})
	}
}

// A job that the vault cannot fire holds up no other, and is tried again without haste.
func TestAJobThatFailsDoesNotStopTheOthers(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.halt()
		var tries atomic.Int64
		var mended atomic.Bool
		w.hooks.Before = func(event string) error {
			if event == "fire" && !mended.Load() && tries.Add(1) != 2 { // of the two that are due, the first
				return context.DeadlineExceeded
			}
			return nil
		}
		w.open()
		w.start()
		w.add(vault.Say, "first", "", "UTC", "2026-03-10T09:00:00Z")
		w.add(vault.Say, "second", "", "UTC", "2026-03-10T09:00:00Z")
		w.until("2026-03-10T09:00:01Z")
		w.wantSaid("Reminder 2: second")
		if tries.Load() > 4 {
			t.Errorf("tried %d times in a second", tries.Load())
		}
		mended.Store(true)
		w.until("2026-03-10T09:01:02Z")
		w.wantSaid("Reminder 2: second", "Reminder 1: first") // within a minute of its time
	})
}

func TestAThousandJobsAtOnce(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.start()
		const n = 1000
		w.must(w.vault.Do(w.t.Context(), "add", func(tx *vault.Tx) error {
			for i := range n {
				j := vault.Job{
					Kind: vault.Say, Text: fmt.Sprint("thing ", i), Zone: "UTC", Next: at(t, "2026-03-10T09:00:00Z"), Conversation: w.talk.ID,
					To: vault.Address{Gateway: "telegram", Account: "bot", Chat: "1"}, Person: w.me.ID,
				}
				if i >= 400 { // one person cannot have so many
					j.Person = 0
				}
				if _, err := tx.AddJob(j); err != nil {
					return err
				}
			}
			return nil
		}))
		w.until("2026-03-10T09:00:01Z")
		got := w.said()
		seen := map[string]bool{}
		for _, s := range got {
			seen[s] = true
		}
		if len(got) != n || len(seen) != n {
			t.Errorf("said %d things, %d of them different", len(got), len(seen))
		}
	})
}

func TestDaylightSaving(t *testing.T) {
	for _, tt := range []struct {
		name, spec, zone, start string
		wakes                   []string // the instants at which it speaks
	}{
		{"SCH-07 13:00 in Auckland", "cron 0 13 * * *", "Pacific/Auckland", "2026-04-04T00:00:00Z", []string{"2026-04-04T00:00:00Z", "2026-04-05T01:00:00Z", "2026-04-06T01:00:00Z"}},
		{"SCH-10 02:30 does not exist", "cron 30 2 * * *", "Europe/Berlin", "2026-03-28T01:30:00Z", []string{"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"SCH-11 02:30 comes twice", "cron 30 2 * * *", "Europe/Berlin", "2026-10-24T00:30:00Z", []string{"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"SCH-14 no midnight", "cron 0 0 * * *", "America/Santiago", "2026-09-05T04:00:00Z", []string{"2026-09-05T04:00:00Z", "2026-09-06T04:00:00Z", "2026-09-07T03:00:00Z"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begin := at(t, tt.start).Add(-time.Minute)
			inBubble(t, begin.Format(time.RFC3339), func(w *world) {
				w.start()
				w.add(vault.Say, "x", tt.spec, tt.zone, tt.start)
				sleep(3*24*time.Hour - time.Hour)
				parts, err := w.vault.Parts(w.t.Context(), false, 100)
				w.must(err)
				slices.Reverse(parts)
				var got []string
				for _, p := range parts {
					got = append(got, p.Created.UTC().Format(time.RFC3339))
				}
				if diff := cmp.Diff(tt.wakes, got); diff != "" {
					t.Errorf("it spoke at %s", diff)
				}
			})
		})
	}
}

// A question that nobody answers is closed at its time, with nobody writing anything.
func TestApprovalsExpire(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:17Z", func(w *world) {
		w.start()
		w.add(vault.Say, "later", "", "UTC", "2026-03-12T08:00:00Z")
		in := vault.Inbound{Gateway: "telegram", Account: "bot", Chat: "1", ChatKind: vault.Private, Sender: "1", ID: "1", Kind: "text", Text: "send it", Sent: w.now()}
		_, err := w.vault.Accept(w.t.Context(), in, w.me, 0)
		w.must(err)
		p, err := w.vault.Claim(w.t.Context())
		w.must(err)
		_, err = w.vault.SaveStep(w.t.Context(), p.Run.ID, vault.StepDone{
			Step: vault.Step{Started: w.now()}, Park: true,
			Calls: []vault.Call{{Tool: "send", Args: "{}", Effect: "acts", Ask: &vault.Question{Text: "?", Choices: []string{"approve", "deny"}, Expires: at(t, "2026-03-11T08:00:00Z")}}},
		})
		w.must(err)
		synctest.Wait()
		state := func() string {
			a, err := w.vault.Approval(w.t.Context(), 1)
			w.must(err)
			return a.State
		}
		w.until("2026-03-11T07:59:59Z")
		if got := state(); got != "open" {
			t.Errorf("before its time it is %s", got)
		}
		w.until("2026-03-11T08:00:01Z")
		if got := state(); got != "expired" {
			t.Errorf("after its time it is %s", got)
		}
	})
}

// LOOP-19: nothing to do costs nothing.
func TestAnIdleSchedulerSleeps(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.add(vault.Say, "far", "", "UTC", "2026-04-10T08:00:00Z")
		var commits atomic.Int64
		w.halt()
		w.hooks.Before = func(string) error { commits.Add(1); return nil }
		w.open()
		w.start()
		commits.Store(0)
		before := w.reads.Load()
		sleep(10 * time.Hour)
		if n := w.reads.Load() - before; n > 10*60*3 || commits.Load() != 0 {
			t.Errorf("it looked at the clock %d times and committed %d times in ten idle hours", n, commits.Load())
		}
	})
}
