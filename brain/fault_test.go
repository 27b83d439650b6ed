package brain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

func TestAPanicInAToolIsThatCallsOnly(t *testing.T) {
	inBubble(t, func(w *world) {
		w.tools.hook = func(_ context.Context, tool string) error {
			if tool == "note" {
				panic("boom")
			}
			return nil
		}
		m := record(steps(want("note", `{"text":"x"}`), want("look", `{"text":"x"}`), say("Only looked.")))
		w.use(m)
		w.log = nowhere{}
		w.start()
		if got := w.answer(w.say("do it")); got != "Only looked." {
			t.Errorf("the answer is %q", got)
		}
		if got := results(m.requests[1]); len(got) != 1 || !strings.Contains(got[0], "the tool broke") || strings.Contains(got[0], "boom") {
			t.Errorf("the model is told %q", got)
		}
	})
}

func TestSCH38APanicEndsOneRunOnly(t *testing.T) {
	for _, where := range []string{"model", "ask-model", "tool-end"} {
		t.Run(where, func(t *testing.T) {
			inBubble(t, func(w *world) {
				panics := true
				w.use(script(func(ctx context.Context, req Request) (Response, error) {
					if where == "model" && panics && len(results(req)) == 1 {
						panic("boom")
					}
					return steps(want("remind", `{"text":"x"}`), say("Done."))(ctx, req)
				}))
				home := w.settings.Backends["home"]
				home.Parallel = 1
				w.settings.Backends["home"] = home
				asks := 0
				w.point = func(point string) {
					if point == "ask-model" {
						asks++
					}
					if panics && point == where && (point != "ask-model" || asks == 2) {
						panic("boom")
					}
				}
				w.log = nowhere{}
				w.start()
				run := w.say("do it")
				if s := w.state(run); s != vault.Failed {
					t.Fatalf("the run is %s", s)
				}
				got := w.answer(run)
				if !strings.Contains(got, "Something in me broke") || strings.Contains(got, "boom") {
					t.Errorf("the answer is %q", got)
				}
				if done := where != "tool-end"; done != strings.Contains(got, "Reminder 1: ") {
					t.Errorf("what was done before is not as it should be in %q", got)
				}
				panics = false
				if got := w.answer(w.say("and now?")); !strings.HasPrefix(got, "Done.") {
					t.Errorf("the next message is answered %q", got)
				}
			})
		})
	}
}

// When the vault fails for a while, e.g. on a full disk, each message has its answer afterwards, once.
func TestAVaultThatFailsForAWhile(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(slow(time.Second, steps(want("act", `{"text":"x"}`), say("Done."))))
		w.log = nowhere{}
		w.start()
		run := w.say("do it")
		w.dead.Store(true)
		sleep(30 * time.Second)
		w.dead.Store(false)
		sleep(30 * time.Second)
		if got := w.answer(run); got != "Done." || len(w.tools.acted) != 1 {
			t.Errorf("it answers %q and acted %d times", got, len(w.tools.acted))
		}
	})
}

// When it fails one run for good, the person is told in the end, and the conversation goes on.
func TestAVaultThatFailsOneRun(t *testing.T) {
	inBubble(t, func(w *world) {
		broken := true
		before := w.hooks.Before
		w.hooks.Before = func(event string) error {
			if event == "step" && broken {
				return errors.New("this row cannot be written")
			}
			return before(event)
		}
		w.must(w.vault.Close())
		w.open()
		m := record(steps(say("Done.")))
		w.use(m)
		w.log = nowhere{}
		w.start()
		run := w.say("do it")
		sleep(10 * time.Minute)
		if got := w.answer(run); !strings.Contains(got, "my storage failed") || w.state(run) != vault.Failed {
			t.Errorf("it is %s and answers %q", w.state(run), got)
		}
		if m.count() > maxRetries+1 {
			t.Errorf("the model was asked %d times", m.count())
		}
		broken = false
		if got := w.answer(w.say("and now?")); got != "Done." {
			t.Errorf("the next message is answered %q", got)
		}
	})
}
