package vault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fires has a follow-up of a person come due and gives its run.
func (h *home) fires(p Person) int64 {
	h.t.Helper()
	c := must(h.PrivateConversation(h.t.Context(), p.ID))(h.t)
	j := must(h.AddJob(h.t.Context(), Job{Kind: Do, Person: p.ID, Conversation: c.ID, To: Address{"telegram", "bot", "1", ""}, Zone: "UTC", Text: "look", Next: h.clock.now()}))(h.t)
	check(h.t, h.Fire(h.t.Context(), j, Firing{Due: j.Next}))
	return must(h.OpenRunOf(h.t.Context(), j.ID))(h.t)
}

// beats has the heartbeat of a person come and gives its run.
func (h *home) beats(p Person) int64 {
	h.t.Helper()
	check(h.t, h.Beat(h.t.Context(), p.ID, "look around"))
	return int64(h.count(`SELECT max(id) FROM run WHERE trigger = 'system'`))
}

// People first, then what the clock began, then what has no time of its own; what has waited long enough is equal to people,
// and goes by its age.
func TestWhoIsTakenUpFirst(t *testing.T) {
	for _, tt := range []struct {
		name  string
		waits time.Duration
		want  func(beat, job, message int64) []int64
	}{
		{"soon", 0, func(beat, job, message int64) []int64 { return []int64{message, job, beat} }},
		{"nearly too long", Patience - time.Millisecond, func(beat, job, message int64) []int64 { return []int64{message, job, beat} }},
		{"too long", Patience, func(beat, job, message int64) []int64 { return []int64{beat, job, message} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t)
			beat, job := h.beats(h.ann), h.fires(h.ann)
			h.clock.add(tt.waits)
			message := h.accept(h.ann, "hello")
			var got []int64
			for range 3 {
				p := h.claim()
				got = append(got, p.Run.ID)
				check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "x"}))
			}
			if diff := cmp.Diff(tt.want(beat, job, message), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The time that a run was at work is no time that it waited.
func TestWorkIsNoWaiting(t *testing.T) {
	h := newHome(t)
	job := h.fires(h.ann)
	p := h.claim()
	h.clock.add(Patience)
	check(t, h.Yield(t.Context(), job, 2*time.Minute))
	p = h.progress(p.Run.ID)
	equal(t, "state", p.Run.State, Queued)
	equal(t, "worked", p.Run.Worked, Patience-2*time.Minute)
	equal(t, "retries", p.Run.Retries, 0)
	equal(t, "waited", p.Run.Waited(h.clock.now()), 2*time.Minute)
	equal(t, "waited, by a clock that was set back", p.Run.Waited(h.clock.now().Add(-time.Hour)), 0)
	message := h.accept(h.ann, "hello")
	equal(t, "first", h.claim().Run.ID, message)
	wantErr(t, h.Yield(t.Context(), job, 0), ErrNotRunning)
}

func TestClaimMessageLeavesTheRest(t *testing.T) {
	h := newHome(t)
	h.fires(h.ann)
	_, err := h.ClaimMessage(t.Context())
	wantErr(t, err, ErrIdle)
	message := h.accept(h.bob, "hello")
	equal(t, "run", must(h.ClaimMessage(t.Context()))(t).Run.ID, message)
}

// Blocked is who waits for another run of their conversation and will not join it.
func TestBlocked(t *testing.T) {
	h := newHome(t)
	blocked := func() []Blocked { return must(h.Blocked(t.Context()))(t) }
	job := h.fires(h.ann)
	equal(t, "claimed", h.claim().Run.ID, job)
	if got := blocked(); len(got) != 0 {
		t.Errorf("nobody writes: %v", got)
	}
	burst := must(h.Accept(t.Context(), h.says(h.ann, "hello"), h.ann, time.Second))(t).Run
	if got := blocked(); len(got) != 0 {
		t.Errorf("more words may come: %v", got)
	}
	h.clock.add(time.Second)
	since := h.clock.now().UTC()
	if diff := cmp.Diff([]Blocked{{Run: burst, By: job, Background: true, Since: since}}, blocked()); diff != "" {
		t.Error(diff)
	}
	check(t, h.NoticeWaiting(t.Context(), burst, "one moment"))
	equal(t, "told", blocked()[0].Waits, "one moment")
	h.do(func(tx *Tx) error { return tx.Pause(true) })
	if got := blocked(); len(got) != 0 {
		t.Errorf("all waits: %v", got)
	}
	h.do(func(tx *Tx) error { return tx.Pause(false) })
	check(t, h.Yield(t.Context(), job, 0))
	equal(t, "claimed", h.claim().Run.ID, burst)
	h.accept(h.ann, "and more") // joins
	h.accept(h.bob, "elsewhere")
	if got := blocked(); len(got) != 0 {
		t.Errorf("it will join: %v", got)
	}
	in := h.says(h.ann, "by another messenger")
	in.Gateway = "whatsapp"
	other := must(h.Accept(t.Context(), in, h.ann, 0))(t).Run
	if diff := cmp.Diff([]Blocked{{Run: other, By: burst, Since: h.clock.now().UTC()}}, blocked()); diff != "" {
		t.Error(diff)
	}
}
