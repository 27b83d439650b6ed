package vault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func nobody(int64) bool { return false }

// A run that a fault of the program left behind is found, once, and its person hears of it.
func TestAuditFindsWhatIsAstray(t *testing.T) {
	for name, c := range map[string]struct {
		left  string // what a fault would have left
		fault string
		state RunState
		told  int
	}{
		"nobody has it":     {`UPDATE run SET state = 'running', claimed = 1`, "it was running and nobody had it in hand", Queued, 0},
		"nothing is asked":  {`UPDATE run SET state = 'waiting'`, "it waited and no question was open", Queued, 0},
		"no word":           {`UPDATE run SET state = 'done', ended = 1`, "it ended without a word", Done, 1},
		"a failure untold":  {`UPDATE run SET state = 'failed', reason = 'x', ended = 1`, "it ended without a word", Failed, 1},
		"a silent failure":  {`UPDATE run SET state = 'failed', reason = 'stayed silent', ended = 1`, "it ended without a word", Failed, 1},
		"a decided silence": {`UPDATE run SET state = 'done', reason = 'stayed silent', ended = 1`, "", Done, 0},
		"joined another":    {`UPDATE run SET state = 'done', reason = 'joined run 7', ended = 1`, "", Done, 0},
		"stopped":           {`UPDATE run SET state = 'stopped', ended = 1`, "", Stopped, 0},
		"queued":            {`UPDATE run SET state = 'queued'`, "", Queued, 0},
		"just taken up":     {`UPDATE run SET state = 'running', claimed = 9e15`, "", Running, 0},
		"only just ended":   {`UPDATE run SET state = 'done', ended = 9e15`, "", Done, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			run := h.accept(h.ann, "hello")
			h.do(func(tx *Tx) error { _, err := tx.exec(c.left); return err })
			found, upTo, err := h.Audit(t.Context(), 0, nobody)
			check(t, err)
			var want []Astray
			if c.fault != "" {
				want = []Astray{{run, c.fault}}
			}
			if diff := cmp.Diff(want, found); diff != "" {
				t.Error(diff)
			}
			equal(t, "state", h.progress(run).Run.State, c.state)
			equal(t, "told", len(h.parts()), c.told)
			again, _, err := h.Audit(t.Context(), 0, nobody)
			check(t, err)
			equal(t, "found again", len(again), 0)
			ended := (c.state == Done || c.state == Failed || c.state == Stopped) && name != "only just ended"
			if ended {
				equal(t, "looked at up to", upTo, run)
			} else if !ended && upTo >= run {
				t.Errorf("run %d is passed over: the audit goes on after %d", run, upTo)
			}
		})
	}
}

func TestAuditLeavesWhatIsInHand(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	h.clock.add(time.Hour)
	found, _, err := h.Audit(t.Context(), 0, func(run int64) bool { return run == p.Run.ID })
	check(t, err)
	equal(t, "found", len(found), 0)
	equal(t, "state", h.progress(p.Run.ID).Run.State, Running)
}

// All that runs do in the other tests of this package ends as it should.
func TestAuditFindsNothingInAnOrdinaryLife(t *testing.T) {
	h := newHome(t)
	check(t, h.EndRun(t.Context(), h.claimed(h.ann, "one").Run.ID, Ending{State: Done, Reply: "x"}))
	check(t, h.EndRun(t.Context(), h.claimed(h.ann, "two").Run.ID, Ending{State: Done}))
	check(t, h.EndRun(t.Context(), h.claimed(h.ann, "three").Run.ID, Ending{State: Failed, Reason: "limit", Reply: "sorry"}))
	j := h.addJob(Job{Kind: Say, Person: h.ann.ID, Text: "x", Next: h.clock.now()})
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next, Words: "x"}))
	asking(h, h.says(h.bob, "write"), h.bob, time.Time{})
	h.clock.add(time.Hour)
	found, upTo, err := h.Audit(t.Context(), 0, nobody)
	check(t, err)
	equal(t, "found", len(found), 0)
	equal(t, "goes on before the run that waits", upTo, 4)
}
