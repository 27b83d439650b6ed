package vault

import (
	"testing"
)

func TestStandingOfAMessage(t *testing.T) {
	h := newHome(t)
	at := func(in Inbound) Standing {
		t.Helper()
		return must(h.StandingOf(t.Context(), in.Address(), in.ID))(t)
	}
	in := h.says(h.ann, "hello")
	equal(t, "before it came", at(in), Standing{})
	must(h.Accept(t.Context(), in, h.ann, 0))(t)
	equal(t, "queued", at(in), Standing{Known: true, Run: 1, State: Queued})
	other := in
	other.Chat = "another"
	equal(t, "the same id in another chat", at(other), Standing{})
	p := h.claim()
	equal(t, "at work", at(in).State, Running)
	late := h.says(h.ann, "and this")
	must(h.Accept(t.Context(), late, h.ann, 0))(t)
	h.step(p, StepDone{Calls: []Call{{Tool: "jobs", Effect: "reads", State: Finished}}})
	equal(t, "one that joined", at(late).Run, p.Run.ID)
	check(t, h.EndRun(t.Context(), p.Run.ID, Ending{State: Done, Reply: "hi"}))
	equal(t, "answered, not delivered", at(in), Standing{Known: true, Run: 1, State: Done, Unsent: 1})
	h.send()
	equal(t, "delivered", at(in), Standing{Known: true, Run: 1, State: Done})

	command := h.says(h.ann, "/status")
	check(t, h.Command(t.Context(), command, h.ann, func(*Tx, Conversation) ([]Part, error) { return []Part{{Text: "fine"}}, nil }))
	equal(t, "a command", at(command), Standing{Known: true, Unsent: 1})
}
