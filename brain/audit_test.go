package brain

import (
	"testing"

	"hearth/vault"
)

// A run that is running and that nobody has in hand, which no path of ours leaves, is taken up all the same.
func TestARunThatNobodyHasInHandIsAnswered(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(steps(say("Here I am.")))
		run := w.accept(w.inbound(w.me, "hello"), w.me, 0)
		if _, err := w.vault.Claim(w.t.Context()); err != nil {
			t.Fatal(err)
		}
		w.start()
		sleep(auditEvery + 2*longestSleep)
		if got := w.answer(run); w.state(run) != vault.Done || got != "Here I am." {
			t.Errorf("the run is %s with %q", w.state(run), got)
		}
	})
}
