package brain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hearth/skills"
	"hearth/vault"
)

func calls(states ...string) []vault.Call {
	var out []vault.Call
	for i, s := range states {
		state, effect, _ := strings.Cut(s, " ")
		if effect == "" {
			effect = "sets"
		}
		// Each call is another one, so that only the state decides.
		c := vault.Call{ID: int64(i + 1), Step: i, Tool: "tool", Effect: effect, State: vault.CallState(state), Hash: fmt.Sprint(i), Result: fmt.Sprint("result ", i)}
		out = append(out, c)
	}
	return out
}

// answered is what was answered about the limit on steps.
func answered(state, choice string, of, to float64) []vault.Approval {
	return []vault.Approval{{ID: 7, Kind: "budget", State: state, Choice: choice, Arguments: fmt.Sprintf(`{"limit":"steps","unit":"steps","per_run":true,"of":%g,"at":%[1]g,"used":%[1]g,"need":1,"to":%g}`, of, to)}}
}

func TestNext(t *testing.T) {
	limits := Limits{Steps: 20, Worked: 10 * time.Minute, Tokens: 1000}
	same := func(n int, state vault.CallState) (out []vault.Call) {
		for i := range n {
			out = append(out, vault.Call{ID: int64(i), Tool: "look", Hash: "h", State: state, Result: "nothing there"})
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		run    vault.Run
		calls  []vault.Call
		policy Policy
		kind   MoveKind
		call   int64
		reason string
		words  string
		asked  []vault.Approval
		over   Excess
	}{
		{name: "a new run", kind: Think},
		{name: "a proposed call", calls: calls("proposed"), kind: RunCall, call: 1},
		{name: "an approved call", calls: calls("approved acts"), kind: RunCall, call: 1},
		{name: "calls in their order", calls: calls("done", "proposed", "proposed"), kind: RunCall, call: 2},
		{name: "a read found started", calls: calls("started reads"), kind: RunCall, call: 1},
		{name: "a set found started", calls: calls("started sets"), kind: RunCall, call: 1},
		{name: "an act found started", calls: calls("started acts"), kind: Unsure, call: 1},
		{name: "an act found started before others", calls: calls("started acts", "proposed"), kind: Unsure, call: 1},
		{name: "a call that waits", calls: calls("waiting"), kind: Wait},
		{name: "an unknown outcome", calls: calls("unknown acts"), kind: Wait},
		{name: "one waits, another can run", calls: calls("waiting", "proposed"), kind: RunCall, call: 2},
		{name: "one waits, another is approved", calls: calls("waiting", "done", "approved"), kind: RunCall, call: 3},
		{name: "one waits, the others have ended", calls: calls("waiting", "done", "denied", "failed", "dropped"), kind: Wait},
		{name: "all have ended", calls: calls("done", "failed", "denied", "dropped"), kind: Think},
		{name: "waiting goes before limits", run: vault.Run{Steps: 20}, calls: calls("waiting"), kind: Wait},
		{name: "proposed goes before limits", run: vault.Run{Steps: 20}, calls: calls("proposed"), kind: RunCall, call: 1},
		{name: "one step left", run: vault.Run{Steps: 19}, kind: Think},
		{name: "step limit", run: vault.Run{Steps: 20}, kind: Exceed, over: Excess{Limit: "steps", Unit: "steps", PerRun: true, Of: 20, At: 20, Used: 20, Need: 1, To: 40}},
		{name: "more steps", run: vault.Run{Steps: 39}, asked: answered("answered", "more", 20, 40), kind: Think},
		{name: "more steps, used", run: vault.Run{Steps: 40}, asked: answered("answered", "more", 20, 40), kind: Exceed, over: Excess{Limit: "steps", Unit: "steps", PerRun: true, Of: 20, At: 40, Used: 40, Need: 1, To: 60}},
		{name: "more steps, of another limit", run: vault.Run{Steps: 20}, asked: answered("answered", "more", 10, 40), kind: Exceed, over: Excess{Limit: "steps", Unit: "steps", PerRun: true, Of: 20, At: 20, Used: 20, Need: 1, To: 40}},
		{name: "stop", run: vault.Run{Steps: 20}, asked: answered("answered", "stop", 20, 40), kind: Finish, reason: "budget", words: "as was decided in question 7. My limit for one task is 20 steps; used so far: 20 steps."},
		{name: "no answer", run: vault.Run{Steps: 20}, asked: answered("expired", "", 20, 40), kind: Finish, reason: "budget", words: "nobody answered question 7 in time"},
		{name: "time left", policy: Policy{Worked: 10*time.Minute - 1}, kind: Think},
		{name: "time limit", policy: Policy{Worked: 10 * time.Minute}, kind: Exceed, over: Excess{Limit: "minutes", Unit: "minutes", PerRun: true, Of: 10, At: 10, Used: 10, To: 20}},
		{name: "the same three times", calls: same(3, vault.Finished), kind: Think},
		{name: "LOOP-01 the same four times", calls: same(4, vault.Finished), kind: Finish, reason: "repeating look", words: "nothing there"},
		{name: "refused the same four times", calls: same(4, vault.Denied), kind: Finish, reason: "repeating look", words: "tried look 4 times"},
		{name: "three failures in a row", calls: calls("failed", "failed", "failed"), kind: Think},
		{name: "LOOP-02 four failures in a row", calls: calls("failed", "failed", "failed", "failed"), kind: Finish, reason: "failing tool", words: "result 3"},
		{name: "a success between failures", calls: calls("failed", "failed", "done", "failed", "failed"), kind: Think},
		{name: "failures long past", calls: calls("failed", "failed", "failed", "done", "failed"), kind: Think},
		{name: "going round goes before limits", run: vault.Run{Steps: 20}, calls: same(4, vault.Finished), kind: Finish, reason: "repeating look", words: "4 times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.policy.Limits == (Limits{}) {
				tt.policy.Limits = limits
			}
			got := next(vault.Progress{Run: tt.run, Calls: tt.calls, Approvals: tt.asked}, tt.policy)
			if got.Kind != tt.kind || got.Call.ID != tt.call {
				t.Fatalf("next = %s, call %d; want %s, call %d", got.Kind, got.Call.ID, tt.kind, tt.call)
			}
			if got.Over != tt.over {
				t.Errorf("over: %+v, want %+v", got.Over, tt.over)
			}
			if got.End.Reason != tt.reason || !strings.Contains(got.End.Reply, tt.words) {
				t.Errorf("it ends for %q with %q; want %q with %q", got.End.Reason, got.End.Reply, tt.reason, tt.words)
			}
			if tt.kind == Finish && got.End.State != vault.Failed {
				t.Errorf("it ends as %s, not as failed", got.End.State)
			}
		})
	}
}

func TestAGivenUpRunShowsItsReceipts(t *testing.T) {
	done := []vault.Call{
		{State: vault.Finished, Receipt: "Reminder 1: a"},
		{State: vault.Finished, Receipt: "Reminder 1: a"},
		{State: vault.Finished, Receipt: "Reminder 2: b"},
	}
	m := next(vault.Progress{Run: vault.Run{Steps: 3}, Calls: done, Approvals: answered("answered", "stop", 3, 6)}, Policy{Limits: Limits{Steps: 3, Worked: time.Hour, Tokens: 10}})
	want := "I stopped, as was decided in question 7. My limit for one task is 3 steps; used so far: 3 steps.\n\nReminder 1: a\nReminder 2: b"
	if m.End.Reply != want {
		t.Errorf("the reply is %q, want %q", m.End.Reply, want)
	}
}

// randomProgress makes any progress a vault could hold.
func randomProgress(r *rand.Rand) (vault.Progress, Policy) {
	states := []vault.CallState{vault.Proposed, vault.Asking, vault.Approved, vault.Started, vault.Finished, vault.Broken, vault.Denied, vault.Unknown, vault.Given}
	p := vault.Progress{Run: vault.Run{Steps: r.IntN(25), TokensIn: r.IntN(1200)}}
	for i := range r.IntN(8) {
		p.Calls = append(p.Calls, vault.Call{
			ID: int64(i + 1), Tool: []string{"a", "b"}[r.IntN(2)], Hash: fmt.Sprint(r.IntN(2)), Result: fmt.Sprint(r.IntN(2)),
			Effect: []string{"reads", "sets", "acts"}[r.IntN(3)], State: states[r.IntN(len(states))],
		})
	}
	return p, Policy{
		Limits: Limits{Steps: 20, Worked: time.Minute, Tokens: 1000},
		Worked: time.Duration(r.IntN(70)) * time.Second,
	}
}

func TestNextIsPure(t *testing.T) {
	for seed := range uint64(2000) {
		p, policy := randomProgress(rand.New(rand.NewPCG(seed, 1)))
		before, _ := randomProgress(rand.New(rand.NewPCG(seed, 1)))
		first := next(p, policy)
		if diff := cmp.Diff(first, next(p, policy)); diff != "" {
			t.Fatalf("seed %d: the same progress gave two moves: %s", seed, diff)
		}
		if diff := cmp.Diff(before, p); diff != "" {
			t.Fatalf("seed %d: next changed its input: %s", seed, diff)
		}
		// Whatever has begun and may have acted is never simply run.
		if first.Kind == RunCall && first.Call.State == vault.Started && first.Call.Effect == "acts" {
			t.Fatalf("seed %d: an act that may have happened is run again", seed)
		}
		if first.Kind == RunCall && (first.Call.State.Ended() || first.Call.State == vault.Asking || first.Call.State == vault.Unknown) {
			t.Fatalf("seed %d: a call that is %s is run", seed, first.Call.State)
		}
	}
}

// randomReply is anything a model, or its server, can come up with.
func randomReply(r *rand.Rand) (Response, error) {
	tool := func() ToolCall {
		names := []string{"look", "note", "remind", "act", "send", "jobs", "broken", "teleport", ""}
		args := []string{`{"text":"a"}`, `{"text":"b"}`, `{}`, `{"text":7}`, `{"te`, `null`, `"{\"text\":\"a\"}"`, ``, `[]`}
		return ToolCall{Name: names[r.IntN(len(names))], Args: []byte(args[r.IntN(len(args))])}
	}
	switch r.IntN(12) {
	case 0:
		return Response{}, fault([]FaultKind{Transient, TooLong, BadReply}[r.IntN(3)])
	case 1:
		return Response{}, errors.New("something else")
	case 2:
		return Response{Lost: true, Out: 3}, nil
	case 3:
		return Response{Text: "  \n", Cut: r.IntN(2) == 0}, nil
	case 4:
		return say([]string{"Done, I'll remind you.", `{"name": "look", "arguments": {"text": "`, "<tool_call>", "Reminder 9: today: x"}[r.IntN(4)]), nil
	case 5:
		if r.IntN(3) == 0 {
			return say("That is all."), nil
		}
		fallthrough
	default:
		resp := Response{In: r.IntN(50), Out: r.IntN(50)}
		for range 1 + r.IntN(4) {
			resp.Calls = append(resp.Calls, tool())
		}
		return resp, nil
	}
}

// Whatever a model does, its run ends, within its bounds, and its person is told once.
func TestEveryRunEnds(t *testing.T) {
	const maxSteps = 6
	inBubble(t, func(w *world) {
		w.tools.extra = []skills.Tool{failing("broken", func(n int) string { return fmt.Sprintf("failed for the %d. time", n%3) })}
		var r *rand.Rand
		w.use(script(func(_ context.Context, _ Request) (Response, error) { return randomReply(r) }))
		w.settings.Limits = Limits{Steps: maxSteps}
		w.settings.Permissions = Permissions{Tools: map[string]Permission{"act": Ask, "send": Deny}}
		w.log = nowhere{}
		w.start()
		for seed := range uint64(40) {
			r = rand.New(rand.NewPCG(seed, 2))
			run := w.say(fmt.Sprint("task ", seed))
			for range 100 { // outages pass, questions are answered
				if open, err := w.vault.Approvals(w.t.Context(), true, 100); err == nil && len(open) > 0 {
					choice := []string{vault.ChooseApprove, vault.ChooseDeny}[r.IntN(2)]
					if open[0].Kind == "budget" {
						choice = vault.ChooseStop
					}
					w.must(w.decide(open[0].ID, choice))
					continue
				}
				if s := w.state(run); s != vault.Running && s != vault.Queued {
					break
				}
				sleep(10 * time.Second)
			}
			p := w.progress(run)
			if p.Run.State != vault.Done && p.Run.State != vault.Failed {
				t.Fatalf("seed %d: the run is %s after all that time", seed, p.Run.State)
			}
			if p.Run.Steps > maxSteps {
				t.Errorf("seed %d: %d steps, the limit is %d", seed, p.Run.Steps, maxSteps)
			}
			if strings.TrimSpace(w.answer(run)) == "" {
				t.Errorf("seed %d: the answer is blank", seed)
			}
			for _, c := range p.Calls {
				if !c.State.Ended() {
					t.Errorf("seed %d: call %d (%s) is left %s", seed, c.ID, c.Tool, c.State)
				}
				if c.Tool == "send" && c.State == vault.Finished {
					t.Errorf("seed %d: a tool that is denied was run", seed)
				}
			}
			sleep(time.Minute)
		}
	})
}

type nowhere struct{}

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// LOOP-01: the same call again and again is stopped, and one message says what was tried.
func TestLOOP01SameCallAgainAndAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		m := record(steps(want("look", `{"text":"."}`)))
		w.use(m)
		w.start()
		run := w.say("find the recipe")
		if n := w.tools.count("look"); n > 6 {
			t.Errorf("the tool ran %d times", n)
		}
		if m.count() > 10 {
			t.Errorf("%d model requests", m.count())
		}
		if got := w.answer(run); !strings.Contains(got, "look") || !strings.Contains(got, "looked at .") {
			t.Errorf("the answer does not say what was tried: %q", got)
		}
		if s := w.state(run); s != vault.Failed {
			t.Errorf("the run is %s", s)
		}
	})
}

// The same call many times in one reply is one call.
func TestLOOP01SameCallInOneReply(t *testing.T) {
	inBubble(t, func(w *world) {
		call := []string{"act", `{"text":"ring"}`}
		w.use(steps(want(append(append(call, call...), append(call, "act", `{ "text" : "ring" }`)...)...), say("Rang.")))
		w.start()
		run := w.say("ring the bell")
		if got := w.answer(run); got != "Rang." || len(w.tools.acted) != 1 {
			t.Errorf("it answers %q and rang %d times", got, len(w.tools.acted))
		}
	})
}

// LOOP-02: the count of failures is in the journal, so a restart does not reset it.
func TestLOOP02FailuresCountAcrossARestart(t *testing.T) {
	inBubble(t, func(w *world) {
		tries := 0
		w.tools.extra = []skills.Tool{failing("ghost", func(n int) string { tries = n; return fmt.Sprintf("no such file, try %d", n) })}
		lives := 1
		m := record(func(ctx context.Context, req Request) (Response, error) {
			if lives == 1 && len(results(req)) == 2 {
				return hang(ctx, req)
			}
			return want("ghost", `{"text":"x"}`), nil
		})
		w.use(m)
		w.start()
		run := w.say("read the ghost file")
		lives++
		w.restart()
		synctest.Wait()
		if tries != failCalls {
			t.Errorf("the tool was tried %d times, not %d", tries, failCalls)
		}
		if got := w.answer(run); !strings.Contains(got, "ghost") || !strings.Contains(got, "no such file") {
			t.Errorf("no reason: %q", got)
		}
	})
}
