package vault

import (
	"testing"
	"time"
)

func TestClaimTakesTheOldestOfTheHighestPriority(t *testing.T) {
	h := newHome(t)
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)

	c := must(h.PrivateConversation(t.Context(), h.cem.ID))(t)
	j := must(h.AddJob(t.Context(), Job{Kind: Do, Person: h.cem.ID, Conversation: c.ID, Zone: "UTC", Text: "look", Next: h.clock.now()}))(t)
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next}))
	job := must(h.OpenRunOf(t.Context(), j.ID))(t)
	first := h.accept(h.ann, "one")
	second := h.accept(h.bob, "two")
	for _, want := range []int64{first, second, job} {
		equal(t, "run", h.claim().Run.ID, want)
	}
	_, err = h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
}

func TestConversationHasOneActiveRunAndKeepsItsOrder(t *testing.T) {
	h := newHome(t)
	first := h.accept(h.ann, "one")
	second := h.accept(h.ann, "two")
	third := h.accept(h.ann, "three")
	other := h.accept(h.bob, "other")

	equal(t, "first", h.claim().Run.ID, first)
	equal(t, "then another conversation", h.claim().Run.ID, other)
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)

	// A run that must wait for its model holds back those behind it.
	check(t, h.Requeue(t.Context(), first, h.clock.now().Add(time.Minute), true))
	_, err = h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
	equal(t, "next ready", must(h.NextReady(t.Context()))(t).Before(h.clock.now().Add(time.Minute)), true)
	h.clock.add(time.Minute)
	got := h.claim()
	equal(t, "the first again", got.Run.ID, first)
	equal(t, "retries", got.Run.Retries, 1)

	// One that waits for a person holds back nothing.
	h.step(got, StepDone{Step: Step{Text: "may I?"}, Park: true, Calls: []Call{{Tool: "send", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: []string{"approve", "deny"}}}}})
	equal(t, "second", h.claim().Run.ID, second)
	check(t, h.EndRun(t.Context(), second, Ending{State: Done, Reply: "two"}))
	// And goes before those that came after it once it is answered.
	h.do(func(tx *Tx) error { _, err := tx.Decide(1, h.ann, "approve"); return err })
	equal(t, "the first, answered", h.claim().Run.ID, first)
	check(t, h.EndRun(t.Context(), first, Ending{State: Done, Reply: "one"}))
	equal(t, "third", h.claim().Run.ID, third)
}

func TestPauseHoldsRunsAndNothingElse(t *testing.T) {
	h := newHome(t)
	h.do(func(tx *Tx) error { return tx.Pause(true) })
	run := h.accept(h.ann, "hello")
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
	h.reopen()
	equal(t, "paused after a restart", must(h.Paused(t.Context()))(t), true)
	_, err = h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
	h.do(func(tx *Tx) error { return tx.Pause(false) })
	equal(t, "run", h.claim().Run.ID, run)
}

func TestRunQueuedByAClockInTheFutureIsNotForgotten(t *testing.T) {
	h := newHome(t)
	h.clock.add(10 * 365 * 24 * time.Hour)
	run := must(h.Accept(t.Context(), h.says(h.ann, "hello"), h.ann, time.Second))(t).Run
	h.clock.add(-10 * 365 * 24 * time.Hour) // set right
	equal(t, "run", h.claim().Run.ID, run)
	check(t, h.Requeue(t.Context(), run, h.clock.now().Add(longestWait), false)) // but this it was told
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
}

func TestClaimGivesAllThatIsKnown(t *testing.T) {
	h := newHome(t)
	h.clock.add(time.Second)
	queued := h.clock.now()
	run := h.accept(h.ann, "hello")
	h.clock.add(time.Second)
	p := h.claim()
	equal(t, "id", p.Run.ID, run)
	equal(t, "state", p.Run.State, Running)
	equal(t, "queued", p.Run.Queued, queued)
	equal(t, "claimed", p.Run.Claimed, queued.Add(time.Second))
	equal(t, "started", p.Run.Started, p.Run.Claimed)
	equal(t, "ended", p.Run.Ended.IsZero(), true)
	equal(t, "person", p.Person.ID, h.ann.ID)
	equal(t, "conversation", p.Conversation.Person, h.ann.ID)
	equal(t, "message", p.Messages[0].Text, "hello")
	equal(t, "comes after its message", p.Run.Pos > p.Messages[0].Pos, true)
	_, err := h.Progress(t.Context(), run+1)
	wantErr(t, err, ErrNotFound)
}

func TestRunsFoundRunningAreQueuedAgain(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	h.step(p, StepDone{Step: Step{Text: "thinking"}})
	h.clock.add(time.Minute)
	h.reopen()
	again := h.claim()
	equal(t, "run", again.Run.ID, p.Run.ID)
	equal(t, "started", again.Run.Started, p.Run.Started)
	equal(t, "claimed", again.Run.Claimed, h.clock.now())
	equal(t, "place in the history", again.Run.Pos, p.Run.Pos)
	equal(t, "steps", len(again.Steps), 1)
}

func TestTimeWorkedIsSummedOverAllLives(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	h.clock.add(3 * time.Second)
	check(t, h.Requeue(t.Context(), p.Run.ID, h.clock.now(), false))
	h.clock.add(time.Hour) // waiting is no work
	p = h.claim()
	equal(t, "retries", p.Run.Retries, 0)
	equal(t, "worked", p.Run.Worked, 3*time.Second)
	h.clock.add(2 * time.Second)
	h.step(p, StepDone{Park: true, Calls: []Call{{Tool: "send", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: []string{"approve", "deny"}}}}})
	h.clock.add(time.Hour)
	h.do(func(tx *Tx) error { _, err := tx.Decide(1, h.ann, "deny"); return err })
	p = h.claim()
	equal(t, "worked", p.Run.Worked, 5*time.Second)
	h.clock.add(-time.Hour) // a clock that goes back takes nothing away
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "ok"}))
	equal(t, "worked", h.progress(p.Run.ID).Run.Worked, 5*time.Second)
}

func TestEndRunPostsTheReplyAndEndsInOneCommit(t *testing.T) {
	h := newHome(t)
	in := h.saysIn("-5", h.ann, "hello")
	in.Thread = "7"
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	p := h.claim()
	h.clock.add(time.Second)
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Failed, Reason: "step limit", Reply: "I give up."}))
	r := h.progress(p.Run.ID).Run
	equal(t, "state", r.State, Failed)
	equal(t, "reason", r.Reason, "step limit")
	equal(t, "ended", r.Ended, h.clock.now())
	part := h.parts()[0]
	equal(t, "where", part.To, in.Address())
	equal(t, "class", part.Class, Answer)
	equal(t, "text", part.Text, "I give up.")
	equal(t, "state of the part", part.State, "sending")
	equal(t, "run of the part", part.Run, r.ID)
	equal(t, "reply", must(h.Reply(t.Context(), r.ID))(t), "I give up.")
	wantErr(t, h.EndRun(t.Context(), r.ID, Ending{State: Done, Reply: "again"}), ErrNotRunning)
	equal(t, "parts", len(h.parts()), 1)

	silent := h.claimed(h.bob, "hello")
	check(t, h.EndRun(t.Context(), silent.Run.ID, Ending{State: Done}))
	equal(t, "parts after a silent end", len(h.parts()), 1)
	equal(t, "reply", must(h.Reply(t.Context(), silent.Run.ID))(t), "")

	// A run whose reply cannot be posted does not end.
	failing := h.claimed(h.cem, "hello")
	err := h.EndRun(t.Context(), failing.Run.ID, Ending{State: Done, Reply: "x", Class: "nonsense"})
	equal(t, "error", err != nil, true)
	equal(t, "state", h.progress(failing.Run.ID).Run.State, Running)
}

func TestNothingIsCommittedForARunThatIsNotRunning(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	h.step(p, StepDone{Step: Step{Text: "x"}, Calls: []Call{{Tool: "send", Args: "{}", Effect: "acts"}}})
	p = h.progress(p.Run.ID)
	equal(t, "stopped", len(must(h.StoppedAmong(t.Context(), []int64{p.Run.ID}))(t)), 0)
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	equal(t, "stopped", must(h.StoppedAmong(t.Context(), []int64{p.Run.ID}))(t)[0], p.Run.ID)

	ctx := t.Context()
	_, err := h.SaveStep(ctx, p.Run.ID, stepOf(p, StepDone{Step: Step{Text: "late"}}))
	wantErr(t, err, ErrNotRunning)
	_, err = h.SaveContext(ctx, p.Run.ID, "late")
	wantErr(t, err, ErrNotRunning)
	wantErr(t, h.EndRun(ctx, p.Run.ID, Ending{State: Done, Reply: "late"}), ErrNotRunning)
	wantErr(t, h.Requeue(ctx, p.Run.ID, h.clock.now(), false), ErrNotRunning)
	wantErr(t, h.Park(ctx, p.Run.ID), ErrNotRunning)
	wantErr(t, h.StartCall(ctx, p.Calls[0]), ErrNotRunning)
	wantErr(t, h.AskUnknown(ctx, p.Calls[0], Question{Text: "?", Choices: []string{"drop"}}), ErrNotRunning)
	equal(t, "steps", len(h.progress(p.Run.ID).Steps), 1)
	equal(t, "parts", len(h.parts()), 0)
	equal(t, "questions", h.count(`SELECT count(*) FROM approval`), 0)
}

func TestSaveContextOnce(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	equal(t, "first", must(h.SaveContext(t.Context(), p.Run.ID, "now: 9:00"))(t), "now: 9:00")
	equal(t, "second", must(h.SaveContext(t.Context(), p.Run.ID, "now: 9:01"))(t), "now: 9:00")
	equal(t, "stored", h.progress(p.Run.ID).Run.Context, "now: 9:00")
}

func TestNoticeWaitingOnce(t *testing.T) {
	h := newHome(t)
	run := h.accept(h.ann, "hello")
	for range 3 {
		check(t, h.NoticeWaiting(t.Context(), run, "My model does not answer; I keep trying."))
	}
	equal(t, "parts", len(h.parts()), 1)
	equal(t, "class", h.parts()[0].Class, Status)
	equal(t, "key", h.parts()[0].Key, LineKey(run))
	ended := h.claim()
	check(t, h.EndRun(t.Context(), ended.Run.ID, Ending{State: Done}))
	check(t, h.NoticeWaiting(t.Context(), ended.Run.ID, "late"))
	equal(t, "parts", len(h.parts()), 1)
}

func TestRunsAreListed(t *testing.T) {
	h := newHome(t)
	a, b := h.accept(h.ann, "a"), h.accept(h.bob, "b")
	list := func(runs []Run, err error) (out []int64) {
		for _, r := range must(runs, err)(t) {
			out = append(out, r.ID)
		}
		return out
	}
	equal(t, "all", list(h.Runs(t.Context(), 0, 10))[0], b)
	equal(t, "newest", len(list(h.Runs(t.Context(), 0, 1))), 1)
	equal(t, "Ann's", list(h.Runs(t.Context(), h.ann.ID, 10))[0], a)
	equal(t, "open", list(h.OpenRuns(t.Context(), 0))[0], a)
	equal(t, "open of Bob", list(h.OpenRuns(t.Context(), h.progress(b).Conversation.ID))[0], b)
	p := h.claim()
	equal(t, "at work", list(h.AtWork(t.Context(), "telegram"))[0], p.Run.ID)
	equal(t, "at work elsewhere", len(list(h.AtWork(t.Context(), "whatsapp"))), 0)
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done}))
	equal(t, "open", len(list(h.OpenRuns(t.Context(), 0))), 1)
}
