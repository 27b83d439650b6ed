package brain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/vault"
)

// head is the fixed part of a request.
func head(req Request) string {
	b, err := json.Marshal(req.Tools)
	if err != nil {
		panic(err)
	}
	return req.System + string(b)
}

func TestTheFixedPartIsFixed(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("look", `{"text":"x"}`), say("ok")))
		w.use(m)
		w.settings.Persona = "Be dry."
		w.start()
		w.say("one")
		w.accept(w.inbound(w.ben, "two"), w.ben, 0)
		sleep(36 * time.Hour)
		w.remember(w.me, w.private(w.me), "something new", true, "")
		w.say("three")
		w.restart()
		w.say("four")
		w.accept(w.inbound(w.ben, "five"), w.ben, 0)
		synctest.Wait()
		if m.count() != 10 {
			t.Fatalf("%d requests", m.count())
		}
		for i, req := range m.requests {
			if head(req) != head(m.requests[0]) {
				t.Errorf("request %d has another beginning", i)
			}
		}
		w.accept(w.inGroup(w.me, "six"), w.me, 0)
		synctest.Wait()
		group := m.last()
		w.accept(w.inGroup(w.ben, "seven"), w.ben, 0)
		synctest.Wait()
		if head(group) != head(m.last()) {
			t.Error("two people of a group get different beginnings")
		}
	})
}

// flat is a request as a server reads it, for comparing beginnings.
func flat(req Request) string {
	out := head(req)
	for _, m := range req.Messages {
		b, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		out += string(b)
	}
	return out
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Each prompt begins with the whole of the one before: what was written stays where it was written, byte for byte. Only
// when the history grows too long is a large piece of it dropped.
func TestEachPromptBeginsWithTheOneBefore(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("look", `{"text":"x"}`, "note", `{"text":"y"}`), say("The answer is "+strings.Repeat("so ", 40))))
		w.use(m)
		w.remember(w.me, w.private(w.me), "a pinned rule", true, "")
		w.start()
		const turns = 100
		for i := range turns {
			run := w.say(fmt.Sprintf("message %d: %s", i, strings.Repeat("words ", 30)))
			p := w.progress(run)
			if p.Run.Context == "" || !strings.Contains(flat(m.last()), jsonText(p.Run.Context)) {
				t.Fatalf("run %d: its block is not in its prompt", run)
			}
			sleep(time.Hour)
			switch i {
			case 40:
				w.restart()
			case 60: // what is said beside a run comes in between
				w.must(w.vault.Command(w.t.Context(), w.inbound(w.me, "/jobs"), w.me, func(*vault.Tx, vault.Conversation) ([]vault.Part, error) {
					return []vault.Part{{Text: "No reminders."}}, nil
				}))
			}
		}
		breaks, worst := 0, 0
		for i := 1; i < m.count(); i++ {
			if err := paired(m.requests[i]); err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
			before, after := flat(m.requests[i-1]), flat(m.requests[i])
			if float64(commonPrefix(before, after)) < 0.95*float64(len(before)) {
				breaks++
			}
			worst = max(worst, size(m.requests[i].Messages)+fixedSize(m.requests[i]))
		}
		// A turn has about 850 characters, and two fifths of 20,000 go at a time.
		if breaks > turns/8 {
			t.Errorf("%d of %d prompts begin anew", breaks, m.count())
		}
		if breaks == 0 {
			t.Error("nothing was dropped: the test does not test it")
		}
		if limit := (8192 - 1024) * charsPerToken; worst > limit {
			t.Errorf("a prompt has %d characters, the limit is %d", worst, limit)
		}
		if last := flat(m.last()); !strings.Contains(last, "a pinned rule") || !strings.Contains(last, fmt.Sprintf("message %d", turns-8)) {
			t.Error("the pinned memory or the newest history is missing")
		}
	})
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(b), `"`)
}

// Many short messages are dropped in large pieces too, and nothing before /new is shown.
func TestShortHistory(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(say("ok")))
		w.use(m)
		home := w.settings.Backends["home"]
		home.Context = 200_000
		w.settings.Backends["home"] = home
		w.start()
		// Commands and their answers are history without a run.
		for i := range historyEntries/2 - 5 {
			w.must(w.vault.Command(w.t.Context(), w.inbound(w.me, fmt.Sprint("/remember fact ", i)), w.me, func(*vault.Tx, vault.Conversation) ([]vault.Part, error) {
				return []vault.Part{{Text: fmt.Sprint("noted ", i)}}, nil
			}))
		}
		breaks := 0
		for i := range 40 {
			w.say(fmt.Sprint("message ", i))
			if i > 0 && !strings.HasPrefix(flat(m.last()), flat(m.requests[i-1])) {
				breaks++
			}
		}
		if breaks != 1 {
			t.Errorf("%d prompts begin anew, want 1", breaks)
		}
		w.must(w.vault.Do(w.t.Context(), "new", func(tx *vault.Tx) error { return tx.NewTalk(w.private(w.me).ID) }))
		w.say("afresh")
		if got := len(m.last().Messages); got != 1 {
			t.Errorf("after /new the prompt has %d messages", got)
		}
	})
}
