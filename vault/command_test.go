package vault

import (
	"errors"
	"testing"
	"time"
)

func TestCommandIsCarriedOutOnce(t *testing.T) {
	h := newHome(t)
	in := h.says(h.ann, "/pause")
	in.Kind = "command"
	done := 0
	pause := func(tx *Tx, c Conversation) ([]Part, error) {
		done++
		equal(t, "conversation", c.Person, h.ann.ID)
		return []Part{{Text: "Paused."}}, tx.Pause(true)
	}
	check(t, h.Command(t.Context(), in, h.ann, pause))
	for range 2 {
		wantErr(t, h.Command(t.Context(), in, h.ann, pause), ErrRepeat)
	}
	equal(t, "times done", done, 1)
	equal(t, "paused", must(h.Paused(t.Context()))(t), true)
	p := h.parts()[0]
	equal(t, "parts", len(h.parts()), 1)
	equal(t, "class", p.Class, Answer)
	equal(t, "where", p.To, in.Address())
	equal(t, "conversation", p.Conversation, must(h.PrivateConversation(t.Context(), h.ann.ID))(t).ID)
	equal(t, "history", h.str(`SELECT group_concat(role || ':' || text || ':' || kind) FROM message`), "user:/pause:command,assistant:Paused.:text")
	_, err := h.Claim(t.Context())
	wantErr(t, err, ErrIdle) // it is no run
}

func TestCommandThatFailsLeavesNothing(t *testing.T) {
	h := newHome(t)
	in := h.says(h.ann, "/cancel 5")
	boom := errors.New("boom")
	wantErr(t, h.Command(t.Context(), in, h.ann, func(tx *Tx, _ Conversation) ([]Part, error) {
		return []Part{{Text: "x"}}, errors.Join(tx.Pause(true), boom)
	}), boom)
	equal(t, "messages", h.count(`SELECT count(*) FROM message`), 0)
	equal(t, "chats", h.count(`SELECT count(*) FROM chat`), 0)
	equal(t, "paused", must(h.Paused(t.Context()))(t), false)
	check(t, h.Command(t.Context(), in, h.ann, func(*Tx, Conversation) ([]Part, error) { return nil, nil })) // it may come again
}

func TestCommandPartsMayGoElsewhere(t *testing.T) {
	h := newHome(t)
	other := must(h.PrivateConversation(t.Context(), h.bob.ID))(t)
	check(t, h.Command(t.Context(), h.says(h.ann, "/send"), h.ann, func(*Tx, Conversation) ([]Part, error) {
		return []Part{{Text: "for Bob", To: Address{Gateway: "telegram", Chat: "2"}, Class: Letter, Conversation: other.ID}, {Text: "sent"}}, nil
	}))
	parts := h.parts()
	equal(t, "class", parts[0].Class, Letter)
	equal(t, "chat", parts[0].To.Chat, "2")
	equal(t, "words in Ann's history", h.count(`SELECT count(*) FROM message WHERE role = 'assistant' AND text = 'for Bob'`), 0)
}

func TestStrangersKeepNothingButAnID(t *testing.T) {
	h := newHome(t)
	in := Inbound{Gateway: "telegram", Account: "bot", Chat: "9", ChatKind: Private, Sender: "9", SenderName: "Eve", ID: "1", Kind: "text", Text: "let me in", Raw: []byte("let me in")}
	for range 20 {
		check(t, h.Stranger(t.Context(), in, "I am a private assistant."))
		h.clock.add(time.Hour)
	}
	parts := h.parts()
	equal(t, "lines", len(parts), 1)
	equal(t, "line", parts[0].Text, "I am a private assistant.")
	equal(t, "class", parts[0].Class, Notice)
	equal(t, "where", parts[0].To, in.Address())
	h.clock.add(4 * time.Hour)
	check(t, h.Stranger(t.Context(), in, "I am a private assistant."))
	equal(t, "lines on the next day", len(h.parts()), 2)
	for _, table := range []string{"message", "conversation", "chat", "run", "quarantine", "identity WHERE ext = '9'"} {
		equal(t, "rows of "+table, h.count(`SELECT count(*) FROM `+table), 0)
	}
	equal(t, "what is kept", h.str(`SELECT group_concat(gateway || ' ' || ext) FROM stranger`), "telegram 9")

	group := in
	group.Chat, group.ChatKind, group.Sender = "-5", Group, "10"
	check(t, h.Stranger(t.Context(), group, "I am a private assistant."))
	quiet := in
	quiet.Sender = "11"
	check(t, h.Stranger(t.Context(), quiet, ""))
	equal(t, "lines after a group and without words", len(h.parts()), 2)
}

func TestQuarantineIsSweptAfterSevenDays(t *testing.T) {
	h := newHome(t)
	check(t, h.Quarantine(t.Context(), "telegram", "bot", "no update", []byte("{{")))
	h.clock.add(7 * 24 * time.Hour)
	h.reopen()
	equal(t, "kept", h.str(`SELECT gateway || account || reason || raw FROM quarantine`), "telegrambotno update{{")
	h.clock.add(time.Second)
	h.reopen()
	equal(t, "rows", h.count(`SELECT count(*) FROM quarantine`), 0)
}
