package brain

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
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

// instant is a moment that a test moves while a model looks at it.
type instant struct{ nanos atomic.Int64 }

func (i *instant) set(t time.Time) *instant { i.nanos.Store(t.UnixNano()); return i }
func (i *instant) get() time.Time           { return time.Unix(0, i.nanos.Load()) }

// downUntil fails until an instant, then answers.
func downUntil(until *instant, kind FaultKind, m script) script {
	return func(ctx context.Context, req Request) (Response, error) {
		if time.Now().Before(until.get()) {
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
		until := new(instant).set(time.Now().Add(30 * time.Second))
		m := record(downUntil(until, Transient, steps(say("Wide awake."))))
		w.backends(Backend{Name: "home", Model: m}, builtIn())
		w.start()
		run := w.say("are you awake?")
		sleep(5 * time.Second)
		if got := w.sent(run, vault.Status); len(got) != 1 || got[0] != "The model server says no. I keep trying." {
			t.Errorf("after five seconds told %q", got)
		}
		sleep(25*time.Second + longestRetry*5/4)
		if got := w.answer(run); got != "Wide awake." || len(w.sent(run, vault.Status)) > 1 {
			t.Errorf("the answer is %q, the notices %q", got, w.sent(run, vault.Status))
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
		until := new(instant).set(time.Now().Add(20 * time.Second))
		m := record(func(context.Context, Request) (Response, error) {
			if time.Now().Before(until.get()) {
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
		if got := w.answer(run); got != "Shipped.\n\n(Answered by the model spare, because home could not.)" || len(w.tools.acted) != 1 || w.tools.count("note") != 1 {
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
		eager := builtIn() // it would do it all over again
		eager.Model = script(func(context.Context, Request) (Response, error) { return want("remind", `{"text":"hens"}`), nil })
		w.backends(Backend{Name: "home", Model: m}, eager)
		w.start()
		got := w.answer(w.say("remind me to feed the hens and then think"))
		if !strings.HasPrefix(got, "The model server says no.") || !strings.Contains(got, "Reminder 1: ") {
			t.Errorf("the answer is %q", got)
		}
		if n := w.tools.count("remind"); n != 1 {
			t.Errorf("it was done %d times", n)
		}
	})
}

// A fallback that can never answer does not end the wait for a model that comes back.
func TestABrokenFallbackDoesNotEndTheWait(t *testing.T) {
	inBubble(t, func(w *world) {
		until := new(instant).set(time.Now().Add(10 * time.Second))
		cloud := record(func(context.Context, Request) (Response, error) { return Response{}, fault(Permanent) })
		w.backends(Backend{Name: "home", Model: downUntil(until, Transient, steps(say("Back.")))}, Backend{Name: "cloud", Model: cloud})
		w.start()
		run := w.say("hello")
		sleep(10*time.Second + longestRetry*5/4)
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
		if got := w.answer(w.say("hello")); !strings.HasPrefix(got, "Hello.\n") || home.count() != 1+maxResamples {
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
