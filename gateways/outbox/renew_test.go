package outbox

import (
	"context"
	"testing"
	"time"

	"hearth/gateways"
	"hearth/vault"
)

// TestAnotherAccountIsNotHeldToWhatWasAskedOfTheLast: a new token is tried at once.
func TestAnotherAccountIsNotHeldToWhatWasAskedOfTheLast(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(_ context.Context, _ vault.Part, n int) error {
			if n > 1 {
				return nil
			}
			return &gateways.SendError{Outcome: vault.NotSent, Wait: 10 * time.Minute}
		}}
		w.start(f)
		w.say("tele", "1", "hello")
		pass(time.Minute)
		w.box.Nudge("tele")
		pass(time.Second)
		if n := len(f.tried()); n != 1 {
			t.Errorf("nudged: tried %d times", n)
		}
		w.box.Renew("tele")
		pass(time.Second)
		if n := len(f.tried()); n != 2 {
			t.Errorf("renewed: tried %d times", n)
		}
	})
}

// TestAProgressLineThatHangsHoldsUpNobodyForLong: its own limit is short, and it is given up.
func TestAProgressLineThatHangsHoldsUpNobodyForLong(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(ctx context.Context, out vault.Part, _ int) error {
			if out.Class != vault.Status {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}}
		w.start(f)
		line := w.post(vault.Part{Key: "progress:1", Class: vault.Status, To: to("tele", "1"), Text: "thinking"})
		pass(time.Second)
		w.say("tele", "1", "the answer")
		pass(5 * time.Second)
		if got := f.texts("1"); len(got) != 1 || got[0] != "the answer" {
			t.Errorf("after six seconds: %q", got)
		}
		if got := w.part(line).State; got != "dropped" {
			t.Errorf("the line is %s", got)
		}
	})
}
