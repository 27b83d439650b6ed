package brain

import (
	"context"
	"strings"
	"testing"
	"time"

	"hearth/vault"
)

// refusing is a model whose server refuses the key until it is told otherwise.
func refusing(closed *bool, then script) *recorder {
	return record(func(ctx context.Context, req Request) (Response, error) {
		if *closed {
			return Response{}, &ModelError{Kind: Permanent, Shut: true, Human: "The server does not accept the key.", Err: fault(Permanent)}
		}
		return then(ctx, req)
	})
}

// notices are the texts that an owner was told beside any run.
func (w *world) notices() []string {
	w.t.Helper()
	parts, err := w.vault.Parts(w.t.Context(), false, 1000)
	w.must(err)
	var out []string
	for _, p := range parts {
		if p.Class == vault.Notice {
			out = append(out, p.Text)
		}
	}
	return out
}

// LOOP-19: a server that refuses the key is not asked on, over restarts too, and the owner is told once.
func TestLOOP19ARefusedKeyStopsTheAsking(t *testing.T) {
	inBubble(t, func(w *world) {
		closed := true
		m := refusing(&closed, steps(say("ok")))
		w.backends(Backend{Name: "cloud", Model: m, Print: "old key"}, builtIn())
		w.start()
		const human = "The server does not accept the key. I leave it alone until"
		for i := range 5 {
			if got := w.answer(w.say("hello")); !strings.HasPrefix(got, human) {
				t.Errorf("answer %d is %q", i, got)
			}
			w.restart()
			sleep(time.Minute)
		}
		if m.count() != 1 || len(w.notices()) != 0 {
			t.Errorf("%d requests, notices %q: the answer has told the owner", m.count(), w.notices())
		}
		if got := w.answer(w.say("remind me to rest")); !strings.HasPrefix(got, "Reminder 1: ") {
			t.Errorf("a reminder is answered %q", got)
		}
		sleep(retryAsked)
		w.say("again, after a while")
		if m.count() != 2 {
			t.Errorf("%d requests", m.count())
		}
		closed = false
		w.backends(Backend{Name: "cloud", Model: m, Print: "new key"}, builtIn())
		w.brain.Configure(w.settings)
		if got := w.answer(w.say("now?")); got != "ok" {
			t.Errorf("with another key the answer is %q", got)
		}
		closed = true
		w.say("and refused again")
		if n := m.count(); n != 4 {
			t.Errorf("%d requests", n)
		}
		w.must(w.vault.Set(w.t.Context(), vault.SettingShut("cloud"), "")) // what /model cloud does
		closed = false
		if got := w.answer(w.say("now?")); got != "ok" {
			t.Errorf("chosen by name the answer is %q", got)
		}
	})
}

// LOOP-19: where a fallback answers, and for members, the owner is told beside that, once.
func TestLOOP19TheOwnerIsToldOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		closed := true
		m := refusing(&closed, nil)
		w.backends(Backend{Name: "cloud", Model: m}, Backend{Name: "home", Model: steps(say("home"))})
		w.start()
		for range 5 {
			if got := w.answer(w.say("hello")); !strings.HasPrefix(got, "home") {
				t.Errorf("the answer is %q", got)
			}
			w.hear(w.inbound(w.ben, "hello"), w.ben)
			sleep(time.Minute)
		}
		if got := w.notices(); m.count() != 1 || len(got) != 1 || !strings.HasPrefix(got[0], "The server does not accept the key.") {
			t.Errorf("%d requests, told %q", m.count(), got)
		}
	})
}

// LOOP-19: two weeks of wake-ups against a refusal: one request a day at most, and one word about it.
func TestLOOP19TwoWeeksOfWakeUps(t *testing.T) {
	inBubble(t, func(w *world) {
		closed := true
		m := refusing(&closed, nil)
		w.backends(Backend{Name: "cloud", Model: m})
		w.start()
		w.say("so that there is a chat")
		c, err := w.vault.PrivateConversation(w.t.Context(), w.me.ID)
		w.must(err)
		var answers int
		for range 14 * 4 {
			sleep(6 * time.Hour)
			j, err := w.vault.AddJob(w.t.Context(), vault.Job{Kind: vault.Do, Person: w.me.ID, Conversation: c.ID, Zone: "UTC", Text: "look", Next: w.now()})
			w.must(err)
			w.must(w.vault.Fire(w.t.Context(), j, vault.Firing{Due: j.Next}))
			sleep(time.Minute)
			run, err := w.vault.Runs(w.t.Context(), 0, 1)
			w.must(err)
			if p := w.progress(run[0].ID); p.Run.Job != j.ID || p.Run.State != vault.Failed {
				t.Fatalf("run %d is %s: %s", p.Run.ID, p.Run.State, p.Run.Reason)
			}
			answers += len(w.sent(run[0].ID, vault.Answer)) + len(w.sent(run[0].ID, vault.Reminder))
		}
		if m.count() > 15 || answers != 1 || len(w.notices()) != 0 {
			t.Errorf("%d requests, %d answers, notices %q", m.count(), answers, w.notices())
		}
		found, _, err := w.vault.Audit(w.t.Context(), 0, func(int64) bool { return false })
		if w.must(err); len(found) != 0 {
			t.Errorf("astray: %v", found)
		}
	})
}
