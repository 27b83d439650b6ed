package outbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

func TestPartsOfAChatArriveInOrder(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele"}
		for _, text := range []string{"one", "two", "three", "four"} {
			w.say("tele", "a", text)
		}
		w.start(f)
		pass(time.Second)
		if diff := cmp.Diff([]string{"one", "two", "three", "four"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
		for n := int64(1); n <= 4; n++ {
			if p := w.part(n); p.State != "sent" || p.Ref == "" || p.Sent.IsZero() {
				t.Errorf("part %d is %q with ref %q", n, p.State, p.Ref)
			}
		}
	})
}

func TestAFailingFirstPartHoldsItsLane(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(_ context.Context, out vault.Part, n int) error {
			if out.Text == "one" && n < 4 {
				return lineDown
			}
			return nil
		}}
		w.say("tele", "a", "one")
		w.say("tele", "a", "two")
		w.start(f)
		pass(time.Minute)
		if diff := cmp.Diff([]string{"one", "two"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAStuckChatDelaysNoOther(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(ctx context.Context, out vault.Part, _ int) error {
			if out.To.Chat == "stuck" {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		w.start(f)
		w.say("tele", "stuck", "never")
		w.say("tele", "stuck", "behind")
		for _, chat := range []string{"a", "b", "c"} {
			w.say("tele", chat, "to "+chat)
		}
		pass(0)
		if got := len(f.texts("")); got != 3 {
			t.Errorf("%d of 3 arrived beside a stuck chat", got)
		}
		if slices.Contains(f.texts("stuck"), "behind") {
			t.Error("the second part of the stuck chat overtook the first")
		}
	})
}

func TestSendsAtATimeAreBounded(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(context.Context, vault.Part, int) error {
			time.Sleep(time.Second)
			return nil
		}}
		for _, chat := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
			w.say("tele", chat, "hi")
		}
		w.start(f)
		pass(time.Minute)
		if f.most != defaultParallel || len(f.texts("")) != 26 {
			t.Errorf("%d at a time, %d of 26 arrived; want %d at a time", f.most, len(f.texts("")), defaultParallel)
		}
	})
}

// DUR-04: a refused connection is tried again, however long it takes, and not more often than once a minute in the end.
func TestDUR04LineDownIsTriedAgainWithGrowingWaits(t *testing.T) {
	bubble(t, func(w *world) {
		var up atomic.Bool
		f := &fake{name: "tele", answer: func(context.Context, vault.Part, int) error {
			if up.Load() {
				return nil
			}
			return lineDown
		}}
		number := w.say("tele", "a", "hello")
		w.start(f)
		pass(2 * time.Hour)
		tried := f.tried()
		for i := 1; i < len(tried); i++ {
			gap, limit := tried[i].at.Sub(tried[i-1].at), min(maxWait, firstWait<<min(i-1, 6))
			if gap < limit/2 || gap > limit {
				t.Errorf("attempt %d came after %v, want between %v and %v", i+1, gap, limit/2, limit)
			}
		}
		if len(tried) < 120 {
			t.Errorf("only %d attempts in two hours", len(tried))
		}
		if p := w.part(number); p.State != "waiting" || p.Error == "" || p.Marked {
			t.Errorf("the part is %q, error %q, marked %v", p.State, p.Error, p.Marked)
		}
		up.Store(true)
		pass(time.Minute)
		if diff := cmp.Diff([]string{"hello"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhatTheMessengerAsksToWaitIsWaited(t *testing.T) {
	bubble(t, func(w *world) {
		flood := *lineDown
		flood.Wait = 3*time.Hour + 17*time.Second
		f := &fake{name: "tele", answer: func(_ context.Context, _ vault.Part, n int) error {
			if n == 1 {
				return &flood
			}
			return nil
		}}
		w.start(f)
		w.say("tele", "a", "hello")
		pass(time.Second)
		w.box.Nudge("tele") // that somebody has come is no reason to write to a messenger that said no
		pass(flood.Wait - 2*time.Second)
		if len(f.tried()) != 1 {
			t.Fatalf("%d attempts before the wait was over", len(f.tried()))
		}
		pass(2 * time.Second)
		if tried := f.tried(); len(tried) != 2 || tried[1].at.Sub(tried[0].at) != flood.Wait {
			t.Errorf("attempts: %v", tried)
		}
	})
}

func TestWaitOutlivesARestartAndADroppedPart(t *testing.T) {
	bubble(t, func(w *world) {
		flood := *lineDown
		flood.Wait = time.Hour
		f := &fake{name: "tele", answer: func(_ context.Context, _ vault.Part, n int) error {
			if n == 1 {
				return &flood
			}
			return nil
		}}
		first := w.say("tele", "a", "first")
		w.say("tele", "a", "second")
		w.start(f)
		pass(time.Minute)
		if err := w.v.DropPart(w.t.Context(), first); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		if len(f.tried()) != 1 {
			t.Fatal("the next part did not wait")
		}
		pass(time.Hour) // its first attempt is refused too
		if len(f.tried()) != 2 {
			t.Fatalf("%d attempts, want the second part's first", len(f.tried()))
		}
		w.stop()
		w.close()
		w.open()
		w.start(f)
		pass(57 * time.Minute)
		if len(f.tried()) != 2 {
			t.Fatal("after a restart the wait was forgotten")
		}
		pass(5 * time.Minute)
		if diff := cmp.Diff([]string{"second"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
	})
}

// A wait that an earlier life wrote down by a clock that was wrong must not silence a chat for years.
func TestStoredWaitIsBoundedWhenTheClockWasWrong(t *testing.T) {
	bubble(t, func(w *world) {
		var skew atomic.Int64
		skew.Store(int64(20 * 365 * 24 * time.Hour))
		w.now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
		w.close()
		w.open()
		f := &fake{name: "tele", answer: func(context.Context, vault.Part, int) error { return lineDown }}
		w.say("tele", "a", "hello")
		w.start(f)
		pass(time.Second)
		w.stop()
		skew.Store(0)
		f.answer = nil
		w.start(f)
		pass(maxStored + time.Second)
		if len(f.texts("a")) != 1 {
			t.Error("the part still waits")
		}
	})
}

func TestNudgeTriesAtOnce(t *testing.T) {
	bubble(t, func(w *world) {
		var up atomic.Bool
		f := &fake{name: "tele", answer: func(context.Context, vault.Part, int) error {
			if up.Load() {
				return nil
			}
			return lineDown
		}}
		w.say("tele", "a", "hello")
		w.start(f)
		pass(10 * time.Minute)
		up.Store(true)
		w.box.Nudge("other")
		pass(0)
		if len(f.texts("a")) != 0 {
			t.Error("a nudge of another gateway was taken")
		}
		w.box.Nudge("tele")
		pass(0)
		if len(f.texts("a")) != 1 {
			t.Error("the part was not tried at once")
		}
	})
}

func TestAwayPeopleCostNothingAndGetTheirPartsWhenTheyCome(t *testing.T) {
	bubble(t, func(w *world) {
		g := &away{fake: &fake{name: "terminal"}}
		var commits atomic.Int64
		w.hooks = vault.Hooks{After: func(string) error { commits.Add(1); return nil }}
		w.close()
		w.open()
		number := w.say("terminal", "1", "hello")
		w.start(g)
		pass(time.Second)
		if p := w.part(number); p.State != "waiting" || p.Attempts != 0 || p.Error != "nobody was at the terminal" {
			t.Errorf("the part is %q after %d attempts, error %q", p.State, p.Attempts, p.Error)
		}
		before := commits.Load()
		pass(24 * time.Hour)
		if commits.Load() != before || len(g.tried()) != 0 {
			t.Errorf("a day of waiting took %d commits and %d attempts", commits.Load()-before, len(g.tried()))
		}
		g.come()
		w.box.Nudge("terminal")
		pass(0)
		if diff := cmp.Diff([]string{"hello"}, g.texts("")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPartsWithoutTheirGatewayWait(t *testing.T) {
	bubble(t, func(w *world) {
		number := w.say("pigeon", "a", "coo")
		w.start(&fake{name: "tele"})
		pass(24 * time.Hour)
		if p := w.part(number); p.State != "waiting" || p.Error != "pigeon is not configured" {
			t.Errorf("the part is %q, error %q", p.State, p.Error)
		}
		w.stop()
		g := &fake{name: "pigeon"}
		w.start(g)
		pass(time.Second)
		if diff := cmp.Diff([]string{"coo"}, g.texts("")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestADroppedPartIsNotSent(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(context.Context, vault.Part, int) error { return lineDown }}
		number := w.say("tele", "a", "hello")
		w.start(f)
		pass(time.Minute)
		before := len(f.tried())
		if err := w.v.DropPart(w.t.Context(), number); err != nil {
			t.Fatal(err)
		}
		pass(time.Hour)
		if len(f.tried()) != before {
			t.Error("it was tried after it had been dropped")
		}
		// A copy that was read before the drop does not get through either.
		stale := vault.Part{ID: number, To: to("tele", "a"), Text: "hello", State: "waiting", Attempts: 1}
		if v := w.box.couriers[0].deliver(w.t.Context(), stale, 1, ""); v.again || len(f.tried()) != before {
			t.Error("a stale copy of it was sent")
		}
	})
}

func TestSendInHandIsFinishedAtShutdown(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(ctx context.Context, _ vault.Part, _ int) error {
			select {
			case <-time.After(4 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		number := w.say("tele", "a", "hello")
		w.say("tele", "a", "later")
		w.start(f)
		pass(time.Second)
		began := time.Now()
		w.stop()
		if took := time.Since(began); took > grace {
			t.Errorf("it took %v", took)
		}
		if p := w.part(number); p.State != "sent" {
			t.Errorf("the part in hand is %q", p.State)
		}
		if p := w.part(number + 1); p.State != "waiting" || p.Attempts != 0 {
			t.Errorf("the next part is %q after %d attempts: it was begun after the end", p.State, p.Attempts)
		}
	})
}

func TestHangingSendIsCutAtShutdownAndMayHaveArrived(t *testing.T) {
	for name, answer := range map[string]func(ctx context.Context, _ vault.Part, _ int) error{
		"obeys":    func(ctx context.Context, _ vault.Part, _ int) error { <-ctx.Done(); return ctx.Err() },
		"does not": func(_ context.Context, _ vault.Part, _ int) error { time.Sleep(time.Hour); return errors.New("late") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				f := &fake{name: "tele", answer: answer}
				number := w.say("tele", "a", "hello")
				w.start(f)
				pass(time.Second)
				began := time.Now()
				w.stop()
				if took := time.Since(began); took > grace+2*time.Second {
					t.Errorf("it took %v", took)
				}
				w.close()
				w.open()
				if p := w.part(number); p.State != "waiting" || !p.Marked {
					t.Errorf("the next life finds it %q, marked %v", p.State, p.Marked)
				}
				time.Sleep(2 * time.Hour) // the goroutine that would not listen ends
				synctest.Wait()
			})
		})
	}
}

func TestAGatewayWithoutATimeLimitIsCut(t *testing.T) {
	bubble(t, func(w *world) {
		f := &fake{name: "tele", answer: func(ctx context.Context, _ vault.Part, n int) error {
			if n == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}}
		w.say("tele", "a", "hello")
		w.start(f)
		pass(sendLimit + 2*time.Second)
		if diff := cmp.Diff([]string{repeatMark + "\nhello"}, f.texts("a")); diff != "" {
			t.Error(diff)
		}
	})
}
