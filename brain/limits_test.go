package brain

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

// cents is a price at which a reply that reads 100 tokens and writes 10 costs a cent, and its prompt a few at the worst.
var cents = &Price{Input: 100}

// greedy calls look with another text each time, until a task has had this many replies.
func greedy(replies int) script {
	return func(_ context.Context, req Request) (Response, error) {
		if n := replied(req); n < replies-1 {
			return want("look", fmt.Sprintf(`{"text":"%d"}`, n)), nil
		}
		return say("That is all."), nil
	}
}

// At each limit the owner is asked, and what they choose holds: more, for this task and as far as was said, or the end.
func TestLimitsAreAskedAbout(t *testing.T) {
	for _, tt := range []struct {
		name     string
		limits   Limits
		sentence string
		offer    string
		requests int // before the question
	}{
		{"steps", Limits{Steps: 3}, "My limit for one task is 3 steps; used so far: 3 steps.", "up to 6 steps", 3},
		{"minutes", Limits{Worked: 25 * time.Second}, "My limit for one task is 0.4 minutes; used so far: 0.5 minutes.", "up to 0.8 minutes", 3},
		{"tokens", Limits{Tokens: 1600}, "My limit for one task is 1,600 tokens; used so far: ", "up to 3,200 tokens", 0},
		{"usd_per_run", Limits{USD: 0.09}, "My limit for one task is $0.09; used so far: ", "up to $0.18", 0},
		{"steps_per_day", Limits{Day: DayLimits{Steps: 3}}, "Today's limit is 3 steps; used so far: 3 steps.", "until 6 steps are used in all", 3},
		{"minutes_per_day", Limits{Day: DayLimits{Worked: 25 * time.Second}}, "Today's limit is 0.4 minutes; used so far: 0.5 minutes.", "until 0.8 minutes are used in all", 3},
		{"tokens_per_day", Limits{Day: DayLimits{Tokens: 1600}}, "Today's limit is 1,600 tokens; used so far: ", "until 3,200 tokens are used in all", 0},
		{"usd_per_day", Limits{Day: DayLimits{USD: 0.09}}, "Today's limit is $0.09; used so far: ", "until $0.18 are used in all", 0},
		{"usd_per_day of a person", Limits{Person: DayLimits{USD: 0.09}}, "Me's limit for today is $0.09; used so far: ", "until $0.18 are used in all", 0},
	} {
		for _, choice := range []string{vault.ChooseMore, vault.ChooseStop, "nothing"} {
			t.Run(tt.name+" "+choice, func(t *testing.T) {
				inBubble(t, func(w *world) {
					m := record(slow(10*time.Second, greedy(12)))
					w.backends(Backend{Name: "home", Model: m, Price: &Price{Input: 50}, MaxTokens: 100})
					w.settings.Limits = tt.limits
					w.start()
					run := w.say("a long task")
					sleep(2 * time.Minute)
					q := w.openQuestion()
					before := m.count()
					if w.state(run) != vault.Waiting || tt.requests > 0 && before != tt.requests || before == 0 {
						t.Fatalf("it is %s after %d requests", w.state(run), before)
					}
					if q.Kind != "budget" || !strings.Contains(q.Question, tt.sentence) || !strings.Contains(q.Question, tt.offer) || !strings.Contains(q.Question, "May I go on with “a long task”?") {
						t.Errorf("asked: %q", q.Question)
					}
					w.restart() // the question outlives the program
					switch choice {
					case "nothing":
						w.must(expireAt(w, approvalLife))
					default:
						w.must(w.decide(q.ID, choice))
					}
					sleep(time.Minute)
					if choice == vault.ChooseMore {
						if m.count() == before {
							t.Error("nothing more was done")
						}
						return
					}
					if got := w.answer(run); w.state(run) != vault.Failed || m.count() != before || !strings.Contains(got, tt.sentence) {
						t.Errorf("it is %s after %d more requests: %q", w.state(run), m.count()-before, got)
					}
				})
			})
		}
	}
}

// A day's money: two answers fit under it, the third is asked about; until midnight of the household nothing else gets more
// than was answered, and then all begins again. A restart forgets nothing.
func TestBudgetOfADay(t *testing.T) {
	for _, choice := range []string{vault.ChooseMore, vault.ChooseToday, vault.ChooseStop} {
		t.Run(choice, func(t *testing.T) {
			inBubble(t, func(w *world) {
				dollar := Response{Text: "ok", In: 10_000} // and at the worst a few cents are reserved for it
				m := record(steps(dollar))
				w.backends(Backend{Name: "home", Model: m, Price: cents, MaxTokens: 10}, builtIn())
				w.settings.Zone = time.FixedZone("east", 5*3600)
				w.settings.Limits.Day.USD = 2.01
				w.start() // the bubble begins at midnight UTC, which is 05:00 here
				w.say("hello")
				if got := w.answer(w.say("the second")); got != "ok" {
					t.Fatalf("the second answer is %q", got)
				}
				third := w.say("the third")
				q := w.openQuestion()
				if w.state(third) != vault.Waiting || q.Person != w.me.ID || m.count() != 2 {
					t.Fatalf("the third is %s after %d requests", w.state(third), m.count())
				}
				if got := w.answer(w.hear(w.inGroup(w.me, "another"), w.me)); !strings.Contains(got, fmt.Sprintf("Question %d about it is still open", q.ID)) {
					t.Errorf("what comes meanwhile is told %q", got)
				}
				w.must(w.decide(q.ID, choice))
				w.restart()
				if got := w.answer(third); (got == "ok") != (choice != vault.ChooseStop) {
					t.Errorf("after the answer: %q", got)
				}
				fourth := w.hear(w.inbound(w.ben, "mine"), w.ben)
				switch choice {
				case vault.ChooseToday: // lifted for everybody
					if got := w.answer(fourth); got != "ok" {
						t.Errorf("of somebody else: %q", got)
					}
				case vault.ChooseMore: // for that task alone
					if q := w.openQuestion(); q.Run != fourth {
						t.Errorf("somebody else's is %s", w.state(fourth))
					}
				case vault.ChooseStop: // and it is not asked again
					if got := w.answer(fourth); !strings.Contains(got, "nothing goes beyond it today") {
						t.Errorf("of somebody else: %q", got)
					}
					if fifth := w.say("but I am the owner"); w.openQuestion().Run != fifth {
						t.Errorf("the owner's own is %s", w.state(fifth))
					}
				}
				sleep(19 * time.Hour)
				if got := w.answer(w.hear(w.inGroup(w.me, "on the next day"), w.me)); got != "ok" {
					t.Errorf("on the next day the answer is %q", got)
				}
			})
		})
	}
}

// hear accepts a message and waits until nothing moves any more.
func (w *world) hear(in vault.Inbound, from vault.Person) int64 {
	w.t.Helper()
	run := w.accept(in, from, 0)
	synctest.Wait()
	return run
}

// An edit of the YAML file ends what was granted for the old amount.
func TestANewLimitEndsWhatWasGranted(t *testing.T) {
	inBubble(t, func(w *world) {
		w.backends(Backend{Name: "home", Model: steps(say("ok")), Price: cents, MaxTokens: 10})
		w.settings.Limits.Day.Steps = 1
		w.start()
		w.say("one")
		w.say("two")
		w.must(w.decide(w.openQuestion().ID, vault.ChooseToday))
		w.settings.Limits.Day.Steps = 2
		w.brain.Configure(w.settings)
		run := w.say("three")
		if q := w.openQuestion(); q.Run != run || !strings.Contains(q.Question, "Today's limit is 2 steps; used so far: 2 steps.") {
			t.Errorf("asked: %q", q.Question)
		}
	})
}

// Each person has limits of their own: who has used theirs up is no trouble for others. Whoever is asked, it is an owner.
func TestTwoPeopleWithLimitsOfTheirOwn(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("ok")))
		w.backends(Backend{Name: "home", Model: m, Price: cents, MaxTokens: 10})
		w.settings.Limits.Person = DayLimits{Steps: 2}
		w.settings.LimitsOf = map[string]DayLimits{"Ben": {Steps: 1}}
		w.start()
		ben := func(text string) int64 {
			return w.hear(w.inbound(w.ben, text), w.ben)
		}
		if got := w.answer(ben("one")); got != "ok" {
			t.Errorf("Ben's first answer is %q", got)
		}
		second := ben("two")
		q := w.openQuestion()
		if q.Run != second || q.Person != w.me.ID || !strings.Contains(q.Question, "Ben's limit for today is 1 steps; used so far: 1 steps. May I go on with what Ben wrote to me?") {
			t.Errorf("asked of %d: %q", q.Person, q.Question)
		}
		if got := w.sent(second, vault.Status); len(got) != 1 || !strings.Contains(got[0], "I have asked the owner") {
			t.Errorf("Ben is told %q", got)
		}
		for range 2 {
			if got := w.answer(w.say("mine")); got != "ok" {
				t.Errorf("my answer is %q", got)
			}
		}
		w.must(w.decide(q.ID, vault.ChooseToday)) // Ben's alone
		if got := w.answer(second); got != "ok" {
			t.Errorf("Ben's second answer is %q", got)
		}
		third := w.say("my third")
		if q := w.openQuestion(); q.Run != third || !strings.Contains(q.Question, "Me's limit for today is 2 steps") {
			t.Errorf("asked: %q", q.Question)
		}
	})
}

// Several runs at a time stay under a limit together: what one may still take is reserved before the other is let go. When
// only that is in the way, the other waits, and nobody is asked.
func TestHardCapSideBySide(t *testing.T) {
	for _, dear := range []struct {
		name string
		more float64 // what a request takes beyond the worst case, as a part of it
	}{{"honest", 0}, {"a tokenizer that is worse than the worst", 0.5}} {
		t.Run(dear.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				var most, largest float64
				var at, peak atomic.Int32
				var mu sync.Mutex
				w.settings.Model = "home"
				model := script(func(ctx context.Context, req Request) (Response, error) {
					peak.Store(max(peak.Load(), at.Add(1)))
					defer at.Add(-1)
					if err := waitFor(ctx, 3*time.Second); err != nil {
						return Response{}, err
					}
					e := worst(vault.Progress{}, req, w.settings.Backends["home"], "step")
					r := greedyReply(req)
					r.In, r.Out = e.In+int(float64(e.In)*dear.more), e.Out
					mu.Lock()
					defer mu.Unlock()
					cost, _ := w.settings.Backends["home"].Cost(r)
					most, largest = most+cost, max(largest, cost)
					return r, nil
				})
				w.backends(Backend{Name: "home", Model: model, Price: &Price{Input: 1, Output: 10}, MaxTokens: 100, Parallel: 8})
				const limit = 0.1
				w.settings.Limits.Day.USD = limit
				w.start()
				for i := range 8 {
					w.accept(w.inGroupOf(fmt.Sprint(-100-i), w.me, "go"), w.me, 0)
				}
				synctest.Wait()
				sleep(10 * time.Minute)
				if most > limit+largest || most < limit-2*largest {
					t.Errorf("$%.4f were spent of $%.2f; a request takes up to $%.4f", most, limit, largest)
				}
				if dear.more == 0 && most > limit {
					t.Errorf("$%.4f were spent of $%.2f, though each took no more than was reserved", most, limit)
				}
				if peak.Load() < 4 {
					t.Errorf("only %d at a time", peak.Load())
				}
				if q := w.openQuestion(); q.Kind != "budget" {
					t.Errorf("asked: %+v", q)
				}
			})
		})
	}
}

// greedyReply never comes to an end by itself.
func greedyReply(req Request) Response {
	return want("look", fmt.Sprintf(`{"text":"%d"}`, replied(req)))
}

// inGroupOf is the next message of a person in some group.
func (w *world) inGroupOf(chat string, p vault.Person, text string) vault.Inbound {
	in := w.inGroup(p, text)
	in.Chat = chat
	return in
}

// With the budget used up a free model goes on, and its failure is no reason to spend.
func TestBudgetOnTheWayToAFallback(t *testing.T) {
	inBubble(t, func(w *world) {
		until := new(instant).set(time.Now())
		cloud := record(steps(say("cloud")))
		w.backends(Backend{Name: "home", Model: downUntil(until, Transient, steps(say("home"))), Price: &Price{}},
			Backend{Name: "cloud", Model: cloud, Price: cents, MaxTokens: 10}, Backend{Name: "unknown", Model: cloud})
		w.settings.Limits.Day.USD = 1
		w.start()
		until.set(time.Now().Add(time.Second))
		if got := w.answer(w.say("hello")); !strings.HasPrefix(got, "cloud\n") {
			t.Fatalf("the answer is of %s", got)
		}
		w.settings.Limits.Day.USD = 0.01
		w.brain.Configure(w.settings)
		sleep(restAfter)
		until.set(time.Now().Add(time.Hour))
		run := w.say("hello")
		sleep(10 * time.Second)
		if cloud.count() != 1 {
			t.Errorf("money was spent beyond the budget: %d requests", cloud.count())
		}
		until.set(time.Now())
		sleep(time.Minute)
		if got := w.answer(run); got != "home" {
			t.Errorf("the answer is of %s", got)
		}
	})
}

// Where nothing may be spent nobody is asked about it, whatever the price; what costs nothing goes on.
func TestNoMoneyAtAll(t *testing.T) {
	for _, price := range []*Price{cents, nil} {
		inBubble(t, func(w *world) {
			m := record(steps(say("ok")))
			w.backends(Backend{Name: "cloud", Model: m, Price: price}, Backend{Name: "home", Model: steps(say("home")), Price: &Price{}})
			w.settings.Limits.Day.USD = Nothing
			w.start()
			if got := w.answer(w.say("hello")); m.count() != 0 || !strings.Contains(got, "I may not spend money") {
				t.Errorf("%d requests: %q", m.count(), got)
			}
			w.settings.Model = "home"
			w.brain.Configure(w.settings)
			if got := w.answer(w.say("hello")); got != "home" {
				t.Errorf("the answer is %q", got)
			}
		})
	}
}

// What the built-in model understands is done at a limit too, and nobody is asked.
func TestALimitHoldsUpNoReminder(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("ok")))
		w.backends(Backend{Name: "cloud", Model: m, Price: cents}, builtIn())
		w.settings.Limits.Day.USD = 0.0001
		w.start()
		if got := w.answer(w.say("remind me to rest")); m.count() != 0 || !strings.HasPrefix(got, "Reminder 1: ") {
			t.Errorf("%d requests: %q", m.count(), got)
		}
	})
}
