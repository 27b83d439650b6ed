package vault

import (
	"errors"
	"testing"
	"time"
)

// task asks for a summary of a conversation and takes it up.
func (h *home) task(c Conversation) Progress {
	h.t.Helper()
	check(h.t, h.QueueTask(h.t.Context(), c.ID, TaskSummary, 0))
	got := h.claim()
	equal(h.t, "the task", got.Run.Task, TaskSummary)
	return got
}

func (h *home) nothingToDo() {
	h.t.Helper()
	if _, err := h.Claim(h.t.Context()); !errors.Is(err, ErrIdle) {
		h.t.Fatalf("something is taken up: %v", err)
	}
}

func TestATaskBeginsOnlyWhenNobodyWaits(t *testing.T) {
	h := newHome(t)
	c := h.talk(h.ann, "one", "1").Conversation
	check(t, h.QueueTask(t.Context(), c.ID, TaskSummary, time.Minute))
	h.nothingToDo() // not yet
	equal(t, "next", must(h.NextTask(t.Context()))(t), h.clock.now().Add(time.Minute))
	h.clock.add(time.Minute)
	other := h.claimed(h.bob, "two")
	h.nothingToDo() // somebody else's run is at work
	check(t, h.EndRun(t.Context(), other.Run.ID, Ending{State: Done, Reply: "2"}))
	must(h.Accept(t.Context(), h.says(h.ann, "three"), h.ann, 0))(t)
	got := h.claim()
	equal(t, "taken up first", got.Run.Task, "")
	check(t, h.EndRun(t.Context(), got.Run.ID, Ending{State: Done, Reply: "3"}))
	got = h.claim()
	equal(t, "taken up then", got.Run.Task, TaskSummary)

	// While it is at work its conversation is not held, and it is nothing that a person sees or stops.
	must(h.Accept(t.Context(), h.says(h.ann, "four"), h.ann, 0))(t)
	equal(t, "blocked", len(must(h.Blocked(t.Context()))(t)), 0)
	four := h.claim()
	equal(t, "beside it", four.Run.Task, "")
	equal(t, "open", len(must(h.OpenRuns(t.Context(), c.ID))(t)), 1)
	h.do(func(tx *Tx) error {
		halted, err := tx.Stop(c.ID)
		equal(t, "stopped", len(halted.Stopped), 1)
		return err
	})
	equal(t, "the task", h.progress(got.Run.ID).Run.State, Running)
	h.reopen()
	equal(t, "after a crash", h.progress(got.Run.ID).Run.State, Queued)
}

func TestATaskIsNoPartOfTheTalkAndBooksItsCost(t *testing.T) {
	h := newHome(t)
	c := h.talk(h.ann, "one", "1").Conversation
	parts := h.count(`SELECT count(*) FROM outbox`)
	got := h.task(c)
	step := Step{Model: "m", TokensIn: 100, TokensOut: 20, USD: 0.5, USDKnown: true, Started: h.clock.now()}
	sum := &Summary{Conversation: c.ID, From: 1, To: 2, Text: "All of it.", Model: "m"}
	check(t, h.EndTask(t.Context(), got.Run.ID, TaskDone{Step: &StepDone{Step: step}, Summary: sum}))
	if err := h.EndTask(t.Context(), got.Run.ID, TaskDone{Summary: sum}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("it ends twice: %v", err)
	}
	r := h.progress(got.Run.ID).Run
	if r.State != Done || r.TokensIn != 100 || r.USD != 0.5 || r.Person != h.ann.ID {
		t.Errorf("booked: %+v", r)
	}
	equal(t, "parts", h.count(`SELECT count(*) FROM outbox`), parts)
	equal(t, "history", len(h.story(c, 1<<60, 50)), 1)
	s := must(h.Summary(t.Context(), c))(t)
	equal(t, "the summary", s.Text, "All of it.")
	h.clock.add(time.Hour)
	found, _, err := h.Audit(t.Context(), 0, func(int64) bool { return false })
	check(t, err)
	equal(t, "astray", len(found), 0)
	c.SincePos = 2
	equal(t, "after /new", must(h.Summary(t.Context(), c))(t).ID, int64(0))
}

func TestATaskThatFailsRestsLongerEachTime(t *testing.T) {
	h := newHome(t)
	c := h.talk(h.ann, "one", "1").Conversation
	for _, rest := range []time.Duration{taskRest, 2 * taskRest, 4 * taskRest} {
		got := h.task(c)
		check(t, h.QueueTask(t.Context(), c.ID, TaskSummary, 0)) // it is asked for already
		check(t, h.EndTask(t.Context(), got.Run.ID, TaskDone{Failed: "empty", Summary: &Summary{Conversation: c.ID, From: 1, To: 2, Text: "x"}}))
		equal(t, "summaries", must(h.Summary(t.Context(), c))(t).ID, int64(0))
		check(t, h.QueueTask(t.Context(), c.ID, TaskSummary, 0))
		equal(t, "open tasks", h.count(`SELECT count(*) FROM run WHERE task != '' AND state = 'queued'`), 1)
		equal(t, "it rests", must(h.NextTask(t.Context()))(t).Sub(h.clock.now()), rest)
		h.clock.add(rest)
	}
	got := h.task(c)
	check(t, h.EndTask(t.Context(), got.Run.ID, TaskDone{}))
	check(t, h.QueueTask(t.Context(), c.ID, TaskSummary, 0))
	equal(t, "after a good one", must(h.NextTask(t.Context()))(t), h.clock.now())
}

func TestStandingIsRulesAndPinsOfAScope(t *testing.T) {
	h := newHome(t)
	mine, bobs := h.private(h.ann), h.private(h.bob)
	pin := h.remember(mine, "the pin")
	h.do(func(tx *Tx) error { _, err := tx.Pin(mine, pin.ID, true); return err })
	h.remember(mine, "neither")
	_, _, err := h.Remember(t.Context(), Memory{Kind: "rule", Text: "the rule", Source: "command"}, mine)
	check(t, err)
	_, _, err = h.Remember(t.Context(), Memory{Kind: "rule", Text: "bob's rule", Source: "command"}, bobs)
	check(t, err)
	var texts []string
	for _, m := range must(h.Standing(t.Context(), mine))(t) {
		texts = append(texts, m.Text)
	}
	if len(texts) != 2 || texts[0] != "the pin" || texts[1] != "the rule" {
		t.Errorf("standing: %q", texts)
	}
}
