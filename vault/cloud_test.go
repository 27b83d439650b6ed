package vault

import (
	"testing"
	"time"
)

// The question about the cloud parks its run, is asked once a conversation, and goes to an owner, whoever's run it is.
func TestTheQuestionAboutTheCloud(t *testing.T) {
	for _, choice := range []string{ChooseYes, ChooseAlways, ChooseNo, "nothing"} {
		t.Run(choice, func(t *testing.T) {
			h := newHome(t)
			ctx := t.Context()
			h.says(h.ann, "so that she has a chat") // and can be reached
			p := h.claimed(h.bob, "hello")
			q := Question{Text: "May it?", Choices: []string{ChooseYes, ChooseAlways, ChooseNo}, Expires: h.clock.now().Add(time.Hour)}
			number := must(h.AskCloud(ctx, p.Run.ID, q, `{"model":"cloud"}`))(t)
			a := must(h.Approval(ctx, number))(t)
			equal(t, "kind", a.Kind, "cloud")
			equal(t, "asked", a.Person, h.ann.ID)
			equal(t, "state", h.progress(p.Run.ID).Run.State, Waiting)
			again, err := h.AskCloud(ctx, p.Run.ID, q, "")
			wantErr(t, err, ErrNotRunning)
			equal(t, "number", again, 0)

			other := h.claimed(h.bob, "and another thing")
			again, err = h.AskCloud(ctx, other.Run.ID, q, "")
			wantErr(t, err, ErrAsked)
			equal(t, "number", again, number)
			equal(t, "state", h.progress(other.Run.ID).Run.State, Running)

			h.do(func(tx *Tx) error {
				_, err := tx.Decide(number, h.bob, ChooseYes)
				wantErr(t, err, ErrNotOwner)
				return nil
			})
			h.do(func(tx *Tx) error {
				_, err := tx.Decide(number, h.ann, ChooseApprove)
				wantErr(t, err, ErrBadChoice)
				return nil
			})
			if choice == "nothing" {
				h.clock.add(time.Hour)
				equal(t, "closed", must(h.ExpireApprovals(ctx))(t), 1)
			} else {
				h.do(func(tx *Tx) error { _, err := tx.Decide(number, h.ann, choice); return err })
			}
			p = h.progress(p.Run.ID)
			equal(t, "state", p.Run.State, Queued)
			rules := must(h.Rules(ctx))(t)
			equal(t, "rules", len(rules) == 1, choice == ChooseAlways)
			if len(rules) == 1 && (rules[0].Tool != CloudRule || rules[0].Person != h.bob.ID || rules[0].Chat != "private") {
				t.Errorf("the rule is %+v", rules[0])
			}
		})
	}
}
