package vault

import (
	"errors"
	"testing"
	"time"
)

// Who is known at an address, and who has written there first.
func TestReached(t *testing.T) {
	h := newHome(t)
	reached := func(chat string) [2]bool {
		t.Helper()
		known, wrote, err := h.Reached(t.Context(), "whatsapp", chat)
		if err != nil {
			t.Fatal(err)
		}
		return [2]bool{known, wrote}
	}
	equal(t, "of the file, never wrote", reached("+351"), [2]bool{true, false})
	equal(t, "nobody", reached("+999"), [2]bool{false, false})
	in := h.says(h.ann, "hello")
	in.Gateway, in.Chat, in.Sender = "whatsapp", "+351", "+351"
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	equal(t, "wrote", reached("+351"), [2]bool{true, true})
	in.Chat, in.Sender, in.ChatKind = "+998", "+998", Private
	if err := h.Stranger(t.Context(), in, "a line"); err != nil {
		t.Fatal(err)
	}
	equal(t, "a stranger who wrote", reached("+998"), [2]bool{true, true})
	in.Chat, in.Sender, in.ChatKind = "5@g.us", "+351", Group
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	equal(t, "a group", reached("5@g.us"), [2]bool{true, true})

	pair := sender("+352", "Bob")
	pair.Gateway = "whatsapp"
	must(h.Pair(t.Context(), pair, h.code("Bob", Member)))(t)
	equal(t, "paired", reached("+352"), [2]bool{true, false})
	check(t, h.SyncPeople(t.Context(), []Person{household[2]})) // the pairing stays, in case they come back
	equal(t, "removed, wrote", reached("+351"), [2]bool{false, true})
	equal(t, "removed, paired", reached("+352"), [2]bool{false, false})
	equal(t, "a group they were in", reached("5@g.us"), [2]bool{true, true})
	in.Chat, in.Sender, in.ChatKind = "+351", "+351", Private
	check(t, h.Stranger(t.Context(), in, "a line"))
	equal(t, "removed, and wrote as a stranger", reached("+351"), [2]bool{true, true})
}

// Only what went to people who have never written counts, and only since then.
func TestUnasked(t *testing.T) {
	h := newHome(t)
	unasked := func(since time.Time) int { return must(h.Unasked(t.Context(), "whatsapp", since))(t) }
	begin := h.now()
	for _, chat := range []string{"+351", "+351", "+352"} {
		p := h.post(Part{Text: "hello", To: Address{Gateway: "whatsapp", Chat: chat}})
		if err := h.Delivered(t.Context(), p, "ref"); err != nil {
			t.Fatal(err)
		}
	}
	h.post(Part{Text: "not sent", To: Address{Gateway: "whatsapp", Chat: "+353"}})
	equal(t, "all", unasked(begin), 3)
	equal(t, "later", unasked(h.now().Add(time.Second)), 0)
	in := h.says(h.ann, "hello")
	in.Gateway, in.Chat, in.Sender = "whatsapp", "+351", "+351"
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	equal(t, "after one wrote", unasked(begin), 1)
}

// A message that was deleted takes its run with it, unless other words are in it or a model has seen it.
func TestWithdraw(t *testing.T) {
	h := newHome(t)
	state := func(run int64) RunState { return must(h.Progress(t.Context(), run))(t).Run.State }
	one := h.says(h.ann, "buy a boat")
	run := must(h.Accept(t.Context(), one, h.ann, time.Second))(t).Run
	two := h.says(h.ann, "and a sail")
	equal(t, "burst", must(h.Accept(t.Context(), two, h.ann, time.Second))(t).Run, run)
	other := one
	other.Sender = "somebody else"
	for _, in := range []Inbound{other, one, one} {
		if err := h.Withdraw(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "with words left", state(run), Queued)
	if err := h.Withdraw(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	equal(t, "with none left", state(run), Stopped)

	three := h.says(h.ann, "seen")
	run = must(h.Accept(t.Context(), three, h.ann, 0))(t).Run
	must(h.Claim(t.Context()))(t)
	if err := h.Withdraw(t.Context(), three); err != nil {
		t.Fatal(err)
	}
	equal(t, "at work", state(run), Running)
}

// What was sent under an id is found by it; the last question counts only while it is open and nothing was said since.
func TestPartUnderAndLastQuestion(t *testing.T) {
	h := newHome(t)
	to := Address{Gateway: "whatsapp", Chat: "+351"}
	p := h.post(Part{Text: "hello", To: to})
	p.Stable = "chosen"
	if err := h.Sending(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	equal(t, "by its id", must(h.PartUnder(t.Context(), "whatsapp", "chosen"))(t).ID, p.ID)
	for _, c := range [][2]string{{"telegram", "chosen"}, {"whatsapp", "another"}, {"whatsapp", ""}} {
		if _, err := h.PartUnder(t.Context(), c[0], c[1]); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := h.LastQuestion(t.Context(), "whatsapp", "+351"); !errors.Is(err, ErrNotFound) {
		t.Errorf("without a question: %v", err)
	}
}
