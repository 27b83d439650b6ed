package brain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

// away is a world whose model at home is down, with one in the cloud behind it.
func away(w *world, mode CloudFallback, kind FaultKind) (home, cloud *recorder) {
	home = record(func(context.Context, Request) (Response, error) { return Response{}, fault(kind) })
	cloud = record(steps(say("From afar.")))
	w.backends(Backend{Name: "home", Model: home, Local: true, Price: &Price{}}, Backend{Name: "cloud", Model: cloud}, builtIn())
	w.settings.CloudFallback = mode
	w.start()
	return home, cloud
}

const fromAfar = "From afar.\n\n(Answered by the model cloud, because home could not.)"

// Without leave nothing of a run that began at home is shown to a model that is not there.
func TestTheCloudNeedsLeave(t *testing.T) {
	for _, tt := range []struct {
		mode  CloudFallback
		kind  FaultKind
		asked bool // the owner
		cloud int  // requests
	}{
		{CloudNever, Transient, false, 0},
		{CloudNever, Permanent, false, 0},
		{CloudNever, BadReply, false, 0},
		{CloudNever, TooLong, false, 0},
		{CloudAllow, Transient, false, 1},
		{CloudAllow, Permanent, false, 1},
		{CloudAllow, BadReply, false, 1},
		{CloudAllow, TooLong, false, 1},
		{CloudAsk, Transient, true, 0},
		{CloudAsk, Permanent, true, 0},
		{CloudAsk, BadReply, true, 0},
		{CloudAsk, TooLong, true, 0},
		{"", Transient, true, 0},
	} {
		t.Run(fmt.Sprintf("%s %s", tt.mode, tt.kind), func(t *testing.T) {
			inBubble(t, func(w *world) {
				_, cloud := away(w, tt.mode, tt.kind)
				run := w.say("a private thing")
				sleep(2 * time.Minute)
				if cloud.count() != tt.cloud {
					t.Errorf("the cloud was asked %d times", cloud.count())
				}
				if asked := w.sent(run, vault.Asks); len(asked) == 1 != tt.asked {
					t.Fatalf("the questions are %q", asked)
				}
				switch {
				case tt.asked:
					if s := w.state(run); s != vault.Waiting {
						t.Errorf("the run is %s", s)
					}
				case tt.cloud > 0:
					if got := w.answer(run); got != fromAfar {
						t.Errorf("the answer is %q", got)
					}
				default:
					if got := w.answer(run); !strings.HasPrefix(got, "The model server says no.") || w.state(run) != vault.Failed {
						t.Errorf("the answer is %q", got)
					}
				}
			})
		})
	}
}

func TestWhatTheOwnerAnswersAboutTheCloud(t *testing.T) {
	for _, choice := range []string{"yes", "always", "no", "nothing"} {
		t.Run(choice, func(t *testing.T) {
			inBubble(t, func(w *world) {
				home, cloud := away(w, CloudAsk, Transient)
				run := w.say("first")
				sleep(30 * time.Second)
				q := w.openQuestion()
				if q.Kind != "cloud" || q.Tool != "cloud_fallback" || q.Arguments != `{"model":"cloud"}` || len(q.Choices) != 3 || !strings.Contains(q.Question, "the model cloud, which is not in your house") {
					t.Errorf("asked: %+v", q)
				}
				if got := w.sent(run, vault.Asks)[0]; !strings.Contains(got, "/answer 1 and one of: yes, always, no") {
					t.Errorf("asked: %q", got)
				}
				w.restart() // the question outlives the program
				if choice == "nothing" {
					w.must(expireAt(w, cloudLife))
				} else {
					w.must(w.decide(q.ID, choice))
				}
				sleep(2 * time.Minute)
				allowed := choice == "yes" || choice == "always"
				if got := w.answer(run); (got == fromAfar) != allowed || cloud.count() > 0 != allowed {
					t.Errorf("the answer is %q, and the cloud was asked %d times", got, cloud.count())
				}
				before := home.count()
				run = w.say("second")
				sleep(2 * time.Minute)
				if home.count() == before {
					t.Error("the model at home is not tried first")
				}
				if again := len(w.sent(run, vault.Asks)) == 1; again != (choice != "always") {
					t.Errorf("asked again: %v", again)
				}
				if choice == "always" {
					if got := w.answer(run); got != fromAfar {
						t.Errorf("the second answer is %q", got)
					}
				}
			})
		})
	}
}

func expireAt(w *world, after time.Duration) error {
	sleep(after)
	_, err := w.vault.ExpireApprovals(w.t.Context())
	synctest.Wait()
	return err
}

// A member's run asks the owner, and the member is told.
func TestAMembersRunAsksTheOwner(t *testing.T) {
	inBubble(t, func(w *world) {
		_, cloud := away(w, CloudAsk, Permanent)
		run := w.accept(w.inbound(w.ben, "hello"), w.ben, 0)
		sleep(time.Minute)
		if q := w.openQuestion(); q.Person != w.me.ID {
			t.Errorf("person %d is asked", q.Person)
		}
		if got := w.sent(run, vault.Status); len(got) != 1 || !strings.Contains(got[0], "I have asked the owner") {
			t.Errorf("the member is told %q", got)
		}
		w.must(w.decide(w.openQuestion().ID, "always"))
		if got := w.answer(run); got != fromAfar {
			t.Errorf("the answer is %q", got)
		}
		mine := w.say("and mine?") // always was said of Ben's runs
		sleep(time.Minute)
		if cloud.count() != 1 || w.state(mine) != vault.Waiting {
			t.Errorf("the cloud was asked %d times, my run is %s", cloud.count(), w.state(mine))
		}
	})
}

// One open question about it is enough for a conversation, and what the built-in model understands needs none.
func TestTheCloudIsAskedAboutOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		away(w, CloudAsk, Permanent)
		first := w.say("first")
		second := w.say("second")
		sleep(2 * time.Minute)
		if got := w.answer(second); !strings.Contains(got, "Question 1, whether I may use a model outside the house, is still open.") {
			t.Errorf("the second answer is %q", got)
		}
		if got := w.answer(w.say("remind me to rest")); !strings.HasPrefix(got, "Reminder 1: ") {
			t.Errorf("a reminder is answered %q", got)
		}
		w.must(w.decide(w.openQuestion().ID, "yes"))
		if got := w.answer(first); got != fromAfar {
			t.Errorf("the first answer is %q", got)
		}
	})
}

// When the model at home comes back before anybody is asked, nobody is.
func TestAShortOutageAsksNobody(t *testing.T) {
	inBubble(t, func(w *world) {
		until := new(instant).set(time.Now().Add(2 * time.Second))
		cloud := record(steps(say("From afar.")))
		w.backends(Backend{Name: "home", Model: downUntil(until, Transient, steps(say("Home."))), Local: true}, Backend{Name: "cloud", Model: cloud})
		w.start()
		run := w.say("hello")
		sleep(time.Minute)
		if got := w.answer(run); got != "Home." || cloud.count() != 0 || len(w.sent(run, vault.Asks)) != 0 {
			t.Errorf("the answer is %q", got)
		}
	})
}

// A model that a person chose is theirs to choose, wherever it is; and at home another one may always help.
func TestWhatNeedsNoLeave(t *testing.T) {
	inBubble(t, func(w *world) {
		down := script(func(context.Context, Request) (Response, error) { return Response{}, fault(Permanent) })
		w.backends(Backend{Name: "cloud", Model: down}, Backend{Name: "other", Model: steps(say("Other."))})
		w.settings.CloudFallback = CloudNever
		w.start()
		if got := w.answer(w.say("hello")); !strings.HasPrefix(got, "Other.") {
			t.Errorf("from cloud to cloud: %q", got)
		}
		w.backends(Backend{Name: "home", Model: down, Local: true}, Backend{Name: "cloud", Model: down}, Backend{Name: "nas", Model: steps(say("Nas.")), Local: true})
		w.brain.Configure(w.settings)
		if got := w.answer(w.say("hello")); !strings.HasPrefix(got, "Nas.") {
			t.Errorf("from home to home: %q", got)
		}
	})
}

// What works without a model is said once in an outage, not below every answer.
func TestWhatWorksWithoutAModelIsSaidOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		broken := true
		w.backends(Backend{Name: "home", Model: script(func(context.Context, Request) (Response, error) {
			if broken {
				return Response{}, fault(Permanent)
			}
			return say("Well again."), nil
		})}, builtIn())
		w.start()
		const tail = "reminders, memory and lists work all the same"
		for i, want := range []bool{true, false, false} {
			if got := w.answer(w.say("hello")); strings.Contains(got, tail) != want || !strings.HasPrefix(got, "The model server says no.") {
				t.Errorf("answer %d is %q", i, got)
			}
		}
		broken = false
		if got := w.answer(w.say("hello")); got != "Well again." {
			t.Errorf("the answer is %q", got)
		}
		broken = true
		if got := w.answer(w.say("hello")); !strings.Contains(got, tail) {
			t.Errorf("in the next outage: %q", got)
		}
	})
}

// A backend that fails each time it is tried rests longer, but not for ever, and one that has answered starts afresh.
func TestRestsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r resting
		chain := []Backend{{Name: "a"}, {Name: "b"}}
		rests := func() time.Duration {
			began := time.Now()
			for r.awake(chain)[0].Name != "a" {
				<-time.After(time.Second)
			}
			return time.Since(began)
		}
		for i, want := range []time.Duration{20, 40, 80, 160, 300, 300} {
			r.rest("a", fault(Transient))
			r.rest("a", fault(Transient)) // at the same time, for another run
			if got := rests(); got != want*time.Second {
				t.Errorf("rest %d takes %v", i, got)
			}
		}
		r.well("a")
		r.rest("a", &ModelError{Kind: Transient, After: 2 * time.Minute})
		if got := rests(); got != 2*time.Minute {
			t.Errorf("one that asks to wait rests %v", got)
		}
		r.well("a")
		r.rest("a", &ModelError{Kind: Transient, After: 1000 * time.Hour})
		if got := rests(); got != longestWait {
			t.Errorf("one that asks to wait too long rests %v", got)
		}
	})
}

// A fallback gets a prompt of its own size, and the history of the model in use does not begin later because of it.
func TestAFallbackGetsItsOwnPrompt(t *testing.T) {
	inBubble(t, func(w *world) {
		broken := false
		home := record(func(context.Context, Request) (Response, error) {
			if broken {
				return Response{}, fault(Transient)
			}
			return say("ok"), nil
		})
		small := record(steps(say("ok")))
		w.backends(Backend{Name: "home", Model: home, Context: 32768}, Backend{Name: "small", Model: small, Context: 4096})
		w.start()
		for i := range 30 {
			w.say(fmt.Sprintf("message %d: %s", i, strings.Repeat("words ", 60)))
		}
		broken = true
		w.say("now the small one")
		if got := size(small.last().Messages) + fixedSize(small.last()); got > (4096-1024)*charsPerToken {
			t.Errorf("the small model gets %d characters", got)
		}
		broken = false
		sleep(restAfter)
		w.say("and back")
		if n := len(home.last().Messages); n < 60 {
			t.Errorf("the large one gets %d messages", n)
		}
	})
}
