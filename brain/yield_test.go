package brain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

// neighbours makes people who can have follow-ups of their own.
func (w *world) neighbours(n int) []vault.Person {
	w.t.Helper()
	people := []vault.Person{
		{Name: "Me", Role: vault.Owner, Identities: []vault.Identity{{Gateway: "telegram", Ext: "1"}}},
		{Name: "Ben", Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: "2"}}},
	}
	for i := range n {
		people = append(people, vault.Person{Name: fmt.Sprint("Neighbour ", i), Role: vault.Member, Identities: []vault.Identity{{Gateway: "telegram", Ext: fmt.Sprint(100 + i)}}})
	}
	w.must(w.vault.SyncPeople(w.t.Context(), people))
	var out []vault.Person
	for i := range n {
		p, err := w.vault.PersonNamed(w.t.Context(), fmt.Sprint("Neighbour ", i))
		w.must(err)
		out = append(out, p)
	}
	return out
}

// followUp fires a job that wakes the agent for a person, and gives its run.
func (w *world) followUp(p vault.Person) int64 {
	w.t.Helper()
	job, err := w.vault.AddJob(w.t.Context(), vault.Job{
		Kind: vault.Do, Person: p.ID, Conversation: w.private(p).ID, To: vault.Address{Gateway: "telegram", Account: "bot", Chat: fmt.Sprint(p.ID)},
		Text: "probe the pond", Zone: "UTC", Next: w.now(),
	})
	w.must(err)
	w.must(w.vault.Fire(w.t.Context(), job, vault.Firing{Due: job.Next}))
	runs, err := w.vault.Runs(w.t.Context(), 0, 1)
	w.must(err)
	return runs[0].ID
}

// isWakeUp reports whether a request is about what the clock began.
func isWakeUp(req Request) bool {
	return slices.ContainsFunc(current(req), func(m Msg) bool { return strings.Contains(m.Text, "[Nobody wrote") })
}

// pond is a model at home that takes a minute for what the clock began and a second for people, and notes what it is asked.
type pond struct {
	mu     sync.Mutex
	events []string
}

func (m *pond) note(s string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, s)
}

func (m *pond) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

func (m *pond) Generate(ctx context.Context, req Request, _ func(string)) (Response, error) {
	who, takes := "person", time.Second
	if isWakeUp(req) {
		who, takes = "clock", time.Minute
	}
	m.note(who)
	if err := waitFor(ctx, takes); err != nil {
		m.note(who + " cut off")
		return Response{}, err
	}
	m.note(who + " answered")
	return say("The pond is fine."), nil
}

// oneAtHome makes a model the only one: at home, one request at a time.
func (w *world) oneAtHome(m Model) {
	w.settings.Model = "home"
	w.settings.Backends = map[string]Backend{"home": atHome(m)}
}

// A person who writes is served next, however much background work is queued: what is in hand is cut off and queued again.
// Nothing of that work is lost, nothing counts as failed, and in the end all of it is done.
func TestAPersonIsServedBeforeBackgroundWork(t *testing.T) {
	inBubble(t, func(w *world) {
		m := &pond{}
		w.oneAtHome(m)
		w.settings.Limits.Worked = 3 * time.Minute // waiting in line is no work
		w.hooks.After = func(event string) error {
			if event == "yield" {
				m.note(event)
			}
			return nil
		}
		w.must(w.vault.Close())
		w.open()
		var background []int64
		for _, p := range w.neighbours(20) {
			background = append(background, w.followUp(p))
		}
		w.start()
		sleep(30 * time.Second)
		asked := time.Now()
		run := w.say("hello")
		if diff := strings.Join(m.all(), ", "); diff != "clock, clock cut off, person, yield" && diff != "clock, clock cut off, yield, person" {
			t.Errorf("what happened: %s", diff)
		}
		if waited := time.Since(asked); waited != 0 {
			t.Errorf("the model began after %v", waited)
		}
		if r := w.progress(background[0]).Run; r.Retries != 0 || r.Steps != 0 || r.State != vault.Queued && r.State != vault.Running {
			t.Errorf("what gave way is %+v", r)
		}
		sleep(time.Second)
		if got := w.answer(run); got != "The pond is fine." {
			t.Errorf("the answer is %q", got)
		}
		sleep(21 * time.Minute)
		for _, b := range background {
			if p := w.progress(b); p.Run.State != vault.Done || p.Run.Steps != 1 || p.Run.Retries != 0 {
				t.Errorf("run %d is %s (%s) after %d steps, %d retries", b, p.Run.State, p.Run.Reason, p.Run.Steps, p.Run.Retries)
			}
		}
		if n := strings.Count(strings.Join(m.all(), ","), "clock cut off"); n != 1 {
			t.Errorf("%d requests were cut off for one person", n)
		}
	})
}

// The person's own follow-up holds their conversation: it gives it free.
func TestOwnBackgroundWorkGivesTheConversationFree(t *testing.T) {
	inBubble(t, func(w *world) {
		m := &pond{}
		w.oneAtHome(m)
		w.start()
		background := w.followUp(w.me)
		sleep(30 * time.Second)
		run := w.say("hello")
		sleep(time.Second)
		if got := w.answer(run); got != "The pond is fine." {
			t.Errorf("the answer is %q", got)
		}
		sleep(time.Minute)
		if r := w.progress(background).Run; r.State != vault.Done || r.Steps != 1 || r.Retries != 0 {
			t.Errorf("the follow-up is %s after %d steps, %d retries", r.State, r.Steps, r.Retries)
		}
		if got := strings.Join(m.all(), ", "); got != "clock, clock cut off, person, person answered, clock, clock answered" {
			t.Errorf("what happened: %s", got)
		}
	})
}

// A tool in hand is not cut off: the run gives way before its next step, and what was done is not done again.
func TestGivingWayBetweenTwoSteps(t *testing.T) {
	inBubble(t, func(w *world) {
		w.tools.hook = func(ctx context.Context, tool string) error { return waitFor(ctx, 20*time.Second) }
		m := record(func(_ context.Context, req Request) (Response, error) {
			if !isWakeUp(req) {
				return say("Here I am."), nil
			}
			return []Response{want("note", `{"text":"a"}`), say("All noted.")}[min(replied(req), 1)], nil
		})
		w.oneAtHome(m)
		w.start()
		background := w.followUp(w.me)
		sleep(10 * time.Second)
		run := w.say("are you there?")
		if w.state(run) != vault.Queued {
			t.Errorf("while the tool runs the message is %s", w.state(run))
		}
		sleep(5 * time.Second)
		if got := w.progress(run).Run.Waits; !strings.Contains(got, "second in line") {
			t.Errorf("it waits with %q", got)
		}
		sleep(10 * time.Second)
		if got := w.answer(run); got != "Here I am." {
			t.Errorf("the answer is %q", got)
		}
		if got := w.answer(background); got != "All noted." {
			t.Errorf("the follow-up said %q", got)
		}
		if n := w.tools.count("note"); n != 1 {
			t.Errorf("the tool ran %d times", n)
		}
		var order []string
		for _, req := range m.requests {
			order = append(order, fmt.Sprint(isWakeUp(req)))
		}
		if got := strings.Join(order, " "); got != "true false true" {
			t.Errorf("the model was asked for the clock: %s", got)
		}
	})
}

// The power goes between the cut and its commit: the run is queued again at the next start, and both are answered once.
func TestACrashWhileGivingWay(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprint("after the commit: ", after), func(t *testing.T) {
			inBubble(t, func(w *world) {
				m := &pond{}
				w.oneAtHome(m)
				w.log = nowhere{}
				var gone atomic.Bool // once: in the next life the follow-up may be first at the model, and give way again
				before := w.hooks.Before
				w.hooks.Before = func(event string) error {
					if event == "yield" && !after && !gone.Swap(true) {
						w.dead.Store(true)
					}
					return before(event)
				}
				w.hooks.After = func(event string) error {
					if event == "yield" && after && !gone.Swap(true) {
						w.dead.Store(true)
					}
					return nil
				}
				w.must(w.vault.Close())
				w.open()
				w.start()
				background := w.followUp(w.ben)
				sleep(30 * time.Second)
				run := w.say("hello")
				if !w.dead.Load() {
					t.Fatal("the power never went")
				}
				w.crash()
				w.open()
				w.start()
				sleep(3 * time.Minute)
				if got := w.answer(run); got != "The pond is fine." {
					t.Errorf("the answer is %q", got)
				}
				if got := w.answer(background); got != "The pond is fine." {
					t.Errorf("the follow-up said %q", got)
				}
				if r := w.progress(background).Run; r.Steps != 1 || r.Retries != 0 {
					t.Errorf("%d steps, %d retries", r.Steps, r.Retries)
				}
			})
		})
	}
}

// Somebody always writes, for hours: the follow-up has its turn all the same, and nobody waits much longer for that.
func TestBackgroundWorkEndsInABusyHouse(t *testing.T) {
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprint("in the chat that is busy: ", own), func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.oneAtHome(&pond{})
				w.settings.Limits.Worked = 2 * time.Minute
				w.start()
				person := w.ben
				if own {
					person = w.me
				}
				background := w.followUp(person)
				began, ended := time.Now(), time.Duration(0)
				for n := 0; ended == 0 && n < 500; n++ {
					said := time.Now()
					run := w.say(fmt.Sprint("message ", n))
					for w.state(run) != vault.Done && time.Since(said) < 10*time.Minute {
						sleep(500 * time.Millisecond)
					}
					if waited := time.Since(said); waited > 70*time.Second {
						t.Fatalf("message %d was answered after %v (run %s)", n, waited, w.state(run))
					}
					sleep(20 * time.Second)
					if w.state(background) == vault.Done {
						ended = time.Since(began)
					}
				}
				if r := w.progress(background).Run; r.State != vault.Done || r.Retries != 0 || r.Steps != 1 {
					t.Fatalf("the follow-up is %s (%s) after %v, %d retries", r.State, r.Reason, time.Since(began), r.Retries)
				}
				if ended < vault.Patience || ended > vault.Patience+3*time.Minute {
					t.Errorf("it took %v", ended)
				}
			})
		})
	}
}

// There is room for people when the clock has begun more than can be in hand.
func TestBackgroundWorkLeavesRoomForPeople(t *testing.T) {
	inBubble(t, func(w *world) {
		b := atHome(record(func(ctx context.Context, req Request) (Response, error) {
			if isWakeUp(req) {
				return hang(ctx, req)
			}
			return say("Here I am."), nil
		}))
		b.Local, b.Parallel = false, 1000
		w.settings.Model, w.settings.Backends = "home", map[string]Backend{"home": b}
		for _, p := range w.neighbours(maxActive + 10) {
			w.followUp(p)
		}
		w.start()
		if all, background := w.brain.inHand(); all != maxBackground || background != all {
			t.Errorf("%d runs are in hand, %d of them for nobody", all, background)
		}
		if got := w.answer(w.say("hello")); got != "Here I am." {
			t.Errorf("the answer is %q", got)
		}
	})
}

// The wait for a place is no work: it does not use up a run's time.
func TestWaitingInLineIsNoWork(t *testing.T) {
	inBubble(t, func(w *world) {
		w.oneAtHome(record(slow(90*time.Second, steps(want("note", `{"text":"a"}`), say("Done.")))))
		w.settings.Limits.Worked = 4 * time.Minute
		w.start()
		w.say("one")
		other := w.accept(w.inbound(w.ben, "two"), w.ben, 0)
		synctest.Wait()
		sleep(10 * time.Minute)
		if got := w.answer(other); got != "Done." {
			t.Errorf("the answer is %q", got)
		}
	})
}
