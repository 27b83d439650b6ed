package brain

import (
	"context"
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
		if got := w.openQuestion(); w.state(run) != vault.Waiting || !strings.Contains(got.Question, "My limit for one task is 0.4 minutes; used so far: 0.5 minutes.") {
			t.Errorf("the lives of a run are not added up: %q", got.Question)
		}
	})
}
