package vault

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var yesNo = []string{ChooseApprove, ChooseDeny, ChooseAlways}

// asking has a run of a person that waits for a call to be approved.
func asking(h *home, in Inbound, who Person, expires time.Time) Progress {
	h.t.Helper()
	must(h.Accept(h.t.Context(), in, who, 0))(h.t)
	p := h.claim()
	h.step(p, StepDone{Step: Step{Text: "may I?"}, Park: true, Calls: []Call{
		{Tool: "send", Args: `{"person":"Bob","text":"hi"}`, Effect: "acts", Ask: &Question{Text: "Send this to Bob?", Choices: yesNo, Expires: expires}},
	}})
	return h.progress(p.Run.ID)
}

func (h *home) decide(number int64, by Person, choice string) (a Approval, err error) {
	h.t.Helper()
	err = h.Do(h.t.Context(), "decide", func(tx *Tx) error {
		var refused error
		a, refused = tx.Decide(number, by, choice)
		return refused
	})
	return a, err
}

func TestAskingParksTheRunAndPostsTheQuestion(t *testing.T) {
	h := newHome(t)
	expires := h.clock.now().Add(time.Hour)
	p := asking(h, h.says(h.ann, "write Bob"), h.ann, expires)
	equal(t, "run", p.Run.State, Waiting)
	equal(t, "call", p.Calls[0].State, Asking)
	want := Approval{
		ID: 1, Run: p.Run.ID, Call: p.Calls[0].ID, Kind: "call", Tool: "send", Arguments: `{"person":"Bob","text":"hi"}`, Hash: p.Calls[0].Hash, Choices: yesNo,
		Question: "Send this to Bob?", Person: h.ann.ID, State: "open", Asked: h.clock.now(), Expires: expires,
	}
	if diff := cmp.Diff([]Approval{want}, p.Approvals); diff != "" {
		t.Error(diff)
	}
	part := h.parts()[0]
	equal(t, "class", part.Class, Asks)
	equal(t, "approval", part.Approval, 1)
	equal(t, "text", part.Text, "Question 1: Send this to Bob?\nAnswer with /approve 1 or /deny 1, or /answer 1 always.")
	if diff := cmp.Diff([]Button{{"Approve", "a:1:approve"}, {"Deny", "a:1:deny"}, {"Always", "a:1:always"}}, part.Buttons); diff != "" {
		t.Error(diff)
	}
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle)
}

func TestQuestionsGoToThePrivateChatOfAnOwner(t *testing.T) {
	for name, c := range map[string]struct {
		in   func(h *home) Inbound
		who  func(h *home) Person
		want Address
	}{
		"an owner, where she is": {func(h *home) Inbound {
			in := h.says(h.ann, "x")
			in.Gateway, in.Account, in.Chat = "terminal", "local", "1"
			return in
		}, func(h *home) Person { return h.ann }, Address{"terminal", "local", "1", ""}},
		"an owner in a group": {func(h *home) Inbound { return h.saysIn("-5", h.ann, "x") }, func(h *home) Person { return h.ann }, Address{Gateway: "telegram", Chat: "1"}},
		"a member":            {func(h *home) Inbound { return h.says(h.bob, "x") }, func(h *home) Person { return h.bob }, Address{Gateway: "telegram", Chat: "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			p := asking(h, c.in(h), c.who(h), time.Time{})
			equal(t, "where", h.parts()[0].To, c.want)
			equal(t, "who is asked", p.Approvals[0].Person, h.ann.ID)
		})
	}
}

func TestOnlyAnOwnerDecidesAndOnce(t *testing.T) {
	h := newHome(t)
	p := asking(h, h.says(h.bob, "write"), h.bob, time.Time{})
	_, err := h.decide(1, h.bob, "approve")
	wantErr(t, err, ErrNotOwner)
	_, err = h.decide(1, Person{}, "approve")
	wantErr(t, err, ErrNotOwner)
	_, err = h.decide(2, h.ann, "approve")
	wantErr(t, err, ErrNotFound)
	_, err = h.decide(1, h.ann, "perhaps")
	wantErr(t, err, ErrBadChoice)
	equal(t, "run", h.progress(p.Run.ID).Run.State, Waiting)

	h.clock.add(24 * time.Hour)
	h.reopen() // days later, after a restart
	a, err := h.decide(1, h.ann, " Approve ")
	check(t, err)
	equal(t, "state", a.State, "approved")
	equal(t, "decided", a.Decided, h.clock.now())
	equal(t, "by", a.DecidedBy, h.ann.ID)
	got := h.claim()
	equal(t, "call", got.Calls[0].State, Approved)
	equal(t, "stored", got.Approvals[0].Choice, "approve")

	a, err = h.decide(1, h.ann, "deny")
	wantErr(t, err, ErrDecided)
	equal(t, "as it stands", a.Choice, "approve")
	equal(t, "call", h.progress(p.Run.ID).Calls[0].State, Approved)
	check(t, h.StartCall(t.Context(), got.Calls[0]))
	equal(t, "questions", len(h.parts()), 2) // mentioned again after the absence, decided once
}

func TestDenyTellsTheModel(t *testing.T) {
	h := newHome(t)
	asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
	a, err := h.decide(1, h.ann, "deny")
	check(t, err)
	equal(t, "state", a.State, "denied")
	c := h.claim().Calls[0]
	equal(t, "call", c.State, Denied)
	equal(t, "result", c.Result, "Ann said no to this. Do not try it again in another way.")
	equal(t, "ended", c.Ended, h.clock.now())
	wantErr(t, h.StartCall(t.Context(), c), ErrMustNotBegin)
	equal(t, "rules", len(must(h.Rules(t.Context()))(t)), 0)
}

func TestAlwaysBecomesARule(t *testing.T) {
	h := newHome(t)
	asking(h, h.saysIn("-5", h.bob, "write"), h.bob, time.Time{})
	a, err := h.decide(1, h.ann, "always")
	check(t, err)
	equal(t, "state", a.State, "approved")
	equal(t, "call", h.claim().Calls[0].State, Approved)
	want := []Rule{{ID: 1, Tool: "send", Person: h.bob.ID, Chat: "group", Created: h.clock.now(), CreatedBy: h.ann.ID}}
	if diff := cmp.Diff(want, must(h.Rules(t.Context()))(t)); diff != "" {
		t.Error(diff)
	}
	h.do(func(tx *Tx) error { return tx.DropRule(1) })
	equal(t, "rules", len(must(h.Rules(t.Context()))(t)), 0)
	wantErr(t, h.Do(t.Context(), "drop", func(tx *Tx) error { return tx.DropRule(1) }), ErrNotFound)
}

func TestAlwaysCoversWhatTheQuestionSaid(t *testing.T) {
	h := newHome(t)
	must(h.Accept(t.Context(), h.says(h.ann, "write"), h.ann, 0))(t)
	h.step(h.claim(), StepDone{Step: Step{Text: "may I?"}, Park: true, Calls: []Call{
		{Tool: "send", Args: `{"person":"Bob","text":"hi"}`, Effect: "acts", Ask: &Question{Text: "Send this?", Choices: yesNo, About: "message to Bob"}},
	}})
	equal(t, "text", h.parts()[0].Text, "Question 1: Send this?\nAnswer with /approve 1 or /deny 1, or /answer 1 always (every message to Bob).")
	must(h.decide(1, h.ann, "always"))(t)
	rules := must(h.Rules(t.Context()))(t)
	equal(t, "rules", len(rules), 1)
	equal(t, "about", rules[0].About, "message to Bob")
}

func TestApprovalIsBoundToTheExactArguments(t *testing.T) {
	change := map[string]string{
		"the call's arguments and hash": `UPDATE call SET args = '{"person":"Eve"}', hash = 'other'`,
		"the approval's hash":           `UPDATE approval SET hash = 'other'`,
	}
	for name, query := range change {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			p := asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
			h.do(func(tx *Tx) error { _, err := tx.exec(query); return err })
			_, err := h.decide(1, h.ann, "approve")
			check(t, err)
			got := h.claim() // it does not wait for ever
			equal(t, "run", got.Run.ID, p.Run.ID)
			equal(t, "call", got.Calls[0].State, Denied)
			wantErr(t, h.StartCall(t.Context(), got.Calls[0]), ErrMustNotBegin)
		})
	}
	t.Run("the call's arguments alone", func(t *testing.T) {
		h := newHome(t)
		asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
		_, err := h.decide(1, h.ann, "approve")
		check(t, err)
		h.do(func(tx *Tx) error { _, err := tx.exec(`UPDATE call SET args = '{"person":"Eve"}'`); return err })
		wantErr(t, h.StartCall(t.Context(), h.claim().Calls[0]), ErrMustNotBegin)
	})
}

func TestQuestionsExpire(t *testing.T) {
	h := newHome(t)
	expires := h.clock.now().Add(time.Hour)
	p := asking(h, h.says(h.ann, "write"), h.ann, expires)
	equal(t, "next expiry", must(h.NextExpiry(t.Context()))(t), expires)
	h.clock.add(time.Hour - time.Millisecond)
	equal(t, "closed", must(h.ExpireApprovals(t.Context()))(t), 0)
	h.clock.add(time.Millisecond)

	// An answer that comes when its time is over is none, also when nobody has looked yet.
	a, err := h.decide(1, h.ann, "approve")
	wantErr(t, err, ErrDecided)
	equal(t, "as it stands", a.State, "expired")
	check(t, h.Do(t.Context(), "decide", func(tx *Tx) error { // as a command does, which answers in words
		_, err := tx.Decide(1, h.ann, "approve")
		wantErr(t, err, ErrDecided)
		return nil
	}))
	equal(t, "closed", must(h.ExpireApprovals(t.Context()))(t), 0)
	got := h.claim()
	equal(t, "run", got.Run.ID, p.Run.ID)
	equal(t, "call", got.Calls[0].State, Denied)
	contains(t, "result", got.Calls[0].Result, "Nobody answered", "not done")
	equal(t, "next expiry", must(h.NextExpiry(t.Context()))(t).IsZero(), true)

	asking(h, h.says(h.bob, "write"), h.bob, h.clock.now().Add(time.Minute))
	h.clock.add(time.Minute)
	equal(t, "closed", must(h.ExpireApprovals(t.Context()))(t), 1)
	equal(t, "state", must(h.Approval(t.Context(), 2))(t).State, "expired")
	_, err = h.decide(2, h.ann, "approve")
	wantErr(t, err, ErrDecided)
}

func TestRunWithTwoQuestions(t *testing.T) {
	h := newHome(t)
	p := h.claimed(h.ann, "write")
	call := Call{Tool: "send", Args: "{}", Effect: "acts", Ask: &Question{Text: "?", Choices: yesNo}}
	h.step(p, StepDone{Park: true, Calls: []Call{call, call}})
	_, err := h.decide(2, h.ann, "approve")
	check(t, err)
	p = h.claim() // the answered one may run
	equal(t, "first", p.Calls[0].State, Asking)
	equal(t, "second", p.Calls[1].State, Approved)
	check(t, h.Park(t.Context(), p.Run.ID))
	equal(t, "waits for the other", h.progress(p.Run.ID).Run.State, Waiting)
	_, err = h.decide(1, h.ann, "deny")
	check(t, err)
	p = h.claim()

	// The answer may come while the run is in hand: then nobody would wake it after it was parked.
	h.step(p, StepDone{Park: true, Calls: []Call{call}})
	h.do(func(tx *Tx) error { _, err := tx.exec(`UPDATE run SET state = 'running'`); return err })
	_, err = h.decide(3, h.ann, "approve")
	check(t, err)
	check(t, h.Park(t.Context(), p.Run.ID))
	equal(t, "third", h.claim().Calls[2].State, Approved)
}

func TestApprovalsAreListed(t *testing.T) {
	h := newHome(t)
	asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
	asking(h, h.says(h.bob, "write"), h.bob, time.Time{})
	_, err := h.decide(1, h.ann, "deny")
	check(t, err)
	equal(t, "all", len(must(h.Approvals(t.Context(), false, 10))(t)), 2)
	open := must(h.Approvals(t.Context(), true, 10))(t)
	equal(t, "open", len(open), 1)
	equal(t, "which", open[0].ID, 2)
	_, err = h.Approval(t.Context(), 9)
	wantErr(t, err, ErrNotFound)
}

func TestUnsettledQuestionsAreThoseDecidedWithTheirButtonsStillThere(t *testing.T) {
	h := newHome(t)
	asking(h, h.says(h.ann, "write"), h.ann, time.Time{})
	unsettled := func() []Decided { return must(h.Unsettled(t.Context(), "telegram"))(t) }
	h.send()
	equal(t, "while open", len(unsettled()), 0)
	_, err := h.decide(1, h.ann, "deny")
	check(t, err)
	got := unsettled()
	equal(t, "when decided", len(got), 1)
	equal(t, "by", got[0].By, "Ann")
	equal(t, "choice", got[0].Approval.Choice, "deny")
	equal(t, "ref", got[0].Part.Ref, "ref1")
	check(t, h.Settled(t.Context(), got[0].Part.ID))
	equal(t, "when settled", len(unsettled()), 0)
}
