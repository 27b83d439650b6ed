package brain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

// backends makes them the ones in use, the first one first.
func (w *world) backends(list ...Backend) {
	w.settings.Backends, w.settings.Fallback = map[string]Backend{}, nil
	w.settings.Model = list[0].Name
	for i, b := range list {
		w.settings.Backends[b.Name] = b
		if i > 0 && !b.Offline {
			w.settings.Fallback = append(w.settings.Fallback, b.Name)
		}
	}
}

// builtIn stands for the built-in model: it takes a reminder and nothing else.
func builtIn() Backend {
	return Backend{Name: OfflineName, Offline: true, Model: script(func(_ context.Context, req Request) (Response, error) {
		if n := len(results(req)); n > 0 {
			return Response{}, nil
		}
		if text, ok := strings.CutPrefix(strings.Join(req.Words, " "), "remind me "); ok {
			return want("remind", fmt.Sprintf(`{"text":%q}`, text)), nil
		}
		return say("I can do reminders."), nil
	})}
}

// downUntil fails until an instant, then answers.
func downUntil(until *time.Time, kind FaultKind, m script) script {
	return func(ctx context.Context, req Request) (Response, error) {
		if time.Now().Before(*until) {
			return Response{}, fault(kind)
		}
		return m(ctx, req)
	}
}

func TestLOOP19ARefusalIsToldOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(func(context.Context, Request) (Response, error) { return Response{}, fault(Permanent) })
		w.backends(Backend{Name: "home", Model: m}, builtIn())
		w.start()
		run := w.say("pay up")
		sleep(time.Hour)
		if m.count() > 3 {
			t.Errorf("%d requests against a refusal", m.count())
		}
		if got := w.answer(run); !strings.HasPrefix(got, "The model server says no.") || len(w.sent(run, vault.Notice)) != 0 {
			t.Errorf("told %q and %q", got, w.sent(run, vault.Notice))
		}
		if p := w.progress(run); p.Run.State != vault.Failed || !strings.Contains(p.Run.Reason, "permanent") {
			t.Errorf("it is %s: %s", p.Run.State, p.Run.Reason)
		}
		// Reminders work all the same.
		if got := w.answer(w.say("remind me to pay")); !strings.HasPrefix(got, "Reminder 1: ") {
			t.Errorf("a reminder is answered %q", got)
		}
	})
}

func TestAnOutageOfHalfAMinute(t *testing.T) {
	inBubble(t, func(w *world) {
		until := time.Now().Add(30 * time.Second)
		m := record(downUntil(&until, Transient, steps(say("Wide awake."))))
		w.backends(Backend{Name: "home", Model: m}, builtIn())
		w.start()
		run := w.say("are you awake?")
		sleep(5 * time.Second)
		if got := w.sent(run, vault.Notice); len(got) != 1 || got[0] != "The model server says no. I keep trying." {
			t.Errorf("after five seconds told %q", got)
		}
		sleep(40 * time.Second)
		if got := w.answer(run); got != "Wide awake." || len(w.sent(run, vault.Notice)) != 1 {
			t.Errorf("the answer is %q, the notices %q", got, w.sent(run, vault.Notice))
		}
		if m.count() > 10 {
			t.Errorf("%d requests in half a minute", m.count())
		}
		if p := w.progress(run); p.Run.Steps != 1 || p.Run.State != vault.Done {
			t.Errorf("%d steps, %s", p.Run.Steps, p.Run.State)
		}
	})
}

func TestALongOutage(t *testing.T) {
	for _, tt := range []struct{ words, want string }{
		{"are you awake?", "The model server says no. Ask me again later"},
		{"remind me to sleep", "Reminder 1: "},
	} {
		inBubble(t, func(w *world) {
			m := record(func(context.Context, Request) (Response, error) { return Response{}, fault(Transient) })
			w.backends(Backend{Name: "home", Model: m}, builtIn())
			w.start()
			run := w.say(tt.words)
			sleep(maxOutage - time.Second)
			if s := w.state(run); s != vault.Running {
				t.Errorf("%q: before the time is over it is %s", tt.words, s)
			}
			sleep(longestRetry*5/4 + time.Second)
			if got := w.answer(run); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%q: the answer is %q", tt.words, got)
			}
			if n := m.count(); n > 12 {
				t.Errorf("%q: %d requests", tt.words, n)
			}
		})
	}
}

// A server that says when to come back is not asked before.
func TestAServerThatAsksToWait(t *testing.T) {
	inBubble(t, func(w *world) {
		until := time.Now().Add(20 * time.Second)
		m := record(func(context.Context, Request) (Response, error) {
			if time.Now().Before(until) {
				return Response{}, &ModelError{Kind: Transient, Human: "It is busy.", After: 20 * time.Second, Err: errDead}
			}
			return say("Now."), nil
		})
		w.backends(Backend{Name: "home", Model: m})
		w.start()
		run := w.say("hello")
		sleep(25 * time.Second)
		if got := w.answer(run); got != "Now." || m.count() != 2 {
			t.Errorf("%q after %d requests", got, m.count())
		}
	})
}

// DUR-05: the fallback goes on from the step the first model failed at, and nothing that is done is done again.
func TestDUR05TheFallbackGoesOn(t *testing.T) {
	inBubble(t, func(w *world) {
		script := []Response{want("note", `{"text":"plan"}`), want("act", `{"text":"parcel"}`)}
		home := record(func(ctx context.Context, req Request) (Response, error) {
			if replied(req) < 2 {
				return steps(script...)(ctx, req)
			}
			return Response{}, fault(Transient)
		})
		spare := record(steps(append(script, say("Shipped."))...))
		w.backends(Backend{Name: "home", Model: home}, Backend{Name: "spare", Model: spare}, builtIn())
		w.start()
		run := w.say("ship the parcel")
		if got := w.answer(run); got != "Shipped." || len(w.tools.acted) != 1 || w.tools.count("note") != 1 {
			t.Errorf("it answers %q, acted %d times", got, len(w.tools.acted))
		}
		if n := len(results(spare.requests[0])); n != 2 || spare.count() != 1 {
			t.Errorf("the fallback was asked %d times and shown %d results", spare.count(), n)
		}
		p := w.progress(run)
		if got := []string{p.Steps[0].Model, p.Steps[1].Model, p.Steps[2].Model}; cmp.Diff([]string{"home", "home", "spare"}, got) != "" {
			t.Errorf("the steps are of %q", got)
		}
		// It is not asked at once for the next message, and asked again when it has rested.
		asked := home.count()
		w.say("and now?")
		if home.count() != asked {
			t.Error("a server that has just failed is asked first again")
		}
		sleep(restAfter)
		w.say("and now?")
		if home.count() == asked {
			t.Error("a server that has rested is not asked again")
		}
	})
}

// DUR-05: what the model began and the last resort cannot go on with is told, with what is done.
func TestDUR05NobodyGoesOn(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(func(_ context.Context, req Request) (Response, error) {
			if replied(req) == 0 {
				return want("remind", `{"text":"hens"}`), nil
			}
			return Response{}, fault(Permanent)
		})
		w.backends(Backend{Name: "home", Model: m}, builtIn())
		w.start()
		got := w.answer(w.say("remind me to feed the hens and then think"))
		if !strings.HasPrefix(got, "The model server says no.") || !strings.Contains(got, "Reminder 1: ") {
			t.Errorf("the answer is %q", got)
		}
	})
}

// A fallback that can never answer does not end the wait for a model that comes back.
func TestABrokenFallbackDoesNotEndTheWait(t *testing.T) {
	inBubble(t, func(w *world) {
		until := time.Now().Add(10 * time.Second)
		cloud := record(func(context.Context, Request) (Response, error) { return Response{}, fault(Permanent) })
		w.backends(Backend{Name: "home", Model: downUntil(&until, Transient, steps(say("Back.")))}, Backend{Name: "cloud", Model: cloud})
		w.start()
		run := w.say("hello")
		sleep(30 * time.Second)
		if got := w.answer(run); got != "Back." {
			t.Errorf("the answer is %q", got)
		}
		if cloud.count() > 3 {
			t.Errorf("the fallback that refused was asked %d times", cloud.count())
		}
	})
}

// A fallback may read what the first model could not even answer badly.
func TestAFallbackForBadReplies(t *testing.T) {
	inBubble(t, func(w *world) {
		home := record(func(context.Context, Request) (Response, error) { return Response{}, fault(BadReply) })
		w.backends(Backend{Name: "home", Model: home}, Backend{Name: "spare", Model: steps(say("Hello."))})
		w.start()
		if got := w.answer(w.say("hello")); got != "Hello." || home.count() != 1+maxResamples {
			t.Errorf("%q after %d requests", got, home.count())
		}
	})
}

func TestTooLongIsSqueezed(t *testing.T) {
	inBubble(t, func(w *world) {
		limit := 1 << 30
		m := record(func(_ context.Context, req Request) (Response, error) {
			if size(req.Messages) > limit {
				return Response{}, fault(TooLong)
			}
			return say("ok"), nil
		})
		w.use(m)
		w.start()
		for i := range 10 {
			w.say(fmt.Sprintf("message %d: %s", i, strings.Repeat("words ", 300)))
		}
		limit = size(m.last().Messages) / 2
		asked := m.count()
		if got := w.answer(w.say("short")); got != "ok" {
			t.Errorf("the answer is %q", got)
		}
		if n := m.count() - asked; n < 2 || n > maxSqueeze+1 {
			t.Errorf("%d requests", n)
		}
		limit = 10
		asked = m.count()
		run := w.say("short")
		sleep(time.Minute)
		if got := w.answer(run); !strings.HasPrefix(got, "The model server says no.") || m.count()-asked != maxSqueeze+1 {
			t.Errorf("the answer is %q after %d requests", got, m.count()-asked)
		}
	})
}

// A model chosen in the chat, and one of a new YAML file, are used from the next step on.
func TestModelsAreSwappedAtTheNextStep(t *testing.T) {
	for _, tt := range []struct {
		name string
		swap func(w *world)
		want []string
	}{
		{"in the chat", func(w *world) {
			w.must(w.vault.Do(w.t.Context(), "model", func(tx *vault.Tx) error {
				if err := tx.Set(SettingModelOver, "home"); err != nil {
					return err
				}
				return tx.Set(SettingModel, "spare")
			}))
		}, []string{"home", "spare"}},
		{"over another YAML value", func(w *world) {
			w.must(w.vault.Do(w.t.Context(), "model", func(tx *vault.Tx) error {
				if err := tx.Set(SettingModelOver, "some other"); err != nil {
					return err
				}
				return tx.Set(SettingModel, "spare")
			}))
		}, []string{"home", "home"}},
		{"to one that is gone", func(w *world) {
			w.must(w.vault.Do(w.t.Context(), "model", func(tx *vault.Tx) error {
				if err := tx.Set(SettingModelOver, "home"); err != nil {
					return err
				}
				return tx.Set(SettingModel, "gone")
			}))
		}, []string{"home", "home"}},
		{"by the file", func(w *world) {
			s := w.settings
			s.Model = "spare"
			w.brain.Configure(s)
		}, []string{"home", "spare"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				reply := slow(2*time.Second, steps(want("look", `{"text":"x"}`), say("ok")))
				w.backends(Backend{Name: "home", Model: reply}, Backend{Name: "spare", Model: reply})
				w.start()
				run := w.say("hello")
				sleep(time.Second)
				tt.swap(w)
				sleep(10 * time.Second)
				var got []string
				for _, s := range w.progress(run).Steps {
					got = append(got, s.Model)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("the steps are of %s", diff)
				}
				names, inUse, err := w.brain.Models(w.t.Context())
				w.must(err)
				if inUse != tt.want[1] || len(names) != 2 {
					t.Errorf("in use is %s of %q", inUse, names)
				}
			})
		})
	}
}

// A server that failed is asked at once when the settings have changed: the change may have mended it.
func TestNewSettingsWakeARestingModel(t *testing.T) {
	inBubble(t, func(w *world) {
		broken := true
		home := script(func(context.Context, Request) (Response, error) {
			if broken {
				return Response{}, fault(Permanent)
			}
			return say("home"), nil
		})
		w.backends(Backend{Name: "home", Model: home}, Backend{Name: "spare", Model: steps(say("spare"))})
		w.start()
		if got := w.answer(w.say("hello")); got != "spare" {
			t.Errorf("the first answer is of %s", got)
		}
		broken = false
		w.brain.Configure(w.settings)
		if got := w.answer(w.say("hello")); got != "home" {
			t.Errorf("the second answer is of %s", got)
		}
	})
}

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
		until := time.Now()
		cloud := record(steps(say("cloud")))
		w.backends(Backend{Name: "home", Model: downUntil(&until, Transient, steps(say("home"))), Price: &Price{}},
			Backend{Name: "cloud", Model: cloud, Price: &Price{Input: 100}}, Backend{Name: "unknown", Model: cloud})
		w.settings.Limits.USDPerDay = 0.01
		w.start()
		until = time.Now().Add(time.Second)
		if got := w.answer(w.say("hello")); got != "cloud" {
			t.Fatalf("the answer is of %s", got)
		}
		sleep(restAfter)
		until = time.Now().Add(time.Hour)
		run := w.say("hello")
		sleep(10 * time.Second)
		if cloud.count() != 1 {
			t.Errorf("money was spent beyond the budget: %d requests", cloud.count())
		}
		until = time.Now()
		sleep(time.Minute)
		if got := w.answer(run); got != "home" {
			t.Errorf("the answer is of %s", got)
		}
	})
}

// With nothing configured there is the built-in model.
func TestSettingsWithNothingInThem(t *testing.T) {
	inBubble(t, func(w *world) {
		w.settings.Backends = map[string]Backend{OfflineName: builtIn()}
		w.start()
		names, inUse, err := w.brain.Models(w.t.Context())
		w.must(err)
		if inUse != OfflineName || len(names) != 1 {
			t.Errorf("in use is %s of %q", inUse, names)
		}
		if got := w.answer(w.say("remind me to rest")); !strings.HasPrefix(got, "Reminder 1: ") {
			t.Errorf("the answer is %q", got)
		}
		if got := w.answer(w.say("sing")); got != "I can do reminders." {
			t.Errorf("the answer is %q", got)
		}
	})
}

// A model that is not there is said so.
func TestAModelThatIsNotConfigured(t *testing.T) {
	inBubble(t, func(w *world) {
		w.settings.Model, w.settings.Backends = "gone", map[string]Backend{}
		w.start()
		if got := w.answer(w.say("hello")); !strings.Contains(got, `"gone" is not configured`) {
			t.Errorf("the answer is %q", got)
		}
	})
}

// A place at a backend is given back whatever happens, and a changed number of places holds at once.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slots
		ctx, cancel := context.WithCancelCause(t.Context())
		b := Backend{Name: "home", Parallel: 1}
		release, err := s.take(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		go func() {
			_, err := s.take(ctx, b)
			got <- err
		}()
		synctest.Wait()
		select {
		case err := <-got:
			t.Fatalf("a second place was given: %v", err)
		default:
		}
		cancel(errStopped)
		if err := <-got; err != errStopped {
			t.Errorf("waiting ends with %v", err)
		}
		b.Parallel = 2
		for range 2 {
			if _, err := s.take(t.Context(), b); err != nil {
				t.Error(err)
			}
		}
		release()
		zero := Backend{Name: "zero"}
		if _, err := s.take(t.Context(), zero); err != nil {
			t.Error(err)
		}
	})
}
