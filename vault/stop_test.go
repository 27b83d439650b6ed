package vault

import (
	"testing"
	"time"
)

func TestStopEndsWhatIsActiveAndKeepsWhatQueues(t *testing.T) {
	h := newHome(t)
	waiting := asking(h, h.says(h.ann, "write Bob"), h.ann, time.Time{})
	p, c := calling(h, Call{Tool: "send", Effect: "acts"})
	check(t, h.StartCall(t.Context(), c))
	next := h.accept(h.ann, "and then")
	other := h.claimed(h.bob, "something else")

	var halted Halted
	h.do(func(tx *Tx) (err error) {
		halted, err = tx.Stop(p.Conversation.ID)
		return err
	})
	equal(t, "stopped", len(halted.Stopped), 2)
	equal(t, "stopped first", halted.Stopped[0].ID, waiting.Run.ID)
	equal(t, "stopped second", halted.Stopped[1].ID, p.Run.ID)
	equal(t, "kept", len(halted.Kept), 1)
	equal(t, "kept", halted.Kept[0].ID, next)
	equal(t, "unsure", len(halted.Unsure), 1)
	equal(t, "unsure", halted.Unsure[0].ID, c.ID)

	for _, run := range []int64{waiting.Run.ID, p.Run.ID} {
		r := h.progress(run).Run
		equal(t, "state", r.State, Stopped)
		equal(t, "reason", r.Reason, "stopped by a person")
		equal(t, "ended", r.Ended, h.clock.now())
	}
	got := h.progress(waiting.Run.ID)
	equal(t, "question", got.Approvals[0].State, "expired")
	equal(t, "its call", got.Calls[0].State, Given)
	_, err := h.decide(1, h.ann, "approve")
	wantErr(t, err, ErrDecided)
	equal(t, "call that had begun", h.progress(p.Run.ID).Calls[0].State, Unknown)
	equal(t, "another conversation", h.progress(other.Run.ID).Run.State, Running)
	equal(t, "what is next", h.claim().Run.ID, next)
}

func TestStopAlsoStopsARunThatWaitsToBeTriedAgain(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "hello")
	check(t, h.Requeue(t.Context(), p.Run.ID, h.clock.now().Add(time.Minute), true))
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	equal(t, "state", h.progress(p.Run.ID).Run.State, Stopped)
	answered := asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
	_, err := h.decide(1, h.ann, "approve")
	check(t, err)
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	equal(t, "state of one that was approved", h.progress(answered.Run.ID).Run.State, Stopped)
}

func TestStopDropsUnsentParts(t *testing.T) {
	h := newHome(t)
	p := asking(h, h.says(h.ann, "write"), h.ann, time.Time{}) // its question is posted as sending
	foreign := h.post(Part{Text: "of nobody"})
	progress := h.post(Part{Text: "progress", Class: Status, Run: p.Run.ID})
	question := h.parts()[0]
	equal(t, "state before", question.State, "sending")
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	equal(t, "question", h.part(question.ID).State, "dropped")
	wantErr(t, h.Sending(t.Context(), question), ErrNotFound) // the outbox had it in hand already
	equal(t, "progress", h.part(progress.ID).State, "dropped")
	wantTexts(t, "heads", h.heads(), "of nobody")
	equal(t, "other part", h.part(foreign.ID).State, "waiting")
}

func TestPartInTheAirOfAStoppedRunIsNotSentAgain(t *testing.T) {
	for outcome, want := range map[Outcome]string{NotSent: "dropped", MayHaveSent: "dropped"} {
		h := newHome(t)
		p := asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
		question := h.parts()[0]
		check(t, h.Sending(t.Context(), question))
		h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
		equal(t, "in the air", h.part(question.ID).State, "sending")
		check(t, h.Undelivered(t.Context(), question, outcome, "x", h.clock.now()))
		equal(t, string(outcome), h.part(question.ID).State, want)
	}
	h := newHome(t)
	p := asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
	question := h.parts()[0]
	check(t, h.Sending(t.Context(), question))
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	check(t, h.Delivered(t.Context(), question, "m1"))
	equal(t, "one that arrived", h.part(question.ID).State, "sent")
}

func TestStopRun(t *testing.T) {
	h := newHome(t)
	run := h.accept(h.ann, "hello")
	h.do(func(tx *Tx) error {
		r, err := tx.StopRun(run)
		equal(t, "run", r.ID, run)
		return err
	})
	equal(t, "state", h.progress(run).Run.State, Stopped)
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
	for _, number := range []int64{run, 99} {
		wantErr(t, h.Do(t.Context(), "stop", func(tx *Tx) error { _, err := tx.StopRun(number); return err }), ErrNotFound)
	}
}

func TestResumeRunGoesOnWhereItWas(t *testing.T) {
	h := newHome(t)
	p, c := calling(h, Call{Tool: "send", Effect: "acts"})
	check(t, h.StartCall(t.Context(), c))
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	must(h.ResumeRun(t.Context(), p.Run.ID))(t)
	_, err := h.ResumeRun(t.Context(), p.Run.ID)
	wantErr(t, err, ErrNotFound) // it is open
	p = h.claim()
	equal(t, "steps", len(p.Steps), 1)
	equal(t, "call", p.Calls[0].State, Started)
	wantErr(t, h.StartCall(t.Context(), p.Calls[0]), ErrMustNotBegin) // not unasked
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Failed, Reply: "one"}))
	must(h.ResumeRun(t.Context(), p.Run.ID))(t)
	h.claim()
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "two"}))
	wantTexts(t, "said", texts(h.parts()), "one", "two")
	_, err = h.ResumeRun(t.Context(), p.Run.ID)
	wantErr(t, err, ErrNotFound) // it is done
}

func TestStopOfAJobsRunEndsTheJob(t *testing.T) {
	h := newHome(t)
	j := h.goal(h.ann, "look", h.clock.now(), "")
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next}))
	p := h.claim()
	h.do(func(tx *Tx) error { _, err := tx.Stop(p.Conversation.ID); return err })
	got := h.job(j.ID)
	equal(t, "state", got.State, JobCancelled)
	equal(t, "result", got.LastResult, "stopped: stopped by a person")
}
