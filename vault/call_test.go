package vault

import (
	"testing"
	"time"
)

// calling has a running run with one call.
func calling(h *home, c Call) (Progress, Call) {
	h.t.Helper()
	p := h.claimed(h.ann, "do it")
	if c.Args == "" {
		c.Args = "{}"
	}
	h.step(p, StepDone{Step: Step{Text: "I will"}, Calls: []Call{c}})
	p = h.progress(p.Run.ID)
	return p, p.Calls[0]
}

func TestCallIsStartedAndFinished(t *testing.T) {
	h := newHome(t)
	p, c := calling(h, Call{Tool: "write_file", Args: `{"path":"a"}`, Effect: "sets"})
	equal(t, "state", c.State, Proposed)
	equal(t, "hash", c.Hash, CallHash("write_file", `{"path":"a"}`))
	equal(t, "step", c.Step, 0)
	check(t, h.StartCall(t.Context(), c))
	h.clock.add(time.Second)
	c.State, c.Result, c.Receipt = Finished, "written", "Wrote a."
	check(t, h.FinishCall(t.Context(), c))
	got := h.progress(p.Run.ID).Calls[0]
	equal(t, "state", got.State, Finished)
	equal(t, "result", got.Result, "written")
	equal(t, "receipt", got.Receipt, "Wrote a.")
	equal(t, "took", got.Ended.Sub(got.Started), time.Second)

	wantErr(t, h.StartCall(t.Context(), c), ErrMustNotBegin) // it has ended
	c.State, c.Result = Broken, "again"
	check(t, h.FinishCall(t.Context(), c))
	equal(t, "result", h.progress(p.Run.ID).Calls[0].Result, "written")
}

func TestRefusedCallsHaveEnded(t *testing.T) {
	h := newHome(t)
	_, c := calling(h, Call{Tool: "run_command", Effect: "acts", State: Denied, Result: "This is off."})
	equal(t, "state", c.State, Denied)
	equal(t, "ended", c.Ended, h.clock.now())
	wantErr(t, h.StartCall(t.Context(), c), ErrMustNotBegin)
}

func TestActsCallBeginsAtMostOnce(t *testing.T) {
	for effect, want := range map[string]error{"acts": ErrMustNotBegin, "sets": nil, "reads": nil} {
		h := newHome(t)
		_, c := calling(h, Call{Tool: "x", Effect: effect})
		check(t, h.StartCall(t.Context(), c))
		h.reopen() // found started after a crash
		p := h.claim()
		equal(t, "state", p.Calls[0].State, Started)
		wantErr(t, h.StartCall(t.Context(), p.Calls[0]), want)
	}
}

func TestCallWithOtherArgumentsDoesNotBegin(t *testing.T) {
	h := newHome(t)
	_, c := calling(h, Call{Tool: "send", Args: `{"person":"Bob"}`, Effect: "acts"})
	for _, other := range []Call{{ID: c.ID, Run: c.Run, Tool: c.Tool, Args: `{"person":"Eve"}`}, {ID: c.ID, Run: c.Run, Tool: "run_command", Args: c.Args}} {
		wantErr(t, h.StartCall(t.Context(), other), ErrMustNotBegin)
	}
	check(t, h.StartCall(t.Context(), c))
}

func TestOnlyActsCallsAreFlushed(t *testing.T) {
	for effect, want := range map[string]bool{"acts": true, "sets": false, "reads": false} {
		h := newHome(t)
		_, c := calling(h, Call{Tool: "x", Effect: effect})
		check(t, h.StartCall(t.Context(), c))
		equal(t, "start of "+effect, h.onDisk(), want)
		c.State = Finished
		check(t, h.FinishCall(t.Context(), c))
		equal(t, "end of "+effect, h.onDisk(), want)
	}
}

func TestResultOfAStoppedCallIsKept(t *testing.T) {
	h := newHome(t)
	p, c := calling(h, Call{Tool: "send", Effect: "acts"})
	check(t, h.StartCall(t.Context(), c))
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	equal(t, "state after the stop", h.progress(p.Run.ID).Calls[0].State, Unknown)
	c.State, c.Result = Finished, "sent"
	wantErr(t, h.FinishCall(t.Context(), c), ErrNotRunning)
	got := h.progress(p.Run.ID).Calls[0]
	equal(t, "state", got.State, Finished)
	equal(t, "result", got.Result, "sent")
}

func TestUnknownOutcomeIsAskedAboutAndNeverRepeatedUnasked(t *testing.T) {
	question := Question{Text: "Did it happen?", Choices: []string{ChooseAgain, ChooseWorked, ChooseDrop}}
	for choice, want := range map[string]struct {
		state CallState
		words string
	}{
		ChooseAgain:  {Approved, ""},
		ChooseWorked: {Finished, "Ann says that it worked."},
		ChooseDrop:   {Given, "Ann says to leave it"},
	} {
		t.Run(choice, func(t *testing.T) {
			h := newHome(t)
			_, c := calling(h, Call{Tool: "send", Args: `{"person":"Bob"}`, Effect: "acts"})
			check(t, h.StartCall(t.Context(), c))
			h.reopen()
			p := h.claim()
			check(t, h.AskUnknown(t.Context(), p.Calls[0], question))
			p = h.progress(p.Run.ID)
			equal(t, "run", p.Run.State, Waiting)
			equal(t, "call", p.Calls[0].State, Unknown)
			equal(t, "kind", p.Approvals[0].Kind, "unknown")
			part := h.parts()[0]
			contains(t, "the question", part.Text, "Question 1: Did it happen?", "/answer 1", "again, worked, drop")
			equal(t, "buttons", len(part.Buttons), 3)
			equal(t, "button", part.Buttons[0], Button{"Do it again", "a:1:again"})
			wantErr(t, h.StartCall(t.Context(), p.Calls[0]), ErrNotRunning)
			h.reopen() // a restart asks nothing again
			_, err := h.Claim(t.Context())
			wantErr(t, err, ErrIdle)
			equal(t, "questions", len(h.parts()), 1)

			h.do(func(tx *Tx) error { _, err := tx.Decide(1, h.ann, choice); return err })
			p = h.claim()
			equal(t, "state", p.Calls[0].State, want.state)
			contains(t, "result", p.Calls[0].Result, want.words)
			err = h.StartCall(t.Context(), p.Calls[0])
			if choice == ChooseAgain {
				check(t, err)
			} else {
				wantErr(t, err, ErrMustNotBegin)
				equal(t, "ended", p.Calls[0].Ended, h.clock.now())
			}
		})
	}
	t.Run("nobody answers", func(t *testing.T) {
		h := newHome(t)
		p, c := calling(h, Call{Tool: "send", Effect: "acts"})
		check(t, h.StartCall(t.Context(), c))
		question.Expires = h.clock.now().Add(time.Hour)
		check(t, h.AskUnknown(t.Context(), c, question))
		h.clock.add(time.Hour)
		equal(t, "closed", must(h.ExpireApprovals(t.Context()))(t), 1)
		got := h.progress(p.Run.ID).Calls[0]
		equal(t, "state", got.State, Given)
		contains(t, "result", got.Result, "may or may not have happened")
	})
}
