package vault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDueJobs(t *testing.T) {
	h := newHome(t)
	equal(t, "none", must(h.NextDue(t.Context()))(t).IsZero(), true)
	second := h.reminder(h.ann, "second", h.clock.now().Add(2*time.Minute))
	first := h.reminder(h.ann, "first", h.clock.now().Add(time.Minute))
	h.reminder(h.ann, "later", h.clock.now().Add(time.Hour))
	equal(t, "next due", must(h.NextDue(t.Context()))(t), first.Next)
	h.clock.add(time.Minute - time.Millisecond)
	equal(t, "due", len(must(h.DueJobs(t.Context(), 10))(t)), 0)
	h.clock.add(time.Minute + time.Millisecond)
	due := must(h.DueJobs(t.Context(), 10))(t)
	equal(t, "due", len(due), 2)
	equal(t, "earliest first", due[0].ID, first.ID)
	equal(t, "then", due[1].ID, second.ID)
	equal(t, "bounded", len(must(h.DueJobs(t.Context(), 1))(t)), 1)
}

func TestSpokenJobIsRunPartAndNextInOneCommit(t *testing.T) {
	h := newHome(t)
	daily := h.addJob(Job{Kind: Say, Person: h.ann.ID, Text: "stretch", Next: h.clock.now(), Spec: "every day 09:00"})
	next := daily.Next.Add(24 * time.Hour)
	h.do(func(tx *Tx) error { return tx.Pause(true) }) // spoken ones speak all the same
	boom := func(string) error { return errPowerCut }
	h.hooks.Before = boom
	wantErr(t, h.Fire(t.Context(), daily, Firing{Due: daily.Next, Next: next, Words: "Stretch!"}), errPowerCut)
	h.hooks.Before = nil
	equal(t, "runs after a cut", h.count(`SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM outbox) + (SELECT count(*) FROM fire) + (SELECT count(*) FROM message)`), 0)
	equal(t, "next after a cut", h.job(daily.ID).Next, daily.Next)

	check(t, h.Fire(t.Context(), daily, Firing{Due: daily.Next, Next: next, Words: "Stretch!", Late: "I was off"}))
	r := must(h.Runs(t.Context(), 0, 10))(t)[0]
	equal(t, "trigger", r.Trigger, "job")
	equal(t, "state", r.State, Done)
	equal(t, "job", r.Job, daily.ID)
	equal(t, "due", r.Due, daily.Next)
	p := h.parts()[0]
	equal(t, "class", p.Class, Reminder)
	equal(t, "text", p.Text, "Stretch!")
	equal(t, "late", p.Late, "I was off")
	equal(t, "due", p.Due, daily.Next)
	equal(t, "state", p.State, "sending")
	equal(t, "to", p.To, daily.To)
	equal(t, "history", h.str(`SELECT role || ':' || text FROM message`), "assistant:Stretch!")
	got := h.job(daily.ID)
	equal(t, "next", got.Next, next)
	equal(t, "state", got.State, JobWaiting)
	equal(t, "last due", got.LastDue, daily.Next)
	equal(t, "fired", got.Fired, 1)
	equal(t, "result", got.LastResult, "on its way")
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle) // no slot, no model
	h.send()
	equal(t, "result", h.job(daily.ID).LastResult, "delivered")
	equal(t, "state", h.job(daily.ID).State, JobWaiting)
}

func TestSCH22FiresOnceForADueInstant(t *testing.T) {
	h := newHome(t)
	for _, kind := range []string{Say, Do} {
		j := h.addJob(Job{Kind: kind, Person: h.ann.ID, Text: "digest", Next: h.clock.now(), Spec: "every day 22:00"})
		f := Firing{Due: j.Next, Next: j.Next.Add(24 * time.Hour), Words: "digest"}
		check(t, h.Fire(t.Context(), j, f))
		runs := h.count(`SELECT count(*) FROM run WHERE job_id = ?`, j.ID)
		for range 2 {
			h.reopen()
			wantErr(t, h.Fire(t.Context(), j, f), ErrNotFound) // with what was read before the restart
		}
		// Even when somebody sets it to the same instant again.
		_, err := h.inJob(func(tx *Tx) (Job, error) {
			return tx.ChangeJob(j.ID, h.ann, &Reschedule{Next: j.Next, Spec: j.Spec, Zone: "UTC"}, "")
		})
		check(t, err)
		check(t, h.Fire(t.Context(), h.job(j.ID), f))
		equal(t, "runs", h.count(`SELECT count(*) FROM run WHERE job_id = ?`, j.ID), runs)
		equal(t, "fired", h.job(j.ID).Fired, 1)
		equal(t, "next", h.job(j.ID).Next, f.Next)
	}
	equal(t, "parts", len(h.parts()), 1)
}

func TestSCH38AJobThatWasChangedMeanwhileDoesNotFire(t *testing.T) {
	h := newHome(t)
	j := h.reminder(h.ann, "x", h.clock.now())
	read := must(h.DueJobs(t.Context(), 1))(t)[0]
	_, err := h.inJob(func(tx *Tx) (Job, error) {
		return tx.ChangeJob(j.ID, h.ann, &Reschedule{Next: j.Next.Add(time.Hour), Zone: "UTC"}, "")
	})
	check(t, err)
	wantErr(t, h.Fire(t.Context(), read, Firing{Due: read.Next, Words: "x"}), ErrNotFound)
	_, err = h.inJob(func(tx *Tx) (Job, error) { return tx.CancelJob(j.ID, h.ann) })
	check(t, err)
	wantErr(t, h.Fire(t.Context(), h.job(j.ID), Firing{Due: j.Next, Words: "x"}), ErrNotFound)
	equal(t, "runs", h.count(`SELECT count(*) FROM run`), 0)
}

func TestGoalBecomesARun(t *testing.T) {
	h := newHome(t)
	j := h.goal(h.ann, "look at the weather", h.clock.now(), "")
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next}))
	equal(t, "open run", must(h.OpenRunOf(t.Context(), j.ID))(t), 1)
	equal(t, "state", h.job(j.ID).State, JobFiring)
	p := h.claim()
	equal(t, "goal", p.Run.Input, "look at the weather")
	equal(t, "trigger", p.Run.Trigger, "job")
	equal(t, "due", p.Run.Due, j.Next)
	equal(t, "person", p.Person.ID, h.ann.ID)
	equal(t, "place in the history", p.Run.Pos > 0, true)
	h.step(p, StepDone{Step: Step{Text: "It rains."}, End: &Ending{State: Done, Reply: "It rains."}})
	equal(t, "until it is delivered", h.job(j.ID).State, JobFiring)
	equal(t, "open run", must(h.OpenRunOf(t.Context(), j.ID))(t), 0)
	h.send()
	equal(t, "delivered", h.job(j.ID).State, JobDone)
	equal(t, "result", h.job(j.ID).LastResult, "delivered")
}

func TestHowOneOffsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		kind   string
		after  func(h *home, j Job)
		state  JobState
		result string
	}{
		"said and delivered": {Say, func(h *home, _ Job) { h.send() }, JobDone, "delivered"},
		"said and not yet":   {Say, func(*home, Job) {}, JobFiring, "on its way"},
		"said and refused": {Say, func(h *home, _ Job) {
			check(h.t, h.Undelivered(h.t.Context(), h.parts()[0], Refused, "blocked", time.Time{}))
		}, JobFailed, "not delivered: blocked"},
		"refused, then taken": {Say, func(h *home, _ Job) {
			check(h.t, h.Undelivered(h.t.Context(), h.parts()[0], Refused, "blocked", time.Time{}))
			check(h.t, h.RetryPart(h.t.Context(), 1))
			h.send()
		}, JobDone, "delivered"},
		"given up by a person": {Say, func(h *home, _ Job) {
			check(h.t, h.Undelivered(h.t.Context(), h.parts()[0], NotSent, "no network", h.clock.now()))
			check(h.t, h.DropPart(h.t.Context(), 1))
		}, JobFailed, "not delivered: given up by a person"},
		"done in silence": {Do, func(h *home, _ Job) {
			check(h.t, h.EndRun(h.t.Context(), h.claim().Run.ID, Ending{State: Done}))
		}, JobDone, "done: stayed silent"},
		"done as a notice": {Do, func(h *home, _ Job) {
			check(h.t, h.EndRun(h.t.Context(), h.claim().Run.ID, Ending{State: Done, Reply: "x", Class: Notice}))
			h.send()
		}, JobDone, "delivered"},
		"run failed": {Do, func(h *home, _ Job) {
			check(h.t, h.EndRun(h.t.Context(), h.claim().Run.ID, Ending{State: Failed, Reason: "step limit", Reply: "sorry"}))
			h.send()
		}, JobFailed, "failed: step limit"},
		"answer refused": {Do, func(h *home, _ Job) {
			check(h.t, h.EndRun(h.t.Context(), h.claim().Run.ID, Ending{State: Done, Reply: "x"}))
			check(h.t, h.Undelivered(h.t.Context(), h.parts()[0], Refused, "blocked", time.Time{}))
		}, JobFailed, "not delivered: blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			j := h.addJob(Job{Kind: c.kind, Person: h.ann.ID, Text: "x", Next: h.clock.now()})
			check(t, h.Fire(t.Context(), j, Firing{Due: j.Next, Words: "x"}))
			c.after(h, j)
			got := h.job(j.ID)
			equal(t, "state", got.State, c.state)
			equal(t, "result", got.LastResult, c.result)
			equal(t, "next", got.Next.IsZero(), true)
		})
	}
}

func TestSCH23MissedInstantsAreRecorded(t *testing.T) {
	h := newHome(t)
	first := h.clock.now()
	day := 24 * time.Hour
	j := h.addJob(Job{Kind: Say, Person: h.ann.ID, Text: "x", Next: first, Spec: "every day 09:00"})
	h.clock.add(3*day + time.Hour)
	f := Firing{Due: first.Add(3 * day), Next: first.Add(4 * day), Missed: []time.Time{first, first.Add(day), first.Add(2 * day)}, Words: "x", Late: "I was off"}
	check(t, h.Fire(t.Context(), j, f))
	due, results, err := h.Fires(t.Context(), j.ID, 10)
	check(t, err)
	if diff := cmp.Diff([]time.Time{first.Add(3 * day), first.Add(2 * day), first.Add(day), first}, due); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"fired", "missed", "missed", "missed"}, results); diff != "" {
		t.Error(diff)
	}
	equal(t, "parts", len(h.parts()), 1)
}

func TestSkippedInstantsAreRecordedAndSayNothing(t *testing.T) {
	h := newHome(t)
	once := h.reminder(h.ann, "x", h.clock.now())
	check(t, h.Fire(t.Context(), once, Firing{Due: once.Next, Skip: "missed"}))
	equal(t, "a one-off", h.job(once.ID).State, JobDone)
	daily := h.addJob(Job{Kind: Do, Person: h.ann.ID, Text: "x", Next: h.clock.now(), Spec: "every minute"})
	next := daily.Next.Add(time.Minute)
	check(t, h.Fire(t.Context(), daily, Firing{Due: daily.Next, Next: next, Skip: "the last one still runs"}))
	got := h.job(daily.ID)
	equal(t, "next", got.Next, next)
	equal(t, "state", got.State, JobWaiting)
	equal(t, "result", got.LastResult, "the last one still runs")
	equal(t, "last due", got.LastDue, daily.Next)
	equal(t, "fired", got.Fired, 0)
	equal(t, "runs and parts", h.count(`SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM outbox)`), 0)
	_, results, err := h.Fires(t.Context(), daily.ID, 10)
	check(t, err)
	wantTexts(t, "record", results, "the last one still runs")
}

func TestJobsMadeAtTheMachineSpeakOnThePhone(t *testing.T) {
	h := newHome(t)
	c := must(h.PrivateConversation(t.Context(), h.ann.ID))(t)
	for _, kind := range []string{Say, Do} {
		j := must(h.AddJob(t.Context(), Job{Kind: kind, Person: h.ann.ID, Conversation: c.ID, To: TerminalAddress(h.ann.ID), Zone: "UTC", Text: "x", Next: h.clock.now()}))(t)
		check(t, h.Fire(t.Context(), j, Firing{Due: j.Next, Words: "x"}))
	}
	check(t, h.EndRun(t.Context(), h.claim().Run.ID, Ending{State: Done, Reply: "y"}))
	for _, p := range h.parts() {
		equal(t, p.Text, p.To.Gateway+p.To.Chat, "telegram1")
	}
	equal(t, "parts", len(h.parts()), 2)

	// What was asked at the terminal is answered there.
	in := h.says(h.ann, "hello")
	in.Gateway, in.Account, in.Chat = "terminal", "local", "1"
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	check(t, h.EndRun(t.Context(), h.claim().Run.ID, Ending{State: Done, Reply: "hello"}))
	equal(t, "answer", h.parts()[2].To.Gateway, "terminal")
}

func TestSCH26TwoJobsDueAtTheSameMinuteRunOnceEach(t *testing.T) {
	h := newHome(t)
	a, b := h.goal(h.ann, "a", h.clock.now(), ""), h.goal(h.ann, "b", h.clock.now(), "")
	for _, j := range must(h.DueJobs(t.Context(), 10))(t) {
		check(t, h.Fire(t.Context(), j, Firing{Due: j.Next}))
	}
	equal(t, "due", len(must(h.DueJobs(t.Context(), 10))(t)), 0)
	for _, want := range []int64{a.ID, b.ID} {
		p := h.claim()
		equal(t, "job", p.Run.Job, want)
		equal(t, "due while it runs", len(must(h.DueJobs(t.Context(), 10))(t)), 0)
		check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done}))
	}
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
}
