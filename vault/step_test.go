package vault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSaveStepCommitsAllOrNothing(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	bad := StepDone{
		Step:  Step{Text: "x", Model: "m", TokensIn: 5, USD: 1, USDKnown: true},
		Calls: []Call{{Tool: "send", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: []string{"approve"}}}, {Tool: "y", Args: "{}", Effect: "nonsense"}},
		End:   &Ending{State: Done, Reply: "x"},
	}
	_, err := h.SaveStep(t.Context(), p.Run.ID, stepOf(p, bad))
	if err == nil {
		t.Fatal("a call with a nonsense effect was taken")
	}
	if diff := cmp.Diff(p, h.progress(p.Run.ID)); diff != "" {
		t.Error(diff)
	}
	equal(t, "parts", len(h.parts()), 0)
	equal(t, "spent", must(h.Spent(t.Context(), time.Time{}))(t), 0)

	// The same step is not saved twice.
	h.step(p, StepDone{Step: Step{Text: "one"}})
	_, err = h.SaveStep(t.Context(), p.Run.ID, stepOf(p, StepDone{Step: Step{Text: "two"}}))
	equal(t, "a second step of the same number", err != nil, true)
	equal(t, "text", h.progress(p.Run.ID).Steps[0].Text, "one")
}

func TestStepIsStoredWithItsNote(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	started := p.Run.Claimed
	h.clock.add(2 * time.Second)
	h.step(p, StepDone{Step: Step{Model: "m", TokensIn: 7, TokensOut: 3}, Note: "The answer was empty."})
	want := []Step{
		{Run: p.Run.ID, N: 0, Kind: "model", Model: "m", TokensIn: 7, TokensOut: 3, Started: started, Ended: h.clock.now()},
		{Run: p.Run.ID, N: 1, Kind: "note", Text: "The answer was empty.", Started: h.clock.now(), Ended: h.clock.now()},
	}
	p = h.progress(p.Run.ID)
	if diff := cmp.Diff(want, p.Steps); diff != "" {
		t.Error(diff)
	}
	equal(t, "steps counted", p.Run.Steps, 1)
	h.step(p, StepDone{Step: Step{Text: "now"}, End: &Ending{State: Done, Reply: "now"}})
	equal(t, "steps", len(h.progress(p.Run.ID).Steps), 3)
}

func TestQueuedMessagesOfTheSameSenderJoinAtTheStep(t *testing.T) {
	h := newHome(t)
	begin := h.saysIn("-5", h.ann, "find a plumber")
	must(h.Accept(t.Context(), begin, h.ann, 0))(t)
	p := h.claim()
	join := func(who Person, change func(*Inbound)) int64 {
		in := h.saysIn("-5", who, "more")
		change(&in)
		return must(h.Accept(t.Context(), in, who, 0))(t).Run
	}
	one := join(h.ann, func(in *Inbound) { in.Text = "in Lisbon"; in.Raw = []byte("raw") })
	others := []int64{
		join(h.bob, func(*Inbound) {}),
		join(h.ann, func(in *Inbound) { in.Thread = "9" }),
		join(h.ann, func(in *Inbound) { in.Chat = "-6" }),
		join(h.ann, func(in *Inbound) { in.ChatKind, in.Chat = Private, "1" }),
	}
	two := join(h.ann, func(in *Inbound) { in.Text = "today" })

	if diff := cmp.Diff([]int64{one, two}, h.step(p, StepDone{Step: Step{Text: "thinking"}})); diff != "" {
		t.Error(diff)
	}
	p = h.progress(p.Run.ID)
	var words []string
	for _, m := range p.Messages {
		words = append(words, m.Text)
	}
	if diff := cmp.Diff([]string{"find a plumber", "in Lisbon", "today"}, words); diff != "" {
		t.Error(diff)
	}
	equal(t, "seen", p.Messages[0].Step, 0)
	equal(t, "not yet seen", p.Messages[1].Step, -1)
	for _, n := range []int64{one, two} {
		r := h.progress(n).Run
		equal(t, "state", r.State, Done)
		contains(t, "reason", r.Reason, "joined run 1")
		equal(t, "ended", r.Ended, h.clock.now())
	}
	for _, n := range others {
		equal(t, "other run", h.progress(n).Run.State, Queued)
	}

	h.step(p, StepDone{Step: Step{Text: "done"}, End: &Ending{State: Done, Reply: "done"}})
	p = h.progress(p.Run.ID)
	equal(t, "seen by the second step", p.Messages[2].Step, 1)
	equal(t, "raw", h.count(`SELECT count(*) FROM message WHERE raw IS NOT NULL AND run_id = ?`, p.Run.ID), 0)
}

func TestAMessageThatComesTooLateKeepsItsOwnRun(t *testing.T) {
	for name, d := range map[string]StepDone{
		"the run ends":  {End: &Ending{State: Done, Reply: "bye"}},
		"the run waits": {Park: true, Calls: []Call{{Tool: "send", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: []string{"approve"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			p := h.claimed(h.ann, "hello")
			late := h.accept(h.ann, "one more thing")
			equal(t, "joined", len(h.step(p, d)), 0)
			got := h.claim()
			equal(t, "run", got.Run.ID, late)
			equal(t, "message", got.Messages[0].Text, "one more thing")
		})
	}
}

func TestMessageThatWasNotShownStaysUnseen(t *testing.T) {
	h := newHome(t)
	in := h.says(h.ann, "at five")
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	p := h.claim() // the model is asked with this
	must(h.Accept(t.Context(), edited(in, "at six", 9), h.ann, 0))(t)
	h.step(p, StepDone{Step: Step{Text: "thinking"}})
	p = h.progress(p.Run.ID)
	equal(t, "first", p.Messages[0].Step, 0)
	equal(t, "the edit meanwhile", p.Messages[1].Step, -1)
}

func TestOnlyMessageRunsTakeInMore(t *testing.T) {
	h := newHome(t)
	c := must(h.PrivateConversation(t.Context(), h.ann.ID))(t)
	j := must(h.AddJob(t.Context(), Job{Kind: Do, Person: h.ann.ID, Conversation: c.ID, To: Address{"telegram", "bot", "1", ""}, Zone: "UTC", Text: "look", Next: h.clock.now()}))(t)
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next}))
	p := h.claim()
	h.accept(h.ann, "hello")
	equal(t, "joined", len(h.step(p, StepDone{Step: Step{Text: "thinking"}})), 0)
}

func TestCosts(t *testing.T) {
	known := func(usd float64) Step { return Step{Model: "m", TokensIn: 10, TokensOut: 1, USD: usd, USDKnown: true} }
	h := newHome(t)
	begun := h.clock.now()
	p := h.claimed(h.ann, "hello")
	equal(t, "known before", p.Run.USDKnown, false)
	for i, c := range []struct {
		step  Step
		usd   float64
		known bool
	}{{known(0.25), 0.25, true}, {known(0.5), 0.75, true}, {known(0), 0.75, true}, {Step{Model: "m2", TokensIn: 10, TokensOut: 1}, 0, false}, {known(0.125), 0, false}} {
		h.step(p, StepDone{Step: c.step, Calls: []Call{{Tool: "jobs", Args: "{}", Effect: "reads"}}})
		p = h.progress(p.Run.ID)
		equal(t, "usd", p.Run.USD, c.usd)
		equal(t, "known", p.Run.USDKnown, c.known)
		equal(t, "tokens in", p.Run.TokensIn, 10*(i+1))
		equal(t, "tokens out", p.Run.TokensOut, i+1)
		equal(t, "steps", p.Run.Steps, i+1)
		equal(t, "calls", p.Run.Calls, i+1)
	}
	equal(t, "model", p.Run.Model, "m")
	equal(t, "spent", must(h.Spent(t.Context(), begun))(t), 0.875)

	// What was thought yesterday is not of today, what a run of yesterday thinks today is.
	h.clock.add(24 * time.Hour)
	today := h.clock.now()
	equal(t, "spent today", must(h.Spent(t.Context(), today))(t), 0)
	h.step(p, StepDone{Step: known(2), Park: true, Calls: []Call{{Tool: "send", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: []string{"approve"}}}}})
	equal(t, "spent today by a run of yesterday that waits", must(h.Spent(t.Context(), today))(t), 2)
}

func TestRetriesBeginAgainAfterAStep(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	for range 2 {
		check(t, h.Requeue(t.Context(), p.Run.ID, h.clock.now(), true))
		p = h.claim()
	}
	equal(t, "retries", p.Run.Retries, 2)
	h.step(p, StepDone{Step: Step{Text: "x"}})
	equal(t, "retries", h.progress(p.Run.ID).Run.Retries, 0)
}
