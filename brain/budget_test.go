package brain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

func TestUsageAndCost(t *testing.T) {
	priced := &Price{Input: 1, Output: 10}
	for _, tt := range []struct {
		name          string
		first, second *Price
		usd           float64
		known         bool
	}{
		{"priced", priced, priced, 2 * (100*1 + 10*10) / 1e6, true},
		{"free", &Price{}, &Price{}, 0, true},
		{"unknown is not zero", nil, nil, 0, false},
		{"one unknown step", priced, nil, 0, false},
		{"unknown first", nil, priced, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				home := func(_ context.Context, req Request) (Response, error) {
					if replied(req) == 0 {
						return want("look", `{"text":"x"}`), nil
					}
					return Response{}, fault(Transient)
				}
				w.backends(Backend{Name: "home", Model: script(home), Price: tt.first}, Backend{Name: "spare", Model: steps(say("ok")), Price: tt.second})
				w.start()
				run := w.say("hello")
				p := w.progress(run).Run
				if p.TokensIn != 200 || p.TokensOut != 20 || p.Steps != 2 || p.Calls != 1 || p.Model != "spare" {
					t.Errorf("booked: %d in, %d out, %d steps, %d calls, %s", p.TokensIn, p.TokensOut, p.Steps, p.Calls, p.Model)
				}
				if p.USDKnown != tt.known || diffUSD(p.USD, tt.usd) {
					t.Errorf("the price is %v, known %v; want %v, known %v", p.USD, p.USDKnown, tt.usd, tt.known)
				}
			})
		})
	}
}

func diffUSD(a, b float64) bool { return a-b > 1e-12 || b-a > 1e-12 }

func TestLimitsAreTold(t *testing.T) {
	for _, tt := range []struct {
		name     string
		limits   Limits
		reason   string
		words    string
		requests int
	}{
		{"steps", Limits{Steps: 3}, "step limit", "took 3 steps", 3},
		{"tokens", Limits{Tokens: 300}, "token limit", "used 330 tokens", 3},
		{"time", Limits{Worked: 25 * time.Second}, "time limit", "worked on this for 30s", 3},
		{"money", Limits{USDPerDay: 0.0005}, "budget", "budget of $0.00 is used up", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				n := 0
				m := record(slow(10*time.Second, func(context.Context, Request) (Response, error) {
					n++
					return want("look", fmt.Sprintf(`{"text":"%d"}`, n)), nil
				}))
				w.backends(Backend{Name: "home", Model: m, Price: &Price{Input: 1, Output: 10}})
				w.settings.Limits = tt.limits
				w.start()
				run := w.say("hello")
				sleep(5 * time.Minute)
				if got := w.answer(run); !strings.Contains(got, tt.words) {
					t.Errorf("the answer is %q", got)
				}
				if p := w.progress(run).Run; p.State != vault.Failed || p.Reason != tt.reason || m.count() != tt.requests {
					t.Errorf("it is %s (%s) after %d requests", p.State, p.Reason, m.count())
				}
			})
		})
	}
}

// The time a run has worked counts over its lives, waiting for a person and a clock that jumps do not.
func TestTimeWorked(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(slow(10*time.Second, steps(want("look", `{"text":"1"}`), want("send", `{"text":"2"}`), want("look", `{"text":"3"}`), say("ok"))))
		w.use(m)
		w.settings.Limits.Worked = 25 * time.Second
		w.start()
		run := w.say("hello")
		sleep(5 * time.Second)
		w.skew.Store(int64(3 * time.Hour))
		sleep(16 * time.Second)
		if w.state(run) != vault.Waiting {
			t.Fatalf("the run is %s: %v", w.state(run), w.sent(run, vault.Answer))
		}
	})
	inBubble(t, func(w *world) {
		w.use(slow(10*time.Second, steps(want("look", `{"text":"1"}`), want("send", `{"text":"2"}`), want("look", `{"text":"3"}`), say("ok"))))
		w.settings.Limits.Worked = 25 * time.Second
		w.start()
		run := w.say("hello")
		sleep(time.Hour)
		w.must(w.decide(w.openQuestion().ID, vault.ChooseApprove))
		sleep(5 * time.Second)
		if w.state(run) != vault.Running {
			t.Errorf("waiting counted: %q", w.sent(run, vault.Answer))
		}
		sleep(15 * time.Second)
		if got := w.progress(run).Run.Reason; got != "time limit" {
			t.Errorf("the lives of a run are not added up: %q", got)
		}
	})
}

// The budget is the household's day, in its zone, over all runs.
func TestBudgetOfADay(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("ok")))
		w.backends(Backend{Name: "home", Model: m, Price: &Price{Input: 100}})
		w.settings.Limits.USDPerDay = 0.02 // two answers
		w.settings.Zone = time.FixedZone("east", 5*3600)
		w.start() // the bubble begins at midnight UTC, which is 05:00 here
		for range 2 {
			if got := w.answer(w.say("hello")); got != "ok" {
				t.Errorf("the answer is %q", got)
			}
		}
		for _, later := range []time.Duration{0, 19*time.Hour - time.Minute} {
			sleep(later)
			if got := w.answer(w.say("hello")); !strings.Contains(got, "budget of $0.02") {
				t.Errorf("after %s the answer is %q", later, got)
			}
		}
		sleep(time.Minute)
		if got := w.answer(w.say("hello")); got != "ok" {
			t.Errorf("on the next day the answer is %q", got)
		}
	})
}

// With the budget used up a free model goes on, and its failure is no reason to spend.
func TestBudgetOnTheWayToAFallback(t *testing.T) {
	inBubble(t, func(w *world) {
		until := new(instant).set(time.Now())
		cloud := record(steps(say("cloud")))
		w.backends(Backend{Name: "home", Model: downUntil(until, Transient, steps(say("home"))), Price: &Price{}},
			Backend{Name: "cloud", Model: cloud, Price: &Price{Input: 100}}, Backend{Name: "unknown", Model: cloud})
		w.settings.Limits.USDPerDay = 0.01
		w.start()
		until.set(time.Now().Add(time.Second))
		if got := w.answer(w.say("hello")); !strings.HasPrefix(got, "cloud\n") {
			t.Fatalf("the answer is of %s", got)
		}
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
