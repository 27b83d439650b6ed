package brain

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

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
