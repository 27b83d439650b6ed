package brain

import (
	"context"
	"errors"
	"fmt"
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
				if n := len(w.sent(quick, vault.Notice)); n != 0 {
					t.Errorf("%d notices before three seconds are over", n)
				}
				sleep(200 * time.Millisecond)
				if parallel > 1 {
					if got := w.answer(quick); got != "Tea time." || len(w.sent(quick, vault.Notice)) != 0 {
						t.Errorf("the answer is %q, the notices %q", got, w.sent(quick, vault.Notice))
					}
					return
				}
				if got := w.sent(quick, vault.Notice); len(got) != 1 || !strings.Contains(got[0], "yours comes next") {
					t.Errorf("the notices are %q", got)
				}
				sleep(time.Minute)
				if got := w.sent(quick, vault.Notice); len(got) != 1 {
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

func TestLOOP07StopCutsAHangingModel(t *testing.T) {
	inBubble(t, func(w *world) {
		cut := false
		w.use(script(func(ctx context.Context, req Request) (Response, error) {
			if strings.Contains(asked(req), "endless") {
				<-ctx.Done()
				cut = true
				return say("late words"), nil // a server that answers all the same
			}
			return say("Here again."), nil
		}))
		w.start()
		run := w.say("an endless question")
		began := time.Now()
		halted := w.stopTalk()
		if len(halted.Stopped) != 1 || halted.Stopped[0].ID != run {
			t.Fatalf("stopped: %+v", halted.Stopped)
		}
		if !cut || time.Since(began) > 2*time.Second {
			t.Errorf("the model call is cut: %v, after %s", cut, time.Since(began))
		}
		sleep(time.Hour)
		p := w.progress(run)
		if p.Run.State != vault.Stopped || len(p.Steps) != 0 || p.Run.TokensIn != 0 || len(w.sent(run, vault.Answer)) != 0 {
			t.Errorf("after the stop: %s, %d steps, %d tokens, answers %q", p.Run.State, len(p.Steps), p.Run.TokensIn, w.sent(run, vault.Answer))
		}
		if got := w.answer(w.say("are you there?")); got != "Here again." {
			t.Errorf("the next message is answered %q", got)
		}
	})
}

func TestLOOP08StopKeepsWhatIsQueued(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(func(ctx context.Context, req Request) (Response, error) {
			if strings.HasSuffix(asked(req), "task A") {
				return hang(ctx, req)
			}
			return say("B is done."), nil
		})
		w.use(m)
		w.start()
		a := w.say("task A")
		b := w.say("task B")
		if halted := w.stopTalk(); len(halted.Kept) != 1 || halted.Kept[0].ID != b {
			t.Fatalf("kept: %+v", halted.Kept)
		}
		if w.state(a) != vault.Stopped || w.answer(b) != "B is done." {
			t.Errorf("A is %s, B is answered %q", w.state(a), w.answer(b))
		}
		if halted := w.stopTalk(); len(halted.Stopped) != 0 {
			t.Errorf("a second stop stopped %+v", halted.Stopped)
		}
		if got := w.answer(w.say("task C")); got != "B is done." || m.count() != 3 {
			t.Errorf("C is answered %q after %d requests", got, m.count())
		}
	})
}

// A stop while a tool runs: what it did is kept, what it did not do is not claimed, and nothing follows.
func TestLOOP07StopWhileAToolRuns(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tool  string
		obeys bool
		state vault.CallState
	}{
		{"an act that does not look", "act", false, vault.Finished},
		{"an act that is cut", "act", true, vault.Unknown},
		{"a set that does not look", "note", false, vault.Finished},
		{"a set that is cut", "note", true, vault.Given},
		{"a read that is cut", "look", true, vault.Given},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.tools.hook = func(ctx context.Context, _ string) error {
					if tt.obeys {
						<-ctx.Done()
						return ctx.Err()
					}
					<-time.After(30 * time.Second)
					return nil
				}
				m := record(steps(want(tt.tool, `{"text":"x"}`), say("late words")))
				w.use(m)
				w.start()
				run := w.say("do it")
				sleep(time.Second)
				halted := w.stopTalk()
				if unsure := len(halted.Unsure) == 1; unsure != (tt.tool == "act") {
					t.Errorf("unsure: %+v", halted.Unsure)
				}
				sleep(time.Minute)
				p := w.progress(run)
				if p.Run.State != vault.Stopped || len(p.Steps) != 1 || m.count() != 1 || len(w.sent(run, vault.Answer)) != 0 {
					t.Errorf("after the stop: %s, %d steps, %d requests, answers %q", p.Run.State, len(p.Steps), m.count(), w.sent(run, vault.Answer))
				}
				if got := p.Calls[0].State; got != tt.state {
					t.Errorf("the call is %s, want %s", got, tt.state)
				}
			})
		})
	}
}

// A run that parks and is taken up again before its first life has quite ended can still be stopped and shut down.
func TestARunTakenUpAgainAtOnceCanBeStopped(t *testing.T) {
	for _, how := range []string{"stop", "shutdown"} {
		t.Run(how, func(t *testing.T) {
			inBubble(t, func(w *world) {
				thinking := make(chan struct{})
				w.use(script(func(ctx context.Context, req Request) (Response, error) {
					if replied(req) == 0 {
						return want("send", `{"text":"x"}`), nil
					}
					close(thinking)
					return hang(ctx, req)
				}))
				// Right behind the commit that parks, while its goroutine has not returned yet, an owner answers.
				parked := false
				w.hooks.After = func(event string) error {
					if event != "step" || parked {
						return nil
					}
					parked = true
					if err := w.vault.Do(w.t.Context(), "decide", func(tx *vault.Tx) error {
						_, err := tx.Decide(1, w.me, vault.ChooseApprove)
						return err
					}); err != nil {
						t.Error(err)
					}
					<-thinking
					return nil
				}
				w.must(w.vault.Close())
				w.open()
				w.start()
				run := w.say("send it")
				if got := w.state(run); got != vault.Running {
					t.Fatalf("the run is %s", got)
				}
				if how == "stop" {
					w.stopTalk()
				}
				w.stop() // hangs, and the bubble with it, when the second life is not known
				w.stop = nil
				if got, want := w.state(run), map[string]vault.RunState{"stop": vault.Stopped, "shutdown": vault.Queued}[how]; got != want {
					t.Errorf("the run is %s, want %s", got, want)
				}
			})
		})
	}
}

func TestPauseHoldsRuns(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("ok")))
		w.use(m)
		w.start()
		pause := func(on bool) {
			w.must(w.vault.Do(w.t.Context(), "pause", func(tx *vault.Tx) error { return tx.Pause(on) }))
		}
		pause(true)
		run := w.say("hello")
		sleep(time.Hour)
		if m.count() != 0 || w.state(run) != vault.Queued {
			t.Errorf("paused: %d requests, the run is %s", m.count(), w.state(run))
		}
		pause(false)
		synctest.Wait()
		if got := w.answer(run); got != "ok" {
			t.Errorf("the answer is %q", got)
		}
	})
}

func TestShutdownParksAndTheNextLifeGoesOn(t *testing.T) {
	inBubble(t, func(w *world) {
		lives := 1
		m := record(func(ctx context.Context, req Request) (Response, error) {
			if lives == 1 && replied(req) == 1 {
				return hang(ctx, req)
			}
			return steps(want("act", `{"text":"x"}`), say("Done."))(ctx, req)
		})
		w.use(m)
		w.start()
		run := w.say("do it")
		began := time.Now()
		w.halt()
		if took := time.Since(began); took > time.Second {
			t.Errorf("the shutdown took %s", took)
		}
		w.open()
		if p := w.progress(run); p.Run.State != vault.Queued || p.Run.Retries != 0 || len(p.Steps) != 1 {
			t.Errorf("parked it is %s, after %d retries, with %d steps", p.Run.State, p.Run.Retries, len(p.Steps))
		}
		lives++
		w.start()
		if got := w.answer(run); got != "Done." || len(w.tools.acted) != 1 {
			t.Errorf("it answers %q and acted %d times", got, len(w.tools.acted))
		}
		if p := w.progress(run); p.Run.Steps != 2 || p.Run.TokensIn != 200 || p.Run.TokensOut != 20 {
			t.Errorf("%d steps, %d and %d tokens", p.Run.Steps, p.Run.TokensIn, p.Run.TokensOut)
		}
	})
}

// A shutdown that cuts an act leaves nobody knowing whether it happened: it is asked about, not repeated and not denied.
func TestShutdownInTheMiddleOfAnAct(t *testing.T) {
	inBubble(t, func(w *world) {
		lives := 1
		w.tools.hook = func(ctx context.Context, _ string) error {
			if lives == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		w.use(steps(want("act", `{"text":"x"}`), say("Done.")))
		w.start()
		run := w.say("do it")
		lives++
		w.restart()
		if q := w.openQuestion(); q.Kind != "unknown" || q.Run != run {
			t.Errorf("the question is %+v", q)
		}
		if p := w.progress(run); p.Run.State != vault.Waiting || p.Calls[0].State != vault.Unknown || len(w.tools.acted) != 0 {
			t.Errorf("the run is %s, the call %s, it acted %d times", p.Run.State, p.Calls[0].State, len(w.tools.acted))
		}
	})
}

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
