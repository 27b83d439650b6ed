package brain

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hearth/vault"
)

// chatter is small talk until a summary is asked for; stop tells that it is.
func (w *world) chatter(stop func() bool) {
	w.t.Helper()
	for range 60 {
		if stop() {
			return
		}
		w.say("small talk " + strings.Repeat("padding ", 100))
		for range 30 {
			if sleep(time.Second); stop() {
				return
			}
		}
	}
}

// long is an answer that fills the history.
func long() script { return steps(say("so " + strings.Repeat("so ", 300))) }

// thought is a summariser that takes its time, unless it is cut off.
type thought struct {
	busy       atomic.Bool
	calls, cut atomic.Int32
}

func (th *thought) script(takes time.Duration) script {
	return func(ctx context.Context, req Request) (Response, error) {
		if req.System != strings.TrimSpace(summaryInstructions) {
			return long()(ctx, req)
		}
		th.calls.Add(1)
		th.busy.Store(true)
		defer th.busy.Store(false)
		select {
		case <-time.After(takes):
			return say("All of it."), nil
		case <-ctx.Done():
			th.cut.Add(1)
			return Response{}, context.Cause(ctx)
		}
	}
}

// Background work gives way to a person, also where somebody sends a bill: there it is put off for longer each time, since
// each time is paid for.
func TestBackgroundWorkGivesWayToAPerson(t *testing.T) {
	for name, b := range map[string]Backend{
		"at home": {Local: true, Price: &Price{}}, "free elsewhere": {Price: &Price{}}, "for money": {Price: cents},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				var th thought
				b.Name, b.Model, b.Parallel = "home", th.script(time.Minute), 1
				w.backends(b)
				w.settings.Background = true
				w.settings.Limits.Day.USD = 1000
				w.start()
				w.chatter(func() bool { return th.busy.Load() })
				began := time.Now()
				run := w.say("are you there?")
				sleep(time.Second)
				if took := time.Since(began); w.state(run) != vault.Done || th.cut.Load() != 1 || took > 2*time.Second {
					t.Fatalf("after %v the run is %s, and %d of %d summaries were cut off", took, w.state(run), th.cut.Load(), th.calls.Load())
				}
				sleep(3 * time.Minute)
				again := th.calls.Load()
				sleep(longestSleep)
				switch {
				case b.free() && again != 2:
					t.Errorf("it is asked for %d times", again)
				case !b.free() && again != 1:
					t.Errorf("what is paid for is asked for %d times", again)
				}
				w.sameBill()
			})
		})
	}
}

// sameBill holds the runs' costs against the ledger.
func (w *world) sameBill() {
	w.t.Helper()
	all, err := w.vault.Ledger(w.t.Context(), 0)
	w.must(err)
	open := 0
	byRun := map[int64]float64{}
	for _, e := range all {
		if e.State == "open" {
			open++
		}
		if e.State == "settled" {
			byRun[e.Run] += e.USD
		}
	}
	for run, usd := range byRun {
		if got := w.progress(run).Run.USD; math.Abs(got-usd) > 1e-9 {
			w.t.Errorf("run %d took $%v, and the ledger has $%v", run, got, usd)
		}
	}
	if open > 0 {
		w.t.Errorf("%d requests are still open in the ledger", open)
	}
}

// What background work is paid stands in the ledger as all else does: the sum is the bill.
func TestBackgroundWorkIsBooked(t *testing.T) {
	inBubble(t, func(w *world) {
		var made, summaries atomic.Int32
		count := func(m script) script {
			return func(ctx context.Context, req Request) (Response, error) { made.Add(1); return m(ctx, req) }
		}
		w.backends(Backend{Name: "home", Price: cents, Model: count(summariser(func(Request) (Response, error) {
			summaries.Add(1)
			return say("All of it."), nil
		}, long()))})
		w.settings.Background = true
		w.settings.Limits.Day.USD = 1000
		w.start()
		w.chatter(func() bool { return summaries.Load() > 2 })
		spent, err := w.vault.Spent(w.t.Context(), time.Time{})
		w.must(err)
		want := float64(made.Load()) * 0.01
		if summaries.Load() < 3 || math.Abs(spent-want) > 1e-9 {
			t.Errorf("%d requests, %d of them for summaries, cost $%v, and $%v are booked", made.Load(), summaries.Load(), want, spent)
		}
		w.sameBill()
	})
}

// At a limit nothing is asked of a model, or of the owner, for the sake of background work.
func TestBackgroundWorkStopsAtALimit(t *testing.T) {
	inBubble(t, func(w *world) {
		var th thought
		w.backends(Backend{Name: "home", Price: cents, Model: th.script(time.Second)})
		w.settings.Background = true
		w.settings.Limits.Day.USD = 1000
		w.start()
		c := w.private(w.me)
		w.chatter(func() bool { return th.busy.Load() })
		sleep(time.Minute)
		spent, err := w.vault.Spent(w.t.Context(), time.Time{})
		w.must(err)
		w.settings.Limits.Day.USD = spent
		w.brain.Configure(w.settings)
		before := th.calls.Load()
		w.must(w.vault.QueueTask(w.t.Context(), c.ID, vault.TaskSummary, 0))
		sleep(time.Hour)
		open, err := w.vault.Approvals(w.t.Context(), true, 10)
		w.must(err)
		if th.calls.Load() != before || len(open) != 0 || len(w.notices()) != 0 {
			t.Errorf("over the limit it is asked for %d times, the owner is asked %d times and told %q", th.calls.Load()-before, len(open), w.notices())
		}
	})
}

// A model that refuses whoever asks is not asked in the background. Is it background work that meets the refusal, the owner
// is told once.
func TestBackgroundWorkLeavesAShutModelAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		var closed atomic.Bool
		var asked atomic.Int32
		m := summariser(func(Request) (Response, error) {
			asked.Add(1)
			if closed.Load() {
				return Response{}, &ModelError{Kind: Permanent, Shut: true, Human: "The server does not accept the key.", Err: fault(Permanent)}
			}
			return say("All of it."), nil
		}, long())
		w.backends(Backend{Name: "home", Price: &Price{}, Model: m, Print: "key"})
		w.settings.Background = true
		w.start()
		c := w.private(w.me)
		w.chatter(func() bool { return asked.Load() == 1 })
		w.chatter(func() bool { closed.Store(true); return asked.Load() == 2 })
		sleep(time.Minute)
		if told := w.notices(); len(told) != 1 || !strings.HasPrefix(told[0], "The server does not accept the key. I leave it alone") {
			t.Errorf("the owner is told %q", told)
		}
		for range 3 {
			sleep(25 * time.Hour)
			w.must(w.vault.QueueTask(w.t.Context(), c.ID, vault.TaskSummary, 0))
			sleep(7 * time.Hour)
		}
		if asked.Load() != 2 || len(w.notices()) != 1 {
			t.Errorf("it is asked %d times after it has refused, and the owner is told %q", asked.Load()-2, w.notices())
		}
	})
}

// Switched off, no model is asked for anything that nobody asked for, also not for what was asked for before that.
func TestBackgroundWorkIsSwitchedOff(t *testing.T) {
	inBubble(t, func(w *world) {
		var th thought
		w.backends(Backend{Name: "home", Price: &Price{}, Model: th.script(time.Second)})
		w.start()
		w.chatter(func() bool { return th.busy.Load() })
		w.must(w.vault.QueueTask(w.t.Context(), w.private(w.me).ID, vault.TaskSummary, 0))
		sleep(time.Hour)
		if n := th.calls.Load(); n != 0 {
			t.Fatalf("it is asked %d times", n)
		}
		w.settings.Background = true
		w.brain.Configure(w.settings)
		w.chatter(func() bool { return th.busy.Load() })
		if n := th.calls.Load(); n != 1 {
			t.Errorf("switched on, it is asked %d times", n)
		}
	})
}

// MEM-07: what is forgotten is in no summary, neither in one that is there, nor in one that is being made, nor in one that is
// made afterwards, in whatever words it told it.
func TestMEM07ForgettingReachesSummaries(t *testing.T) {
	for _, during := range []bool{false, true} {
		for _, summary := range []string{"They talked. Ann is allergic to hazelnuts.", "They talked. Ann cannot eat hazelnuts."} {
			t.Run(map[bool]string{false: "after ", true: "during "}[during]+summary, func(t *testing.T) {
				inBubble(t, func(w *world) {
					c := w.private(w.me)
					scope := vault.ScopeOf(c, w.me.ID)
					fact, _, err := w.vault.Remember(w.t.Context(), vault.Memory{Text: "Ann is allergic to hazelnuts", Source: "command"}, scope)
					w.must(err)
					var once sync.Once
					forget := func() {
						once.Do(func() {
							_, err := w.vault.Forget(context.Background(), scope, fact.ID)
							w.must(err)
						})
					}
					var mu sync.Mutex
					var asked []string
					told := func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(asked) }
					m := record(summariser(func(req Request) (Response, error) {
						mu.Lock()
						asked = append(asked, everything(req))
						mu.Unlock()
						if during {
							forget()
						}
						if strings.Contains(everything(req), "hazelnut") {
							return say(summary), nil
						}
						return say("They talked."), nil
					}, long()))
					w.use(m)
					w.settings.Background = true
					w.start()
					w.say("you know, Ann is allergic to hazelnuts, so she went to hospital")
					w.chatter(func() bool { return len(told()) > 0 })
					if !strings.Contains(told()[0], "allergic to hazelnuts") {
						t.Fatal("the summariser was not told: the test does not test it")
					}
					forget()
					for range 3 {
						n := len(told())
						w.chatter(func() bool { return len(told()) > n })
						s, err := w.vault.Summary(w.t.Context(), c)
						w.must(err)
						w.say("afresh")
						if prompt := everything(m.last()); strings.Contains(s.Text+prompt, "hazelnut") {
							t.Errorf("the summary is %q", s.Text)
						}
					}
					for i, words := range told()[1:] {
						if strings.Contains(words, "hazelnut") || strings.Contains(words, "hospital") {
							t.Errorf("the summariser is told again, the %d. time after it: %s", i+1, words)
						}
					}
					if s, _ := w.vault.Summary(w.t.Context(), c); s.Text != "They talked." || len(told()) < 2 {
						t.Errorf("after %d summaries there is %q", len(told()), s.Text)
					}
				})
			})
		}
	}
}
