package vault

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// story writes a history as words: runs as r(what was said > what was answered), loose messages as they are.
func (h *home) story(c Conversation, before int64, limit int) (out []string) {
	h.t.Helper()
	for _, e := range must(h.History(h.t.Context(), c, before, limit))(h.t) {
		if e.Message != nil {
			out = append(out, e.Message.Role+":"+e.Message.Text)
			continue
		}
		var said, steps []string
		for _, m := range e.Run.Messages {
			said = append(said, m.Text)
		}
		for _, s := range e.Run.Steps {
			steps = append(steps, s.Text)
		}
		out = append(out, fmt.Sprintf("r(%s > %s)", strings.Join(said, "+"), strings.Join(steps, "+")))
	}
	return out
}

// talk is a whole run: a message and its answer.
func (h *home) talk(p Person, words, answer string) Progress {
	h.t.Helper()
	got := h.claimed(p, words)
	h.step(got, StepDone{Step: Step{Text: answer}, End: &Ending{State: Done, Reply: answer}})
	return h.progress(got.Run.ID)
}

func TestHistoryIsInTheOrderThingsWereTakenUp(t *testing.T) {
	h := newHome(t)
	first := h.talk(h.ann, "one", "1")
	c := first.Conversation
	command := func(words, answer string) {
		check(t, h.Command(t.Context(), h.says(h.ann, words), h.ann, func(*Tx, Conversation) ([]Part, error) { return []Part{{Text: answer}}, nil }))
	}
	command("/jobs", "none")
	p := h.claimed(h.ann, "two")
	joined := h.accept(h.ann, "two b")
	command("/cost", "$0")
	h.step(p, StepDone{Step: Step{Text: "thinking"}})
	h.step(h.progress(p.Run.ID), StepDone{Step: Step{Text: "2"}, End: &Ending{State: Done, Reply: "2"}})
	waiting := asking(h, h.says(h.ann, "write"), h.ann, first.Run.Ended.AddDate(1, 0, 0))
	failed := h.claimed(h.ann, "three")
	check(t, h.EndRun(t.Context(), failed.Run.ID, Ending{State: Failed, Reason: "no model", Reply: "no model answers"}))
	j := h.reminder(h.ann, "stretch", h.clock.now())
	check(t, h.Fire(t.Context(), j, Firing{Due: j.Next, Words: "stretch!"}))
	h.talk(h.bob, "other", "x")
	now := h.claimed(h.ann, "four")
	h.accept(h.ann, "queued")

	want := []string{
		"r(one > 1)", "user:/jobs", "assistant:none", "r(two+two b > thinking+2)", "user:/cost", "assistant:$0", "r(write > may I?)",
		"user:three", "assistant:no model answers", "assistant:stretch!",
	}
	if diff := cmp.Diff(want, h.story(c, now.Run.Pos, 50)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[7:], h.story(c, now.Run.Pos, 3)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[2:], h.story(c, now.Run.Pos, 8)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:3], h.story(c, p.Run.Pos, 50)); diff != "" {
		t.Error(diff)
	}
	equal(t, "of a limit of nothing", len(h.story(c, now.Run.Pos, 0)), 0)
	equal(t, "the joined run", h.progress(joined).Run.State, Done)
	equal(t, "the waiting run", h.progress(waiting.Run.ID).Run.State, Waiting)

	h.do(func(tx *Tx) error { return tx.NewTalk(c.ID) })
	c = must(h.Conversation(t.Context(), c.ID))(t)
	equal(t, "after /new", len(h.story(c, 1<<60, 50)), 0)
	check(t, h.EndRun(t.Context(), now.Run.ID, Ending{State: Done, Reply: "4"}))
	if diff := cmp.Diff([]string{"assistant:4"}, h.story(c, 1<<60, 50)); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryKeepsItsOrderWhenTheClockGoesBack(t *testing.T) {
	h := newHome(t)
	for i := range 5 {
		h.talk(h.ann, fmt.Sprint(i), "x")
		h.clock.add(-1e12)
	}
	got := h.story(h.progress(1).Conversation, 1<<60, 50)
	if diff := cmp.Diff([]string{"r(0 > x)", "r(1 > x)", "r(2 > x)", "r(3 > x)", "r(4 > x)"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryOfAStoppedRun(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "one")
	h.step(p, StepDone{Step: Step{Text: "thinking"}})
	unseen := h.accept(h.ann, "two")
	h.do(func(tx *Tx) error {
		if _, err := tx.Stop(p.Conversation.ID); err != nil {
			return err
		}
		_, err := tx.StopRun(unseen)
		return err
	})
	if diff := cmp.Diff([]string{"r(one > thinking)", "user:two"}, h.story(p.Conversation, 1<<60, 50)); diff != "" {
		t.Error(diff)
	}
}

func TestSettings(t *testing.T) {
	h := newHome(t)
	equal(t, "unset", must(h.Setting(t.Context(), "model"))(t), "")
	check(t, h.Set(t.Context(), "model", "home"))
	check(t, h.Set(t.Context(), "model", "cloud"))
	h.reopen()
	equal(t, "set", must(h.Setting(t.Context(), "model"))(t), "cloud")
	h.do(func(tx *Tx) error {
		equal(t, "inside", must(tx.Setting("model"))(t), "cloud")
		return tx.Set("model", "")
	})
	equal(t, "removed", h.count(`SELECT count(*) FROM setting WHERE name = 'model'`), 0)
}
