package vault

import "testing"

func TestLetterGoesToThePrivateChatOfTheOtherOnce(t *testing.T) {
	h := newHome(t)
	run := h.accept(h.ann, "tell Bob")
	for range 2 {
		where := must(h.Letter(t.Context(), "call:1", run, h.ann, h.bob, "dinner at eight"))(t)
		equal(t, "where", where, Address{Gateway: "telegram", Chat: "2"})
	}
	equal(t, "parts", len(h.parts()), 1)
	p := h.parts()[0]
	equal(t, "text", p.Text, "From Ann: dinner at eight")
	equal(t, "class", p.Class, Letter)
	equal(t, "run", p.Run, run)
	c := must(h.PrivateConversation(t.Context(), h.bob.ID))(t)
	equal(t, "Bob's history", h.count(`SELECT count(*) FROM message WHERE conversation_id = ? AND text = ?`, c.ID, p.Text), 1)
}
