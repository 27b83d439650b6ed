package scheduler

import (
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// beats gives the runs that the heartbeat woke, newest first, and ends the one that is open.
func (w *world) beats(end vault.RunState) []vault.Run {
	w.t.Helper()
	if p, err := w.vault.Claim(w.t.Context()); err == nil {
		reply := ""
		if end == vault.Failed {
			reply = "The model is away."
		}
		w.must(w.vault.EndRun(w.t.Context(), p.Run.ID, vault.Ending{State: end, Reply: reply}))
	}
	runs, err := w.vault.Runs(w.t.Context(), 0, 1000)
	w.must(err)
	return runs
}

func (w *world) rule(words string) {
	w.t.Helper()
	w.must(w.vault.Do(w.t.Context(), "remember", func(t *vault.Tx) error {
		m, _, err := t.Remember(vault.Memory{Person: w.me.ID, Scope: "person", Kind: "fact", Text: words, Source: "command"}, vault.Scope{Person: w.me.ID})
		if err != nil {
			return err
		}
		_, err = t.Pin(vault.Scope{Person: w.me.ID}, m.ID, true)
		return err
	}))
}

// LOOP-19, CFG-14: off, or without a rule, the heartbeat wakes nothing and writes nothing in two weeks.
func TestLOOP19TheHeartbeatNeedsARule(t *testing.T) {
	for _, tt := range []struct {
		name  string
		every time.Duration
		rule  string
	}{{"off", 0, "Tell me when it rains."}, {"without a rule", time.Hour, ""}} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
				w.heartbeat = tt.every
				if tt.rule != "" {
					w.rule(tt.rule)
				}
				w.start()
				for range 14 * 24 {
					w.set(w.now().Add(time.Hour - time.Minute))
					sleep(time.Minute)
				}
				if runs := w.beats(vault.Done); len(runs) != 0 {
					t.Errorf("%d runs", len(runs))
				}
			})
		})
	}
}

// With a rule it comes at its rhythm, not at night, once after a time of being off, and once a day while it fails.
func TestTheHeartbeatKeepsItsRhythm(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.quietNights()
		w.heartbeat = 4 * time.Hour
		w.rule("Tell me when it rains.")
		w.start()
		w.until("2026-03-10T11:59:59Z")
		if runs := w.beats(vault.Done); len(runs) != 0 {
			t.Fatalf("%d runs before its time", len(runs))
		}
		w.until("2026-03-10T12:00:01Z")
		runs := w.beats(vault.Done)
		if len(runs) != 1 || runs[0].Trigger != "system" || !strings.Contains(runs[0].Input, "Tell me when it rains.") {
			t.Fatalf("the runs are %+v", runs)
		}
		w.until("2026-03-10T20:00:02Z")
		w.beats(vault.Done)
		w.until("2026-03-11T06:59:59Z") // the next would be at midnight
		if n := len(w.beats(vault.Done)); n > 3 {
			t.Errorf("%d runs before the morning", n)
		}
		before := len(w.beats(vault.Done))
		w.until("2026-03-11T07:00:01Z")
		if n := len(w.beats(vault.Done)); n != before+1 {
			t.Errorf("%d runs in the morning, %d before", n, before)
		}
		w.halt()
		sleep(24 * time.Hour)
		w.open()
		w.start()
		if n := len(w.beats(vault.Failed)); n != before+2 {
			t.Errorf("%d runs after a day off", n)
		}
		sleep(23 * time.Hour)
		if n := len(w.beats(vault.Done)); n != before+2 {
			t.Errorf("%d runs within a day of a failure", n)
		}
	})
}

// A beat while the last run is open wakes no second one.
func TestTheHeartbeatDoesNotPileUp(t *testing.T) {
	inBubble(t, "2026-03-10T08:00:00Z", func(w *world) {
		w.heartbeat = time.Minute
		w.rule("Tell me when it rains.")
		w.start()
		w.until("2026-03-10T09:00:00Z")
		runs, err := w.vault.Runs(w.t.Context(), 0, 100)
		w.must(err)
		if len(runs) != 1 {
			t.Errorf("%d runs", len(runs))
		}
	})
}
