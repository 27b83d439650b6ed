package main

import (
	"sync/atomic"
	"testing"
	"time"
)

// A follow-up has the only place of a model at home, and would have it for long: whoever writes is served all the same, and
// the follow-up comes afterwards. Through the real program, over a real connection that is hung up.
func TestAPersonDoesNotWaitForAFollowUp(t *testing.T) {
	t.Parallel()
	ana := newPhone(t)
	var looked atomic.Int32
	hangs, hungUp, asked := make(chan struct{}, 1), make(chan struct{}, 1), make(chan time.Time, 1)
	model := newModelServer(t, func(p prompt) reply {
		switch {
		case p.result():
			return words("I will look at it.")
		case p.says("probe the pond"):
			if looked.Add(1) > 1 {
				return words("The pond is fine.")
			}
			hangs <- struct{}{}
			<-p.gone
			hungUp <- struct{}{}
			return words("nobody reads this")
		case p.says("look at the pond later"):
			return use("follow_up", map[string]any{"when": "in 10 minutes", "goal": "probe the pond"})
		}
		asked <- time.Now()
		return words("Here I am.")
	})
	h := newHome(t, "", ana.settings(model.settings("")))
	evening := time.Date(2026, 12, 3, 18, 30, 0, 0, time.UTC)
	began := time.Now()
	ana.now = func() time.Time { return evening.Add(time.Since(began)) }
	h.clocked(evening.Format(time.RFC3339))
	h.daemon()
	ana.say("look at the pond later")
	ana.hears("Follow-up")
	ana.quiet(h)
	began, evening = time.Now(), evening.Add(11*time.Minute)
	h.setClock(evening.Format(time.RFC3339))
	<-hangs

	said := time.Now()
	ana.say("are you there?")
	waited := (<-asked).Sub(said)
	<-hungUp
	t.Logf("the model was asked after %v", waited)
	if waited > 5*time.Second {
		t.Errorf("the model was asked after %v", waited)
	}
	ana.hears("Here I am.")
	ana.hears("The pond is fine.")
	ana.quiet(h)
	if n := looked.Load(); n != 2 {
		t.Errorf("the follow-up was begun %d times", n)
	}
	for _, once := range []string{"Here I am.", "The pond is fine."} {
		if all, marked := ana.copies(once); all != 1 || marked != 0 {
			t.Errorf("%q is shown %d times, %d of them marked", once, all, marked)
		}
	}
}
