package brain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hearth/skills"
	"hearth/vault"
)

func TestApprovalIsAskedBeforeTheCallRuns(t *testing.T) {
	for _, tt := range []struct {
		choice string
		acted  int
		state  vault.CallState
		told   string // what the model reads
	}{
		{vault.ChooseApprove, 1, vault.Finished, "sent hi Ben"},
		{vault.ChooseDeny, 0, vault.Denied, "Me said no to this"},
		{vault.ChooseAlways, 1, vault.Finished, "sent hi Ben"},
	} {
		for _, lives := range []int{1, 2} {
			t.Run(tt.choice+strings.Repeat(" after a restart", lives-1), func(t *testing.T) {
				inBubble(t, func(w *world) {
					m := record(steps(want("send", `{ "text": "hi Ben" }`), say("That was that.")))
					w.use(m)
					w.start()
					run := w.say("write to Ben")
					if w.state(run) != vault.Waiting || len(w.tools.acted) != 0 {
						t.Fatalf("before an answer the run is %s and acted %d times", w.state(run), len(w.tools.acted))
					}
					q := w.openQuestion()
					if q.Arguments != `{"text":"hi Ben"}` || q.Person != w.me.ID || q.Hash != vault.CallHash("send", q.Arguments) {
						t.Errorf("the question is %+v", q)
					}
					if got := w.sent(run, vault.Asks); len(got) != 1 || !strings.Contains(got[0], "text: hi Ben") {
						t.Errorf("the owner reads %q", got)
					}
					for range lives - 1 {
						w.restart()
						sleep(time.Hour)
					}
					w.must(w.decide(q.ID, tt.choice))
					if err := w.decide(q.ID, vault.ChooseApprove); !errors.Is(err, vault.ErrDecided) {
						t.Errorf("a second answer gives %v", err)
					}
					if got := w.answer(run); got != "That was that." || len(w.tools.acted) != tt.acted {
						t.Errorf("it answers %q and acted %d times", got, len(w.tools.acted))
					}
					if tt.acted == 1 && w.tools.acted[0] != "hi Ben" {
						t.Errorf("it sent %q", w.tools.acted[0])
					}
					if c := w.progress(run).Calls[0]; c.State != tt.state || c.Args != `{"text":"hi Ben"}` {
						t.Errorf("the call is %s with %s", c.State, c.Args)
					}
					if got := results(m.last()); len(got) != 1 || !strings.Contains(got[0], tt.told) {
						t.Errorf("the model reads %q, want %q", got, tt.told)
					}
					if m.count() != 2 || len(w.sent(run, vault.Asks)) != 1 {
						t.Errorf("%d requests and %d questions", m.count(), len(w.sent(run, vault.Asks)))
					}
				})
			})
		}
	}
}

// "Always" holds for this tool and this person, and for nobody else.
func TestAlwaysIsNotAskedAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(steps(want("send", `{"text":"hi"}`), say("Sent.")))
		w.start()
		w.say("write to Ben")
		w.must(w.decide(w.openQuestion().ID, vault.ChooseAlways))
		if got := w.answer(w.say("and once more")); got != "Sent." || len(w.tools.acted) != 2 {
			t.Errorf("it answers %q and acted %d times", got, len(w.tools.acted))
		}
		run := w.accept(w.inbound(w.ben, "write to Me"), w.ben, 0)
		synctest.Wait()
		if w.state(run) != vault.Waiting || len(w.tools.acted) != 2 {
			t.Errorf("another person's run is %s, %d acts", w.state(run), len(w.tools.acted))
		}
		w.must(w.decide(w.openQuestion().ID, vault.ChooseDeny))
		w.must(w.vault.Do(w.t.Context(), "drop-rule", func(tx *vault.Tx) error { return tx.DropRule(1) }))
		if again := w.say("and again"); w.state(again) != vault.Waiting {
			t.Errorf("after the rule was dropped the run is %s", w.state(again))
		}
	})
}

// What always covers is what the question said.
func TestAlwaysCoversNoOtherUse(t *testing.T) {
	inBubble(t, func(w *world) {
		w.tools.extra = []skills.Tool{{
			Name: "fetch", About: "x", Schema: json.RawMessage(textSchema), Effect: skills.Reads, Unknown: "it is read again",
			Always: func(args json.RawMessage) string { return "page of " + string(args) },
			Run: func(context.Context, skills.Call, json.RawMessage) (skills.Result, error) {
				return skills.Result{Text: "read"}, nil
			},
		}}
		w.settings.Permissions = Permissions{Tools: map[string]Permission{"fetch": Ask}}
		w.use(script(func(_ context.Context, req Request) (Response, error) {
			if replied(req) > 0 {
				return say("Read."), nil
			}
			return want("fetch", fmt.Sprintf(`{"text":%q}`, strings.Fields(strings.Join(req.Words, " "))[1])), nil
		}))
		w.start()
		w.say("read a")
		w.must(w.decide(w.openQuestion().ID, vault.ChooseAlways))
		if again := w.say("read a again"); w.state(again) != vault.Done {
			t.Errorf("the same use again: the run is %s", w.state(again))
		}
		if other := w.say("read b"); w.state(other) != vault.Waiting {
			t.Errorf("another use: the run is %s", w.state(other))
		}
	})
}

// A rule does not loosen what the settings forbid.
func TestAlwaysDoesNotBreakADenial(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(steps(want("send", `{"text":"hi"}`), say("Sent.")))
		w.start()
		w.say("write to Ben")
		w.must(w.decide(w.openQuestion().ID, vault.ChooseAlways))
		w.settings.Permissions = Permissions{Tools: map[string]Permission{"send": Deny}}
		w.brain.Configure(w.settings)
		w.say("and once more")
		if len(w.tools.acted) != 1 {
			t.Errorf("it acted %d times", len(w.tools.acted))
		}
	})
}

// SEC-02: only an owner decides, whoever's run it is.
func TestSEC02OnlyAnOwnerDecides(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(steps(want("send", `{"text":"hi"}`), say("Sent.")))
		w.start()
		run := w.accept(w.inbound(w.ben, "write to Me"), w.ben, 0)
		synctest.Wait()
		q := w.openQuestion()
		if q.Person != w.me.ID {
			t.Errorf("person %d is asked", q.Person)
		}
		err := w.vault.Command(w.t.Context(), w.inbound(w.ben, "/approve"), w.ben, func(tx *vault.Tx, _ vault.Conversation) ([]vault.Part, error) {
			_, err := tx.Decide(q.ID, w.ben, vault.ChooseApprove)
			return nil, err
		})
		synctest.Wait()
		if !errors.Is(err, vault.ErrNotOwner) || w.openQuestion().State != "open" || w.state(run) != vault.Waiting || len(w.tools.acted) != 0 {
			t.Errorf("a member's answer: %v, the run is %s, %d acts", err, w.state(run), len(w.tools.acted))
		}
		w.must(w.decide(q.ID, vault.ChooseApprove))
		if got := w.answer(run); got != "Sent." || len(w.tools.acted) != 1 {
			t.Errorf("it answers %q, %d acts", got, len(w.tools.acted))
		}
	})
}

// SEC-02: in a group tools that only make sense in private are neither shown nor run.
func TestSEC02ToolsInAGroup(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("act", `{"text":"x"}`, "send", `{"text":"x"}`, "look", `{"text":"x"}`), say("I can't.")))
		w.use(m)
		w.start()
		run := w.accept(w.inGroup(w.ben, "do it"), w.ben, 0)
		synctest.Wait()
		var shown []string
		for _, tool := range m.last().Tools {
			shown = append(shown, tool.Name)
		}
		if got := strings.Join(shown, " "); got != "look remind jobs" {
			t.Errorf("shown: %s", got)
		}
		if len(w.tools.acted) != 0 || w.tools.count("look") != 1 || w.answer(run) != "I can't." {
			t.Errorf("it acted %q and answers %q", w.tools.acted, w.answer(run))
		}
	})
}

// What can go on goes on while a question is open; only then the run waits.
func TestOneCallWaitsAnotherRuns(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("send", `{"text":"hi"}`, "look", `{"text":"x"}`), say("Both.")))
		w.use(m)
		w.start()
		run := w.say("do both")
		if w.state(run) != vault.Waiting || w.tools.count("look") != 1 || len(w.tools.acted) != 0 || m.count() != 1 {
			t.Fatalf("the run is %s, looked %d times, %d requests", w.state(run), w.tools.count("look"), m.count())
		}
		w.must(w.decide(w.openQuestion().ID, vault.ChooseApprove))
		if got := w.answer(run); got != "Both." || len(w.tools.acted) != 1 || w.tools.count("look") != 1 {
			t.Errorf("it answers %q", got)
		}
	})
}

// Two questions of one reply: the run goes on when both are answered.
func TestTwoQuestionsOfOneReply(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("send", `{"text":"one"}`, "send", `{"text":"two"}`), say("Both.")))
		w.use(m)
		w.start()
		run := w.say("do both")
		w.must(w.decide(2, vault.ChooseApprove))
		if w.state(run) != vault.Waiting || m.count() != 1 || strings.Join(w.tools.acted, " ") != "two" {
			t.Fatalf("after one answer the run is %s, it sent %q", w.state(run), w.tools.acted)
		}
		w.must(w.decide(1, vault.ChooseDeny))
		if got := w.answer(run); got != "Both." || strings.Join(w.tools.acted, " ") != "two" || m.count() != 2 {
			t.Errorf("it answers %q, it sent %q", got, w.tools.acted)
		}
	})
}

// A run that waits is not active: the chat goes on, and the next run sees what waits.
func TestTheChatGoesOnWhileARunWaits(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(func(_ context.Context, req Request) (Response, error) {
			if strings.Contains(asked(req), "write to Ben") {
				return steps(want("send", `{"text":"hi"}`), say("Sent."))(w.t.Context(), req)
			}
			return say("Fine."), nil
		})
		w.use(m)
		w.start()
		waiting := w.say("write to Ben")
		other := w.say("how are you?")
		if got := w.answer(other); got != "Fine." || w.state(waiting) != vault.Waiting {
			t.Fatalf("the next message is answered %q", got)
		}
		if all := everything(m.last()); !strings.Contains(all, "tool: This waits for approval 1.") {
			t.Errorf("the model is not told what waits: %s", all)
		}
		w.must(w.decide(1, vault.ChooseApprove))
		if got := w.answer(waiting); got != "Sent." || len(w.tools.acted) != 1 {
			t.Errorf("it answers %q", got)
		}
	})
}

func TestStopOfAWaitingRun(t *testing.T) {
	inBubble(t, func(w *world) {
		w.use(steps(want("send", `{"text":"hi"}`), say("Sent.")))
		w.start()
		run := w.say("write to Ben")
		q := w.openQuestion()
		w.stopTalk()
		if err := w.decide(q.ID, vault.ChooseApprove); !errors.Is(err, vault.ErrDecided) {
			t.Errorf("an answer after the stop gives %v", err)
		}
		sleep(time.Hour)
		if w.state(run) != vault.Stopped || len(w.tools.acted) != 0 || len(w.sent(run, vault.Answer)) != 0 {
			t.Errorf("it is %s, %d acts, answers %q", w.state(run), len(w.tools.acted), w.sent(run, vault.Answer))
		}
	})
}

// A question nobody answers expires: the call does not run, and the model tells so.
func TestAQuestionExpires(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("send", `{"text":"hi"}`), say("Nobody said yes.")))
		w.use(m)
		w.start()
		run := w.say("write to Ben")
		if q := w.openQuestion(); !q.Expires.Equal(time.Now().Add(approvalLife).UTC()) {
			t.Errorf("it expires %s", q.Expires)
		}
		sleep(approvalLife)
		if n, err := w.vault.ExpireApprovals(w.t.Context()); n != 1 || err != nil {
			t.Fatalf("%d expired: %v", n, err)
		}
		synctest.Wait()
		if got := w.answer(run); got != "Nobody said yes." || len(w.tools.acted) != 0 {
			t.Errorf("it answers %q, %d acts", got, len(w.tools.acted))
		}
		if got := results(m.last()); len(got) != 1 || !strings.Contains(got[0], "Nobody answered") {
			t.Errorf("the model reads %q", got)
		}
	})
}

// An act that a power cut left in doubt is never simply repeated; the owner decides what it was.
func TestUnknownOutcome(t *testing.T) {
	for _, tt := range []struct {
		choice string
		acted  int
		told   string
	}{
		{vault.ChooseAgain, 2, "acted x"},
		{vault.ChooseWorked, 1, "Me says that it worked."},
		{vault.ChooseDrop, 1, "Me says to leave it"},
	} {
		t.Run(tt.choice, func(t *testing.T) {
			inBubble(t, func(w *world) {
				m := record(steps(want("act", `{"text":"x"}`), say("Done.")))
				w.use(m)
				w.point = func(point string) {
					if point == "tool-end" {
						w.dead.Store(true) // the power goes between the effect and its commit
					}
				}
				w.log = nowhere{}
				w.start()
				run := w.say("do it")
				w.crash()
				w.point = nil
				w.open()
				w.start()
				q := w.openQuestion()
				if q.Kind != "unknown" || !strings.Contains(q.Question, "text: x") || len(w.tools.acted) != 1 || w.state(run) != vault.Waiting {
					t.Fatalf("the question is %+v, %d acts, the run is %s", q, len(w.tools.acted), w.state(run))
				}
				w.restart() // asking once is enough
				w.must(w.decide(w.openQuestion().ID, tt.choice))
				if got := w.answer(run); got != "Done." || len(w.tools.acted) != tt.acted {
					t.Errorf("it answers %q, %d acts", got, len(w.tools.acted))
				}
				if got := results(m.last()); len(got) != 1 || !strings.Contains(got[0], tt.told) {
					t.Errorf("the model reads %q, want %q", got, tt.told)
				}
				if n := len(w.sent(run, vault.Asks)); n != 1 {
					t.Errorf("%d questions", n)
				}
			})
		})
	}
}
