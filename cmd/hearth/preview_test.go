package main

import (
	"strings"
	"testing"
	"time"

	"hearth/gateways/telegram/tgfake"
)

// TestLOOP22AnAnswerIsShownWhileItIsWritten, through the whole daemon: in the line, at its pace, without a piece of a secret;
// a kill -9 takes it away, and the answer is a message of its own.
func TestLOOP22AnAnswerIsShownWhileItIsWritten(t *testing.T) {
	t.Parallel()
	api, model := tgfake.New(t), newThinker(t)
	h := newHome(t, "", phoneConfig(telegramSection(api), slowBrain(model)))
	daemon := h.daemon()
	api.Say(phoneOwner, "good morning")
	<-model.asked
	model.reply <- thinking{words: "Good morning."} // nothing of its first answer would be shown
	api.WaitFor("the greeting", func() bool { return len(shownTo(api, "Good morning.")) > 0 })
	api.Say(phoneOwner, "a long story")
	<-model.asked
	pieces := make(chan string)
	model.reply <- thinking{pieces: pieces}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	// until writes a word five times a second until the line shows something.
	until := func(words string) {
		for end := time.Now().Add(40 * time.Second); len(shownTo(api, words)) == 0; {
			if time.Now().After(end) {
				t.Fatalf("%q never shows: %+v", words, api.Shown(phoneOwner.ID))
			}
			<-tick.C
			select {
			case pieces <- "once ":
			case <-time.After(10 * time.Second):
				t.Fatal("nobody reads the answer")
			}
		}
	}
	until("⏳ Writing\n\nonce once")
	_, secret, _ := strings.Cut(api.Token(), ":")
	half := secret[:len(secret)/2]
	rest := func(d time.Duration) {
		for began := time.Now(); time.Since(began) < d; {
			<-tick.C
		}
	}
	rest(2500 * time.Millisecond) // what comes next is taken for the line at once
	pieces <- "the key " + half
	rest(5 * time.Second) // longer than it takes to be shown
	pieces <- secret[len(half):] + " and "
	until("the key *** and once")

	daemon.kill()
	h.daemon()
	<-model.asked
	api.WaitFor("the preview is gone", func() bool { return len(shownTo(api, "once")) == 0 })
	model.reply <- thinking{words: "Once upon a time. The end."}
	api.WaitFor("the end", func() bool {
		return strings.HasPrefix(api.Shown(phoneOwner.ID)[len(api.Shown(phoneOwner.ID))-2].Text, "✓ Done in")
	})
	chat := api.Shown(phoneOwner.ID)
	if n := len(chat); n < 3 || !strings.HasPrefix(chat[n-2].Text, "✓ Done in") || chat[n-1].Text != "Once upon a time. The end." || len(shownTo(api, "Once")) != 1 {
		t.Errorf("the chat shows %+v", chat)
	}
	last := map[string]time.Time{} // by message: on a busy machine the greeting has a line, too
	for _, e := range api.Calls("editMessageText") {
		if strings.Contains(e.Params["text"], half) {
			t.Errorf("a piece of the secret: %q", e.Params["text"])
		}
		if gap := e.At.Sub(last[e.Params["message_id"]]); gap < 2*time.Second {
			t.Errorf("an edit %v after the one before: %.60q", gap, e.Params["text"])
		}
		last[e.Params["message_id"]] = e.At
	}
	for _, sent := range api.Calls("sendMessage") {
		if strings.Contains(sent.Params["text"], "once") || strings.Contains(sent.Params["text"], half) {
			t.Errorf("sent: %q", sent.Params["text"])
		}
	}
}
