package vault

import (
	"testing"
	"time"
)

// TestAdoptFailsWhatAnotherAccountOwes and tells it once, elsewhere; what is in the air ends as it ends, and jobs and runs
// go on by the new account.
func TestAdoptFailsWhatAnotherAccountOwes(t *testing.T) {
	h := newHome(t)
	h.Carry([]string{"terminal", "telegram"})
	at := func(account, chat string) Address { return Address{"telegram", account, chat, ""} }
	run := h.accept(h.ann, "hello")
	job := must(h.AddJob(t.Context(), Job{Key: "k", Kind: Say, Person: h.ann.ID, Conversation: 1, To: at("bot", "1"), Text: "stretch", Zone: "UTC", Next: h.clock.now().Add(time.Hour)}))(t)
	air := h.post(Part{Text: "in the air", To: at("bot", "1")})
	check(t, h.Sending(t.Context(), h.part(air.ID)))
	first := h.post(Part{Text: "first", To: at("bot", "1")})
	second := h.post(Part{Text: "second", To: at("bot", "2")})
	h.line("p", "thinking")
	progress := h.parts()[len(h.parts())-1]
	unknown := h.post(Part{Text: "before anybody wrote", To: at("", "3")})

	equal(t, "the same bot", must(h.Adopt(t.Context(), "telegram", "bot"))(t), 0)
	equal(t, "state", h.part(first.ID).State, "waiting")

	equal(t, "another bot", must(h.Adopt(t.Context(), "telegram", "other"))(t), 2)
	for id, want := range map[int64]string{air.ID: "sending", first.ID: "failed", second.ID: "failed", progress.ID: "dropped", unknown.ID: "sending"} {
		equal(t, h.part(id).Text, h.part(id).State, want)
	}
	told := h.parts()[len(h.parts())-1]
	contains(t, "told", told.Text, "2 messages", `"first"`)
	equal(t, "told where", told.To.Gateway, "terminal")
	equal(t, "job", must(h.Job(t.Context(), job.ID))(t).To.Account, "other")
	equal(t, "run", h.progress(run).Run.To.Account, "other")
	equal(t, "chats of the old one", h.count(`SELECT count(*) FROM chat WHERE account = 'bot'`), 0)
	equal(t, "speaks first to", must(h.PrivateAddress(t.Context(), h.ann.ID))(t), Address{Gateway: "telegram", Chat: "1"})

	parts := len(h.parts())
	equal(t, "again", must(h.Adopt(t.Context(), "telegram", "other"))(t), 0)
	equal(t, "told again", len(h.parts()), parts)
	check(t, h.Delivered(t.Context(), h.part(air.ID), "r"))
	equal(t, "in the air", h.part(air.ID).State, "sent")
}

// TestCarriedGatewaysMayChange: what speaks first goes where somebody is reached now.
func TestCarriedGatewaysMayChange(t *testing.T) {
	h := newHome(t)
	h.accept(h.ann, "hello")
	h.Carry([]string{"terminal"})
	equal(t, "without Telegram", must(h.PrivateAddress(t.Context(), h.ann.ID))(t).Gateway, "terminal")
	h.Carry([]string{"terminal", "telegram"})
	equal(t, "with it", must(h.PrivateAddress(t.Context(), h.ann.ID))(t).Gateway, "telegram")
	check(t, h.TellBeside(t.Context(), "telegram", "k", "the token is refused"))
	check(t, h.TellBeside(t.Context(), "telegram", "k", "the token is refused"))
	equal(t, "parts", len(h.parts()), 1)
	equal(t, "beside", h.parts()[0].To.Gateway, "terminal")
}
