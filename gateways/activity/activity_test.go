package activity

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/vault"
)

// seconds are the full seconds of some instants.
func seconds(at []time.Duration) []int {
	var out []int
	for _, d := range at {
		out = append(out, int(d.Seconds()))
	}
	return out
}

// TestLOOP22TypingIsShownWhileARunRuns: at once, never more than five seconds apart, in each chat that waits for an answer,
// and not any more when it has ended or failed.
func TestLOOP22TypingIsShownWhileARunRuns(t *testing.T) {
	for _, state := range []vault.RunState{vault.Done, vault.Failed} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			a := h.run("one", "-1")
			time.Sleep(1700 * time.Millisecond)
			b := h.run("one", "-2")
			time.Sleep(60 * time.Second)
			h.one.mu.Lock()
			for chat, from := range map[string]time.Duration{"-1": 0, "-2": 1700 * time.Millisecond} {
				last := from
				for i, at := range append(h.one.typed[chat], time.Since(h.one.began)) {
					if gap := at - last; gap > 5*time.Second || i == 0 && gap > 300*time.Millisecond {
						t.Errorf("chat %s: nothing for %v before %v", chat, gap, at)
					} else if i > 0 && gap < 3*time.Second && at < 60*time.Second {
						t.Errorf("chat %s: again after %v", chat, gap)
					}
					last = at
				}
			}
			h.one.mu.Unlock()
			h.end(a, state)
			synctest.Wait()
			h.one.shown("-1")
			time.Sleep(15 * time.Second)
			typed, _ := h.one.shown("-1")
			if len(typed) > 0 {
				t.Errorf("after it is %s: typing at %v", state, typed)
			}
			if others, _ := h.two.shown("-1"); len(others) > 0 {
				t.Errorf("on the other messenger: %v", others)
			}
			h.end(b, state)
		})
	}
}

// TestQuickAnswersShowNoTyping: it would come behind the answer.
func TestQuickAnswersShowNoTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		for range 5 {
			p := h.run("one", "-1")
			time.Sleep(100 * time.Millisecond)
			h.end(p, vault.Done)
			time.Sleep(100 * time.Millisecond)
		}
		if typed, _ := h.one.shown("-1"); len(typed) > 0 {
			t.Errorf("typing at %v", typed)
		}
		p := h.run("one", "-1") // and the next that takes its time is not late for them
		time.Sleep(time.Second)
		if typed, _ := h.one.shown("-1"); len(typed) != 1 || typed[0] != 1250*time.Millisecond {
			t.Errorf("typing at %v", typed)
		}
		h.end(p, vault.Done)
	})
}

// TestAMessengerThatHangsHoldsUpNoOther, nor its own other chats for long, nor the end.
func TestAMessengerThatHangsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.one.set(true, nil)
		h.run("one", "-1")
		h.run("two", "-2")
		time.Sleep(time.Second)
		h.run("one", "-3")
		time.Sleep(20 * time.Second)
		if typed, _ := h.two.shown("-2"); len(typed) < 5 {
			t.Errorf("the other messenger: typing at %v", typed)
		}
		typed, _ := h.one.shown("-3")
		if len(typed) != 1 { // and where it hung it is left alone for a while
			t.Errorf("the other chat: typing at %v", typed)
		}
		h.one.set(false, nil)
		time.Sleep(time.Minute)
		if typed, _ := h.one.shown("-1"); len(typed) < 10 {
			t.Errorf("when it hangs no more: typing at %v", typed)
		}
		h.one.set(true, nil)
		time.Sleep(5 * time.Second)
		began := time.Now()
		h.stop()
		if took := time.Since(began); took > 0 {
			t.Errorf("the end took %v", took)
		}
	})
}

// TestFailuresDoNotRepeat: a chat that refuses is asked a few times a minute and logged once.
func TestFailuresDoNotRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.one.set(false, errors.New("blocked"))
		h.run("one", "-1")
		time.Sleep(70 * time.Second)
		if typed, _ := h.one.shown("-1"); len(typed) != 4 {
			t.Errorf("typing at %v", seconds(typed))
		}
		h.stop()
		if n := strings.Count(h.log.String(), "blocked"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, h.log)
		}
	})
}

// ask has a run ask a question, and delivers it.
func (h *house) ask(question string, kind string) vault.Part {
	h.t.Helper()
	p := h.run("one", "-1")
	call := vault.Call{Tool: "send", Args: `{}`, Hash: vault.CallHash("send", `{}`), Effect: "acts", Ask: &vault.Question{Text: question, Choices: []string{vault.ChooseApprove, vault.ChooseDeny, vault.ChooseAlways}}}
	_, err := h.SaveStep(h.t.Context(), p.Run.ID, vault.StepDone{Step: vault.Step{Started: time.Now()}, Calls: []vault.Call{call}, Park: true})
	h.must(err)
	heads, err := h.Heads(h.t.Context(), "one")
	h.must(err)
	for _, part := range heads {
		if part.Approval != 0 {
			h.must(h.Sending(h.t.Context(), part))
			h.must(h.Delivered(h.t.Context(), part, fmt.Sprint("ref", part.Approval)))
			return part
		}
	}
	h.t.Fatalf("no question was posted: %+v", heads)
	return vault.Part{}
}

func (h *house) decide(approval int64, choice string) {
	h.t.Helper()
	h.must(h.Do(h.t.Context(), "decide", func(tx *vault.Tx) error {
		_, err := tx.Decide(approval, h.ann, choice)
		return err
	}))
}

// TestDecidedQuestionsAreSettledOnce, with the question as it was and the outcome below it.
func TestDecidedQuestionsAreSettledOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		for choice, want := range map[string]string{
			vault.ChooseApprove: `✓ approved by Ann \_B\_`, vault.ChooseDeny: `✗ denied by Ann \_B\_`, vault.ChooseAlways: `✓ approved by Ann \_B\_, and from now on without asking`,
			"": "closed without an answer, not done",
		} {
			part := h.ask("may **I**?", "call")
			time.Sleep(time.Minute)
			if _, settled := h.one.shown(""); len(settled) > 0 {
				t.Errorf("an open question was settled: %q", settled)
			}
			if choice != "" {
				h.decide(part.Approval, choice)
			} else {
				h.must(h.Do(t.Context(), "stop", func(tx *vault.Tx) error {
					_, err := tx.Stop(part.Conversation)
					if err == nil {
						_, err = tx.StopRun(part.Run)
					}
					return err
				}))
			}
			synctest.Wait()
			_, settled := h.one.shown("")
			if diff := cmp.Diff([]string{fmt.Sprintf("1 ref%d %s\n\n%s", part.Approval, part.Text, want)}, settled); diff != "" {
				t.Errorf("%s: %s", choice, diff)
			}
			time.Sleep(5 * time.Minute)
			if _, settled := h.one.shown(""); len(settled) > 0 {
				t.Errorf("%s: settled again: %q", choice, settled)
			}
			h.finish()
		}
	})
}

// finish ends all that is still open, for the next round.
func (h *house) finish() {
	h.t.Helper()
	for {
		p, err := h.Claim(h.t.Context())
		if errors.Is(err, vault.ErrIdle) {
			return
		}
		h.must(err)
		h.end(p, vault.Done)
	}
}

// TestSettlingIsNotRepeated when it fails, nor when the vault cannot note it; what the end cut off the next life settles.
func TestSettlingIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.one.set(false, errors.New("message to edit not found"))
		h.mu.Lock()
		h.broken["settled"] = errors.New("the disk is full")
		h.mu.Unlock()
		part := h.ask("may I?", "call")
		h.decide(part.Approval, vault.ChooseDeny)
		time.Sleep(5 * time.Minute)
		if _, settled := h.one.shown(""); len(settled) != 1 {
			t.Errorf("settled %d times", len(settled))
		}
		h.mu.Lock()
		delete(h.broken, "settled")
		h.mu.Unlock()
		time.Sleep(2 * time.Minute)
		if left, err := h.Unsettled(t.Context(), "one"); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
		h.finish()

		h.one.set(true, nil)
		part = h.ask("may I too?", "call")
		h.decide(part.Approval, vault.ChooseDeny)
		time.Sleep(time.Second)
		h.stop()
		h.one.set(false, nil)
		h.one.shown("")
		h.start()
		if _, settled := h.one.shown(""); len(settled) != 1 {
			t.Errorf("the next life settled %q", settled)
		}
	})
}

// TestWordsOfASettledQuestion: known secrets stay hidden, and a piece that was cut is no Markdown.
func TestWordsOfASettledQuestion(t *testing.T) {
	s := newSettler(Options{Log: slog.New(slog.DiscardHandler), Mask: func(s string) string { return strings.ReplaceAll(s, "canary", "***") }}, "one", &messenger{})
	d := vault.Decided{Part: vault.Part{Text: "run `echo canary`?"}, Approval: vault.Approval{Kind: "unknown", State: "answered", Choice: "drop"}, By: "Ann"}
	if got := s.words(d); got != "run `echo ***`?\n\nanswered by Ann: drop" {
		t.Errorf("%q", got)
	}
	d.Part.Text, d.Part.Entities, d.Approval.State = "def __init__", "[]", "expired"
	if got := s.words(d); got != `def \_\_init\_\_`+"\n\nclosed without an answer" {
		t.Errorf("%q", got)
	}
}

// What the buttons under a reminder have come to is shown below it, once.
func TestAnsweredRemindersLoseTheirButtons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		var part int64
		h.must(h.Do(t.Context(), "post", func(tx *vault.Tx) error {
			var err error
			part, err = tx.Post(vault.Part{Key: "job:7@1", To: vault.Address{Gateway: "one", Account: "bot", Chat: "1"}, Class: vault.Reminder, Text: "Reminder 7: _stretch_", Buttons: []vault.Button{{Label: "Done", Data: "j:7@1:done"}}})
			return err
		}))
		h.must(h.Delivered(t.Context(), vault.Part{ID: part, Class: vault.Reminder}, "ref7"))
		time.Sleep(time.Minute)
		if _, settled := h.one.shown(""); len(settled) > 0 {
			t.Errorf("nobody has answered: %q", settled)
		}
		h.must(h.Do(t.Context(), "press", func(tx *vault.Tx) error {
			for _, outcome := range []string{"✓ done _now_", "too late"} {
				if fresh, err := tx.Answer("job:7@1", outcome); err != nil || fresh != (outcome != "too late") {
					t.Errorf("%s: %v, %v", outcome, fresh, err)
				}
			}
			return nil
		}))
		synctest.Wait()
		time.Sleep(5 * time.Minute)
		_, settled := h.one.shown("")
		if diff := cmp.Diff([]string{"1 ref7 Reminder 7: _stretch_\n\n✓ done \\_now\\_"}, settled); diff != "" {
			t.Error(diff)
		}
	})
}
