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

// nextTask is when background work may begin.
func (h *home) nextTask() time.Time {
	h.t.Helper()
	for _, r := range must(h.Unended(h.t.Context()))(h.t) {
		if r.Task != "" && r.State == Queued {
			return r.Ready
		}
	}
	h.t.Fatal("no background work waits")
	return time.Time{}
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
	equal(t, "next", h.nextTask(), h.clock.now().Add(time.Minute))
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
		equal(t, "it rests", h.nextTask().Sub(h.clock.now()), rest)
		h.clock.add(rest)
	}
	got := h.task(c)
	check(t, h.EndTask(t.Context(), got.Run.ID, TaskDone{}))
	check(t, h.QueueTask(t.Context(), c.ID, TaskSummary, 0))
	equal(t, "after a good one", h.nextTask(), h.clock.now())
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
	for _, m := range must(h.Opening(t.Context(), mine, 0, "head:1"))(t).Standing {
		texts = append(texts, m.Text)
	}
	if len(texts) != 2 || texts[0] != "the pin" || texts[1] != "the rule" {
		t.Errorf("standing: %q", texts)
	}
}

// A summary may tell a fact in other words: it goes with the fact, from every talk of the person, and so does one that is
// being made at that moment, whose end is refused. Another's summaries stay.
func TestForgettingTakesSummariesAlong(t *testing.T) {
	for _, place := range []string{"private", "group", "household"} {
		t.Run(place, func(t *testing.T) {
			h := newHome(t)
			mine := h.talk(h.ann, "Ann is allergic to hazelnuts", "ok").Conversation
			bobs := h.talk(h.bob, "hello", "ok").Conversation
			must(h.Accept(t.Context(), h.saysIn("-1", h.ann, "in the group"), h.ann, 0))(t)
			got := h.claim()
			group := got.Conversation
			check(t, h.EndRun(t.Context(), got.Run.ID, Ending{State: Done, Reply: "ok"}))
			scope := ScopeOf(mine, h.ann.ID)
			if place == "group" {
				scope = ScopeOf(group, h.ann.ID)
			}
			m := h.remember(scope, "Ann is allergic to hazelnuts")
			if place == "household" {
				h.do(func(tx *Tx) error {
					_, err := tx.exec(`UPDATE memory SET scope = 'household' WHERE id = ?`, m.ID)
					return err
				})
			}
			for _, c := range []Conversation{mine, bobs, group} {
				got := h.task(c)
				check(t, h.EndTask(t.Context(), got.Run.ID, TaskDone{Summary: &Summary{Conversation: c.ID, From: 1, To: 2, Text: "SUMMARY: Ann cannot eat those nuts.", Model: "m"}}))
			}
			during := h.task(mine)
			must(h.Forget(t.Context(), scope, m.ID))(t)
			for _, c := range []Conversation{mine, group} {
				equal(t, "a summary of "+string(c.Kind), must(h.Summary(t.Context(), c))(t).Text, "")
			}
			kept := "SUMMARY: Ann cannot eat those nuts."
			if place == "household" {
				kept = ""
			}
			equal(t, "Bob's summary", must(h.Summary(t.Context(), bobs))(t).Text, kept)
			late := &Summary{Conversation: mine.ID, From: 1, To: 2, Text: "SUMMARY: Ann cannot eat those nuts.", Model: "m"}
			if err := h.EndTask(t.Context(), during.Run.ID, TaskDone{Summary: late}); !errors.Is(err, ErrNotRunning) {
				t.Errorf("what has read the fact ends with %v", err)
			}
			equal(t, "a summary after that", must(h.Summary(t.Context(), mine))(t).Text, "")
			equal(t, "the next one", h.task(mine).Run.Task, TaskSummary)
		})
	}
}
