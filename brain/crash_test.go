package brain

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

// errand is a task that touches everything a run commits: two sets in one reply, an act, a question, words.
var errand = steps(
	want("note", `{"text":"a"}`, "remind", `{"text":"b"}`),
	want("act", `{"text":"c"}`),
	want("send", `{"text":"d"}`),
	say("All done."),
)

const errandSteps = 4

// cutter ends all commits at the nth of its life, before or after it.
type cutter struct {
	w     *world
	mu    sync.Mutex
	n     int // commits so far in this life
	at    int // 0 = never
	after bool
	event string // where it was
}

func (c *cutter) hook(event string, after bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w.dead.Load() {
		return errDead
	}
	if !after {
		c.n++
	}
	// What comes after a commit is outside the vault's lock, so the next one may have begun by then.
	if after == c.after && (c.n == c.at || after && c.at > 0 && c.n > c.at) {
		c.w.dead.Store(true)
		c.event = event
		return errDead
	}
	return nil
}

// arm begins to count anew.
func (c *cutter) arm(at int, after bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n, c.at, c.after = 0, at, after
}

// runErrand brings the errand to its end however often the power goes. cuts gives, for each life, the commit at which it
// does; it has no more when it gives 0.
func runErrand(w *world, c *cutter, cuts func(life int) (at int, after bool)) (run int64) {
	m := record(errand)
	w.use(m)
	w.log = nowhere{}
	w.hooks = vault.Hooks{
		Before: func(event string) error { return c.hook(event, false) },
		After:  func(event string) error { return c.hook(event, true) },
	}
	in := w.inbound(w.me, "do the errand")
	lives := 0
	for ; ; lives++ {
		if lives > 50 {
			w.t.Fatal("the errand never ends")
		}
		w.must(w.vault.Close())
		c.arm(0, false)
		w.open()
		c.arm(cuts(lives))
		w.start()
		// The messenger offers what was not acknowledged until it is.
		_, err := w.vault.Accept(w.t.Context(), in, w.me, 0)
		synctest.Wait()
		for range 10 {
			if err == nil || errors.Is(err, vault.ErrRepeat) {
				err = answerOpen(w)
			}
			sleep(time.Second)
		}
		w.stop()
		w.stop = nil
		if !w.dead.Load() {
			break
		}
		w.dead.Store(false)
	}
	runs, err := w.vault.Runs(w.t.Context(), 0, 10)
	w.must(err)
	if len(runs) != 1 {
		w.t.Fatalf("%d runs", len(runs))
	}
	if n := m.count(); n < errandSteps || n > errandSteps+lives {
		w.t.Errorf("the model was asked %d times in %d lives for %d steps", n, lives+1, errandSteps)
	}
	return runs[0].ID
}

// answerOpen is an owner who approves what is asked for, and never lets anything happen again.
func answerOpen(w *world) error {
	open, err := w.vault.Approvals(w.t.Context(), true, 10)
	w.must(err)
	for _, q := range open {
		choice := vault.ChooseApprove
		if q.Kind == "unknown" {
			choice = vault.ChooseWorked
		}
		if err := w.decide(q.ID, choice); err != nil && !errors.Is(err, vault.ErrDecided) {
			return err
		}
	}
	return nil
}

// checkErrand is what must hold wherever the power went.
func checkErrand(w *world, run int64) {
	w.t.Helper()
	p := w.progress(run)
	if p.Run.State != vault.Done {
		w.t.Fatalf("the run is %s (%s)", p.Run.State, p.Run.Reason)
	}
	if got := w.answer(run); got != "All done.\n\nReminder 2: Fri 4 Dec 2026, 09:00 (UTC): b" && got != "All done.\n\nReminder 1: Fri 4 Dec 2026, 09:00 (UTC): b" {
		w.t.Errorf("the answer is %q", got)
	}
	if len(p.Steps) != errandSteps || p.Run.Steps != errandSteps || p.Run.Calls != 4 || len(p.Calls) != 4 {
		w.t.Errorf("%d steps, %d booked; %d calls, %d booked", len(p.Steps), p.Run.Steps, len(p.Calls), p.Run.Calls)
	}
	if p.Run.TokensIn != errandSteps*100 || p.Run.TokensOut != errandSteps*10 {
		w.t.Errorf("%d tokens in, %d out", p.Run.TokensIn, p.Run.TokensOut)
	}
	if len(w.tools.notes) != 2 {
		w.t.Errorf("two sets left %d things", len(w.tools.notes))
	}
	for _, text := range []string{"c", "d"} {
		if n := len(slices.DeleteFunc(slices.Clone(w.tools.acted), func(s string) bool { return s != text })); n > 1 {
			w.t.Errorf("%q was done %d times without a person's word", text, n)
		}
	}
	for _, c := range p.Calls {
		if c.State != vault.Finished {
			w.t.Errorf("call %s is %s", c.Tool, c.State)
		}
	}
	questions := 0
	for _, a := range p.Approvals {
		if a.Kind == "call" {
			questions++
		}
	}
	if questions != 1 {
		w.t.Errorf("asked %d times for one approval", questions)
	}
}

// Without a cut the errand is as it should be, and its commits are counted.
func errandCommits(t *testing.T) (n int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		c := &cutter{w: w}
		run := runErrand(w, c, func(int) (int, bool) { return 0, false })
		checkErrand(w, run)
		if got := strings.Join(w.tools.acted, " "); got != "c d" {
			t.Errorf("it acted %q", got)
		}
		n = c.n
		w.close()
	})
	return n
}

// Wherever the power goes, the errand ends as if it had not: nothing is lost, nothing done twice.
func TestACutAtEveryCommit(t *testing.T) {
	n := errandCommits(t)
	if n < 15 {
		t.Fatalf("only %d commits: the errand is not what it was", n)
	}
	for at := 1; at <= n; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d after=%v", at, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					c := &cutter{w: w}
					run := runErrand(w, c, func(life int) (int, bool) {
						if life == 0 {
							return at, after
						}
						return 0, false
					})
					if c.event == "" {
						t.Error("the power never went")
					}
					checkErrand(w, run)
					if t.Failed() {
						t.Logf("the power went at %s", c.event)
					}
					w.close()
				})
			})
		}
	}
}

// The same when it goes again and again.
func TestManyCuts(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r := rand.New(rand.NewPCG(seed, 3))
				run := runErrand(w, &cutter{w: w}, func(life int) (int, bool) {
					if life >= 8 {
						return 0, false
					}
					return 1 + r.IntN(7), r.IntN(2) == 0
				})
				checkErrand(w, run)
				w.close()
			})
		})
	}
}
