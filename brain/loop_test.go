package brain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

// asked gives the text of the present run's user messages, in order.
func asked(req Request) string {
	var out []string
	for _, m := range current(req) {
		if m.Role == "user" {
			out = append(out, m.Text)
		}
	}
	return strings.Join(out, "\n")
}

// everything is all that a request holds, as one text.
func everything(req Request) string {
	out := []string{req.System}
	for _, m := range req.Messages {
		out = append(out, m.Role+": "+m.Text)
	}
	return strings.Join(out, "\n")
}

func TestLOOP04FiveShortMessagesAreOneThought(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("Understood.")))
		w.use(m)
		w.start()
		words := []string{"so I was", "thinking about", "the trip", "to Porto", "next week"}
		var run int64
		for _, word := range words {
			run = w.accept(w.inbound(w.me, word), w.me, 800*time.Millisecond)
			sleep(400 * time.Millisecond)
		}
		sleep(time.Second)
		if m.count() != 1 || !strings.Contains(asked(m.last()), strings.Join(words, "\n\n")) {
			t.Fatalf("%d requests, the last with %q", m.count(), asked(m.last()))
		}
		if got := w.answer(run); got != "Understood." {
			t.Errorf("the answer is %q", got)
		}
		began := time.Now()
		w.accept(w.inbound(w.me, "just one"), w.me, 800*time.Millisecond)
		sleep(2 * time.Second)
		if m.count() != 2 || m.at[1].Sub(began) > 1500*time.Millisecond {
			t.Errorf("%d requests; a single message waited %s", m.count(), m.at[1].Sub(began))
		}
	})
}

// A burst of one person begins when it is due, also while another conversation has messages that cannot begin yet.
func TestAHeldRunHidesNoOther(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(func(ctx context.Context, req Request) (Response, error) {
			if strings.Contains(asked(req), "long haul") {
				return slow(50*time.Second, steps(say("Done.")))(ctx, req)
			}
			return say("Tea time."), nil
		})
		w.use(m)
		w.start()
		w.say("long haul")
		w.say("and another thing") // held: its conversation is busy
		run := w.accept(w.inbound(w.ben, "what time is it?"), w.ben, 800*time.Millisecond)
		sleep(time.Second)
		if s := w.state(run); s != vault.Done {
			t.Errorf("after a second the run of the other person is %s", s)
		}
	})
}

func TestLOOP11MessagesJoinAtAStepBoundary(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(slow(2*time.Second, steps(want("look", `{"text":"it"}`), say("Looked at both."))))
		w.use(m)
		w.start()
		first := w.say("look at this")
		sleep(time.Second)
		second := w.say("and at that")
		sleep(10 * time.Second)
		if m.count() != 2 {
			t.Fatalf("%d requests", m.count())
		}
		if strings.Contains(asked(m.requests[0]), "and at that") {
			t.Error("the message is in a prompt that was built before it came")
		}
		// It stands behind the step it came after.
		var shape []string
		for _, msg := range current(m.requests[1]) {
			shape = append(shape, msg.Role)
		}
		if diff := cmp.Diff([]string{"user", "assistant", "tool", "user"}, shape); diff != "" {
			t.Errorf("the second prompt: %s", diff)
		}
		if last := m.requests[1].Messages[len(m.requests[1].Messages)-1]; last.Text != "and at that" {
			t.Errorf("the second prompt ends with %q", last.Text)
		}
		if got := w.answer(first); got != "Looked at both." {
			t.Errorf("the answer is %q", got)
		}
		joined := w.progress(second).Run
		if joined.State != vault.Done || joined.Reason != fmt.Sprint("joined run ", first) || len(w.sent(second, vault.Answer)) != 0 {
			t.Errorf("the joined run is %s (%s)", joined.State, joined.Reason)
		}
		// Each message says which step saw it first.
		p := w.progress(first)
		if p.Messages[0].Step != 0 || p.Messages[1].Step != 1 {
			t.Errorf("the messages were seen by steps %d and %d", p.Messages[0].Step, p.Messages[1].Step)
		}
	})
}

func TestLOOP11AMessageTooLateKeepsItsRun(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(slow(2*time.Second, func(_ context.Context, req Request) (Response, error) {
			return say("Answer to " + asked(req)[strings.LastIndex(asked(req), "\n")+1:]), nil
		}))
		w.use(m)
		w.start()
		first := w.say("first thing")
		sleep(time.Second)
		second := w.say("second thing")
		sleep(10 * time.Second)
		if a, b := w.answer(first), w.answer(second); a != "Answer to first thing" || b != "Answer to second thing" {
			t.Errorf("the answers are %q and %q", a, b)
		}
		if m.count() != 2 || m.at[1].Sub(m.at[0]) < 2*time.Second {
			t.Fatalf("the requests of one conversation overlap: %v", m.at)
		}
		// The second knows of the first, in order.
		all := everything(m.requests[1])
		if i, j, k := strings.Index(all, "first thing"), strings.Index(all, "assistant: Answer to first thing"), strings.LastIndex(all, "second thing"); i < 0 || j < i || k < j {
			t.Errorf("the history is out of order: %s", all)
		}
	})
}

// Whenever a message comes while a run works, at whatever commit, and though the power goes right behind it: it joins the run
// or keeps its own, the model sees it, and it is answered. LOOP-11
func TestLOOP11NoMessageIsLostWheneverItComes(t *testing.T) {
	for n := 1; ; n++ {
		came := false
		for _, cut := range []bool{false, true} {
			inBubble(t, func(w *world) {
				m := record(func(_ context.Context, req Request) (Response, error) {
					if strings.Contains(asked(req), "look at this") && replied(req) == 0 {
						return want("look", `{"text":"it"}`), nil
					}
					return say("Seen."), nil
				})
				w.use(m)
				w.log = nowhere{}
				var armed atomic.Bool
				var events, other atomic.Int64
				var event string
				w.hooks.After = func(name string) error {
					if !armed.Load() || events.Add(1) != int64(n) {
						return nil
					}
					event = name
					acc, err := w.vault.Accept(w.t.Context(), w.inbound(w.me, "and at that"), w.me, 0)
					if err != nil {
						return err
					}
					if other.Store(acc.Run); cut {
						w.dead.Store(true)
						return errDead
					}
					return nil
				}
				w.must(w.vault.Close())
				w.open()
				w.start()
				armed.Store(true)
				if _, err := w.vault.Accept(w.t.Context(), w.inbound(w.me, "look at this"), w.me, 0); err != nil && !w.dead.Load() {
					t.Fatal(err)
				}
				synctest.Wait()
				if w.dead.Load() {
					w.crash()
					w.open()
					w.start()
				}
				sleep(time.Minute)
				second := other.Load()
				if second == 0 {
					return
				}
				came = true
				runs, err := w.vault.Runs(w.t.Context(), 0, 10)
				w.must(err)
				for _, r := range runs {
					if r.State != vault.Done {
						t.Errorf("at %s (%d, cut %v): run %d is %s", event, n, cut, r.ID, r.State)
					}
				}
				joined := strings.HasPrefix(w.progress(second).Run.Reason, "joined")
				if got := len(w.sent(second, vault.Answer)); joined != (got == 0) || got > 1 {
					t.Errorf("at %s (%d, cut %v): joined %v, and %d answers of its own", event, n, cut, joined, got)
				}
				if len(w.sent(runs[len(runs)-1].ID, vault.Answer)) != 1 {
					t.Errorf("at %s (%d, cut %v): the first message is answered by %q", event, n, cut, w.sent(runs[len(runs)-1].ID, vault.Answer))
				}
				if !slices.ContainsFunc(m.requests, func(req Request) bool { return strings.Contains(asked(req), "and at that") }) {
					t.Errorf("at %s (%d, cut %v): no model has seen it", event, n, cut)
				}
			})
		}
		if !came {
			if n < 6 {
				t.Errorf("only %d commits", n)
			}
			return
		}
	}
}

// An edit that comes while the model thinks is not taken for seen: the next step gets it.
func TestAnEditWhileTheModelThinksIsNotSeen(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(slow(2*time.Second, steps(want("look", `{"text":"it"}`), say("At nine then."))))
		w.use(m)
		w.start()
		in := w.inbound(w.me, "at eight")
		run := w.accept(in, w.me, 0)
		sleep(time.Second)
		in.Text, in.EditTime = "at nine", 7
		w.accept(in, w.me, 0)
		sleep(1500 * time.Millisecond) // the first step is saved
		p := w.progress(run)
		if len(p.Steps) != 1 || len(p.Messages) != 2 || p.Messages[1].Step != -1 {
			t.Fatalf("%d steps; the messages: %+v", len(p.Steps), p.Messages)
		}
		sleep(10 * time.Second)
		if last := m.last().Messages[len(m.last().Messages)-1]; last.Role != "user" || last.Text != "(edited) at nine" {
			t.Errorf("the second prompt ends with %+v", last)
		}
		if p := w.progress(run); p.Messages[1].Step != 1 {
			t.Errorf("the edit was seen by step %d", p.Messages[1].Step)
		}
	})
}

func TestLOOP10AQuickQuestionBesideALongTask(t *testing.T) {
	for _, parallel := range []int{1, 4} {
		t.Run(fmt.Sprint("parallel ", parallel), func(t *testing.T) {
			inBubble(t, func(w *world) {
				m := record(func(ctx context.Context, req Request) (Response, error) {
					if strings.Contains(asked(req), "long haul") {
						return slow(40*time.Second, steps(say("Done.")))(ctx, req)
					}
					return say("Tea time."), nil
				})
				w.use(m)
				home := w.settings.Backends["home"]
				home.Parallel = parallel
				w.settings.Backends["home"] = home
				w.start()
				long := w.say("start the long haul")
				quick := w.accept(w.inbound(w.ben, "what time is it?"), w.ben, 0)
				sleep(2900 * time.Millisecond)
				if n := len(w.sent(quick, vault.Status)); n != 0 {
					t.Errorf("%d notices before three seconds are over", n)
				}
				sleep(200 * time.Millisecond)
				if parallel > 1 {
					if got := w.answer(quick); got != "Tea time." || len(w.sent(quick, vault.Status)) != 0 {
						t.Errorf("the answer is %q, the notices %q", got, w.sent(quick, vault.Status))
					}
					return
				}
				if got := w.sent(quick, vault.Status); len(got) != 1 || !strings.Contains(got[0], "you are second in line") {
					t.Errorf("the notices are %q", got)
				}
				sleep(time.Minute)
				if got := w.sent(quick, vault.Status); len(got) > 1 {
					t.Errorf("%d notices in the end", len(got))
				}
				if a, b := w.answer(long), w.answer(quick); a != "Done." || b != "Tea time." {
					t.Errorf("the answers are %q and %q", a, b)
				}
			})
		})
	}
}

// However many messages come, a conversation has one request open, and a backend as many as it takes.
func TestOneActiveRunAConversation(t *testing.T) {
	inBubble(t, func(w *world) {
		var open, most atomic.Int64
		talks := map[string]*atomic.Int64{"Me": {}, "Ben": {}}
		w.use(script(func(ctx context.Context, req Request) (Response, error) {
			who := "Me"
			if strings.Contains(asked(req), "Speaking: Ben") {
				who = "Ben"
			}
			if talks[who].Add(1) > 1 {
				t.Errorf("two requests of %s's conversation are open at once", who)
			}
			most.Store(max(most.Load(), open.Add(1)))
			defer func() { open.Add(-1); talks[who].Add(-1) }()
			return slow(time.Second, steps(say("ok")))(ctx, req)
		}))
		w.start()
		var runs []int64
		for i := range 12 {
			who := []vault.Person{w.me, w.ben}[i%2]
			runs = append(runs, w.accept(w.inbound(who, fmt.Sprint("message ", i)), who, 0))
		}
		sleep(30 * time.Second)
		for _, run := range runs {
			if got := w.answer(run); got != "ok" {
				t.Errorf("run %d is answered %q", run, got)
			}
		}
		if most.Load() != 2 {
			t.Errorf("at most %d requests were open at once, want 2", most.Load())
		}
	})
}

// Nothing to do costs nothing, also when something is held.
func TestLOOP19AnIdleBrainSleeps(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(script(func(ctx context.Context, req Request) (Response, error) {
			if strings.Contains(asked(req), "endless") {
				return hang(ctx, req)
			}
			return want("send", `{"text":"x"}`), nil
		}))
		w.start()
		w.say("an endless question")
		w.say("a held one")                                            // its conversation is busy
		w.accept(w.inbound(w.ben, "send something"), w.ben, 0)         // waits for an approval
		w.accept(w.inbound(w.ben, "a burst"), w.ben, time.Millisecond) // becomes ready
		sleep(time.Minute)
		before := w.looked.Load()
		sleep(10 * time.Hour)
		if n := w.looked.Load() - before; n > 10*60*3 {
			t.Errorf("it looked at the clock %d times in ten idle hours", n)
		}
	})
}
