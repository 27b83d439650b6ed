package brain

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"hearth/skills"
	"hearth/vault"
)

// hush is a tool with which a run ends in silence.
func hush() skills.Tool {
	return skills.Tool{
		Name: "hush", About: "Says nothing.", Schema: json.RawMessage(`{"type":"object","properties":{}}`), Effect: skills.Sets, Unknown: "asked",
		Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
			return skills.Result{Text: "Nothing is said.", Silent: true}, nil
		},
	}
}

// A wake-up that decided to be silent ends there: no word, no further question to the model, and the list of jobs says so.
// What else it did is told. A run that a person began cannot be silenced.
func TestSilenceIsADecision(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replies []any
		byHand  bool
		want    string
		asked   int
		result  string
	}{
		{"alone", []any{want("hush", `{}`)}, false, "", 1, "done: stayed silent"},
		{"with words beside it", []any{Response{Text: "I keep quiet.", Calls: want("hush", `{}`).Calls}}, false, "", 1, "done: stayed silent"},
		{"after a deed", []any{want("remind", `{"text":"pond"}`), want("hush", `{}`)}, false, "Reminder 1: Fri 4 Dec 2026, 09:00 (UTC): pond", 2, "done"},
		{"a deed beside it", []any{want("remind", `{"text":"pond"}`, "hush", `{}`)}, false, "Reminder 1: Fri 4 Dec 2026, 09:00 (UTC): pond", 1, "done"},
		{"and then it thought better of it", []any{want("hush", `{}`, "act", `{"text":"x"}`), say("Done it.")}, false, "", 1, "done: stayed silent"},
		{"a person waits", []any{want("hush", `{}`), say("Here I am.")}, true, "Here I am.", 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.tools.extra = []skills.Tool{hush()}
				m := inOrder(tt.replies...)
				w.use(m)
				w.start()
				if tt.byHand {
					if got := w.answer(w.say("hello")); got != tt.want {
						t.Errorf("the answer is %q", got)
					}
				} else {
					job, err := w.vault.AddJob(w.t.Context(), vault.Job{
						Kind: vault.Do, Person: w.me.ID, Conversation: w.private(w.me).ID, To: vault.Address{Gateway: "telegram", Account: "bot", Chat: "1"},
						Text: "probe the pond", Zone: "UTC", Next: time.Now(),
					})
					w.must(err)
					w.must(w.vault.Fire(w.t.Context(), job, vault.Firing{Due: job.Next}))
					synctest.Wait()
					runs, err := w.vault.Runs(w.t.Context(), 0, 1)
					w.must(err)
					parts, err := w.vault.PartsOf(w.t.Context(), runs[0].ID)
					w.must(err)
					got := ""
					for _, p := range parts {
						got += p.Text
					}
					job, err = w.vault.Job(w.t.Context(), job.ID)
					w.must(err)
					if got != tt.want || runs[0].State != vault.Done || job.LastResult != tt.result {
						t.Errorf("it says %q; the run is %s (%s), the job: %q", got, runs[0].State, runs[0].Reason, job.LastResult)
					}
				}
				if n := m.count(); n != tt.asked {
					t.Errorf("the model was asked %d times, want %d", n, tt.asked)
				}
			})
		})
	}
}
