package vault

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reminder makes a one-off that speaks, goal one that wakes the agent.
func (h *home) reminder(who Person, words string, next time.Time) Job {
	return h.addJob(Job{Kind: Say, Person: who.ID, Text: words, Next: next})
}

func (h *home) goal(who Person, words string, next time.Time, spec string) Job {
	return h.addJob(Job{Kind: Do, Person: who.ID, Text: words, Next: next, Spec: spec})
}

func (h *home) addJob(j Job) Job {
	h.t.Helper()
	j.Conversation = must(h.PrivateConversation(h.t.Context(), j.Person))(h.t).ID
	j.To, j.Zone = to(fmt.Sprint(j.Person)), "Europe/Lisbon"
	return must(h.AddJob(h.t.Context(), j))(h.t)
}

func (h *home) job(number int64) Job {
	h.t.Helper()
	return must(h.Job(h.t.Context(), number))(h.t)
}

// inJob runs a change of one job and gives what it gives.
func (h *home) inJob(f func(*Tx) (Job, error)) (j Job, err error) {
	h.t.Helper()
	err = h.Do(h.t.Context(), "job", func(tx *Tx) (err error) {
		j, err = f(tx)
		return err
	})
	return j, err
}

func TestAddJobOnceAKey(t *testing.T) {
	h := newHome(t)
	c := must(h.PrivateConversation(t.Context(), h.ann.ID))(t)
	want := Job{
		Key: "call:5", Kind: Say, Person: h.ann.ID, Conversation: c.ID, To: Address{"telegram", "bot", "1", "7"}, Text: "stretch", Spec: "every day 08:00", Words: "every day at 8",
		Zone: "Europe/Lisbon", Missed: "all", Next: h.clock.now().Add(time.Hour), Chain: 2, CreatedByRun: 4,
	}
	got := must(h.AddJob(t.Context(), want))(t)
	want.ID, want.State, want.Created, want.Changed = 1, JobWaiting, h.clock.now(), h.clock.now()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	h.clock.add(time.Second)
	again := want
	again.Text = "other"
	if diff := cmp.Diff(want, must(h.AddJob(t.Context(), again))(t)); diff != "" {
		t.Error(diff)
	}
	check(t, must2(h.inJob(func(tx *Tx) (Job, error) { return tx.CancelJob(1, h.ann) }))(t))
	equal(t, "after it was cancelled", must(h.AddJob(t.Context(), again))(t).State, JobCancelled)
	equal(t, "jobs", len(must(h.Jobs(t.Context(), 0, false, 10))(t)), 1)
	equal(t, "missed by default", h.reminder(h.ann, "x", h.clock.now()).Missed, "once")
}

func TestOtherPeoplesJobsDoNotExist(t *testing.T) {
	h := newHome(t)
	j := h.reminder(h.bob, "Bob's", h.clock.now().Add(time.Hour))
	at := h.clock.now().Add(2 * time.Hour)
	changes := map[string]func(tx *Tx, by Person) (Job, error){
		"snooze": func(tx *Tx, by Person) (Job, error) { return tx.SnoozeJob(j.ID, by, at, "", "") },
		"change": func(tx *Tx, by Person) (Job, error) {
			return tx.ChangeJob(j.ID, by, &Reschedule{Next: at, Zone: "UTC"}, "")
		},
		"cancel": func(tx *Tx, by Person) (Job, error) { return tx.CancelJob(j.ID, by) },
	}
	for _, name := range []string{"snooze", "change", "cancel"} {
		_, err := h.inJob(func(tx *Tx) (Job, error) { return changes[name](tx, h.cem) })
		wantErr(t, err, ErrNotFound)
	}
	equal(t, "next", h.job(j.ID).Next, j.Next)
	equal(t, "Cem's list", len(must(h.Jobs(t.Context(), h.cem.ID, false, 10))(t)), 0)
	for _, name := range []string{"snooze", "change", "cancel"} { // the owner may, and so may Bob
		for _, by := range []Person{h.ann, h.bob} {
			if name == "cancel" && by.ID == h.bob.ID {
				continue
			}
			_, err := h.inJob(func(tx *Tx) (Job, error) { return changes[name](tx, by) })
			check(t, err)
		}
	}
	got := h.job(j.ID)
	equal(t, "state", got.State, JobCancelled)
	equal(t, "result", got.LastResult, "cancelled by Ann")
	equal(t, "next", got.Next.IsZero(), true)
	for _, name := range []string{"snooze", "change", "cancel"} {
		_, err := h.inJob(func(tx *Tx) (Job, error) { return changes[name](tx, h.bob) })
		wantErr(t, err, ErrNotFound) // it has ended
	}
}

func TestChangeJob(t *testing.T) {
	h := newHome(t)
	j := h.reminder(h.ann, "one", h.clock.now().Add(time.Hour))
	when := Reschedule{Next: h.clock.now().Add(3 * time.Hour), Spec: "every day 12:00", Words: "daily at noon", Zone: "Asia/Tokyo"}
	got, err := h.inJob(func(tx *Tx) (Job, error) { return tx.ChangeJob(j.ID, h.ann, &when, "") })
	check(t, err)
	equal(t, "text", got.Text, "one")
	equal(t, "next", got.Next, when.Next)
	equal(t, "spec", got.Spec+"|"+got.Words+"|"+got.Zone, "every day 12:00|daily at noon|Asia/Tokyo")
	got, err = h.inJob(func(tx *Tx) (Job, error) { return tx.ChangeJob(j.ID, h.ann, nil, "two") })
	check(t, err)
	equal(t, "text", got.Text, "two")
	equal(t, "next", got.Next, when.Next)
	equal(t, "stored", h.job(j.ID).Text, "two")
}

func TestNewWordsDoNotWakeAJobThatIsOnItsWay(t *testing.T) {
	h := newHome(t)
	j := h.reminder(h.ann, "one", h.clock.now())
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next, Words: "one"}))
	got, err := h.inJob(func(tx *Tx) (Job, error) { return tx.ChangeJob(j.ID, h.ann, nil, "two") })
	check(t, err)
	equal(t, "state", got.State, JobFiring)
	h.send()
	equal(t, "state", h.job(j.ID).State, JobDone)

	resting := h.reminder(h.bob, "x", h.clock.now())
	check(t, h.RemovePerson(t.Context(), "Bob"))
	got, err = h.inJob(func(tx *Tx) (Job, error) { return tx.ChangeJob(resting.ID, h.ann, nil, "y") })
	check(t, err)
	equal(t, "state of a paused one", got.State, JobPaused)
}

func TestSnooze(t *testing.T) {
	h := newHome(t)
	later := h.clock.now().Add(10 * time.Minute)
	once := h.reminder(h.ann, "once", h.clock.now())
	check(t, h.Fire(t.Context(), once, Firing{Due: once.Next, Words: "once"}))
	h.send()
	equal(t, "state", h.job(once.ID).State, JobDone)
	got, err := h.inJob(func(tx *Tx) (Job, error) { return tx.SnoozeJob(once.ID, h.ann, later, "", "k1") })
	check(t, err)
	equal(t, "number", got.ID, once.ID)
	equal(t, "state", got.State, JobWaiting)
	equal(t, "next", got.Next, later)

	daily := h.addJob(Job{Kind: Say, Person: h.ann.ID, Text: "daily", Next: h.clock.now(), Spec: "every day 09:00", Words: "every day"})
	tomorrow := h.clock.now().Add(24 * time.Hour)
	check(t, h.Fire(t.Context(), daily, Firing{Due: daily.Next, Next: tomorrow, Words: "daily"}))
	for range 2 { // a press comes twice
		got, err = h.inJob(func(tx *Tx) (Job, error) { return tx.SnoozeJob(daily.ID, h.ann, later, "", "k2") })
		check(t, err)
		equal(t, "a job of its own", got.ID, daily.ID+1)
		equal(t, "once", got.Spec, "")
		equal(t, "text", got.Text, "daily")
		equal(t, "next", got.Next, later)
	}
	equal(t, "the rhythm", h.job(daily.ID).Next, tomorrow)
	equal(t, "jobs", len(must(h.Jobs(t.Context(), h.ann.ID, false, 10))(t)), 3)
}

func TestOpenJobsAreBounded(t *testing.T) {
	h := newHome(t)
	c := must(h.PrivateConversation(t.Context(), h.bob.ID))(t)
	j := Job{Kind: Say, Person: h.bob.ID, Conversation: c.ID, Zone: "UTC", Text: "x", Next: h.clock.now().Add(time.Hour)}
	h.do(func(tx *Tx) error {
		for range maxJobs {
			if _, err := tx.AddJob(j); err != nil {
				return err
			}
		}
		return nil
	})
	_, err := h.AddJob(t.Context(), j)
	wantErr(t, err, ErrTooManyJobs)
	contains(t, "the error", err.Error(), "500")
	h.reminder(h.ann, "another person's", h.clock.now())
	_, err = h.inJob(func(tx *Tx) (Job, error) { return tx.CancelJob(1, h.bob) })
	check(t, err)
	must(h.AddJob(t.Context(), j))(t)
}

func TestJobsAreListedNextFirst(t *testing.T) {
	h := newHome(t)
	h.reminder(h.ann, "third", h.clock.now().Add(3*time.Hour))
	h.reminder(h.ann, "first", h.clock.now().Add(time.Hour))
	gone := h.reminder(h.ann, "ended", h.clock.now().Add(time.Minute))
	h.reminder(h.bob, "second", h.clock.now().Add(2*time.Hour))
	_, err := h.inJob(func(tx *Tx) (Job, error) { return tx.CancelJob(gone.ID, h.ann) })
	check(t, err)
	words := func(person int64, open bool) (out []string) {
		for _, j := range must(h.Jobs(t.Context(), person, open, 10))(t) {
			out = append(out, j.Text)
		}
		return out
	}
	wantTexts(t, "all", words(0, false), "first", "second", "third", "ended")
	wantTexts(t, "open", words(0, true), "first", "second", "third")
	wantTexts(t, "Ann's", words(h.ann.ID, true), "first", "third")
	_, err = h.Job(t.Context(), 99)
	wantErr(t, err, ErrNotFound)
}

func TestNewJobsTakeTheHouseholdsPolicyAboutMissedInstants(t *testing.T) {
	h := newHome(t)
	equal(t, "without a word", h.reminder(h.ann, "a", h.clock.now().Add(time.Hour)).Missed, "once")
	h.MissedPolicy("skip")
	equal(t, "as the settings say", h.reminder(h.ann, "b", h.clock.now().Add(time.Hour)).Missed, "skip")
	equal(t, "as the job says", h.addJob(Job{Kind: Say, Person: h.ann.ID, Text: "c", Next: h.clock.now().Add(time.Hour), Missed: "all"}).Missed, "all")
}
