package whatsapp

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"hearth/vault"
)

// What was given back comes first again, whatever a connection of before still brings; and a message that never comes again
// does not mute its chat.
func TestWhatWasGivenBackComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f first
		if f.early("ann", "two") {
			t.Error("nothing was given back, and a message is early")
		}
		f.wait("ann", "one")
		f.wait("ann", "two") // given back as well, behind it
		if !f.early("ann", "two") || f.early("ann", "one") || f.early("ben", "two") {
			t.Error("not the first message of the chat is let in")
		}
		f.taken("ann", "two")
		if !f.early("ann", "two") {
			t.Error("another message ends the wait")
		}
		f.taken("ann", "one")
		if f.early("ann", "two") {
			t.Error("the wait goes on after the first has come")
		}
		f.wait("ann", "three")
		time.Sleep(comeAgain)
		if f.early("ann", "four") {
			t.Error("a message that does not come again mutes its chat")
		}
	})
}

// The handler asks: what is early is not even offered, so that it is not acknowledged and comes again.
func TestAnEarlyMessageIsNotOffered(t *testing.T) {
	l := &life{ctx: t.Context(), g: &Gateway{opt: Options{Log: slog.New(slog.DiscardHandler)}}, poison: poison{seen: map[string]int{}}}
	ann := types.NewJID("15550000002", types.DefaultUserServer)
	l.ahead.wait(ann.String(), "one")
	m := &events.Message{Info: types.MessageInfo{ID: "two", MessageSource: types.MessageSource{Chat: ann}}}
	l.accept = func(context.Context, vault.Inbound) error { t.Error("it was offered"); return nil }
	if l.handle(m) || len(l.poison.seen) > 0 {
		t.Error("a message was taken before the one that was given back")
	}
}
